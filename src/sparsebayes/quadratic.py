"""The hinge: what a solver may know of the data.

Around any w the Gaussian log-likelihood is, with noise precision β,

    log p(t|w, β) = ½ n log(β/2π) − ½ β (tᵀt − 2hᵀw + wᵀGw) + offset,     h = Φᵀt,   G = ΦᵀΦ

so (n, tᵀt, h, G) say all there is to say about the rows. They add over rows, and a solver sees nothing
else. Small problems hold G densely; wide ones hold h and fetch the columns of G they need, in batches.
The columns of Φ have unit norm here (whoever reads the rows scales them), so diag G = 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, is_numpy, masked_sum, namespace, submatrix, take


@dataclass(frozen=True)
class Restriction:
    """The quadratic on the active functions J alone: h_J (S,) and G_JJ (S, S)."""

    J: np.ndarray
    h: Array
    G: Array

    def keep(self, positions: Indices) -> Restriction:
        """The same on the functions at these positions of J."""
        G = submatrix(self.G, positions, positions)
        return Restriction(self.J[positions], take(self.h, positions), G)


class Quadratic(ABC):
    """n rows, tᵀt, h = Φᵀt (M,), columns of G = ΦᵀΦ (M×M) on demand; unit-norm columns.

    offset : what the log-likelihood has beside the formula above (the integral over an intercept).
    residual_of : exact ‖t − Φ_J w‖² by a pass over the active columns, None where no rows can be read.
    far_apart : order, size -> so many of the functions in `order` that are little alike, None where that is
        not known for next to nothing.
    orthonormal : whether G is known to be the identity.
    """

    orthonormal = False

    def __init__(
        self,
        n: float,
        tt: float,
        h: Array,
        offset: float = 0.0,
        residual_of: Callable[[Indices, Array], float] | None = None,
        far_apart: Callable[[np.ndarray, int], np.ndarray | None] | None = None,
    ) -> None:
        self.n, self.tt, self.h, self.offset = n, tt, h, offset
        self.residual_of, self.far_apart = residual_of, far_apart
        self.xp: Any = namespace(h)
        self.size = int(h.shape[0])

    @abstractmethod
    def columns(self, J: Indices) -> Array:
        """G[J, :], an (|J|, M) array: the products of the functions J with all functions."""

    @abstractmethod
    def gram(self, J: Indices) -> Array:
        """G[J, J], an (|J|, |J|) array."""

    def restrict(self, J: Indices) -> Restriction:
        """h and G on the functions J."""
        J = np.asarray(J, dtype=np.int64)
        return Restriction(J, take(self.h, J), self.gram(J))


class DenseQuadratic(Quadratic):
    """All of G (M, M) in memory: the choice when M is small.

    The first rows of G do where no other functions will be active, to score the rest of them.
    """

    def __init__(self, n: float, tt: float, h: Array, G: Array, **kwargs: Any) -> None:
        super().__init__(n, tt, h, **kwargs)
        self.G = G

    def columns(self, J: Indices) -> Array:
        """G[J, :]."""
        return take(self.G, J)

    def gram(self, J: Indices) -> Array:
        """G[J, J]."""
        return submatrix(self.G, J, J)


class IdentityQuadratic(Quadratic):
    """G = I: the functions are orthonormal, and h says all. Solvers that ask get columns of the identity.

    unseen : tᵀt − hᵀh, what of t lies outside the span of the functions.
    """

    orthonormal = True

    def __init__(self, n: float, h: Array, unseen: float = 0.0, **kwargs: Any) -> None:
        super().__init__(n, float(namespace(h).sum(h * h)) + unseen, h, **kwargs)
        self.unseen = unseen

    @cached_property
    def squares(self) -> Array:
        """h², elementwise."""
        return self.h * self.h

    def restricted(self, J: Indices) -> IdentityQuadratic:
        """The problem of the functions J alone, without a difference of large numbers."""
        rest = self.unseen + self.energy_outside(J)
        return IdentityQuadratic(self.n, take(self.h, J), rest, offset=self.offset)

    def energy_outside(self, J: Indices) -> float:
        """Σ h² of the functions other than J."""
        inside = float(self.xp.sum(take(self.squares, J)))
        total = self.tt - self.unseen
        if inside < 0.5 * total:
            return total - inside
        return masked_sum(self.squares, self.outside(J))

    def outside(self, J: Indices) -> np.ndarray:
        """Which functions are not among J, (M,) of bool."""
        outside = np.ones(self.size, dtype=bool)
        outside[J] = False
        return outside

    def columns(self, J: Indices) -> Array:
        """Rows J of the identity."""
        rows = np.zeros((len(J), self.size))
        rows[np.arange(len(J)), J] = 1.0
        return asfloat64(rows, like=self.h)

    def gram(self, J: Indices) -> Array:
        """The identity."""
        return asfloat64(np.eye(len(J)), like=self.h)


class ColumnQuadratic(Quadratic):
    """Only the columns of G that were ever asked for, fetched in batches and kept.

    products : J -> G[J, :], one pass over the data for the whole batch.
    block : J -> G[J, J], which costs less than the columns while a set is only being tried.
    """

    def __init__(
        self,
        n: float,
        tt: float,
        h: Array,
        products: Callable[[Indices], Array],
        block: Callable[[Indices], Array],
        **kwargs: Any,
    ) -> None:
        super().__init__(n, tt, h, **kwargs)
        self._products, self._block = products, block
        self._slot = np.full(self.size, -1)  # where in the store the column of each function is
        self._used = 0
        self._store: Array = self.xp.zeros((0, self.size), dtype=h.dtype, device=getattr(h, "device", None))

    def columns(self, J: Indices) -> Array:
        """G[J, :]; those not held yet are fetched in one pass."""
        J = np.asarray(J, dtype=np.int64)
        missing = J[self._slot[J] < 0]
        if len(missing):
            self._append(missing, self._products(missing))
        return take(self._store, self._slot[J])

    def _append(self, J: np.ndarray, rows: Array) -> None:
        """Keep new rows of G; the store doubles so that growing it costs O(1) copies a row."""
        used = self._used
        self._slot[J] = np.arange(used, used + len(J))
        self._used += len(J)
        if is_numpy(rows):
            if used + len(J) > self._store.shape[0]:
                larger = np.empty((max(64, 2 * (used + len(J))), self.size))
                larger[:used] = self._store[:used]
                self._store = larger
            self._store[used : used + len(J)] = rows
        else:
            self._store = self.xp.concat([self._store, rows], axis=0)

    def gram(self, J: Indices) -> Array:
        """G[J, J] from the columns held, and from the data only for pairs of functions not held."""
        J = np.asarray(J, dtype=np.int64)
        slots = self._slot[J]
        held = slots >= 0
        if held.all():
            return submatrix(self._store, slots, J)
        old, new = np.flatnonzero(held), np.flatnonzero(~held)
        corner = self._block(J[new])
        if not len(old):
            return corner
        rows = submatrix(self._store, slots[old], J)
        side = take(rows, new, axis=1)
        left = self.xp.concat([take(rows, old, axis=1), side.T], axis=0)
        right = self.xp.concat([side, corner], axis=0)
        order = np.argsort(np.concatenate([old, new]))
        return submatrix(self.xp.concat([left, right], axis=1), order, order)
