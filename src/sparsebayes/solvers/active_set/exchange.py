"""One function for another: what every candidate would gain in place of each active function.

Deleting the active function j changes the S and Q of every candidate m to [TF03, A.4]

    S_m + (βT_jm)²/Σ_jj,     Q_m + βT_jm μ_j/Σ_jj,     T = ΣΦᵀΦ

so that one product of matrices gives the gain of all exchanges j → m exactly: minus the gain of keeping j, plus
the gain of adding m without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, NotPositiveDefinite, asfloat64, lower_transposed_times, take, to_numpy
from sparsebayes.core.posterior import State


def without_each(state: State) -> tuple[Array, Array]:
    """S and Q of all M functions once the active function of that row is deleted, each (S, M)."""
    scores, spread = state.scores, state.variance**0.5
    scaled = state.inverse_factor * (state.beta / spread)[None, :]
    Q = lower_transposed_times(scaled, scores.whitened)
    S = Q * Q  # from here on in place: these are the largest arrays of a fit
    S += scores.S[None, :]
    Q *= (state.mean / spread)[:, None]
    Q += scores.Q[None, :]
    return S, Q


def ranking(S: Array, Q: Array, active: np.ndarray) -> np.ndarray:
    """Q²/S, with which the gain of adding a function grows; 0 for the active ones."""
    ratio = Q * Q
    ratio /= S
    ratio = to_numpy(ratio)
    ratio[:, active] = 0.0
    return ratio


def best_in_each_row(ratio: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the `number` largest values of every row, and these values, each (number, rows).

    The values are set to 0 in `ratio`.
    """
    each, values = np.arange(len(ratio)), np.empty((number, len(ratio)))
    best = np.empty(values.shape, dtype=np.int64)
    for k in range(number):
        best[k] = np.argmax(ratio, axis=1)
        values[k] = ratio[each, best[k]]
        ratio[each, best[k]] = 0.0
    return best, values


def substitutes(state: State, number: int) -> np.ndarray:
    """The functions that would gain most without one of the active functions, `number` for each."""
    ratio = ranking(*without_each(state), state.J)
    return np.unique(best_in_each_row(ratio, min(number, ratio.shape[1] - state.size))[0])


@dataclass(frozen=True)
class Swaps:
    """The best swap of every active function: for which function, at which precision, and its gain."""

    into: np.ndarray
    alpha: np.ndarray
    gain: np.ndarray


def best_swaps(state: State) -> Swaps:
    """The best of all candidates for every active function."""
    S, Q = without_each(state)
    return swaps_into(state, np.argmax(ranking(S, Q, state.J), axis=1), S, Q)


def swaps_into(state: State, into: np.ndarray, S: Array, Q: Array) -> Swaps:
    """Every active function for the function `into` (S,), with S and Q of `without_each`.

    The gain is the change of the objective with the other precisions and the noise fixed.
    """
    prior, beta = state.problem.prior, state.beta
    each = np.arange(state.size)
    s, q = (asfloat64(to_numpy(x)[each, into], like=state.alpha) for x in (S, Q))
    unit = take(state.problem.unit, into)
    alpha = prior.maximise(s, q, beta, unit)
    gain = to_numpy(prior.gain(alpha, s, q, beta, unit) - state.keep_gain)
    alpha = to_numpy(alpha)
    return Swaps(into, alpha, np.where(np.isfinite(alpha), gain, 0.0))


def swapped(state: State, positions: np.ndarray, swaps: Swaps) -> State | None:
    """The state after the swaps at these positions; None if its functions cannot be told apart."""
    stays = np.delete(np.arange(state.size), positions)
    J = np.concatenate([state.J[stays], swaps.into[positions]])
    alpha = np.concatenate([to_numpy(state.alpha)[stays], swaps.alpha[positions]])
    try:
        return state.problem.start(J, asfloat64(alpha, like=state.alpha), state.beta)
    except NotPositiveDefinite:
        return None


def swapped_together(
    state: State, swaps: Swaps, least_gain: float, most: int, independence: float
) -> tuple[State, int] | None:
    """The state after the swaps that gain more than `least_gain`, and how many they are; None if none does.

    Swaps into functions that are nearly independent of each other (`independent`) are made together, or the
    best one alone if together they do not gain half of what that one is predicted to gain.
    """
    order = np.argsort(-swaps.gain, kind="stable")
    order = order[swaps.gain[order] > least_gain]
    if not len(order):
        return None
    together = order[independent(state, swaps.into[order], most, independence)]
    for positions in (together, order[:1]) if len(together) > 1 else (together,):
        following = swapped(state, positions, swaps)
        if following and following.objective >= state.objective + 0.5 * swaps.gain[order[0]]:
            return following, len(positions)
    return None


def independent(state: State, J: np.ndarray, most: int, independence: float) -> np.ndarray:
    """Positions in J, at most `most`, of functions with |cosines| below `independence` in the metric C⁻¹."""
    if len(J) < 2 or most == 1:
        return np.arange(min(len(J), 1))
    whitened = to_numpy(state.scores.whitened)[:, J]
    gram = to_numpy(state.problem.quadratic.gram(J))
    products = state.beta * gram - state.beta**2 * (whitened.T @ whitened)  # φ_iᵀC⁻¹φ_j
    norms = np.sqrt(np.maximum(products.diagonal(), 1e-300))
    cosine = np.abs(products) / np.outer(norms, norms)
    chosen = [0]
    for k in range(1, len(J)):
        if len(chosen) < most and cosine[k, chosen].max() < independence:
            chosen.append(k)
    return np.asarray(chosen)
