"""All candidates looked at from one state, a block at a time: what is worth adding, and in place of what.

A block is a problem of the active functions and some others that knows the products of the active ones alone,
so that `Scores` and the exchanges work on it as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.posterior import Scores
from sparsebayes.solvers.exchange import ranking, swaps_into, without_each


@dataclass(frozen=True)
class Seen:
    """What a block of candidates has to offer to S active functions, by positions in the block's problem.

    gain, theta : largest outside.  swap : what the best exchange of one function for another gains.
    additions, promised : the best of those tied to each active function, and the nats they gain.
    substitutes, ratio : (k, S) the best in place of each active function, and what `ranking` says of them.
    """

    gain: float
    theta: float
    swap: float
    additions: np.ndarray
    promised: np.ndarray
    substitutes: np.ndarray
    ratio: np.ndarray


def look(scores: Scores, number: int) -> Seen:
    """The best of a block: `number` substitutes for each active function, an addition for each."""
    state = scores.state
    S, Q = without_each(scores)
    # tied to: the active function without which it would say most that it does not say now
    tie = np.argmax(to_numpy(S), axis=0)
    ratio = ranking(S, Q, state.J)
    each, best, worth = np.arange(state.size), [], []
    for _ in range(min(number, ratio.shape[1] - state.size)):
        chosen = np.argmax(ratio, axis=1)
        best.append(chosen)
        worth.append(ratio[each, chosen])
        ratio[each, chosen] = 0.0
    gain = to_numpy(scores.gain)
    additions = _best_of_each(gain, tie, state.size)
    swaps = swaps_into(state, best[0], S, Q).gain if best else np.zeros(1)
    none = np.zeros((0, state.size))
    return Seen(
        gain=float(gain.max()),
        theta=float(np.max(to_numpy(scores.theta))),
        swap=float(swaps.max()),
        additions=additions,
        promised=gain[additions],
        substitutes=np.stack(best) if best else none.astype(np.int64),
        ratio=np.stack(worth) if best else none,
    )


def _best_of_each(gain: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """The position of the largest gain in each group, where that is positive."""
    order = np.argsort(gain, kind="stable")
    best = np.full(groups, -1)
    best[group[order]] = order  # later ones, with a larger gain, overwrite
    best = best[best >= 0]
    return best[gain[best] > 0]
