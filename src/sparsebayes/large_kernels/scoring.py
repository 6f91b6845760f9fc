"""Scoring passes: what every candidate would gain, added or in place of an active function, in blocks.

A block is a problem of the active functions and some candidates that knows the products of the active
functions alone, which is all that scores and exchanges need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, device, gathered, is_numpy, namespace, picked
from sparsebayes.core.posterior import State
from sparsebayes.solvers.active_set.exchange import Removals, best_in_each_row, gains_of_swaps


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


@dataclass(frozen=True)
class BlockScores:
    """The best of a block where it was computed: nothing waits for a device until all blocks are scored.

    functions : the numbers (S + n,) of the functions of the block.
    arrays : the largest gain, θ and gain of a swap, (3,); the position of the best addition related to each active
        function and its gain, (S,); the positions of the best substitutes and their Q²/S, (k, S).
    """

    functions: np.ndarray
    arrays: tuple[Array, ...]

    def batch(self, largest: np.ndarray, best: np.ndarray, predicted: np.ndarray, *rest: np.ndarray) -> CandidateBatch:
        """The best of the block, from its arrays on the host."""
        substitutes, ratio = rest if rest else np.zeros((2, 0, len(best)))
        related = np.flatnonzero(predicted > 0)
        gain, theta, swap = largest.tolist()
        return CandidateBatch(
            gain=gain,
            theta=theta,
            swap=swap,
            additions=self.functions[best[related].astype(np.int64)],
            predicted=predicted[related],
            related=related,
            substitutes=self.functions[substitutes.astype(np.int64)],
            ratio=ratio,
        )


def score_block(state: State, functions: np.ndarray, number: int) -> BlockScores:
    """The best of a block.

    state : the model in the problem of the block, whose functions have the numbers `functions` (S + n,).
    number : how many substitutes are remembered for each active function.
    """
    without, xp = Removals(state), state.problem.quadratic.xp
    # related to the active function whose deletion would leave most of the candidate unexplained
    related = xp.argmax(without.S, axis=0)
    ratio = without.ratio()
    number = min(number, int(ratio.shape[1]) - state.size)
    rest: tuple[Array, ...] = best_in_each_row(ratio, number) if number else ()
    swaps = gains_of_swaps(rest[0][0, :], without)[1] if number else xp.zeros_like(state.keep_gain)
    gain, theta = state.scores.gain, state.scores.theta
    largest = xp.stack([xp.max(gain), xp.max(theta), xp.max(swaps)])
    return BlockScores(functions, (largest, *_best_of_each(gain, related, state.size), *rest))


def collected(blocks: Sequence[BlockScores]) -> list[CandidateBatch]:
    """The best of each of these blocks, which come to the host together."""
    arrays = gathered(*(array for block in blocks for array in block.arrays))
    ends = np.cumsum([len(block.arrays) for block in blocks])
    starts = ends - [len(block.arrays) for block in blocks]
    return [block.batch(*arrays[a:b]) for block, a, b in zip(blocks, starts, ends, strict=True)]


def _best_of_each(gain: Array, group: Array, groups: int) -> tuple[Array, Array]:
    """The position of the largest gain in each group, and that gain; 0 if the group has none that is positive."""
    if is_numpy(gain):
        order = np.argsort(gain, kind="stable")
        best = np.full(groups, -1)
        best[group[order]] = order  # later ones, with a larger gain, overwrite
        return best, np.where(best >= 0, gain[best], 0.0)
    xp = namespace(gain)
    numbers = xp.arange(groups, dtype=group.dtype, device=device(gain))
    own = xp.where(group[None, :] == numbers[:, None], gain[None, :], 0.0)
    best = xp.argmax(own, axis=1)
    return best, picked(own, best)


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
