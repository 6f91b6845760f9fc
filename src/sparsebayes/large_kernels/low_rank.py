"""Statistics through K ≈ LLᵀ, a positive semi-definite kernel of low rank, with all N points candidates.

Function m is L ℓ_m with ℓ_m = row m of L, so that r × r numbers say everything about any functions i and j:

    G_ij = ℓ_iᵀCℓ_j,   h_i = ℓ_iᵀc,   C = LᵀWL,   c = LᵀWt

(of the centred L, with an intercept; W the row weights). Functions centred at a pivot are exact, the others
within √(R_mm Σ_n R_nn), R = K − LLᵀ (see `bases.low_rank`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg
from sklearn.utils import gen_batches

from sparsebayes._array import (
    Array,
    NotPositiveDefinite,
    asfloat64,
    cholesky,
    column_squares,
    columns_at,
    gathered,
    is_numpy,
    lower_transposed_times,
    namespace,
    products_beside,
    to_numpy,
    together,
)
from sparsebayes._threads import in_parallel
from sparsebayes.bases.low_rank import LowRankOperator
from sparsebayes.large_kernels.columns import Statistics, TrueColumns, norms_of
from sparsebayes.rows.scaled import usable

STRIP = 1 << 20  # elements of L that are worked on together


class LowRankStatistics:
    """The statistics of the approximated kernel.

    L, C, c and root are where the rows are, norms and means on the host.

    columns : the target, and the true columns that are approximated.
    L : Lᵀ (r, N).  C (r, r), c (r,).  root : U, lower triangular, with C = UUᵀ.
    norms, means : ν and φ̄ of all functions (M,), ν = 0 for what is no candidate.
    strip : elements of L that are worked on together.
    """

    def __init__(self, factor: LowRankOperator, columns: TrueColumns, strip: int = STRIP) -> None:
        self.L, self.columns, units, xp = factor.transposed, columns, columns.units, columns.xp
        r, N = map(int, self.L.shape)
        strips = list(gen_batches(N, max(1, together(strip, self.L) // r)))
        nothing = asfloat64(np.zeros(r), like=self.L)
        middle = self.L @ columns.counts / units.n if units.center else nothing
        self.C, self.c, root = nothing[:, None] * nothing[None, :], nothing + 0.0, xp.sqrt(columns.counts)

        def products(part: slice) -> tuple[Array, Array]:
            L = (self.L[:, part] - middle[:, None]) * root[part]
            return L @ L.T, L @ (root[part] * columns.t[part])

        def add(found: tuple[Array, Array]) -> None:
            self.C += found[0]
            self.c += found[1]

        in_parallel(products, strips, add, is_numpy(self.L))
        self.root = asfloat64(_root(to_numpy(self.C)), like=self.L)
        means = middle @ self.L
        squares: list[Array] = []
        in_parallel(
            lambda part: column_squares(lower_transposed_times(self.root, self.L[:, part])),
            strips,
            squares.append,
            is_numpy(self.L),
        )
        self.means, norms = gathered(means, norms_of(xp.concat(squares), means, units.n))
        self.norms = columns.candidates * norms

    @property
    def beside(self) -> Array:
        """An array that is where the candidates are scored."""
        return self.C

    def subset(self, W: np.ndarray) -> Statistics:
        """The problem of the functions W alone, those that are no candidates taken out."""
        W = W[usable(self.norms[W])]
        L, norms = columns_at(self.L, W), self.norms[W]
        Z = lower_transposed_times(self.root, L / asfloat64(norms, like=L))  # stands for the N rows of the columns
        h, G = gathered(self.c @ L, Z.T @ Z)
        units = self.columns.units.with_columns(W, norms, self.means[W])
        return self.columns.quadratic(h / norms, G), units

    def problems(
        self, J: np.ndarray, weights: np.ndarray, blocks: Sequence[np.ndarray], skipped: np.ndarray
    ) -> Callable[[np.ndarray], Statistics]:
        """The problem of J and any block, with the rows J of G; it does not depend on the weights."""
        active, xp = columns_at(self.L, J), namespace(self.L)
        left = (self.C @ (active / asfloat64(self.norms[J], like=active))).T
        barred = self.columns.barred(J, skipped) | (self.norms <= 0)

        def problem(block: np.ndarray) -> Statistics:
            L, W = columns_at(self.L, _as_slice(block)), np.append(J, block)
            norms = np.append(self.norms[J], np.where(barred[block], np.inf, self.norms[block]))
            norms, means = (asfloat64(x, like=L) for x in (norms, self.means[W]))
            G = products_beside(left, active, L)
            G /= norms
            h = xp.concat([self.c @ active, self.c @ L]) / norms
            return self.columns.quadratic(h, G), self.columns.units.with_columns(W, norms, means)

        return problem


def _root(C: np.ndarray) -> np.ndarray:
    """U, lower triangular, with C = UUᵀ."""
    try:
        return cholesky(C.copy())
    except NotPositiveDefinite:  # directions that centring or rounding took away
        values, vectors = np.linalg.eigh(C)
        return scipy.linalg.qr((vectors * np.sqrt(np.maximum(values, 0.0))).T, mode="r")[0].T


def _as_slice(numbers: np.ndarray) -> slice | np.ndarray:
    """Evenly spaced numbers as a slice, which selects columns without a copy; others as they are."""
    first, step = int(numbers[0]), int(numbers[1] - numbers[0]) if len(numbers) > 1 else 1
    even = step > 0 and bool((np.diff(numbers) == step).all())
    return slice(first, int(numbers[-1]) + 1, step) if even else numbers
