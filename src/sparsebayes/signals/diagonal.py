"""Orthonormal functions: their statistics, and the state in which every α follows β.

With ΦᵀΦ = I the posterior covariance is diagonal, and every function has s = β and q = βh_m, h = Φᵀt, whatever
else is active.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from scipy.optimize import brentq

from sparsebayes._array import (
    Array,
    Indices,
    asfloat64,
    masked_sum,
    namespace,
    sparse_diagonal,
    take,
    to_numpy,
)
from sparsebayes.core.newton import noise_gradient
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.solvers.certificate import CURVATURE_TOLERANCE, GRADIENT_TOLERANCE, Certificate

FLAT = 1e-12  # slope per row that counts as none: with N functions for N rows the evidence ends in a plateau


class IdentityQuadratic(Quadratic):
    """The statistics of orthonormal functions: G = I, so that n, tᵀt and h = Φᵀt say everything.

    Parameters
    ----------
    n : float
        Number of rows.
    h : array of shape (M,)
        Φᵀt.
    unseen : float
        tᵀt − hᵀh, the part of t that lies outside the span of the functions.
    offset : float
        The part of the log-likelihood that does not depend on the weights.
    """

    def __init__(self, n: float, h: Array, unseen: float = 0.0, offset: float = 0.0) -> None:
        super().__init__(n, float(namespace(h).sum(h * h)) + unseen, h, offset)
        self.unseen = unseen

    @cached_property
    def squares(self) -> Array:
        """h², elementwise."""
        return self.h * self.h

    def rows(self, J: Indices) -> Array:
        """Rows J of the identity, for solvers that do not know the closed form."""
        rows = np.zeros((len(J), self.size))
        rows[np.arange(len(J)), J] = 1.0
        return asfloat64(rows, like=self.h)

    def gram(self, J: Indices) -> Array:
        """The identity, (|J|, |J|)."""
        return asfloat64(np.eye(len(J)), like=self.h)

    def restricted(self, J: Indices) -> IdentityQuadratic:
        """The statistics of the functions J alone, without a difference of large numbers."""
        return IdentityQuadratic(self.n, take(self.h, J), self.unexplained(J), self.offset)

    def unexplained(self, J: Indices) -> float:
        """The part of tᵀt outside the span of the functions J: `unseen`, and Σ h² of the other functions."""
        inside = float(self.xp.sum(take(self.squares, J)))
        total = self.tt - self.unseen
        outside = total - inside if inside < 0.5 * total else masked_sum(self.squares, self.outside(J))
        return self.unseen + outside

    def outside(self, J: Indices) -> np.ndarray:
        """Which functions are not among J, (M,) of bool."""
        outside = np.ones(self.size, dtype=bool)
        outside[J] = False
        return outside


@dataclass(frozen=True, eq=False)
class OrthonormalScores:
    """The attributes of `CandidateScores` for orthonormal functions; S and Q are computed when they are read.

    function : numbers of the functions, (M,).  J : the active ones, (S,).
    s, q : φᵀC⁻¹φ and φᵀC⁻¹t with the function itself taken out of C, (M,): β and βh, whatever else is active.
    shrinkage : 1 − γ = α/(α+s) of the active functions, (S,).
    """

    function: np.ndarray
    J: np.ndarray
    s: np.ndarray
    q: np.ndarray
    shrinkage: np.ndarray

    @property
    def output(self) -> np.ndarray:
        """The output that each candidate would contribute to: 0."""
        return np.zeros(len(self.function), dtype=np.int64)

    @property
    def S(self) -> np.ndarray:
        """φᵀC⁻¹φ: αs/(α+s) of the active functions, s of the others."""
        return self._shrunk(self.s)

    @property
    def Q(self) -> np.ndarray:
        """φᵀC⁻¹t: αq/(α+s) of the active functions, q of the others."""
        return self._shrunk(self.q)

    @property
    def theta(self) -> np.ndarray:
        """θ = q² − s: under the uniform prior a function belongs in the model if θ > 0 [TF03, eq. 20]."""
        return self.q**2 - self.s

    def _shrunk(self, values: np.ndarray) -> np.ndarray:
        values = values.copy()
        values[self.J] *= self.shrinkage
        return values


class DiagonalState(State):
    """The posterior at noise precision β with every α at its best value; Σ is diagonal, and never formed.

    J, size : the numbers of the active functions (S,), and S.
    alpha, mean, variance, gamma : α, μ, diag Σ and γ of the active functions, (S,).
    evidence, objective, slope : the log evidence, the same plus log priors, and its slope in log β with every
        α following.
    """

    def __init__(self, problem: Problem, beta: float) -> None:
        quadratic, prior = identity_of(problem), problem.prior
        self.problem, self.beta = problem, float(beta)
        candidates = np.flatnonzero(to_numpy(quadratic.squares > prior.threshold / self.beta))
        h, unit = take(quadratic.h, candidates), take(problem.unit, candidates)
        alpha = prior.maximise_orthonormal(h, self.beta, unit)
        inside = np.flatnonzero(to_numpy(quadratic.xp.isfinite(alpha)))
        self.J, self.size = candidates[inside], len(inside)
        self.alpha, self.h, self.unit = (take(x, inside) for x in (alpha, h, unit))
        self.unexplained = quadratic.unexplained(self.J)
        self.variance = 1 / (self.alpha + self.beta)
        self.gamma = self.beta * self.variance
        self.mean = self.gamma * self.h

    @property
    def shrinkage(self) -> Array:
        """1 − γ = αΣ, (S,)."""
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

    def under(self, problem: Problem) -> DiagonalState:
        """The state at the same noise precision in another problem with the same quadratic."""
        return DiagonalState(problem, self.beta)

    @cached_property
    def slope(self) -> float:
        """∂ objective/∂ log β."""
        return noise_gradient(self)

    @property
    def covariance(self) -> scipy.sparse.csr_array:
        """Σ (S, S), diagonal and stored as such."""
        return sparse_diagonal(to_numpy(self.variance))

    @property
    def noise_is_free(self) -> bool:
        """Whether the noise is estimated and not held at its floor by an objective that still rises there."""
        held = self.at_noise_floor and self.slope > -FLAT * self.problem.quadratic.n
        return self.problem.noise.estimate and not held

    def certificate(self) -> Certificate:
        """What is known of this point. Every α is at its best value; the noise and the curvature may not be.

        Returns
        -------
        Certificate
            With no gain outside the model and no step left in any log α.
        """
        quadratic, free = identity_of(self.problem), self.noise_is_free
        gradient, curvature = self.slope if free else 0.0, self._curvature(free)
        outside = quadratic.outside(self.J)
        largest = float(np.max(to_numpy(quadratic.squares), where=outside, initial=-math.inf))
        level = abs(gradient) <= GRADIENT_TOLERANCE * quadratic.n
        return Certificate(
            theta_outside=self.beta**2 * largest - self.beta,
            gain_outside=0.0,
            log_alpha_step=0.0,
            noise_gradient=gradient,
            hessian_eigenvalue=curvature,
            is_local_maximum=bool(level and curvature <= CURVATURE_TOLERANCE),
            at_noise_floor=bool(self.problem.noise.estimate and not free),
        )

    def candidate_scores(self, unit: Array, function: np.ndarray) -> OrthonormalScores:
        """The scores of all functions in the units of the data.

        Parameters
        ----------
        unit : array of shape (M,)
            α_user = α·unit; one number, broadcast.
        function : ndarray of shape (M,)
            The user's numbers of the functions.

        Returns
        -------
        OrthonormalScores
            S, Q, s, q and θ.
        """
        h, unit = to_numpy(self.problem.quadratic.h), to_numpy(unit)[:1]
        s = np.broadcast_to(self.beta * unit, h.shape)
        q = self.beta * np.sqrt(unit) * h
        return OrthonormalScores(function, self.J, s, q, to_numpy(self.shrinkage))

    def _curvature(self, with_noise: bool) -> float:
        """Largest eigenvalue of the joint Hessian (`core.newton`), an arrow: diagonal, border, corner."""
        k = to_numpy(self.shrinkage)
        energy = to_numpy(self.alpha * self.mean * self.mean)
        prior, noise = self.problem.prior, self.problem.noise
        _, second, _, by_beta2, mixed = prior.derivatives(self.alpha, self.beta, self.unit)
        diagonal = 0.5 * (k * k - k) + (k - 0.5) * energy + to_numpy(second)
        if not with_noise:
            return float(diagonal.max(initial=-math.inf))
        border = -0.5 * (k * k - k) - k * energy + to_numpy(mixed)
        corner = 0.5 * (-self.beta * self.residual + float((2 * k * energy + k * k - k).sum()))
        corner += by_beta2 + noise.log_prior_slopes(self.beta)[1]
        return _largest_of_arrow(diagonal, border, corner)


def _largest_of_arrow(diagonal: np.ndarray, border: np.ndarray, corner: float) -> float:
    """Largest eigenvalue of [[diag(d), b], [bᵀ, c]]: the zero of c − λ − Σ b²/(d − λ) beyond max d."""
    top = max(float(diagonal.max(initial=-math.inf)), corner)
    length = float(np.linalg.norm(border))
    if not length:
        return top

    def secular(value: float) -> float:
        return corner - value - float((border**2 / (diagonal - value)).sum())

    low = top + 1e-14 * (abs(top) + length)
    return low if secular(low) <= 0 else float(brentq(secular, low, top + 2 * length, xtol=1e-12))


def identity_of(problem: Problem) -> IdentityQuadratic:
    """The statistics of the problem; ValueError unless its functions are known to be orthonormal."""
    if not isinstance(problem.quadratic, IdentityQuadratic):
        raise ValueError(
            "solver 'orthonormal' needs functions that are known to be orthonormal (a Wavelet, DCT or Spike "
            "basis on its own, fit_intercept=False, no sample_weight); take another solver."
        )
    return problem.quadratic
