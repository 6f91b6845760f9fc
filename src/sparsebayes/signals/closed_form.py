"""The closed form for orthonormal functions: no loop over functions, one equation for the noise.

With ΦᵀΦ = I every function has s = β and q = βh_m, h = Φᵀt, whatever else is active. Given β the best value
of each α is known at once; under the smoothness prior, with u = βh²,

    selected iff u > 1 + 2c,    α = β/(u − 1 − 2c),    μ = h (1 − 1/(u − 2c)),    γ = β/(α + β) = μ/h

What remains is to maximise the objective over β, with every α following it: by the envelope theorem its
slope in log β is the partial derivative, ½ [n − β‖t−Φμ‖² − Σγ] + ∂ log p(α|β)/∂ log β + c − dβ. From its
start β moves uphill until the slope changes sign, and Brent's method finds the zero in between: a local
maximum of the objective in all of (α, β). Every step costs O(M). The objective may have several such maxima:
this is the first one uphill from where all solvers start, and another solver may end at another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sparsebayes._array import take, to_numpy
from sparsebayes.core.posterior import Problem
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver
from sparsebayes.signals.diagonal import FLAT, DiagonalState, identity_of

STRIDE = math.log(4.0)  # of log β on the way to a change of sign
FARTHEST = 200  # strides
PRECISION = 1e-14  # of log β
EPSILON = float(np.finfo(float).eps)


@dataclass
class Orthonormal(Solver):
    """The closed form, for orthonormal functions only: linear in their number, in time and memory."""

    def solve(self, problem: Problem, monitor: Monitor, start: Any = None, effort: Effort = Effort.FULL) -> Solution:
        """Maximise over the noise with every α following; a given noise takes one pass.

        Parameters
        ----------
        problem : Problem
            With an `IdentityQuadratic`; ValueError if its quadratic is another.
        monitor : Monitor
            Told of every noise precision that is tried.
        start : State or DiagonalState, optional
            Its β is where the noise starts.
        effort : Effort
            Ignored: the solution is always complete.

        Returns
        -------
        Solution
            Of a `DiagonalState`.
        """
        climb = _Climb(problem, monitor, problem.noise.beta if start is None else start.beta)
        try:
            converged = climb.run() if problem.noise.estimate else True
            state = climb.latest
        except _Stopped:
            converged, state = False, DiagonalState(problem, climb.latest.beta)
        monitor.note("solved in closed form", state.size, state)
        return Solution(state, converged)


class _Stopped(Exception):
    """The monitor ends the fit."""


class _Climb:
    """The search for β, uphill in log β.

    latest : the last state; no other is kept, since a state is as long as the signal.
    """

    def __init__(self, problem: Problem, monitor: Monitor, beta: float) -> None:
        self.problem, self.monitor = problem, monitor
        self.latest = DiagonalState(problem, beta)
        monitor.record(self.latest)

    def run(self) -> bool:
        """Bracket the first change of sign uphill, then close in on it; True if there is one."""
        ceiling, level = math.log(self.problem.noise.beta_max), -FLAT * self.problem.quadratic.n
        here, slope = math.log(self.latest.beta), self.latest.slope
        up = slope > level
        for _ in range(FARTHEST):
            if up and here >= ceiling:
                return True  # at the floor of the noise
            there = min(here + STRIDE, ceiling) if up else here - STRIDE
            following = self._slope(there)
            if (following > level) != up:
                self._close_in(*((here, there, slope) if up else (there, here, following)))
                return True
            here, slope = there, following
        return False

    def _slope(self, log_beta: float) -> float:
        """The slope of the objective at another β, whose state becomes the latest."""
        if not self.monitor.going:
            raise _Stopped
        del self.latest  # before the next one is made
        self.latest = DiagonalState(self.problem, math.exp(log_beta))
        self.monitor.record(self.latest)
        return self.latest.slope

    def _close_in(self, low: float, high: float, slope: float) -> None:
        """Go to the zero of the slope between two values of log β; `slope` is that at the lower.

        Functions that are selected at no β up to the higher one are summed up once, for all steps.
        """
        whole = self.problem
        if slope <= 0:  # a plateau, to rounding
            self.latest = DiagonalState(whole, math.exp(low))
            return
        self.problem = _restricted(whole, math.exp(high))
        best = float(brentq(self._slope, low, high, xtol=PRECISION, rtol=4 * EPSILON))
        self.problem = whole
        self._slope(best)


def _restricted(problem: Problem, beta: float) -> Problem:
    """The problem without the functions that are selected at no noise precision up to β."""
    quadratic = identity_of(problem)
    J = np.flatnonzero(to_numpy(quadratic.squares > problem.prior.threshold / beta))
    return replace(problem, quadratic=quadratic.restricted(J), unit=take(problem.unit, J))
