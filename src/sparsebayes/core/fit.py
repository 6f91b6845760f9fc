"""A whole fit: statistics to solution to result; and, for a plain matrix, from the rows themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices
from sparsebayes.core.greedy import Greedy
from sparsebayes.core.noise import Gaussian, GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Prior, Uniform
from sparsebayes.core.quadratic import DenseQuadratic, Products
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Monitor, Solution, Solver
from sparsebayes.core.units import NothingToModel, Units, without_constants


def fit_matrix(
    Phi: np.ndarray,
    t: np.ndarray,
    *,
    prior: Prior | None = None,
    solver: Solver | None = None,
    noise_variance: float | None = None,
    fit_intercept: bool = False,
) -> Result:
    """Fit t ≈ Φw + noise, Φ a NumPy matrix in memory: scale, solve, unscale.

    This is the whole relevance vector machine for regression in its simplest form; `sparsebayes.fit` does
    the same for everything else that can be a design.

    Parameters
    ----------
    Phi : ndarray of shape (N, M)
        Design matrix, one column per basis function.
    t : ndarray of shape (N,)
        Targets.
    prior : Prior, optional
        Prior on the precision of each weight, `Uniform()` by default.
    solver : Solver, optional
        `Greedy()` by default.
    noise_variance : float, optional
        σ² if it is known; None estimates it.
    fit_intercept : bool
        Whether to add an intercept with a flat prior, which is integrated out.

    Returns
    -------
    Result
        The fitted model in the units of the data.
    """
    units = Units.of_target(t, np.ones(len(t)), fit_intercept)
    means = Phi.mean(axis=0) if fit_intercept else np.zeros(Phi.shape[1])
    norms = without_constants(np.linalg.norm(Phi - means, axis=0), means, units.n)
    kept = np.flatnonzero(norms)  # a column that is zero, or constant beside an intercept, is no function
    if not len(kept):
        raise NothingToModel("Phi has no usable column: every column is zero (or constant, with fit_intercept=True).")
    units = units.with_columns(kept, norms[kept], means[kept])
    columns, target = (Phi[:, kept] - units.means) / units.norms, units.scaled(t)
    tt, h, G = float(target @ target), columns.T @ target, columns.T @ columns
    quadratic = DenseQuadratic(units.rows_counted, tt, h, G, offset=units.offset, products=_MatrixData(columns, target))
    prior, noise, monitor = prior or Uniform(), Gaussian().noise(units, noise_variance), Monitor()
    problem = Problem(quadratic, prior.resolve(units.n), noise, prior.units(units.unit, units.kept))
    return result_of((solver or Greedy()).solve(problem, monitor.in_units(units)), units, monitor)


@dataclass(frozen=True, eq=False)
class _MatrixData(Products):
    """Scaled columns (N, M) and target (N,), for residuals that are small beside the target."""

    columns: np.ndarray
    target: np.ndarray

    def residual(self, J: Indices, weights: Array) -> float:
        """‖t − Φ_J w‖²."""
        return float(np.sum((self.target - self.columns[:, J] @ weights) ** 2))


def result_of(solution: Solution, units: Units, monitor: Monitor, **known: Any) -> Result:
    """The solution of a Gaussian problem in the user's units; `known` are further fields of the `Result`."""
    state, objective = solution.state, solution.state.objective + units.log_jacobian
    return Result(
        **units.weights_in_user_units(state),
        likelihood=GaussianNoise(state.beta / units.target_scale**2),
        log_evidence=state.evidence + units.log_jacobian,
        objective=objective,
        evidence_path=np.asarray([*monitor.path, objective]),
        converged=solution.converged,
        **known,
    )
