"""The default solver: contests between functions, joint Newton steps, and exchanges that undo greed.

Greedy selection of one function at a time, each at its own best α, is slow (re-estimations outnumber
additions ten to one) and gets stuck. MacKay's updates from the full basis find better optima, but cost
O(M³). This solver lets them work on small sets only:

* **open**: a pool of functions competes under MacKay's updates (`contract`) until the losers are gone;
* **grow**: score all candidates, add a batch of nearly independent ones, contract, joint Newton steps;
* **exchange**: offer every active function its best substitutes (the functions that would be worth most if it
  were deleted: one rank-one downdate each, for all pairs at once), let the union compete, grow again. The
  outcome replaces the model if the objective is higher;
* **swap**: replace single functions by better ones where that is certain to gain (`swaps`).

Every candidate is scored before the solver stops. On 2-D sinc this ends one or two nats above one-at-a-time
selection, and on the ill-conditioned spline basis of T01 figure 1 at the optimum MacKay's updates find from
the full basis.
"""

from __future__ import annotations

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_number, require_whole
from sparsebayes.posterior import Problem, Scores, State
from sparsebayes.solvers.base import Monitor, Solution, Solver, first_state
from sparsebayes.solvers.contests import LOOSE, contests, contracted, joined
from sparsebayes.solvers.exchange import independent, substitutes
from sparsebayes.solvers.newton import maximise_jointly, polish
from sparsebayes.solvers.pool import opening_pool
from sparsebayes.solvers.rebuild import rebuilt
from sparsebayes.solvers.stages import better, lowered
from sparsebayes.solvers.swaps import BRIEF, FRACTION, SETTLED, SwapMoves

CRUDE_GAIN = 1.0  # nats: growing before the exchanges stops when nothing is worth more
TRIAL_GAIN = 0.3  # nats: the same while an exchange is being tried
WORTHWHILE = 0.2  # nats a function: where an exchange gains less, swaps gain the rest for less time
BRIEFEST = 3  # Newton steps after a contest on a small problem, where looking at all candidates costs nothing
SMALLEST_POOL = 8
SMALL = 256  # functions: where there are no more, all of them are let in at once as well
LEVEL = 0.1  # α/β of every function when a contest opens, on columns of unit norm
CLOSE = 5.0  # nats: of two models this close it takes a finish to tell which is better
CROWDED = 300  # active functions: beyond it a contest between all their substitutes costs more than it gains
OPENING, EXCHANGING, GROWING, SLOW = (12, 1.3), (8, 1.3), (4, 1.0), (500, 0.3)  # rounds, power of contests


class ActiveSet(Solver):
    """Contests, joint Newton steps on the active set, batched additions, exchanges.

    pool : functions in the opening contest, a third fewer where they are known to lie far apart; 0 starts
        from the single best function.
    batch : most functions added per scoring pass, or half the active ones where that is more; 1: one by one.
    independence : largest |cosine| between functions added together, in the metric C⁻¹.
    exchanges : most exchange rounds, twice as many where there are more than 256 functions; 0 leaves the
        greedy solution as it is.
    substitutes : how many substitutes each active function is offered; None: more of them (3 to 8) the more
        candidates there are for each active function.
    stages : with k > 0 the model is also sought from a high noise, lowered in k stages (`stages`), and the
        better of the two kept; about twice the cost. 0: not.
    rebuilds : with k > 0 groups of 2^k, …, 4, 2 related functions are taken out in turn and the model grown
        again without them (`rebuild`), for dictionaries whose parts can do each other's work; about
        ten fits' cost a group size. 0: not.

    Neither `stages` nor `rebuilds` is used on the expansions of a classifier.
    """

    reopens = True

    def __init__(
        self,
        pool: int = 300,
        batch: int = 16,
        independence: float = 0.6,
        exchanges: int = 3,
        substitutes: int | None = None,
        stages: int = 0,
        rebuilds: int = 0,
    ) -> None:
        self.pool = pool
        self.batch = batch
        self.independence = independence
        self.exchanges = exchanges
        self.substitutes = substitutes
        self.stages = stages
        self.rebuilds = rebuilds

    def check(self) -> None:
        """Of all numbers."""
        for name, least in (("pool", 0), ("batch", 1), ("exchanges", 0), ("stages", 0), ("rebuilds", 0)):
            require_whole(getattr(self, name), f"{name} of ActiveSet", least)
        if self.substitutes is not None:
            require_whole(self.substitutes, "substitutes of ActiveSet", 1)
        # two swaps into one function have a cosine of 1
        if not is_number(self.independence) or not 0 < self.independence < 1:
            raise ValueError(
                f"independence of ActiveSet must be a number > 0 and < 1, got {self.independence!r}."
            )

    @property
    def takes_working_sets(self) -> bool:
        """Stages and rebuilt groups want all candidates."""
        return not (self.stages or self.rebuilds)

    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Open, grow crudely, exchange while it pays, grow to the end, polish."""
        self.check()
        if start is not None:
            return self._go_on(start, monitor)
        state, going = self._search(problem, monitor)
        if self.stages and going:
            state, going = self._staged(state, monitor)
        for power in range(self.rebuilds, 0, -1):
            state, going = self._rebuilt(state, 2**power, monitor, going)
        return self._finish(state, monitor, going)

    def finish(self, state: State, monitor: Monitor) -> Solution:
        """Newton steps, swaps, and all that is worth adding: no contest, which the state has behind it."""
        return self._finish(maximise_jointly(state, SETTLED), monitor, True)

    def begin(self, problem: Problem, monitor: Monitor) -> State:
        """Open and grow crudely, to no more functions than can be exchanged."""
        return self._grow(self._open(problem), monitor, CRUDE_GAIN, most=CROWDED)[0]

    def reopen(self, problem: Problem, monitor: Monitor) -> State:
        """Open, grow crudely to no more functions than can be exchanged, exchange while it pays."""
        return self._search(problem, monitor, most=CROWDED)[0]

    def _search(self, problem: Problem, monitor: Monitor, most: int | None = None) -> tuple[State, bool]:
        """A model from nothing, by contests; `most` functions are enough."""
        state, going = self._grow(self._open(problem), monitor, CRUDE_GAIN, most=most)
        state, going = self._exchange(state, monitor, going)
        if self.exchanges and _is_small(problem):
            state, going = self._open_to_all(state, monitor, going)
            state, going = self._exchange(state, monitor, going)
        return state, going

    def _go_on(self, start: State, monitor: Monitor) -> Solution:
        """Add what is worth a fair share of the best addition, and exchange; the rest is for next time."""
        least_gain = max(monitor.tol, FRACTION * start.scores.best_gain)
        state, going = self._grow(start, monitor, least_gain)
        state, going = self._exchange(state, monitor, going)
        return Solution(state, going)

    def _staged(self, state: State, monitor: Monitor) -> tuple[State, bool]:
        """The state, or what is found from a high noise where that is better."""
        with monitor.trial(state.objective):
            rival = lowered(state, self.stages, lambda start: self._go_on(start, monitor))
            if rival is None:
                return state, monitor.going
            rival, going = self._grow(maximise_jointly(rival, LOOSE, 20), monitor, TRIAL_GAIN)
            rival, going = self._exchange(rival, monitor, going)
            if abs(rival.objective - state.objective) < CLOSE:
                state, rival = (self._finish(each, monitor, going).state for each in (state, rival))
        return (rival if better(rival, state) else state), monitor.going

    def _rebuilt(self, state: State, size: int, monitor: Monitor, going: bool) -> tuple[State, bool]:
        """A sweep over groups of `size` functions."""
        if not going or state.size > CROWDED:
            return state, going

        def regrow(rest: State, standing: float) -> tuple[State, bool]:
            return self._grow(maximise_jointly(rest, LOOSE, 5), monitor, TRIAL_GAIN, standing)

        return rebuilt(state, size, regrow)

    def _exchange(self, state: State, monitor: Monitor, going: bool) -> tuple[State, bool]:
        """Exchange rounds, until one no longer pays."""
        small = _is_small(state.problem)
        for _ in range(self.exchanges if small else 2 * self.exchanges):
            before, enough = state.objective, LOOSE if small else WORTHWHILE * state.size
            state, going = self._contested(state, self._offered(state), monitor, going)
            if state.objective < before + enough:
                break
        return state, going

    def _open_to_all(self, state: State, monitor: Monitor, going: bool) -> tuple[State, bool]:
        """Contests of all functions, from two precisions: what MacKay's updates find from the full basis."""
        problem = state.problem
        everything = np.arange(problem.quadratic.size)
        for level in (LEVEL * state.beta, float(np.median(to_numpy(state.alpha)))):
            for rival in contests(problem, everything, level, state.beta, *SLOW):
                state, going = self._contested(state, rival, monitor, going)
        return state, going

    def _open(self, problem: Problem) -> State:
        """What is left of the pool, or the single best function where that is better."""
        beta = problem.noise.beta
        first = first_state(problem)
        pool = opening_pool(problem.quadratic, self.pool)
        rivals = []
        if len(pool) >= SMALLEST_POOL:
            outcomes = contests(problem, pool, LEVEL * beta, beta, *OPENING)
            rivals = [outcome for outcome in outcomes if not outcome.at_noise_floor]
        best = max([first, *rivals], key=lambda each: each.objective)
        return maximise_jointly(first, LOOSE, 20) if best is first else best

    def _finish(self, state: State, monitor: Monitor, going: bool) -> Solution:
        """Swap, Newton steps to the end, then add or swap in what is worth anything at all, until nothing is.

        Before Newton's steps have ended, what a function promises may be what they are about to gain.
        """
        reached = looked = -np.inf
        while going:
            if self._swaps_in(state) and state.objective > looked + SETTLED:
                state, going = self._swaps.settled(state, monitor)
                looked = state.objective
            state = polish(state)
            settled = not state.scores.best_gain > monitor.tol
            if settled or state.objective <= reached:  # no higher: what is left is below working precision
                return Solution(state, settled)
            reached = state.objective
            if going:
                state, going = self._refined(state, monitor)
        return Solution(state, False)

    def _refined(self, state: State, monitor: Monitor) -> tuple[State, bool]:
        """After the best swaps where they gain more than the best addition, else after additions."""
        following = self._swaps.rather_than_add(state.scores) if self._swaps_in(state) else None
        if following is None:
            return self._grow(state, monitor, monitor.tol)
        return following, monitor.record(following)

    @property
    def _swaps(self) -> SwapMoves:
        return SwapMoves(self.batch, self.independence)

    def _swaps_in(self, state: State) -> bool:
        """Whether single functions are to be swapped."""
        return bool(self.exchanges) and state.size <= CROWDED

    def _grow(
        self,
        state: State,
        monitor: Monitor,
        least_gain: float,
        standing: float | None = None,
        most: int | None = None,
    ) -> tuple[State, bool]:
        """Batches of additions until the best is worth less than `least_gain` nats.

        standing : objective of the model to beat, where this is only a trial.
        most : so many functions are enough.
        """
        going = monitor.record(state, standing)
        while going:
            if most is not None and state.size >= most:
                return state, True
            scores = state.scores
            chosen = self._choose(scores, least_gain)
            if not len(chosen):
                return state, True
            promised = float(scores.gain[int(chosen[0])])
            grown = _added(scores, chosen, min(LOOSE, 0.1 * promised))
            if grown is None or grown.objective < state.objective + 0.5 * promised:
                # the contest lost what a single addition is certain to give
                grown = _added(scores, chosen[:1], min(LOOSE, 0.1 * promised))
            if grown is None or grown.objective <= state.objective:  # what is left is below rounding
                return state, True
            state = grown
            going = monitor.record(state, standing)
        return state, False

    def _choose(self, scores: Scores, least_gain: float) -> np.ndarray:
        """Candidates in order of gain, each nearly orthogonal in C⁻¹ to those before it."""
        gain = to_numpy(scores.gain)
        if not gain.max() > least_gain:
            return np.zeros(0, dtype=np.int64)
        most = max(self.batch, scores.state.size // 2) if self.batch > 1 else 1
        pool = min(2 * most, len(gain))
        order = np.argpartition(gain, -pool)[-pool:]
        order = order[np.argsort(-gain[order], kind="stable")]
        order = order[gain[order] > max(least_gain, FRACTION * gain[order[0]])]
        return order[independent(scores, order, most, self.independence)]

    def _offered(self, state: State) -> State | None:
        """The outcome of a contest between the active functions and the best substitutes of each."""
        if state.size > CROWDED:
            return None
        candidates = state.problem.quadratic.size / (10 * state.size)
        number = min(max(round(candidates), 3), 8) if self.substitutes is None else self.substitutes
        offered = substitutes(state.scores, number)
        typical = float(np.median(to_numpy(state.alpha)))
        union = joined(state, offered, np.full(len(offered), typical))
        return union and contracted(union, *EXCHANGING)

    def _contested(
        self, state: State, rival: State | None, monitor: Monitor, going: bool
    ) -> tuple[State, bool]:
        """The state, or what the rival grows into where that is better."""
        if not going or rival is None:
            return state, going
        steps = BRIEFEST if _is_small(state.problem) else BRIEF
        rival, going = self._grow(maximise_jointly(rival, LOOSE, steps), monitor, TRIAL_GAIN, state.objective)
        collapsed = rival.at_noise_floor and not state.at_noise_floor
        # functions all but parallel can share their work in many ways that are all worth the same
        ahead = rival.objective > state.objective + SETTLED and not collapsed
        return (rival if ahead else state), going


def _is_small(problem: Problem) -> bool:
    """Whether looking at all candidates costs next to nothing."""
    return problem.quadratic.size <= SMALL


def _added(scores: Scores, chosen: np.ndarray, tol: float) -> State | None:
    """The model with the chosen functions in: a batch competes, a single function gets Newton steps."""
    state = joined(scores.state, chosen, to_numpy(scores.alpha)[chosen])
    if state is None:
        return None
    if len(chosen) == 1 or tol < LOOSE:
        return maximise_jointly(state, tol, 4)
    return contracted(state, *GROWING)
