"""True kernel columns, in strips of rows: statistics of any few functions of a kernel that is never formed.

    means φ̄, norms ν, h = Φᵀt and G = ΦᵀΦ of functions W,

with the columns centred about a guess c at their means, and the guess corrected afterwards:

    Σ w (a − ā)(b − b̄) = Σ w (a − c_a)(b − c_b) − n (ā − c_a)(b̄ − c_b).

A guess from a sample of the rows is close enough for nothing to cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import (
    Array,
    Indices,
    asfloat64,
    at_least,
    gathered,
    increased,
    is_numpy,
    namespace,
    on_accelerator,
    rows_at,
    scattered,
    submatrix,
    to_numpy,
    together,
)
from sparsebayes._threads import in_parallel
from sparsebayes.bases.kernel_operator import KernelOperator
from sparsebayes.core.quadratic import DenseQuadratic, Products, Quadratic
from sparsebayes.core.units import Units, without_constants
from sparsebayes.rows.scaled import usable

STRIP = 1 << 21  # elements of Φ evaluated together
PIECE = 512  # rows, and functions, evaluated together if they are not kept: such a piece stays in the cache
LARGE_PIECE = 4096  # the same on a GPU
SYMMETRIC = 0.5  # of all functions: for more of them, evaluating half of a symmetric Φ is cheaper
GUESS_ROWS = 2048  # rows that the guess at the means is made from

Statistics = tuple[Quadratic, Units]


class TrueColumns:
    """A kernel and the scaled target, and passes over the rows for few functions.

    The rows, t and counts are where the rows of the operator are; statistics of few functions come to the host.

    units : of the target; they have no columns.  t : (t − t̄)/τ, (N,).  tt : tᵀWt.
    counts : how often each row counts, (N,).
    candidates : (M,) whether each function may be selected: centres that repeat an earlier one may not.
    strip : elements of Φ that are evaluated together.
    """

    def __init__(self, operator: KernelOperator, t: Array, weights: Array | None, center: bool) -> None:
        self.operator, self.strip = operator, together(STRIP, operator.X)
        t = asfloat64(t, like=operator.X)
        self.xp = namespace(t)
        self.counts = self.xp.ones_like(t) if weights is None else asfloat64(weights, like=t)
        self.units = Units.of_target(t, self.counts, center)
        self.t = self.units.scaled(t)
        self.tt = float(self.xp.sum(self.counts * self.t * self.t))
        self.candidates = operator.distinct()
        rows = np.arange(operator.shape[0]) if weights is None else np.flatnonzero(to_numpy(self.counts))
        self._guess_rows = rows[:: max(1, len(rows) // GUESS_ROWS)]

    def subset(self, W: np.ndarray) -> Statistics:
        """The problem of the functions W (ascending) alone, those without a usable column taken out."""
        means, h, G = gathered(*self._moments(W))
        norms = norms_of(G.diagonal(), means, self.units.n)
        kept = usable(norms)
        W, means, norms, G = W[kept], means[kept], norms[kept], submatrix(G, kept, kept)
        G /= norms[:, None] * norms[None, :]
        np.fill_diagonal(G, 1.0)
        units = self.units.with_columns(W, norms, means)
        return self.quadratic(h[kept] / norms, G, _SubsetProducts(self, W, norms)), units

    def quadratic(self, h: Array, G: Array, products: Products | None = None) -> Quadratic:
        """What a solver sees of functions with these h and G of their scaled columns."""
        n, offset = self.units.rows_counted, self.units.offset
        return DenseQuadratic(n, self.tt, h, G, offset=offset, products=products)

    def barred(self, *functions: np.ndarray) -> np.ndarray:
        """Whether each function is one of these or no candidate, (M,)."""
        barred = ~self.candidates
        barred[np.concatenate(functions)] = True
        return barred

    def _moments(self, W: np.ndarray) -> tuple[Array, ...]:
        """Means, h and G of the functions W, not scaled, in one pass."""
        units, root = self.units, self.xp.sqrt(self.counts)
        nothing = asfloat64(np.zeros(len(W)), like=self.t)
        guess = self._guess(W) if units.center else nothing
        totals, h, G = nothing + 0.0, nothing + 0.0, nothing[:, None] * nothing[None, :]

        def moments(rows: slice) -> tuple[Array, ...]:
            block = self.operator.block(rows, W) - guess
            block *= root[rows][:, None]
            return root[rows] @ block, (root[rows] * self.t[rows]) @ block, block.T @ block

        def add(found: tuple[Array, ...]) -> None:
            nonlocal totals, h, G
            totals, h, G = totals + found[0], h + found[1], G + found[2]

        in_parallel(moments, self._strips(len(W)), add, is_numpy(self.t))
        drift = totals / units.n if units.center else nothing
        G -= units.n * drift[:, None] * drift[None, :]
        return guess + drift, h, G  # Σ w t = 0 with an intercept, so h needs no correction

    def _guess(self, W: np.ndarray) -> Array:
        """Means of the functions over a sample of the rows."""
        counts = rows_at(self.counts, self._guess_rows)[:, None]
        block = self.operator.block(self._guess_rows, W)
        return self.xp.sum(block * counts, axis=0) / self.xp.sum(counts, axis=0)

    def residual(self, J: np.ndarray, weights: np.ndarray) -> Array:
        """t − Φ_J w of the scaled target, (N,), about its mean with an intercept."""
        w, pieces = asfloat64(weights, like=self.t), list[Array]()
        in_parallel(
            lambda rows: self.operator.block(rows, J) @ w, self._strips(len(J)), pieces.append, is_numpy(self.t)
        )
        residual = self.t - self.xp.concat(pieces)
        return residual - self.counts @ residual / self.units.n if self.units.center else residual

    def _strips(self, functions: int) -> list[slice]:
        """The rows in strips, for so many functions."""
        return list(gen_batches(int(self.t.shape[0]), max(1, self.strip // functions)))

    def adjoint(self, W: np.ndarray, v: Array) -> Array:
        """Φ_Wᵀv for v (N,) and distinct functions W, ascending, at the positions W of a vector of all functions, (M,).

        For most functions of a symmetric Φ only half of it is evaluated; the others are then not 0.
        """
        (N, M), piece = self.operator.shape, LARGE_PIECE if on_accelerator(v) else PIECE
        halves = self.operator.symmetric and len(W) >= SYMMETRIC * M
        functions = np.arange(M) if halves else W
        products = asfloat64(np.zeros(len(functions)), like=v)

        def of_piece(few: slice) -> Array:
            """What these functions add to the products of the first few.stop of them."""
            own = products[: few.stop] * 0.0
            for rows in gen_batches(few.stop if halves else N, piece):
                block = self.operator.block(rows, few if halves else functions[few])
                own = increased(own, few, v[rows] @ block)
                if halves and rows.start < few.start:
                    own = increased(own, rows, block @ v[few])
            return own

        def add(own: Array) -> None:
            nonlocal products
            products = increased(products, slice(0, int(own.shape[0])), own)

        in_parallel(of_piece, list(gen_batches(len(functions), piece)), add, is_numpy(v))
        return products if halves else scattered(products, functions, M)


@dataclass(frozen=True)
class _SubsetProducts(Products):
    """Residuals of the scaled functions W, (φ − φ̄)/ν, with ν = norms."""

    columns: TrueColumns
    W: np.ndarray
    norms: np.ndarray

    def residual(self, J: Indices, weights: np.ndarray) -> float:
        """‖t − Φ_J w‖² of the scaled functions, from the rows themselves."""
        J = np.asarray(J)
        residual = self.columns.residual(self.W[J], weights / self.norms[J])
        return float(self.columns.counts @ (residual * residual))


def norms_of(squares: Array, means: Array, n: float) -> Array:
    """√squares (M,) of columns about their means; 0 for what rounding leaves of a constant column."""
    return without_constants(namespace(squares).sqrt(at_least(squares, 0.0)), means, n)
