"""The default solver: prune a pool, grow, exchange, swap, finish; then search for a higher maximum.

Greedy selection of one function at a time is slow (re-estimations outnumber additions ten to one) and gets
stuck: a function that was right when it was added stays when its neighbours have made it second best. MacKay's
updates from the full basis find better optima, but cost O(M³). This solver combines the two:

1. **initialise**: a pool of a few hundred functions is pruned by MacKay's updates (`pruning`);
2. **grow**: score all candidates, add a batch of nearly independent ones, prune, take joint Newton steps; until
   no addition gains a nat;
3. **exchange**: add the best substitutes of *all* active functions (`exchange`), prune the union, grow; keep
   the outcome if the objective rose, and go on while a round gains enough. On a small problem all candidates
   are pruned together as well;
4. **swap**: replace single functions by better ones where that is certain to gain;
5. **finish**: Newton steps to the end, and only then add (or swap in) whatever still gains anything: before, the
   predicted gain of a function may be what those steps are about to gain;
6. **search**: from that local maximum to higher ones (`search`), and finish again;
7. **relax**: with fewer rows than candidates and a prior that is not uniform, start again from the rich models of the
   uniform prior (`relaxed`), and keep what is higher.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution
from sparsebayes.solvers.active_set.moves import Moves
from sparsebayes.solvers.active_set.relaxed import (
    RELAXED,
    best_of_deletions,
    collapsed,
    crowded,
    higher,
    pruned_by_em,
    relaxable,
    relaxed,
)
from sparsebayes.solvers.active_set.search import FAST, LargeNeighbourhoods, as_search
from sparsebayes.solvers.annealing import better
from sparsebayes.solvers.walk import Stopped, Walk


@dataclass
class ActiveSet(Moves):
    """The default solver: pruned pools, batched additions, joint Newton steps, exchanges, swaps, and a search.

    Parameters
    ----------
    pool : int
        Functions in the pool that the first model is pruned from; a third fewer if they are known to lie far
        apart. 0 starts from the single best function.
    batch : int
        Most functions added per scoring pass, or half the active ones if that is more; 1 adds them one by one.
    independence : float
        Largest |cosine| between functions added together, in the metric C⁻¹.
    exchanges : int
        Most exchange rounds, twice as many if there are more than 256 candidates; 0 leaves the greedy solution
        as it is, without swaps.
    substitutes : int, optional
        How many substitutes each active function has in an exchange; None for 3 to 8, the more the more
        candidates there are for each active function.
    settings : ActiveSetSettings
        What else the solver depends on.
    effort : {"fast", "default", "high"}, float or Search
        How a higher maximum is sought after the first: "fast" not at all; "default" by a second start under less
        noise and by removing and regrowing groups of functions, at some five times the time of "fast"; "high" also
        by groups drawn at random and noise annealing, for less than a minute; a number likewise for so many seconds.

    Notes
    -----
    There is no search on the expansions of a likelihood that is not Gaussian.
    """

    effort: Any = "default"

    def check(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""
        super().check()
        as_search(self.effort)

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """The steps 1 to 7 above, fewer of them where `effort` says so or a start is given."""
        self.check()
        walk = Walk(monitor)
        return walk.once("solve", problem, lambda: self._solved(problem, walk, start, effort))

    def _solved(self, problem: Problem, walk: Walk, start: State | None, effort: Effort) -> Solution:
        search = LargeNeighbourhoods(as_search(self.effort), self, walk, time.perf_counter())
        try:
            if start is not None and effort < Effort.FULL:
                return self.improve(start, walk)
            if start is not None:  # pruned before: Newton steps, swaps, additions
                return self.finish(maximise_jointly(start, self.settings.swap_gain), walk)
            if effort == Effort.FULL:
                return self._relaxed(self._full(problem, walk, search), walk, search)
            state = self.grow(self.initialise(problem, walk), walk, self.settings.crude_gain, self.settings.crowded)
            return Solution(state if effort == Effort.DRAFT else self.exchange_all(state, walk), False)
        except Stopped as stopped:
            return Solution(stopped.state, False)

    def _full(self, problem: Problem, walk: Walk, search: LargeNeighbourhoods) -> Solution:
        """A local maximum: a model of few functions if a small problem has one, else the best that the search finds."""
        agreeing = bool(search.search.sweeps)
        few, suffices = walk.once("few", problem, lambda: self.of_few(problem, walk, search.search.few, agreeing))
        if few is not None and suffices:
            return few
        with nullcontext() if few is None else walk.trial(few.state):
            draft = self.grow(self.initialise(problem, walk), walk, self.settings.crude_gain)
            last = self._higher(self.finish(search.first(draft), walk), draft, walk, search)
        return last if few is None or better(last.state, few.state, self.settings.swap_gain) else few

    def _higher(self, first: Solution, draft: State, walk: Walk, search: LargeNeighbourhoods) -> Solution:
        """The first local maximum, or a higher one that the search from there and from the draft ends in."""
        state = search.best(first.state, draft) if first.converged else first.state
        if state is first.state:
            return first
        with walk.trial(first.state, counted=False):  # finished, a model may fall behind one that was finished before
            last = self.finish(state, walk)
        return last if better(last.state, first.state, 0.0) else first

    def _relaxed(self, first: Solution, walk: Walk, search: LargeNeighbourhoods) -> Solution:
        """The first solution, or a higher one that the rich models of the uniform prior lead to."""
        incumbent = first.state
        if not search.search.relaxed or not relaxable(incumbent.problem):
            return first
        last = first
        try:
            with walk.trial(incumbent, counted=False):
                start = self._from_rich_models(incumbent, walk)
                if start is not None:
                    last = self._higher(self.finish(search.first(start), walk), start, walk, search)
        except Stopped:
            return first  # not the model that was tried last, which may be one of the relaxed problem
        if crowded(last.state) or not higher(last.state, incumbent, self.settings.swap_gain):
            last = first
        walk.note("relaxed", len(np.setdiff1d(last.state.J, incumbent.J)), last.state)
        return last

    def _from_rich_models(self, incumbent: State, walk: Walk) -> State | None:
        """The best model that deletions from the rich models lead to; None if it is the incumbent, or far below."""
        problem = incumbent.problem
        starts = [walk.once("delete after EM", problem, lambda: _deleted(pruned_by_em(problem), problem))]
        if problem.size <= RELAXED.candidates and problem.noise.estimate:
            plain = LargeNeighbourhoods(FAST, self, walk, time.perf_counter())
            rich = self._full(relaxed(problem), walk, plain).state
            starts.append(walk.once("delete", problem, lambda: _deleted(rich, problem)))
        found = [each for each in starts if each is not None and not collapsed(each)]
        best = max(found, key=lambda each: each.objective, default=None)
        if best is None or best.objective < incumbent.objective - self.settings.close:
            return None
        return None if set(best.J.tolist()) == set(incumbent.J.tolist()) else best


def _deleted(rich: State | None, problem: Problem) -> State | None:
    """The best model under the prior of the problem that deletions from a rich model lead to, if there is one."""
    return None if rich is None else best_of_deletions(rich, problem)
