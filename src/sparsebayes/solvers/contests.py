"""Contests: MacKay's updates on a set of functions small enough to be cheap, until the losers are gone."""

from __future__ import annotations

import numpy as np

from sparsebayes._array import Indices, NotPositiveDefinite, asfloat64, take, to_numpy
from sparsebayes.posterior import Problem, State
from sparsebayes.solvers.fixed_point import mackay_step
from sparsebayes.solvers.newton import maximise_jointly

LOOSE = 1e-2  # nats: joint Newton steps between additions stop when the next promises less
PARALLEL = 1e-7  # 1 − |cosine| of two functions below which only the first enters a contest
HOPELESS = 1.0  # α/β beyond which a function explains too little to stay in a contest


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


def contracted(state: State, rounds: int, power: float) -> State | None:
    """The outcome of a contest; None where its functions cannot be told apart to working precision."""
    try:
        return contract(state, rounds, power)
    except NotPositiveDefinite:
        return None


def joined(state: State, J: np.ndarray, alpha: np.ndarray) -> State | None:
    """The state with more functions; None where they cannot be told apart to working precision."""
    try:
        return state.extended(J, alpha)
    except NotPositiveDefinite:
        return None


def contests(
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
