"""The Laplace evidence as a function of α alone, the mode and with it the curvature B moving: slope and maximum.

The loop has α where the derivative with B held fixed vanishes, as published [T01, eq. 39]. The evidence that it
compares models by depends on α through B as well,

    L(α) = log p(y|f) − ½ wᵀAw + ½ Σ log α + ½ log|Σ| + Σ log p(α/ν²)

at the mode w of every α, ν² being diag G̃, which is made of B too. By the implicit function theorem
∂w/∂ log α_i = −α_i w_i Σ_·i, so with the derivatives D_n of f_n by the weights (K, S), the intercepts following,

    ∂L/∂ log α_i = ½ (1 − α_i Σ_ii − α_i w_i²) + ∂ log p/∂ log α_i − α_i w_i Σ_n v_nᵀ (D_n Σ)_·i
    v_n = ∂ tr(B_n H_n)/∂f_n,   H_n = D_n (−½ Σ + diag(∂ log p/∂ log ν² / ν²)) D_nᵀ − ½ RRᵀ

For one output without prior v_n = −½ h_n b'_n with h_n = D_nΣD_nᵀ + R², b = p(1−p), b' = b(1−2p).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import Array, NotPositiveDefinite, asfloat64, beside, namespace, take, to_numpy
from sparsebayes.core.newton import gradient_and_hessian
from sparsebayes.laplace.mode import Mode, Modes
from sparsebayes.laplace.sharing import units_of_functions

DIFFERENCE = 1e-5  # in log α and log ν², for derivatives by differences


@dataclass(frozen=True)
class PolishSettings:
    """What the search for the maximum of the Laplace evidence depends on.

    steps, halvings : most quasi-Newton steps, and halvings of each.
    longest : the largest change of one log α in a step.
    least_gain : a step predicted to gain less is not taken, in nats.
    flattest : least curvature of the first quadratic model in any direction.
    sufficient : the share of the predicted gain that a step must have.
    far : a function whose log α has risen by more is tried without.
    silent : the α of a function with a smaller γ stays where it is, for it explains nothing.
    """

    steps: int = 100
    halvings: int = 12
    longest: float = 2.0
    least_gain: float = 1e-12
    flattest: float = 1e-4
    sufficient: float = 1e-4
    far: float = 3.0
    silent: float = 1e-6


POLISH = PolishSettings()


def evidence_slope(modes: Modes, mode: Mode) -> np.ndarray:
    """∂(Laplace evidence + log priors)/∂ log α at a mode, the mode moving with α, (S,)."""
    state, linear, rows = mode.state, mode.linear, modes.rows
    slopes = _output_slopes(modes, mode)
    spread, xp = -0.5 * state.covariance, namespace(slopes[0])
    inner = beside(spread + np.eye(len(mode.J)) * _slope_by_scale(modes, mode)[None, :], slopes[0])
    pairs = [[xp.sum((f @ inner) * g, axis=1) for g in slopes] for f in slopes]
    root = beside(linear.root @ linear.root.T, slopes[0])
    H = xp.stack([xp.stack(each, axis=1) for each in pairs], axis=1) - 0.5 * root[None, :, :]
    v = rows.counts[:, None] * rows.likelihood.curvature_slope(rows.y, mode.expansion.f, H)
    along = to_numpy(sum(v[:, k] @ slope for k, slope in enumerate(slopes))) @ state.covariance
    moving = state.of_functions(state.column_alpha * state.mean * along)
    return to_numpy(gradient_and_hessian(state, False)[0] - moving)


def _output_slopes(modes: Modes, mode: Mode) -> list[Array]:
    """D: the derivatives (N, S) of each output by the weights of the state, the intercepts following."""
    linear, candidates, J = mode.linear, mode.linear.candidates, mode.state.active.J
    scale = take(modes.scale(linear), J)
    columns = candidates.design.columns(candidates.function[J])
    columns = columns / beside(scale, columns)[None, :]
    following = beside(linear.root @ (take(linear.side, J) / scale[:, None]).T, columns)  # (K, S)
    own = asfloat64(candidates.output[J][None, :] == np.arange(linear.root.shape[0])[:, None], like=columns)
    return [columns * own[k, :][None, :] - following[k, :][None, :] for k in range(own.shape[0])]


def _slope_by_scale(modes: Modes, mode: Mode) -> Array:
    """∂ log p/∂ log ν² for each weight of the state at given α of its column, by central differences, (S,).

    A prior on α in the user's units has 0, one on columns of unit norm in the metric B has not. The ν² of a group is
    the mean of those of its d columns, each of which has a d-th of the derivative.
    """
    state, numbers = mode.state, modes.rows.numbers(mode.J)
    if modes.prior.flat:
        return 0 * state.column_alpha

    def log_density(change: float) -> Array:
        unit = modes.prior.units(modes.unit(mode.linear, mode.J) * math.exp(change), numbers)
        unit = units_of_functions(state.problem, unit)
        return state.problem.prior.log_density(state.alpha * math.exp(-change), state.beta, unit)

    slope = (log_density(DIFFERENCE) - log_density(-DIFFERENCE)) / (2 * DIFFERENCE * state.sizes)
    return take(slope, mode.owner[state.active.J])


def evidence_hessian(modes: Modes, mode: Mode) -> np.ndarray:
    """The second derivatives of the Laplace evidence by log α, from differences of its slopes, (S, S)."""
    columns = []
    for i in range(mode.state.size):
        sides = []
        for change in (DIFFERENCE, -DIFFERENCE):
            factor = np.where(mode.owner == i, math.exp(change), 1.0)
            alpha = mode.alpha * asfloat64(factor, like=mode.alpha)
            sides.append(evidence_slope(modes, modes.find(mode.J, alpha, mode.w, mode.b)))
        columns.append((sides[0] - sides[1]) / (2 * DIFFERENCE))
    hessian = np.stack(columns, axis=1)
    return 0.5 * (hessian + hessian.T)


def maximise_evidence(modes: Modes, mode: Mode, settings: PolishSettings = POLISH) -> Mode:
    """The mode whose α maximise the Laplace evidence, from a mode; functions that are better deleted are.

    Raises NotImplementedError if the likelihood does not say how its curvature changes with f.
    """
    while True:
        start, mode = mode, _climb(modes, mode, settings)
        fewer = _without_useless(modes, start, mode, settings)
        if fewer is None:
            return replace(mode, highest=True)
        mode = fewer


def _climb(modes: Modes, mode: Mode, settings: PolishSettings) -> Mode:
    """Quasi-Newton steps (BFGS) in log α, each taken only if the evidence rises enough."""
    slope = evidence_slope(modes, mode)
    inverse, fresh = _first_inverse(mode, settings), True
    for _ in range(settings.steps):
        step = np.where(to_numpy(mode.state.gamma) > settings.silent, inverse @ slope, 0.0)
        step *= min(1.0, settings.longest / max(float(np.abs(step).max()), 1e-300))
        predicted = float(slope @ step)
        if not predicted > settings.least_gain:
            break
        taken = _risen(modes, mode, step, predicted, settings)
        if taken is None:
            if fresh:
                break
            inverse, fresh = _first_inverse(mode, settings), True
            continue
        following, share = taken
        after = evidence_slope(modes, following)
        inverse, fresh = _updated(inverse, share * step, slope - after), False
        mode, slope = following, after
    return mode


def _first_inverse(mode: Mode, settings: PolishSettings) -> np.ndarray:
    """The inverse of minus the Hessian with B held fixed, its eigenvalues made positive."""
    hessian = to_numpy(gradient_and_hessian(mode.state, False)[1])
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    return (vectors / np.maximum(np.abs(values), settings.flattest)) @ vectors.T


def _updated(inverse: np.ndarray, step: np.ndarray, bent: np.ndarray) -> np.ndarray:
    """The BFGS update of the inverse of minus the Hessian; `bent` is minus the change of the slope."""
    curvature = float(step @ bent)
    if curvature <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(bent)):
        return inverse
    left = np.eye(len(step)) - np.outer(step, bent) / curvature
    return left @ inverse @ left.T + np.outer(step, step) / curvature


def _risen(
    modes: Modes, mode: Mode, step: np.ndarray, predicted: float, settings: PolishSettings
) -> tuple[Mode, float] | None:
    """The mode after the largest share of a step, by halves, that raises the evidence enough, and that share."""
    for halving in range(settings.halvings):
        share = 0.5**halving
        with suppress(NotPositiveDefinite):
            alpha = mode.alpha * asfloat64(np.exp(share * step[mode.owner]), like=mode.alpha)
            trial = modes.find(mode.J, alpha, mode.w, mode.b)
            if trial.reached and trial.objective >= mode.objective + settings.sufficient * share * predicted:
                return trial, share
    return None


def _without_useless(modes: Modes, start: Mode, mode: Mode, settings: PolishSettings) -> Mode | None:
    """The mode without the first function whose deletion raises the evidence; None if there is none.

    Tried are those that are useless with B held fixed, and those whose α has run far up, the least useful first.
    """
    if mode.state.size == 1:
        return None
    risen = np.log(to_numpy(mode.alpha) / to_numpy(start.alpha)) > settings.far
    doubtful = np.union1d(mode.state.useless, mode.owner[risen])
    gain = to_numpy(mode.state.keep_gain)
    for i in doubtful[np.argsort(gain[doubtful], kind="stable")].tolist():
        kept = np.flatnonzero(mode.owner != i)
        with suppress(NotPositiveDefinite):
            trial = modes.find(mode.J[kept], take(mode.alpha, kept), take(mode.w, kept), mode.b)
            if trial.reached and trial.objective > mode.objective:
                return trial
    return None
