"""Rows in chunks: read once, and kept as a triangle that says all the rows said.

A QR of the rows leaves Φᵀ Φ, Φᵀt and tᵀt as they are, so that a solver may be handed the triangle in place of
the rows (Householder transformations; the Gram matrix would square the condition number):

    [Φ t] = QR,   R (M+1, M+1):   ΦᵀΦ = ZᵀZ,  Φᵀt = Zᵀz,  tᵀt = zᵀz,   Z = R[:, :M],  z = R[:, M]

The last entry of z is the length of what of t no function reaches. Chunks are centred at their own means;
where a chunk b follows the rows a, a row √(n_a n_b/(n_a+n_b)) (mean_b − mean_a) below both makes up for the
difference. All of it is about an origin among the rows, so that nothing cancels however far the columns are
from zero. Nothing depends on where a chunk ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils import gen_batches

from sparsebayes._array import Array, device, namespace, stacked_triangle, take, to_numpy
from sparsebayes.bases.operators import DenseOperator, block_means_and_norms, without_constants
from sparsebayes.quadratic import Quadratic
from sparsebayes.rows.memory import (
    LEAST_SPREAD,
    ScaledRows,
    Scaling,
    merge_repeats,
    quadratic_of,
    root_mean_square,
)
from sparsebayes.rows.scaled import ScaledColumns

WORKING_COPIES = 4  # arrays of the size of a block, or of R, that are held at a time
LARGEST_BLOCK = 1 << 21  # numbers: beyond it a QR gains nothing by more rows at a time


class Chunk(NamedTuple):
    """Some rows: Φ (n, M) dense or SciPy-sparse, t (n,), weights (n,): how often each counts (None: once)."""

    Phi: Any
    t: Array
    weights: Array | None


def affordable(copies: int = WORKING_COPIES) -> int:
    """Numbers an array may have when so many of its size have to fit scikit-learn's `working_memory`."""
    return int(get_config()["working_memory"] * 2**20) // (8 * copies)


def rows_at_once(width: int) -> int:
    """Rows of `width` numbers that are read together."""
    return max(1, min(affordable(), LARGEST_BLOCK) // max(width, 1))


def slices(n: int, width: int) -> Iterator[slice]:
    """Parts of n rows of `width` numbers that are read together."""
    return gen_batches(n, rows_at_once(width)) if n else iter(())  # a chunk may have no rows


def blocks(chunks: Iterable[Chunk]) -> Iterator[tuple[Array, Array]]:
    """The rows [Φ t] (n, M+1) and their weights (n,), a block of bounded size at a time, weights positive."""
    for Phi, t, weights in chunks:
        for part in slices(Phi.shape[0], Phi.shape[1] + 1):
            table = _table(Phi[part, :], t[part])
            counts = namespace(table).ones_like(table[:, 0]) if weights is None else weights[part]
            if weights is not None and not bool(namespace(counts).all(counts > 0)):
                positive = np.flatnonzero(to_numpy(counts) > 0)
                table, counts = take(table, positive), take(counts, positive)
            if counts.shape[0]:
                yield table, counts


def _table(Phi: Any, t: Array) -> Array:
    """[Φ t], dense, and not shared with anybody."""
    Phi = Phi.toarray() if hasattr(Phi, "tocsc") else Phi
    return namespace(Phi, t).concat([Phi, t[:, None]], axis=1)


@dataclass(frozen=True, eq=False)
class Moments:
    """What adds over rows besides their squares. All values are differences from an origin near them.

    rows : rows of positive weight.  n : Σ weights.  means : of [Φ t], (M+1,).  lowest, highest : of t.
    """

    rows: int
    n: float
    means: Array
    lowest: float
    highest: float

    @classmethod
    def of(cls, table: Array, counts: Array) -> Moments:
        """The moments of the rows of [Φ t] (n, M+1)."""
        xp = namespace(table)
        n, t = float(xp.sum(counts)), table[:, -1]
        # the weights first, so that a sum over many rows does not overflow
        return cls(int(t.shape[0]), n, (counts / n) @ table, float(xp.min(t)), float(xp.max(t)))

    def joined(self, other: Moments) -> Moments:
        """The moments of both sets of rows."""
        n = self.n + other.n
        means = self.means + (other.n / n) * (other.means - self.means)
        lowest, highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        return Moments(self.rows + other.rows, n, means, lowest, highest)

    def bridge(self, other: Moments) -> Array:
        """The row (1, M+1) that two sets of rows, each about its own means, lack about the means of both."""
        return (math.sqrt(self.n / (self.n + other.n) * other.n) * (other.means - self.means))[None, :]


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """All a solver needs of the rows seen so far.

    origin : (M+1,) what was taken off every row first: the first row.  moments : of the differences.
    R : (M+1, M+1), upper triangular, RᵀR = Σ_n w_n ([φ_n t_n] − means)ᵀ([φ_n t_n] − means).
    """

    origin: Array
    moments: Moments
    R: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk], before: RowStatistics | None = None) -> RowStatistics | None:
        """The statistics of the rows `before` and of the chunks; None where there is no row at all."""
        for table, counts in blocks(chunks):
            before = cls._of_block(table, counts) if before is None else before._with(table, counts)
        return before

    @classmethod
    def _of_block(cls, table: Array, counts: Array) -> RowStatistics:
        xp, width = namespace(table), int(table.shape[1])
        nothing = xp.zeros((width, width), dtype=table.dtype, device=device(table))
        origin = 1.0 * table[0, :]
        moments, deviations = _about_means(table, counts, origin)
        return cls(origin, moments, stacked_triangle(nothing, deviations))

    def _with(self, table: Array, counts: Array) -> RowStatistics:
        """The rows seen so far and these."""
        new, deviations = _about_means(table, counts, self.origin)
        below = namespace(table).concat([deviations, self.moments.bridge(new)], axis=0)
        return RowStatistics(self.origin, self.moments.joined(new), stacked_triangle(self.R, below))

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return self.moments.rows

    @property
    def n(self) -> float:
        """Σ weights."""
        return self.moments.n

    @property
    def constant(self) -> float | None:
        """The one value that all targets have; None where they differ."""
        same = self.moments.lowest == self.moments.highest
        return float(self.origin[-1]) if same else None

    def summarise(self, center: bool) -> tuple[Quadratic, Scaling]:
        """The quadratic of the scaled problem, and the scaling: those `rows.summarise` finds in the rows."""
        n, means = self.n, self.origin + self.moments.means
        triangle = self.R if center else stacked_triangle(self.R, math.sqrt(n) * means[None, :])
        means = means if center else 0 * means
        Z, z = triangle[:, :-1], triangle[:, -1]
        xp = namespace(z)
        scale = root_mean_square(0 * z if center and self.constant is not None else z, xp.ones_like(z), n)
        columns = _scaled_columns(Z, means[:-1], n)
        h, rows = merge_repeats(ScaledRows(columns, z / scale, None), n)
        spread = max(float(xp.sum((self.R[:, -1] / scale) ** 2)) / n, LEAST_SPREAD)
        kept_means, target_mean = take(means, rows.kept), float(means[-1])
        scaling = Scaling(rows.kept, rows.norms, kept_means, scale, target_mean, n, center, spread)
        return quadratic_of(rows, h, float(xp.sum(rows.t * rows.t)), scaling), scaling


def _about_means(table: Array, counts: Array, origin: Array) -> tuple[Moments, Array]:
    """The moments about the origin, and √w ([Φ t] − means), in place of the table."""
    table -= origin[None, :]
    moments = Moments.of(table, counts)
    table -= moments.means[None, :]
    table *= namespace(counts).sqrt(counts)[:, None]
    return moments, table


def _scaled_columns(Z: Array, means: Array, n: float) -> ScaledColumns:
    """The columns of Z that are not zero, at unit norm; what rounding left of a constant counts as zero."""
    xp = namespace(Z)
    _, norms = block_means_and_norms(Z, xp.ones_like(Z[:, 0]), center=False)
    norms = without_constants(norms, means, n)
    return ScaledColumns.of_norms(DenseOperator(Z), xp.zeros_like(norms), norms, center=False)
