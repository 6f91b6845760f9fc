"""(quadratic, α, β) → posterior mean, covariance, evidence, and the scores of every candidate.

The only Cholesky factorisation of the model is here:

    Σ = (A + βG)⁻¹,   μ = βΣh                                                     [TF03, eq. 6]
    L = ½ [n log β/2π − β(tᵀt − hᵀμ) + Σ log α + log|Σ|] + offset                 [T01, eqs. 15, 38, 40]
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparsebayes._array import (
    Array,
    Indices,
    NotPositiveDefinite,
    add_diagonal,
    asfloat64,
    at_least,
    cholesky,
    column_squares,
    device,
    diagonal,
    lower_times,
    namespace,
    take,
    to_numpy,
    total,
    triangular_inverse,
)
from sparsebayes.likelihoods import Gaussian
from sparsebayes.priors import Prior, Uniform
from sparsebayes.quadratic import Quadratic, Restriction

SMALL_RESIDUAL = 1e-6  # of tᵀt: below it the residual as a difference of products has lost too many digits
LEAST_GAMMA = 1e-15  # γ is positive; rounding may say otherwise
SPANNED = 1e-10  # S/β of a unit column below which it lies in the span of the active ones


@dataclass(frozen=True)
class Problem:
    """What is maximised: evidence plus log priors, as a function of (α, β).

    unit : (M,) turns a solver's α into the user's (see `priors`).
    """

    quadratic: Quadratic
    prior: Prior
    noise: Gaussian
    unit: Array

    def state(self, active: Restriction, alpha: Array, beta: float) -> State:
        """The posterior with the functions `active` at precisions α (S,) and noise precision β."""
        return State(self, active, alpha, float(beta))

    def relaxed(self) -> Problem:
        """The same problem under the uniform prior."""
        return replace(self, prior=Uniform())

    def start(self, J: Indices, alpha: Array, beta: float) -> State:
        """The same, from the indices of the functions."""
        return self.state(self.quadratic.restrict(J), alpha, beta)


class State:
    """The posterior over the weights of the active functions, and the objective there.

    mean μ (S,), inverse_factor L⁻¹ (S, S) with A + βG = LLᵀ, variance diag Σ (S,), gamma γ = 1 − α diag Σ,
    residual ‖t−Φμ‖², evidence L, objective L + log priors.
    """

    def __init__(self, problem: Problem, active: Restriction, alpha: Array, beta: float) -> None:
        self.problem, self.active, self.alpha, self.beta = problem, active, alpha, beta
        self.inverse_factor = triangular_inverse(_factor(active.G, alpha, beta))
        self.mean = beta * (self.inverse_factor.T @ (self.inverse_factor @ active.h))
        self.variance = column_squares(self.inverse_factor)
        self.gamma = 1 - alpha * self.variance

    @cached_property
    def residual(self) -> float:
        """‖t−Φμ‖² = tᵀt − 2hᵀμ + μᵀGμ."""
        quadratic, mean = self.problem.quadratic, self.mean
        residual = quadratic.tt - float(mean @ (2 * self.active.h - self.active.G @ mean))
        if residual < SMALL_RESIDUAL * quadratic.tt and quadratic.residual_of is not None:
            return quadratic.residual_of(self.active.J, mean)
        return residual

    @cached_property
    def evidence(self) -> float:
        """L; the misfit as residual plus penalty is stationary in μ, so an error in μ is squared."""
        quadratic = self.problem.quadratic
        misfit = self.beta * self.residual + float((self.alpha * self.mean) @ self.mean)
        root = diagonal(self.inverse_factor)
        log_det = total(quadratic.xp.log(self.alpha * root * root))
        return 0.5 * (quadratic.n * math.log(self.beta / (2 * math.pi)) - misfit + log_det) + quadratic.offset

    @cached_property
    def objective(self) -> float:
        """Evidence plus log priors."""
        return self.evidence + self.log_prior

    @property
    def J(self) -> np.ndarray:
        """The indices of the active functions."""
        return self.active.J

    @property
    def size(self) -> int:
        """How many functions are active."""
        return len(self.active.J)

    @cached_property
    def unit(self) -> Array:
        """The `unit` of the active functions."""
        return take(self.problem.unit, self.J)

    @property
    def log_prior(self) -> float:
        """Σ log p(α) + log p(β)."""
        prior, noise = self.problem.prior, self.problem.noise
        of_alpha = 0.0 if prior.flat else prior.total(self.alpha, self.beta, self.unit)
        return of_alpha + noise.log_prior(self.beta)

    @cached_property
    def covariance(self) -> Array:
        """Σ."""
        return self.inverse_factor.T @ self.inverse_factor

    @cached_property
    def inside(self) -> tuple[Array, Array]:
        """(s, q) of the active functions without cancellation: s = 1/Σ_mm − α = γ/Σ_mm, q = μ_m/Σ_mm."""
        return at_least(self.gamma, LEAST_GAMMA) / self.variance, self.mean / self.variance

    @property
    def useless(self) -> np.ndarray:
        """Positions of the functions that are better deleted."""
        return (~np.isfinite(to_numpy(self.best_alpha))).nonzero()[0]

    @cached_property
    def best_alpha(self) -> Array:
        """Where each α would go if it alone were free; ∞ where its function is better deleted."""
        s, q = self.inside
        return self.problem.prior.maximise(s, q, self.beta, self.unit)

    @cached_property
    def worth(self) -> Array:
        """What each active function adds to the objective: minus the gain of deleting it [TF03, A.4]."""
        s, q = self.inside
        return self.problem.prior.gain(self.alpha, s, q, self.beta, self.unit)

    @cached_property
    def rise(self) -> Array:
        """What moving each α to its best value, the others fixed, would add to the objective."""
        s, q = self.inside
        return self.problem.prior.gain(self.best_alpha, s, q, self.beta, self.unit) - self.worth

    @property
    def at_noise_floor(self) -> bool:
        """Whether an estimated noise is at its floor, where the height of the evidence means little."""
        return self.problem.noise.at_floor(self.beta)

    @cached_property
    def scores(self) -> Scores:
        """S, Q and gain of every function, active or not."""
        return Scores(self)

    def keep(self, positions: Indices) -> State:
        """The state with only the functions at these positions."""
        return State(self.problem, self.active.keep(positions), take(self.alpha, positions), self.beta)

    def extended(self, J: Indices, alpha: Array) -> State:
        """The state with the functions J in as well, at precisions α."""
        together = self.problem.quadratic.xp.concat([self.alpha, asfloat64(alpha, like=self.alpha)])
        return self.problem.start(np.concatenate([self.J, np.asarray(J)]), together, self.beta)


def _factor(G: Array, alpha: Array, beta: float) -> Array:
    """L with A + βG = LLᵀ; where rounding has made that indefinite, of the nearest matrix that is not."""
    for jitter in (0.0, 1e-14, 1e-12, 1e-10):
        ridge = alpha + jitter * beta * alpha.shape[0] if jitter else alpha
        try:
            return cholesky(add_diagonal(beta * G, ridge))
        except NotPositiveDefinite:
            continue
    raise NotPositiveDefinite


class Scores:
    """S and Q of all M functions [TF03, eqs. 24-25], and what adding each would be worth.

        S_m = β − β²‖L⁻¹G_Jm‖²,   Q_m = β(h_m − G_mJ μ)

    whitened : L⁻¹G_J· (S, M). Active functions and those in the span of the active ones have gain 0.
    """

    def __init__(self, state: State) -> None:
        problem, beta = state.problem, state.beta
        quadratic = problem.quadratic
        xp = quadratic.xp
        rows = quadratic.columns(state.J)
        self._state = weakref.ref(state)  # the state keeps its scores: a cycle would outlive both for a while
        self.Q = beta * (quadratic.h - state.mean @ rows)
        self.whitened = lower_times(state.inverse_factor, rows)  # in place of the rows
        explained = column_squares(self.whitened)
        outside = _outside(state.J, quadratic.size, quadratic.h)
        free = outside & (beta * explained < 1 - SPANNED)
        self.S = xp.where(free, beta - beta**2 * explained, beta)
        self.Q = xp.where(outside, self.Q, xp.zeros_like(self.Q))
        self.alpha = problem.prior.maximise(self.S, self.Q, beta, problem.unit)
        self.alpha = xp.where(free, self.alpha, math.inf)
        self.gain = problem.prior.gain(self.alpha, self.S, self.Q, beta, problem.unit)
        self._free = free

    @property
    def theta(self) -> Array:
        """q² − s of the functions outside, −∞ of those in the span of the active ones."""
        return self.state.problem.quadratic.xp.where(self._free, self.Q * self.Q - self.S, -math.inf)

    @property
    def state(self) -> State:
        """The state these are the scores of."""
        state = self._state()
        if state is None:
            raise ReferenceError("the state of these scores is gone: keep it as long as its scores are used.")
        return state

    @property
    def best(self) -> int:
        """The function whose addition is worth most."""
        return int(np.argmax(to_numpy(self.gain)))

    @property
    def best_gain(self) -> float:
        """What that is worth."""
        return float(self.gain[self.best])


def _outside(J: np.ndarray, size: int, like: Array) -> Array:
    mask = np.ones(size, dtype=bool)
    mask[J] = False
    return namespace(like).asarray(mask, device=device(like))
