"""A denoised signal with its error band, or a denoised image beside the noisy one and its error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.estimators import denoise
from sparsebayes.inspection._matplotlib import BAND, BLUE, GREY, ORANGE, axes_or_new, legend_above, row_of_axes

DOTS = 2000  # samples of a signal from which on they are joined by a thin line
CLIPPED = 0.5  # percent of the pixels that may lie beyond either end of the grey scale


@dataclass
class DenoisingDisplay:
    """Visualisation of a denoised signal or image: stored values and `plot`, as in scikit-learn.

    A signal is drawn with its error band over the noisy samples; an image in three panels, the noisy one, the
    denoised one in the same grey scale, and the posterior standard deviation. Missing pixels are orange. Use
    `from_signal` or `from_estimator` to make one.

    Parameters
    ----------
    noisy : (N,) or (height, width) array
        The samples; NaN if they are missing.
    denoised, std : arrays of the same shape
        Posterior mean and standard deviation, without the noise.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, or array of three Axes for an image, and Figure
        Where it was drawn; set by `plot`.
    line_, band_, points_ : matplotlib artists
        The parts of the drawing of a signal; None for an image.
    images_ : list of matplotlib AxesImage
        The panels of an image; empty for a signal.
    colorbars_ : list of matplotlib Colorbar
        The grey scale of the first two panels, and that of the standard deviation; empty for a signal.
    """

    noisy: np.ndarray
    denoised: np.ndarray
    std: np.ndarray

    @classmethod
    def from_signal(cls, x: Any, *, ax: Any = None, **options: Any) -> Self:
        """Denoise a signal or an image by `sparsebayes.denoise`, and draw.

        Parameters
        ----------
        x : array-like with one or two axes
            The samples; NaN if they are missing.
        ax : matplotlib Axes, three of them for an image, or None
            Where to draw; None makes a new figure.
        **options
            Options of `sparsebayes.denoise`.

        Returns
        -------
        DenoisingDisplay
            The display, drawn.
        """
        noisy = _drawable(x)
        return cls(noisy, *denoise(noisy, **options, return_std=True)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Denoise a signal or an image by a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted WaveletDenoiser
            Or any other with `transform(X, return_std=True)`; ndim=2 for an image.
        X : array-like with one or two axes
            One signal or one image; NaN for missing samples.
        ax : matplotlib Axes, three of them for an image, or None
            Where to draw; None makes a new figure.

        Returns
        -------
        DenoisingDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        noisy = _drawable(X)
        ndim = getattr(estimator, "ndim", noisy.ndim)
        if noisy.ndim != ndim:
            raise ValueError(
                f"X must be one signal with {ndim} axes, as the estimator has ndim={ndim}, got {noisy.ndim}."
            )
        return cls(noisy, *estimator.transform(noisy, return_std=True)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, three of them for an image, or None
            Where to draw.

        Returns
        -------
        DenoisingDisplay
            Itself.
        """
        self.line_ = self.band_ = self.points_ = None
        self.images_: list[Any] = []
        self.colorbars_: list[Any] = []
        if np.ndim(self.noisy) == 1:
            self.ax_ = axes_or_new(ax)
            self.figure_ = self.ax_.figure
            self._plot_signal(self.ax_)
        else:
            self.ax_ = row_of_axes(ax, 3, words="draw an image in")
            self.figure_ = self.ax_[0].figure
            self._plot_image(self.ax_)
        return self

    def _plot_signal(self, ax: Any) -> None:
        places = np.arange(len(self.noisy))
        style = {"ls": "", "marker": ".", "ms": 4} if len(places) <= DOTS else {"lw": 0.4, "alpha": 0.6}
        (self.points_,) = ax.plot(places, self.noisy, color=GREY, mew=0, zorder=1, label="noisy", **style)
        low, high = self.denoised - BAND * self.std, self.denoised + BAND * self.std
        band = {"color": BLUE, "alpha": 0.25, "lw": 0, "zorder": 2}
        self.band_ = ax.fill_between(places, low, high, label=f"± {BAND:g} std", **band)
        (self.line_,) = ax.plot(places, self.denoised, color=BLUE, lw=1.3, zorder=3, label="denoised")
        ax.set(xlabel="sample", ylabel="value")
        ax.margins(x=0)
        legend_above(ax)

    def _plot_image(self, axes: Any) -> None:
        low, high = np.nanpercentile(self.noisy, [CLIPPED, 100 - CLIPPED])
        grey = {"cmap": "gray", "vmin": low, "vmax": high}
        panels = {"noisy": (self.noisy, grey), "denoised": (self.denoised, grey)}
        panels["standard deviation"] = (self.std, {"cmap": "viridis", "vmin": 0.0})
        for ax, (title, (values, style)) in zip(axes, panels.items(), strict=True):
            self.images_.append(ax.imshow(values, interpolation="nearest", **style))
            ax.set(title=title, xticks=[], yticks=[], facecolor=ORANGE)  # which shows where pixels are missing
        for image, panels_of_it in ((self.images_[1], list(axes[:2])), (self.images_[2], [axes[2]])):
            self.colorbars_.append(self.figure_.colorbar(image, ax=panels_of_it, shrink=0.75))


def _drawable(x: Any) -> np.ndarray:
    """One signal or image as float64; ValueError if it is neither."""
    values = np.asarray(x, dtype=np.float64)
    if values.ndim not in (1, 2) or not values.size:
        raise ValueError(
            f"x must be one signal (one axis) or one image (two axes) to be drawn, got shape {values.shape}."
        )
    return values
