"""Training rows as points of a kernel machine, and what is known of all of them after the first pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._sketches import SmallestKeys, hashes, uniform
from sparsebayes.distributed.dask_rows import DaskRows, Part, starts_of
from sparsebayes.distributed.triangles import CheckedPart, NoisyChunk, sum_of
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.triangle import Triangle


class Points(NamedTuple):
    """Rows of positive weight: X (n, d), t (n,), counts (n,), and their numbers among all rows, (n,)."""

    X: np.ndarray
    t: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class AsPoints:
    """Turns a part as it came into `Points`; None if no row counts.

    check : of the rows.  starts : the number of rows before each part.  factor : of the weights.
    """

    check: CheckedPart
    starts: tuple[int, ...] | None = None
    factor: float = 1.0

    def __call__(self, part: Part) -> Points | None:
        """The rows of a part that count."""
        chunk = self.check(part)
        if chunk is None:
            return None
        chunk = chunk.rows if isinstance(chunk, NoisyChunk) else chunk
        counts = np.ones(len(chunk.t)) if chunk.weights is None else chunk.weights
        start = max(part.start, 0) if self.starts is None else self.starts[part.number]
        kept = np.flatnonzero(counts > 0)
        if not len(kept):
            return None
        return Points(chunk.Phi[kept], chunk.t[kept], self.factor * counts[kept], start + kept)


@dataclass(frozen=True, eq=False)
class Overview:
    """What is known of all rows after one pass; overviews add.

    triangle : of [X t], None if no row counts.  low, high : (d,) the range of X.  sizes : rows of each part.
    """

    triangle: Triangle | None
    low: np.ndarray
    high: np.ndarray
    sizes: dict[int, int]

    def __add__(self, other: Overview) -> Overview:
        """What is known of both sets of rows."""
        if self.triangle is None or other.triangle is None:
            triangle = self.triangle or other.triangle
        else:
            triangle = self.triangle + other.triangle
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Overview(triangle, low, high, self.sizes | other.sizes)

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return 0 if self.triangle is None else self.triangle.rows

    @property
    def constant(self) -> float | None:
        """The value that all targets have; None if they differ."""
        return None if self.triangle is None else self.triangle.constant

    @property
    def starts(self) -> tuple[int, ...]:
        """How many rows come before each part."""
        return starts_of(self.sizes)

    @property
    def alike(self) -> np.ndarray:
        """Two rows (2, d) with the mean and the variance that each column of X has over all rows."""
        assert self.triangle is not None
        d = len(self.low)
        means = (self.triangle.origin + self.triangle.moments.means)[:d]
        spread = np.sqrt(np.sum(self.triangle.R[:, :d] ** 2, axis=0) / self.triangle.n)
        return np.stack([means - spread, means + spread])


@dataclass(frozen=True)
class _Looks:
    """The pass that makes an overview.

    check : of the rows.
    """

    check: CheckedPart

    def __call__(self, part: Part) -> Overview:
        size = int(part.X.shape[0])
        points = AsPoints(self.check)(part) if size else None
        d = self.check.width
        if points is None:
            return Overview(None, np.full(d, np.inf), np.full(d, -np.inf), {part.number: size})
        outputs = 1 if points.t.ndim == 1 else points.t.shape[1]
        triangle = Triangle.of([Chunk(points.X, points.t, points.counts)], outputs=outputs)
        return Overview(triangle, points.X.min(axis=0), points.X.max(axis=0), {part.number: size})


@dataclass(frozen=True, eq=False)
class PointRows:
    """Training rows of a kernel machine, which stay where they are.

    given : the rows as they came.  rows : passes over them as `Points`.  overview : what is known of all of them.
    """

    given: DaskRows
    rows: DaskRows
    overview: Overview

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, check: Any, variances: Any = None, watch: Any = None) -> PointRows:
        """The rows of collections, after one pass.

        Parameters
        ----------
        X : dask array of shape (N, d) or dask dataframe
            Inputs.
        y, sample_weight, variances : dask array, dask series, array-like of shape (N,), or None
            Targets (or (N, T) of several outputs), weights, and known noise variances.
        check : callable
            A block of X as it came -> the block as a finite float64 matrix.
        watch : PassWatch, optional
            What follows the passes.
        """
        given = DaskRows.of(X, y, sample_weight, variances, watch)
        checked = CheckedPart(check, given.shape[1])
        overview = given.reduce("overview", _Looks(checked), sum_of)
        triangle = overview.triangle
        factor = 1.0 if triangle is None else triangle.count_factor
        if triangle is not None:
            overview = replace(overview, triangle=triangle.as_counts())
        return cls(given, given.prepared(AsPoints(checked, overview.starts, factor)), overview)

    def sample(self, most: int, seed: int = 0) -> Points:
        """A sample of the rows, at most so many, by their contents; in the order of their numbers."""
        found = self.rows.reduce("sample", _sampled, sum_of, most, seed).rows
        found = found[np.argsort(found[:, -1], kind="stable")]
        return Points(found[:, :-3], found[:, -3], found[:, -2], found[:, -1].astype(np.int64))


def distinct_points(rows: DaskRows, most: int, seed: int) -> np.ndarray:
    """At most so many distinct points, drawn by hash values, (k, d): by a pass over rows that have X."""
    return rows.reduce("sample", _distinct, sum_of, most, seed).rows


def put_together(parts: dict[int, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The rows of parts, by their numbers, as they came and in their order; None for what was not given."""
    columns = list(zip(*(parts[number] for number in sorted(parts)), strict=True))
    return tuple(None if each[0] is None else _together(each) for each in columns)


def first_rows(rows: DaskRows, X: np.ndarray) -> np.ndarray:
    """The number of the first row that is equal to each row of X, (k,), by a pass over rows that have X and numbers."""
    return rows.reduce("locate", _located, _least, hashes(X))


def _sampled(points: Points, most: int, seed: int) -> SmallestKeys:
    """The rows of a part with the smallest hash values: [X t counts number]."""
    table = np.column_stack([points.X, points.t, points.counts, points.numbers.astype(np.float64)])
    return SmallestKeys.of(uniform(table[:, :-2], seed), table, most)


def _distinct(points: Any, most: int, seed: int) -> SmallestKeys:
    """The distinct points of a part with the smallest hash values."""
    keys = uniform(points.X, seed)
    return SmallestKeys.of(keys, points.X, most, identity=keys)


def gathered(part: Part) -> dict[int, tuple[Any, ...]]:
    """X, y, weights and noise variances of a part as they came, with its number."""
    return {part.number: (part.X, part.y, part.weights, part.variances)}


def chained(results: list[dict[int, Any]]) -> dict[int, Any]:
    """The parts of several results."""
    return {number: rows for each in results for number, rows in each.items()}


def _together(pieces: tuple[Any, ...]) -> Any:
    """Parts below each other; dataframes stay dataframes, and one number for all rows one number."""
    if np.ndim(pieces[0]) == 0:
        return pieces[0]
    if hasattr(pieces[0], "iloc"):
        import pandas

        return pandas.concat(pieces)
    return np.concatenate([each.toarray() if hasattr(each, "toarray") else each for each in pieces])


def _located(points: Any, wanted: np.ndarray) -> np.ndarray:
    """The first number in a part of each row with these hash values; the largest integer if it has none."""
    here = hashes(points.X)
    order = np.argsort(here, kind="stable")
    place = np.minimum(np.searchsorted(here[order], wanted), len(order) - 1)
    found = here[order][place] == wanted
    return np.where(found, points.numbers[order[place]], np.iinfo(np.int64).max)


def _least(results: list[np.ndarray]) -> np.ndarray:
    return np.minimum.reduce(results)
