"""The closed form for orthonormal functions: no loop over functions, one equation for the noise.

With ΦᵀΦ = I every function has s = β and q = βh_m, h = Φᵀt, whatever the others do. Given β each α is at its
best at once; under the smoothness prior, with u = βh²,

    in the model iff u > 1 + 2c,    α = β/(u − 1 − 2c),    μ = h (1 − 1/(u − 2c)),    γ = β/(α + β) = μ/h

What is left is the maximum of the objective over β, all α following: by the envelope theorem its slope in
log β is the partial derivative, ½ [n − β‖t−Φμ‖² − Σγ] + ∂ log p(α|β)/∂ log β + c − dβ. From the start β
is moved uphill until the slope changes sign, and the zero in between found by Brent's method: a local maximum
of the objective in all of (α, β). Every step costs O(M). There may be several such maxima: this is the first
uphill from where all solvers start, and another solver may end at another.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse
from scipy.optimize import brentq

from sparsebayes._array import Array, sparse_diagonal, take, to_numpy
from sparsebayes.posterior import Problem, State
from sparsebayes.quadratic import IdentityQuadratic
from sparsebayes.solvers.base import Monitor, Solution, Solver
from sparsebayes.solvers.certificate import CURVATURE_TOLERANCE, GRADIENT_TOLERANCE, Certificate

STRIDE = math.log(4.0)  # of log β on the way to a change of sign
FARTHEST = 200  # strides
FLAT = 1e-12  # slope per row that counts as none: with N functions for N rows the evidence ends in a plateau
PRECISION = 1e-14  # of log β
EPSILON = float(np.finfo(float).eps)


class DiagonalState:
    """The posterior at noise precision β with every α at its best; Σ is diagonal.

    J : active functions. alpha, mean, variance, gamma : (S,), of those. evidence, objective, slope (of the
    objective in log β, all α following): numbers.
    """

    def __init__(self, problem: Problem, beta: float) -> None:
        quadratic, prior = _identity(problem), problem.prior
        self.problem, self.beta = problem, float(beta)
        candidates = np.flatnonzero(to_numpy(quadratic.squares > prior.threshold / self.beta))
        h, unit = take(quadratic.h, candidates), take(problem.unit, candidates)
        alpha = prior.maximise_orthonormal(h, self.beta, unit)
        inside = np.flatnonzero(to_numpy(quadratic.xp.isfinite(alpha)))
        self.J = candidates[inside]
        self.alpha, self.h, self.unit = (take(x, inside) for x in (alpha, h, unit))
        # ‖t‖² that no active function sees
        self.unexplained = quadratic.unseen + quadratic.energy_outside(self.J)
        self.variance = 1 / (self.alpha + self.beta)
        self.gamma = self.beta * self.variance
        self.mean = self.gamma * self.h

    @property
    def size(self) -> int:
        """How many functions are active."""
        return len(self.J)

    @property
    def shrinkage(self) -> Array:
        """1 − γ = αΣ."""
        return self.alpha * self.variance

    @cached_property
    def residual(self) -> float:
        """‖t − Φμ‖²."""
        lost = self.shrinkage * self.h
        return self.unexplained + float(self.problem.quadratic.xp.sum(lost * lost))

    @cached_property
    def evidence(self) -> float:
        """½ [n log β/2π − β(‖t−Φμ‖² + μᵀAμ/β) − Σ log(1 + β/α)] + offset, no difference of large numbers."""
        quadratic = self.problem.quadratic
        xp = quadratic.xp
        misfit = self.unexplained + float(xp.sum(self.shrinkage * self.h * self.h))
        fit = quadratic.n * math.log(self.beta / (2 * math.pi)) - self.beta * misfit
        return 0.5 * (fit - float(xp.sum(xp.log1p(self.beta / self.alpha)))) + quadratic.offset

    @cached_property
    def objective(self) -> float:
        """Evidence plus log priors."""
        prior, noise = self.problem.prior, self.problem.noise
        return self.evidence + prior.total(self.alpha, self.beta, self.unit) + noise.log_prior(self.beta)

    @cached_property
    def _prior_derivatives(self) -> tuple[Array, Array, float, float, Array]:
        return self.problem.prior.derivatives(self.alpha, self.beta, self.unit)

    @cached_property
    def slope(self) -> float:
        """∂ objective/∂ log β."""
        quadratic, noise = self.problem.quadratic, self.problem.noise
        likelihood = quadratic.n - self.beta * self.residual - float(quadratic.xp.sum(self.gamma))
        return 0.5 * likelihood + self._prior_derivatives[2] + noise.log_prior_slopes(self.beta)[0]

    @property
    def covariance(self) -> scipy.sparse.csr_array:
        """Σ, diagonal and stored as such."""
        return sparse_diagonal(to_numpy(self.variance))

    @property
    def at_noise_floor(self) -> bool:
        """Whether an estimated noise is at its floor."""
        return self.problem.noise.at_floor(self.beta)

    def certificate(self) -> Certificate:
        """Every α is at its best by construction: what is left to look at is the noise and the curvature."""
        noise, quadratic = self.problem.noise, _identity(self.problem)
        free = noise.estimate and not (self.at_noise_floor and self.slope > -FLAT * quadratic.n)
        gradient = self.slope if free else 0.0
        curvature = self._curvature(free)
        largest = float(
            np.max(to_numpy(quadratic.squares), where=quadratic.outside(self.J), initial=-math.inf)
        )
        return Certificate(
            theta_outside=self.beta**2 * largest - self.beta,
            gain_outside=0.0,
            log_alpha_step=0.0,
            noise_gradient=gradient,
            hessian_eigenvalue=curvature,
            is_local_maximum=bool(
                abs(gradient) <= GRADIENT_TOLERANCE * quadratic.n and curvature <= CURVATURE_TOLERANCE
            ),
            at_noise_floor=bool(noise.estimate and not free),
        )

    def _curvature(self, with_noise: bool) -> float:
        """Largest eigenvalue of the joint Hessian (solvers/newton.py), an arrow: diagonal, border, corner."""
        k = to_numpy(self.shrinkage)
        energy = to_numpy(self.alpha * self.mean * self.mean)
        _, second, _, by_beta2, mixed = self._prior_derivatives
        diagonal = 0.5 * (k * k - k) + (k - 0.5) * energy + to_numpy(second)
        if not with_noise:
            return float(diagonal.max(initial=-math.inf))
        border = -0.5 * (k * k - k) - k * energy + to_numpy(mixed)
        corner = 0.5 * (-self.beta * self.residual + float((2 * k * energy + k * k - k).sum()))
        corner += by_beta2 + self.problem.noise.log_prior_slopes(self.beta)[1]
        return _largest_of_arrow(diagonal, border, corner)


def _largest_of_arrow(diagonal: np.ndarray, border: np.ndarray, corner: float) -> float:
    """Largest eigenvalue of [[diag(d), b], [bᵀ, c]]: the zero of c − λ − Σ b²/(d − λ) beyond max d."""
    top = float(diagonal.max(initial=-math.inf))
    length = float(np.linalg.norm(border))
    if not length:
        return max(top, corner)

    def secular(value: float) -> float:
        return corner - value - float((border**2 / (diagonal - value)).sum())

    low = max(top, corner)
    low += 1e-14 * (abs(low) + length)
    if secular(low) <= 0:
        return low
    return float(brentq(secular, low, max(top, corner) + 2 * length, xtol=1e-12))


class Orthonormal(Solver):
    """The closed form, for orthonormal functions only; `fit` chooses it by itself there."""

    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Given noise: one pass. Estimated noise: uphill from where it starts."""
        if not problem.quadratic.orthonormal:
            raise ValueError(
                "solver 'orthonormal' needs functions that are known to be orthonormal (a Wavelet, DCT or "
                "Spike basis on its own, fit_intercept=False, no sample_weight); take another solver."
            )
        climb = _Climb(problem, monitor, problem.noise.beta if start is None else start.beta)
        try:
            converged = climb.run() if problem.noise.estimate else True
        except _Stopped:
            converged = False
        return Solution(climb.latest, converged, climb.latest.certificate())


class _Stopped(Exception):
    """The monitor has had enough."""


class _Climb:
    """The way of log β uphill. latest : the state looked at last, the only one held: each is as long as t."""

    def __init__(self, problem: Problem, monitor: Monitor, beta: float) -> None:
        self.problem, self.monitor = problem, monitor
        self.latest = DiagonalState(problem, beta)
        self.going = monitor.record(self.latest)
        self.level = FLAT * problem.quadratic.n

    def run(self) -> bool:
        """Bracket the first change of sign uphill, then close in on it; True where there is one."""
        ceiling = math.log(self.problem.noise.beta_max)
        here, slope = math.log(self.latest.beta), self.latest.slope
        up = slope > -self.level
        for _ in range(FARTHEST):
            if up and here >= ceiling:
                return True  # at the floor of the noise, of which `fit` warns
            there = min(here + STRIDE, ceiling) if up else here - STRIDE
            following = self._slope(there)
            if (following > -self.level) != up:
                self._close_in(*((here, there, slope) if up else (there, here, following)))
                return True
            here, slope = there, following
        return False

    def _slope(self, log_beta: float) -> float:
        if not self.going:
            raise _Stopped
        del self.latest  # before the next one is made
        self.latest = DiagonalState(self.problem, math.exp(log_beta))
        self.going = self.monitor.record(self.latest)
        return self.latest.slope

    def _close_in(self, low: float, high: float, slope: float) -> None:
        """The zero between two log β, the slope being that at the lower.

        What no β up to the higher one lets in is counted once and for all.
        """
        whole = self.problem
        if slope <= 0:  # within rounding of a plateau
            self.latest = DiagonalState(whole, math.exp(low))
            return
        try:
            if whole.prior.threshold > 0:
                self.problem = _restricted(whole, math.exp(high))
            best = float(brentq(self._slope, low, high, xtol=PRECISION, rtol=4 * EPSILON))
        finally:
            self.problem = whole
            beta = self.latest.beta
            del self.latest
            self.latest = DiagonalState(whole, beta)
        self._slope(best)


def _restricted(problem: Problem, beta: float) -> Problem:
    """Without the functions that are kept at no noise precision up to β."""
    quadratic = _identity(problem)
    J = np.flatnonzero(to_numpy(quadratic.squares > problem.prior.threshold / beta))
    return replace(problem, quadratic=quadratic.restricted(J), unit=take(problem.unit, J))


def _identity(problem: Problem) -> IdentityQuadratic:
    assert isinstance(problem.quadratic, IdentityQuadratic)
    return problem.quadratic
