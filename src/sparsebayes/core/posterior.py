"""(quadratic, α, β) to posterior mean, covariance, evidence, and the scores of every candidate:

Σ = (A + βG)⁻¹,   μ = βΣh                                                     [TF03, eq. 6]
L = ½ [n log β/2π − β(tᵀt − hᵀμ) + Σ log α + log|Σ|] + offset                 [T01, eqs. 15, 38, 40]

One α may govern a function's weights in T outputs that share Σ. With the outputs divided by √T the same lines give
L/T: μ is (S, T) then, and what was a square is a sum of squares over the outputs.
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

    @property
    def size(self) -> int:
        """M, the number of functions."""
        return self.quadratic.size

    @cached_property
    def projections(self) -> np.ndarray:
        """h (M,), whose size says how much of the target a function explains alone; lengths for several outputs."""
        return to_numpy(xa.row_lengths(self.quadratic.h))

    def columns(self, J: Indices) -> Indices:
        """The columns of the functions J, function after function: here every function is one column."""
        return J

    def start(self, J: Indices, alpha: Array, beta: float) -> State:
        """The posterior with the functions of the numbers J at precisions α (S,) and noise precision β."""
        return self.state(self.quadratic.restrict(self.columns(J)), alpha, beta)

    def state(self, active: Restriction, alpha: Array, beta: float) -> State:
        """The posterior of functions whose restriction is known."""
        return State(self, active, alpha, beta)


class State:
    """The posterior over the weights of the active functions, and the objective there.

    J, size : the numbers of the active functions (S,), and S.  column_alpha : α of each of their columns.
    mean : μ (S,) or (S, T).  inverse_factor : L⁻¹ (S, S) with A + βG = LLᵀ.  variance : diag Σ (S,).
    gamma : γ = 1 − α diag Σ (S,), how well the data determine each weight.
    """

    def __init__(self, problem: Problem, active: Restriction, alpha: Array, beta: float) -> None:
        self.problem, self.active, self.alpha, self.beta = problem, active, alpha, float(beta)
        self.J, self.column_alpha = self._functions(alpha)
        self.size = len(self.J)
        self.inverse_factor = xa.triangular_inverse(_factor(active.G, self.column_alpha, beta))
        self.mean = beta * (self.inverse_factor.T @ (self.inverse_factor @ active.h))
        self.variance = xa.column_squares(self.inverse_factor)
        self.gamma = self.sizes - self.alpha * self.of_functions(self.variance)

    # here every function is one column; in `core.groups` it has several

    sizes: Array = 1.0  # columns of each function

    def _functions(self, alpha: Array) -> tuple[np.ndarray, Array]:
        """The numbers of the active functions, and α of each of their columns."""
        return self.active.J, alpha

    def of_functions(self, values: Array) -> Array:
        """Sums over the columns of each function, of values (columns,), or both ways of (columns, columns)."""
        return values

    def column_positions(self, positions: Indices) -> Indices:
        """Where the columns of the functions at these positions are."""
        return positions

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
        residual = quadratic.tt - xa.inner(mean, 2 * self.active.h - self.active.G @ mean)
        if residual < SMALL_RESIDUAL * quadratic.tt and quadratic.products is not None:
            return xa.total(quadratic.products.residual(self.active.J, mean))
        return residual

    @cached_property
    def evidence(self) -> float:
        """L. The misfit as residual plus penalty is stationary in μ, so that an error in μ is squared."""
        quadratic = self.problem.quadratic
        misfit = self.beta * self.residual + xa.inner(xa.scaled_rows(self.mean, self.column_alpha), self.mean)
        root = xa.diagonal(self.inverse_factor)
        log_det = xa.total(quadratic.xp.log(self.column_alpha * root * root))
        return 0.5 * (quadratic.n * math.log(self.beta / (2 * math.pi)) - misfit + log_det) + quadratic.offset

    @cached_property
    def objective(self) -> float:
        """Evidence plus the log priors of α and β: what is maximised."""
        prior, noise = self.problem.prior, self.problem.noise
        return self.evidence + prior.total(self.alpha, self.beta, self.unit) + noise.log_prior(self.beta)

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """(s, q) of the active functions without cancellation: s = 1/Σ_mm − α = γ/Σ_mm, q = μ_m/Σ_mm."""
        return xa.at_least(self.gamma, LEAST_GAMMA) / self.variance, xa.row_lengths(self.mean) / self.variance

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

    def keep(self, positions: Indices, alpha: Array | None = None, beta: float | None = None) -> State:
        """The state with only the functions at these positions, with other precisions α (S,) and β where given."""
        alpha, beta = self.alpha if alpha is None else alpha, self.beta if beta is None else beta
        return self.problem.state(self.active.keep(self.column_positions(positions)), take(alpha, positions), beta)

    def extended(self, J: Indices, alpha: Array) -> State:
        """The state with the functions J added, at precisions α."""
        together = self.problem.quadratic.xp.concat([self.alpha, xa.asfloat64(alpha, like=self.alpha)])
        return self.problem.start(np.concatenate([self.J, np.asarray(J)]), together, self.beta)

    def under(self, problem: Problem) -> State:
        """The same functions at the same α in another problem with the same quadratic, at its β where that is given."""
        return problem.state(self.active, self.alpha, self.beta if problem.noise.estimate else problem.noise.beta)

    def moved(self, alpha: Array, beta: float) -> State:
        """The state of the same functions at other precisions."""
        return self.problem.state(self.active, alpha, beta)


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

    Q : (M,), or (M, T) for T outputs.  q : (M,), Q or its length over the outputs.
    whitened : L⁻¹G_J· (S, M).  free : (M,) whether a function could be added: it is not active, and does not
    lie in the span of the active ones. The others have gain 0.
    alpha, gain : (M,) the best α of each, and the gain of adding it.
    """

    def __init__(self, state: State) -> None:
        problem, beta, quadratic = state.problem, state.beta, state.problem.quadratic
        rows = quadratic.rows(state.active.J)
        Q = beta * (quadratic.h - xa.combined_rows(state.mean, rows))
        self.whitened = xa.lower_times(state.inverse_factor, rows)  # in place of the rows
        self._factors(state, Q)
        self.alpha = quadratic.xp.where(self.free, problem.prior.maximise(self.S, self.q, beta, problem.unit), math.inf)
        self.gain = problem.prior.gain(self.alpha, self.S, self.q, beta, problem.unit)

    @cached_property
    def best(self) -> int:
        """The function with the largest gain."""
        return int(np.argmax(to_numpy(self.gain)))

    @cached_property
    def best_gain(self) -> float:
        """The largest gain."""
        return float(self.gain[self.best])

    def _factors(self, state: State, Q: Array) -> None:
        """S, Q and q of every function, and which could be added."""
        beta, xp, explained = state.beta, xa.namespace(Q), xa.column_squares(self.whitened)
        outside = xa.zeroed(xp.ones(state.problem.size, dtype=xp.bool, device=xa.device(Q)), state.J)
        self.free = outside & (beta * explained < 1 - SPANNED)
        self.S = xp.where(self.free, beta - beta**2 * explained, beta)
        self.Q = xp.where(outside if Q.ndim == 1 else outside[:, None], Q, xp.zeros_like(Q))
        self.q = xa.row_lengths(self.Q)

    @property
    def theta(self) -> Array:
        """q² − s of the functions that could be added, −∞ of the others."""
        return xa.namespace(self.S).where(self.free, self.q * self.q - self.S, -math.inf)
