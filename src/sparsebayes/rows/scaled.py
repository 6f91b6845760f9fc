"""Columns of a design, scaled once: (φ_m − φ̄_m)/ν_m of unit norm, without repeated ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, namespace, take, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.core.units import NothingToModel

BATCH = 64  # columns of Φ scaled at a time
SAME = 1e-11  # largest difference between entries of two unit columns that count as one


class ScaledColumns:
    """The columns `kept` of an operator, less their means and divided by their norms.

    means : φ̄ (M,), zero without an intercept.  norms : ν (M,).  size : M, the number of columns kept.
    """

    def __init__(self, operator: Operator, kept: np.ndarray, means: Array, norms: Array, center: bool) -> None:
        self.operator, self.kept, self.means, self.norms, self.center = operator, kept, means, norms, center
        self.size, self.complete = len(kept), len(kept) == operator.shape[1]

    @classmethod
    def of(cls, operator: Operator, counts: Array, center: bool) -> ScaledColumns:
        """All columns that are not zero (or constant, with `center`) under the row counts."""
        means, norms = operator.means_and_norms(counts, center)
        kept = usable(norms)
        return cls(operator, kept, take(means, kept), take(norms, kept), center)

    def keep(self, positions: Indices) -> ScaledColumns:
        """Only the columns at these positions."""
        positions = np.asarray(positions, dtype=np.int64)
        means, norms = take(self.means, positions), take(self.norms, positions)
        return ScaledColumns(self.operator, self.kept[positions], means, norms, self.center)

    def columns(self, J: Indices) -> Array:
        """(Φ[:, J] − φ̄)/ν, an (N, |J|) array."""
        J = np.asarray(J, dtype=np.int64)
        block = self.operator.columns(self.kept[J])
        if self.center:
            block = block - take(self.means, J)[None, :]
        return block / take(self.norms, J)[None, :]

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """Positions of `size` columns out of `order` that differ much, `order[0]` first; None if unknown."""
        chosen = self.operator.far_apart(self.kept[order], size)
        return None if chosen is None else np.searchsorted(self.kept, chosen)

    def adjoint(self, V: Array) -> Array:
        """Scaled columns times V (N, k): an (M, k) array."""
        products = self.operator.adjoint(V)
        if not self.complete:
            products = take(products, self.kept)
        if self.center:  # V may be centred too, but a large mean would multiply what rounding left of its sum
            products = products - self.means[:, None] * namespace(V).sum(V, axis=0)[None, :]
        return products / self.norms[:, None]

    def squares(self, weights: Array) -> Array:
        """Σ_n W_nk φ̃_nm² of the scaled columns, (M, K) from W (N, K)."""
        shift, scale = self.means, self.norms
        if not self.complete:
            shift, scale = self._for_all(shift, 0.0), self._for_all(scale, 1.0)
        squares = self.operator.squares(weights, shift, scale)
        return squares if self.complete else take(squares, self.kept)

    def _for_all(self, values: Array, other: float) -> Array:
        """A vector over all columns of the operator: `values` for the columns kept, `other` for the rest."""
        full = np.full(self.operator.shape[1], other)
        full[self.kept] = to_numpy(values)
        return asfloat64(full, like=values)

    def without_repeats(self, signature: Array) -> np.ndarray:
        """Positions of the columns that do not repeat an earlier one or its negative.

        signature : (M,) the products of every column with one random vector: equal columns have equal ones.
        """
        distinct = np.ones(self.size, dtype=bool)
        for group in alike(np.abs(to_numpy(signature))):
            first = self.columns(group[:1])
            for start in range(1, len(group), BATCH):
                others = group[start : start + BATCH]
                distinct[others] = apart(self.columns(others), first) >= SAME
        return np.flatnonzero(distinct)


def apart(columns: Array, others: Array) -> np.ndarray:
    """The largest difference between entries of columns (N, k) and others (N, k) or (N, 1), up to a common sign."""
    xp = namespace(columns)
    pair = [xp.max(xp.abs(columns - sign * others), axis=0) for sign in (1.0, -1.0)]
    return np.min(to_numpy(xp.stack(pair)), axis=0)


def usable(norms: Array) -> np.ndarray:
    """Positions of the columns whose norm is not 0; there must be some."""
    kept = np.flatnonzero(to_numpy(norms) > 0)
    if not len(kept):
        raise NothingToModel("X has no usable column: every basis function is zero (or constant, with an intercept).")
    return kept


def random_vector(like: Array) -> Array:
    """A fixed vector of normal deviates as long as `like`, for the signatures of `without_repeats`."""
    values: Any = np.random.default_rng(0).standard_normal(int(like.shape[0]))
    return asfloat64(values, like=like)


def alike(signature: np.ndarray) -> list[np.ndarray]:
    """Groups of functions, ascending, with the same |projection| on a random vector; equal functions share it."""
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) < 1e-9 * max(float(signature.max()), 1e-300)
    if not close.any():
        return []
    return [np.sort(run) for run in np.split(order, np.flatnonzero(~close) + 1) if len(run) > 1]
