"""Rows in chunks, too many functions for a triangle of M×M: columns of G on demand, by passes over the rows.

Held are vectors of M numbers, a block of rows and the columns of G asked for; never an array with N rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, column_squares, namespace, take, to_numpy
from sparsebayes.bases.operators import without_constants
from sparsebayes.quadratic import Quadratic
from sparsebayes.rows.chunks import Chunk, Moments, blocks
from sparsebayes.rows.memory import LEAST_SPREAD, Scaling, quadratic_of, root_mean_square
from sparsebayes.rows.scaled import SAME, alike, usable


@dataclass(frozen=True, eq=False)
class RowPasses:
    """Rows that can be read as often as one likes, after the first time.

    origin : (M+1,) the first row of [Φ t].  moments, reach : of the differences, and their sizes.
    """

    chunks: Iterable[Chunk]
    origin: Array
    moments: Moments
    reach: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> RowPasses | None:
        """The first pass; None where there is no row."""
        passes: RowPasses | None = None
        for table, counts in blocks(chunks):
            xp = namespace(table)
            origin = 1.0 * table[0, :] if passes is None else passes.origin
            table -= origin[None, :]
            moments, reach = Moments.of(table, counts), xp.max(xp.abs(table), axis=0)
            if passes is not None:
                moments, reach = passes.moments.joined(moments), xp.maximum(passes.reach, reach)
            passes = cls(chunks, origin, moments, reach)
        return passes

    @property
    def n(self) -> float:
        """Σ weights."""
        return self.moments.n

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return self.moments.rows

    @property
    def constant(self) -> float | None:
        """The one value that all targets have; None where they differ."""
        return float(self.origin[-1]) if self.moments.lowest == self.moments.highest else None

    def summarise(self, center: bool) -> tuple[Quadratic, Scaling]:
        """The quadratic of the scaled problem, and the scaling: one more pass, two where columns repeat."""
        n, means = self.n, self.origin + self.moments.means
        xp = namespace(means)
        shift = means if center else 0 * means
        # of the order of the entries, so that their squares neither overflow nor vanish
        unit = 2 * self.reach + (0 if center else 1) * xp.abs(self.origin)
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))
        trial = PassedRows(self.chunks, np.arange(means.shape[0] - 1), shift, unit)
        squares, products, variance = trial.sums(float(means[-1]), n)
        norms = unit * xp.sqrt(squares)
        scale = root_mean_square(norms[-1:], xp.ones_like(norms[-1:]), n)
        kept = usable(without_constants(norms[:-1], shift[:-1], n))
        rows = trial.keep(kept, xp.concat([norms[:-1], xp.full_like(norms[-1:], scale)]))
        products = take(products, kept) * (take(unit, kept) / rows.norms)[:, None]
        distinct = rows.distinct(products[:, 1])
        rows = rows.keep(distinct, rows.unit)
        spread = max(variance * (float(unit[-1]) / scale) ** 2, LEAST_SPREAD)
        scaling = Scaling(rows.kept, rows.norms, rows.means, scale, float(shift[-1]), n, center, spread)
        h = take(products[:, 0], distinct) * (float(unit[-1]) / scale)
        return quadratic_of(rows, h, n, scaling), scaling


class PassedRows:
    """The columns `kept` and the target, less `shift` and divided by `unit` (both of them, target last).

    The questions are those `ScaledRows` answers; every answer is one pass over the rows.
    """

    def __init__(self, chunks: Iterable[Chunk], kept: np.ndarray, shift: Array, unit: Array) -> None:
        self.chunks, self.kept, self.shift, self.unit = chunks, kept, shift, unit
        self.means, self.norms, self.size = shift[:-1], unit[:-1], len(kept)

    def keep(self, positions: np.ndarray, unit: Array) -> PassedRows:
        """Only the columns at these positions, in new units (given for all columns and the target)."""
        both = np.append(positions, self.size)
        return PassedRows(self.chunks, self.kept[positions], take(self.shift, both), take(unit, both))

    def tables(self, J: Indices | None = None) -> Iterator[tuple[Array, Array]]:
        """The columns J (all of them) and the target, scaled, and the weights: a block of rows at a time."""
        J = np.arange(self.size) if J is None else np.asarray(J, dtype=np.int64)
        positions = np.append(J, self.size)
        shift, unit = take(self.shift, positions)[None, :], take(self.unit, positions)[None, :]
        for table, counts in blocks(self.chunks):
            wanted = np.append(self.kept[J], table.shape[1] - 1)
            part = table if len(wanted) == table.shape[1] else take(table, wanted, axis=1)
            part -= shift
            part /= unit
            yield part, counts

    def sums(self, mean: float, n: float) -> tuple[Array, Array, float]:
        """Σ w x² of columns and target, (Σ w φ t, Σ w φ v) with a random v, and the variance of t."""
        rng = np.random.default_rng(0)
        squares, products, variance = 0 * self.unit, 0.0, 0.0
        centre = (mean - float(self.shift[-1])) / float(self.unit[-1])
        for table, counts in self.tables():
            xp, t = namespace(table), table[:, -1]
            v = asfloat64(rng.standard_normal(int(t.shape[0])), like=t)
            products = products + table[:, :-1].T @ xp.stack([counts * t, counts * v], axis=1)
            variance += float(xp.sum(counts * (t - centre) ** 2)) / n
            squares = squares + column_squares(xp.sqrt(counts)[:, None] * table)
        return squares, products, variance

    def distinct(self, signature: Array) -> np.ndarray:
        """Positions of the columns that do not repeat an earlier one or its negative; see `ScaledColumns`."""
        groups = alike(np.abs(to_numpy(signature)))
        if not groups:
            return np.arange(self.size)
        first = np.concatenate([np.full(len(group) - 1, group[0]) for group in groups])
        other = np.concatenate([group[1:] for group in groups])
        apart = np.zeros((2, len(other)))
        for table, _ in self.tables():
            a, b = (to_numpy(take(table, J, axis=1)) for J in (first, other))
            apart = np.maximum(apart, [np.abs(b - a).max(axis=0), np.abs(b + a).max(axis=0)])
        return np.setdiff1d(np.arange(self.size), other[apart.min(axis=0) < SAME])

    def products(self, J: Indices) -> Array:
        """G[J, :]."""
        total = 0.0
        for table, counts in self.tables():
            columns = counts[:, None] * take(table, np.asarray(J, dtype=np.int64), axis=1)
            total = total + columns.T @ table[:, :-1]
        return total

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        total = 0.0
        for table, counts in self.tables(J):
            total = total + (counts[:, None] * table[:, :-1]).T @ table[:, :-1]
        return total

    def gram(self) -> Array:
        """All of G."""
        return self.block(np.arange(self.size))

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """None: nothing is known of how alike columns are."""
        return None

    def residual(self, J: Indices, mean: Array) -> float:
        """‖t − Φ_J μ‖² of the scaled problem, from the rows themselves."""
        total = 0.0
        for table, counts in self.tables(J):
            error = table[:, -1] - table[:, :-1] @ mean
            total += float(namespace(error).sum(counts * error * error))
        return total
