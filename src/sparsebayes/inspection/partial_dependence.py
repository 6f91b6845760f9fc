"""The average prediction against one input at a time, with its posterior band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import resample

from sparsebayes._checks import is_whole, require_whole
from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._averages import Average, average_of
from sparsebayes.inspection._inputs import as_numbers, as_rows
from sparsebayes.inspection._matplotlib import APART, BAND, BLACK, BLUE, date_axis, given_axes, pyplot_module, shortened
from sparsebayes.inspection._models import FittedModel
from sparsebayes.tables.columns import DAY, as_days

PANELS, COLUMNS = 9, 3  # inputs that are drawn if none are named, and panels beside one another
STILL = 0.01  # of the largest move of the average prediction: a line that looks flat
NAMED = 3  # inputs that are not drawn and are named
FEW = 15  # so many values of an input, or less, are drawn as points
COARSE = 5  # points along an input that inputs are chosen by
SHARES = (0.05, 0.95)  # of the values of an input that the grid lies between


@dataclass(eq=False, repr=False)
class PartialDependenceDisplay:
    """Visualisation of the average prediction against inputs, one at a time: stored values and `plot`.

    At a value v of an input the prediction is averaged over the rows with that input set to v. The band of ± 2
    standard deviations is that of the average: f at different rows goes up and down together, or not, as the posterior
    covariance says. It is the uncertainty about the model, without noise. For a classifier the average probability of
    a class is drawn, over draws of the weights from their posterior. Use `from_estimator` to make one.

    Parameters
    ----------
    names : list of str
        The inputs.
    grids : list of (G,) arrays
        Their values; dates as datetime64.
    mean, std : lists of (G,) arrays
        The average prediction there, and its posterior standard deviation.
    deciles : list of (9,) arrays
        The deciles of each input in the data.
    label : str
        What is averaged.
    bounds : tuple of two floats
        The least and the largest value that it can have, where bands end: 0 and 1 of a probability.
    omitted : tuple of str
        The inputs that are not drawn because the average moves less along them.

    Attributes
    ----------
    ax_, figure_ : array of matplotlib Axes, one for each input, and Figure
        Where it was drawn; set by `plot`.
    lines_, bands_ : list of matplotlib Line2D and of PolyCollection
        The average and its band, of each input.
    deciles_ : list of matplotlib LineCollection
        The marks of the deciles at the bottom.
    """

    names: list[str]
    grids: list[np.ndarray]
    mean: list[np.ndarray]
    std: list[np.ndarray]
    deciles: list[np.ndarray]
    label: str = "average prediction"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    omitted: tuple[str, ...] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Sequence[int | str] | None = None,
        *,
        output: int | None = None,
        class_label: Any = None,
        grid_resolution: int = 40,
        subsample: int = 500,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Average predictions over rows, and draw.

        Parameters
        ----------
        estimator : fitted regressor or classifier of this package, or a pipeline that ends with one
            The model. A classifier is drawn by the posterior of its weights, without the calibration of `calibrated`.
        X : array or data frame of shape (N, n_features)
            Rows to average over, usually those of the fit.
        features : list of int or str, optional
            Numbers or names of the inputs. None for all of them, or if they are more than nine for those along which
            the average prediction moves most, without those along which it moves by less than 1 % of the largest move;
            a title names the others. Dates, of which a `TableEncoder` makes days, count as numbers.
        output : int, optional
            Which output, if y had several.
        class_label : label, optional
            Of which class the probability is averaged; of two classes None is the second.
        grid_resolution : int, default=40
            Values of an input, from its 5 % to its 95 % quantile; if it has no more, those that it has.
        subsample : int, default=500
            So many rows are drawn at random, if there are more.
        random_state : int, default=0
            Seed of the rows that are drawn, and of the weights of a classifier.
        ax : matplotlib Axes, one for each input, or None
            Where to draw; None makes a new figure.

        Returns
        -------
        PartialDependenceDisplay
            The display, drawn.
        """
        require_whole(grid_resolution, "grid_resolution", 2)
        require_whole(subsample, "subsample", 1)
        fitted = FittedModel.of(estimator)
        average = average_of(cls.__name__, fitted, output, class_label, random_state)
        table = _Table.of(X, fitted)
        if table.count > subsample:
            table = table.of_rows(resample(X, replace=False, n_samples=subsample, random_state=random_state))
        chosen = [table.number(each) for each in features or []]
        omitted: list[int] = []
        if features is None:
            chosen, omitted = _chosen(table, average, fitted)
        grids = [table.grid(j, grid_resolution) for j in chosen]
        curves = [_curve(table, average, fitted, j, grid) for j, grid in zip(chosen, grids, strict=True)]
        deciles = [table.shown(j, np.quantile(table.known(j), np.linspace(0.1, 0.9, 9))) for j in chosen]
        shown = [table.shown(j, grid) for j, grid in zip(chosen, grids, strict=True)]
        means, stds = map(list, zip(*curves, strict=True))
        names, others = [table.names[j] for j in chosen], tuple(table.names[j] for j in omitted)
        return cls(names, shown, means, stds, deciles, average.label, average.bounds, others).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, one for each input, or None
            Where to draw.

        Returns
        -------
        PartialDependenceDisplay
            Itself.
        """
        self.ax_ = _panels(len(self.names)) if ax is None else _given(ax, len(self.names))
        self.figure_ = self.ax_[0].figure
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        self.deciles_: list[Any] = []
        for k, panel in enumerate(self.ax_):
            self._plot_input(panel, k)
            if ax is not None:
                panel.set_ylabel(self.label)
        if ax is None:
            self.figure_.supylabel(self.label, fontsize="medium")
            if self.omitted:
                self.figure_.suptitle(self._title(), fontsize="medium")
        self.ax_[0].legend(handles=self.bands_[:1], frameon=False, fontsize="small")
        return self

    def _title(self) -> str:
        """Which inputs are not drawn."""
        names, more = ", ".join(map(shortened, self.omitted[:NAMED])), len(self.omitted) - NAMED
        count = f"{len(self.names)} of {len(self.names) + len(self.omitted)} inputs"
        return f"{count}; the average moves less along {names}" + (f" and {more} more" if more > 0 else "")

    def _plot_input(self, ax: Any, k: int) -> None:
        grid, mean, half = self.grids[k], self.mean[k], BAND * self.std[k]
        low, high = np.clip([mean - half, mean + half], *self.bounds)
        self.bands_.append(ax.fill_between(grid, low, high, color=BLUE, alpha=0.25, lw=0, label=f"± {BAND:g} std"))
        points = {"marker": "o", "ms": 4} if len(grid) <= FEW else {}
        self.lines_ += ax.plot(grid, mean, color=BLUE, lw=1.8, **points)
        marks = {"color": BLACK, "lw": 0.8, "transform": ax.get_xaxis_transform()}
        self.deciles_.append(ax.vlines(self.deciles[k], 0.0, 0.035, **marks))
        ax.set_xlabel(shortened(self.names[k]))
        if grid.dtype.kind == "M":
            date_axis(ax, grid)
        else:
            ax.locator_params(axis="x", nbins=5)


def _panels(count: int) -> np.ndarray:
    """Axes in a new figure, with one scale of the average."""
    across = min(count, COLUMNS)
    down = math.ceil(count / across)
    size = {"figsize": (2.9 * across + 0.4, 2.3 * down + 0.2), "layout": "constrained"}
    figure, axes = pyplot_module().subplots(down, across, sharey=True, squeeze=False, **size)
    figure.get_layout_engine().set(wspace=APART)
    for empty in axes.ravel()[count:]:
        figure.delaxes(empty)
    return axes.ravel()[:count]


def _given(ax: Any, count: int) -> np.ndarray:
    pyplot_module()
    return given_axes(ax, count, words="draw the inputs in")


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows whose inputs can be set.

    X : a data frame of pandas, or numbers.  like : what the rows are to look like.
    dates : the columns that are dates, which count as days since 1970-01-01.
    """

    X: Any
    like: Any
    names: list[str]
    dates: set[str]

    @classmethod
    def of(cls, X: Any, fitted: FittedModel) -> _Table:
        """Rows as they were given; the names are those of the columns, else those that the model knows."""
        X = on_host(X)
        if scipy.sparse.issparse(X):
            raise ValueError("X must be dense, since an input is set to values that are not 0; got a sparse matrix.")
        if getattr(X, "ndim", 2) != 2 or not hasattr(X, "__len__") or not len(X):
            raise ValueError(f"X must be rows to average over, got shape {np.shape(X)}.")
        like = X if hasattr(X, "columns") else as_numbers(X)
        if hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
        else:
            names = fitted.input_names() if fitted.before is None else [f"x{k}" for k in range(like.shape[1])]
        numbers = like if hasattr(like, "assign") else np.asarray(like, dtype=np.float64)
        return cls(numbers, like, names, fitted.date_columns())

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.X)

    def of_rows(self, rows: Any) -> _Table:
        """The same with fewer rows."""
        return replace(self, X=rows if hasattr(self.X, "assign") else np.asarray(rows, np.float64))

    def number(self, feature: Any) -> int:
        """The number of an input that is given by its number or name."""
        if is_whole(feature, 0) and feature < len(self.names):
            return int(feature)
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        raise ValueError(f"features must be numbers from 0 to {len(self.names) - 1} or names, got {feature!r}.")

    def column(self, j: int) -> np.ndarray:
        """The values of an input; ValueError if they are not numbers or dates."""
        if self.names[j] in self.dates:
            return as_days(self.X.iloc[:, j])
        values = np.asarray(self.X.iloc[:, j] if hasattr(self.X, "assign") else self.X[:, j])
        if values.dtype.kind not in "biuf":
            raise ValueError(f"features must be inputs that are numbers, got {self.names[j]!r}: name those that are.")
        return values.astype(np.float64)

    def known(self, j: int) -> np.ndarray:
        """The values of an input that are not missing; zero if all are."""
        column = self.column(j)
        known = column[~np.isnan(column)]
        return known if len(known) else np.zeros(1)

    def is_number(self, j: int) -> bool:
        """Whether the values of an input are numbers, or dates."""
        is_date = self.names[j] in self.dates
        return is_date or not hasattr(self.X, "assign") or self.X.dtypes.iloc[j].kind in "biuf"

    def grid(self, j: int, points: int) -> np.ndarray:
        """Values of an input: those that it has if they are few, else between its quantiles."""
        column = self.known(j)
        values, (low, high) = np.unique(column), np.quantile(column, SHARES)
        return values if len(values) <= points else np.linspace(low, high, points)

    def shown(self, j: int, values: np.ndarray) -> np.ndarray:
        """Values of an input as they are drawn: dates as such."""
        return (values * DAY).astype("datetime64[us]") if self.names[j] in self.dates else values

    def with_value(self, j: int, value: float) -> Any:
        """The rows with an input set to a value."""
        if hasattr(self.X, "assign"):
            moved = self.X.copy()
            moved[moved.columns[j]] = str(self.shown(j, np.asarray(value))) if self.names[j] in self.dates else value
            return moved
        moved = self.X.copy()
        moved[:, j] = value
        return as_rows(moved, self.like)


def _curve(
    table: _Table, average: Average, fitted: FittedModel, j: int, grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The average and its standard deviation at each value of an input."""
    values = [average.at(fitted.transformed(table.with_value(j, value))) for value in grid]
    mean, std = np.asarray(values).T
    return mean, std


def _chosen(table: _Table, average: Average, fitted: FittedModel) -> tuple[list[int], list[int]]:
    """All inputs that are numbers, of more than can be drawn those along which the average moves most; and the rest."""
    numbers = [j for j in range(len(table.names)) if table.is_number(j)]
    if not numbers:
        raise ValueError("X must have an input whose values are numbers.")
    if len(numbers) <= PANELS:
        return numbers, []
    moves = np.asarray([np.ptp(_curve(table, average, fitted, j, table.grid(j, COARSE))[0]) for j in numbers])
    most = [k for k in np.argsort(-moves, kind="stable")[:PANELS] if moves[k] > STILL * moves.max()]
    chosen = sorted(numbers[k] for k in most) or numbers[:1]
    return chosen, [j for j in numbers if j not in chosen]
