"""Scoring passes: what every candidate would gain, added or in place of an active function, in blocks.

A block is a problem of the active functions and some candidates that knows the products of the active
functions alone, which is all that scores and exchanges need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.core.posterior import State
from sparsebayes.solvers.active_set.exchange import Removals, best_in_each_row, swaps_into


@dataclass(frozen=True)
class CandidateBatch:
    """The best of the candidates that were scored, functions by their numbers among all candidates.

    gain, theta : the largest of all that were scored.  swap : gain of the best exchange of two functions.
    additions, predicted, related : the best to add of those related to each active function, their gains, and the
        position of that active function.
    substitutes, ratio : (k, S) the best in place of each active function, and Q²/S of each then.
    """

    gain: float
    theta: float
    swap: float
    additions: np.ndarray
    predicted: np.ndarray
    related: np.ndarray
    substitutes: np.ndarray
    ratio: np.ndarray

    @property
    def shortlist(self) -> np.ndarray:
        """All substitutes, and at most as many additions."""
        additions = self.additions[: self.substitutes.size]
        return np.unique(np.concatenate([self.substitutes.ravel(), additions]))


def score_block(state: State, functions: np.ndarray, number: int) -> CandidateBatch:
    """The best of a block.

    state : the model in the problem of the block, whose functions have the numbers `functions` (S + n,).
    number : how many substitutes are remembered for each active function.
    """
    without = Removals(state)
    # related to the active function whose deletion would leave most of the candidate unexplained
    related = np.argmax(without.S, axis=0)
    ratio = without.ratio()
    substitutes, values = best_in_each_row(ratio, min(number, ratio.shape[1] - state.size))
    swaps = swaps_into(substitutes[0], without).gain if len(substitutes) else np.zeros(1)
    gain, theta = state.scores.gain, state.scores.theta
    best = _best_of_each(gain, related, state.size)
    return CandidateBatch(
        gain=float(gain.max()),
        theta=float(theta.max()),
        swap=float(swaps.max()),
        additions=functions[best],
        predicted=gain[best],
        related=related[best],
        substitutes=functions[substitutes],
        ratio=values,
    )


def _best_of_each(gain: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """The position of the largest gain in each group, if that is positive."""
    order = np.argsort(gain, kind="stable")
    best = np.full(groups, -1)
    best[group[order]] = order  # later ones, with a larger gain, overwrite
    best = best[best >= 0]
    return best[gain[best] > 0]


def best_of(batches: list[CandidateBatch], number: int, one_each: bool) -> CandidateBatch:
    """The best of several blocks: additions in order of gain, `number` substitutes for each function.

    one_each : whether one addition for each active function is enough; without it there may be one of each block.
    """
    additions, predicted, related, substitutes, ratio = (
        np.concatenate([getattr(batch, name) for batch in batches])
        for name in ("additions", "predicted", "related", "substitutes", "ratio")
    )
    order = np.argsort(-predicted, kind="stable")
    if one_each:
        order = order[np.sort(np.unique(related[order], return_index=True)[1])]
    best = np.argsort(-ratio, axis=0, kind="stable")[:number]
    return CandidateBatch(
        gain=max(batch.gain for batch in batches),
        theta=max(batch.theta for batch in batches),
        swap=max(batch.swap for batch in batches),
        additions=additions[order],
        predicted=predicted[order],
        related=related[order],
        substitutes=np.take_along_axis(substitutes, best, axis=0),
        ratio=np.take_along_axis(ratio, best, axis=0),
    )
