"""A positive semi-definite kernel of low rank: K ≈ LLᵀ, with all N points candidates.

Function m is L ℓ_m with ℓ_m = row m of L, so that r × r numbers say all of any functions i and j:

    G_ij = ℓ_iᵀCℓ_j,   h_i = ℓ_iᵀc,   C = LᵀWL,   c = LᵀWt

(of the centred L, with an intercept; W the row weights). Functions centred at a pivot are exact, the others
within √(R_mm Σ_n R_nn), R = K − LLᵀ (see `pivots`).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.utils import gen_batches

from sparsebayes._array import NotPositiveDefinite, cholesky, column_squares, lower_transposed_times
from sparsebayes.quadratic import DenseQuadratic, Quadratic
from sparsebayes.rows.memory import Scaling
from sparsebayes.rows.pivots import Factor
from sparsebayes.rows.targets import Target, visited_norms

STRIP = 1 << 20  # elements of L that are worked on together


class LowRankRows:
    """The statistics of the approximated kernel.

    candidates : (M,) which functions may be chosen.
    C (r, r), c (r,).  norms, means : ν and φ̄ of all functions (M,), ν = 0 for what is no candidate.
    """

    def __init__(self, factor: Factor, target: Target, candidates: np.ndarray) -> None:
        self.L, self.target = factor.transposed, target
        self.middle = self._middle()
        self.C, self.c = self._products()
        self.U = self._root()
        self.means = self.middle @ self.L
        self.norms = candidates * target.norms(self._squares(), self.means)

    def _strips(self) -> list[slice]:
        r, N = self.L.shape
        return list(gen_batches(N, max(1, STRIP // r)))

    def _middle(self) -> np.ndarray:
        """Weighted mean of the rows of L; 0 without an intercept."""
        target = self.target
        if not target.center:
            return np.zeros(len(self.L))
        return (self.L.sum(axis=1) if target.weights is None else self.L @ target.weights) / target.n

    def _products(self) -> tuple[np.ndarray, np.ndarray]:
        """C and c, a strip of rows at a time."""
        r = len(self.L)
        C, c = np.zeros((r, r)), np.zeros(r)
        for part in self._strips():
            L = self.L[:, part]
            if self.target.center:
                L = L - self.middle[:, None]
            weighted = L if self.target.weights is None else L * self.target.weights[part]
            C += L @ weighted.T
            c += weighted @ self.target.values[part]
        return C, c

    def _root(self) -> np.ndarray:
        """U, lower triangular, with C = UUᵀ."""
        try:
            return cholesky(self.C.copy())
        except NotPositiveDefinite:  # directions that centring or rounding took away
            values, vectors = np.linalg.eigh(self.C)
            return scipy.linalg.qr((vectors * np.sqrt(np.maximum(values, 0.0))).T, mode="r")[0].T

    def _squares(self) -> np.ndarray:
        """ℓᵀCℓ = ‖Uᵀℓ‖² of every function."""
        return np.concatenate([column_squares(self._rotated(self.L[:, part])) for part in self._strips()])

    def _rotated(self, L: np.ndarray) -> np.ndarray:
        """Uᵀℓ of functions, in the columns of L: what stands for their N rows."""
        return lower_transposed_times(self.U, L)

    def subset(self, W: np.ndarray) -> tuple[Quadratic, Scaling]:
        """The problem of the functions W alone."""
        W = W[self.norms[W] > 0]
        Z = self._rotated(self.L[:, W] / self.norms[W])
        quadratic = DenseQuadratic(h=self.c @ self.L[:, W] / self.norms[W], G=Z.T @ Z, **self.target.shared)
        return quadratic, self.target.scaling(W, self.norms[W], self.means[W])

    def seen_from(self, J: np.ndarray, weights: np.ndarray, candidates: slice | np.ndarray) -> LowRankRows:
        """Itself: what it has of the candidates does not depend on any weights."""
        return self

    def visit(
        self, J: np.ndarray, others: slice | np.ndarray, skipped: np.ndarray
    ) -> tuple[Quadratic, Scaling]:
        """The problem of J and `others` that knows the products of J alone: enough to score the others.

        Those of the others that are in J, skipped or no candidates score nothing.
        """
        block = np.arange(self.L.shape[1])[others]
        W, size = np.concatenate([J, block]), len(J)
        norms = visited_norms(self.norms, J, block, skipped)
        L, first = self.L[:, others], self.L[:, J]
        left = (self.C @ (first / norms[:size])).T
        rows = np.empty((size, len(W)))  # filled and divided in place: new memory costs more than the product
        np.matmul(left, first, out=rows[:, :size])
        np.matmul(left, L, out=rows[:, size:])
        rows /= norms
        h = np.concatenate([self.c @ first, self.c @ L]) / norms
        return DenseQuadratic(h=h, G=rows, **self.target.shared), self.target.scaling(W, norms, self.means[W])
