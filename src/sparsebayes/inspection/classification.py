"""A classification on one or two inputs: probabilities, the data by class, the relevance vectors circled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._inputs import (
    as_rows,
    check_columns,
    check_length,
    circle_heights,
    column_names,
    relevance_vectors,
)
from sparsebayes.inspection._matplotlib import (
    BLACK,
    MARKERS,
    PALETTE,
    axes_or_new,
    circles,
    legend_below,
    shortened,
)
from sparsebayes.inspection._models import FittedModel

CURVE_GRID, FIELD_GRID = 500, 200  # points along an input
SIZE = 6.0, 5.2  # inches of a new figure, with a legend below
MARGIN = 0.04  # of the range of the inputs, drawn beyond its ends
DEPTH = 0.5  # how much of a class's colour a region of probability 1 has; the rest is white
LEVELS = {0.25: "dashed", 0.5: "solid", 0.75: "dashed"}
STRIP = 0.06  # height of the strip under the curves in which the data of a class lie


@dataclass(eq=False, repr=False)
class ClassificationDisplay:
    """Visualisation of a classification on one or two inputs: stored values and `plot`.

    Two inputs: every point has the colour of its most probable class, the stronger the more probable it is.
    Two classes have the contours 0.25, 0.5 and 0.75 of the probability of the second; more classes have the
    borders between their regions. One input: the probability of the second of two classes, or of each of
    more. Use `from_estimator` to make one.

    Parameters
    ----------
    classes : (K,) array
        The labels.
    grid : (d, G) array
        Points along each of the d inputs, one or two.
    probabilities : (K, G) or (K, G, G) array
        Probabilities of the classes over the grid, the second input before the first.
    X, y : (N, d) and (N,) arrays or None
        The data.
    vectors : (S, d) array or None
        Relevance vectors.
    names : list of str
        What the d inputs are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    field_, contours_, lines_, points_, circles_ : matplotlib artists
        The parts of the drawing: the field and the contours of two inputs, the curves of one, the points
        class by class, the circles. None, or an empty list, for a part that is not there.
    """

    classes: np.ndarray
    grid: np.ndarray
    probabilities: np.ndarray
    X: np.ndarray | None = None
    y: np.ndarray | None = None
    vectors: np.ndarray | None = None
    names: list[str] = field(default_factory=lambda: ["x"])

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Predict over the range of X, and draw.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline that ends with one
            With `predict_proba` and `classes_`; relevance vectors are circled if it has them.
        X : (N, 1) or (N, 2) array
            Inputs whose range is drawn, usually those of the fit.
        y : (N,) array or None
            Their labels; the inputs are drawn as points of their class.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassificationDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        fitted.needs(cls.__name__, "a classifier with predict_proba", hasattr(fitted.whole, "predict_proba"))
        estimator = fitted.whole
        values = check_columns(
            X, (1, 2), "one or two columns to be drawn", "PartialDependenceDisplay or ReliabilityDisplay"
        )
        inputs, classes = values.shape[1], np.asarray(on_host(estimator.classes_))
        labels = None if y is None else _labels(y, len(values), classes)
        grid = _grid(values, CURVE_GRID if inputs == 1 else FIELD_GRID)
        places = np.stack(np.meshgrid(*grid), axis=-1)
        rows = as_rows(places.reshape(-1, inputs), X)
        probabilities = np.moveaxis(estimator.predict_proba(rows).reshape(*places.shape[:-1], -1), -1, 0)
        vectors = relevance_vectors(fitted, inputs)
        data = None if labels is None else values
        return cls(classes, grid, probabilities, data, labels, vectors, column_names(X, inputs)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.

        Returns
        -------
        ClassificationDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax, SIZE)
        self.figure_ = ax.figure
        self.field_ = None
        self.contours_: list[Any] = []
        self.lines_: list[Any] = []
        self.points_: list[Any] = []
        if len(self.grid) == 1:
            self._plot_curves(ax)
        else:
            self._plot_field(ax)
        self._plot_points(ax)
        self.circles_ = circles(ax, self._circle_places(), BLACK, 90)
        handles = ax.get_legend_handles_labels()[0]  # curves first; they have the colours of the points
        shown = handles[len(self.lines_) :] if self.points_ and len(self.lines_) > 1 else handles
        if shown:
            legend_below(ax, shown)
        return self

    def _plot_curves(self, ax: Any) -> None:
        shown = [1] if len(self.classes) == 2 else range(len(self.classes))
        for k in shown:
            style = {"color": BLACK if len(shown) == 1 else _colour(k), "lw": 2, "zorder": 2}
            self.lines_ += ax.plot(
                self.grid[0], self.probabilities[k], label=f"p({shortened(self.classes[k])})", **style
            )
        ax.set(xlabel=self.names[0], ylabel="probability", yticks=np.linspace(0, 1, 6))
        ax.margins(x=0)

    def _plot_field(self, ax: Any) -> None:
        half = 0.5 * (self.grid[:, 1] - self.grid[:, 0])  # the points of the grid are the middles of the pixels
        (left, bottom), (right, top) = self.grid[:, 0] - half, self.grid[:, -1] + half
        image = {"origin": "lower", "aspect": "auto", "interpolation": "bilinear"}
        self.field_ = ax.imshow(_colours(self.probabilities), extent=(left, right, bottom, top), **image)
        if len(self.classes) == 2:
            for level, style in LEVELS.items():
                self._contour(ax, self.probabilities[1], level, style)
        else:
            for k, own in enumerate(self.probabilities):
                self._contour(ax, own - np.delete(self.probabilities, k, axis=0).max(axis=0), 0.0, "solid")
        ax.set(xlabel=self.names[0], ylabel=self.names[-1], xlim=(left, right), ylim=(bottom, top))

    def _contour(self, ax: Any, height: np.ndarray, level: float, style: str) -> None:
        if height.min() < level < height.max():
            self.contours_.append(
                ax.contour(*self.grid, height, [level], colors=BLACK, linewidths=1.2, linestyles=style)
            )

    def _plot_points(self, ax: Any) -> None:
        if self.X is None or self.y is None:
            return
        places = self.X if len(self.grid) == 2 else np.column_stack([self.X, self._data_heights(self.y)])
        for k, label in enumerate(self.classes):
            style = {"color": _colour(k), "marker": MARKERS[k % len(MARKERS)], "edgecolors": BLACK}
            mine = places[self.y == label]
            self.points_.append(ax.scatter(*mine.T, s=16, linewidths=0.3, zorder=2.5, label=shortened(label), **style))

    def _circle_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the relevance vectors are drawn, (S,) and (S,): on one input at their data points, or on the curve."""
        vectors = np.zeros((0, len(self.grid))) if self.vectors is None else self.vectors
        if len(self.grid) == 2:
            return vectors[:, 0], vectors[:, 1]
        curve = self.probabilities[1] if len(self.classes) == 2 else self.probabilities.max(axis=0)
        on_curve = np.interp(vectors[:, 0], self.grid[0], curve)
        of_data = None if self.y is None else self._data_heights(self.y)
        return vectors[:, 0], circle_heights(vectors, self.X, of_data, on_curve)

    def _data_heights(self, y: np.ndarray) -> np.ndarray:
        """Heights of labels: two classes lie at probabilities 0 and 1, more in one strip each below the curves."""
        number = np.searchsorted(self.classes, y)
        return number.astype(float) if len(self.classes) == 2 else -STRIP * (number + 1)


def _labels(y: Any, n: int, classes: np.ndarray) -> np.ndarray:
    labels = check_length(np.asarray(on_host(y)), n)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y must hold classes of the estimator, {classes.tolist()}, got {unknown.tolist()}.")
    return labels


def _grid(X: np.ndarray, points: int) -> np.ndarray:
    """Points along each input, a little beyond the data."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, MARGIN * (high - low), 0.5)
    return np.linspace(low - margin, high + margin, points).T


def _colour(k: int) -> str:
    return PALETTE[k % len(PALETTE)]


def _colours(probabilities: np.ndarray) -> np.ndarray:
    """The colour of the most probable class (G, G, 3): white if all are alike, DEPTH of the colour at probability 1."""
    from matplotlib.colors import to_rgb

    K = len(probabilities)
    palette = np.asarray([to_rgb(_colour(k)) for k in range(K)])
    strength = DEPTH * (probabilities.max(axis=0) - 1 / K) / (1 - 1 / K)
    return 1 - strength[:, :, None] * (1 - palette[probabilities.argmax(axis=0)])
