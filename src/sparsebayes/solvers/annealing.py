"""Noise annealing: a model is solved under much noise first, and followed as the noise falls.

A greedy solver that starts at the noise it is to end with adds, early on, many functions that look useful only
because much is left unexplained. Under a noise variance of a third of the target's only the largest functions
gain anything; solved there, and again from that solution at every step of a geometric sequence of lower noise
variances, a model changes its functions while they are still few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import State
from sparsebayes.core.solver import Solution, first_state

HIGHEST_NOISE, LOWEST_NOISE = 0.3, 1e-4  # of the mean square of t: where it begins, and ends for a collapsed estimate


def annealed(incumbent: State, steps: int, advance: Callable[[State], Solution]) -> State | None:
    """A state at the noise of `incumbent`, reached from the highest noise in `steps` geometric steps.

    advance : solves from the state that it is given, whose noise is held.
    None if the noise is high to begin with, a step does not converge, or functions cannot be told apart.
    """
    problem = incumbent.problem
    power = problem.quadratic.tt / problem.quadratic.n
    last = 1 / (LOWEST_NOISE * power) if incumbent.at_noise_floor else incumbent.beta
    first = 1 / (HIGHEST_NOISE * power)
    if not first < last:
        return None
    state: State | None = None
    try:
        for beta in np.geomspace(first, last, steps + 1)[:-1].tolist():
            held = replace(problem, noise=GaussianNoise(beta, estimate=False))
            solution = advance(held.state(state.active, state.alpha, beta) if state else first_state(held))
            state = solution.state
            if not solution.converged:
                return None
        return None if state is None else problem.state(state.active, state.alpha, last)
    except NotPositiveDefinite:
        return None


def better(rival: State, incumbent: State, least_gain: float) -> bool:
    """Whether a rival is to replace the incumbent; one with collapsed noise never does.

    At the floor of the noise the height of the objective says little: a model above the floor is preferred.
    """
    if rival.at_noise_floor != incumbent.at_noise_floor:
        return incumbent.at_noise_floor
    return rival.objective > incumbent.objective + least_gain
