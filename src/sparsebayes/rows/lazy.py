"""A quadratic with many functions: the rows of G = ΦᵀΦ that were ever needed, fetched in batches and kept."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sparsebayes._array import Array, Indices, is_numpy, submatrix, take
from sparsebayes._threads import threads_of_rows
from sparsebayes.core.quadratic import Products, Quadratic


class RowProducts(Products):
    """Products of scaled columns, by passes over the data."""

    @abstractmethod
    def rows(self, J: Indices) -> Array:
        """G[J, :], an (|J|, M) array: one pass over the data for the whole batch."""

    @abstractmethod
    def block(self, J: Indices) -> Array:
        """G[J, J], an (|J|, |J|) array, which costs less than the rows J of G."""


NEVER = -1  # the slot of a function whose row was never needed; that of batch k, to be fetched again, is NEVER − 1 − k


class LazyQuadratic(Quadratic):
    """The rows of G that were ever needed, fetched in batches from `products` and kept.

    batches : the functions of each batch so far. A quadratic that is told to expect them fetches the same batches,
    each when one of its rows is needed: in others rows would round differently.
    """

    products: RowProducts

    def __init__(self, n: float, tt: float, h: Array, products: RowProducts, offset: float = 0.0) -> None:
        super().__init__(n, tt, h, offset, products)
        self._slot = np.full(self.size, NEVER)  # where in the store the row of each function is
        self.batches: list[np.ndarray] = []
        self._used = 0
        self._store: Array = self.xp.zeros((0, self.size), dtype=h.dtype, device=getattr(h, "device", None))

    def rows(self, J: Indices) -> Array:
        """G[J, :]; the rows that are not held yet are fetched in one pass."""
        J = np.asarray(J, dtype=np.int64)
        missing = J[self._slot[J] == NEVER]
        if len(missing):
            self.batches.append(missing)
            self._append(missing, self._fetched(missing))
        self._fetch_again(J)
        return take(self._store, self._slot[J])

    def expect(self, batches: list[np.ndarray]) -> None:
        """Take these batches, of a fit that was interrupted, as fetched."""
        for k, J in enumerate(batches):
            self._slot[J] = np.where(self._slot[J] < 0, NEVER - 1 - k, self._slot[J])
        self.batches = list(batches)

    def _fetch_again(self, J: np.ndarray) -> None:
        """Hold the rows of these functions that were fetched before an interruption."""
        for k in np.unique(NEVER - 1 - self._slot[J]):
            if k >= 0:
                self._append(self.batches[k], self._fetched(self.batches[k]))

    def _fetched(self, J: np.ndarray) -> Array:
        """The rows J of G, by a pass over the data."""
        with threads_of_rows():
            return self.products.rows(J)

    def _append(self, J: np.ndarray, rows: Array) -> None:
        """Keep new rows of G; the store doubles, so that growing it costs O(1) copies of each row."""
        used, needed = self._used, self._used + len(J)
        self._slot[J] = np.arange(used, needed)
        self._used = needed
        if not is_numpy(rows):
            self._store = self.xp.concat([self._store, rows], axis=0)
            return
        if needed > self._store.shape[0]:
            larger = np.empty((max(64, 2 * needed), self.size))
            larger[:used] = self._store[:used]
            self._store = larger
        self._store[used:needed] = rows

    def gram(self, J: Indices) -> Array:
        """G[J, J] from the rows held; pairs of functions neither of which is held are computed."""
        J = np.asarray(J, dtype=np.int64)
        self._fetch_again(J[self._slot[J] < NEVER])
        slots = self._slot[J]
        held = slots >= 0
        if held.all():
            return submatrix(self._store, slots, J)
        old, new = np.flatnonzero(held), np.flatnonzero(~held)
        corner = self.products.block(J[new])
        if not len(old):
            return corner
        rows = submatrix(self._store, slots[old], J)
        side = take(rows, new, axis=1)
        left = self.xp.concat([take(rows, old, axis=1), side.T], axis=0)
        right = self.xp.concat([side, corner], axis=0)
        order = np.argsort(np.concatenate([old, new]))
        return submatrix(self.xp.concat([left, right], axis=1), order, order)
