"""A regression on orthonormal functions: statistics by one fast transform, in time and memory O(N)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, namespace
from sparsebayes.bases.operators import Operator
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units, root_mean_square, target_spread
from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.signals.diagonal import IdentityQuadratic
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, solve_regression


def orthonormal_statistics(operator: Operator, t: Array) -> tuple[IdentityQuadratic, Units]:
    """The statistics of a target on orthonormal functions, and their units.

    The columns have norm 1, are not centred, and none repeats another: only h = Φᵀt is to be computed.

    Parameters
    ----------
    operator : Operator
        M orthonormal functions on N rows, M ≤ N.
    t : array of shape (N,)
        Targets.

    Returns
    -------
    quadratic : IdentityQuadratic
        Of t divided by its root mean square.
    units : Units
        The way back; norms and means are single numbers, broadcast.
    """
    xp, n = namespace(t), float(t.shape[0])
    scale = root_mean_square(t, None, n)
    scaled = t / scale
    h = operator.adjoint(scaled[:, None])[:, 0]
    unseen = 0.0
    if operator.shape[1] < operator.shape[0]:
        unseen = max(float(xp.sum(scaled * scaled)) - float(xp.sum(h * h)), 0.0)
    mean = float(xp.mean(scaled))  # of numbers whose mean square is 1
    counts = xp.broadcast_to(xp.ones_like(t[:1]), t.shape)
    spread = 1 - mean * mean if mean * mean < 0.5 else target_spread(t, counts, n, scale)
    norms, means = (xp.broadcast_to(x, h.shape) for x in (xp.ones_like(h[:1]), xp.zeros_like(h[:1])))
    units = Units(n, False, scale, 0.0, spread, np.arange(operator.shape[1]), norms, means)
    return IdentityQuadratic(n, h, unseen), units


@dataclass(frozen=True, eq=False)
class OrthonormalPath:
    """A regression on orthonormal functions, without an intercept and with every row counted once.

    Parameters
    ----------
    operator : Operator
        M orthonormal functions on N rows, M ≤ N.
    t : array of shape (N,)
        Targets.
    noise : NoiseOptions
        What is known of the Gaussian noise.
    """

    operator: Operator
    t: Array
    noise: NoiseOptions
    default_solver = Orthonormal()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Solve, and return the solution in the user's units.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight; its parameters need not be resolved.
        solver : Solver
            `Orthonormal` for the closed form, or any other.
        monitor : FitMonitor
            What the solver reports to.

        Returns
        -------
        Result
            The fitted model; with `Orthonormal` its covariance is a diagonal SciPy-sparse array.
        """
        quadratic, units = orthonormal_statistics(self.operator, self.t)
        return solve_regression(quadratic, units, self.noise, prior, solver, monitor)
