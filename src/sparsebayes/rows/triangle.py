"""The statistics of rows that were read in chunks: a triangle that holds all the information of the rows.

A QR of the rows leaves ΦᵀΦ, Φᵀt and tᵀt as they are, so that the triangle can take the place of the rows
(by Householder transformations; the Gram matrix would square the condition number):

    [Φ t] = QR,   R (M+1, M+1):   ΦᵀΦ = ZᵀZ,  Φᵀt = Zᵀz,  tᵀt = zᵀz,   Z = R[:, :M],  z = R[:, M]

The last entry of z is the length of the part of t that no function reaches. Chunks are centred at their own
means; where rows b follow rows a, one row √(n_a n_b/(n_a+n_b)) (mean_b − mean_a) below both makes up for the
difference. All values are differences from an origin among the rows, so that nothing cancels however far the
columns are from zero. The statistics do not depend on where a chunk ends, and two triangles add: the triangle
of all rows is the sum of those of any parts of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sparsebayes._array import Array, device, namespace, stacked_triangle, take
from sparsebayes.bases.operators import DenseOperator, block_means_and_norms
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.units import LEAST_SPREAD, Units, root_mean_square, without_constants
from sparsebayes.rows.chunks import Chunk, blocks
from sparsebayes.rows.memory import ScaledRows, merge_repeats, quadratic_of
from sparsebayes.rows.scaled import ScaledColumns, usable


@dataclass(frozen=True, eq=False)
class Moments:
    """What adds over rows besides their squares; all values are differences from an origin near them.

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

    def shifted(self, change: Array) -> Moments:
        """The moments of the same rows about an origin that is `change` (M+1,) lower."""
        lowest, highest = self.lowest + float(change[-1]), self.highest + float(change[-1])
        return replace(self, means=self.means + change, lowest=lowest, highest=highest)

    def bridge(self, other: Moments) -> Array:
        """The row (1, M+1) that two sets of rows, each about its own means, lack about the means of both."""
        return (math.sqrt(self.n / (self.n + other.n) * other.n) * (other.means - self.means))[None, :]


@dataclass(frozen=True, eq=False)
class RowsRead:
    """What is known of rows [Φ t] that were read once.

    origin : (M+1,) the first row, which is subtracted from every row.  moments : of the differences.
    """

    origin: Array
    moments: Moments

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return self.moments.rows

    @property
    def n(self) -> float:
        """Σ weights."""
        return self.moments.n

    @property
    def count_factor(self) -> float:
        """What makes weights that sum to less than two rows, and so cannot be counts, have a mean of 1; else 1."""
        return self.rows / self.n if self.n < 2 else 1.0

    @property
    def constant(self) -> float | None:
        """The value that all targets have; None if they differ."""
        return float(self.origin[-1]) if self.moments.lowest == self.moments.highest else None


@dataclass(frozen=True, eq=False)
class Triangle(RowsRead):
    """Everything that a solver needs of the rows read so far; triangles add.

    R : (M+1, M+1), upper triangular, RᵀR = Σ_n w_n ([φ_n t_n] − means)ᵀ([φ_n t_n] − means).
    """

    R: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk], before: Triangle | None = None) -> Triangle | None:
        """The statistics of the rows `before` and of the chunks; None if there is no row at all."""
        for table, counts in blocks(chunks):
            before = cls._of_block(table, counts) if before is None else before._with(table, counts)
        return before

    @classmethod
    def _of_block(cls, table: Array, counts: Array) -> Triangle:
        """The statistics of a block [Φ t] (n, M+1) of rows that count `counts` times."""
        xp, width = namespace(table), int(table.shape[1])
        nothing = xp.zeros((width, width), dtype=table.dtype, device=device(table))
        origin = 1.0 * table[0, :]
        moments, deviations = _about_means(table, counts, origin)
        return cls(origin, moments, stacked_triangle(nothing, deviations))

    def _with(self, table: Array, counts: Array) -> Triangle:
        """The statistics of the rows so far and of a block [Φ t] (n, M+1) of rows that count `counts` times."""
        new, deviations = _about_means(table, counts, self.origin)
        below = namespace(table).concat([deviations, self.moments.bridge(new)], axis=0)
        return Triangle(self.origin, self.moments.joined(new), stacked_triangle(self.R, below))

    def __add__(self, other: Triangle) -> Triangle:
        """The statistics of both sets of rows; about the origin of the first."""
        if not isinstance(other, Triangle):
            return NotImplemented
        moved = other.moments.shifted(other.origin - self.origin)
        below = namespace(self.R).concat([other.R, self.moments.bridge(moved)], axis=0)
        return Triangle(self.origin, self.moments.joined(moved), stacked_triangle(self.R, below))

    def as_counts(self) -> Triangle:
        """The statistics with weights that sum to less than two rows rescaled to a mean of 1."""
        factor = self.count_factor
        moments = replace(self.moments, n=factor * self.n)
        return self if factor == 1 else Triangle(self.origin, moments, math.sqrt(factor) * self.R)

    def summarise(self, center: bool) -> tuple[Quadratic, Units]:
        """The quadratic of the scaled problem, and its units: those that `rows.memory.summarise` finds."""
        n, means = self.n, self.origin + self.moments.means
        triangle = self.R if center else stacked_triangle(self.R, math.sqrt(n) * means[None, :])
        means = means if center else 0 * means
        Z, z = triangle[:, :-1], triangle[:, -1]
        xp = namespace(z)
        scale = root_mean_square(0 * z if center and self.constant is not None else z, xp.ones_like(z), n)
        columns = _scaled_columns(Z, means[:-1], n)
        h, rows = merge_repeats(ScaledRows(columns, z / scale, None), n)
        spread = max(float(xp.sum((self.R[:, -1] / scale) ** 2)) / n, LEAST_SPREAD)
        units = Units(n, center, scale, float(means[-1]), spread)
        units = units.with_columns(rows.kept, rows.norms, take(means, rows.kept))
        return quadratic_of(rows, h, float(xp.sum(rows.t * rows.t)), units), units


def _about_means(table: Array, counts: Array, origin: Array) -> tuple[Moments, Array]:
    """The moments about the origin, and √w ([Φ t] − means), in place of the table."""
    table -= origin[None, :]
    moments = Moments.of(table, counts)
    table -= moments.means[None, :]
    table *= namespace(counts).sqrt(counts)[:, None]
    return moments, table


def _scaled_columns(Z: Array, means: Array, n: float) -> ScaledColumns:
    """The columns of Z at unit norm, without those that are zero or what rounding left of a constant."""
    xp = namespace(Z)
    _, norms = block_means_and_norms(Z, xp.ones_like(Z[:, 0]), center=False)
    norms = without_constants(norms, means, n)
    kept = usable(norms)
    norms = take(norms, kept)
    return ScaledColumns(DenseOperator(Z), kept, xp.zeros_like(norms), norms, center=False)
