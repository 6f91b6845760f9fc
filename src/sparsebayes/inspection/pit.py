"""Whether predictive distributions of a regression are right: probability integral transforms and coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from sparsebayes._checks import require_whole
from sparsebayes.inspection._forecasts import Forecast
from sparsebayes.inspection._matplotlib import BLACK, BLUE, GREY, row_of_axes

BAND_LEVEL = 0.95
FEWEST_BINS, MOST_BINS = 5, 20
LEVELS = np.linspace(0.01, 0.99, 99)


@dataclass(eq=False, repr=False)
class PITDisplay:
    """Visualisation of the calibration of a regression: stored values and `plot`.

    The probability integral transform of a target y is F(y), F being its predictive distribution: uniform if the
    distributions are right. Hills in the histogram say that error bars are too wide, walls at its ends that they are
    too narrow, a slope that predictions are too high or too low. The second panel has the share of targets in central
    intervals against their level. The grey bands contain 95 % of what is drawn, bin by bin and level by level, if the
    distributions are right and errors independent. Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    pit : (N,) array
        F(y) of every row.
    edges : (B + 1,) array
        The bins of the histogram.
    density : (B,) array
        Its heights, 1 on average.
    density_band : (2,) array
        Between which heights 95 % of the bins lie if all is right.
    levels, coverage : (L,) arrays
        Levels of central intervals, and the share of targets in them.
    coverage_band : (2, L) array
        Between which shares 95 % lie if all is right.

    Attributes
    ----------
    ax_, figure_ : array of matplotlib Axes, and Figure
        Where it was drawn; set by `plot`.
    bars_, density_band_ : matplotlib BarContainer and patch
        The histogram and its band.
    line_, coverage_band_ : matplotlib Line2D and PolyCollection
        Coverage and its band; None if only the histogram was drawn.
    """

    pit: np.ndarray
    edges: np.ndarray
    density: np.ndarray
    density_band: np.ndarray
    levels: np.ndarray
    coverage: np.ndarray
    coverage_band: np.ndarray

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        output: int | None = None,
        noise_variance: Any = None,
        n_bins: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Predict rows whose targets are known, and draw.

        Parameters
        ----------
        estimator : fitted regressor, or a pipeline that ends with one
            With `predict(X, return_std=True)`. Other than Gaussian noise of a model of this package is allowed for.
        X, y : arrays of shape (N, n_features) and (N,) or (N, n_outputs)
            Rows that the model has not seen.
        output : int, optional
            Which output, if y had several.
        noise_variance : array of shape (N,), optional
            The noise variance of each row, if the model was fitted to known ones.
        n_bins : int, optional
            Bins of the histogram; √N, from 5 to 20, if None.
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the histogram alone. None makes a new figure with two.

        Returns
        -------
        PITDisplay
            The display, drawn.
        """
        forecast = Forecast.of_estimator(cls.__name__, estimator, X, y, output, noise_variance)
        return cls._of_scores(forecast.scores, n_bins).plot(ax)

    @classmethod
    def from_predictions(cls, y_true: Any, mean: Any, std: Any, *, n_bins: int | None = None, ax: Any = None) -> Self:
        """Draw predictions that are Gaussian.

        Parameters
        ----------
        y_true : array of shape (N,)
            What happened.
        mean, std : arrays of shape (N,)
            What was predicted.
        n_bins : int, optional
            Bins of the histogram; √N, from 5 to 20, if None.
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the histogram alone. None makes a new figure with two.

        Returns
        -------
        PITDisplay
            The display, drawn.
        """
        return cls._of_scores(Forecast.of_predictions(y_true, mean, std).scores, n_bins).plot(ax)

    @classmethod
    def _of_scores(cls, scores: np.ndarray, n_bins: int | None) -> Self:
        pit, N = ndtr(scores), len(scores)
        if n_bins is None:
            n_bins = int(np.clip(np.sqrt(N), FEWEST_BINS, MOST_BINS))
        require_whole(n_bins, "n_bins", 2)
        counts, edges = np.histogram(pit, n_bins, (0.0, 1.0))
        tails = 0.5 + 0.5 * BAND_LEVEL * np.asarray([-1.0, 1.0])
        coverage = np.mean(np.abs(2 * pit[:, None] - 1) <= LEVELS, axis=0)
        band = binom.ppf(tails[:, None], N, LEVELS) / N
        return cls(
            pit, edges, counts * (n_bins / N), binom.ppf(tails, N, 1 / n_bins) * (n_bins / N), LEVELS, coverage, band
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the histogram alone.

        Returns
        -------
        PITDisplay
            Itself.
        """
        self.ax_ = row_of_axes(ax, 2, 1)
        self.figure_ = self.ax_[0].figure
        self._plot_histogram(self.ax_[0])
        self.line_ = self.coverage_band_ = None
        if len(self.ax_) == 2:
            self._plot_coverage(self.ax_[1])
        return self

    def _plot_histogram(self, ax: Any) -> None:
        style = {"align": "edge", "color": BLUE, "alpha": 0.6, "edgecolor": "white", "lw": 0.6, "zorder": 2}
        self.bars_ = ax.bar(self.edges[:-1], self.density, np.diff(self.edges), **style)
        self.density_band_ = ax.axhspan(*self.density_band, color=GREY, alpha=0.3, lw=0, zorder=1)
        ax.axhline(1.0, color=BLACK, lw=1, ls="--", zorder=3)
        ax.set(xlabel="probability integral transform", ylabel="density", xlim=(0, 1))
        ax.set_ylim(0, 1.1 * max(self.density.max(), self.density_band[1]))

    def _plot_coverage(self, ax: Any) -> None:
        band = {"color": GREY, "alpha": 0.25, "lw": 0, "zorder": 1}
        self.coverage_band_ = ax.fill_between(self.levels, *self.coverage_band, **band)
        ax.plot([0, 1], [0, 1], color=BLACK, lw=1, ls="--", zorder=2)
        (self.line_,) = ax.plot(self.levels, self.coverage, color=BLUE, lw=2, zorder=3)
        ax.set(xlabel="level of the central interval", ylabel="share of targets in it", xlim=(0, 1), ylim=(0, 1))
