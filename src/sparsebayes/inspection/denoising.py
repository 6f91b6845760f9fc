"""A denoised signal with its error band, or a denoised image beside the noisy one and its error bars."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.estimators import denoise
from sparsebayes.inspection._inputs import as_numbers, refuse_channels
from sparsebayes.inspection._matplotlib import BAND, BLUE, GREY, ORANGE, axes_or_new, legend_above, row_of_axes

DOTS = 2000  # samples of a signal from which on they are joined by a thin line
FEW = 200  # samples up to which they are drawn larger
WIDE, HIGH = 3.0, 4.6  # inches: the largest width and height of the panel of an image
BESIDE, ABOVE = 0.45, 0.4  # inches for the scales beside a panel, and for its title
ASPECTS = (0.2, 3.0)  # height over width of the panels
ALIKE = 1e-9  # of their size, between values that count as the same
COLOURS = (3, 4)  # channels of an image in colours
CLIPPED = 0.5  # percent of the pixels that may lie beyond either end of the grey scale


@dataclass(eq=False, repr=False)
class DenoisingDisplay:
    """Visualisation of a denoised signal or image: stored values and `plot`, as in scikit-learn.

    A signal is drawn with its error band over the noisy samples; an image in three panels, the noisy one, the
    denoised one in the same grey scale, or colours, and the posterior standard deviation, the mean of those of the
    colours. Missing pixels are orange. Of a volume the slice in the middle of its first axis is drawn. Use
    `from_signal` or `from_estimator` to make one.

    Parameters
    ----------
    noisy : (N,), (height, width) or (depth, height, width) array
        The samples; NaN if they are missing.
    denoised, std : arrays of the same shape
        Posterior mean and standard deviation, without the noise.
    channel_axis : int or None, default=None
        Which axis is that of the colours of an image: red, green and blue, and perhaps opacity, which is not drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, or array of three Axes for an image, and Figure
        Where it was drawn; set by `plot`.
    line_, band_, points_ : matplotlib artists
        The parts of the drawing of a signal; None for an image.
    images_ : list of matplotlib AxesImage
        The panels of an image; empty for a signal.
    colorbars_ : list of matplotlib Colorbar
        The grey scale of the first two panels, which colours have not, and that of the standard deviation; empty for
        a signal.
    """

    noisy: np.ndarray
    denoised: np.ndarray
    std: np.ndarray
    channel_axis: int | None = None

    @classmethod
    def from_signal(cls, x: Any, *, ax: Any = None, **options: Any) -> Self:
        """Denoise a signal, an image or a volume by `sparsebayes.denoise`, and draw.

        Parameters
        ----------
        x : array-like with one, two or three axes
            The samples; NaN if they are missing.
        ax : matplotlib Axes, three of them for an image or a volume, or None
            Where to draw; None makes a new figure.
        **options
            Options of `sparsebayes.denoise`.

        Returns
        -------
        DenoisingDisplay
            The display, drawn.
        """
        channels = options.get("channel_axis")
        noisy = _drawable(x, channels)
        mean, std = denoise(noisy, **options, return_std=True)
        return cls(noisy, mean, std, channels).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Denoise a signal, an image or a volume by a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted WaveletDenoiser
            Or any other with `transform(X, return_std=True)`; ndim=2 for an image, 3 for a volume.
        X : array-like with one, two or three axes
            One signal, image or volume; NaN for missing samples.
        ax : matplotlib Axes, three of them for an image or a volume, or None
            Where to draw; None makes a new figure.

        Returns
        -------
        DenoisingDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if "return_std" not in signature(getattr(estimator, "transform", lambda: None)).parameters:
            raise ValueError(
                f"{cls.__name__} needs a WaveletDenoiser, or another estimator with transform(X, return_std=True), got "
                f"{type(estimator).__name__}."
            )
        channels = getattr(estimator, "channel_axis", None)
        noisy = _drawable(X, channels)
        ndim = getattr(estimator, "ndim", noisy.ndim)
        if channels is None and noisy.ndim != ndim:
            raise ValueError(
                f"X must be one signal with {ndim} axes, as the estimator has ndim={ndim}, got {noisy.ndim}."
            )
        mean, std = estimator.transform(noisy, return_std=True)
        return cls(noisy, mean, std, channels).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, three of them for an image or a volume, or None
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
            height, width = np.moveaxis(self.std, self.channel_axis or 0, 0).shape[-2:]
            tall = float(np.clip(height / width, *ASPECTS))
            width = min(WIDE, HIGH / tall)
            panel = (width + BESIDE, width * tall + ABOVE)
            self.ax_ = row_of_axes(ax, 3, words="draw an image in", panel=panel)
            self.figure_ = self.ax_[0].figure
            self._plot_image(self.ax_)
        return self

    def _plot_signal(self, ax: Any) -> None:
        places = np.arange(len(self.noisy))
        size = 4 if len(places) > FEW else 7
        style = {"ls": "", "marker": ".", "ms": size} if len(places) <= DOTS else {"lw": 0.4, "alpha": 0.6}
        (self.points_,) = ax.plot(places, self.noisy, color=GREY, mew=0, zorder=1, label="noisy", **style)
        low, high = self.denoised - BAND * self.std, self.denoised + BAND * self.std
        band = {"color": BLUE, "alpha": 0.25, "lw": 0, "zorder": 2}
        self.band_ = ax.fill_between(places, low, high, label=f"± {BAND:g} std", **band)
        (self.line_,) = ax.plot(places, self.denoised, color=BLUE, lw=1.3, zorder=3, label="denoised")
        ax.set(xlabel="sample", ylabel="value")
        ax.margins(x=0)
        legend_above(ax)

    def _plot_image(self, axes: Any) -> None:
        noisy, denoised, std = (self._shown(each) for each in (self.noisy, self.denoised, self.std))
        low, high = _apart(*np.nanpercentile(noisy, [CLIPPED, 100 - CLIPPED]))
        grey = {"cmap": "gray", "vmin": low, "vmax": high}
        if self.channel_axis is not None:
            noisy, denoised, std, grey = *(_coloured(each, low, high) for each in (noisy, denoised)), std.mean(-1), {}
        panels = {"noisy": (noisy, grey), "denoised": (denoised, grey)}
        panels["standard deviation"] = (std, {"cmap": "viridis", "vmin": 0.0, "vmax": float(std.max()) or 1.0})
        for ax, (title, (values, style)) in zip(axes, panels.items(), strict=True):
            self.images_.append(ax.imshow(values, interpolation="nearest", **style))
            ax.set(title=title, xticks=[], yticks=[], facecolor=ORANGE)  # which shows where pixels are missing
        if np.ndim(self.noisy) == 3 and self.channel_axis is None:
            axes[0].set_xlabel(f"slice {len(self.noisy) // 2} of 0 to {len(self.noisy) - 1}")
        scales = ((self.images_[1], list(axes[:2])), (self.images_[2], [axes[2]]))
        for image, panels_of_it in scales if grey else scales[1:]:
            self.colorbars_.append(self.figure_.colorbar(image, ax=panels_of_it, shrink=0.9))

    def _shown(self, values: np.ndarray) -> np.ndarray:
        """What is drawn of an array: of an image with colours the first three, along the last axis."""
        return _middle(values) if self.channel_axis is None else np.moveaxis(values, self.channel_axis, -1)[..., :3]


def _coloured(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Red, green, blue and opacity from 0 to 1, (height, width, 4); nothing is drawn where a colour is missing."""
    missing = np.isnan(values).any(axis=-1)
    scaled = np.clip((np.where(missing[..., None], low, values) - low) / (high - low), 0.0, 1.0)
    return np.dstack([scaled, ~missing])


def _middle(values: np.ndarray) -> np.ndarray:
    """An image as it is; the slice in the middle of a volume."""
    return values if values.ndim == 2 else values[len(values) // 2]


def _apart(low: float, high: float) -> tuple[float, float]:
    """The ends of a scale; those of values that are all alike are moved apart, for one grey in the middle."""
    size = max(abs(low), abs(high))
    if high - low > ALIKE * size:
        return low, high
    half = 0.1 * (size or 1.0)
    return low - half, high + half


def _drawable(x: Any, channel_axis: int | None) -> np.ndarray:
    """One signal, image (in colours, if it has channels) or volume as float64; ValueError if it is none of them."""
    values = as_numbers(x)
    if channel_axis is not None and not (values.ndim == 3 and values.shape[channel_axis] in COLOURS):
        refuse_channels(channel_axis)
    if values.ndim not in (1, 2, 3) or not values.size:
        raise ValueError(
            "x must be one signal (one axis), image (two axes) or volume (three axes) to be drawn, got shape "
            f"{values.shape}."
        )
    return values
