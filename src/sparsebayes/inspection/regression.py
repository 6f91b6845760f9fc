"""A regression on one input: the fit, its error band, the data, and the relevance vectors circled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from sparsebayes.inspection._inputs import (
    as_numbers,
    as_rows,
    check_columns,
    check_length,
    circle_heights,
    column_names,
    like_dates,
    relevance_vectors,
    target_label,
)
from sparsebayes.inspection._matplotlib import BAND, BLUE, GREY, VERMILION, axes_or_new, circles, date_axis
from sparsebayes.inspection._models import FittedModel, chosen_output

GRID = 500  # points that the curve is drawn through
MARGIN = 0.02  # of the range of the inputs, left empty at its ends: beyond them a fit may do anything


@dataclass(eq=False, repr=False)
class RegressionDisplay:
    """Visualisation of a regression on one input: stored values and `plot`, as in scikit-learn.

    Use `from_estimator` to make one.

    Parameters
    ----------
    grid : (G,) array
        Inputs at which the curve is drawn.
    mean, std : (G,) arrays
        Predictive mean and standard deviation there; noise included, unless its variance was known for each row.
    X, y : (N,) arrays or None
        The data.
    vectors, heights : (S,) arrays
        Inputs and heights of the circles: relevance vectors at their data points, or on the curve if there is
        no such data point.
    x_name, y_name : str
        What the input and the target are called.
    noise_std : (N,) array or None
        The standard deviation of the noise of each row if it was known.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    line_, band_, points_, circles_, bars_ : matplotlib artists
        The parts of the drawing; None for a part that is not there.
    """

    grid: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    X: np.ndarray | None = None
    y: np.ndarray | None = None
    vectors: np.ndarray = field(default_factory=lambda: np.zeros(0))
    heights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    x_name: str = "x"
    y_name: str = "y"
    noise_std: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        output: int | None = None,
        noise_variance: Any = None,
        ax: Any = None,
    ) -> Self:
        """Predict over the range of X, and draw.

        Parameters
        ----------
        estimator : fitted regressor, or a pipeline that ends with one
            With `predict(X, return_std=True)`; relevance vectors are circled if it has them.
        X : (N, 1) array
            Inputs, numbers or dates, whose range is drawn; usually those of the fit.
        y : (N,) or (N, n_outputs) array or None
            Their targets, drawn as points.
        output : int, optional
            Which output, if y had several.
        noise_variance : (N,) array, optional
            The noise variance of each row, if the model was fitted to known ones; drawn as ± 2 standard deviations of
            each point. The band is then that of the function alone.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegressionDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        fitted.needs(cls.__name__, "a regressor with predict(X, return_std=True)", fitted.predicts_std())
        rows = check_columns(
            X, (1,), "one column to be drawn as a curve", "PartialDependenceDisplay or ResidualsDisplay"
        )
        x = rows[:, 0]
        grid = np.linspace(x.min(), x.max(), GRID)
        mean, std = fitted.whole.predict(as_rows(grid[:, None], X), return_std=True)
        chosen = chosen_output(mean.shape[1] if mean.ndim == 2 else None, output)
        targets = None if y is None else as_numbers(y)
        if targets is not None:
            targets = check_length(targets if chosen is None or targets.ndim == 1 else targets[:, chosen], len(x))
        noise = None if targets is None or noise_variance is None else np.sqrt(as_numbers(noise_variance))
        vectors = relevance_vectors(fitted, 1, output)
        on_curve = fitted.whole.predict(as_rows(vectors, X)) if len(vectors) else np.zeros(0)
        mean, std, on_curve = (each[:, chosen] if each.ndim == 2 else each for each in (mean, std, on_curve))
        heights = circle_heights(vectors, rows, targets, on_curve)
        grid, x, centres = (like_dates(each, X) for each in (grid, x, vectors[:, 0]))
        data = None if targets is None else x
        names = column_names(X, 1)[0], target_label(y)
        return cls(grid, mean, std, data, targets, centres, heights, *names, noise).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.

        Returns
        -------
        RegressionDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        low, high = self.mean - BAND * self.std, self.mean + BAND * self.std
        self.band_ = ax.fill_between(self.grid, low, high, color=BLUE, alpha=0.18, lw=0, label=f"± {BAND:g} std")
        (self.line_,) = ax.plot(self.grid, self.mean, color=BLUE, lw=2, label="mean")
        self.points_ = self.bars_ = None
        if self.X is not None:
            self.points_ = ax.scatter(self.X, self.y, s=10, color=GREY, lw=0, zorder=2.5, label="data")
        if self.X is not None and self.y is not None and self.noise_std is not None:
            half = BAND * self.noise_std
            self.bars_ = ax.vlines(self.X, self.y - half, self.y + half, color=GREY, lw=0.8, alpha=0.7, zorder=2.4)
        self.circles_ = circles(ax, (self.vectors, self.heights), VERMILION, 80)
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        ax.margins(x=MARGIN)
        date_axis(ax, self.grid)
        return self
