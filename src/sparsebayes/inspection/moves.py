"""The way of a fit: the log evidence after each move of the solver, coloured by kind of move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes.inspection._matplotlib import BLACK, GREY, MARKERS, PALETTE, axes_or_new, legend_beside, note
from sparsebayes.inspection._models import FittedModel, chosen_output, model_of_output

AGAINST = {"moves": "move of the solver", "seconds": "seconds since the fit began", "iterations": "iteration"}
LEAST_SPAN = 1.0  # nats: what an axis shows at least


@dataclass(eq=False, repr=False)
class EvidenceDisplay:
    """Visualisation of how the evidence rose during a fit: stored values and `plot`.

    Against moves or seconds every entry of `trace_` is a point, coloured by what the solver did; against iterations
    the line is `evidence_path_`. What is drawn is what the solver maximises, the log evidence plus the log priors.
    Use `from_estimator` to make one.

    Parameters
    ----------
    path : (I,) array
        Evidence plus log priors at each iteration, and at the end.
    kinds : (T,) array of str
        What the solver did at each move, in one word: "initialised", "added", "swapped", …
    counts, functions : (T,) arrays of int
        How many functions a move concerned, and how many were in the model afterwards.
    evidence : (T,) array
        Evidence plus log priors after each move.
    seconds : (T,) array
        When a move ended, since the fit began.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    line_ : matplotlib Line2D
        The evidence.
    points_ : dict of matplotlib PathCollection
        The moves of each kind; empty against iterations.
    """

    path: np.ndarray
    kinds: np.ndarray
    counts: np.ndarray
    functions: np.ndarray
    evidence: np.ndarray
    seconds: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int | None = None, against: str = "moves", ax: Any = None
    ) -> Self:
        """Take the trace of a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted regressor, classifier or SparseRecovery, or a pipeline that ends with one
            The model.
        output : int, optional
            Which output, if every output has a model of its own (joint=False).
        against : {"moves", "seconds", "iterations"}, default="moves"
            What the evidence is drawn against.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        EvidenceDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        result = _result(fitted, output)
        trace, path = result.trace, np.asarray(result.evidence_path, dtype=np.float64)
        gains = np.asarray([move.gain for move in trace])
        return cls(
            path,
            np.asarray([move.name.split()[0] for move in trace], dtype=object),
            np.asarray([move.count for move in trace], dtype=int),
            np.asarray([move.n_active for move in trace], dtype=int),
            path[-1] - (gains.sum() - np.cumsum(gains)),
            np.cumsum([move.seconds for move in trace]),
        ).plot(ax, against=against)

    def plot(self, ax: Any = None, *, against: str = "moves") -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.
        against : {"moves", "seconds", "iterations"}, default="moves"
            What the evidence is drawn against.

        Returns
        -------
        EvidenceDisplay
            Itself.
        """
        if against not in AGAINST:
            raise ValueError(f"against must be one of {list(AGAINST)}, got {against!r}.")
        self.ax_ = ax = axes_or_new(ax, (6.8, 3.8))
        self.figure_ = ax.figure
        self.points_: dict[str, Any] = {}
        heights = self.path if against == "iterations" else self.evidence
        x = self.seconds if against == "seconds" else np.arange(len(heights))
        style = {"color": BLACK, "lw": 1.5} if against == "iterations" else {"color": GREY, "lw": 1, "zorder": 1}
        (self.line_,) = ax.plot(x, heights, drawstyle="steps-post", **style)
        if against != "iterations":
            self._plot_moves(ax, x, heights)
        ax.set(xlabel=AGAINST[against], ylabel="log evidence (nats)")
        if not np.isfinite(heights).any():
            note(ax, "no moves: the target is constant")
        else:
            _tidy(ax, against, len(heights))
        return self

    def _plot_moves(self, ax: Any, x: np.ndarray, heights: np.ndarray) -> None:
        for k, kind in enumerate(dict.fromkeys(self.kinds)):
            mine = self.kinds == kind
            style = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)], "zorder": 2}
            label = f"{kind} ({mine.sum()})"
            self.points_[kind] = ax.scatter(
                x[mine], heights[mine], s=30, lw=0.4, edgecolors=BLACK, label=label, **style
            )
        if self.points_:
            legend_beside(ax)


def _tidy(ax: Any, against: str, count: int) -> None:
    """Whole numbers of moves, evidences as they are, and at least a nat of them."""
    ax.ticklabel_format(axis="y", useOffset=False)
    if against != "seconds":
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_xlim(-0.03 * count - 0.2, 1.03 * count - 0.8)
    low, high = ax.get_ylim()
    if high - low < LEAST_SPAN:
        ax.set_ylim(0.5 * (low + high - LEAST_SPAN), 0.5 * (low + high + LEAST_SPAN))


def _result(fitted: FittedModel, output: Any) -> Any:
    """The result of the fit whose trace is drawn."""
    fitted.require("EvidenceDisplay", "a model with trace_ and evidence_path_", "_fitted")
    model, result = fitted.last, fitted.last._fitted.result
    if hasattr(result, "results"):  # of snapshots that do not share their atoms
        return result.results[chosen_output(len(result.results), output)]
    return model_of_output(model, output)[0]._fitted.result if hasattr(model, "estimators_") else result
