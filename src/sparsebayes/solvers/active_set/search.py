"""The search for a higher maximum: large neighbourhoods, noise annealing.

With smooth kernels the evidence has very many local maxima, and adding, deleting or swapping single functions
leaves none of them. What does is to remove a group of functions that do the same work, and to regrow the model
with the noise precision β held too high: a rich model comes back, and is pruned when the noise is free again.
The better of before and after is kept. Where several functions of one kind do together what others would do
better, as splines that model a step and Haar wavelets that correct their errors, removing the group is needed
even at the noise that was found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite, column_squares, take, to_numpy
from sparsebayes._checks import is_number
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import State
from sparsebayes.solvers.active_set.moves import Moves
from sparsebayes.solvers.annealing import annealed, better
from sparsebayes.solvers.stages import Stage
from sparsebayes.solvers.walk import Walk


@dataclass(frozen=True)
class Sweep:
    """A pass over the model in which groups of related functions are removed and regrown, one after the other.

    Parameters
    ----------
    group : float
        Functions removed together: their number or, below 1, their share of the active ones.
    noise : float
        The noise precision β is held at this many times its estimate while the model is regrown.
    tries : float
        Most groups that are removed.
    """

    group: float
    noise: float = 1.0
    tries: float = math.inf

    def size(self, state: State) -> int:
        """The number of functions in a group of this model."""
        return max(1, round(self.group * state.size) if self.group < 1 else int(self.group))


@dataclass(frozen=True)
class Search:
    """What is done for a higher maximum than the first.

    Parameters
    ----------
    starts : tuple of float
        Each is the start of a model: the noise precision β is held at so many times its estimate while functions
        are first exchanged. The best of them goes on.
    sweeps : tuple of Sweep
        Passes over groups of functions.
    draws, patience : int, float
        Groups that are then drawn at random from the best model, to be removed and regrown; so many in a row that
        bring nothing end that.
    annealing : int
        With k > 0 the model is also sought by noise annealing in k steps.
    last : tuple of Sweep
        Passes that the best model goes through in the end.
    agreement : float
        Sweeps end when so many regrown models have come out as high as the model before them.
    seconds : float
        The search ends after so many seconds.
    few : int
        On a small problem all candidates are first pruned together; a model that then has at most so many functions
        is the solution or, if there are sweeps, is so if a second start leads to it as well.
    relaxed : bool
        Whether, with fewer rows than candidates and a prior that is not uniform, the model is also sought by deleting
        functions from the rich models of the uniform prior (see `active_set.relaxed`).
    """

    starts: tuple[float, ...] = (1.0,)
    sweeps: tuple[Sweep, ...] = ()
    draws: int = 0
    patience: float = math.inf
    annealing: int = 0
    last: tuple[Sweep, ...] = ()
    agreement: float = math.inf
    seconds: float = math.inf
    few: int = 0
    relaxed: bool = False


DRAWN = 0.7  # of the time of a search, until groups are no longer drawn at random
FAST = Search(few=8)
DEFAULT = Search(
    starts=(1.0, 1.7),
    sweeps=(Sweep(0.1, 1.5, tries=8), Sweep(0.1, 2.5, tries=3)),
    agreement=3,
    few=8,
    relaxed=True,
)
HIGH = Search(
    starts=DEFAULT.starts,
    sweeps=DEFAULT.sweeps,
    draws=20_000,
    patience=1500,
    annealing=10,
    last=tuple(Sweep(size) for size in (16, 8, 4, 2)),
    seconds=55.0,
    relaxed=True,
)
EFFORTS = {"fast": FAST, "default": DEFAULT, "high": HIGH}


def as_search(effort: object) -> Search:
    """The search that an effort stands for: a name, a number of seconds, or the search itself."""
    if isinstance(effort, Search):
        return effort
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    if is_number(effort) and float(effort) > 0:  # type: ignore[arg-type]
        return replace(HIGH, seconds=float(effort), draws=1_000_000, patience=math.inf)  # type: ignore[arg-type]
    raise ValueError(f"effort must be one of {[*EFFORTS]} or a number of seconds > 0, got {effort!r}.")


@dataclass
class LargeNeighbourhoods:
    """The search of one fit.

    search : what is to be done.  moves : the moves of the solver.  walk : what the models are reported to.
    began : when the fit began.  agreed : regrown models that came out as high as the model before them.
    """

    search: Search
    moves: Moves
    walk: Walk
    began: float
    agreed: int = 0

    def first(self, draft: State, noise: float | None = None) -> State:
        """Near the local maximum that a draft leads to: functions exchanged, first under less noise, and swapped.

        noise : β is first held at so many times its estimate; None for that of the first start.
        """
        moves, walk = self.moves, self.walk
        draft = self._enriched(draft, self.search.starts[0] if noise is None else noise)
        state = moves.exchange_all(draft, walk)
        state = moves.swap(state, walk) if moves.swaps_in(state) else state
        walk.tried(state)
        return state

    def best(self, state: State, draft: State) -> State:
        """The best model that the search finds from a local maximum and from the draft that led there."""
        for noise in self.search.starts[1:]:
            with self.walk.trial(state, counted=False):
                rival = self.first(draft, noise)
            state = self._better(state, rival)
            self.walk.note(f"started at {noise:g}β", len(np.setdiff1d(state.J, draft.J)), state)
        state = self._swept_by(state, self.search.sweeps)
        state = self._drawn(state)
        if self.search.annealing and not self._over():
            state = self._annealed(state)
        state = self._swept_by(state, self.search.last)
        return self._drawn(state, 1.0) if math.isinf(self.search.patience) else state  # until the time is over

    def _enriched(self, state: State, noise: float) -> State:
        """The state, its functions exchanged with β held at `noise` times its estimate, and pruned with it free."""
        if noise == 1 or not self._suits(state):
            return state
        moves, walk, settings = self.moves, self.walk, self.moves.settings
        try:
            with walk.trial(state, counted=False):
                rich = moves.exchange(self._grown(state, state, noise), walk)
                rich = maximise_jointly(rich.under(state.problem), settings.loose_trial, settings.steps_between_swaps)
                rich = moves.grow(rich, walk, settings.trial_gain, self._most(state))
        except NotPositiveDefinite:
            return state
        return state if rich.at_noise_floor else rich

    def _swept_by(self, state: State, sweeps: tuple[Sweep, ...]) -> State:
        """The state after these sweeps."""
        for sweep in sweeps:
            state = self._swept(state, sweep)
        return state

    def _over(self, share: float = 1.0) -> bool:
        """Whether no time is left for the search, or this share of it has passed."""
        return time.perf_counter() - self.began > share * self.search.seconds

    def _suits(self, state: State) -> bool:
        """Whether the model is one to search from: neither crowded nor with collapsed noise."""
        return not state.at_noise_floor and state.size <= self.moves.settings.crowded

    def _most(self, state: State) -> int:
        """Most functions of a model that is regrown: so many do not reproduce the target."""
        columns = len(state.active.J) / state.size
        return max(state.size, min(2 * self.moves.settings.crowded, int(state.problem.quadratic.n / (2 * columns))))

    def _annealed(self, state: State) -> State:
        """The state, or what noise annealing finds if that is better."""
        return self.walk.once("anneal", state.problem, lambda: self._after_annealing(state))

    def _after_annealing(self, state: State) -> State:
        moves, walk, settings = self.moves, self.walk, self.moves.settings
        with walk.trial(state, counted=False):
            rival = annealed(state, self.search.annealing, lambda start: moves.improve(start, walk))
            if rival is None:
                return state
            rival = maximise_jointly(rival, settings.loose, settings.first_steps)
            rival = moves.exchange(moves.grow(rival, walk, settings.trial_gain), walk)
            if abs(rival.objective - state.objective) < settings.close:
                state, rival = (moves.finish(each, walk).state for each in (state, rival))
        walk.tried(rival)
        state = self._better(state, rival)
        walk.note("annealed", self.search.annealing, state)
        return state

    def _swept(self, state: State, sweep: Sweep) -> State:
        """The state, or what it becomes when groups of functions are removed and regrown, one after the other.

        Each group is an active function and those related to it; the most useful function leads the first. A
        function that was in a group already leads none.
        """
        with self.walk.stage("sweep", state.problem) as stage:
            return self._of(stage, state, lambda: self._after_sweep(stage, state, sweep))

    def _of(self, stage: Stage, state: State, compute: Callable[[], State]) -> State:
        """What a stage of the search that begins at `state` computes, or computed before the fit was interrupted."""
        if not stage.finished:
            stage.finish([found := compute(), self.agreed])
            return found
        found, self.agreed = stage.result
        return found

    def _after_sweep(self, stage: Stage, state: State, sweep: Sweep) -> State:
        before, tried, count = state, set[int](), 0
        order = state.J[np.argsort(-to_numpy(state.keep_gain), kind="stable")]
        if stage.began:
            state, self.agreed, order, members, count = stage.values
            tried = set(members.tolist())
        for place, m in enumerate(order.tolist()):
            where, size = np.flatnonzero(state.J == m), sweep.size(state)
            if m in tried or not len(where) or state.size <= size or not self._suits(state):
                continue
            if count >= sweep.tries or self.agreed >= self.search.agreement or self._over():
                break
            group, count = related(state, int(where[0]), size), count + 1
            tried.update(state.J[group].tolist())
            state = self._better(state, self._regrown(state, group, sweep.noise))
            stage.save(state, self.agreed, order[place + 1 :], np.asarray(sorted(tried)), count)
        name = f"regrown by {sweep.size(state)} at {sweep.noise:g}β"
        self.walk.note(name, len(np.setdiff1d(state.J, before.J)), state)
        return state

    def _drawn(self, state: State, share: float = DRAWN) -> State:
        """The state, or what it becomes when groups drawn at random are removed and regrown.

        They are regrown at one to four times β.  share : of the time of the search.
        """
        with self.walk.stage("draw", state.problem) as stage:
            return self._of(stage, state, lambda: self._after_draws(stage, state, share))

    def _after_draws(self, stage: Stage, state: State, share: float) -> State:
        rng, fruitless, done, before = self.walk.rng, 0, 0, state
        if stage.began:
            state, self.agreed, fruitless, done = stage.values
        for taken in range(done + 1, self.search.draws + 1):
            if fruitless >= self.search.patience or self._over(share) or not self._suits(state) or state.size < 3:
                break
            group, noise = drawn_group(state, rng), 4 ** rng.uniform()
            following = self._better(state, self._regrown(state, group, noise, swapped=True))
            state, fruitless = following, fruitless + 1 if following is state else 0
            stage.save(state, self.agreed, fruitless, taken)
        if self.search.draws:
            self.walk.note("regrown at random", len(np.setdiff1d(state.J, before.J)), state)
        return state

    def _better(self, state: State, rival: State | None) -> State:
        """The state, or the rival if that is better."""
        settings = self.moves.settings
        if rival is None or not better(rival, state, settings.swap_gain):
            self.agreed += rival is not None and rival.objective > state.objective - settings.same
            return state
        self.agreed = 0
        return rival

    def _regrown(self, state: State, group: np.ndarray, noise: float, swapped: bool = False) -> State | None:
        """The model without the functions at these positions, regrown at `noise` times β, then pruned, exchanged.

        None if it is far from being better.
        """
        moves, walk, settings = self.moves, self.walk, self.moves.settings
        try:
            with walk.trial(state, counted=False):
                rich = self._grown(state.keep(np.delete(np.arange(state.size), group)), state, noise)
                rival = maximise_jointly(rich.under(state.problem), settings.loose_trial, settings.steps_between_swaps)
                if rival.objective < state.objective - settings.far_below:
                    return None
                rival = moves.exchange(moves.grow(rival, walk, settings.trial_gain, self._most(state)), walk)
                if swapped and rival.objective > state.objective - settings.close:
                    rival = moves.swap(rival, walk)
        except NotPositiveDefinite:
            return None
        walk.tried(rival)
        return rival

    def _grown(self, rest: State, incumbent: State, noise: float) -> State:
        """What `rest` grows into with the noise precision held at `noise` times that of the incumbent."""
        settings, problem = self.moves.settings, incumbent.problem
        beta = min(noise * incumbent.beta, problem.noise.beta_max)
        held = replace(problem, noise=GaussianNoise(beta, estimate=False))
        rich = held.state(rest.active, rest.alpha, beta)
        rich = maximise_jointly(rich, settings.loose_trial, settings.trial_steps)
        return self.moves.grow(rich, self.walk, settings.rich_gain, self._most(incumbent))


def related(state: State, position: int, size: int) -> np.ndarray:
    """The positions of the `size` functions most correlated with one in the posterior, itself among them.

    Σ_ij²/(Σ_ii Σ_jj), summed over the columns of both: the weights of functions that do the same work trade off
    against each other.
    """
    own = take(state.covariance, state.column_positions([position]))
    scale = take(state.variance, state.column_positions([position]))
    row = to_numpy(state.of_functions(column_squares(own / scale[:, None] ** 0.5) / state.variance)).copy()
    row[position] = np.inf
    return np.argsort(-row, kind="stable")[:size]


def drawn_group(state: State, rng: np.random.Generator) -> np.ndarray:
    """The positions of a group drawn at random, three to thirty per cent of the functions.

    It is one function and those related to it, or any functions, or functions of which those of little use are more
    likely. Functions are drawn by the rank of what they add to the objective: their order does not matter.
    """
    size, kind = max(1, round(rng.uniform(0.03, 0.3) * state.size)), rng.integers(4)
    ranked = np.argsort(to_numpy(state.keep_gain), kind="stable")
    if kind < 2:
        return related(state, int(ranked[rng.integers(state.size)]), size)
    late = np.ones(state.size) if kind == 2 else np.arange(1, state.size + 1)
    return ranked[np.argsort(rng.uniform(size=state.size) * late)[:size]]
