"""Positive semi-definite kernel matrices of low rank: K ≈ LLᵀ by pivoted Cholesky, as an operator.

Pivots are found in blocks, so that the work is products of matrices: points are drawn with probabilities
proportional to the diagonal of the residual R = K − LLᵀ, a small pivoted Cholesky factorisation among them
finds the most informative ones, and their columns extend L. If K does not fit in memory the points are drawn by hash
values of their contents, so that rows on many machines have the same pivots. R stays positive semi-definite, so that

    R_nm² ≤ R_nn R_mm,     ‖column m of R‖² ≤ R_mm Σ_n R_nn

bounds the error of every basis function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from sklearn.utils import gen_batches

from sparsebayes._array import (
    Array,
    Indices,
    assigned,
    at_least,
    column_products,
    column_squares,
    columns_at,
    device,
    gathered,
    is_numpy,
    namespace,
    solver_of_lower,
    take,
    to_numpy,
    together,
    zeroed,
)
from sparsebayes._sketches import draw_keys, smallest
from sparsebayes._threads import in_parallel
from sparsebayes.bases.operators import LOW_RANK, LowRankSettings, Operator, block_means_and_norms

if TYPE_CHECKING:
    from sparsebayes.bases.contract import BoundBasis
    from sparsebayes.bases.kernel_operator import KernelOperator

CANCELLED = 1e-6  # a function that varies by less than this share of its mean is evaluated itself


class LowRankOperator(Operator):
    """Φ = LLᵀ: column m is L ℓ_m, with ℓ_m row m of L (N, r).

    Parameters
    ----------
    transposed : array of shape (r, N)
        Lᵀ.
    pivots : ndarray of shape (r,)
        The functions that are exact.
    residual : array of shape (N,)
        The diagonal of K − LLᵀ, K being the matrix that Φ approximates.
    """

    block_elements = 1 << 20

    def __init__(self, transposed: Array, pivots: np.ndarray, residual: Array) -> None:
        self.transposed, self.pivots, self.residual = transposed, pivots, residual
        self.shape = (int(transposed.shape[1]), int(transposed.shape[1]))

    @property
    def rank(self) -> int:
        """The rank r of LLᵀ."""
        return int(self.transposed.shape[0])

    def columns(self, J: Indices) -> Array:
        """L ℓ_J, stored by columns."""
        J = np.asarray(J, dtype=np.int64)
        return (columns_at(self.transposed, J).T @ self.transposed).T

    def adjoint(self, V: Array) -> Array:
        """L(LᵀV)."""
        return self.transposed.T @ (self.transposed @ V)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Means and norms from LᵀWL; from the column itself where that would cancel."""
        xp = namespace(weights)
        total, nothing = float(xp.sum(weights)), xp.zeros_like(self.residual)
        means = self.adjoint(weights) / total if center else nothing
        squares = self.squares(weights[:, None], means, nothing + 1.0)[:, 0]
        norms = xp.sqrt(at_least(squares, 0.0))
        small = to_numpy(norms <= CANCELLED * xp.abs(means) * math.sqrt(total))
        for m in np.flatnonzero(small).tolist():
            norms = assigned(norms, m, block_means_and_norms(self.columns([m]), weights, center)[1][0])
        return means, norms

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """Σ_n W_nk (φ_nm − shift_m)²/scale_m² = ℓᵀCℓ + 2δℓᵀc + δ²ΣW, with C and c of L about its mean.

        δ = mean of φ_m − shift_m is 0 if the shifts are the means, so that nothing cancels.
        """
        xp = namespace(self.transposed)
        middle = xp.mean(self.transposed, axis=1)
        drift = middle @ self.transposed - shift
        pieces = [self._squares_under(weights[:, k], middle, drift) for k in range(weights.shape[1])]
        return xp.stack(pieces, axis=1) / (scale * scale)[:, None]

    def _squares_under(self, weights: Array, middle: Array, drift: Array) -> Array:
        xp, L, (r, N) = namespace(weights), self.transposed, self.transposed.shape
        strips = list(gen_batches(N, max(1, together(self.block_elements, L) // r)))
        C, c = 0.0, 0.0
        for part in strips:
            centred = L[:, part] - middle[:, None]
            weighted = centred * weights[part]
            C = C + centred @ weighted.T
            c = c + xp.sum(weighted, axis=1)
        quadratic = [column_products(L[:, part], C @ L[:, part]) for part in strips]
        return xp.concat(quadratic) + drift * (2 * (c @ L) + drift * xp.sum(weights))


def pivoted_cholesky(
    operator: KernelOperator, tol: float, settings: LowRankSettings = LOW_RANK
) -> tuple[LowRankOperator, bool]:
    """K ≈ LLᵀ as far as the largest rank allows.

    Parameters
    ----------
    operator : KernelOperator
        K (N, N), symmetric and positive semi-definite.
    tol : float
        Largest element of diag(K − LLᵀ), relative to the largest of diag K. A factor of small rank is finer.
    settings : LowRankSettings
        Settings of the factorisation.

    Returns
    -------
    factor : LowRankOperator
        LLᵀ.
    complete : bool
        Whether it is within the tolerance. It is not if the largest rank is too small for that; the
        factorisation ends early if the spectrum is seen to fall too slowly.
    """
    factor = _GrowingFactor(operator, settings)
    limit = int(factor.L.shape[0])
    largest, trace = factor.left()
    goal, finest = tol * largest, settings.cheap_tol * largest
    while (r := len(factor.pivots)) < limit:
        most, left = factor.left()
        if most <= (goal if r >= settings.cheap_rank else min(goal, finest)):
            break
        if r > settings.early_rank * limit and left > settings.early_trace * trace:
            break
        factor.extend(*factor.next_pivots(goal if most > goal else finest, most))
    found = LowRankOperator(factor.L[: len(factor.pivots), ...], factor.pivots, factor.residual)
    return found, factor.left()[0] <= goal


@dataclass(frozen=True)
class _RandomDraws:
    """Points drawn with probabilities proportional to their residuals, by a generator of random numbers."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __call__(self, residual: Array, least: float, number: int, rank: int) -> np.ndarray:
        """At most `number` points with residuals (N,) above `least`."""
        residual = to_numpy(residual)
        mass = np.cumsum(np.where(residual > least, residual, 0.0))
        drawn = np.searchsorted(mass, self.rng.random(number) * mass[-1], side="right")
        return np.minimum(drawn, len(residual) - 1)


@dataclass(frozen=True)
class _HashedDraws:
    """Points drawn in proportion to their residuals by hash values, which their order does not change.

    X : (N, d).  distinct : (N,) whether a point repeats no earlier one.
    """

    X: Array
    distinct: Array

    def __call__(self, residual: Array, least: float, number: int, rank: int) -> np.ndarray:
        """At most `number` points with residuals (N,) above `least`; rank : pivots so far."""
        xp, left = namespace(residual), self.distinct & (residual > 0)
        keys = draw_keys(self.X, xp.where(left, residual, 1.0), 1 + rank)
        drawn = smallest(xp.where(left, keys, math.inf), number)
        return drawn[to_numpy(take(left & (residual > least), drawn))]


class _GrowingFactor:
    """The pivots found so far, as many rows of L (largest rank, N), and the residual (N,)."""

    def __init__(self, operator: KernelOperator, settings: LowRankSettings) -> None:
        N = operator.shape[0]
        self.operator, self.settings = operator, settings
        self.residual = operator.diagonal()
        self.draws = _RandomDraws() if operator.fits else _HashedDraws(operator.X, self._mask(operator.distinct()))
        self.pivots = np.zeros(0, dtype=np.int64)
        # on a host, rows that stay unused cost address space, not memory
        ranks = min(N // settings.rows_per_rank, settings.max_rank)
        xp = namespace(self.residual)
        self.L = xp.empty((ranks, N), dtype=xp.float64, device=device(self.residual))

    def _mask(self, chosen: np.ndarray) -> Array:
        """A mask (N,) beside the residual."""
        return namespace(self.residual).asarray(chosen, device=device(self.residual))

    def left(self) -> tuple[float, float]:
        """The largest residual, and the trace of R."""
        xp = namespace(self.residual)
        largest, trace = gathered(xp.max(self.residual), xp.sum(self.residual))
        return float(largest), float(trace)

    def next_pivots(self, least: float, most: float) -> tuple[np.ndarray, np.ndarray]:
        """A block of new pivots with residuals above `least`, and the Cholesky factor of R among them.

        most : the largest residual.
        """
        r, residual, settings = len(self.pivots), self.residual, self.settings
        size = max(settings.smallest_block, int(settings.block_growth * r))
        size = min(size, settings.largest_block, int(self.L.shape[0]) - r)
        drawn = self.draws(residual, least, settings.draws_per_pivot * size, r)
        # the largest one as well: then there is always a pivot, and the largest residual falls
        drawn = np.unique(np.append(drawn, int(namespace(residual).argmax(residual))))
        known = columns_at(self.L[:r, ...], drawn)
        among = to_numpy(self.operator.block(drawn, drawn) - known.T @ known)
        tol = max(0.5 * least, settings.pivot_share * most)
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(among.T, tol=tol, lower=1, overwrite_a=1)
        rank = max(min(int(rank), size), 1)
        return drawn[order[:rank] - 1], np.tril(factor[:rank, :rank])

    def extend(self, found: np.ndarray, corner: np.ndarray) -> None:
        """Append the columns of new pivots: those of K − LLᵀ times the inverse of their factor `corner`."""
        r, size = len(self.pivots), len(found)
        known, left = columns_at(self.L[:r, ...], found), []
        solve = solver_of_lower(corner, like=self.L)
        strip = together(self.settings.strip_elements, self.L)

        def columns(part: slice) -> tuple[slice, Array]:
            block = self.operator.block(found, part)
            block -= known.T @ self.L[:r, part]
            return part, solve(block)

        def keep(solved: tuple[slice, Array]) -> None:
            part, block = solved
            self.L = assigned(self.L, (slice(r, r + size), part), block)
            left.append(self.residual[part] - column_squares(block))

        in_parallel(
            columns, list(gen_batches(int(self.L.shape[1]), max(1, strip // (r + size)))), keep, is_numpy(self.L)
        )
        self.residual = namespace(*left).concat(left)
        self.residual = zeroed(self.residual, found)
        self.pivots = np.concatenate([self.pivots, found])


def greedy_cholesky(
    bound: BoundBasis, X: np.ndarray, rank: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K ≈ LLᵀ of a kernel at rows X, each pivot the row with the largest residual.

    Of rows that are equal in that at the start, it is the one nearest to the middle of their range, so that neither
    the order of rows or columns nor repeated rows matter.

    Parameters
    ----------
    bound : BoundBasis
        Functions of one positive semi-definite kernel, which can be centred anywhere.
    X : ndarray of shape (N, d)
        The rows.
    rank : int
        Most pivots.
    tol : float
        Largest residual of the diagonal at which no more pivots are needed, relative to the mean of the diagonal.

    Returns
    -------
    L : ndarray of shape (N, r)
        The factor; its rows at the pivots are triangular.
    pivots : ndarray of int, shape (r,)
        The pivots, in the order in which they were found.
    residual : ndarray of shape (N,)
        The diagonal of K − LLᵀ, at least 0.
    """
    residual = kernel_diagonal(bound, X)
    least, rank = tol * float(residual.mean()), min(rank, len(X))
    L, pivots = np.zeros((len(X), rank)), []
    for r in range(rank):
        pivot = int(np.argmax(residual)) if r else _most_central(bound, X, residual)
        if not residual[pivot] > least:
            break
        column = _centred(bound, X[pivot : pivot + 1])(X)[:, 0] - L[:, :r] @ L[pivot, :r]
        L[:, r] = column / np.sqrt(residual[pivot])
        residual = np.maximum(residual - L[:, r] ** 2, 0.0)
        residual[pivot] = 0.0
        pivots.append(pivot)
    return L[:, : len(pivots)], np.asarray(pivots, dtype=np.int64), residual


def _most_central(bound: BoundBasis, X: np.ndarray, diagonal: np.ndarray) -> int:
    """Of the rows with the largest k(x, x), the one with the largest kernel function at the middle of the range."""
    middle = 0.5 * X.min(axis=0, keepdims=True) + 0.5 * X.max(axis=0, keepdims=True)
    near = _centred(bound, middle)(X)[:, 0]
    return int(np.argmax(np.where(diagonal >= (1 - 1e-12) * diagonal.max(), near, -np.inf)))


def kernel_diagonal(bound: BoundBasis, X: np.ndarray, block: int = 64) -> np.ndarray:
    """k(x, x) at rows X (N, d), of functions of one kernel that can be centred anywhere, (N,)."""
    pieces = [_centred(bound, X[part])(X[part]).diagonal() for part in gen_batches(len(X), block)]
    return np.concatenate(pieces)


def _centred(bound: BoundBasis, X: np.ndarray) -> BoundBasis:
    """The functions centred at X."""
    functions = bound.centred_at(X)
    assert functions is not None  # the caller has a kernel
    return functions
