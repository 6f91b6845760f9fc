"""The Laplace loop among all candidates: on their true columns or, for a kernel of low rank, through K ≈ LLᵀ.

B moves with f, so there are no statistics to be had once and for all; but column m is L ℓ_m, so that a pass
over all candidates costs N·r, not N². What was found so is then fitted again with the true columns of its
functions, of their best substitutes and of the best additions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.bases.low_rank import LowRankOperator
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.inference.kernels import low_rank_factor
from sparsebayes.inference.laplace import LaplaceFit, LaplaceSolution
from sparsebayes.inference.terms import Numbered, Terms
from sparsebayes.posterior import State
from sparsebayes.rows import LaplaceRows
from sparsebayes.solvers import Certificate, certify
from sparsebayes.solvers.exchange import substitutes

TOLERANCE = 1e-7  # of the largest K_nn: the residual diagonal of a factor of low rank
OFFERED = 2  # substitutes for each active function among the true columns
ADDED = 32  # the best additions there


@dataclass(frozen=True)
class Exact:
    """The end of a fit: on true columns of the functions `functions` (ascending) out of all."""

    functions: np.ndarray
    fit: LaplaceFit
    solution: LaplaceSolution
    certificate: Certificate

    @property
    def rows(self) -> Numbered:
        """The rows of these functions."""
        return Numbered(self.fit.rows, self.functions)


class AllCandidates:
    """The functions of an operator, however they can be looked at."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.factor = operator, None
        if isinstance(operator, KernelOperator):
            self.factor = low_rank_factor(operator, TOLERANCE)
            self.operator = operator.held() if self.factor is None else operator

    def run(self, fit_of: Callable[[Operator], LaplaceFit], start: Terms | None = None) -> Exact:
        """The solution on true columns, and a certificate that speaks of all candidates.

        fit_of : the fit over the rows of an operator.  start : a model to go on from.
        """
        every = np.arange(self.operator.shape[1])
        if self.factor is None:
            fit = fit_of(self.operator)
            here = Numbered(fit.rows, every)
            solution = fit.run(None if start is None else fit.find_mode(*start.on(here)))
            return Exact(every, fit, solution, certify(solution.among_all))
        low = fit_of(LowRankOperator(self.factor.transposed))
        here = Numbered(low.rows, every)
        rough = low.run(None if start is None else low.find_mode(*start.on(here)))
        functions = _promising(low.rows, rough.among_all)
        fit = fit_of(DenseOperator(self.operator.columns(functions)))
        there = Numbered(fit.rows, functions)
        solution = fit.run(fit.find_mode(*Terms.of(rough.mode, here).on(there)))
        J, alpha, _, _ = Terms.of(solution.mode, there).on(here)
        visited = low.among_all(solution.mode.linear.expansion, J, alpha)
        left_out = ~np.isin(here.functions[low.rows.split(np.arange(low.rows.size))[0]], functions)
        return Exact(functions, fit, solution, _certified(solution.among_all, visited, left_out))


def _promising(rows: LaplaceRows, state: State) -> np.ndarray:
    """Functions of the model, of its best substitutes and of the best additions, ascending."""
    gain = to_numpy(state.scores.gain)
    additions = np.argsort(-gain, kind="stable")[:ADDED]
    offered = substitutes(state.scores, OFFERED)
    chosen = np.concatenate([state.J, additions[gain[additions] > 0], offered])
    return np.unique(rows.design.kept[rows.split(chosen)[0]])


def _certified(state: State, visited: State, left_out: np.ndarray) -> Certificate:
    """What holds among the true columns, and for the candidates that are not among them."""
    theta = float(to_numpy(visited.scores.theta)[left_out].max(initial=-np.inf))
    gain = float(to_numpy(visited.scores.gain)[left_out].max(initial=0.0))
    return certify(state).counting(theta, gain)
