"""Joint Newton steps in (log α, log β) over the active set: the engine between additions, and the polish.

With a = log α and b = log β [gradient: T01, eqs. 42 and 45; the second derivatives follow from
∂Σ/∂a_j = −α_j Σ_·j Σ_j· and ∂Σ/∂b = −Σ + ΣAΣ]:

    ∂L/∂a_i   = ½ (γ_i − α_i μ_i²)                     ∂L/∂b = ½ (n − β‖t−Φμ‖² − Σγ)
    ∂²L/∂a_i∂a_j = α_i α_j Σ_ij (½ Σ_ij + μ_i μ_j) − ½ δ_ij α_i (Σ_ii + μ_i²)
    ∂²L/∂a_i∂b   = −½ α_i [(ΣAΣ)_ii − Σ_ii + 2 μ_i (ΣAμ)_i]
    ∂²L/∂b²      = ½ [−β‖t−Φμ‖² + 2 μᵀAΣAμ + Σ_i α_i ((ΣAΣ)_ii − Σ_ii)]

Every step is accepted only if the objective does not fall (Levenberg's damping otherwise), and a function
whose best α is infinite is deleted at once: a Newton step in log α would take for ever to get there.
"""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._array import (
    Array,
    Indices,
    NotPositiveDefinite,
    add_diagonal,
    appended,
    asfloat64,
    bordered,
    diagonal,
    solve_positive,
    to_numpy,
    total,
    within,
)
from sparsebayes.posterior import State

FINAL = 1e-14  # nats: the steps that end a fit stop when the next promises less
# a step that promises fewer nats than LAST, damped by less than UNDAMPED, leaves next to nothing to the next
LAST, UNDAMPED = 1e-8, 1e-4
POLISH_JUMPS = 50
WORTH_A_JUMP = 1e-7  # nats
SILENT = 1e10  # α/β of a unit column that explains nothing
LONGEST_STEP = 1.5  # in log α or log β
CAUTIOUS, CONFIDENT = 0.03, 1e-3  # damping of a first step far from the maximum, and near it
NO_PRIOR = (0.0,) * 5  # the derivatives of a log density that is constant
ROUNDING = 2e-13  # per row: what rounding may cost the objective in a step that gains next to nothing


def noise_is_free(state: State) -> bool:
    """Whether β is to be estimated and is not held at its ceiling by an objective that still rises there."""
    noise = state.problem.noise
    if not noise.estimate:
        return False
    return state.beta < noise.beta_max * (1 - 1e-9) or noise_gradient(state) < 0


def noise_gradient(state: State) -> float:
    """∂(objective)/∂ log β."""
    quadratic, noise = state.problem.quadratic, state.problem.noise
    slope = 0.5 * (quadratic.n - state.beta * state.residual - total(state.gamma))
    by_prior = state.problem.prior.derivatives(state.alpha, state.beta, state.unit)[2]
    return slope + by_prior + noise.log_prior_slopes(state.beta)[0]


def gradient_and_hessian(state: State, with_noise: bool) -> tuple[Array, Array]:
    """Of the objective by (log α, log β), or by log α alone."""
    xp, prior = state.problem.quadratic.xp, state.problem.prior
    first, second, by_beta, by_beta2, mixed = (
        NO_PRIOR if prior.flat else prior.derivatives(state.alpha, state.beta, state.unit)
    )
    root = xp.sqrt(state.alpha)
    scaled_factor = state.inverse_factor * root[None, :]
    B = scaled_factor.T @ scaled_factor  # A^½ΣA^½
    weight = root * state.mean
    power = weight * weight  # αμ²
    shrink = 1 - state.gamma  # α diag Σ
    gradient = 0.5 * (state.gamma - power) + first
    hessian = (0.5 * B + weight[:, None] * weight[None, :]) * B
    # the sum over j of α_j Σ_ij (½ Σ_ij + μ_i μ_j), times α_i, is ½ α_i (ΣAΣ)_ii + α_i μ_i (ΣAμ)_i
    side = 0.5 * shrink - xp.sum(hessian, axis=1)
    hessian = add_diagonal(hessian, second - 0.5 * (shrink + power))
    if not with_noise:
        return gradient, hessian
    noise_slope, noise_curvature = state.problem.noise.log_prior_slopes(state.beta)
    misfit = state.beta * state.residual
    corner = -total(side) - 0.5 * misfit + by_beta2 + noise_curvature
    slope = 0.5 * (state.problem.quadratic.n - misfit - total(state.gamma)) + by_beta + noise_slope
    return appended(gradient, slope), bordered(hessian, side + mixed, corner)


def maximise_jointly(state: State, tol: float, max_steps: int = 100, damping: float = CAUTIOUS) -> State:
    """Newton steps until the next promises less than `tol` nats, or is bound to; deletes what is useless."""
    for _ in range(max_steps):
        state = delete_useless(state)
        following, damping, promised = _newton_step(state, damping, tol)
        if following is None:
            return state
        state = following
        if promised < LAST and damping < UNDAMPED:
            break
    return delete_useless(state)


def polish(state: State) -> State:
    """Newton steps to the end, and single jumps where the objective has a higher mode in one α alone.

    With a prior the objective can have two modes in a single α; Newton steps cannot cross between them.
    """
    for _ in range(POLISH_JUMPS):
        state = maximise_jointly(state, FINAL, damping=CONFIDENT)
        rise = to_numpy(state.rise)
        k = int(np.argmax(rise))
        if not rise[k] > WORTH_A_JUMP or not math.isfinite(float(state.best_alpha[k])):
            break
        alpha = to_numpy(state.alpha).copy()
        alpha[k] = float(state.best_alpha[k])
        try:
            state = state.problem.state(state.active, asfloat64(alpha, like=state.alpha), state.beta)
        except NotPositiveDefinite:  # functions that only a large α keeps apart
            break
    return state


def _newton_step(state: State, damping: float, tol: float) -> tuple[State | None, float, float]:
    """One accepted step, the damping for the next, what it promised; None for one not worth taking."""
    xp = state.problem.quadratic.xp
    with_noise = noise_is_free(state)
    gradient, hessian = gradient_and_hessian(state, with_noise)
    scale = xp.abs(diagonal(hessian)) + 1e-3
    while damping < 1e8:
        try:
            step = solve_positive(add_diagonal(-hessian, damping * scale), gradient)
        except NotPositiveDefinite:
            damping = max(4 * damping, 1e-2)
            continue
        # each on its own: a function far from its optimum in a flat direction must not hold up the others
        clipped = within(step, LONGEST_STEP)
        promised = float(gradient @ clipped)
        if promised < tol and damping <= 1:
            if float(gradient @ step) < tol:
                return None, damping, promised
            damping = max(30 * damping, 1e-2)  # cut off, the step no longer points uphill: a shorter one does
            continue
        step = clipped
        following = _moved(state, step, with_noise)
        lowest = state.objective - ROUNDING * state.problem.quadratic.n
        if following is not None and following.objective >= lowest:
            modelled = promised + 0.5 * float(step @ (hessian @ step))
            damping = _next_damping(damping, following.objective - state.objective, modelled)
            return following, damping, promised
        damping = max(8 * damping, 1e-4)
    return None, damping, 0.0


def _next_damping(damping: float, gained: float, modelled: float) -> float:
    """Levenberg's rule: trust the quadratic model more the better it predicted."""
    ratio = gained / modelled if modelled > 0 else 0.0
    return max(damping / 10, 1e-9) if ratio > 0.75 else damping if ratio > 0.25 else 4 * damping


def _moved(state: State, step: Array, with_noise: bool) -> State | None:
    xp = state.problem.quadratic.xp
    beta = state.beta
    if with_noise:
        beta = min(beta * math.exp(float(step[-1])), state.problem.noise.beta_max)
    try:
        return state.problem.state(state.active, state.alpha * xp.exp(step[: state.size]), beta)
    except NotPositiveDefinite:
        return None


def delete_useless(state: State) -> State:
    """Delete active functions whose best α is infinite: all at once where that pays, else the worst one.

    The last function is not deleted but silenced: its α becomes so large that the model is empty in effect.
    """
    while True:
        useless = state.useless
        if not len(useless):
            return state
        if state.size == 1:
            return _silenced(state)
        state = _without(state, useless)


def _silenced(state: State) -> State:
    quiet = state.problem.state(state.active, 0 * state.alpha + SILENT * state.beta, state.beta)
    return quiet if quiet.objective > state.objective else state


def _without(state: State, useless: np.ndarray) -> State:
    if 1 < len(useless) < state.size:
        fewer = state.keep(_all_but(useless, state.size))
        # one by one each deletion raises the objective; together they may not
        if fewer.objective >= state.objective:
            return fewer
    worst = useless[int(np.argmin(to_numpy(state.worth)[useless]))] if len(useless) > 1 else useless[0]
    return state.keep(_all_but(worst, state.size))


def _all_but(positions: Indices | int, size: int) -> np.ndarray:
    left = np.ones(size, dtype=bool)
    left[positions] = False
    return np.flatnonzero(left)
