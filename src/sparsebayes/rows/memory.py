"""Rows in memory, or behind an operator: scale them, and hand a solver their quadratic."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._array import (
    Array,
    Indices,
    add_diagonal,
    asfloat64,
    at_least,
    cholesky,
    column_squares,
    namespace,
    row_squares,
    take,
    triangular_inverse,
)
from sparsebayes.bases.operators import Operator
from sparsebayes.core.quadratic import DenseQuadratic, Quadratic
from sparsebayes.core.units import Units
from sparsebayes.rows.chunks import affordable
from sparsebayes.rows.lazy import LazyQuadratic, RowProducts
from sparsebayes.rows.scaled import BATCH, ScaledColumns, random_vector

WIDE_BATCH = 256  # columns of a float32 design that are float64 at a time
MANY_ROWS = 1000  # beyond it the covariance of the targets is too large to be factorised often
DENSE_FUNCTIONS = 256  # up to this many functions all of G is formed at once


class ScaledRows(ScaledColumns, RowProducts):
    """The scaled columns with the scaled target: products and residuals by passes over the rows."""

    def __init__(self, columns: ScaledColumns, t: Array, weights: Array | None) -> None:
        super().__init__(columns.operator, columns.kept, columns.means, columns.norms, columns.center)
        self.t, self.weights = t, weights

    def weighted(self, V: Array) -> Array:
        """W V, W being the diagonal matrix of the weights."""
        return V if self.weights is None else self.weights[:, None] * V

    def rows(self, J: Indices) -> Array:
        """G[J, :], by one pass for the whole batch; of sparse or float32 columns few are made dense at a time."""
        if len(J) > (most := self._batch):
            return namespace(self.t).concat([self.rows(J[k : k + most]) for k in range(0, len(J), most)], axis=0)
        return self.adjoint(self.weighted(self.columns(J))).T

    @property
    def _batch(self) -> int:
        """How many columns may be dense at a time."""
        return BATCH if self.operator.is_sparse else WIDE_BATCH if self.operator.is_wide else sys.maxsize

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        if len(J) > self._batch:
            return take(self.rows(J), J, axis=1)
        columns = self.columns(J)
        return columns.T @ self.weighted(columns)

    def gram(self) -> Array:
        """All of G, a batch of columns at a time."""
        parts = [self.rows(range(k, min(k + BATCH, self.size))) for k in range(0, self.size, BATCH)]
        return namespace(self.t).concat(parts, axis=0)

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """All columns (N, M) and the targets (N, T), each row times the root of its weight."""
        columns, t = self.columns(np.arange(self.size)), self.t if self.t.ndim == 2 else self.t[:, None]
        if self.weights is None:
            return columns, t
        root = namespace(t).sqrt(self.weights)[:, None]
        return root * columns, root * t

    def posterior(self, J: Indices, alpha: Array, beta: float) -> tuple[Array, Array] | None:
        """μ and diag Σ with the functions J active at α, through C = I/β + ΦA⁻¹Φᵀ (N, N).

        μ = A⁻¹ΦᵀC⁻¹t and Σ_mm = 1/α − φᵀC⁻¹φ/α². None if there are many rows, or columns that are sparse or too large
        for memory.
        """
        N, J = int(self.t.shape[0]), np.asarray(J, dtype=np.int64)
        if N > MANY_ROWS or N * self.size > affordable() or self.operator.is_sparse:
            return None
        columns, t = self._table
        columns = columns if len(J) == self.size else take(columns, J, axis=1)
        C = (columns / alpha[None, :]) @ columns.T
        inverse = triangular_inverse(cholesky(add_diagonal(C, 1 / beta * namespace(t).ones_like(C[0, :]))))
        whitened = inverse @ columns
        mean = (whitened.T @ (inverse @ t)) / alpha[:, None]
        variance = at_least(1 - column_squares(whitened) / alpha, 0.0) / alpha
        return mean if self.t.ndim == 2 else mean[:, 0], variance

    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Φ_J w‖² of the scaled problem, of every output, from the rows themselves."""
        error, step = self.t, min(self._batch, max(len(J), 1))
        for k in range(0, len(J), step):
            error = error - self.columns(J[k : k + step]) @ weights[k : k + step, ...]
        if self.t.ndim == 2:
            return namespace(error).sum(error * self.weighted(error), axis=0)
        return float(namespace(error).sum(error[:, None] * self.weighted(error[:, None])))


def summarise(
    operator: Operator, t: Array, weights: Array | None = None, center: bool = False, merge: bool = True
) -> tuple[Quadratic, Units]:
    """The statistics of rows in memory: the quadratic of the scaled problem, and its units.

    Parameters
    ----------
    operator : Operator
        Φ, N rows and M functions.
    t : array of shape (N,) or (N, T)
        Targets.
    weights : array of shape (N,), optional
        How often each row counts; None for once.
    center : bool
        Whether there is an intercept.
    merge : bool
        Whether columns that repeat an earlier one are left out.

    Returns
    -------
    quadratic : Quadratic
        n, tᵀt, h and G of the scaled columns and target.
    units : Units
        How they relate to the user's numbers.
    """
    xp = namespace(t)
    weights = None if weights is None else asfloat64(weights, like=t)
    counts = xp.ones_like(t if t.ndim == 1 else t[:, 0]) if weights is None else weights
    units = Units.of_target(t, counts, center)
    rows = ScaledRows(ScaledColumns.of(operator, counts, center), units.scaled(t), weights)
    h, rows = merge_repeats(rows, units.n, merge)
    units = units.with_columns(rows.kept, rows.norms, rows.means)
    return quadratic_of(rows, h, float(xp.sum(counts * row_squares(rows.t))), units), units


def quadratic_of(rows: Any, h: Array, tt: float, units: Units) -> Quadratic:
    """The quadratic of scaled rows: all of G if there are few functions, else rows of G on demand.

    rows : `RowProducts` that also have `size` and `gram()`, which gives all of G.
    """
    if rows.size <= DENSE_FUNCTIONS:
        return DenseQuadratic(units.rows_counted, tt, h, rows.gram(), offset=units.offset, products=rows)
    return LazyQuadratic(units.rows_counted, tt, h, rows, units.offset)


def merge_repeats(rows: ScaledRows, n: float, merge: bool = True) -> tuple[Array, ScaledRows]:
    """h = Φᵀt, and the rows without functions that repeat an earlier one (or its negative).

    Repeats are found by products with a random vector, taken in the same pass as h, and confirmed.
    merge : whether repeats are to be left out at all.
    """
    xp, t = namespace(rows.t), rows.t if rows.t.ndim == 2 else rows.t[:, None]
    both = rows.weighted(xp.concat([t, random_vector(t)[:, None]], axis=1))
    if rows.center:
        both = both - rows.weighted(xp.ones_like(both)) * (xp.sum(both, axis=0) / n)[None, :]
    products = rows.adjoint(both)
    h = products[:, :-1] if rows.t.ndim == 2 else products[:, 0]
    distinct = rows.without_repeats(products[:, -1]) if merge else np.arange(rows.size)
    if len(distinct) == rows.size:
        return h, rows
    return take(h, distinct), ScaledRows(rows.keep(distinct), rows.t, rows.weights)
