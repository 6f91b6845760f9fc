"""The parts that a signal is made of: what each part of a concatenation of bases contributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse

from sparsebayes._array import to_numpy
from sparsebayes.bases import BoundConcatenation
from sparsebayes.estimators._parts import BarsOfParts, model_of_parts
from sparsebayes.estimators._validation import check_inputs
from sparsebayes.inspection._inputs import as_numbers, check_length, column_names, like_dates, target_name
from sparsebayes.inspection._matplotlib import (
    BAND,
    BLACK,
    GREY,
    PALETTE,
    VERMILION,
    counted,
    date_axis,
    given_axes,
    pyplot_module,
    shortened,
)
from sparsebayes.inspection._models import FittedModel, model_of_output
from sparsebayes.signals import Spike

HEIGHT = 1.35  # inches of a panel


@dataclass(eq=False, repr=False)
class ComponentsDisplay:
    """Visualisation of the parts of a prediction: stored values and `plot`.

    The first panel has the data and the whole prediction, the others one part each, with ± 2 posterior standard
    deviations, without noise. With the intercept the parts sum to the prediction. Rows with a function of `Spike` to
    themselves are circled as outliers. Use `from_estimator` to make one.

    Parameters
    ----------
    x : (N,) array
        What the parts are drawn against, ascending: the input if there is one, else the number of the row.
    prediction : (N,) array
        The whole prediction.
    components, std : (P, N) arrays
        What each part contributes, and its posterior standard deviation.
    names : list of str
        What the P parts are called.
    y : (N,) array or None
        The data.
    x_name, y_name : str
        What x and y are called.
    spikes : (P,) array of bool or None
        Which parts are a `Spike`; None if none is.

    Attributes
    ----------
    outliers : (N,) array of bool
        The rows, in the order of x, where a `Spike` is not zero.
    ax_, figure_ : array of P + 1 matplotlib Axes, and Figure
        Where it was drawn; set by `plot`.
    points_ : matplotlib Line2D or None
        The data.
    lines_ : list of matplotlib Line2D
        The prediction, and the parts.
    bands_ : list of matplotlib PolyCollection
        The bands of the parts.
    circles_ : matplotlib PathCollection or None
        The outliers.
    """

    x: np.ndarray
    prediction: np.ndarray
    components: np.ndarray
    std: np.ndarray
    names: list[str]
    y: np.ndarray | None = None
    x_name: str = "x"
    y_name: str = "y"
    spikes: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        output: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Predict by each part alone, and draw.

        Parameters
        ----------
        estimator : fitted RelevanceVectorRegressor, or a pipeline that ends with one
            With a kernel of several parts, such as `Wavelet() + DCT() + Spike()`.
        X : array or data frame of shape (N, n_features)
            Where to predict, usually the rows of the fit.
        y : array of shape (N,) or (N, n_outputs), optional
            Their targets, drawn as points.
        names : list of str, optional
            What the parts are called; by default "part0: RBF", with the class of each.
        output : int, optional
            Which output, if y had several.
        ax : matplotlib Axes, one more than there are parts, or None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComponentsDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        if not fitted.has("_fitted", "_error_bars") and not fitted.has("estimators_", "outputs_"):
            raise ValueError(
                f"{cls.__name__} needs a regressor with a kernel of several parts, got {type(fitted.last).__name__}."
            )
        model, column = model_of_output(fitted.last, output)
        x, x_name = _abscissa(X)
        targets = None if y is None else check_length(_target(y, output), len(x))
        whole, components, std = _parts(model, column, fitted.transformed(X))
        labels, order = _names(model, names, len(components)), np.argsort(x, kind="stable")
        return cls(
            x[order],
            whole[order],
            components[:, order],
            std[:, order],
            labels,
            None if targets is None else targets[order],
            x_name,
            target_name(y),
            _spikes(model, len(components)),
        ).plot(ax)

    @property
    def outliers(self) -> np.ndarray:
        """The rows, in the order of x, where a `Spike` is not zero, (N,)."""
        spikes = np.zeros(len(self.names), dtype=bool) if self.spikes is None else self.spikes
        return (self.components[spikes] != 0).any(axis=0)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, one more than there are parts, or None
            Where to draw.

        Returns
        -------
        ComponentsDisplay
            Itself.
        """
        pyplot, count = pyplot_module(), 1 + len(self.names)
        if ax is None:
            size = {"figsize": (7.0, HEIGHT * count + 0.4), "layout": "constrained"}
            self.ax_ = pyplot.subplots(count, 1, sharex=True, **size)[1]
        else:
            self.ax_ = given_axes(ax, count, words="draw the prediction and its parts in")
        self.figure_ = self.ax_[0].figure
        self.points_ = None
        if self.y is not None:
            (self.points_,) = self.ax_[0].plot(self.x, self.y, ".", color=GREY, ms=4, mew=0, zorder=1)
        self.lines_ = self.ax_[0].plot(self.x, self.prediction, color=BLACK, lw=1.2, zorder=2)
        heights, outliers = self.prediction if self.y is None else self.y, self.outliers
        ring = {"s": 50, "facecolors": "none", "edgecolors": VERMILION, "linewidths": 1.4, "zorder": 3}
        self.circles_ = self.ax_[0].scatter(self.x[outliers], heights[outliers], **ring) if outliers.any() else None
        self.bands_: list[Any] = []
        found = f"; {counted(int(outliers.sum()), 'outlier')} circled" if outliers.any() else ""
        data = "" if self.y is None else f"{shortened(self.y_name)}, "
        self._title(self.ax_[0], f"{data}all parts{found}")
        for k, panel in enumerate(self.ax_[1:]):
            self._plot_part(panel, k, self.spikes is not None and bool(self.spikes[k]))
            self._title(panel, shortened(self.names[k]))
        self.ax_[-1].set_xlabel(self.x_name)
        date_axis(self.ax_[-1], self.x)
        return self

    def _plot_part(self, ax: Any, k: int, in_steps: bool) -> None:
        colour, half = PALETTE[k % len(PALETTE)], BAND * self.std[k]
        band = {"color": colour, "alpha": 0.3, "lw": 0, "step": "mid" if in_steps else None}
        self.bands_.append(ax.fill_between(self.x, self.components[k] - half, self.components[k] + half, **band))
        style = {"drawstyle": "steps-mid" if in_steps else "default", "lw": 1.2}
        self.lines_ += ax.plot(self.x, self.components[k], color=colour, **style)

    def _title(self, ax: Any, text: str) -> None:
        ax.set_title(text, loc="left", fontsize="small", pad=3)
        ax.margins(x=0.01)


def _parts(model: Any, column: int | None, inputs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The whole prediction (N,), the parts (P, N), and their standard deviations √φᵀΣφ."""
    basis, result = model._fitted.basis, model._fitted.result
    count = len(basis.parts) if isinstance(basis, BoundConcatenation) else 1  # `model_of_parts` says what is missing
    inputs = inputs if hasattr(inputs, "columns") else to_numpy(inputs)
    rows, means, stds = check_inputs(model, inputs, fitting=False), [], []
    covariance = result.covariance.tocsr() if scipy.sparse.issparse(result.covariance) else result.covariance
    for k in range(count):
        fitted, bars = model_of_parts(model, [k], rows, with_bars=True)
        assert isinstance(bars, BarsOfParts)
        columns = fitted.basis(fitted.query(rows))
        means.append(columns @ fitted.result.mean)
        own = covariance[bars.kept][:, bars.kept]
        stds.append(np.sqrt(np.maximum(np.sum((columns @ own) * columns, axis=1), 0.0)))
    whole = model.predict(inputs)
    if column is None:
        return whole, np.asarray(means), np.asarray(stds)
    return whole[:, column], np.asarray(means)[:, :, column], np.asarray(stds) * result.output_scales[column]


def _names(model: Any, names: Sequence[str] | None, count: int) -> list[str]:
    """What the parts are called."""
    if names is not None:
        if len(names) != count:
            raise ValueError(f"names must be {count}, one for each part of the kernel, got {len(names)}.")
        return [str(name) for name in names]
    parts = list(getattr(model.kernel, "parts", ()))
    return [f"part{k}: {type(parts[k]).__name__}" if len(parts) == count else f"part{k}" for k in range(count)]


def _spikes(model: Any, count: int) -> np.ndarray | None:
    """Which parts of the kernel are a `Spike`; None if none is."""
    parts = list(getattr(model.kernel, "parts", ()))
    spikes = np.asarray([isinstance(part, Spike) for part in parts])
    return spikes if len(parts) == count and spikes.any() else None


def _abscissa(X: Any) -> tuple[np.ndarray, str]:
    """What parts are drawn against: a single column, or the number of the row."""
    if np.ndim(X) != 2 or np.shape(X)[1] != 1:
        return np.arange(np.shape(X)[0], dtype=np.float64), "row"
    return like_dates(as_numbers(X)[:, 0], X), column_names(X, 1)[0]


def _target(y: Any, output: Any) -> np.ndarray:
    values = as_numbers(y)
    return values[:, output] if values.ndim == 2 and output is not None else values
