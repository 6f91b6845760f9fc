"""(quadratic, α, β) to posterior mean, covariance, evidence, and the scores of every candidate:

Σ = (A + βG)⁻¹,   μ = βΣh                                                     [TF03, eq. 6]
L = ½ [n log β/2π − β(tᵀt − hᵀμ) + Σ log α + log|Σ|] + offset                 [T01, eqs. 15, 38, 40]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes import _array as xa
from sparsebayes._array import Array, Indices, NotPositiveDefinite, take, to_numpy
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic, Restriction

SMALL_RESIDUAL = 1e-6  # of tᵀt: below it the residual as a difference of products has lost too many digits
LEAST_GAMMA = 1e-15  # γ is positive; rounding may say otherwise
SPANNED = 1e-10  # S/β of a unit column below which it lies in the span of the active ones
# of β per function: added to the diagonal until a factorisation succeeds
JITTERS = (0.0, 1e-14, 1e-12, 1e-10)


@dataclass(frozen=True)
class Problem:
    """What is maximised: evidence plus log priors, as a function of (α, β).

    unit : what turns a solver's α into the user's, (M,) (see `core.prior`).
    """

    quadratic: Quadratic
    prior: Prior
    noise: GaussianNoise
    unit: Array

    def start(self, J: Indices, alpha: Array, beta: float) -> State:
        """The posterior with the functions of the numbers J at precisions α (S,) and noise precision β."""
        return State(self, self.quadratic.restrict(J), alpha, beta)


class State:
    """The posterior over the weights of the active functions, and the objective there.

    J, size : the numbers of the active functions (S,), and S.
    mean : μ (S,).  inverse_factor : L⁻¹ (S, S) with A + βG = LLᵀ.  variance : diag Σ (S,).
    gamma : γ = 1 − α diag Σ (S,), how well the data determine each weight.
    """

    def __init__(self, problem: Problem, active: Restriction, alpha: Array, beta: float) -> None:
        self.problem, self.active, self.alpha, self.beta = problem, active, alpha, float(beta)
        self.J, self.size = active.J, len(active.J)
        self.inverse_factor = xa.triangular_inverse(_factor(active.G, alpha, beta))
        self.mean = beta * (self.inverse_factor.T @ (self.inverse_factor @ active.h))
        self.variance = xa.column_squares(self.inverse_factor)
        self.gamma = 1 - alpha * self.variance

    @cached_property
    def unit(self) -> Array:
        """The `unit` of the active functions."""
        return take(self.problem.unit, self.J)

    @cached_property
    def covariance(self) -> Array:
        """Σ (S, S)."""
        return xa.lower_gram(self.inverse_factor)

    @cached_property
    def residual(self) -> float:
        """‖t−Φμ‖² = tᵀt − 2hᵀμ + μᵀGμ; from the data where that difference is small beside tᵀt."""
        quadratic, mean = self.problem.quadratic, self.mean
        residual = quadratic.tt - float(mean @ (2 * self.active.h - self.active.G @ mean))
        if residual < SMALL_RESIDUAL * quadratic.tt and quadratic.products is not None:
            return quadratic.products.residual(self.J, mean)
        return residual

    @cached_property
    def evidence(self) -> float:
        """L. The misfit as residual plus penalty is stationary in μ, so that an error in μ is squared."""
        quadratic = self.problem.quadratic
        misfit = self.beta * self.residual + float((self.alpha * self.mean) @ self.mean)
        root = xa.diagonal(self.inverse_factor)
        log_det = xa.total(quadratic.xp.log(self.alpha * root * root))
        return 0.5 * (quadratic.n * math.log(self.beta / (2 * math.pi)) - misfit + log_det) + quadratic.offset

    @cached_property
    def objective(self) -> float:
        """Evidence plus the log priors of α and β: what is maximised."""
        prior, noise = self.problem.prior, self.problem.noise
        return self.evidence + prior.total(self.alpha, self.beta, self.unit) + noise.log_prior(self.beta)

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """(s, q) of the active functions without cancellation: s = 1/Σ_mm − α = γ/Σ_mm, q = μ_m/Σ_mm."""
        return xa.at_least(self.gamma, LEAST_GAMMA) / self.variance, self.mean / self.variance

    @cached_property
    def best_alpha(self) -> Array:
        """The best value of each α with the others fixed; ∞ where its function is better deleted."""
        return self.problem.prior.maximise(*self.factors, self.beta, self.unit)

    @property
    def useless(self) -> np.ndarray:
        """Positions of the functions that are better deleted."""
        return (~np.isfinite(to_numpy(self.best_alpha))).nonzero()[0]

    @cached_property
    def keep_gain(self) -> Array:
        """What each active function adds to the objective: minus the gain of deleting it [TF03, A.4]."""
        return self.problem.prior.gain(self.alpha, *self.factors, self.beta, self.unit)

    @cached_property
    def reestimate_gain(self) -> Array:
        """What moving each α to its best value, the others fixed, adds to the objective [TF03, A.3]."""
        best = self.problem.prior.gain(self.best_alpha, *self.factors, self.beta, self.unit)
        return best - self.keep_gain

    @property
    def at_noise_floor(self) -> bool:
        """Whether an estimated noise is at its floor, where the height of the evidence means little."""
        return self.problem.noise.at_floor(self.beta)

    @cached_property
    def scores(self) -> Scores:
        """S, Q and the gain of adding, of every function."""
        return Scores(self)

    def keep(self, positions: Indices) -> State:
        """The state with only the functions at these positions."""
        return State(self.problem, self.active.keep(positions), take(self.alpha, positions), self.beta)

    def extended(self, J: Indices, alpha: Array) -> State:
        """The state with the functions J added, at precisions α."""
        together = self.problem.quadratic.xp.concat([self.alpha, xa.asfloat64(alpha, like=self.alpha)])
        return self.problem.start(np.concatenate([self.J, np.asarray(J)]), together, self.beta)

    def under(self, problem: Problem) -> State:
        """The same functions at the same α in another problem with the same quadratic, at its β where that is given."""
        return State(problem, self.active, self.alpha, self.beta if problem.noise.estimate else problem.noise.beta)

    def moved(self, alpha: Array, beta: float) -> State:
        """The state of the same functions at other precisions."""
        return State(self.problem, self.active, alpha, beta)


def _factor(G: Array, alpha: Array, beta: float) -> Array:
    """L with A + βG = LLᵀ; where rounding has made that indefinite, of the nearest matrix that is not."""
    for jitter in JITTERS:
        ridge = alpha + jitter * beta * alpha.shape[0] if jitter else alpha
        try:
            return xa.cholesky(xa.add_diagonal(beta * G, ridge))
        except NotPositiveDefinite:
            continue
    raise NotPositiveDefinite


class Scores:
    """S and Q of all M functions [TF03, eqs. 24-25], and the gain of adding each:

        S_m = β − β²‖L⁻¹G_Jm‖²,   Q_m = β(h_m − G_mJ μ)

    whitened : L⁻¹G_J· (S, M).  free : (M,) whether a function could be added: it is not active, and does not
    lie in the span of the active ones. The others have gain 0.
    alpha, gain : (M,) the best α of each, and the gain of adding it.  best, best_gain : the largest of them.
    """

    def __init__(self, state: State) -> None:
        problem, beta, quadratic = state.problem, state.beta, state.problem.quadratic
        xp, outside = quadratic.xp, np.ones(quadratic.size, dtype=bool)
        outside[state.J] = False
        rows = quadratic.rows(state.J)
        Q = beta * (quadratic.h - state.mean @ rows)
        self.whitened = xa.lower_times(state.inverse_factor, rows)  # in place of the rows
        explained = xa.column_squares(self.whitened)
        outside = xp.asarray(outside, device=xa.device(quadratic.h))
        self.free = outside & (beta * explained < 1 - SPANNED)
        self.S = xp.where(self.free, beta - beta**2 * explained, beta)
        self.Q = xp.where(outside, Q, xp.zeros_like(Q))
        alpha = problem.prior.maximise(self.S, self.Q, beta, problem.unit)
        self.alpha = xp.where(self.free, alpha, math.inf)
        self.gain = problem.prior.gain(self.alpha, self.S, self.Q, beta, problem.unit)
        self.best = int(np.argmax(to_numpy(self.gain)))
        self.best_gain = float(self.gain[self.best])

    @property
    def theta(self) -> Array:
        """q² − s of the functions that could be added, −∞ of the others."""
        return xa.namespace(self.S).where(self.free, self.Q * self.Q - self.S, -math.inf)
