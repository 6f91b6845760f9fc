"""Searches for dictionaries whose parts can do each other's work: noise annealing, and regrowing groups.

A greedy solver that starts at the noise it is to end with adds, early on, many functions that look useful only
because much is left unexplained. Under a noise variance of a third of the target's only the largest functions
gain anything; solved there, and again from that solution at every step of a geometric sequence of lower noise
variances, a model changes its functions while they are still few.

A swap exchanges one function for one other. Where several do together what several others would do better, as
splines that model a step and Haar wavelets that correct their errors, every single exchange is a loss, and only
removing the whole group leads to a better model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite, to_numpy
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import State
from sparsebayes.core.solver import Solution, first_state
from sparsebayes.solvers.active_set.settings import ActiveSetSettings


def annealed(
    incumbent: State, steps: int, advance: Callable[[State], Solution], settings: ActiveSetSettings
) -> State | None:
    """A state at the noise of `incumbent`, reached from the highest noise in `steps` geometric steps.

    advance : solves from the state that it is given, whose noise is held.
    None if the noise is high to begin with, a step does not converge, or functions cannot be told apart.
    """
    problem = incumbent.problem
    power = problem.quadratic.tt / problem.quadratic.n
    last = 1 / (settings.lowest_noise * power) if incumbent.at_noise_floor else incumbent.beta
    first = 1 / (settings.highest_noise * power)
    if not first < last:
        return None
    state: State | None = None
    try:
        for beta in np.geomspace(first, last, steps + 1)[:-1].tolist():
            held = replace(problem, noise=GaussianNoise(beta, estimate=False))
            solution = advance(State(held, state.active, state.alpha, beta) if state else first_state(held))
            state = solution.state
            if not solution.converged:
                return None
        return None if state is None else State(problem, state.active, state.alpha, last)
    except NotPositiveDefinite:
        return None


def better(rival: State, incumbent: State, least_gain: float) -> bool:
    """Whether a rival is to replace the incumbent; one with collapsed noise never does.

    At the floor of the noise the height of the objective says little: a model above the floor is preferred.
    """
    if rival.at_noise_floor != incumbent.at_noise_floor:
        return incumbent.at_noise_floor
    return rival.objective > incumbent.objective + least_gain


def sweep_groups(state: State, size: int, regrow: Callable[[State, State], State], least_gain: float) -> State:
    """Every active function, the least useful first, is removed with the size − 1 functions closest to it.

    regrow : (what is left, the incumbent) -> the model grown again. It stays if it is better. A function that
    was in a group already does not lead one of its own.
    """
    tried: set[int] = set()
    for m in state.J[np.argsort(to_numpy(state.keep_gain), kind="stable")].tolist():
        where = np.flatnonzero(state.J == m)
        if m in tried or not len(where) or state.size <= size:
            continue
        group = related(state, int(where[0]), size)
        tried.update(state.J[group].tolist())
        rival = regrow(state.keep(np.delete(np.arange(state.size), group)), state)
        if better(rival, state, least_gain):
            state, tried = rival, set()
    return state


def related(state: State, position: int, size: int) -> np.ndarray:
    """The positions of the `size` functions most correlated with one in the posterior, itself among them.

    |Σ_ij|/√(Σ_ii Σ_jj): the weights of functions that do the same work trade off against each other.
    """
    row = np.abs(to_numpy(state.covariance[position, :])) / np.sqrt(to_numpy(state.variance))
    row[position] = np.inf
    return np.argsort(-row, kind="stable")[:size]
