"""The statistics of a regression on Dask: the triangle of all rows, a sum of those of the parts.

Each part becomes a QR triangle where it is, (M+1)² numbers whatever the number of rows, and triangles are added up in
a tree (`rows.triangle`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from sparsebayes.distributed.dask_rows import DaskRows, Part
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.known_noise import KnownNoiseRows, SummedNoise
from sparsebayes.rows.sources import check_affordable
from sparsebayes.rows.triangle import Triangle
from sparsebayes.rows.validation import LEAST_ROWS, ChunkCheck, check_variances, has_outputs


@dataclass(frozen=True)
class CheckedPart:
    """Turns a part as it came into a `Chunk` of finite float64 rows, or a `NoisyChunk`; None if it has no rows.

    check : X as it came -> X as a finite float64 matrix.  width : its columns.
    """

    check: Callable[[Any], Any]
    width: int

    def __call__(self, part: Part) -> Any:
        """The rows of a part; an error says in which chunk they are."""
        if part.X.shape[0] == 0:
            return None
        try:
            rows = (part.X, part.y) if part.weights is None else (part.X, part.y, part.weights)
            chunk = ChunkCheck(lambda X, first: self.check(X), self.width)(rows)
            if part.variances is None:
                return chunk
            return NoisyChunk(chunk, check_variances(part.variances, len(chunk.t), "the noise variance of each row"))
        except ValueError as error:
            raise part.located(error) from error


class NoisyChunk(NamedTuple):
    """Some rows, and the known variance of the noise of each, (n,)."""

    rows: Chunk
    variances: np.ndarray


def read_triangle(
    X: Any, y: Any, sample_weight: Any, check: Callable[[Any], Any], variances: Any = None, watch: Any = None
) -> Triangle | KnownNoiseRows | None:
    """The statistics of rows that are Dask collections, by one pass; None if no row has a positive weight.

    Parameters
    ----------
    X : dask array of shape (N, M) or dask dataframe
        The design.
    y : dask array, dask series or dataframe, array-like of shape (N,) or (N, T), or None
        Targets.
    sample_weight, variances : dask array, dask series, array-like of shape (N,), or None
        Weights, and known noise variances.
    check : callable
        A block of X as it came -> the block as a finite float64 matrix, dense or SciPy-sparse.
    watch : PassWatch, optional
        What follows the pass.

    Returns
    -------
    Triangle, KnownNoiseRows or None
        The sum of the triangles of all parts; with noise variances that of the rows weighted by them.
    """
    rows = DaskRows.of(X, y, sample_weight, variances, watch)
    width, outputs = rows.shape[1], int(y.shape[1]) if has_outputs(y) else 1
    check_affordable(width + outputs - 1, "raise it on the client and on all workers.")
    rows = rows.prepared(CheckedPart(check, width))
    if variances is None:
        return rows.reduce("triangle", triangle_of, sum_of, outputs)
    found: NoisyTriangle | None = rows.reduce("triangle", noisy_triangle_of, sum_of, outputs)
    return None if found is None else found.of_noise(variances)


def triangle_of(chunk: Chunk, outputs: int = 1) -> Triangle | None:
    """The triangle of some rows; None if none of them counts."""
    return Triangle.of([chunk], outputs=outputs)


@dataclass(frozen=True, eq=False)
class NoisyTriangle:
    """The statistics of rows whose noise variances are known; they add.

    triangle : of rows of weights c_n/σ_n².  counts, logs : Σ c_n and Σ c_n log σ_n².
    """

    triangle: Triangle
    counts: float
    logs: float

    def __add__(self, other: NoisyTriangle) -> NoisyTriangle:
        return NoisyTriangle(self.triangle + other.triangle, self.counts + other.counts, self.logs + other.logs)

    def of_noise(self, variances: Any) -> KnownNoiseRows:
        """The rows under the common noise variance s² of `rows.known_noise`, and what is known of the noise.

        variances : as they were given.
        """
        triangle, common = self.triangle, self.counts / self.triangle.n
        factor = triangle.rows / self.counts if self.counts < LEAST_ROWS else 1.0  # counts, as in `as_counts`
        shift = -0.5 * factor * (self.logs - self.counts * math.log(common))
        return KnownNoiseRows(triangle.reweighted(factor * common), SummedNoise(variances, common, shift))


def noisy_triangle_of(chunk: NoisyChunk, outputs: int) -> NoisyTriangle | None:
    """The statistics of some rows whose noise variances are known; None if none of them counts."""
    rows, variances = chunk
    counts = np.ones(len(variances)) if rows.weights is None else rows.weights
    triangle = Triangle.of([rows._replace(weights=counts / variances)], outputs=outputs)
    if triangle is None:
        return None
    return NoisyTriangle(triangle, float(counts.sum()), float(counts @ np.log(variances)))


def sum_of(triangles: list[Any]) -> Any:
    """The sum of statistics that add."""
    return reduce(add, triangles)
