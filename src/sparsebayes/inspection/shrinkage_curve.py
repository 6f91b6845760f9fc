"""What denoising makes of each wavelet coefficient: its posterior mean against its observed value, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.estimators import WaveletDenoiser
from sparsebayes.inspection._inputs import refuse_channels
from sparsebayes.inspection._matplotlib import BLACK, GREY, axes_or_new, legend_beside, pyplot_module

WIDEST = 8.0  # standard deviations of the noise that are drawn; larger coefficients are kept almost whole
MOST_POINTS = 3000  # of a level
AVERAGES = 0  # the level of the coarse coefficients that remain at the end


@dataclass(eq=False, repr=False)
class ShrinkageDisplay:
    """Visualisation of the shrinkage of wavelet coefficients: stored values and `plot`.

    On the dashed diagonal a coefficient is kept as it is, on the horizontal line it is set to zero. Each level has a
    colour, from the finest, which is mostly noise, to the coarsest. The coefficients are those of the signal without
    shifts. Use `from_estimator` or `from_signal` to make one.

    Parameters
    ----------
    observed, mean : (N,) arrays
        The coefficients, and their posterior means.
    level : (N,) array of int
        Their levels: 1 is the finest, 0 stands for the coarse averages that remain at the end.
    noise_std : float
        The standard deviation of the noise, in which coefficients are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    points_ : dict of matplotlib PathCollection
        The coefficients of each level.
    """

    observed: np.ndarray
    mean: np.ndarray
    level: np.ndarray
    noise_std: float

    @classmethod
    def from_signal(cls, x: Any, *, ax: Any = None, **options: Any) -> Self:
        """Denoise a signal, an image or a volume, and draw.

        Parameters
        ----------
        x : array-like with one, two or three axes
            The samples; NaN if they are missing.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.
        **options
            Options of `sparsebayes.denoise`.

        Returns
        -------
        ShrinkageDisplay
            The display, drawn.
        """
        refuse_channels(options.get("channel_axis"))
        values = np.asarray(x, dtype=np.float64)
        return cls.from_estimator(WaveletDenoiser(ndim=values.ndim, **options).fit(values), values, ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Shrink the coefficients of a signal by a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted WaveletDenoiser
            The denoiser.
        X : array-like with `ndim` axes
            One signal, image or volume; NaN for missing samples.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        ShrinkageDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, WaveletDenoiser):
            raise ValueError(f"{cls.__name__} needs a WaveletDenoiser, got {type(estimator).__name__}.")
        refuse_channels(estimator.channel_axis)
        batch, (denoiser, *_) = estimator._prepared(X)
        if not batch.single:
            raise ValueError(f"X must be one signal with {estimator.ndim} axes to be drawn, got shape {np.shape(X)}.")
        shrunk = denoiser.shrink(batch.signals[0])
        level = np.empty(len(shrunk.w), dtype=int)
        for band in denoiser.operator.bands:
            level[band.where] = band.level if band.kind else AVERAGES
        return cls(shrunk.w, shrunk.coef, level, float(np.sqrt(shrunk.noise_variance))).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.

        Returns
        -------
        ShrinkageDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 4.2))
        self.figure_ = ax.figure
        self.points_: dict[int, Any] = {}
        unit, words = (self.noise_std, " (noise std)") if self.noise_std > 0 else (1.0, "")
        x, y = self.observed / unit, self.mean / unit
        size = np.abs(x)
        reach = float(min(size.max(), max(WIDEST, 2 * np.median(size)))) if words else float(size.max())
        ax.axline((0, 0), slope=1, color=BLACK, lw=1, ls="--", zorder=1)
        ax.axhline(0.0, color=GREY, lw=1, zorder=1)
        self._plot_levels(ax, x, y)
        limits = np.asarray([-1.04, 1.04]) * (reach or 1.0)
        ax.set(xlabel="observed coefficient" + words, ylabel="posterior mean" + words, xlim=limits, ylim=limits)
        ax.set_aspect("equal")
        ax.locator_params(nbins=6)
        ax.ticklabel_format(scilimits=(-3, 4))
        legend_beside(ax, markerscale=1.6)
        return self

    def _plot_levels(self, ax: Any, x: np.ndarray, y: np.ndarray) -> None:
        """The points of each level, the finest first, so that the few of the coarse levels lie above them."""
        levels = sorted(np.unique(self.level), key=lambda level: (level == AVERAGES, level))
        colours = pyplot_module().get_cmap("viridis_r")(np.linspace(0.1, 1.0, len(levels)))
        for level, colour in zip(levels, colours, strict=True):
            mine = np.flatnonzero(self.level == level)
            mine = mine[:: -(-len(mine) // MOST_POINTS)]
            name = "averages" if level == AVERAGES else f"level {level}" + (" (finest)" if level == 1 else "")
            self.points_[int(level)] = ax.scatter(x[mine], y[mine], s=9, lw=0, color=colour, label=name, zorder=2)
