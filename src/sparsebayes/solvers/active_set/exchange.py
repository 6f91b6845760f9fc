"""One function for another: what every candidate would gain in place of each active function.

Deleting the active function j changes the S and Q of every candidate m to [TF03, A.4]

    S_m + (βT_jm)²/Σ_jj,     Q_m + βT_jm μ_j/Σ_jj,     T = ΣΦᵀΦ

so that one product of matrices gives the gain of all exchanges j → m exactly: minus the gain of keeping j, plus
the gain of adding m without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import (
    Array,
    NotPositiveDefinite,
    asfloat64,
    at_least,
    column_squares,
    is_numpy,
    lower_transposed_times,
    namespace,
    picked,
    row_squares,
    take,
    to_numpy,
    without_picked,
    zeroed,
)
from sparsebayes.core.groups import GroupedState, spectra
from sparsebayes.core.posterior import State

LITTLE = 1e-6  # nats for each unit of ‖Q‖²/tr S: the order of groups that gain nothing on average


class Removals:
    """What every candidate would gain once the active function of a row is deleted.

    S, q : (S, M) the scores of all M functions then; of several outputs, q is the length over them.
    """

    def __init__(self, state: State) -> None:
        scores, spread = state.scores, state.variance**0.5
        scaled = state.inverse_factor * (state.beta / spread)[None, :]
        change = lower_transposed_times(scaled, scores.whitened)  # βT_jm/√Σ_jj
        self.state, self.S = state, change * change  # from here on in place: these are the largest arrays of a fit
        if state.mean.ndim == 1:
            change *= (state.mean / spread)[:, None]
            change += scores.Q[None, :]
            self.q = change
        else:  # ‖Q_m + change·μ_j/√Σ_jj‖² over the outputs
            mean = state.mean / spread[:, None]
            change *= 2 * (mean @ scores.Q.T)
            change += self.S * row_squares(mean)[:, None] + row_squares(scores.Q)[None, :]
            self.q = at_least(change, 0.0) ** 0.5
        self.S += scores.S[None, :]

    def ratio(self) -> Array:
        """q²/S, with which the gain of adding a function grows, (S, M); 0 for the active ones."""
        ratio = self.q * self.q
        ratio /= self.S
        if is_numpy(ratio):
            ratio[:, self.state.J] = 0.0
            return ratio
        return ratio * zeroed(namespace(ratio).ones_like(ratio[0, :]), self.state.J)[None, :]

    def factors(self, into: Array) -> tuple[Array, Array]:
        """(s, q) of one function `into` (S,) for each deleted one."""
        return picked(self.S, into), picked(self.q, into)


class GroupRemovals:
    """`Removals` where every function is a group of columns: S_m + β²F_jmᵀF_jm and Q_m + βF_jmᵀL⁻¹μ_j.

    F_j = L⁻¹T_j with Σ_jj = LLᵀ. Groups are ranked by ‖Q‖²/tr S.
    """

    def __init__(self, state: GroupedState) -> None:
        self.state = state
        self._removed = [self._removal(k) for k in range(state.size)]

    def _removal(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """βF_j (d, columns), and L⁻¹μ_j (d, T)."""
        state, own = self.state, self.state.column_positions([position])
        covariance, mean = map(to_numpy, state.block(position))
        inverse = np.linalg.inv(np.linalg.cholesky(covariance))
        products = to_numpy(take(state.inverse_factor, own, axis=1)).T @ to_numpy(state.scores.whitened)
        return state.beta * (inverse @ products), inverse @ mean

    def ratio(self) -> np.ndarray:
        """What adding each group would gain if its λ were all the same, (S, groups); 0 for the active ones."""
        state, groups = self.state, self.state.problem.groups
        size, trace = groups.sizes, np.sum(to_numpy(state.scores.S), axis=1)
        ratio, Q = np.zeros((state.size, groups.count)), to_numpy(state.scores.Q)
        for row, (F, mean) in zip(ratio, self._removed, strict=True):
            power = np.bincount(groups.label, row_squares(Q + F.T @ mean), groups.count)
            u = power / np.maximum(trace + np.bincount(groups.label, column_squares(F), groups.count), 1e-300)
            row[:] = 0.5 * size * np.where(u > 1, u - 1 - np.log(np.maximum(u, 1.0)), 0.0) + LITTLE * u
        ratio[:, state.J] = 0.0
        return ratio

    def factors(self, into: np.ndarray) -> tuple[Array, Array]:
        """(λ, √c) of one group `into` (S,) for each deleted one, (S, d) each."""
        state, groups = self.state, self.state.problem.groups
        factors = np.zeros((2, state.size, int(groups.sizes.max())))
        gram, Q = groups.block_of, to_numpy(state.scores.Q)
        whitened = to_numpy(state.scores.whitened)
        for k, (m, (F, mean)) in enumerate(zip(into.tolist(), self._removed, strict=True)):
            columns = groups.columns([m])
            W, F = whitened[:, columns], F[:, columns]
            S = state.beta * to_numpy(gram(m)) - state.beta**2 * (W.T @ W) + F.T @ F
            factors[:, k, : len(columns)] = spectra(S, Q[columns] + F.T @ mean, state.beta)
        s, q = factors
        return asfloat64(s, like=state.alpha), asfloat64(q, like=state.alpha)


def removals(state: State) -> Removals | GroupRemovals:
    """What every candidate would gain in place of each active function."""
    return GroupRemovals(state) if isinstance(state, GroupedState) else Removals(state)


def best_in_each_row(ratio: Array, number: int) -> tuple[Array, Array]:
    """The columns of the `number` largest values of every row, and these values, each (number, rows).

    The values are set to 0 in `ratio`.
    """
    best, values = [], []
    for _ in range(number):
        best.append(namespace(ratio).argmax(ratio, axis=1))
        values.append(picked(ratio, best[-1]))
        ratio = without_picked(ratio, best[-1])
    if not number:
        return np.zeros((0, ratio.shape[0]), dtype=np.int64), np.zeros((0, ratio.shape[0]))
    return namespace(ratio).stack(best), namespace(ratio).stack(values)


def substitutes(state: State, number: int) -> np.ndarray:
    """The functions that would gain most without one of the active functions, `number` for each."""
    ratio = to_numpy(removals(state).ratio())
    best, values = best_in_each_row(ratio, min(number, ratio.shape[1] - state.size))
    return np.unique(best[values > 0])


@dataclass(frozen=True)
class Swaps:
    """The best swap of every active function: for which function, at which precision, and its gain."""

    into: np.ndarray
    alpha: np.ndarray
    gain: np.ndarray


def best_swaps(state: State) -> Swaps:
    """The best of all candidates for every active function."""
    without = removals(state)
    ratio = without.ratio()
    return swaps_into(namespace(ratio).argmax(ratio, axis=1), without)


def swaps_into(into: Array, without: Removals | GroupRemovals) -> Swaps:
    """Every active function for the function `into` (S,).

    The gain is the change of the objective with the other precisions and the noise fixed.
    """
    return Swaps(to_numpy(into), *map(to_numpy, gains_of_swaps(into, without)))


def gains_of_swaps(into: Array, without: Removals | GroupRemovals) -> tuple[Array, Array]:
    """α and gain (S,) of every active function's swap for the function `into` (S,), where the scores are."""
    state = without.state
    prior, beta = state.problem.prior, state.beta
    s, q = without.factors(into)
    unit = take(state.problem.unit, into)
    alpha = prior.maximise(s, q, beta, unit)
    gain = prior.gain(alpha, s, q, beta, unit) - state.keep_gain
    xp = namespace(gain)
    return alpha, xp.where(xp.isfinite(alpha), gain, 0.0)


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
    columns = np.asarray(state.problem.columns(J))
    whitened = to_numpy(state.scores.whitened)[:, columns]
    gram = to_numpy(state.problem.quadratic.gram(columns))
    products = state.beta * gram - state.beta**2 * (whitened.T @ whitened)  # φ_iᵀC⁻¹φ_j
    norms = np.sqrt(np.maximum(products.diagonal(), 1e-300))
    cosine = np.abs(products) / np.outer(norms, norms)
    if isinstance(state, GroupedState):  # of two groups the largest
        size = state.problem.groups.sizes[J]  # two swaps may lead to the same group, which J then has twice
        first = np.cumsum(size) - size
        cosine = np.maximum.reduceat(np.maximum.reduceat(cosine, first, axis=0), first, axis=1)
    chosen = [0]
    for k in range(1, len(J)):
        if len(chosen) < most and cosine[k, chosen].max() < independence:
            chosen.append(k)
    return np.asarray(chosen)
