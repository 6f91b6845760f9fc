"""One function for another: what every candidate would be worth in place of each active function.

Deleting the active function j changes the S and Q of every candidate m by [TF03, A.4]

    S_m + (βT_jm)²/Σ_jj,     Q_m + βT_jm μ_j/Σ_jj,     T = ΣΦᵀΦ

so with one product of matrices the gain of all exchanges j → m is known, and exactly: minus what j is worth,
plus what adding m is worth without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, NotPositiveDefinite, asfloat64, lower_transposed_times, take, to_numpy
from sparsebayes.posterior import Scores, State


def without_each(scores: Scores) -> tuple[Array, Array]:
    """S and Q of all M functions once the active function of that row is deleted, each (active, M)."""
    state = scores.state
    spread = state.variance**0.5
    scaled = state.inverse_factor * (state.beta / spread)[None, :]
    Q = lower_transposed_times(scaled, scores.whitened)
    S = Q * Q  # from here on in place: these are the largest arrays of a fit
    S += scores.S[None, :]
    Q *= (state.mean / spread)[:, None]
    Q += scores.Q[None, :]
    return S, Q


def ranking(S: Array, Q: Array, active: np.ndarray) -> np.ndarray:
    """Q²/S, with which the worth of a function grows; 0 for the active ones."""
    ratio = Q * Q
    ratio /= S
    ratio = to_numpy(ratio)
    ratio[:, active] = 0.0
    return ratio


def substitutes(scores: Scores, number: int) -> np.ndarray:
    """The functions that would be worth most without one of the active functions, `number` for each."""
    state = scores.state
    ratio = ranking(*without_each(scores), state.J)
    chosen = []
    for _ in range(min(number, ratio.shape[1] - state.size)):
        best = np.argmax(ratio, axis=1)
        ratio[np.arange(state.size), best] = 0.0
        chosen.append(best)
    return np.unique(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Swaps:
    """The best exchange for every active function: by which one, at which precision, for what gain."""

    into: np.ndarray
    alpha: np.ndarray
    gain: np.ndarray


def best_swaps(scores: Scores) -> Swaps:
    """The best of all candidates for every active function."""
    S, Q = without_each(scores)
    return swaps_into(scores.state, np.argmax(ranking(S, Q, scores.state.J), axis=1), S, Q)


def swaps_into(state: State, into: np.ndarray, S: Array, Q: Array) -> Swaps:
    """Every active function for the one given, with S and Q of `without_each`.

    The gain is the change of the objective with the other precisions and the noise as they are.
    """
    prior, beta = state.problem.prior, state.beta
    each = np.arange(state.size)
    s, q = (asfloat64(to_numpy(x)[each, into], like=state.alpha) for x in (S, Q))
    unit = take(state.problem.unit, into)
    alpha = prior.maximise(s, q, beta, unit)
    gain = to_numpy(prior.gain(alpha, s, q, beta, unit) - state.worth)
    alpha = to_numpy(alpha)
    return Swaps(into, alpha, np.where(np.isfinite(alpha), gain, 0.0))


def swapped(state: State, positions: np.ndarray, swaps: Swaps) -> State | None:
    """The state after the exchanges at these positions; None where its functions cannot be told apart."""
    left = np.ones(state.size, dtype=bool)
    left[positions] = False
    J = np.concatenate([state.J[left], swaps.into[positions]])
    alpha = np.concatenate([to_numpy(state.alpha)[left], swaps.alpha[positions]])
    try:
        return state.problem.start(J, asfloat64(alpha, like=state.alpha), state.beta)
    except NotPositiveDefinite:
        return None


def swapped_together(
    scores: Scores, swaps: Swaps, least_gain: float, most: int, largest: float
) -> State | None:
    """The state after the exchanges that gain more than `least_gain`; None where none does.

    Those of functions nearly independent of each other are made together (`independent`), or the best alone
    where together they do not gain what the best promises.
    """
    state = scores.state
    order = np.argsort(-swaps.gain, kind="stable")
    order = order[swaps.gain[order] > least_gain]
    if not len(order):
        return None
    together = order[independent(scores, swaps.into[order], most, largest)]
    for positions in (together, order[:1]) if len(together) > 1 else (together,):
        following = swapped(state, positions, swaps)
        if following and following.objective >= state.objective + 0.5 * swaps.gain[order[0]]:
            return following
    return None


def independent(scores: Scores, J: np.ndarray, most: int, largest: float) -> np.ndarray:
    """Positions in J, at most so many, of functions with |cosines| in the metric C⁻¹ below `largest`."""
    if len(J) < 2 or most == 1:
        return np.arange(min(len(J), 1))
    cosine = _cosines(scores, J)
    chosen = [0]
    for k in range(1, len(J)):
        if len(chosen) < most and cosine[k, chosen].max() < largest:
            chosen.append(k)
    return np.asarray(chosen)


def _cosines(scores: Scores, J: np.ndarray) -> np.ndarray:
    """|φ_iᵀC⁻¹φ_j| / √(S_i S_j) among the functions J."""
    state = scores.state
    whitened = to_numpy(scores.whitened)[:, J]
    gram = to_numpy(state.problem.quadratic.gram(J))
    products = state.beta * gram - state.beta**2 * (whitened.T @ whitened)
    norms = np.sqrt(np.maximum(products.diagonal(), 1e-300))
    return np.abs(products) / np.outer(norms, norms)
