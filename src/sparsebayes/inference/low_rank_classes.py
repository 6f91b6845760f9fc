"""Classification with a kernel of low rank: all candidates through K ≈ LLᵀ, the end on true columns.

B moves with f, so there are no statistics to be had once and for all; but column m is L ℓ_m, so that a pass
over all candidates costs N·r, not N². What was found so is then fitted again with the true columns of its
functions, of their best substitutes and of the best additions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, asfloat64, take, to_numpy
from sparsebayes.bases.low_rank import LowRankOperator
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.inference.laplace import LaplaceFit, LaplaceSolution, Mode
from sparsebayes.posterior import State
from sparsebayes.rows import LaplaceRows
from sparsebayes.solvers import Certificate, certify
from sparsebayes.solvers.exchange import substitutes

OFFERED = 2  # substitutes for each active function among the true columns
ADDED = 32  # the best additions there


@dataclass(frozen=True)
class Exact:
    """The end of a fit: on true columns of the functions `functions` (ascending) out of all."""

    functions: np.ndarray
    fit: LaplaceFit
    solution: LaplaceSolution
    certificate: Certificate


def run_low_rank(
    operator: KernelOperator, transposed: np.ndarray, fit_of: Callable[[Operator], LaplaceFit]
) -> Exact:
    """The solution on true columns, and a certificate that speaks of all candidates.

    transposed : Lᵀ (r, N).  fit_of : the fit over the rows of an operator.
    """
    low = fit_of(LowRankOperator(transposed))
    rough = low.run()
    functions = _promising(low.rows, rough.among_all)
    fit = fit_of(DenseOperator(operator.columns(functions)))
    every = np.arange(operator.shape[1])
    here, there = Numbered(low.rows, every), Numbered(fit.rows, functions)
    J, alpha, w, b = _carried(rough.mode, here, there)
    solution = fit.run(fit.find_mode(J, alpha, w, b))
    J, alpha, _, _ = _carried(solution.mode, there, here)
    visited = low.among_all(solution.mode.linear.expansion, J, alpha)
    left_out = ~np.isin(here.functions[low.rows.split(np.arange(low.rows.size))[0]], functions)
    return Exact(functions, fit, solution, _certified(solution.among_all, visited, left_out))


@dataclass(frozen=True)
class Numbered:
    """Rows over some of the functions: column k of their operator is function numbers[k]."""

    rows: LaplaceRows
    numbers: np.ndarray

    @property
    def functions(self) -> np.ndarray:
        """The functions of the rows' design, ascending."""
        return self.numbers[self.rows.design.kept]


def _promising(rows: LaplaceRows, state: State) -> np.ndarray:
    """Functions of the model, of its best substitutes and of the best additions, ascending."""
    gain = to_numpy(state.scores.gain)
    additions = np.argsort(-gain, kind="stable")[:ADDED]
    offered = substitutes(state.scores, OFFERED)
    chosen = np.concatenate([state.J, additions[gain[additions] > 0], offered])
    return np.unique(rows.design.kept[rows.split(chosen)[0]])


def _carried(mode: Mode, here: Numbered, there: Numbered) -> tuple[np.ndarray, Array, Array, Array]:
    """(J, α, w, b) of a mode over other rows that have its functions: the same in the user's units."""
    function, output = here.rows.split(mode.J)
    position = np.searchsorted(there.functions, here.functions[function])
    old, new = here.rows.design, there.rows.design
    ratio = take(new.norms, position) / take(old.norms, function)
    moved = take(new.means, position) - take(old.means, function)
    weights = mode.w / take(old.norms, function)
    member = asfloat64(output[None, :] == np.arange(here.rows.outputs)[:, None], like=mode.w)
    J = output * new.size + position
    return J, mode.alpha / ratio**2, mode.w * ratio, mode.b + member @ (moved * weights)


def _certified(state: State, visited: State, left_out: np.ndarray) -> Certificate:
    """What holds among the true columns, and for the candidates that are not among them."""
    theta = float(to_numpy(visited.scores.theta)[left_out].max(initial=-np.inf))
    gain = float(to_numpy(visited.scores.gain)[left_out].max(initial=0.0))
    return certify(state).counting(theta, gain)
