"""Which way a kernel with too many points for its matrix is fitted.

* A positive semi-definite kernel of low rank: K ≈ LLᵀ, all candidates scored through L, the end on true
  columns. If the evidence of the two does not agree, a finer L.
* Any other: the matrix after all, if memory allows; else by true columns, N² evaluations per scoring pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import Array, rows_at
from sparsebayes._sketches import smallest, uniform
from sparsebayes._threads import few_threads, threads_of_rows
from sparsebayes.bases.kernel_operator import KernelOperator
from sparsebayes.bases.low_rank import LowRankOperator
from sparsebayes.bases.operators import LOW_RANK, LowRankSettings
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Effort, Solution, Solver
from sparsebayes.large_kernels.columns import TrueColumns
from sparsebayes.large_kernels.low_rank import LowRankStatistics
from sparsebayes.large_kernels.sampled_curvature import SampledCurvature
from sparsebayes.large_kernels.settings import WORKING_SETS, WorkingSetSettings
from sparsebayes.large_kernels.working_set import End, Model, WorkingSetSearch
from sparsebayes.rows.devices import on_host, result_beside
from sparsebayes.rows.memory import summarise
from sparsebayes.solvers.active_set import ActiveSet, Search
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, report, solve_regression
from sparsebayes.solvers.sized import Sized, unlimited


@dataclass(frozen=True)
class KernelPath:
    """A regression with Gaussian noise and a kernel whose matrix is not formed if that can be avoided.

    Parameters
    ----------
    operator : KernelOperator
        The kernel at the rows of the data, (N, M).
    t : array of shape (N,)
        Targets.
    weights : array of shape (N,) or None
        How often each row counts; None for once.
    fit_intercept : bool
        Whether there is an intercept with a flat prior, which is integrated out.
    noise : NoiseOptions
        What is known of the noise. If the matrix does not fit in memory, a guess at the variance is where its
        estimate starts; otherwise functions are first selected with the variance held there.
    settings : WorkingSetSettings
        What the search depends on.
    low_rank : LowRankSettings
        What the factor L of K ≈ LLᵀ depends on.
    """

    operator: KernelOperator
    t: Array
    weights: Array | None
    fit_intercept: bool
    noise: NoiseOptions
    settings: WorkingSetSettings = WORKING_SETS
    low_rank: LowRankSettings = LOW_RANK
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit by a factor of low rank, by the matrix if it fits in memory, or by true columns.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What works on each working set, or on all candidates if the matrix is formed.
        monitor : FitMonitor
            What the iterations are reported to.

        Returns
        -------
        Result
            The fitted model, under the true kernel and in the units of the data. Its certificate counts all
            candidates; their scores are not held unless the matrix is formed.
        """
        with few_threads():  # what is large comes in blocks, which are worked on in parallel
            return self._fitted(prior, solver, monitor)

    def _fitted(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        free = unlimited(solver)
        search, model = self._search_by_columns(prior, _without_search(free), monitor), None
        for tolerance in self.settings.tolerances if self._suits_low_rank(free) else ():
            factor = self.operator.low_rank(tolerance / math.sqrt(search.columns.units.n), self.low_rank)
            if factor is None:
                break
            through, end = _by_low_rank(search, factor, model)
            if end.agreed:
                return self._result(_within_limit(through, end, solver), monitor)
            model = end.model
            del factor  # memory, before the next
        if self.operator.fits:
            monitor.path = []  # not that of a search by low rank, if there was one
            with threads_of_rows():
                statistics = on_host(*summarise(self.operator.dense(), self.t, self.weights, self.fit_intercept))
            return result_beside(solve_regression(*statistics, self.noise, prior, solver, monitor), self.operator.X)
        return self._result(_within_limit(search, _by_columns(search), solver), monitor)

    def _result(self, end: End, monitor: FitMonitor) -> Result:
        """The end of a search in the user's units; only the last working set was scored, not all candidates."""
        solution = Solution(end.model.state, end.converged)
        result = replace(report(solution, end.model.units, monitor, end.certificate), candidates=None)
        return result_beside(result, self.operator.X)

    def _suits_low_rank(self, solver: Solver) -> bool:
        """Whether the solver works by rounds, and the noise is not to be held at a guess.

        Every other solver needs all candidates together.
        """
        by_rounds = isinstance(solver, ActiveSet) and solver.effort in ("fast", "default")
        return by_rounds and (self.noise.guess is None or not self.operator.fits)

    def _search_by_columns(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> WorkingSetSearch:
        """The search with scores by sampled curvature."""
        columns = TrueColumns(self.operator, self.t, self.weights, self.fit_intercept)
        units = columns.units
        return WorkingSetSearch(
            columns=columns,
            scored=SampledCurvature(columns, self.settings.curvature_rows),
            prior=prior.resolve(units.n),
            noise=self.noise.model_from_guess(units),
            solver=solver,
            monitor=monitor.in_units(units),
            settings=self.settings,
            pace=self.settings.costly,
            sample=_sample(columns, self.settings.sample),
        )


def _sample(columns: TrueColumns, most: int) -> np.ndarray:
    """Some of the candidates: evenly spaced, or by hash values of their centres if the matrix does not fit in memory.

    The latter do not depend on the order of the rows, and rows on many machines have the same.
    """
    operator, every = columns.operator, np.arange(len(columns.candidates))
    if operator.fits:
        return every[:: -(-len(every) // most)]
    distinct = every[columns.candidates]
    return distinct[smallest(uniform(rows_at(operator.Z, distinct), seed=1), most)]


def _without_search(solver: Solver) -> Solver:
    """The solver of a working set: a higher maximum is sought among all candidates, not within a few hundred."""
    return replace(solver, effort=Search()) if isinstance(solver, ActiveSet) else solver


def _by_low_rank(
    search: WorkingSetSearch, factor: LowRankOperator, model: Model | None
) -> tuple[WorkingSetSearch, End]:
    """A search through K ≈ LLᵀ, from a model under a coarser factor or from the pivots; and its end."""
    scored = LowRankStatistics(factor, search.columns)
    search = replace(search, scored=scored, pace=search.settings.cheap)
    model = search.initialise(factor.pivots, Effort.DRAFT) if model is None else model
    return search, search.finish(*search.settle(search.exchange(model)))


def _by_columns(search: WorkingSetSearch) -> End:
    """A model of few candidates, improved with many more, then scoring passes over all of them."""
    settings = search.settings
    order = np.random.default_rng(0).permutation(np.flatnonzero(search.columns.candidates))
    model = search.initialise(order[: settings.first], Effort.FULL)
    model = search.sweep(model, order[settings.first : settings.swept])
    batch = search.score(model, search.every)
    return search.finish(search.refine(model, batch), batch)


def _within_limit(search: WorkingSetSearch, end: End, solver: Solver) -> End:
    """The end of a search, within the limit on the number of functions if the solver has one."""
    return search.limited(end, solver) if isinstance(solver, Sized) else end
