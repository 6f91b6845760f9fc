"""Residuals of a regression: against the prediction with their error bars, and against normal quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

from sparsebayes.inspection._forecasts import Forecast
from sparsebayes.inspection._matplotlib import BAND, BLACK, BLUE, GREY, LIGHT_GREY, VERMILION, row_of_axes

BAND_LEVEL = 0.95


@dataclass(eq=False, repr=False)
class ResidualsDisplay:
    """Visualisation of the residuals of a regression: stored values and `plot`.

    The first panel has y − mean against the mean, over ± 2 predictive standard deviations of each row; residuals
    beyond them have a colour of their own, of Gaussian ones 4.6 %. The second has the residuals in standard
    deviations (normal scores if the noise is not Gaussian) against the quantiles that they should have, with a band
    that contains 95 % of them, quantile by quantile, if the predictive distributions are right and errors independent.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    mean, std : (N,) arrays
        Predictive means and standard deviations, noise included.
    residuals : (N,) array
        y − mean.
    scores : (N,) array
        Φ⁻¹(F(y)) with the predictive distribution F of each row; residuals/std if it is Gaussian.
    name : str
        What the target is called.

    Attributes
    ----------
    ax_, figure_ : array of matplotlib Axes, and Figure
        Where it was drawn; set by `plot`.
    bars_ : matplotlib LineCollection
        ± 2 standard deviations of each row.
    inside_, outside_ : matplotlib PathCollection
        The residuals within and beyond them.
    quantiles_, quantile_band_ : matplotlib Line2D and PolyCollection
        Sorted scores against normal quantiles, and their band; None if only the first panel was drawn.
    """

    mean: np.ndarray
    std: np.ndarray
    residuals: np.ndarray
    scores: np.ndarray
    name: str = "y"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        output: int | None = None,
        noise_variance: Any = None,
        ax: Any = None,
    ) -> Self:
        """Predict rows whose targets are known, and draw.

        Parameters
        ----------
        estimator : fitted regressor, or a pipeline that ends with one
            With `predict(X, return_std=True)`.
        X, y : arrays of shape (N, n_features) and (N,) or (N, n_outputs)
            Rows, best such that the model has not seen.
        output : int, optional
            Which output, if y had several.
        noise_variance : array of shape (N,), optional
            The noise variance of each row, if the model was fitted to known ones.
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the first panel alone. None makes a new figure with two.

        Returns
        -------
        ResidualsDisplay
            The display, drawn.
        """
        return cls._of(Forecast.of_estimator(cls.__name__, estimator, X, y, output, noise_variance)).plot(ax)

    @classmethod
    def from_predictions(cls, y_true: Any, mean: Any, std: Any, *, ax: Any = None) -> Self:
        """Draw the residuals of predictions that are Gaussian.

        Parameters
        ----------
        y_true : array of shape (N,)
            What happened.
        mean, std : arrays of shape (N,)
            What was predicted.
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the first panel alone. None makes a new figure with two.

        Returns
        -------
        ResidualsDisplay
            The display, drawn.
        """
        return cls._of(Forecast.of_predictions(y_true, mean, std)).plot(ax)

    @classmethod
    def _of(cls, forecast: Forecast) -> Self:
        return cls(forecast.mean, forecast.std, forecast.y - forecast.mean, forecast.scores, forecast.name)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the first panel alone.

        Returns
        -------
        ResidualsDisplay
            Itself.
        """
        self.ax_ = row_of_axes(ax, 2, 1)
        self.figure_ = self.ax_[0].figure
        self._plot_residuals(self.ax_[0])
        self.quantiles_ = self.quantile_band_ = None
        if len(self.ax_) == 2:
            self._plot_quantiles(self.ax_[1])
        return self

    def _plot_residuals(self, ax: Any) -> None:
        half, size = BAND * self.std, _size(len(self.mean))
        beyond = np.abs(self.residuals) > half
        bars = {"color": LIGHT_GREY, "lw": 2, "zorder": 1}
        self.bars_ = ax.vlines(self.mean, -half, half, **bars)
        ax.axhline(0.0, color=BLACK, lw=1, zorder=2)
        points = {"s": size, "lw": 0, "alpha": float(np.clip(800 / len(half), 0.4, 1.0)), "zorder": 3}
        self.inside_ = ax.scatter(self.mean[~beyond], self.residuals[~beyond], color=BLUE, **points)
        self.outside_ = ax.scatter(self.mean[beyond], self.residuals[beyond], color=VERMILION, **points)
        ax.set(xlabel=f"predicted {self.name}", ylabel=f"residual of {self.name}")
        ax.set_title(f"{100 * beyond.mean():.1f} % beyond ± {BAND:g} std", fontsize="medium")

    def _plot_quantiles(self, ax: Any) -> None:
        n = len(self.scores)
        rank, tail = np.arange(1, n + 1), 0.5 - 0.5 * BAND_LEVEL
        quantiles = ndtri((rank - 0.5) / n)
        low, high = (ndtri(beta.ppf(p, rank, n + 1 - rank)) for p in (tail, 1 - tail))
        self.quantile_band_ = ax.fill_between(quantiles, low, high, color=GREY, alpha=0.25, lw=0, zorder=1)
        ax.axline((0, 0), slope=1, color=BLACK, lw=1, ls="--", zorder=2)
        style = {"color": BLUE, "ms": np.sqrt(_size(n)), "mew": 0, "zorder": 3}
        (self.quantiles_,) = ax.plot(quantiles, np.sort(self.scores), "o", **style)
        ax.set(xlabel="normal quantile", ylabel="residual in standard deviations")


def _size(n: int) -> float:
    """The area of a point where there are n of them."""
    return float(np.clip(3000 / n, 5, 20))
