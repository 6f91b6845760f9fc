"""Rows in chunks with too many functions for a triangle: rows of G on demand, by passes over the data.

In memory are vectors of M numbers, one block of rows and the rows of G that were needed; never an array of N
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

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
    reach : (M+T,) the largest size of a difference from the origin, of every column and the target.
    """

    chunks: Iterable[Chunk]
    reach: Array

    @classmethod
    def of(cls, chunks: Iterable[Chunk], outputs: int = 1) -> RowPasses | None:
        """The first pass; None if there is no row."""
        passes: RowPasses | None = None
        for table, counts in blocks(chunks):
            xp = namespace(table)
            origin = 1.0 * table[0, :] if passes is None else passes.origin
            table -= origin[None, :]
            moments, reach = Moments.of(table, counts, outputs), xp.max(xp.abs(table), axis=0)
            if passes is not None:
                moments, reach = passes.moments.joined(moments), xp.maximum(passes.reach, reach)
            passes = cls(origin, moments, chunks, reach)
        return passes

    def as_counts(self) -> RowPasses:
        """The rows with weights that sum to less than two rows rescaled to a mean of 1."""
        factor = self.count_factor
        moments, chunks = replace(self.moments, n=factor * self.n), Reweighted(self.chunks, factor)
        return self if factor == 1 else RowPasses(self.origin, moments, chunks, self.reach)

    def target_squares(self, center: bool) -> Array:
        """Σ w t² of every output, (T,), by one pass; about its mean with an intercept."""
        means = (self.origin + self.moments.means)[self.width :] * (1.0 if center else 0.0)
        return sum(counts @ (table[:, self.width :] - means[None, :]) ** 2 for table, counts in blocks(self.chunks))

    def summarise(self, center: bool, outputs: Any = None, merge: bool = True) -> tuple[Quadratic, Units]:
        """The quadratic of the scaled problem, and the scaling: one more pass, two where columns repeat.

        outputs : what makes the targets of a solver of several outputs (`joint.outputs`); None for one output.
        merge : whether columns that repeat an earlier one are left out.
        """
        n, means, T = self.n, self.origin + self.moments.means, self.outputs
        xp = namespace(means)
        shift = means if center else 0 * means
        # of the order of the entries, so that their squares neither overflow nor vanish
        unit = 2 * self.reach + (0 if center else 1) * xp.abs(self.origin)
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))
        trial = PassedRows(self.chunks, np.arange(self.width), shift, unit)
        squares, products, variance = trial.sums(means[-T:], n)
        norms = unit * xp.sqrt(squares)
        factor = xp.ones_like(norms[-T:]) if outputs is None else outputs.targets(xp.ones_like(norms[None, -T:]))[0, :]
        scale = root_mean_square(factor * norms[-T:], None, n)
        kept = usable(without_constants(norms[:-T], shift[:-T], n))
        rows = trial.keep(kept, xp.concat([norms[:-T], scale / factor]))
        products = take(products, kept) * (take(unit, kept) / rows.norms)[:, None]
        distinct = rows.distinct(products[:, -1]) if merge else np.arange(rows.size)
        rows = rows.keep(distinct, rows.unit)
        spread = max(float(xp.sum(variance * (unit[-T:] * factor / scale) ** 2)), LEAST_SPREAD)
        centre = float(shift[-1]) if outputs is None else factor * shift[-T:]
        units = Units(n, center, scale, centre, spread, rows.kept, rows.norms, rows.means)
        h = take(products[:, :-1], distinct) * (unit[-T:] * factor / scale)[None, :]
        return quadratic_of(rows, h[:, 0] if outputs is None else h, n, units), units


class PassedRows(RowProducts):
    """The columns `kept` and the targets, less `shift` and divided by `unit` (both of them, targets last).

    Every product is one pass over the data.
    """

    def __init__(self, chunks: Iterable[Chunk], kept: np.ndarray, shift: Array, unit: Array) -> None:
        self.chunks, self.kept, self.shift, self.unit, self.size = chunks, kept, shift, unit, len(kept)
        self.means, self.norms, self.outputs = shift[: self.size], unit[: self.size], unit.shape[0] - self.size

    def keep(self, positions: np.ndarray, unit: Array) -> PassedRows:
        """Only the columns at these positions, in new units (given for all columns and the targets)."""
        both = np.append(positions, self.size + np.arange(self.outputs))
        return PassedRows(self.chunks, self.kept[positions], take(self.shift, both), take(unit, both))

    def tables(self, J: Indices | None = None) -> Iterator[tuple[Array, Array, Array]]:
        """The columns J (all of them), the targets (n, T), all scaled, and the weights: a block of rows at a time."""
        J = np.arange(self.size) if J is None else np.asarray(J, dtype=np.int64)
        positions, T = np.append(J, self.size + np.arange(self.outputs)), self.outputs
        shift, unit = take(self.shift, positions)[None, :], take(self.unit, positions)[None, :]
        for table, counts in blocks(self.chunks):
            wanted = np.append(self.kept[J], table.shape[1] - T + np.arange(T))
            part = table if len(wanted) == table.shape[1] else take(table, wanted, axis=1)
            part -= shift
            part /= unit
            yield part[:, :-T], part[:, -T:], counts

    def sums(self, mean: Array, n: float) -> tuple[Array, Array, Array]:
        """Σ w x² of columns and targets, (Σ w φ t, Σ w φ v) with a random v, and the variances of t about `mean`."""
        rng = np.random.default_rng(0)
        squares, products, variance = 0 * self.unit, 0.0, 0 * mean
        centre = (mean - self.shift[self.size :]) / self.unit[self.size :]
        for columns, t, counts in self.tables():
            xp = namespace(t)
            v = asfloat64(rng.standard_normal(int(t.shape[0])), like=t)
            products = products + columns.T @ (counts[:, None] * xp.concat([t, v[:, None]], axis=1))
            variance = variance + counts @ (t - centre[None, :]) ** 2 / n
            root = xp.sqrt(counts)[:, None]
            squares = squares + xp.concat([column_squares(root * columns), column_squares(root * t)])
        return squares, products, variance

    def distinct(self, signature: Array) -> np.ndarray:
        """Positions of the columns that do not repeat an earlier one or its negative; see `ScaledColumns`."""
        groups = alike(np.abs(to_numpy(signature)))
        if not groups:
            return np.arange(self.size)
        first = np.concatenate([np.full(len(group) - 1, group[0]) for group in groups])
        other = np.concatenate([group[1:] for group in groups])
        largest = np.zeros((2, len(other)))
        for columns, _, _ in self.tables():
            a, b = (take(columns, J, axis=1) for J in (first, other))
            xp = namespace(columns)
            pair = xp.stack([xp.max(xp.abs(b - a), axis=0), xp.max(xp.abs(b + a), axis=0)])
            largest = np.maximum(largest, to_numpy(pair))
        return np.setdiff1d(np.arange(self.size), other[largest.min(axis=0) < SAME])

    def rows(self, J: Indices) -> Array:
        """G[J, :]."""
        tables = self.tables()
        return sum((counts[:, None] * take(columns, J, axis=1)).T @ columns for columns, _, counts in tables)

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        return sum((counts[:, None] * columns).T @ columns for columns, _, counts in self.tables(J))

    def gram(self) -> Array:
        """All of G."""
        return self.block(np.arange(self.size))

    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Φ_J w‖² of the scaled problem, of every output, from the rows themselves."""
        total: Any = 0.0
        for columns, t, counts in self.tables(J):
            error = t - columns @ (weights if weights.ndim == 2 else weights[:, None])
            total = total + counts @ (error * error)
        return total if weights.ndim == 2 else float(total[0])
