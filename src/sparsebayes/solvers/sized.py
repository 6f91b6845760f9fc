"""The best model of at most k functions, and the nested models that deleting one function after the other leaves.

A limit on the number of functions makes another problem than the evidence alone does: the best model of 20
functions is not the best part of a model of 70. So the model of k functions is sought from two sides, by growing
from one function and by deleting from the model without a limit, and then improved at that size:

1. **swap**: single functions for better ones where that is certain to gain (`active_set.exchange`);
2. **regrow**: remove a group of related functions, grow beyond k, delete down to k, swap; keep the better of before
   and after.

The noise variance is estimated at every size: a small model explains less, and has more of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite, to_numpy
from sparsebayes.core.newton import maximise_jointly, polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver, first_state
from sparsebayes.solvers.active_set.exchange import best_swaps, swapped_together
from sparsebayes.solvers.active_set.pruning import without_least
from sparsebayes.solvers.active_set.search import related
from sparsebayes.solvers.annealing import better
from sparsebayes.solvers.walk import Stopped, Walk


@dataclass(frozen=True)
class SizedSettings:
    """What the search for the best model of a size depends on. Gains are in nats.

    Parameters
    ----------
    groups : tuple of float
        Shares of the functions that are removed together, sweep by sweep.
    beyond : float
        The share of k by which a regrown model exceeds k before functions are deleted again.
    cycles, cycle_gain : int, float
        Most repetitions of the sweeps, and what one must gain for another.
    deleted : float
        The share of the functions in excess that are deleted together.
    swap_gain, trial_gain : float
        What a swap must gain; the same while a model is only tried.
    share : float
        Share of the best gain: swaps that gain less wait for the next round.
    batch, independence : int, float
        Most swaps made together; the largest |cosine| between their functions, in the metric C⁻¹.
    loose, steps : float, int
        Joint Newton steps between moves end when the next is predicted to gain less; most of them.
    loose_trial, trial_steps : float, int
        The same while a model is only tried.
    nested_gain, nested_steps : float, int
        The same for nested models.
    step : float
        Nested models have sizes that differ by one, or by this share of the size if that is more.
    """

    groups: tuple[float, ...] = (0.4, 0.2)
    beyond: float = 0.5
    cycles: int = 3
    cycle_gain: float = 0.5
    deleted: float = 0.1
    swap_gain: float = 1e-3
    trial_gain: float = 0.3
    share: float = 0.1
    batch: int = 16
    independence: float = 0.6
    loose: float = 1e-2
    steps: int = 6
    loose_trial: float = 0.05
    trial_steps: int = 3
    nested_gain: float = 1e-5
    nested_steps: int = 30
    step: float = 0.02


SIZED = SizedSettings()


@dataclass
class Sized(Solver):
    """Another solver's model or, if that has too many functions, the best model of `most` functions.

    Parameters
    ----------
    solver : Solver
        What finds the model without a limit; if that is small enough it is the solution. After an `ActiveSet` with
        effort="fast" there are swaps, but no groups are regrown.
    most : int
        The largest number of functions.
    settings : SizedSettings
        What the search at that size depends on.
    """

    solver: Solver
    most: int
    settings: SizedSettings = field(default_factory=SizedSettings)

    def check(self) -> None:
        """Raise ValueError for a parameter of the other solver that makes no sense."""
        self.solver.check()

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """The model without a limit, then the best one within it."""
        return self.limited(self.solver.solve(problem, monitor, start, effort), monitor)

    def limited(self, free: Solution, monitor: Monitor) -> Solution:
        """The solution itself if it has few enough functions, else the best model of that size."""
        if free.state.size <= self.most:
            return free
        # a problem of its own, so that no model beyond the limit counts as a better one of the same problem
        problem, walk = replace(free.state.problem), Walk(monitor)
        walk.note("no limit", free.state.size, free.state)
        state = self._shrunk(free.state.under(problem))
        if not getattr(monitor, "going", True):
            return Solution(polish(state), False)
        try:
            walk.advance(state)
            state = self._from_both_sides(state, walk)
        except Stopped as stopped:
            return Solution(stopped.state, False)
        improved = self.improved(state, monitor)
        return improved if free.converged else replace(improved, converged=False)

    def improved(self, state: State, monitor: Monitor) -> Solution:
        """A model within the limit after swaps and sweeps, with Newton steps to the end."""
        try:
            return Solution(polish(self._improved(state, Walk(monitor))), True)
        except Stopped as stopped:
            return Solution(stopped.state, False)

    def _improved(self, state: State, walk: Walk) -> State:
        """The model after swaps, and after sweeps over groups of functions while they gain."""
        state = self._swapped(state, walk)
        quick = getattr(self.solver, "effort", None) == "fast"  # what a solver does not search for, nor does this
        for _ in range(0 if quick else self.settings.cycles):
            before = state.objective
            for share in self.settings.groups:
                state = self._swept(state, max(1, round(share * self.most)), walk)
            state = self._swapped(state, walk)
            if not state.objective > before + self.settings.cycle_gain:
                break
        return state

    def _from_both_sides(self, deleted: State, walk: Walk) -> State:
        """The better of two models after swaps: what deletion has left, and what grows from one function."""
        best = self._swapped(deleted, walk)
        walk.note("deleted to size", best.size, best)
        with walk.trial(best):
            grown = self._swapped(self._grown(first_state(best.problem), self.most, self.settings.steps), walk)
        best = grown if better(grown, best, self.settings.swap_gain) else best
        walk.note("grown to size", best.size, best)
        return best

    def _swept(self, state: State, size: int, walk: Walk) -> State:
        """Every function is removed with those related to it, the most useful first, and the model regrown."""
        settings, before, tried = self.settings, state, set[int]()
        for m in state.J[np.argsort(-to_numpy(state.keep_gain), kind="stable")].tolist():
            where = np.flatnonzero(state.J == m)
            if m in tried or not len(where) or state.size <= size:
                continue
            group = related(state, int(where[0]), size)
            tried.update(state.J[group].tolist())
            with walk.trial(state):
                rival = state.keep(np.delete(np.arange(state.size), group))
                rival = maximise_jointly(rival, settings.loose_trial, settings.trial_steps)
                larger = self.most + max(1, round(settings.beyond * self.most))
                rival = self._shrunk(self._grown(rival, larger, settings.trial_steps))
                rival = self._swapped(rival, walk, settings.trial_gain)
            state = rival if better(rival, state, settings.swap_gain) else state
        walk.note(f"regrown by {size}", len(np.setdiff1d(state.J, before.J)), state)
        return state

    def _grown(self, state: State, size: int, steps: int) -> State:
        """The best function is added, one after the other, until there are `size` or none gains."""
        while state.size < size and state.scores.best_gain > self.settings.swap_gain:
            best = state.scores.best
            try:
                larger = state.extended([best], state.scores.alpha[best : best + 1])
            except NotPositiveDefinite:  # the function cannot be told from the active ones
                break
            larger = maximise_jointly(larger, self.settings.loose, steps)
            if not larger.objective > state.objective:
                break
            state = larger
        return state

    def _shrunk(self, state: State) -> State:
        """The least useful functions are deleted, some at a time, until there are no more than `most`."""
        while state.size > self.most:
            number = max(1, int(self.settings.deleted * (state.size - self.most)))
            state = maximise_jointly(without_least(state, number), self.settings.loose, self.settings.trial_steps)
        return state

    def _swapped(self, state: State, walk: Walk, least_gain: float = 0.0) -> State:
        """Swaps at this size, and additions up to it, until none gains more than `least_gain`."""
        settings = self.settings
        steps = settings.trial_steps if least_gain else settings.steps
        enough = max(least_gain, settings.swap_gain, walk.tol)
        while True:
            state = self._grown(state, self.most, steps)
            swaps = best_swaps(state)
            floor = max(enough, settings.share * float(swaps.gain.max()))
            made = swapped_together(state, swaps, floor, settings.batch, settings.independence)
            if made is None:
                return state
            state = maximise_jointly(made[0], settings.loose, steps)
            walk.advance(state)


def unlimited(solver: Solver) -> Solver:
    """The solver without a limit on the number of functions."""
    return solver.solver if isinstance(solver, Sized) else solver


def nested(state: State, settings: SizedSettings = SIZED) -> Iterator[State]:
    """The state, and what the deletion of its least useful functions leaves, down to one function.

    α and the noise are estimated again at every size. That may delete further functions: there is no model of a
    size at which one of the functions would lower the objective.
    """
    yield state
    while state.size > 1:
        number = max(1, int(settings.step * state.size))
        state = maximise_jointly(without_least(state, number), settings.nested_gain, settings.nested_steps)
        yield state
