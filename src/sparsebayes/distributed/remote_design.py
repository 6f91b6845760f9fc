"""Columns of rows on Dask, scaled: their means and norms over all rows, without those that repeat others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._sketches import uniform
from sparsebayes.core.units import without_constants
from sparsebayes.distributed.labels import EncodedRows, Labelled
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.rows.chunks import slices
from sparsebayes.rows.scaled import SAME, alike, usable


@dataclass(frozen=True)
class ColumnsOf:
    """The columns of X themselves as functions."""

    def __call__(self, X: Any, J: np.ndarray) -> np.ndarray:
        """Φ[:, J] (n, |J|) at the rows of X, a copy."""
        block = X[:, J]
        return block.toarray() if hasattr(block, "toarray") else np.array(block)


@dataclass(frozen=True)
class KernelAt:
    """Kernel functions as functions: k(·, z_m).  kernel : k.  Z : (M, d)."""

    kernel: Any
    Z: np.ndarray

    def __call__(self, X: Any, J: np.ndarray) -> np.ndarray:
        """Φ[:, J] (n, |J|) at the rows of X."""
        return self.kernel.matrix(X, self.Z[J])


@dataclass(frozen=True, eq=False)
class RemoteDesign:
    """The columns `kept` of some functions, less their means and divided by their norms; rows are elsewhere.

    functions : (X, J) -> Φ[:, J].  kept : (M,) numbers of the functions.  means, norms : (M,).
    """

    functions: Any
    kept: np.ndarray
    means: np.ndarray
    norms: np.ndarray

    @property
    def size(self) -> int:
        """M."""
        return len(self.kept)

    def at(self, X: Any, J: np.ndarray) -> np.ndarray:
        """(Φ[:, J] − φ̄)/ν at the rows of X, J being positions in `kept`."""
        block = self.functions(X, self.kept[J])
        block -= self.means[J]
        block /= self.norms[J]
        return block

    def keep(self, positions: np.ndarray) -> RemoteDesign:
        """Only the columns at these positions."""
        return RemoteDesign(self.functions, self.kept[positions], self.means[positions], self.norms[positions])


@dataclass(frozen=True, eq=False)
class _ColumnMoments:
    """Σ weights, means and squared deviations of columns; adds by the formula of Chan, Golub and LeVeque."""

    n: float
    means: np.ndarray
    squares: np.ndarray

    def __add__(self, other: _ColumnMoments) -> _ColumnMoments:
        n, apart = self.n + other.n, other.means - self.means
        means = self.means + (other.n / n) * apart
        return _ColumnMoments(n, means, self.squares + other.squares + (self.n / n * other.n) * apart**2)


def _moments(rows: Labelled, functions: Any, M: int) -> _ColumnMoments:
    return sum_of([_block_moments(functions(X, np.arange(M)), counts) for X, counts in _blocks(rows, M)])


def _block_moments(Phi: np.ndarray, counts: np.ndarray) -> _ColumnMoments:
    n = float(counts.sum())
    means = (counts / n) @ Phi
    Phi -= means
    return _ColumnMoments(n, means, counts @ Phi**2)


def _blocks(rows: Labelled, width: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Rows and their counts, a block of bounded size at a time."""
    for part in slices(len(rows.counts), width):
        yield rows.X[part], rows.counts[part]


def _signature(rows: Labelled, design: RemoteDesign) -> np.ndarray:
    """Products of the scaled columns with a vector of numbers that look random, one per row."""
    total = np.zeros(design.size)
    for part in slices(len(rows.counts), design.size):
        v = uniform(rows.numbers[part, None].astype(np.float64)) - 0.5
        total += (rows.counts[part] * v) @ design.at(rows.X[part], np.arange(design.size))
    return total


def _apart(rows: Labelled, design: RemoteDesign, first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The largest difference, and sum, of entries of pairs of columns, (2, pairs)."""
    apart = np.zeros((2, len(first)))
    for X, _ in _blocks(rows, 2 * len(first)):
        a, b = design.at(X, first), design.at(X, other)
        apart = np.maximum(apart, [np.abs(b - a).max(axis=0), np.abs(b + a).max(axis=0)])
    return apart


def _largest(results: list[np.ndarray]) -> np.ndarray:
    return np.maximum.reduce(results)


def scaled_design(encoded: EncodedRows, functions: Any, M: int, center: bool) -> RemoteDesign:
    """The functions that are not zero, constant (with an intercept) or repeated, at unit norm: two or three passes.

    Parameters
    ----------
    encoded : EncodedRows
        The rows.
    functions : callable
        (X, J) -> Φ[:, J].
    M : int
        How many functions there are.
    center : bool
        Whether there is an intercept.
    """
    rows = encoded.rows
    moments: _ColumnMoments = rows.reduce("moments", _moments, sum_of, functions, M)
    n = moments.n
    means = moments.means if center else np.zeros(M)
    norms = np.sqrt(moments.squares if center else moments.squares + n * moments.means**2)
    norms = without_constants(norms, means, n)
    kept = usable(norms)
    design = RemoteDesign(functions, kept, means[kept], norms[kept])
    groups = alike(np.abs(rows.reduce("signature", _signature, sum_of, design)))
    if not groups:
        return design
    first = np.concatenate([np.full(len(group) - 1, group[0]) for group in groups])
    other = np.concatenate([group[1:] for group in groups])
    apart = rows.reduce("repeats", _apart, _largest, design, first, other)
    return design.keep(np.setdiff1d(np.arange(design.size), other[apart.min(axis=0) < SAME]))


def alike_rows(encoded: EncodedRows) -> np.ndarray:
    """Two rows (2, d) with the mean and the variance that each column of X has over all rows."""
    moments: _ColumnMoments = encoded.rows.reduce("moments", _moments, sum_of, ColumnsOf(), encoded.rows.shape[1])
    spread = np.sqrt(moments.squares / moments.n)
    return np.stack([moments.means - spread, moments.means + spread])
