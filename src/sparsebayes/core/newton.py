"""Joint Newton steps in (log α, log β) over the active functions, and the deletion of useless ones.

With a = log α and b = log β [gradient: T01, eqs. 42 and 45; the second derivatives follow from
∂Σ/∂a_j = −α_j Σ_·j Σ_j· and ∂Σ/∂b = −Σ + ΣAΣ]:

    ∂L/∂a_i   = ½ (γ_i − α_i μ_i²)                     ∂L/∂b = ½ (n − β‖t−Φμ‖² − Σγ)
    ∂²L/∂a_i∂a_j = α_i α_j Σ_ij (½ Σ_ij + μ_i μ_j) − ½ δ_ij α_i (Σ_ii + μ_i²)
    ∂²L/∂a_i∂b   = −½ α_i [(ΣAΣ)_ii − Σ_ii + 2 μ_i (ΣAμ)_i]
    ∂²L/∂b²      = ½ [−β‖t−Φμ‖² + 2 μᵀAΣAμ + Σ_i α_i ((ΣAΣ)_ii − Σ_ii)]

A step is accepted only if the objective does not fall (else Levenberg's damping grows), and a function whose
best α is infinite is deleted at once: a Newton step in log α would never get there.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes import _array as xa
from sparsebayes._array import Array, NotPositiveDefinite, to_numpy
from sparsebayes.core.posterior import State


@dataclass(frozen=True)
class NewtonSettings:
    """What the joint Newton steps depend on.

    first_damping, polish_damping : damping of a first step far from the maximum, and of one close to it.
    longest_step : the largest change of one log α or log β in a step.
    final_gain : a polish ends when the next step is predicted to gain less, in nats.
    last_gain, last_damping : a step predicted to gain less, damped by less, is the last: Newton's method
        squares the error, so that nothing would be left for the next.
    jump_gain : what moving a single α to its best value must gain in a polish, in nats.
    max_jumps : most such moves in a polish.
    rounding : per row, the nats by which rounding may lower the objective in a step.
    hidden_gain : a step predicted to gain less, in nats, is judged by what it leaves to gain if the objective falls:
        slopes are known better than the objective where functions are nearly dependent.
    """

    first_damping: float = 0.03
    polish_damping: float = 1e-3
    longest_step: float = 1.5
    final_gain: float = 1e-14
    last_gain: float = 1e-8
    last_damping: float = 1e-4
    jump_gain: float = 1e-7
    max_jumps: int = 50
    rounding: float = 2e-13
    hidden_gain: float = 1e-3


NEWTON = NewtonSettings()
SILENT = 1e10  # α/β of a unit column that explains nothing
LOST_DIGITS = 1e-6  # of the objective: a deletion that misses its prediction by more is not to be trusted


def noise_gradient(state: State) -> float:
    """∂(objective)/∂ log β."""
    problem = state.problem
    slope = 0.5 * (problem.quadratic.n - state.beta * state.residual - xa.total(state.gamma))
    by_prior = problem.prior.derivatives(state.alpha, state.beta, state.unit)[2]
    return slope + by_prior + problem.noise.log_prior_slopes(state.beta)[0]


def noise_is_free(state: State) -> bool:
    """Whether β is estimated and not held at its ceiling by an objective that still rises there."""
    noise = state.problem.noise
    return noise.estimate and (state.beta < noise.beta_max * (1 - 1e-9) or noise_gradient(state) < 0)


def gradient_and_hessian(state: State, with_noise: bool) -> tuple[Array, Array]:
    """Gradient and Hessian of the objective by (log α, log β), or by log α alone."""
    xp, prior = state.problem.quadratic.xp, state.problem.prior
    first, second, by_beta, by_beta2, mixed = prior.derivatives(state.alpha, state.beta, state.unit)
    root = xp.sqrt(state.column_alpha)
    scaled_factor = state.inverse_factor * root[None, :]
    B = xa.lower_gram(scaled_factor)  # A^½ΣA^½
    weight = xa.scaled_rows(state.mean, root)
    power = state.of_functions(xa.row_squares(weight))  # αμ²
    shrink = state.sizes - state.gamma  # α diag Σ
    gradient = 0.5 * (state.gamma - power) + first
    hessian = state.of_functions((0.5 * B + xa.outer(weight)) * B)
    # the sum over j of α_j Σ_ij (½ Σ_ij + μ_i μ_j), times α_i, is ½ α_i (ΣAΣ)_ii + α_i μ_i (ΣAμ)_i
    side = 0.5 * shrink - xp.sum(hessian, axis=1)
    hessian = xa.add_diagonal(hessian, second - 0.5 * (shrink + power))
    if not with_noise:
        return gradient, hessian
    noise_slope, noise_curvature = state.problem.noise.log_prior_slopes(state.beta)
    misfit = state.beta * state.residual
    corner = -xa.total(side) - 0.5 * misfit + by_beta2 + noise_curvature
    slope = 0.5 * (state.problem.quadratic.n - misfit - xa.total(state.gamma)) + by_beta + noise_slope
    return xa.appended(gradient, slope), xa.bordered(hessian, side + mixed, corner)


def maximise_jointly(
    state: State, tol: float, max_steps: int = 100, damping: float = 0.0, settings: NewtonSettings = NEWTON
) -> State:
    """Newton steps until the next is predicted to gain less than `tol` nats; deletes useless functions."""
    damping = damping or settings.first_damping
    for _ in range(max_steps):
        state = delete_useless(state)
        following, damping, predicted = _newton_step(state, damping, tol, settings)
        if following is None:
            return state
        state = following
        if predicted < settings.last_gain and damping < settings.last_damping:
            break
    return delete_useless(state)


def polish(state: State, settings: NewtonSettings = NEWTON) -> State:
    """Newton steps to the end, and jumps where the objective has a higher mode in a single α.

    With a prior the objective can have two modes in one α; Newton steps cannot cross between them.
    """
    for _ in range(settings.max_jumps):
        state = maximise_jointly(state, settings.final_gain, damping=settings.polish_damping, settings=settings)
        gain = to_numpy(state.reestimate_gain)
        k = int(np.argmax(gain))
        if not gain[k] > settings.jump_gain or not math.isfinite(float(state.best_alpha[k])):
            break
        way = np.where(np.arange(state.size) == k, np.log(to_numpy(state.best_alpha) / to_numpy(state.alpha)), 0.0)
        jumped = _after(state, xa.asfloat64(way, like=state.alpha), with_noise=False)
        if jumped is None or jumped.objective <= state.objective:  # None for functions that only a large α keeps apart
            break
        state = jumped
    return state


def _newton_step(
    state: State, damping: float, tol: float, settings: NewtonSettings
) -> tuple[State | None, float, float]:
    """One accepted step, the damping for the next, its predicted gain; None for one not worth taking."""
    with_noise = noise_is_free(state)
    gradient, hessian = gradient_and_hessian(state, with_noise)
    scale = state.problem.quadratic.xp.abs(xa.diagonal(hessian)) + 1e-3
    while damping < 1e8:
        try:
            step = xa.solve_positive(xa.add_diagonal(-hessian, damping * scale), gradient)
        except NotPositiveDefinite:
            damping = max(4 * damping, 1e-2)
            continue
        # each on its own: a function far from its optimum in a flat direction must not hold up the others
        clipped = xa.within(step, settings.longest_step)
        predicted = float(gradient @ clipped)
        if predicted < tol and damping <= 1:
            if float(gradient @ step) < tol:
                return None, damping, predicted
            damping = max(30 * damping, 1e-2)  # clipped, the step no longer points uphill: a shorter one does
            continue
        following = _after(state, clipped, with_noise)
        lowest = state.objective - settings.rounding * state.problem.quadratic.n
        if following is not None and following.objective >= lowest:
            modelled = predicted + 0.5 * float(clipped @ (hessian @ clipped))
            ratio = (following.objective - state.objective) / modelled if modelled > 0 else 0.0
            # Levenberg's rule: trust the quadratic model more the better it predicted
            damping = max(damping / 10, 1e-9) if ratio > 0.75 else damping if ratio > 0.25 else 4 * damping
            return following, damping, predicted
        if following is not None and predicted < settings.hidden_gain:
            slope = gradient_and_hessian(following, with_noise)[0]
            lost = state.objective - following.objective > LOST_DIGITS * (1 + abs(state.objective))
            further = xa.solve_positive(xa.add_diagonal(-hessian, damping * scale), slope)
            if float(slope @ further) < 0.8 * predicted and not lost:
                return following, damping, predicted
        damping = max(8 * damping, 1e-4)
    return None, damping, 0.0


def _after(state: State, step: Array, with_noise: bool) -> State | None:
    """The state after a step in (log α, log β); None if its functions cannot be told apart."""
    beta = state.beta
    if with_noise:
        beta = min(beta * math.exp(float(step[-1])), state.problem.noise.beta_max)
    try:
        return state.moved(state.alpha * state.problem.quadratic.xp.exp(step[: state.size]), beta)
    except NotPositiveDefinite:
        return None


def delete_useless(state: State) -> State:
    """Delete the functions whose best α is infinite: together if that raises the objective, else the worst.

    The last function is not deleted but silenced: its α becomes so large that the model is empty in effect.
    """
    while len(useless := state.useless):
        if state.size == 1:
            quiet = state.moved(0 * state.alpha + SILENT * state.beta, state.beta)
            return quiet if quiet.objective > state.objective else state
        if 1 < len(useless) < state.size:
            fewer = state.keep(np.delete(np.arange(state.size), useless))
            # one by one each deletion raises the objective; together they may not
            if fewer.objective >= state.objective:
                state = fewer
                continue
        worst = useless[int(np.argmin(to_numpy(state.keep_gain)[useless]))]
        fewer = state.keep(np.delete(np.arange(state.size), worst))
        predicted = state.objective - float(state.keep_gain[worst])
        if fewer.objective < predicted - LOST_DIGITS * (1 + abs(predicted)):
            return state  # s and q have lost their digits, and are not to be trusted
        state = fewer
    return state
