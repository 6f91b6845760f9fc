"""The search by working sets with rows that stay where they are.

A scoring pass over all candidates goes to the rows: every part scores its own rows as candidates, through K ≈ LLᵀ, and
returns the best of them with their points. What is best does not depend on how the rows are divided: it is the one
addition for each active function, and the substitutes for it, that a scoring pass in memory finds. Working sets,
samples and shortlists are scored on the client, which knows their points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._sketches import hashes
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.core.units import Units
from sparsebayes.distributed.kernel_statistics import KnownPoints, RemoteColumns, quadratic_of
from sparsebayes.distributed.points import Points
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.large_kernels.scoring import CandidateBatch, best_of, collected, score_block
from sparsebayes.large_kernels.working_set import NONE, Model, WorkingSetSearch
from sparsebayes.solvers.stages import Values, once


class Scorer(NamedTuple):
    """What a part needs to score its rows: the model, and the statistics through L.

    statistics : without the functions that the client knows.  L : (r, S) of the active functions.
    points : (S, d) of the active functions.  alpha : (S,) in the user's units.
    barred : hash values of points that are not to be scored.
    number : substitutes for each active function.  elements : active functions times rows that are scored together.
    """

    statistics: Any
    L: np.ndarray
    points: np.ndarray
    alpha: np.ndarray
    beta: float
    prior: Prior
    noise: GaussianNoise
    barred: np.ndarray
    number: int
    elements: int


@dataclass(frozen=True, eq=False)
class Scored:
    """The best of the rows that were scored; adds.

    batch : its functions are hash values of their points.  names, points : (k,) and (k, d) of all functions in it.
    number : substitutes for each active function.
    """

    batch: CandidateBatch
    names: np.ndarray
    points: np.ndarray
    number: int

    @classmethod
    def of(cls, batch: CandidateBatch, names: np.ndarray, points: np.ndarray, number: int) -> Scored:
        """A batch with the points of its functions alone."""
        found = np.unique(np.concatenate([batch.additions, batch.substitutes.ravel()]))
        order = np.argsort(names, kind="stable")
        place = order[np.searchsorted(names[order], found)]
        return cls(batch, found, points[place], number)

    def __add__(self, other: Scored) -> Scored:
        """The best of both, functions that are in both once."""
        mine, theirs = self.batch, other.batch
        repeated = (theirs.substitutes[:, None] == mine.substitutes).any(axis=1)
        theirs = replace(theirs, ratio=np.where(repeated, 0.0, theirs.ratio))
        batch = best_of([mine, theirs], self.number, one_each=True)
        names, points = np.concatenate([self.names, other.names]), np.concatenate([self.points, other.points])
        return Scored.of(batch, names, points, self.number)

    def known(self, known: KnownPoints) -> CandidateBatch:
        """The batch with functions that the client knows from now on."""
        numbers = known.numbers_of(self.points)
        additions, substitutes = (
            numbers[np.searchsorted(self.names, each)] for each in (self.batch.additions, self.batch.substitutes)
        )
        return replace(self.batch, additions=additions, substitutes=substitutes)


class KeptScores(Values):
    """The best of rows that were scored, as a checkpoint keeps it."""

    def pack(self, value: Any) -> Any:
        """Its fields, and those of its batch."""
        return vars(value) | {"batch": vars(value.batch)} if isinstance(value, Scored) else super().pack(value)

    def unpack(self, tree: Any, known: dict[Any, Any]) -> Any:
        """The best of the rows."""
        if not isinstance(tree, dict):
            return super().unpack(tree, known)
        return Scored(**(tree | {"batch": CandidateBatch(**tree["batch"])}))


SCORES = KeptScores()


def scored_blocks(
    X: np.ndarray, size: int, state_of: Callable[[np.ndarray], State], active: np.ndarray, number: int
) -> Scored:
    """The best of candidates centred at rows X (n, d), which count once if they repeat one another.

    size : rows that are scored together.  state_of : rows -> the model, in a problem of its functions and of one
    function at each row, once for every output.  active : (S, d) points of the functions of the model.
    number : substitutes for each of them.
    """
    X = X[np.unique(hashes(X), return_index=True)[1]]
    found = []
    for rows in (X[start : start + size] for start in range(0, len(X), size)):
        state = state_of(rows)
        outputs = (state.problem.size - len(active)) // len(rows)
        points = np.concatenate([active, *[rows] * outputs])
        names = hashes(points)
        (batch,) = collected([score_block(state, names, number)])
        found.append(Scored.of(batch, names, points, number))
    return sum_of(found)


def _scored(points: Points, scorer: Scorer) -> Scored:
    """The best of the rows of a part."""
    width = max(len(scorer.alpha), scorer.statistics.landmarks.rank)
    size = max(1, scorer.elements // max(width, 1))
    return scored_blocks(points.X, size, lambda X: _state_of(X, scorer), scorer.points, scorer.number)


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
    """The search through all rows as candidates."""

    @property
    def every(self) -> Any:
        """All candidates: the rows, wherever they are."""
        return range(self._columns.points.overview.rows)

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
            points=known.X[model.functions],
            alpha=model.state.alpha * model.units.unit[model.state.J],
            beta=model.state.beta,
            prior=self.prior,
            noise=self.noise,
            barred=hashes(known.X[np.append(model.functions, skipped)]),
            number=self.remembered,
            elements=self.settings.block_elements,
        )
        rows = self._columns.points.rows
        found: Scored = once(self.monitor, "pass", SCORES, lambda: rows.reduce("score", _scored, sum_of, scorer))
        self.monitor.note("scored", len(candidates), model.state)
        return found.known(known)
