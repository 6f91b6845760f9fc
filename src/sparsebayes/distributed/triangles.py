"""The statistics of a regression on Dask: the triangle of all rows, a sum of those of the parts.

Each part becomes a QR triangle where it is, (M+1)² numbers whatever the number of rows, and triangles are added up in
a tree (`rows.triangle`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sparsebayes.distributed.dask_rows import DaskRows, Part
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.sources import check_affordable
from sparsebayes.rows.triangle import Triangle
from sparsebayes.rows.validation import ChunkCheck


@dataclass(frozen=True)
class CheckedPart:
    """Turns a part as it came into a `Chunk` of finite float64 rows; None if it has no rows.

    check : X as it came -> X as a finite float64 matrix.  width : its columns.
    """

    check: Callable[[Any], Any]
    width: int

    def __call__(self, part: Part) -> Chunk | None:
        """The rows of a part; an error says in which chunk they are."""
        if part.X.shape[0] == 0:
            return None
        try:
            rows = (part.X, part.y) if part.weights is None else (part.X, part.y, part.weights)
            return ChunkCheck(lambda X, first: self.check(X), self.width)(rows)
        except ValueError as error:
            raise part.located(error) from error


def read_triangle(X: Any, y: Any, sample_weight: Any, check: Callable[[Any], Any]) -> Triangle | None:
    """The statistics of rows that are Dask collections, by one pass; None if no row has a positive weight.

    Parameters
    ----------
    X : dask array of shape (N, M) or dask dataframe
        The design.
    y, sample_weight : dask array, dask series, array-like of shape (N,), or None
        Targets and weights.
    check : callable
        A block of X as it came -> the block as a finite float64 matrix, dense or SciPy-sparse.

    Returns
    -------
    Triangle or None
        The sum of the triangles of all parts.
    """
    rows = DaskRows.of(X, y, sample_weight)
    width = rows.shape[1]
    check_affordable(width, "raise it on the client and on all workers.")
    rows = rows.prepared(CheckedPart(check, width))
    return rows.reduce("triangle", triangle_of, sum_of)


def triangle_of(chunk: Chunk) -> Triangle | None:
    """The triangle of some rows; None if none of them counts."""
    return Triangle.of([chunk])


def sum_of(triangles: list[Any]) -> Any:
    """The sum of statistics that add."""
    return reduce(add, triangles)
