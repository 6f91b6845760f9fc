"""The default solver: contests between functions, joint Newton steps, and exchanges that undo greed.

Greedy selection of one function at a time, each at its own best α, is slow (re-estimations outnumber
additions ten to one) and gets stuck. MacKay's updates from the full basis find better optima, but cost
O(M³). This solver lets them work on small sets only:

* **open**: a pool of functions competes under MacKay's updates (`contract`) until the losers are gone;
* **grow**: score all candidates, add a batch of nearly independent ones, contract, joint Newton steps;
* **exchange**: offer every active function its best substitutes (the functions that would be worth most if it
  were deleted: one rank-one downdate each, for all pairs at once), let the union compete, grow again. The
  outcome replaces the model if the objective is higher;
* **swap**: replace single functions by better ones where that is certain to gain (`exchange`).

Every candidate is scored before the solver stops. On 2-D sinc this ends one or two nats above one-at-a-time
selection, and on the ill-conditioned spline basis of T01 figure 1 at the optimum MacKay's updates find from
the full basis.
"""

from __future__ import annotations

import numpy as np

from sparsebayes._array import Indices, NotPositiveDefinite, asfloat64, take, to_numpy
from sparsebayes.posterior import Problem, Scores, State
from sparsebayes.solvers.base import Monitor, Solution, Solver, first_state
from sparsebayes.solvers.exchange import best_swaps, independent, substitutes, swapped
from sparsebayes.solvers.fixed_point import mackay_step
from sparsebayes.solvers.newton import maximise_jointly, polish

CRUDE_GAIN = 1.0  # nats: growing before the exchanges stops when nothing is worth more
TRIAL_GAIN = 0.3  # nats: the same while an exchange is being tried
LOOSE = 1e-2  # nats: joint Newton steps between additions stop when the next promises less
WORTHWHILE = 2.0  # nats: an exchange round that gains less is the last (on small problems: LOOSE)
SETTLED = 1e-3  # nats: the least a swap or a rival must gain, and what Newton steps before swaps leave behind
SMALLEST_POOL = 8
SMALL = 256  # functions: where there are no more, all of them are let in at once as well
FRACTION = 0.1  # of the best gain: what is worth less waits for the next scoring pass
LEVEL = 0.1  # α/β of every function when a contest opens, on columns of unit norm
PARALLEL = 1e-7  # 1 − |cosine| of two functions below which only the first enters a contest
FINEST = 1e-3  # nats per tol: a function that gains less than this times tol is not added
CROWDED = 300  # active functions: beyond it a contest between all their substitutes costs more than it gains
OPENING, EXCHANGING, GROWING, SLOW = (12, 1.3), (8, 1.3), (4, 1.0), (500, 0.3)  # rounds, power of contests
HOPELESS = 1.0  # α/β beyond which a function explains too little to stay in a contest


class ActiveSet(Solver):
    """Contests, joint Newton steps on the active set, batched additions, exchanges.

    pool : functions in the opening contest; 0 starts from the single best function.
    batch : most functions added per scoring pass, or half the active ones where that is more; 1: one by one.
    independence : largest |cosine| between functions added together, in the metric C⁻¹.
    exchanges : most exchange rounds; 0 leaves the greedy solution as it is.
    substitutes : how many substitutes each active function is offered; None: more of them (3 to 8) the more
        candidates there are for each active function.
    """

    def __init__(
        self,
        pool: int = 240,
        batch: int = 16,
        independence: float = 0.6,
        exchanges: int = 3,
        substitutes: int | None = None,
    ) -> None:
        self.pool = pool
        self.batch = batch
        self.independence = independence
        self.exchanges = exchanges
        self.substitutes = substitutes

    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Open, grow crudely, exchange while it pays, grow to the end, polish."""
        if start is not None:
            return self._go_on(start, monitor)
        state, going = self._grow(self._open(problem), monitor, CRUDE_GAIN)
        state, going = self._exchange(state, monitor, going)
        if self.exchanges and problem.quadratic.size <= SMALL:
            state, going = self._open_to_all(state, monitor, going)
            state, going = self._exchange(state, monitor, going)
        return self._finish(state, monitor, going)

    def begin(self, problem: Problem, monitor: Monitor) -> State:
        """Open and grow crudely, to no more functions than can be exchanged."""
        return self._grow(self._open(problem), monitor, CRUDE_GAIN, most=CROWDED)[0]

    def _go_on(self, start: State, monitor: Monitor) -> Solution:
        """Add what is worth a fair share of the best addition, and exchange; the rest is for next time."""
        least_gain = max(FINEST * monitor.tol, FRACTION * float(start.scores.gain[start.scores.best]))
        state, going = self._grow(start, monitor, least_gain)
        state, going = self._exchange(state, monitor, going)
        return Solution(state, going)

    def _exchange(self, state: State, monitor: Monitor, going: bool) -> tuple[State, bool]:
        """Exchange rounds, until one no longer pays."""
        enough = WORTHWHILE if state.problem.quadratic.size > SMALL else LOOSE
        for _ in range(self.exchanges):
            before = state.objective
            state, going = self._contested(state, self._offered(state), monitor, going)
            if state.objective < before + enough:
                break
        return state, going

    def _open_to_all(self, state: State, monitor: Monitor, going: bool) -> tuple[State, bool]:
        """Contests of all functions, from two precisions: what MacKay's updates find from the full basis."""
        problem = state.problem
        everything = np.arange(problem.quadratic.size)
        for level in (LEVEL * state.beta, float(np.median(to_numpy(state.alpha)))):
            for rival in _contests(problem, everything, level, state.beta, *SLOW):
                state, going = self._contested(state, rival, monitor, going)
        return state, going

    def _open(self, problem: Problem) -> State:
        """What is left of the pool, or the single best function where that is better."""
        quadratic, beta = problem.quadratic, problem.noise.beta
        # rounded: a sum of weights may be a rounding error away from a whole number
        size = int(min(self.pool, quadratic.size, round(quadratic.n, 6) / 2))
        first = first_state(problem)
        rivals = []
        if size >= SMALLEST_POOL:
            # spread over the range of h = φᵀt: depends neither on chance, nor on the order of the functions
            order = np.argsort(to_numpy(quadratic.h), kind="stable")
            places = np.linspace(0, quadratic.size - 1, size)
            # rounded towards the nearer end, so that the sign of t does not matter either
            lower = places < 0.5 * (quadratic.size - 1)
            pool = order[np.where(lower, np.floor(places), np.ceil(places)).astype(np.int64)]
            rivals = [
                r for r in _contests(problem, pool, LEVEL * beta, beta, *OPENING) if not r.at_noise_floor
            ]
        best = max([first, *rivals], key=lambda each: each.objective)
        return maximise_jointly(first, LOOSE, 20) if best is first else best

    def _finish(self, state: State, monitor: Monitor, going: bool) -> Solution:
        """Swap, then add what is worth anything at all, with Newton steps to the end."""
        least_gain = FINEST * monitor.tol
        while going:
            before = state.objective
            if self.exchanges and state.size <= CROWDED:
                state, going = self._swap(state, monitor)
            if going:
                state, going = self._grow(state, monitor, least_gain)
            state = polish(state)
            left = float(state.scores.gain[state.scores.best])
            if not left > least_gain:
                return Solution(state, True)
            if state.objective <= before:  # what is left cannot be had to working precision
                return Solution(state, False)
        return Solution(state, False)

    def _swap(self, state: State, monitor: Monitor) -> tuple[State, bool]:
        """Single functions replaced by better ones, or added, while that is worth something.

        Newton steps get there as well once the better one is in, but along a saddle, where they are slow.
        """
        going = True
        state = maximise_jointly(state, SETTLED, 20)
        while going:
            following = self._moved(state.scores)
            if following is None:
                return state, True
            state = maximise_jointly(following, SETTLED, 20)
            going = monitor.record(state)
        return state, False

    def _moved(self, scores: Scores) -> State | None:
        """After the best swaps, or the best addition where that gains more; None where neither gains."""
        state, swaps = scores.state, best_swaps(scores)
        addition = float(scores.gain[scores.best])
        if addition > max(SETTLED, float(swaps.gain.max())):
            return _with(state, np.asarray([scores.best]), to_numpy(scores.alpha)[[scores.best]])
        order = np.argsort(-swaps.gain, kind="stable")
        order = order[swaps.gain[order] > max(SETTLED, FRACTION * swaps.gain[order[0]])]
        together = order[independent(scores, swaps.into[order], self.batch, self.independence)]
        for positions in (together, order[:1]) if len(together) > 1 else (together,):
            following = swapped(state, positions, swaps) if len(positions) else None
            if following and following.objective >= state.objective + 0.5 * swaps.gain[order[0]]:
                return following
        return None

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
        union = _with(state, offered, np.full(len(offered), typical))
        return union and contract(union, *EXCHANGING)

    def _contested(
        self, state: State, rival: State | None, monitor: Monitor, going: bool
    ) -> tuple[State, bool]:
        """The state, or what the rival grows into where that is better."""
        if not going or rival is None:
            return state, going
        rival, going = self._grow(maximise_jointly(rival, LOOSE, 3), monitor, TRIAL_GAIN, state.objective)
        collapsed = rival.at_noise_floor and not state.at_noise_floor
        # functions all but parallel can share their work in many ways that are all worth the same
        better = rival.objective > state.objective + SETTLED and not collapsed
        return (rival if better else state), going


def contract(state: State, rounds: int, power: float) -> State:
    """MacKay's updates, pruning what loses the contest between functions that do the same work.

    power > 1 over-relaxes the updates. While there are more functions than half the rows the noise stays as
    it is: estimated then, it would collapse. The caller keeps the better of before and after, so there is no
    safeguard here.
    """
    for _ in range(rounds):
        alpha, beta = mackay_step(state, power)
        if state.size > state.problem.quadratic.n / 2:
            beta = state.beta
        keep = np.flatnonzero(to_numpy(alpha) < HOPELESS * beta)
        if not len(keep):
            return state
        if len(keep) < state.size:
            state = state.problem.state(state.active.keep(keep), take(alpha, keep), beta)
            continue
        settled = float(np.abs(np.log(to_numpy(alpha / state.alpha))).max()) < 0.3 * power
        state = state.problem.state(state.active, alpha, beta)
        if settled:
            break
    return state


def _contests(
    problem: Problem, J: Indices, alpha: float, beta: float, rounds: int, power: float
) -> list[State]:
    """What is left of the functions J, all at one precision to begin with.

    A prior that punishes every function can end a contest before the useful ones have found their weight, so
    there is a second one under the uniform prior, whose survivors then come under the prior.
    """
    like = problem.quadratic.h
    outcomes = []
    for arena in (problem,) if problem.prior.flat else (problem, problem.relaxed()):
        try:
            start = arena.start(J, asfloat64(np.full(len(J), alpha), like=like), beta)
            left = contract(_distinct(start), rounds, power)
            if arena is not problem:
                left = maximise_jointly(problem.state(left.active, left.alpha, left.beta), LOOSE, 20)
            outcomes.append(left)
        except NotPositiveDefinite:
            continue
    return outcomes


def _distinct(state: State) -> State:
    """Without functions all but parallel to an earlier one: a contest between those never ends."""
    parallel = np.triu(np.abs(to_numpy(state.active.G)), 1) > 1 - PARALLEL
    keep = np.flatnonzero(~parallel.any(axis=0))
    return state if len(keep) == state.size else state.keep(keep)


def _added(scores: Scores, chosen: np.ndarray, tol: float) -> State | None:
    """The model with the chosen functions in: a batch competes, a single function gets Newton steps."""
    state = _with(scores.state, chosen, to_numpy(scores.alpha)[chosen])
    if state is None:
        return None
    if len(chosen) == 1 or tol < LOOSE:
        return maximise_jointly(state, tol, 4)
    try:
        return contract(state, *GROWING)
    except NotPositiveDefinite:
        return None


def _with(state: State, J: np.ndarray, alpha: np.ndarray) -> State | None:
    """The state with more functions; None where they cannot be told apart to working precision."""
    try:
        return state.extended(J, alpha)
    except NotPositiveDefinite:
        return None
