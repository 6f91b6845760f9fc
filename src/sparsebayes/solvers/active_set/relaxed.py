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

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import NotPositiveDefinite, asfloat64, row_squares, to_numpy
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
    strict : float
        A prior is strict enough if its threshold is at least 1 plus so many times log n: 1 is "bic", 2 is "ric".
    candidates : int
        With more candidates than this there is no such start: the EM updates cost the cube of their number,
    by_rows : int
        or with more than this if the updates can be made through the rows, of which there are few.
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
    largest : float
        Most columns per row of a model that such a start may lead to, for one output: almost as many as rows follow
        the noise.
    deleted : float
        Share of the functions that is deleted at a time, at least one function.
    gain : float
        Joint Newton steps end when the next is predicted to gain less.
    steps, strict_steps : int
        Most joint Newton steps after a deletion, and under the prior.
    """

    scarce: float = 0.9
    strict: float = 1.5
    candidates: int = 1000
    by_rows: int = 20_000
    noise: tuple[float, float] = (1e-2, 1e-5)
    levels: int = 4
    rounds: int = 10
    power: float = 2.0
    hopeless: float = 1e4
    rich: float = 1.0
    richest: float = 2.0
    largest: float = 0.7
    deleted: float = 0.1
    gain: float = 1e-2
    steps: int = 6
    strict_steps: int = 12


RELAXED = RelaxedSettings()


def relaxable(problem: Problem, settings: RelaxedSettings = RELAXED) -> bool:
    """Whether a problem has fewer rows than candidates, not too many of them, and a strict prior.

    Under a lenient one, such as "bic", rich models are higher themselves, and of no use. Groups and several outputs
    have more rows for each precision.
    """
    quadratic = problem.quadratic
    if problem.prior.flat or not quadratic.n < settings.scarce * quadratic.size:
        return False
    shared = quadratic.h.ndim == 2 or problem.size < quadratic.size
    if not shared and problem.prior.threshold < 1 + settings.strict * math.log(max(quadratic.n, 1.0)):
        return False
    return quadratic.size <= (settings.by_rows if _by_rows(problem) else settings.candidates)


def relaxed(problem: Problem) -> Problem:
    """The problem under the uniform prior."""
    return replace(problem, prior=problem.prior.relaxed())


def _by_rows(problem: Problem) -> bool:
    """Whether the posterior of all candidates can be had through the rows."""
    products, one = problem.quadratic.products, asfloat64([1.0], like=problem.quadratic.h)
    return products is not None and products.posterior([0], one, problem.noise.beta) is not None


def pruned_by_em(problem: Problem, settings: RelaxedSettings = RELAXED) -> State | None:
    """What EM leaves of all candidates under the uniform prior as the noise falls, at the last noise.

    At first all weights have the same variance, such that the functions have the power of the target. EM moves the
    precisions slowly, so that no function is deleted early on. A noise that is given is the last. None if the
    functions cannot be told apart.
    """
    quadratic, powers = problem.quadratic, np.geomspace(*settings.noise, settings.levels)
    first, power = quadratic.size / quadratic.tt, quadratic.tt / quadratic.n
    if not problem.noise.estimate:
        given = 1 / (problem.noise.beta * power)
        powers = np.geomspace(max(settings.noise[0], given), given, settings.levels)
    model = Precisions(relaxed(problem), np.arange(problem.size), np.full(problem.size, first))
    try:
        for noise in powers.tolist():
            for _ in range(settings.rounds):
                model = model.updated(1 / (noise * power), settings.power).below(settings.hopeless * first)
            model = model.smallest(settings.richest)
        model = model.smallest(settings.rich)
        held = replace(model.problem, noise=GaussianNoise(1 / (float(powers[-1]) * power), estimate=False))
        return held.start(model.J, asfloat64(model.alpha, like=quadratic.h), held.noise.beta)
    except NotPositiveDefinite:
        return None


@dataclass(frozen=True, eq=False)
class Precisions:
    """Functions J and their precisions α, both (S,), more of them perhaps than a `State` could have."""

    problem: Problem
    J: np.ndarray
    alpha: np.ndarray

    def updated(self, beta: float, power: float) -> Precisions:
        """After an EM update at noise precision β, moved `power` times as far in log α."""
        wanted = self._by_rows(beta)
        if wanted is None:
            held = replace(self.problem, noise=GaussianNoise(beta, estimate=False))
            wanted = to_numpy(em_step(held.start(self.J, asfloat64(self.alpha, like=held.quadratic.h), beta))[0])
        return replace(self, alpha=self.alpha * (wanted / self.alpha) ** power)

    def _by_rows(self, beta: float) -> np.ndarray | None:
        """d/(‖μ‖² + tr Σ) of every function [T01, A.3], through the rows; None if they cannot be had at once."""
        quadratic = self.problem.quadratic
        if quadratic.products is None:
            return None
        columns = np.asarray(self.problem.columns(self.J))
        owner = np.repeat(np.arange(len(self.J)), self._sizes)
        found = quadratic.products.posterior(columns, asfloat64(self.alpha[owner], like=quadratic.h), beta)
        if found is None:
            return None
        power = to_numpy(row_squares(found[0]) + found[1])
        return self._sizes / np.maximum(np.bincount(owner, power, len(self.J)), 1e-300)

    @property
    def _sizes(self) -> np.ndarray:
        """The number of columns of each function."""
        groups = getattr(self.problem, "groups", None)
        return np.ones(len(self.J), dtype=np.int64) if groups is None else groups.sizes[self.J]

    def below(self, hopeless: float) -> Precisions:
        """Without the functions whose α exceeds `hopeless`, unless all do."""
        keep = self.alpha < hopeless
        return replace(self, J=self.J[keep], alpha=self.alpha[keep]) if keep.any() else self

    def smallest(self, per_row: float) -> Precisions:
        """With at most so many columns per row, those with the smallest α."""
        order = np.argsort(self.alpha, kind="stable")
        most = per_row * self.problem.quadratic.n
        few = order[: max(1, int(np.searchsorted(np.cumsum(self._sizes[order]), most, side="right")))]
        return replace(self, J=self.J[np.sort(few)], alpha=self.alpha[np.sort(few)])


def collapsed(state: State) -> bool:
    """Whether the noise is at its floor because there are so many functions that they reproduce any target.

    Half as many functions as rows do not: if they leave no noise, then there is none.
    """
    return state.at_noise_floor and len(state.active.J) > state.problem.quadratic.n / 2


def crowded(state: State, settings: RelaxedSettings = RELAXED) -> bool:
    """Whether an estimated noise cannot be trusted, since there are almost as many columns as rows.

    T outputs leave T times as many residuals to estimate it from.
    """
    outputs = 1 if state.mean.ndim == 1 else int(state.mean.shape[1])
    most = (1 - (1 - settings.largest) / outputs) * state.problem.quadratic.n
    return state.problem.noise.estimate and len(state.active.J) > most


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
            if not crowded(rival, settings) and (best is None or higher(rival, best, 0.0)):
                best = rival
    except NotPositiveDefinite:  # what was found until then is a model none the less
        pass
    return best
