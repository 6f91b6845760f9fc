"""The moves of the default solver: initialise, grow, exchange, swap, finish.

`solver` says in which order they are made, `pruning` and `exchange` what two of them rest on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_number, require_whole
from sparsebayes.core.newton import maximise_jointly, polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Solution, Solver, first_state
from sparsebayes.solvers.active_set.exchange import best_swaps, independent, substitutes, swapped_together
from sparsebayes.solvers.active_set.pruning import candidate_pool, joined, prune, pruned_pools
from sparsebayes.solvers.active_set.settings import ActiveSetSettings
from sparsebayes.solvers.annealing import better
from sparsebayes.solvers.certificate import certify
from sparsebayes.solvers.monitor import SATURATED
from sparsebayes.solvers.stages import Stage
from sparsebayes.solvers.walk import Walk


@dataclass
class Moves(Solver):
    """The parameters of the default solver (see `ActiveSet`), and its moves from model to model."""

    pool: int = 300
    batch: int = 16
    independence: float = 0.6
    exchanges: int = 3
    substitutes: int | None = None
    settings: ActiveSetSettings = field(default_factory=ActiveSetSettings)

    def check(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""
        for name, least in (("pool", 0), ("batch", 1), ("exchanges", 0)):
            require_whole(getattr(self, name), f"{name} of ActiveSet", least)
        if self.substitutes is not None:
            require_whole(self.substitutes, "substitutes of ActiveSet", 1)
        # two swaps into one function have a cosine of 1
        if not is_number(self.independence) or not 0 < self.independence < 1:
            raise ValueError(f"independence of ActiveSet must be a number > 0 and < 1, got {self.independence!r}.")

    def improve(self, start: State, walk: Walk) -> Solution:
        """One round from a start: add what gains a fair share of the best addition, and exchange."""
        least_gain = max(walk.tol, self.settings.share * start.scores.best_gain)
        return Solution(self.exchange(self.grow(start, walk, least_gain), walk), True)

    # 1. initialise

    def initialise(self, problem: Problem, walk: Walk, everything: bool = False) -> State:
        """What is left of the pool after pruning, or the single best function if that is better.

        everything : whether all candidates are in the pool.
        """
        return walk.once("initialise", problem, lambda: self._initialised(problem, walk, everything))

    def _initialised(self, problem: Problem, walk: Walk, everything: bool) -> State:
        settings, beta = self.settings, problem.noise.beta
        first, level, pool = first_state(problem), settings.level, np.arange(problem.size)
        if everything:
            level = settings.level_of_all
        else:
            pool = candidate_pool(problem, self.pool, settings)
        rivals = []
        if len(pool) >= settings.smallest_pool:
            outcomes = pruned_pools(problem, pool, level * beta, beta, settings.initialise, settings)
            rivals = [outcome for outcome in outcomes if not outcome.at_noise_floor]
        best = max([first, *rivals], key=lambda each: each.objective)
        state = maximise_jointly(first, settings.loose, settings.first_steps) if best is first else best
        walk.note("initialised", len(pool), state)
        return state

    # 2. grow

    def grow(self, state: State, walk: Walk, least_gain: float, most: int | None = None) -> State:
        """Add batches until the best addition gains less than `least_gain`, or there are `most` functions."""
        with walk.stage("grow", state.problem) as stage:
            return stage.result if stage.finished else stage.finish(self._grown(stage, state, walk, least_gain, most))

    def _grown(self, stage: Stage, state: State, walk: Walk, least_gain: float, most: int | None) -> State:
        if stage.began:
            state, added = stage.values
        else:
            walk.advance(state)
            added = 0
            stage.save(state, added)
        while (most is None or state.size < most) and not self._saturated(state):
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
            stage.save(state, added)
        if added:
            walk.note("added", added, state)
        return state

    def _saturated(self, state: State) -> bool:
        """Whether there are hundreds of functions, almost as many as rows, and the noise is estimated.

        Every function that comes in lowers the noise then, and a lower noise lets others in: the evidence rises
        until the model reproduces the targets, and the noise is gone.
        """
        most = self.settings.saturated * state.problem.quadratic.n
        return state.problem.noise.estimate and len(state.active.J) > max(self.settings.crowded, most)

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
        grown = prune(larger, *self.settings.grow, self.settings.hopeless)
        if grown is None or larger.size <= max(self.settings.crowded, state.problem.quadratic.n / 2):
            return grown
        # of so many functions pruning leaves the noise as it is, and a lower noise lets many others in
        return maximise_jointly(grown, self.settings.loose, self.settings.steps_when_crowded)

    # 3. exchange

    def exchange_all(self, state: State, walk: Walk) -> State:
        """Exchange rounds; on a small problem, all candidates are then pruned together, and exchanged again."""
        state = self.exchange(state, walk)
        if self.exchanges and state.problem.size <= self.settings.small:
            pruned = walk.once("prune all", state.problem, lambda: self._prune_all(state, walk))
            return self.exchange(pruned, walk)
        return state

    def exchange(self, state: State, walk: Walk) -> State:
        """Exchange rounds, until one gains too little for another."""
        with walk.stage("exchange", state.problem) as stage:
            return stage.result if stage.finished else stage.finish(self._exchanged(stage, state, walk))

    def _exchanged(self, stage: Stage, state: State, walk: Walk) -> State:
        settings, before = self.settings, 0
        small = state.problem.size <= settings.small
        if stage.began:
            state, before = stage.values
        for taken in range(before + 1, (1 if small else 2) * self.exchanges + 1):
            last, enough = state, settings.loose if small else settings.exchange_gain * state.size
            state = self.better(state, self._with_substitutes(state), walk)
            walk.note("exchanged", len(np.setdiff1d(state.J, last.J)), state)
            if state.objective < last.objective + enough:
                break
            stage.save(state, taken)
        return state

    def _with_substitutes(self, state: State) -> State | None:
        """What pruning leaves of the active functions and the best substitutes of each; None if it fails."""
        settings = self.settings
        if state.size > settings.crowded:
            return None
        number = self.substitutes
        if number is None:
            candidates = state.problem.size / (settings.candidates_per_substitute * state.size)
            number = min(max(round(candidates), settings.substitutes[0]), settings.substitutes[1])
        others = substitutes(state, number)
        union = joined(state, others, np.full(len(others), float(np.median(to_numpy(state.alpha)))))
        return union and prune(union, *settings.exchange, settings.hopeless)

    def _prune_all(self, state: State, walk: Walk) -> State:
        """All candidates pruned from two precisions: what MacKay's updates find from the full basis."""
        settings, everything = self.settings, np.arange(state.problem.size)
        for level in (settings.level * state.beta, float(np.median(to_numpy(state.alpha)))):
            for rival in pruned_pools(state.problem, everything, level, state.beta, settings.compare_all, settings):
                state = self.better(state, rival, walk)
        walk.note("pruned from all", len(everything), state)
        return state

    def better(self, state: State, rival: State | None, walk: Walk) -> State:
        """The state, or what the rival grows into if that is better."""
        if rival is None:
            return state
        settings = self.settings
        small = state.problem.size <= settings.small  # scoring all candidates costs almost nothing
        steps = settings.steps_after_pruning if small else settings.steps_between_swaps
        with walk.trial(state):
            most = max(settings.crowded, 2 * state.size)
            rival = self.grow(maximise_jointly(rival, settings.loose, steps), walk, settings.trial_gain, most)
        collapsed = rival.at_noise_floor and not state.at_noise_floor
        # functions that are almost parallel can share their work in many ways that gain the same
        ahead = rival.objective > state.objective + settings.swap_gain and not collapsed
        return rival if ahead else state

    # 4. swap

    def swap(self, state: State, walk: Walk) -> State:
        """Swaps and single additions with Newton steps in between, until none gains enough.

        Where additions gain more than swaps many times in a row, the model is far from complete, and grows by
        batches.
        """
        with walk.stage("swap", state.problem) as stage:
            return stage.result if stage.finished else stage.finish(self._swapped(stage, state, walk))

    def _swapped(self, stage: Stage, state: State, walk: Walk) -> State:
        settings, swaps_made, additions = self.settings, 0, 0
        if stage.began:
            state, swaps_made, additions = stage.values
        else:
            state = maximise_jointly(state, settings.loose, settings.steps_between_swaps)
        while state.size <= settings.crowded:
            swaps, least_gain = best_swaps(state), max(settings.swap_gain, walk.tol)
            best = state.scores.best
            if state.scores.best_gain > max(least_gain, float(swaps.gain.max())):
                if additions == self.batch:
                    state, additions = self.grow(state, walk, least_gain), 0
                    continue
                following = joined(state, np.asarray([best]), to_numpy(state.scores.alpha)[[best]])
                count, additions = 1, additions + 1
            else:
                least_gain = max(least_gain, settings.share * float(swaps.gain.max()))
                made = swapped_together(state, swaps, least_gain, self.batch, self.independence)
                following, count = made if made is not None else (None, 0)
            if following is None:
                break
            following = maximise_jointly(following, settings.loose, settings.steps_between_swaps)
            if not following.objective > state.objective:  # what was predicted is below rounding
                break
            state, swaps_made = following, swaps_made + count
            walk.advance(state)
            stage.save(state, swaps_made, additions)
        walk.note("swapped", swaps_made, state)
        return state

    def swaps_in(self, state: State) -> bool:
        """Whether single functions are to be swapped."""
        return bool(self.exchanges) and state.size <= self.settings.crowded

    # 5. finish

    def finish(self, state: State, walk: Walk) -> Solution:
        """Swap, take Newton steps to the end, then add or swap in whatever still gains, until nothing does."""
        with walk.stage("finish", state.problem) as stage:
            return stage.result if stage.finished else stage.finish(self._finished(stage, state, walk))

    def _finished(self, stage: Stage, state: State, walk: Walk) -> Solution:
        reached = last_swapped = -np.inf
        if stage.began:
            state, reached, last_swapped = stage.values
        while True:
            if self.swaps_in(state) and state.objective > last_swapped + self.settings.swap_gain:
                state = self.swap(state, walk)
                last_swapped = state.objective
            if self._saturated(state):
                walk.note(SATURATED, state.size, state)
                return Solution(state, False)
            state = polish(state)
            walk.note("polished", state.size, state)
            if not state.scores.best_gain > walk.tol:
                return Solution(state, True)
            if state.objective <= reached:  # no higher: what is left is below working precision
                return Solution(state, certify(state).is_local_maximum)
            reached = state.objective
            state = self._refine(state, walk)
            stage.save(state, reached, last_swapped)

    def of_few(self, problem: Problem, walk: Walk, few: int, agreeing: bool) -> tuple[Solution | None, bool]:
        """On a small problem, a solution from all candidates at once, and whether no other need be sought.

        For a model of at most `few` functions, swaps try every candidate in every place, and little is left to find.
        With `agreeing` it suffices only if exchanges, from it and from the usual pool, end at much the same objective.
        The solution is None if it would have far more than `few` functions.
        """
        settings = self.settings
        if not few or not settings.smallest_pool <= problem.size <= settings.small:
            return None, False
        state = maximise_jointly(self.initialise(problem, walk, everything=True), settings.loose, settings.first_steps)
        if state.at_noise_floor or state.size > 2 * few:  # swaps will not make it so small
            return None, False
        first = self.finish(state, walk)
        if not first.converged or first.state.size > few or not agreeing:
            return first, first.converged and first.state.size <= few
        exchanged = self.exchange(first.state, walk)
        first = first if exchanged is first.state else self.finish(exchanged, walk)
        with walk.trial(first.state):
            state = self.grow(self.initialise(problem, walk), walk, settings.crude_gain)
            second = self.finish(self.exchange(state, walk), walk)
        walk.tried(second.state)
        agreed = abs(first.state.objective - second.state.objective) < settings.agreed
        return (second if better(second.state, first.state, settings.swap_gain) else first), agreed

    def _refine(self, state: State, walk: Walk) -> State:
        """The state after the best swaps if they gain more than the best addition, else after additions.

        An addition beside its worse neighbour ends in the same place as a swap, but it takes Newton's method
        many steps along a saddle to hand over the weight of one function to the other.
        """
        made = None
        if self.swaps_in(state):
            swaps = best_swaps(state)
            least_gain = max(state.scores.best_gain, self.settings.share * float(swaps.gain.max()))
            made = swapped_together(state, swaps, least_gain, self.batch, self.independence)
        if made is None:
            return self.grow(state, walk, walk.tol)
        walk.advance(made[0])
        return made[0]
