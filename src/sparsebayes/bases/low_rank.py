"""A design of low rank as an operator: Φ = LLᵀ with L (N, r), all its columns at r numbers each."""

from __future__ import annotations

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import Array, Indices
from sparsebayes.bases.operators import Operator, block_means_and_norms

STRIP = 1 << 20  # elements of L that are worked on together
CANCELLED = 1e-6  # of its size: a function with less than this left about its mean is looked at itself


class LowRankOperator(Operator):
    """Φ = LLᵀ, kept as `transposed` = Lᵀ (r, N): column m of Φ is L ℓ_m, ℓ_m row m of L."""

    def __init__(self, transposed: np.ndarray) -> None:
        self.L = transposed
        self.shape = (transposed.shape[1], transposed.shape[1])

    def columns(self, J: Indices) -> np.ndarray:
        """L ℓ_J, stored by columns."""
        J = np.asarray(J, dtype=np.int64)
        return (self.L[:, J].T @ self.L).T

    def adjoint(self, V: Array) -> np.ndarray:
        """L(LᵀV)."""
        return self.L.T @ (self.L @ V)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[np.ndarray, np.ndarray]:
        """From LᵀWL; the columns where that would cancel, from the columns."""
        total = float(weights.sum())
        means = self.L.T @ (self.L @ weights) / total if center else np.zeros(self.shape[1])
        squares = self.squares(weights[:, None], means, np.ones(self.shape[1]))[:, 0]
        norms = np.sqrt(np.maximum(squares, 0.0))
        for m in np.flatnonzero(norms <= CANCELLED * np.abs(means) * np.sqrt(total)).tolist():
            norms[m] = block_means_and_norms(self.columns([m]), weights, center)[1][0]
        return means, norms

    def squares(self, weights: Array, shift: Array, scale: Array) -> np.ndarray:
        """Σ_n W_nk (φ_nm − shift_m)²/scale_m² = ℓᵀCℓ + 2δℓᵀc + δ²ΣW, C and c of L about its mean.

        δ = mean of φ_m − shift_m is nothing where the shifts are the means: nothing cancels.
        """
        middle = self.L.mean(axis=1)
        drift = middle @ self.L - shift
        pieces = [self._squares_under(weights[:, k], middle, drift) for k in range(weights.shape[1])]
        return np.stack(pieces, axis=1) / (scale * scale)[:, None]

    def _squares_under(self, weights: np.ndarray, middle: np.ndarray, drift: np.ndarray) -> np.ndarray:
        r, N = self.L.shape
        strips = list(gen_batches(N, max(1, STRIP // r)))
        C, c = np.zeros((r, r)), np.zeros(r)
        for part in strips:
            centred = self.L[:, part] - middle[:, None]
            weighted = centred * weights[part]
            C += centred @ weighted.T
            c += weighted.sum(axis=1)
        quadratic = [np.einsum("ij,ij->j", self.L[:, part], C @ self.L[:, part]) for part in strips]
        return np.concatenate(quadratic) + drift * (2 * (c @ self.L) + drift * weights.sum())
