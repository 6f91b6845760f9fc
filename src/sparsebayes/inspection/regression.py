"""A regression on one input: the fit, its error band, the data, and the relevance vectors circled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.inspection._inputs import (
    as_rows,
    check_columns,
    check_length,
    circle_heights,
    column_names,
    relevance_vectors,
    target_name,
)
from sparsebayes.inspection._matplotlib import BAND, BLUE, GREY, VERMILION, axes_or_new, circles
from sparsebayes.inspection._models import chosen_output

GRID = 500  # points that the curve is drawn through
MARGIN = 0.03  # of the range of the inputs, drawn beyond its ends


@dataclass
class RegressionDisplay:
    """Visualisation of a regression on one input: stored values and `plot`, as in scikit-learn.

    Use `from_estimator` to make one.

    Parameters
    ----------
    grid : (G,) array
        Inputs at which the curve is drawn.
    mean, std : (G,) arrays
        Predictive mean and standard deviation there, noise included.
    X, y : (N,) arrays or None
        The data.
    vectors, heights : (S,) arrays
        Inputs and heights of the circles: relevance vectors at their data points, or on the curve if there is
        no such data point.
    x_name, y_name : str
        What the input and the target are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    line_, band_, points_, circles_ : matplotlib artists
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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, output: int | None = None, ax: Any = None
    ) -> Self:
        """Predict over the range of X, and draw.

        Parameters
        ----------
        estimator : fitted regressor
            With `predict(X, return_std=True)`; relevance vectors are circled if it has them.
        X : (N, 1) array
            Inputs whose range is drawn, usually those of the fit.
        y : (N,) or (N, n_outputs) array or None
            Their targets, drawn as points.
        output : int, optional
            Which output, if y had several.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegressionDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        rows = check_columns(X, (1,), "one column to be drawn as a curve")
        x = rows[:, 0]
        names = column_names(X, 1)[0], target_name(y)
        margin = MARGIN * (x.max() - x.min())
        grid = np.linspace(x.min() - margin, x.max() + margin, GRID)
        mean, std = estimator.predict(as_rows(grid[:, None], X), return_std=True)
        chosen = chosen_output(mean.shape[1] if mean.ndim == 2 else None, output)
        if y is not None:
            y = np.asarray(y, dtype=np.float64)
            y = check_length(y[:, chosen] if chosen is not None and y.ndim == 2 else y, len(x))
        vectors = relevance_vectors(estimator, 1)
        on_curve = estimator.predict(as_rows(vectors, X)) if len(vectors) else np.zeros(0)
        if chosen is not None:
            mean, std, on_curve = (each[:, chosen] if each.ndim == 2 else each for each in (mean, std, on_curve))
        heights = circle_heights(vectors, rows, y, on_curve)
        return cls(grid, mean, std, None if y is None else x, y, vectors[:, 0], heights, *names).plot(ax)

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
        self.points_ = None
        if self.X is not None:
            self.points_ = ax.scatter(self.X, self.y, s=10, color=GREY, lw=0, zorder=2.5, label="data")
        self.circles_ = circles(ax, np.column_stack([self.vectors, self.heights]), VERMILION, 80)
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        ax.margins(x=0)
        return self
