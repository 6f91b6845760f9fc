"""The default solver: prune a pool, grow, exchange, swap, finish.

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
   predicted gain of a function may be what those steps are about to gain.

For dictionaries whose parts can do each other's work two more steps come before the last (`thorough`): noise
annealing, and removing groups of related functions and regrowing the model without them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_number, require_whole
from sparsebayes.core.newton import maximise_jointly, polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver, first_state
from sparsebayes.solvers.active_set import thorough
from sparsebayes.solvers.active_set.exchange import best_swaps, independent, substitutes, swapped_together
from sparsebayes.solvers.active_set.pruning import candidate_pool, joined, prune, pruned_pools
from sparsebayes.solvers.active_set.settings import ActiveSetSettings
from sparsebayes.solvers.walk import Stopped, Walk


@dataclass
class ActiveSet(Solver):
    """The default solver: pruned pools, batched additions, joint Newton steps, exchanges and swaps.

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
    annealing : int
        With k > 0 the model is also sought by noise annealing, from a high noise variance lowered in k steps,
        and the better of the two is kept; about twice the cost.
    regrowth : int
        With k > 0 groups of 2^k, …, 4, 2 related functions are removed in turn and the model regrown without
        them, for dictionaries whose parts can do each other's work; about ten fits' cost per group size.
    settings : ActiveSetSettings
        What else the solver depends on.

    Notes
    -----
    Neither `annealing` nor `regrowth` is used on the expansions of a likelihood that is not Gaussian.
    """

    pool: int = 300
    batch: int = 16
    independence: float = 0.6
    exchanges: int = 3
    substitutes: int | None = None
    annealing: int = 0
    regrowth: int = 0
    settings: ActiveSetSettings = field(default_factory=ActiveSetSettings)

    def check(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""
        for name, least in (("pool", 0), ("batch", 1), ("exchanges", 0), ("annealing", 0), ("regrowth", 0)):
            require_whole(getattr(self, name), f"{name} of ActiveSet", least)
        if self.substitutes is not None:
            require_whole(self.substitutes, "substitutes of ActiveSet", 1)
        # two swaps into one function have a cosine of 1
        if not is_number(self.independence) or not 0 < self.independence < 1:
            raise ValueError(f"independence of ActiveSet must be a number > 0 and < 1, got {self.independence!r}.")

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """The steps 1 to 5 above, fewer of them where `effort` says so or a start is given."""
        self.check()
        walk = Walk(monitor)
        try:
            if start is not None and effort < Effort.FULL:
                return self._improve(start, walk)
            if start is not None:  # pruned before: Newton steps, swaps, additions
                return self._finish(maximise_jointly(start, self.settings.swap_gain), walk)
            most = None if effort == Effort.FULL else self.settings.crowded
            state = self._grow(self._initialise(problem, walk), walk, self.settings.crude_gain, most)
            if effort == Effort.DRAFT:
                return Solution(state, False)
            state = self._exchange(state, walk)
            if self.exchanges and problem.quadratic.size <= self.settings.small:
                state = self._exchange(self._prune_all(state, walk), walk)
            if effort == Effort.ROUND:
                return Solution(state, False)
            if self.annealing:
                state = self._anneal(state, walk)
            for power in range(self.regrowth, 0, -1):
                state = self._regrow_groups(state, 2**power, walk)
            return self._finish(state, walk)
        except Stopped as stopped:
            return Solution(stopped.state, False)

    def _improve(self, start: State, walk: Walk) -> Solution:
        """One round from a start: add what gains a fair share of the best addition, and exchange."""
        least_gain = max(walk.tol, self.settings.share * start.scores.best_gain)
        return Solution(self._exchange(self._grow(start, walk, least_gain), walk), True)

    # 1. initialise

    def _initialise(self, problem: Problem, walk: Walk) -> State:
        """What is left of the pool after pruning, or the single best function if that is better."""
        settings, beta = self.settings, problem.noise.beta
        first, pool = first_state(problem), candidate_pool(problem.quadratic, self.pool, self.settings)
        rivals = []
        if len(pool) >= settings.smallest_pool:
            outcomes = pruned_pools(problem, pool, settings.level * beta, beta, settings.initialise, settings)
            rivals = [outcome for outcome in outcomes if not outcome.at_noise_floor]
        best = max([first, *rivals], key=lambda each: each.objective)
        state = maximise_jointly(first, settings.loose, settings.first_steps) if best is first else best
        walk.note("initialised", len(pool), state)
        return state

    # 2. grow

    def _grow(self, state: State, walk: Walk, least_gain: float, most: int | None = None) -> State:
        """Add batches until the best addition gains less than `least_gain`, or there are `most` functions."""
        walk.advance(state)
        added = 0
        while most is None or state.size < most:
            chosen = self._choose(state, least_gain)
            if not len(chosen):
                break
            predicted = float(state.scores.gain[int(chosen[0])])
            grown, tol = None, min(self.settings.loose, 0.1 * predicted)
            # pruning a batch may lose what one addition is certain to gain
            for batch in (chosen, chosen[:1]):
                grown = self._added(state, batch, tol)
                if grown is not None and grown.objective >= state.objective + 0.5 * predicted:
                    break
            if grown is None or grown.objective <= state.objective:  # what is left to gain is below rounding
                break
            added, state = added + len(batch), grown
            walk.advance(state)
        if added:
            walk.note("added", added, state)
        return state

    def _choose(self, state: State, least_gain: float) -> np.ndarray:
        """Candidates in order of gain, each nearly orthogonal in C⁻¹ to those before it."""
        gain = to_numpy(state.scores.gain)
        if not gain.max() > least_gain:
            return np.zeros(0, dtype=np.int64)
        most = max(self.batch, state.size // 2) if self.batch > 1 else 1
        best = min(2 * most, len(gain))
        order = np.argpartition(gain, -best)[-best:]
        order = order[np.argsort(-gain[order], kind="stable")]
        order = order[gain[order] > max(least_gain, self.settings.share * gain[order[0]])]
        return order[independent(state, order, most, self.independence)]

    def _added(self, state: State, chosen: np.ndarray, tol: float) -> State | None:
        """The model with the chosen functions: a batch is pruned, a single function gets Newton steps."""
        larger = joined(state, chosen, to_numpy(state.scores.alpha)[chosen])
        if larger is None:
            return None
        if len(chosen) == 1 or tol < self.settings.loose:
            return maximise_jointly(larger, tol, self.settings.steps_after_adding)
        return prune(larger, *self.settings.grow, self.settings.hopeless)

    # 3. exchange

    def _exchange(self, state: State, walk: Walk) -> State:
        """Exchange rounds, until one gains too little for another."""
        settings = self.settings
        small = state.problem.quadratic.size <= settings.small
        for _ in range(self.exchanges if small else 2 * self.exchanges):
            before, enough = state, settings.loose if small else settings.exchange_gain * state.size
            state = self._better(state, self._with_substitutes(state), walk)
            walk.note("exchanged", len(np.setdiff1d(state.J, before.J)), state)
            if state.objective < before.objective + enough:
                break
        return state

    def _with_substitutes(self, state: State) -> State | None:
        """What pruning leaves of the active functions and the best substitutes of each; None if it fails."""
        settings = self.settings
        if state.size > settings.crowded:
            return None
        number = self.substitutes
        if number is None:
            candidates = state.problem.quadratic.size / (settings.candidates_per_substitute * state.size)
            number = min(max(round(candidates), settings.substitutes[0]), settings.substitutes[1])
        others = substitutes(state, number)
        union = joined(state, others, np.full(len(others), float(np.median(to_numpy(state.alpha)))))
        return union and prune(union, *settings.exchange, settings.hopeless)

    def _prune_all(self, state: State, walk: Walk) -> State:
        """All candidates pruned from two precisions: what MacKay's updates find from the full basis."""
        settings, everything = self.settings, np.arange(state.problem.quadratic.size)
        for level in (settings.level * state.beta, float(np.median(to_numpy(state.alpha)))):
            for rival in pruned_pools(state.problem, everything, level, state.beta, settings.compare_all, settings):
                state = self._better(state, rival, walk)
        walk.note("pruned from all", len(everything), state)
        return state

    def _better(self, state: State, rival: State | None, walk: Walk) -> State:
        """The state, or what the rival grows into if that is better."""
        if rival is None:
            return state
        settings = self.settings
        small = state.problem.quadratic.size <= settings.small  # scoring all candidates costs almost nothing
        steps = settings.steps_after_pruning if small else settings.steps_between_swaps
        with walk.trial(state):
            most = max(settings.crowded, 2 * state.size)
            rival = self._grow(maximise_jointly(rival, settings.loose, steps), walk, settings.trial_gain, most)
        collapsed = rival.at_noise_floor and not state.at_noise_floor
        # functions that are almost parallel can share their work in many ways that gain the same
        ahead = rival.objective > state.objective + settings.swap_gain and not collapsed
        return rival if ahead else state

    # 4. swap

    def _swap(self, state: State, walk: Walk) -> State:
        """Swaps and single additions with Newton steps in between, until none gains enough.

        Where additions gain more than swaps many times in a row, the model is far from complete, and grows by
        batches.
        """
        settings, swaps_made, additions = self.settings, 0, 0
        state = maximise_jointly(state, settings.loose, settings.steps_between_swaps)
        while state.size <= settings.crowded:
            swaps, least_gain = best_swaps(state), max(settings.swap_gain, walk.tol)
            best = state.scores.best
            if state.scores.best_gain > max(least_gain, float(swaps.gain.max())):
                if additions == self.batch:
                    state, additions = self._grow(state, walk, least_gain), 0
                    continue
                following = joined(state, np.asarray([best]), to_numpy(state.scores.alpha)[[best]])
                count, additions = 1, additions + 1
            else:
                least_gain = max(least_gain, settings.share * float(swaps.gain.max()))
                made = swapped_together(state, swaps, least_gain, self.batch, self.independence)
                following, count = made if made is not None else (None, 0)
            if following is None:
                break
            state = maximise_jointly(following, settings.loose, settings.steps_between_swaps)
            swaps_made += count
            walk.advance(state)
        walk.note("swapped", swaps_made, state)
        return state

    def _swaps_in(self, state: State) -> bool:
        """Whether single functions are to be swapped."""
        return bool(self.exchanges) and state.size <= self.settings.crowded

    # 5. finish

    def _finish(self, state: State, walk: Walk) -> Solution:
        """Swap, take Newton steps to the end, then add or swap in whatever still gains, until nothing does."""
        reached = last_swapped = -np.inf
        while True:
            if self._swaps_in(state) and state.objective > last_swapped + self.settings.swap_gain:
                state = self._swap(state, walk)
                last_swapped = state.objective
            state = polish(state)
            walk.note("polished", state.size, state)
            settled = not state.scores.best_gain > walk.tol
            if settled or state.objective <= reached:  # no higher: what is left is below working precision
                return Solution(state, settled)
            reached = state.objective
            state = self._refine(state, walk)

    def _refine(self, state: State, walk: Walk) -> State:
        """The state after the best swaps if they gain more than the best addition, else after additions.

        An addition beside its worse neighbour ends in the same place as a swap, but it takes Newton's method
        many steps along a saddle to hand over the weight of one function to the other.
        """
        made = None
        if self._swaps_in(state):
            swaps = best_swaps(state)
            least_gain = max(state.scores.best_gain, self.settings.share * float(swaps.gain.max()))
            made = swapped_together(state, swaps, least_gain, self.batch, self.independence)
        if made is None:
            return self._grow(state, walk, walk.tol)
        walk.advance(made[0])
        return made[0]

    # for dictionaries

    def _anneal(self, state: State, walk: Walk) -> State:
        """The state, or what noise annealing finds if that is better."""
        settings = self.settings
        with walk.trial(state):
            annealed = thorough.annealed(state, self.annealing, lambda start: self._improve(start, walk), settings)
            if annealed is None:
                return state
            annealed = maximise_jointly(annealed, settings.loose, settings.first_steps)
            rival = self._exchange(self._grow(annealed, walk, settings.trial_gain), walk)
            if abs(rival.objective - state.objective) < settings.close:
                state, rival = (self._finish(each, walk).state for each in (state, rival))
        state = rival if thorough.better(rival, state, settings.swap_gain) else state
        walk.note("annealed", self.annealing, state)
        return state

    def _regrow_groups(self, state: State, size: int, walk: Walk) -> State:
        """A sweep over groups of `size` functions: remove a group, regrow, keep what is better."""
        settings, before = self.settings, state
        if state.size > settings.crowded:
            return state

        def regrow(rest: State, incumbent: State) -> State:
            with walk.trial(incumbent):
                return self._grow(maximise_jointly(rest, settings.loose, 5), walk, settings.trial_gain)

        state = thorough.sweep_groups(state, size, regrow, settings.swap_gain)
        walk.note(f"regrown in groups of {size}", len(np.setdiff1d(state.J, before.J)), state)
        return state
