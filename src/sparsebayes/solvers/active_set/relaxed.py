"""A start for fewer rows than candidates: the rich models of the uniform prior, deleted from under the strict one.

A prior that penalises every function has a low local maximum with almost no functions and much noise: while much is
unexplained no single function gains more than its penalty, although many together would. The uniform prior has no
such barrier. With fewer rows than candidates its models are too rich, with almost as many functions as rows, but the
functions that are needed are among them. So

1. **relax**: find rich models under the uniform prior, by the solver itself and by the EM updates from the full
   basis while the noise falls;
2. **delete**: delete the functions that add least, some at a time and α estimated again after each, and bring every
   model on the way under the prior;
3. keep the model with the highest objective under the prior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite, asfloat64, to_numpy
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.solvers.active_set.pruning import without_least
from sparsebayes.solvers.fixed_point import em_step


@dataclass(frozen=True)
class RelaxedSettings:
    """Settings of the start from rich models. Gains are in nats.

    Parameters
    ----------
    scarce : float
        Rows per candidate below which there is such a start. Kernels have one row per candidate, and have none.
    candidates : int
        With more candidates than this there is no such start: the EM updates cost the cube of their number.
    noise : tuple (float, float)
        Noise variances, relative to the mean square of the target, that EM begins and ends with.
    levels, rounds : int
        Noise variances in geometric steps, and updates at each.
    power : float
        By how much the EM updates are over-relaxed: the power of the change of α.
    hopeless : float
        A function whose α exceeds this many times the first is pruned.
    rich, richest : float
        Most functions per row at the end, and after the updates at one noise: of more, those with the smallest α.
    deleted : float
        Share of the functions that is deleted at a time, at least one function.
    gain : float
        Joint Newton steps end when the next is predicted to gain less.
    steps, strict_steps : int
        Most joint Newton steps after a deletion, and under the prior.
    """

    scarce: float = 0.9
    candidates: int = 1000
    noise: tuple[float, float] = (1e-2, 1e-5)
    levels: int = 4
    rounds: int = 10
    power: float = 2.0
    hopeless: float = 1e4
    rich: float = 1.0
    richest: float = 2.0
    deleted: float = 0.1
    gain: float = 1e-2
    steps: int = 6
    strict_steps: int = 12


RELAXED = RelaxedSettings()


def relaxable(problem: Problem, settings: RelaxedSettings = RELAXED) -> bool:
    """Whether a problem has fewer rows than candidates, not too many of them, a prior that is not uniform, and a
    noise to estimate.
    """
    quadratic = problem.quadratic
    scarce = quadratic.n < settings.scarce * quadratic.size and quadratic.size <= settings.candidates
    return bool(scarce and problem.noise.estimate and not problem.prior.flat)


def relaxed(problem: Problem) -> Problem:
    """The problem under the uniform prior."""
    return replace(problem, prior=problem.prior.relaxed())


def pruned_by_em(problem: Problem, settings: RelaxedSettings = RELAXED) -> State | None:
    """What EM leaves of all candidates under the uniform prior as the noise falls, at the last noise.

    At first all weights have the same variance, such that the functions have the power of the target. EM moves the
    precisions slowly, so that no function is deleted early on. None if they cannot be told apart.
    """
    quadratic = problem.quadratic
    first = quadratic.size / quadratic.tt
    alpha = asfloat64(np.full(problem.size, first), like=quadratic.h)
    state: State | None = None
    try:
        for noise in np.geomspace(*settings.noise, settings.levels).tolist():
            beta = quadratic.n / (noise * quadratic.tt)
            held = replace(relaxed(problem), noise=GaussianNoise(beta, estimate=False))
            start = state.under(held) if state else held.start(np.arange(problem.size), alpha, beta)
            state = most_relevant(_updated(start, settings.hopeless * first, settings), settings.richest)
        return state and most_relevant(state, settings.rich)
    except NotPositiveDefinite:
        return None


def _updated(state: State, hopeless: float, settings: RelaxedSettings) -> State:
    """The state after over-relaxed EM updates, without the functions whose α exceeds `hopeless`."""
    for _ in range(settings.rounds):
        alpha = state.alpha * (em_step(state)[0] / state.alpha) ** settings.power
        keep = np.flatnonzero(to_numpy(alpha) < hopeless)
        if not len(keep):
            break
        state = state.keep(keep, alpha)
    return state


def most_relevant(state: State, per_row: float) -> State:
    """The state with at most so many columns per row, those with the smallest α."""
    most = max(1, int(per_row * state.problem.quadratic.n * state.size / len(state.active.J)))
    if state.size <= most:
        return state
    return state.keep(np.sort(np.argsort(to_numpy(state.alpha), kind="stable")[:most]))


def collapsed(state: State) -> bool:
    """Whether the noise is at its floor because there are so many functions that they reproduce any target.

    Half as many functions as rows do not: if they leave no noise, then there is none.
    """
    return state.at_noise_floor and len(state.active.J) > state.problem.quadratic.n / 2


def higher(rival: State, incumbent: State, least_gain: float) -> bool:
    """Whether a rival is to replace the incumbent; one with collapsed noise never does."""
    if collapsed(rival) != collapsed(incumbent):
        return collapsed(incumbent)
    return rival.objective > incumbent.objective + least_gain


def deletions(state: State, settings: RelaxedSettings = RELAXED) -> Iterator[State]:
    """The state, and what the deletion of the functions that add least leaves, down to one function."""
    yield state
    while state.size > 1:
        number = max(1, int(settings.deleted * state.size))
        state = maximise_jointly(without_least(state, number), settings.gain, settings.steps)
        yield state


def best_of_deletions(rich: State, problem: Problem, settings: RelaxedSettings = RELAXED) -> State | None:
    """The best model under the prior of the problem among those that deletions from a rich model lead to."""
    best = None
    try:
        for state in deletions(rich, settings):
            rival = maximise_jointly(state.under(problem), settings.gain, settings.strict_steps)
            if best is None or higher(rival, best, 0.0):
                best = rival
    except NotPositiveDefinite:  # what was found until then is a model none the less
        pass
    return best
