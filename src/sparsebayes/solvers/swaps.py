"""Single functions replaced by better ones, while that gains.

An addition beside its worse neighbour ends in the same place, but it takes Newton many steps along a saddle
to hand over the weight of one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.posterior import Scores, State
from sparsebayes.solvers.base import Monitor
from sparsebayes.solvers.contests import LOOSE, joined
from sparsebayes.solvers.exchange import Swaps, best_swaps, swapped_together
from sparsebayes.solvers.newton import maximise_jointly

SETTLED = 1e-3  # nats: the least a swap must gain, or tol if that is more, until only crumbs are left
BRIEF = 6  # Newton steps between swaps: what more of them would gain, the next swap may change
FRACTION = 0.1  # of the best gain: what is worth less waits for the next scoring pass


@dataclass(frozen=True)
class SwapMoves:
    """Which swaps are made together.

    most : so many at a time.
    independence : largest |cosine| between the functions that come in, in the metric C⁻¹.
    """

    most: int
    independence: float

    def settled(self, state: State, monitor: Monitor) -> tuple[State, bool]:
        """Swaps and single additions, Newton steps in between, until none gains enough."""
        going = True
        state = maximise_jointly(state, LOOSE, BRIEF)
        while going:
            following = self.best(state.scores, max(SETTLED, monitor.tol))
            if following is None:
                return state, True
            state = maximise_jointly(following, LOOSE, BRIEF)
            going = monitor.record(state)
        return state, False

    def best(self, scores: Scores, least_gain: float) -> State | None:
        """After the best swaps, or the best addition where that gains more; None where neither is enough."""
        swaps, addition = best_swaps(scores), scores.best_gain
        if addition > max(least_gain, float(swaps.gain.max())):
            return joined(scores.state, np.asarray([scores.best]), to_numpy(scores.alpha)[[scores.best]])
        return self._made(scores, swaps, least_gain)

    def rather_than_add(self, scores: Scores) -> State | None:
        """After the swaps that gain more than the best addition; None where none does."""
        return self._made(scores, best_swaps(scores), scores.best_gain)

    def _made(self, scores: Scores, swaps: Swaps, least_gain: float) -> State | None:
        """After the swaps that gain more than that, and not far less than the best."""
        least_gain = max(least_gain, FRACTION * float(swaps.gain.max()))
        return swapped_together(scores, swaps, least_gain, self.most, self.independence)
