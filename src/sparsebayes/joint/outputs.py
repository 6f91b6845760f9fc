"""T outputs as a solver sees them: (N, T) targets divided by their scales and by √T, fewer of them if T > N.

Divided by √T, the sum of squares over the outputs is a mean, and every formula is per output (`core.posterior`). The
scales s_t are 1 for one noise variance of all outputs. For one each they follow the noise: with the weights measured
by the noise of their output, w_mt ~ N(0, s_t²/α_m), the evidence is highest at

    s_t² ∝ E_t = ‖y_t − Φμ_t‖² + Σ_m (α_m/β) μ_mt²

for the α and β of the others, so that solving and scaling in turn never lowers it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes._threads import few_threads
from sparsebayes.core.posterior import SMALL_RESIDUAL, State
from sparsebayes.core.solver import Solution, Solver
from sparsebayes.groups.rescaled import Rescaled
from sparsebayes.solvers.monitor import FitMonitor

ROUNDS = 30  # of solving and scaling in turn, at most
SETTLED = 1e-4  # change of a log scale at which they end
LEAST_MISFIT = 1e-10  # E_t per row, of an output of unit mean square: the floor under its noise variance


@dataclass(frozen=True, eq=False)
class Outputs:
    """How the solver's targets relate to the outputs: z = (y/s) V /√T.

    scales : s (T,).  rotation : V (T, N) if there are more outputs than rows, else None.
    """

    scales: Array
    rotation: Array | None = None

    @classmethod
    def shared(cls, Y: Array) -> Outputs:
        """One noise variance for all outputs (N, T); more outputs than rows are rotated onto as many as rows."""
        xp, (N, T) = namespace(Y), Y.shape
        rotation = xp.linalg.qr(Y.T, mode="reduced")[0] if T > N else None
        return cls(xp.ones_like(Y[0, :]), rotation)

    def on_host(self) -> Outputs:
        """The same with NumPy arrays."""
        return Outputs(to_numpy(self.scales), None if self.rotation is None else to_numpy(self.rotation))

    @property
    def count(self) -> int:
        """T."""
        return int(self.scales.shape[0])

    def targets(self, Y: Array) -> Array:
        """z (N, T), or (N, N) if there are more outputs than rows."""
        Z = Y / self.scales[None, :]
        return (Z if self.rotation is None else Z @ self.rotation) / math.sqrt(self.count)

    def weights(self, weights: Array) -> Array:
        """Weights or intercepts (…, T) of the outputs from those of the targets."""
        return math.sqrt(self.count) * self._back(weights) * self.scales

    def _back(self, weights: Array) -> Array:
        return weights if self.rotation is None else weights @ self.rotation.T

    @property
    def log_scale(self) -> float:
        """Σ_t log s_t."""
        return float(np.sum(np.log(to_numpy(self.scales))))

    def normalised(self) -> tuple[Outputs, float]:
        """The outputs with scales of geometric mean 1, and the factor that was taken out of them."""
        factor = math.exp(self.log_scale / self.count)
        return replace(self, scales=self.scales / factor), factor


def noise_of_each(solution: Solution, solver: Solver, monitor: FitMonitor, squares: Array) -> tuple[Solution, Array]:
    """Scale every output by its own noise and solve again, in turn: the solution, and what scaled the outputs (T,).

    squares : z_tᵀz_t (T,) of the solver's targets.
    """
    base, state, T = solution.state.problem.quadratic, solution.state, int(squares.shape[0])
    factor = asfloat64(np.ones(T), like=squares)
    for _ in range(ROUNDS):
        power = squares * factor * factor
        misfit = to_numpy(_misfits(state, power)) * T / state.problem.quadratic.n
        change = np.maximum(misfit, LEAST_MISFIT * to_numpy(power) * T / base.n) ** -0.5
        change /= math.exp(float(np.mean(np.log(change))))
        if np.abs(np.log(change)).max() < SETTLED or not monitor.going:
            break
        factor = factor * asfloat64(change, like=factor)
        problem = replace(state.problem, quadratic=Rescaled(base, None, factor, squares))
        with few_threads():
            solution = solver.solve(problem, monitor, problem.start(state.J, state.alpha, state.beta))
        state = solution.state
    return solution, factor


def _misfits(state: State, squares: Array) -> Array:
    """E_t of every output of the solver's, (T,)."""
    quadratic, mean, active = state.problem.quadratic, state.mean, state.active
    xp = quadratic.xp
    residual: Any = squares - xp.sum(mean * (2 * active.h - active.G @ mean), axis=0)
    if quadratic.products is not None and float(xp.min(residual)) < SMALL_RESIDUAL * float(xp.max(squares)):
        residual = quadratic.products.residual(active.J, mean)
    return residual + (state.column_alpha / state.beta) @ (mean * mean)
