"""The search by working sets with rows that stay where they are.

A scoring pass over all candidates goes to the rows: every part scores its own rows as candidates, through K ≈ LLᵀ, and
returns the best of them with their points. Working sets, samples and shortlists are scored on the client, which knows
their points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.core.units import Units
from sparsebayes.distributed.kernel_statistics import RemoteColumns, quadratic_of
from sparsebayes.distributed.points import Points
from sparsebayes.distributed.settings import DISTRIBUTED
from sparsebayes.distributed.sketches import hashes
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.large_kernels.scoring import CandidateBatch
from sparsebayes.large_kernels.working_set import NONE, Model, WorkingSetSearch
from sparsebayes.solvers.active_set.exchange import Removals, best_in_each_row, swaps_into


class Scorer(NamedTuple):
    """What a part needs to score its rows: the model, and the statistics through L.

    statistics : without the functions that the client knows.  L : (r, S) of the active functions.
    alpha : (S,) in the user's units.  barred : hash values of points that are not to be scored.
    """

    statistics: Any
    L: np.ndarray
    alpha: np.ndarray
    beta: float
    prior: Prior
    noise: GaussianNoise
    barred: np.ndarray
    elements: int


@dataclass(frozen=True, eq=False)
class Scored:
    """The best of the rows that were scored, by their points; adds.

    gain, theta, swap : the largest of all rows.
    predicted, additions : (S,) and (S, d), the best to add of those related to each active function.
    ratio, substitutes : (k, S) and (k, S, d), the best in place of each active function, and Q²/S of each then.
    """

    gain: float
    theta: float
    swap: float
    predicted: np.ndarray
    additions: np.ndarray
    ratio: np.ndarray
    substitutes: np.ndarray

    def __add__(self, other: Scored) -> Scored:
        """The best of both; of two that are equal the one with the smaller point, so that no order matters."""
        better = _first(-self.predicted, self.additions, -other.predicted, other.additions)
        ratio = np.concatenate([self.ratio, other.ratio])
        points = np.concatenate([self.substitutes, other.substitutes])
        order = np.lexsort((points[..., 0], -ratio), axis=0)[: DISTRIBUTED.remembered]
        return Scored(
            gain=max(self.gain, other.gain),
            theta=max(self.theta, other.theta),
            swap=max(self.swap, other.swap),
            predicted=np.where(better, self.predicted, other.predicted),
            additions=np.where(better[:, None], self.additions, other.additions),
            ratio=np.take_along_axis(ratio, order, axis=0),
            substitutes=np.take_along_axis(points, order[..., None], axis=0),
        )


def _first(a: np.ndarray, x: np.ndarray, b: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether (a, first coordinate of x) comes before (b, first coordinate of y), row by row."""
    return (a < b) | ((a == b) & (x[:, 0] <= y[:, 0]))


def _scored(points: Points, scorer: Scorer) -> Scored:
    """The best of the rows of a part, a block of bounded size at a time."""
    width = max(len(scorer.alpha), scorer.statistics.landmarks.rank)
    size = max(1, scorer.elements // max(width, 1))
    blocks = [points.X[start : start + size] for start in range(0, len(points.X), size)]
    return sum_of([_scored_block(X, scorer) for X in blocks])


def _scored_block(X: np.ndarray, scorer: Scorer) -> Scored:
    """The best of some rows X (n, d)."""
    return best_of_block(_state_of(X, scorer), X)


def best_of_block(state: State, X: np.ndarray) -> Scored:
    """The best of candidates centred at rows X (n, d).

    state : the model, in a problem of its functions and of one function at each row, once for every output.
    """
    first = state.size
    without = Removals(state)
    related = np.argmax(without.S[:, first:], axis=0)
    ratio = without.ratio()
    number = min(DISTRIBUTED.remembered, ratio.shape[1] - first)
    substitutes, values = best_in_each_row(ratio, number)
    swaps = swaps_into(substitutes[0], without).gain
    gain = state.scores.gain[first:]
    predicted, best = np.full(first, -np.inf), np.zeros(first, dtype=np.int64)
    order = np.argsort(gain, kind="stable")
    predicted[related[order]], best[related[order]] = gain[order], order  # later ones, with a larger gain, overwrite
    return Scored(
        gain=float(gain.max()),
        theta=float(state.scores.theta[first:].max()),
        swap=float(swaps.max()),
        predicted=predicted,
        additions=X[best % len(X)],
        ratio=values,
        substitutes=X[np.maximum(substitutes - first, 0) % len(X)],
    )


def _state_of(X: np.ndarray, scorer: Scorer) -> State:
    """The model in the problem of the active functions and those centred at X, with the rows J of G alone."""
    statistics, size = scorer.statistics, len(scorer.alpha)
    L = np.concatenate([scorer.L, statistics.landmarks.at(X)], axis=1)
    norms = statistics.norms_at(L)
    barred = np.isin(hashes(X), scorer.barred) | (norms[size:] <= 0)
    norms[size:][barred] = np.inf
    units: Units = statistics.units.with_columns(np.arange(L.shape[1]), norms, statistics.middle @ L)
    G = ((statistics.C @ scorer.L) / norms[:size]).T @ L / norms
    quadratic = quadratic_of(units, statistics.tt, statistics.c @ L / norms, G)
    problem = Problem(quadratic, scorer.prior, scorer.noise, scorer.prior.units(units.unit, units.kept))
    return problem.start(np.arange(size), scorer.alpha / units.unit[:size], scorer.beta)


@dataclass(frozen=True)
class RemoteSearch(WorkingSetSearch):
    """The search through all rows as candidates.

    sampled : numbers of the known functions that are scored while the model is still rough.
    """

    sampled: np.ndarray = field(kw_only=True)

    @property
    def every(self) -> Any:
        """All candidates: the rows, wherever they are."""
        return range(self._columns.points.overview.rows)

    @property
    def sample(self) -> np.ndarray:
        """A sample of the candidates, which the client knows."""
        return self.sampled

    @property
    def _columns(self) -> RemoteColumns:
        columns: Any = self.columns
        return columns

    def score(self, model: Model, candidates: Any, skipped: np.ndarray = NONE) -> CandidateBatch:
        """A scoring pass: over all rows, where they are, or over functions that the client knows."""
        if not isinstance(candidates, range):
            return super().score(model, candidates, skipped)
        scored: Any = self.scored
        known = self._columns.known
        scorer = Scorer(
            statistics=scored.portable(),
            L=scored.L[:, model.functions],
            alpha=model.state.alpha * model.units.unit[model.state.J],
            beta=model.state.beta,
            prior=self.prior,
            noise=self.noise,
            barred=hashes(known.X[np.append(model.functions, skipped)]),
            elements=self.settings.block_elements,
        )
        found: Scored = self._columns.points.rows.reduce("score", _scored, sum_of, scorer)
        self.monitor.note("scored", len(candidates), model.state)
        return self._batch(found)

    def _batch(self, found: Scored) -> CandidateBatch:
        """What was found, as functions that the client knows from now on."""
        known, (k, S, d) = self._columns.known, found.substitutes.shape
        gaining = np.flatnonzero(found.predicted > 0)
        gaining = gaining[np.argsort(-found.predicted[gaining], kind="stable")]
        return CandidateBatch(
            gain=found.gain,
            theta=found.theta,
            swap=found.swap,
            additions=known.numbers_of(found.additions[gaining]),
            predicted=found.predicted[gaining],
            substitutes=known.numbers_of(found.substitutes.reshape(k * S, d)).reshape(k, S),
            ratio=found.ratio,
        )
