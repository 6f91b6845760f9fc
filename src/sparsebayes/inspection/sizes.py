"""What a smaller model costs: evidence and leave-one-out error of nested models against their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import clone

from sparsebayes.estimators import SparsityPath
from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._matplotlib import BLACK, BLUE, VERMILION, axes_or_new, counted, legend_above
from sparsebayes.inspection._models import FittedModel


@dataclass(eq=False, repr=False)
class SparsityPathDisplay:
    """Visualisation of the path from one function to all that were selected: stored values and `plot`.

    The log evidence is drawn against the left axis, the leave-one-out error against the right one. A vertical line
    marks the size of the model; a model that `max_vectors` limits has functions of its own, so that its evidence
    and error, the two large points, are better than those of the path at its size. Use `from_estimator` to make one.

    Parameters
    ----------
    path : SparsityPath
        The nested models.
    size : int
        The number of functions of the chosen model.
    log_evidence, leave_one_out_error : float
        Its evidence and error.

    Attributes
    ----------
    ax_, error_ax_, figure_ : matplotlib Axes, Axes and Figure
        Where it was drawn; `error_ax_` has the axis on the right. Set by `plot`.
    evidence_line_, error_line_, size_line_, evidence_point_, error_point_ : matplotlib artists
        The parts of the drawing.
    """

    path: SparsityPath
    size: int
    log_evidence: float
    leave_one_out_error: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, noise_variance: Any = None, ax: Any = None
    ) -> Self:
        """Follow the path of a fitted regressor, and draw.

        Parameters
        ----------
        estimator : RelevanceVectorRegressor or SparseBayesRegressor, or a pipeline that ends with one
            The fitted model. If `max_vectors` limits it, it is fitted once more without the limit, whose path is
            drawn.
        X, y : arrays of shape (n_samples, n_features) and (n_samples,)
            The rows of the fit.
        sample_weight, noise_variance : arrays of shape (n_samples,), optional
            Those of the fit.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        SparsityPathDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        fitted.require(cls.__name__, "a regressor with a path to smaller models", "path")
        estimator, X, y = fitted.last, fitted.transformed(X), on_host(y)
        rows = {"sample_weight": on_host(sample_weight), "noise_variance": on_host(noise_variance)}
        path = own = estimator.path(X, y, **rows)
        if estimator.max_vectors is not None and own.size[-1] >= estimator.max_vectors:
            path = clone(estimator).set_params(max_vectors=None).fit(X, y, **rows).path(X, y, **rows)
        return cls(path, int(own.size[-1]), float(own.log_evidence[-1]), float(own.leave_one_out_error[-1])).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a second axis is added on its right.

        Returns
        -------
        SparsityPathDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        self.error_ax_ = right = ax.twinx()
        path, line, point = self.path, {"lw": 2, "marker": ".", "ms": 5}, {"zorder": 4, "s": 70, "edgecolors": "white"}
        (self.evidence_line_,) = ax.plot(path.size, path.log_evidence, color=BLUE, label="log evidence", **line)
        (self.error_line_,) = right.plot(
            path.size, path.leave_one_out_error, color=VERMILION, label="leave-one-out error", **line
        )
        self.size_line_ = ax.axvline(
            self.size, color=BLACK, lw=1, ls="--", label=f"the model: {counted(self.size, 'function')}"
        )
        self.evidence_point_ = ax.scatter([self.size], [self.log_evidence], color=BLUE, **point)
        self.error_point_ = right.scatter([self.size], [self.leave_one_out_error], color=VERMILION, **point)
        ax.set(xlabel="functions")
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_ylabel("log evidence (nats)", color=BLUE)
        right.set_ylabel("leave-one-out error", color=VERMILION)
        right.set_ylim(bottom=0)
        ax.tick_params(axis="y", colors=BLUE)
        right.tick_params(axis="y", colors=VERMILION)
        legend_above(ax, [self.evidence_line_, self.error_line_, self.size_line_], right)
        return self
