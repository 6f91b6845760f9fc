"""The Laplace loop on Dask: `laplace.loop` as it is, over rows that stay where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.distributed.expansion import (
    RemoteCandidates,
    RemoteExpansion,
    RemoteLinearised,
    RemoteOutputs,
    added,
    expanded,
    gram_rows,
)
from sparsebayes.distributed.labels import EncodedRows
from sparsebayes.distributed.remote_averaging import with_remote_average
from sparsebayes.distributed.remote_design import ColumnsOf, RemoteDesign, scaled_design
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.laplace import Bernoulli, Multinomial
from sparsebayes.laplace.loop import LaplaceFit, LaplaceSolution
from sparsebayes.laplace.mode import Mode, Modes
from sparsebayes.laplace.path import judged, report
from sparsebayes.laplace.rows import LaplaceRows, check_sizes
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings
from sparsebayes.laplace.sharing import check_class_groups, of_candidates
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor


class RemoteLaplaceRows(LaplaceRows):
    """Labelled rows that stay where they are, with the methods of `LaplaceRows`: what reads rows is a pass.

    encoded : the rows.  design : their scaled columns.  center : whether every output has an intercept.
    functions : numbers of all functions that the design was made from, ascending; None for 0, 1, ….
    """

    def __init__(
        self, encoded: EncodedRows, design: RemoteDesign, center: bool, functions: np.ndarray | None = None
    ) -> None:
        self.encoded, self.center, self.n = encoded, center, encoded.n
        remote: Any = design
        self.design = remote
        check_sizes(design.norms)
        K = len(encoded.classes.labels)
        self.likelihood = Bernoulli() if K == 2 else Multinomial(K)
        self.outputs = self.likelihood.outputs
        self.size = design.size * self.outputs
        self.functions = design.kept if functions is None else functions[design.kept]
        self.y = np.broadcast_to(0.0, (encoded.total, self.outputs))  # its shape; the labels are elsewhere

    @property
    def counts(self) -> np.ndarray:
        """Not here."""
        raise NotImplementedError("the rows are not in memory")

    def everything(self) -> Any:
        """All candidates."""
        return self.held(np.arange(self.size))

    def held(self, J: Any) -> Any:
        """The candidates J (ascending) alone."""
        J = np.asarray(J, dtype=np.int64)
        return RemoteCandidates(J, *self.split(J))

    def start(self) -> np.ndarray:
        """The intercepts (K,) of the model without functions; zero if there is no intercept."""
        classes = self.encoded.classes
        if not self.center:
            return np.zeros(self.outputs)
        weights = classes.weights[self.encoded.places]
        y = np.eye(len(weights))[:, 1:] if len(weights) == 2 else np.eye(len(weights))
        return self.likelihood.start(y, weights)

    def predictor(self, held: Any, w: Any, b: Any) -> Any:
        """f = Φw + b."""
        return RemoteOutputs(held.function, held.output, w, b)

    def expand(self, f: Any) -> Any:
        """Where the log-likelihood is expanded; `linearise` has what is known there."""
        return RemoteExpansion(f)

    def value(self, f: Any) -> float:
        """log p(y|f), by a pass."""
        return self.encoded.rows.reduce("value", expanded, added, self.design, self.likelihood, f, None)["value"]

    def linearise(self, candidates: Any, expansion: Any) -> Any:
        """The quadratic of these candidates around the expansion, by a pass."""
        shared = (self.design, self.likelihood, expansion.f, candidates)
        name = "newton" if len(candidates.J) < self.size else "expansion"
        sums = self.encoded.rows.reduce(name, expanded, added, *shared)
        return RemoteLinearised(candidates, expansion, sums, self.n, self.center, _Fetch(self.encoded, shared))


@dataclass(frozen=True, eq=False)
class _Fetch:
    """Rows of G on demand, by a pass.  encoded : the rows.  shared : what the pass needs."""

    encoded: EncodedRows
    shared: tuple[Any, ...]

    def __call__(self, J: np.ndarray) -> np.ndarray:
        return self.encoded.rows.reduce("gram", gram_rows, sum_of, *self.shared, J)


@dataclass(frozen=True, eq=False)
class RemoteModes(Modes):
    """Modes over rows that stay where they are: one pass for each Newton step."""

    def find(self, J: np.ndarray, alpha: Any, w: Any, b: Any) -> Mode:
        """The mode of the candidates J at precisions α, by Newton's method with step halving from (w, b)."""
        settings, last, linear = self.settings, np.inf, self._at(J, w, b)
        for _ in range(settings.newton_steps):
            state = self._start(self._problem(linear, J), np.arange(len(J)), alpha)
            mode = Mode(J, alpha, w, b, linear, state)
            goal = of_candidates(state)[2] / self.scale(linear)
            goal_b = linear.intercept(goal)
            predicted = linear.rise(goal - w, goal_b - b) - _penalty(alpha, goal) + _penalty(alpha, w)
            exhausted = predicted < settings.rounding * self.rows.n and predicted > 0.5 * last
            if predicted < settings.mode_tolerance * self.rows.n or exhausted:
                break
            last, taken = predicted, self._taken(mode, goal, goal_b, predicted)
            if taken is None:
                break
            w, b, linear = taken
        return replace(mode, reached=abs(predicted) < settings.reached * self.rows.n)

    def at(self, J: np.ndarray, alpha: Any, w: Any, b: Any, f: Any, held: Any = None, **flags: bool) -> Mode:
        """The candidates J at precisions α and weights (w, b), by one pass."""
        linear = self._at(J, w, b)
        state = self._problem(linear, J).start(range(len(J)), alpha / linear.scale**2, 1.0)
        return Mode(J, alpha, w, b, linear, state, **flags)

    def predictor_of(self, mode: Mode) -> None:
        """None: f is with the rows."""
        return None

    def _at(self, J: np.ndarray, w: Any, b: Any) -> Any:
        """The quadratic of the candidates J around their own f, by one pass."""
        held = self.rows.held(J)
        return self.rows.linearise(held, self.rows.expand(self.rows.predictor(held, w, b)))

    def _taken(self, mode: Mode, goal: Any, goal_b: Any, predicted: float) -> tuple[Any, Any, Any] | None:
        """Weights, intercepts and the quadratic after the largest share of a step that raises the log posterior."""
        linear: Any = mode.linear
        here = linear.value - _penalty(mode.alpha, mode.w)
        for halving in range(self.settings.halvings):
            share = 0.5**halving
            w, b = mode.w + share * (goal - mode.w), mode.b + share * (goal_b - mode.b)
            there = self._at(mode.J, w, b)
            if there.value - _penalty(mode.alpha, w) >= here + 1e-4 * share * predicted:
                return w, b, there
        return None


def _penalty(alpha: Any, w: Any) -> float:
    """½ wᵀAw."""
    return 0.5 * float((alpha * w) @ w)


@dataclass(frozen=True, eq=False)
class RemoteLaplacePath:
    """A fit to labels of rows that stay where they are; the columns of the design are the candidates.

    rows : the rows.  settings : what the loop depends on.
    groups : a label for each of more than two classes, in the order of the fit: see `LaplacePath`.
    """

    rows: RemoteLaplaceRows
    settings: LaplaceSettings = LAPLACE
    groups: Any = None
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit the model.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What selects functions on the quadratic of each expansion.
        monitor : FitMonitor
            What the rounds of the loop are reported to.

        Returns
        -------
        Result
            The model in the user's units, its classes in the order of the fit.
        """
        if monitor.journal is not None:
            design, classes = self.rows.design, self.rows.encoded.classes
            known = [self.rows.n, design.means, design.norms, classes.labels, classes.weights, classes.first]
            monitor.journal.identify("the data", known)
        return remote_result(self.solve(prior, solver, monitor), monitor, self.settings)

    def solve(self, prior: Prior, solver: Solver, monitor: FitMonitor, start: Any = None) -> LaplaceSolution:
        """The end of the loop, from a model if one is known."""
        groups = check_class_groups(self.groups, self.rows.outputs)
        modes = RemoteModes(self.rows, prior.resolve(self.rows.n), settings=self.settings, groups=groups)
        return LaplaceFit(modes, solver, monitor).run(start)


def remote_result(end: LaplaceSolution, monitor: FitMonitor, settings: LaplaceSettings) -> Result:
    """The end of a loop in the user's units, with the Gaussian that probabilities are averaged over."""
    rows: Any = end.fit.rows
    units = Units(rows.n, rows.center)
    labels = rows.encoded.classes.labels[rows.encoded.places]
    result = report(end, units, monitor, likelihood=rows.likelihood, classes=labels)
    if isinstance(rows.likelihood, Bernoulli):
        result = with_remote_average(result, end.mode, rows, settings)
    return judged(result, end, monitor)


@dataclass(frozen=True, eq=False)
class ColumnRows:
    """Labelled rows that stay where they are, with their columns as candidates.

    encoded : the rows.  width : how many columns there are.
    """

    encoded: EncodedRows
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(N, M)."""
        return (self.encoded.total, self.width)

    def path_of_rows(
        self, center: bool, likelihood: Any, polish: bool, noise: Any = None, groups: Any = None
    ) -> RemoteLaplacePath:
        """How a likelihood of classes is fitted to these rows."""
        refuse_polish(polish)
        design = scaled_design(self.encoded, ColumnsOf(), self.width, center)
        return RemoteLaplacePath(RemoteLaplaceRows(self.encoded, design, center), groups=groups)


def refuse_groups(groups: Any) -> None:
    """Raise ValueError for groups of kernel functions."""
    if groups is not None:
        raise ValueError(
            f"groups must be None for a kernel machine with so many rows on Dask, got {groups!r}: pass arrays, such as "
            "X.compute()."
        )


def refuse_polish(polish: bool) -> None:
    """Raise ValueError for polish=True."""
    if polish:
        raise ValueError(
            "polish must be False for a Dask collection, got True: the slope of the Laplace evidence needs all rows in "
            "memory; pass arrays, such as X.compute()."
        )
