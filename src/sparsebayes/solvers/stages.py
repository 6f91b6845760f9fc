"""Lowering the noise in stages, against greed.

A greedy solver that starts at the noise it is to end with adds, early on, many functions that look useful
only because much is left unexplained. Under a noise variance of a third of the target's only the largest
functions are worth anything; solved there, and again from that solution at every step of a geometric way
down, a model changes its functions while they are still few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import State
from sparsebayes.solvers.base import Solution, first_state

HIGHEST = 0.3  # of the mean square of t: the noise variance of the first stage
LOWEST = 1e-4  # of the mean square of t: where the stages end for an estimate that has collapsed
BETTER = 1e-3  # nats: functions all but parallel share their work in many ways that are worth the same


def lowered(standing: State, stages: int, advance: Callable[[State], Solution]) -> State | None:
    """A state at the noise of `standing`, reached from the highest noise in geometric stages.

    advance : solves from the state it is given, the noise held; it has converged where it may go on.
    None where the noise is high to begin with, or the functions cannot be told apart on the way.
    """
    problem = standing.problem
    power = problem.quadratic.tt / problem.quadratic.n
    last = 1 / (LOWEST * power) if standing.at_noise_floor else standing.beta
    first = 1 / (HIGHEST * power)
    if not first < last:
        return None
    state: State | None = None
    try:
        for beta in np.geomspace(first, last, stages + 1)[:-1].tolist():
            held = replace(problem, noise=Gaussian(beta, estimate=False))
            start = held.state(state.active, state.alpha, beta) if state else first_state(held)
            solution = advance(start)
            state = solution.state
            if not solution.converged:
                return None
        return None if state is None else problem.state(state.active, state.alpha, last)
    except NotPositiveDefinite:
        return None


def better(rival: State, standing: State) -> bool:
    """Whether a rival is to replace the model that stands; one with collapsed noise never does.

    At the floor of the noise the height of the objective says little: a model above it is preferred.
    """
    if rival.at_noise_floor != standing.at_noise_floor:
        return standing.at_noise_floor
    return rival.objective > standing.objective + BETTER
