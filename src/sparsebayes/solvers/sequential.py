"""The fast sequential algorithm as published [TF03]: one function at a time, by the update formulae.

Each iteration picks one function and adds it, re-estimates its α, or deletes it; Σ, μ and the S and Q of all
M functions follow by rank-one updates [TF03, appendix A.2-A.4] and are recomputed from a Cholesky
factorisation when the noise changes, every `refresh` actions, and when rounding shows (an S_m ≤ 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.core.newton import polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver, first_state
from sparsebayes.solvers.active_set import ActiveSetSettings
from sparsebayes.solvers.annealing import annealed, better
from sparsebayes.solvers.fixed_point import mackay_step
from sparsebayes.solvers.stages import Stage
from sparsebayes.solvers.tables import GroupTable, Table, table_of
from sparsebayes.solvers.walk import Stopped, Walk

LOOSE = 1e-2  # in place of tol while the noise is still being lowered
SELECTIONS = ("best", "random", "next")


@dataclass
class Sequential(Solver):
    """The fast sequential algorithm of [TF03], one function at a time.

    Parameters
    ----------
    selection : {"best", "random", "next"}
        Which function is acted on next: the one whose action gains most, one at random, or each in turn.
    noise_every : int
        Actions between two updates of the noise. 1 is as printed; each update costs a factorisation, and on
        ill-conditioned bases an early one can hold the noise at a value too high for anything to be added.
    refresh : int
        Actions between two exact recomputations.
    polish : bool
        Whether to finish with joint Newton steps in (log α, log σ²).
    annealing : int
        With k > 0 the model is also sought by noise annealing, from a high noise variance lowered in k steps,
        and the better of the two is kept; two to five times the cost.
    """

    selection: str = "best"
    noise_every: int = 20
    refresh: int = 50
    polish: bool = True
    annealing: int = 0

    def check(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection of Sequential must be one of {SELECTIONS}, got {self.selection!r}.")
        for name, least in (("noise_every", 1), ("refresh", 1), ("annealing", 0)):
            require_whole(getattr(self, name), f"{name} of Sequential", least)

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """Act until every |Δ log α| inside is below tol and nothing outside would gain [TF03, 4.4]."""
        self.check()
        walk = Walk(monitor)
        return walk.once("solve", problem, lambda: self._solved(problem, walk, start))

    def _solved(self, problem: Problem, walk: Walk, start: State | None) -> Solution:
        try:
            state = self._settled(first_state(problem) if start is None else start, walk)
            if self.annealing and start is None:
                state = self._annealed(state, walk)
            return Solution(state, True)
        except Stopped as stopped:
            state = stopped.state.exact() if isinstance(stopped.state, Table | GroupTable) else stopped.state
            return Solution(polish(state) if self.polish else state, False)

    def _annealed(self, state: State, walk: Walk) -> State:
        """The state, or what noise annealing finds if that is better."""
        settings = ActiveSetSettings()
        with walk.trial(state):
            start = annealed(state, self.annealing, lambda start: Solution(self._run(start, walk, LOOSE), True))
            rival = state if start is None else self._settled(start, walk)
        state = rival if better(rival, state, settings.swap_gain) else state
        walk.note("annealed", self.annealing, state)
        return state

    def _settled(self, state: State, walk: Walk) -> State:
        """Actions and polishes in turn, until neither changes anything."""
        while True:
            state = self._run(state, walk, walk.tol)
            if not self.polish:
                return state
            state = polish(state)
            walk.note("polished", state.size, state)
            table = table_of(state)
            target = table.target()
            if _crawling(table, target, table.gains(target), walk.tol):
                return state

    def _run(self, state: State, walk: Walk, tol: float) -> State:
        """Actions until converged."""
        with walk.stage("act", state.problem) as stage:
            return stage.result if stage.finished else stage.finish(self._acted(stage, state, walk, tol))

    def _acted(self, stage: Stage, state: State, walk: Walk, tol: float) -> State:
        pointer = actions = 0
        if stage.began:
            state, pointer, actions = stage.values
        table = table_of(state)
        while True:
            walk.advance(table)
            target = table.target()
            gains = table.gains(target)
            if _converged(table, target, gains, tol) or (self.polish and _crawling(table, target, gains, tol)):
                state = _update_noise(table.exact())
                moved = abs(math.log(state.beta / table.beta)) > (1e-3 if self.polish else tol)
                table = table_of(state)
                stage.save(state, pointer, actions)
                if not moved:
                    walk.note("acted", actions, state)
                    return state
                continue
            m, pointer = self._select(gains, pointer, walk)
            table.act(m, target[m])
            actions += 1
            if table.broken or actions % self.refresh == 0 or actions % self.noise_every == 0:
                state = table.exact()
                state = _update_noise(state) if actions % self.noise_every == 0 else state
                table = table_of(state)
                stage.save(state, pointer, actions)

    def _select(self, gains: np.ndarray, pointer: int, walk: Walk) -> tuple[int, int]:
        """The function to act on next, and the one after which the next turn begins."""
        candidates = np.flatnonzero(gains > 0)
        if self.selection == "best" or not len(candidates):
            return int(np.argmax(gains)), pointer
        if self.selection == "random":
            return int(walk.rng.choice(candidates)), pointer
        later = candidates[candidates >= pointer]
        m = int(later[0] if len(later) else candidates[0])
        return m, m + 1


def _converged(table: Table | GroupTable, target: np.ndarray, gains: np.ndarray, tol: float) -> bool:
    """Whether every |Δ log α| inside is below tol or gains nothing, and no addition gains [TF03, 4.4]."""
    inside = target[table.J]
    if not np.isfinite(inside).all():
        return table.size == 1
    rounding = 1e-13 * (1 + abs(table.objective))
    outside = np.isfinite(target)
    outside[table.J] = False
    if gains[outside].max(initial=-np.inf) > max(tol**2, rounding):
        return False
    step = np.abs(np.log(inside / table.alpha[table.J]))
    return bool(((step < tol) | (gains[table.J] < rounding)).all())


def _crawling(table: Table | GroupTable, target: np.ndarray, gains: np.ndarray, tol: float) -> bool:
    """Whether only re-estimations of active functions remain, for almost no gain: a polish does them."""
    inside = np.zeros(len(target), dtype=bool)
    inside[table.J] = True
    stays = inside == np.isfinite(target)
    structural = gains[~stays].max(initial=-np.inf) > max(tol**2, 1e-13 * (1 + abs(table.objective)))
    return not structural and gains[inside].max() < 10 * tol


def _update_noise(state: State) -> State:
    """The noise update, halved in the logarithm until the objective does not fall."""
    if not state.problem.noise.estimate:
        return state
    beta = mackay_step(state)[1]
    for _ in range(20):
        following = state.moved(state.alpha, beta)
        if following.objective >= state.objective:
            return following
        beta = math.sqrt(beta * state.beta)
    return state
