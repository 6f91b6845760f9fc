"""K ≈ LLᵀ of a positive semi-definite kernel matrix by pivoted Cholesky, columns evaluated as needed.

The pivots come in blocks, so that the work is products of matrices: points are drawn with probabilities in
proportion to the diagonal of the residual K − LLᵀ, a small pivoted Cholesky among them finds those that tell
most, and their columns extend L. The residual R stays positive semi-definite, so that

    R_nm² ≤ R_nn R_mm,     ‖column m of R‖² ≤ R_mm Σ_n R_nn

bounds what the approximation does to any basis function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from sklearn.utils import gen_batches

from sparsebayes._array import column_squares
from sparsebayes.bases.on_demand import KernelOperator

SMALLEST_BLOCK, LARGEST_BLOCK = 32, 160  # pivots found together
GROWTH = 0.5  # a block is at most so large beside the pivots there are
DRAWN = 3  # points looked at for each pivot wanted
UNEQUAL = 0.05  # of the largest residual: what is left of less waits for a later block
SOON, SLOW = (
    0.3,
    0.05,
)  # with so much of the columns allowed there must be no more left of the trace than this
CHEAP, FINEST = 128, 1e-11  # up to that rank an L to that tolerance is had for next to nothing
STRIP = 1 << 21  # elements of L that are worked on together


@dataclass(frozen=True)
class Factor:
    """K ≈ LLᵀ, L kept as its transpose: row k of `transposed` (r, N) is column k of L.

    pivots : P (r,).  residual : diagonal of K − LLᵀ (N,).  complete : whether all of it is small enough.
    """

    pivots: np.ndarray
    transposed: np.ndarray
    residual: np.ndarray
    complete: bool

    @property
    def rank(self) -> int:
        """The rank r of LLᵀ."""
        return len(self.pivots)


def pivoted_factor(operator: KernelOperator, tol: float, most: int) -> Factor:
    """L with every diagonal element of K − LLᵀ below tol · max K_nn, or as far as it got.

    Where the rank stays small the elements are smaller than asked for.

    most : the largest rank; where the spectrum is seen to fall too slowly for it, the search ends early.
    """
    N = operator.shape[0]
    residual = operator.diagonal()
    largest = float(residual.max())
    least = tol * largest
    L = np.empty((min(most, N), N))  # rows that stay unused cost address space, not memory
    pivots = np.zeros(0, dtype=np.int64)
    rng = np.random.default_rng(0)
    whole = float(residual.sum())
    while len(pivots) < len(L):
        r = len(pivots)
        if residual.max() <= (least if r >= CHEAP else min(least, FINEST * largest)):
            break
        if r > SOON * len(L) and residual.sum() > SLOW * whole:
            break
        wanted = min(max(SMALLEST_BLOCK, int(GROWTH * r)), LARGEST_BLOCK, len(L) - r)
        goal = least if residual.max() > least else FINEST * largest
        found, corner = _block(operator, L[:r], residual, goal, wanted, rng)
        _extend(operator, L, r, found, corner, residual)
        pivots = np.concatenate([pivots, found])
    return Factor(pivots, L[: len(pivots)], residual, bool(residual.max() <= least))


def _block(
    operator: KernelOperator,
    L: np.ndarray,
    residual: np.ndarray,
    least: float,
    wanted: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """New pivots, at most `wanted`, and the Cholesky factor of the residual among them."""
    mass = np.cumsum(np.where(residual > least, residual, 0.0))
    drawn = np.searchsorted(mass, rng.random(DRAWN * wanted) * mass[-1], side="right")
    # the largest one as well: there is always a pivot, and the largest residual falls
    drawn = np.unique(np.append(np.minimum(drawn, len(residual) - 1), residual.argmax()))
    known = L[:, drawn]
    among = operator.block(drawn, drawn) - known.T @ known
    least = max(0.5 * least, UNEQUAL * float(residual.max()))
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(among.T, tol=least, lower=1, overwrite_a=1)
    rank = max(min(int(rank), wanted), 1)
    return drawn[order[:rank] - 1], np.tril(factor[:rank, :rank])


def _extend(
    operator: KernelOperator,
    L: np.ndarray,
    r: int,
    found: np.ndarray,
    corner: np.ndarray,
    residual: np.ndarray,
) -> None:
    """The columns of the new pivots, less what L has of them already, times the inverse of their factor."""
    known, size = L[:r, found], len(found)
    for part in gen_batches(L.shape[1], max(1, STRIP // (r + size))):
        columns = operator.block(found, part)
        columns -= known.T @ L[:r, part]
        # in LAPACK's own order this is a solve from the right
        columns = scipy.linalg.blas.dtrsm(1.0, corner, columns.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        L[r : r + size, part] = columns
        residual[part] -= column_squares(columns)
    residual[found] = 0.0
