"""Kernels with too many points for their matrix: which way a fit of one goes.

* A positive semi-definite kernel of low rank: K ≈ LLᵀ, all candidates visited through L, the end on true
  columns. Where the evidence of the two does not agree, a finer L.
* Any other: the matrix after all, where memory allows it; else visits by true columns, N² evaluations each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.inference.offers import COSTLY
from sparsebayes.inference.working_set import Finished, View, WorkingSets
from sparsebayes.likelihoods import Gaussian
from sparsebayes.priors import Prior
from sparsebayes.rows import Scaling
from sparsebayes.rows.around import AroundRows
from sparsebayes.rows.exact import ExactRows
from sparsebayes.rows.low_rank import LowRankRows
from sparsebayes.rows.pivots import Factor, pivoted_factor
from sparsebayes.rows.targets import Target
from sparsebayes.solvers import Monitor, Solution, as_solver

# Residual diagonal of the first factor and of the second, over the largest K_nn and times √n: the change of
# the evidence is Σ_n (residual of t)(error of f)/σ², which grows with √n
TOLERANCES = (1e-1, 1e-4)
LARGEST_RANK = 1200
ROWS_PER_RANK = 4  # with fewer rows than this for each column of L nothing is saved
SOME = 8  # functions whose variation is looked at
FAITHFUL = 0.1  # of the variation of the functions: what a factor may leave out of them
FIRST, SWEPT = 500, 33_000  # functions a search begins with where no factor says which, and goes through


def low_rank_factor(operator: KernelOperator, tol: float) -> Factor | None:
    """L with K ≈ LLᵀ to the tolerance; None where that takes too many columns, or there is no such L."""
    if not operator.positive:
        return None
    factor = pivoted_factor(operator, tol, min(operator.shape[0] // ROWS_PER_RANK, LARGEST_RANK))
    return factor if factor.complete and _tells_functions_apart(factor) else None


def _tells_functions_apart(factor: Factor) -> bool:
    """Whether the functions vary by more than the factor leaves out; those of a very wide kernel need not.

    What is left out of any function is at most √N max R_nn (see `pivots`), R = K − LLᵀ.
    """
    L = factor.transposed
    functions = L.T @ L[:, factor.pivots[:SOME]]
    variation = np.linalg.norm(functions - functions.mean(axis=0), axis=0).max(initial=0.0)
    return bool(math.sqrt(L.shape[1]) * factor.residual.max() < FAITHFUL * variation)


class KernelSearch:
    """The fit of a kernel that is not held in memory."""

    def __init__(self, operator: KernelOperator, target: Target) -> None:
        self.operator, self.target = operator, target
        self.candidates = operator.distinct()
        self.exact = ExactRows(operator, target, self.candidates)

    def solve(self, sets: WorkingSets) -> Finished | None:
        """By a factor of low rank; None where there is none that agrees with the true kernel."""
        view: View | None = None
        for tolerance in TOLERANCES:
            factor = low_rank_factor(self.operator, tolerance / math.sqrt(self.target.n))
            if factor is None:
                return None
            low = LowRankRows(factor, self.target, self.candidates)
            view = sets.exchange(low, sets.begin(low, factor.pivots) if view is None else view)
            end = sets.finish(low, self.exact, *sets.settle(low, view))
            if end.agreed:
                return end
            view = end.view
            del low, factor  # memory, before the next
        return None

    def solve_by_columns(self, sets: WorkingSets) -> Finished:
        """By true columns: a model of few candidates, swept through many more, then visits of all of them."""
        order = np.random.default_rng(0).permutation(np.flatnonzero(self.candidates))
        around, sets.pace = AroundRows(self.exact), COSTLY
        view = sets.sweep(around, sets.solve(self.exact, order[:FIRST]), order[FIRST:SWEPT])
        offer = sets.visit(around, view)
        return sets.finish(around, self.exact, sets.refine(around, view, offer), offer)


def search_kernel(
    operator: KernelOperator,
    target: Target,
    prepared: Callable[[Scaling], tuple[Prior, Gaussian, Monitor]],
    solver: Any,
) -> tuple[Solution, Scaling, Monitor] | None:
    """The fit by working sets; None where the matrix had better be held in memory.

    prepared : what a scaling of the target makes of the prior, the noise and the monitor.
    """
    nothing = np.zeros(0)
    prior, noise, monitor = prepared(target.scaling(np.zeros(0, dtype=np.int64), nothing, nothing))
    solver = as_solver(solver)
    sets = WorkingSets(operator.shape[1], prior, noise, solver, monitor)
    search = KernelSearch(operator, target)
    # the other solvers want all candidates, while that is possible
    found = search.solve(sets) if solver.takes_working_sets else None
    if found is None and operator.fits:
        return None
    end = found or search.solve_by_columns(sets)
    return end.solution, end.view.scaling, monitor


__all__ = ["low_rank_factor", "search_kernel"]
