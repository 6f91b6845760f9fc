"""What visits of candidates have to offer, and how far a search by visits goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.solvers.certificate import GAIN_TOLERANCE
from sparsebayes.solvers.visit import Seen

ADDITIONS = (64, 192)  # half as many as there are active functions, within these limits
SETTLED = 1e-3  # nats: what a round of swaps and additions has to gain for another one, in the end


@dataclass(frozen=True)
class Pace:
    """How far a search goes, which depends on what visits cost.

    offered, remembered : substitutes of each active function in a working set, and in a shortlist.
    enough : nats that a round out of a shortlist must gain for another one, or tol if that is more.
    left : nats that an addition may be worth in the end, or tol if that is more.
    visits : of all candidates at most, on true columns; the certificate says what is left after them.
    thorough : whether a round adds whatever is worth anything, not only what is worth a share of the best.
    """

    offered: int
    remembered: int
    enough: float
    left: float
    visits: int
    thorough: bool


CHEAP = Pace(offered=4, remembered=256, enough=SETTLED, left=GAIN_TOLERANCE, visits=30, thorough=True)
COSTLY = Pace(offered=1, remembered=4, enough=16.0, left=1.0, visits=2, thorough=False)


@dataclass(frozen=True)
class Offer:
    """What a visit has to offer, functions by their numbers among all candidates.

    substitutes : the best in place of each active function.  additions : the best to add, in order of gain.
    shortlist : these and the next best.
    gain, theta : the largest of all that were visited.  swap : what the best exchange of two functions gains.
    """

    substitutes: np.ndarray
    additions: np.ndarray
    shortlist: np.ndarray
    gain: float
    theta: float
    swap: float

    @property
    def first(self) -> Offer:
        """With no more than one substitute of each active function."""
        return replace(self, substitutes=self.substitutes[:1])


def best_of(seen: list[tuple[Seen, np.ndarray]], pace: Pace) -> Offer:
    """The best of all blocks."""
    additions = np.concatenate([kept[block.additions] for block, kept in seen])
    promised = np.concatenate([block.promised for block, _ in seen])
    additions = additions[np.argsort(-promised, kind="stable")]
    substitutes = np.concatenate([kept[block.substitutes] for block, kept in seen])
    ratio = np.concatenate([block.ratio for block, _ in seen])
    best = np.argsort(-ratio, axis=0, kind="stable")[: pace.remembered]
    substitutes = np.take_along_axis(substitutes, best, axis=0)
    return Offer(
        substitutes=substitutes[: pace.offered],
        additions=additions[: min(max(len(substitutes.T) // 2, ADDITIONS[0]), ADDITIONS[1])],
        shortlist=np.unique(np.concatenate([substitutes.ravel(), additions[: substitutes.size]])),
        gain=max(block.gain for block, _ in seen),
        theta=max(block.theta for block, _ in seen),
        swap=max(block.swap for block, _ in seen),
    )
