"""A kernel matrix that is never formed: blocks of it are evaluated as they are asked for."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sparsebayes._array import Array, Indices
from sparsebayes.bases.operators import BLOCK_ELEMENTS, DenseOperator, KernelMatrix, Operator

HELD_AFTER_ALL = 16000**2  # elements of a kernel matrix that fit in memory


class Evaluates(Protocol):
    """What a kernel has to offer here."""

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x)."""

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Whether K (m, m), K_ij = k(z_i, z_j), is certain to be symmetric and positive semi-definite."""

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K (n, m), K_nm = k(x_n, z_m)."""

    def diagonal(self, X: Array) -> Array:
        """k(x_n, x_n)."""


class KernelOperator(Operator):
    """Φ_nm = k(x_n, z_m) for rows X (N, d) and centres Z (M, d), NumPy arrays.

    symmetric : whether Φ is: such a kernel, and the rows are the centres.
    positive : whether it is positive semi-definite as well.
    """

    def __init__(self, kernel: Evaluates, X: np.ndarray, Z: np.ndarray) -> None:
        self.kernel, self.X, self.Z = kernel, X, Z
        self.shape = (len(X), len(Z))
        self.symmetric = kernel.symmetric and (X is Z or np.array_equal(X, Z))
        self.positive = self.symmetric and kernel.positive_semidefinite_at(Z)

    def block(self, rows: slice | np.ndarray, J: slice | np.ndarray) -> np.ndarray:
        """Φ[rows, J], each row of it contiguous."""
        with np.errstate(over="ignore", invalid="ignore"):  # said better below
            values = self.kernel.evaluate(self.X[rows], self.Z[J])
        return self._finite(values)

    def diagonal(self) -> np.ndarray:
        """k(x_n, x_n)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.kernel.diagonal(self.X)
        return self._finite(values)

    def _finite(self, values: Any) -> np.ndarray:
        if not np.isfinite(values).all():
            raise ValueError(f"{self.kernel} returned values that are not finite")
        return values

    def columns(self, J: Indices) -> np.ndarray:
        """Φ[:, J], stored by columns for a symmetric kernel."""
        J = np.asarray(J, dtype=np.int64)
        if not self.kernel.symmetric:
            return self.block(slice(None), J)
        return KernelOperator(self.kernel, self.Z[J], self.X).block(slice(None), slice(None)).T

    def adjoint(self, V: Array) -> np.ndarray:
        """ΦᵀV, a block of columns at a time."""
        step = max(1, 8 * BLOCK_ELEMENTS // self.shape[0])
        parts = [
            self.columns(range(k, min(k + step, self.shape[1]))).T @ V for k in range(0, self.shape[1], step)
        ]
        return np.concatenate(parts)

    def dense(self) -> DenseOperator:
        """All of Φ in memory."""
        Phi = self.columns(range(self.shape[1]))
        return KernelMatrix(Phi) if self.positive else DenseOperator(Phi)

    @property
    def fits(self) -> bool:
        """Whether all of Φ fits in memory."""
        return self.shape[0] * self.shape[1] <= HELD_AFTER_ALL

    def held(self) -> Operator:
        """Φ in memory where it fits there."""
        return self.dense() if self.fits else self

    def distinct(self) -> np.ndarray:
        """Whether each centre does not repeat an earlier one, (M,)."""
        coefficients: Any = np.random.default_rng(0).standard_normal(self.Z.shape[1])
        # summed input by input: equal rows must have equal sums to the last bit
        signature = np.zeros(len(self.Z))
        for k in range(self.Z.shape[1]):
            signature += coefficients[k] * self.Z[:, k]
        order = np.argsort(signature, kind="stable")
        repeats = np.all(self.Z[order[1:]] == self.Z[order[:-1]], axis=1)
        first = np.ones(len(order), dtype=bool)
        first[order[1:][repeats]] = False
        return first
