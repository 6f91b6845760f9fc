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
from typing import Any

import numpy as np

from sparsebayes._array import (
    Array,
    column_squares,
    device,
    namespace,
    row_lengths,
    row_squares,
    stacked_triangle,
    take,
    to_numpy,
)
from sparsebayes.bases.operators import DenseOperator, block_means_and_norms
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.units import LEAST_SPREAD, Units, root_mean_square, without_constants
from sparsebayes.rows.chunks import Chunk, blocks
from sparsebayes.rows.memory import ScaledRows, merge_repeats, quadratic_of
from sparsebayes.rows.scaled import ScaledColumns, usable


@dataclass(frozen=True, eq=False)
class Moments:
    """What adds over rows besides their squares; all values are differences from an origin near them.

    rows : rows of positive weight.  n : Σ weights.  means : of [Φ t], (M+T,).  lowest, highest : of t, (T,).
    """

    rows: int
    n: float
    means: Array
    lowest: Array
    highest: Array

    @classmethod
    def of(cls, table: Array, counts: Array, outputs: int = 1) -> Moments:
        """The moments of the rows of [Φ t] (n, M+T), T being `outputs`."""
        xp = namespace(table)
        n, t = float(xp.sum(counts)), table[:, -outputs:]
        # the weights first, so that a sum over many rows does not overflow
        return cls(int(t.shape[0]), n, (counts / n) @ table, xp.min(t, axis=0), xp.max(t, axis=0))

    def joined(self, other: Moments) -> Moments:
        """The moments of both sets of rows."""
        n = self.n + other.n
        means = self.means + (other.n / n) * (other.means - self.means)
        xp = namespace(means)
        lowest, highest = xp.minimum(self.lowest, other.lowest), xp.maximum(self.highest, other.highest)
        return Moments(self.rows + other.rows, n, means, lowest, highest)

    def shifted(self, change: Array) -> Moments:
        """The moments of the same rows about an origin that is `change` (M+T,) lower."""
        own = change[-self.lowest.shape[0] :]
        lowest, highest = self.lowest + own, self.highest + own
        return replace(self, means=self.means + change, lowest=lowest, highest=highest)

    def bridge(self, other: Moments) -> Array:
        """The row (1, M+1) that two sets of rows, each about its own means, lack about the means of both."""
        return (math.sqrt(self.n / (self.n + other.n) * other.n) * (other.means - self.means))[None, :]


@dataclass(frozen=True, eq=False)
class RowsRead:
    """What is known of rows [Φ t] that were read once.

    origin : (M+T,) the first row, which is subtracted from every row.  moments : of the differences.
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
    def outputs(self) -> int:
        """T."""
        return int(self.moments.lowest.shape[0])

    @property
    def width(self) -> int:
        """M, the number of columns."""
        return int(self.origin.shape[0]) - self.outputs

    @property
    def constant(self) -> float | None:
        """The value that all targets have (of the first output); None if they differ in some output."""
        return float(self.origin[-self.outputs]) if self.alike.all() else None

    @property
    def alike(self) -> np.ndarray:
        """Which outputs have one value in all rows, (T,)."""
        return to_numpy(self.moments.lowest == self.moments.highest)

    @property
    def first_targets(self) -> np.ndarray:
        """The targets of the first row, (T,): all the targets of an output that has one value."""
        return to_numpy(self.origin[self.width :])


@dataclass(frozen=True, eq=False)
class Triangle(RowsRead):
    """Everything that a solver needs of the rows read so far; triangles add.

    R : (M+T, M+T), upper triangular, RᵀR = Σ_n w_n ([φ_n t_n] − means)ᵀ([φ_n t_n] − means).
    """

    R: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk], before: Triangle | None = None, outputs: int = 1) -> Triangle | None:
        """The statistics of the rows `before` and of the chunks; None if there is no row at all."""
        for table, counts in blocks(chunks):
            before = cls._of_block(table, counts, outputs) if before is None else before._with(table, counts)
        return before

    @classmethod
    def _of_block(cls, table: Array, counts: Array, outputs: int) -> Triangle:
        """The statistics of a block [Φ t] (n, M+T) of rows that count `counts` times."""
        xp, width = namespace(table), int(table.shape[1])
        nothing = xp.zeros((width, width), dtype=table.dtype, device=device(table))
        origin = 1.0 * table[0, :]
        moments, deviations = _about_means(table, counts, origin, outputs)
        return cls(origin, moments, stacked_triangle(nothing, deviations))

    def _with(self, table: Array, counts: Array) -> Triangle:
        """The statistics of the rows so far and of a block [Φ t] (n, M+T) of rows that count `counts` times."""
        new, deviations = _about_means(table, counts, self.origin, self.outputs)
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
        return self.reweighted(self.count_factor)

    def reweighted(self, factor: float) -> Triangle:
        """The statistics with all weights multiplied by a factor."""
        moments = replace(self.moments, n=factor * self.n)
        return self if factor == 1 else Triangle(self.origin, moments, math.sqrt(factor) * self.R)

    def of_outputs(self, outputs: Any) -> Triangle:
        """The statistics of the same rows with these outputs, by their numbers, as the only ones."""
        outputs, moments = np.asarray(outputs, dtype=np.int64), self.moments
        J = np.append(np.arange(self.width), self.width + outputs)
        lowest, highest = take(moments.lowest, outputs), take(moments.highest, outputs)
        moments = replace(moments, means=take(moments.means, J), lowest=lowest, highest=highest)
        R = take(self.R, J, axis=1)
        return Triangle(take(self.origin, J), moments, stacked_triangle(0 * R[: len(J), :], R))

    def target_squares(self, center: bool) -> Array:
        """Σ w t² of every output, (T,); about its mean with an intercept."""
        squares = column_squares(self.R[:, self.width :])
        means = (self.origin + self.moments.means)[self.width :]
        return squares if center else squares + self.n * means * means

    def summarise(self, center: bool, outputs: Any = None, merge: bool = True) -> tuple[Quadratic, Units]:
        """The quadratic of the scaled problem, and its units: those that `rows.memory.summarise` finds.

        outputs : what makes the targets of a solver of several outputs (`joint.outputs`); None for one output.
        merge : whether columns that repeat an earlier one are left out.
        """
        n, means, M = self.n, self.origin + self.moments.means, self.width
        triangle = self.R if center else stacked_triangle(self.R, math.sqrt(n) * means[None, :])
        means = means if center else 0 * means
        Z, z = triangle[:, :M], _targets(triangle[:, M:], outputs)
        xp = namespace(Z)
        lengths = row_lengths(z)
        scale = root_mean_square(0 * lengths if center and self.constant is not None else lengths, None, n)
        columns = _scaled_columns(Z, means[:M], n)
        h, rows = merge_repeats(ScaledRows(columns, z / scale, None), n, merge)
        spread = max(float(xp.sum((row_lengths(_targets(self.R[:, M:], outputs)) / scale) ** 2)) / n, LEAST_SPREAD)
        centre = _targets(means[None, M:], outputs)[0, ...]
        units = Units(n, center, scale, float(centre) if outputs is None else centre, spread)
        units = units.with_columns(rows.kept, rows.norms, take(means, rows.kept))
        return quadratic_of(rows, h, float(xp.sum(row_squares(rows.t))), units), units


def _targets(t: Array, outputs: Any) -> Array:
    """The target (n,) of one output (n, 1), or those of a solver of several."""
    return t[:, 0] if outputs is None else outputs.targets(t)


def _about_means(table: Array, counts: Array, origin: Array, outputs: int) -> tuple[Moments, Array]:
    """The moments about the origin, and √w ([Φ t] − means), in place of the table."""
    table -= origin[None, :]
    moments = Moments.of(table, counts, outputs)
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
