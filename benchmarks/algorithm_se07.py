"""SE07's algorithm 1 as printed, for comparison: it may keep functions that the objective is better without.

Its line 11 has a function in the model wherever q² > s and ℓ̂ turns at a finite α, whether or not ℓ̂ is
positive there; functions are visited at random and the noise is estimated anew after every tenth action. The
library's own solvers keep a function only where it raises the objective.
"""

from __future__ import annotations

import math

import numpy as np

from sparsebayes import Smoothness
from sparsebayes.posterior import Problem, State
from sparsebayes.solvers.base import Monitor, Solution, Solver, first_state
from sparsebayes.solvers.fixed_point import mackay_step
from sparsebayes.solvers.sequential import Table

NOISE_EVERY = 10  # actions, R of the algorithm
STILL = 1e-3  # change of log α, and of log σ², that is none


class TurningPoint(Smoothness):
    """The smoothness prior with the rule of line 11."""

    def resolve(self, n: float) -> TurningPoint:
        """The prior with c as a number."""
        return TurningPoint(super().resolve(n).c)

    def maximise(self, s: np.ndarray, q: np.ndarray, beta: float, unit: np.ndarray) -> np.ndarray:
        """The turning point, positive or not."""
        return self.turning_point(s, q, beta)


class AsPrinted(Solver):
    """Algorithm 1, until no function moves, comes in or goes out, and the noise stays."""

    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Random actions among those that change something; the others cost nothing."""
        state = first_state(problem) if start is None else start
        table, actions = Table(state), 0
        while monitor.record(table):
            target = table.target()
            candidates = np.flatnonzero(_moves(table, target) > STILL)
            if len(candidates):
                m = int(monitor.rng.choice(candidates))
                table.act(m, target[m])
                actions += 1
            if not len(candidates) or actions % NOISE_EVERY == 0 or table.broken:
                state = table.exact()
                beta = mackay_step(state)[1]
                still = not len(candidates) and abs(math.log(beta / state.beta)) < STILL
                state = problem.state(state.active, state.alpha, beta)
                if still:
                    return Solution(state, True)
                table = Table(state)
        return Solution(table.exact(), False)


def _moves(table: Table, target: np.ndarray) -> np.ndarray:
    """|Δ log α| of every function, ∞ for those that would come in or go out; the last one stays."""
    inside, wanted = np.isfinite(table.alpha), np.isfinite(target)
    moves = np.where(inside == wanted, 0.0, math.inf)
    stays = inside & wanted
    moves[stays] = np.abs(np.log(target[stays] / table.alpha[stays]))
    if table.size == 1 and not wanted[table.J[0]]:
        moves[table.J[0]] = 0.0
    return moves
