"""Rows in chunks with too many functions for a triangle: rows of G on demand, by passes over the data.

In memory are vectors of M numbers, one block of rows and the rows of G that were needed; never an array of N
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, column_squares, namespace, take, to_numpy
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.units import LEAST_SPREAD, Units, root_mean_square, without_constants
from sparsebayes.rows.chunks import Chunk, Reweighted, blocks
from sparsebayes.rows.lazy import RowProducts
from sparsebayes.rows.memory import quadratic_of
from sparsebayes.rows.scaled import SAME, alike, usable
from sparsebayes.rows.triangle import Moments, RowsRead


@dataclass(frozen=True, eq=False)
class RowPasses(RowsRead):
    """Rows that are read again whenever something is needed of them.

    chunks : the rows, which can be read more than once.
    reach : (M+1,) the largest size of a difference from the origin, of every column and the target.
    """

    chunks: Iterable[Chunk]
    reach: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> RowPasses | None:
        """The first pass; None if there is no row."""
        passes: RowPasses | None = None
        for table, counts in blocks(chunks):
            xp = namespace(table)
            origin = 1.0 * table[0, :] if passes is None else passes.origin
            table -= origin[None, :]
            moments, reach = Moments.of(table, counts), xp.max(xp.abs(table), axis=0)
            if passes is not None:
                moments, reach = passes.moments.joined(moments), xp.maximum(passes.reach, reach)
            passes = cls(origin, moments, chunks, reach)
        return passes

    def as_counts(self) -> RowPasses:
        """The rows with weights that sum to less than two rows rescaled to a mean of 1."""
        factor = self.count_factor
        moments, chunks = replace(self.moments, n=factor * self.n), Reweighted(self.chunks, factor)
        return self if factor == 1 else RowPasses(self.origin, moments, chunks, self.reach)

    def summarise(self, center: bool) -> tuple[Quadratic, Units]:
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
        units = Units(n, center, scale, float(shift[-1]), spread, rows.kept, rows.norms, rows.means)
        h = take(products[:, 0], distinct) * (float(unit[-1]) / scale)
        return quadratic_of(rows, h, n, units), units


class PassedRows(RowProducts):
    """The columns `kept` and the target, less `shift` and divided by `unit` (both of them, target last).

    Every product is one pass over the data.
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

    def rows(self, J: Indices) -> Array:
        """G[J, :]."""
        tables = self.tables()
        return sum((counts[:, None] * take(table, J, axis=1)).T @ table[:, :-1] for table, counts in tables)

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        return sum((counts[:, None] * table[:, :-1]).T @ table[:, :-1] for table, counts in self.tables(J))

    def gram(self) -> Array:
        """All of G."""
        return self.block(np.arange(self.size))

    def residual(self, J: Indices, weights: Array) -> float:
        """‖t − Φ_J w‖² of the scaled problem, from the rows themselves."""
        total = 0.0
        for table, counts in self.tables(J):
            error = table[:, -1] - table[:, :-1] @ weights
            total += float(namespace(error).sum(counts * error * error))
        return total
