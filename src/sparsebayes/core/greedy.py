"""The reference solver: add the best function, take Newton steps, delete what became useless, repeat.

Every step is exact, and nothing is clever: of all functions the one whose addition raises the objective most
is added at its best α [TF03, eqs. 20 and 27], then all (log α, log β) move together to their maximum, which
also deletes functions (`core.newton`). It ends when no addition gains. What it cannot do is replace one
function by another, so it may end in a lower maximum than the default solver does.
"""

from dataclasses import dataclass

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.core.newton import polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver, first_state


@dataclass
class Greedy(Solver):
    """Greedy addition with joint Newton steps: the solver to read, and to compare others with."""

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """Add the best function and maximise jointly, until no addition gains more than `monitor.tol`."""
        state = polish(first_state(problem) if start is None else start)
        while monitor.record(state):
            scores = state.scores
            if not scores.best_gain > monitor.tol:
                return Solution(state, True)
            try:
                larger = state.extended([scores.best], scores.alpha[scores.best : scores.best + 1])
            except NotPositiveDefinite:  # the function cannot be told from the active ones
                return Solution(state, True)
            following = polish(larger)
            if following.objective <= state.objective:  # what is left to gain is below rounding
                return Solution(state, True)
            state = following
            monitor.note("added", 1, state)
        return Solution(state, False)
