"""A kernel matrix that is never formed: blocks of it are evaluated whenever they are needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._array import (
    Array,
    Indices,
    equal,
    is_numpy,
    namespace,
    on_accelerator,
    rows_at,
    take,
    to_numpy,
    together,
)
from sparsebayes._sketches import hashes
from sparsebayes.bases.low_rank import LowRankOperator, pivoted_cholesky
from sparsebayes.bases.operators import LOW_RANK, DenseOperator, KernelMatrix, LowRankSettings, Operator

if TYPE_CHECKING:
    from sparsebayes.bases.kernels.contract import CentredBasis


@dataclass(frozen=True)
class KernelMemory:
    """How large a kernel matrix may be.

    Parameters
    ----------
    held : int
        Up to this number of elements the matrix is formed at once.
    fits : int
        Up to this number of elements the matrix fits in memory, if there is no better way.
    """

    held: int = 1500**2
    fits: int = 16000**2


KERNEL_MEMORY = KernelMemory()


class KernelOperator(Operator):
    """Φ_nm = k(x_n, z_m), evaluated block by block.

    Parameters
    ----------
    kernel : CentredBasis
        k, its parameters being numbers.
    X : array of shape (N, d)
        Rows x_n, on whose device everything is computed.
    Z : array of shape (M, d)
        Centres z_m.
    memory : KernelMemory
        How large a matrix fits in memory.

    Attributes
    ----------
    symmetric : bool
        Whether Φ is symmetric: the kernel is, and the rows are the centres.
    positive : bool
        Whether Φ is certain to be positive semi-definite as well.
    """

    is_formed = False

    def __init__(self, kernel: CentredBasis, X: Array, Z: Array, memory: KernelMemory = KERNEL_MEMORY) -> None:
        self.kernel, self.X, self.Z, self.memory = kernel, X, Z, memory
        self.shape = (int(X.shape[0]), int(Z.shape[0]))
        self.symmetric = kernel.symmetric and equal(X, Z)
        self.block_elements = together(self.block_elements, X)
        self.positive = self.symmetric and kernel.positive_semidefinite_at(Z)

    def block(self, rows: slice | np.ndarray, J: slice | np.ndarray) -> Array:
        """Φ[rows, J], each row of it contiguous."""
        return self.kernel.matrix(rows_at(self.X, rows), rows_at(self.Z, J))

    def diagonal(self) -> Array:
        """k(x_n, x_n) of all rows, (N,)."""
        return self.kernel.diagonal(self.X)

    def columns(self, J: Indices) -> Array:
        """Φ[:, J], stored by columns for a symmetric kernel."""
        return self._at(rows_at(self.Z, np.asarray(J, dtype=np.int64)))

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV, a block of columns at a time."""
        return namespace(V).concat([self.columns(J).T @ V for J in self._blocks(1 if on_accelerator(V) else 8)])

    def low_rank(self, tol: float, settings: LowRankSettings = LOW_RANK) -> LowRankOperator | None:
        """Φ ≈ LLᵀ by pivoted Cholesky, provided that it exists, has a small rank and tells the functions apart.

        Parameters
        ----------
        tol : float
            Largest element of diag(Φ − LLᵀ), relative to the largest of diag Φ.
        settings : LowRankSettings
            Settings of the factorisation.

        Returns
        -------
        LowRankOperator or None
            None if Φ is not certain to be positive semi-definite, the rank is too large, or the functions vary
            by less than the residual, as those of a very wide kernel do.
        """
        if not self.positive:
            return None
        factor, complete = pivoted_cholesky(self, tol, settings)
        if not complete or not factor.rank:
            return None
        # the error of any function is at most √N max R_nn
        functions, xp = factor.columns(factor.pivots[: settings.compared]), namespace(self.X)
        variation = xp.linalg.vector_norm(functions - xp.mean(functions, axis=0), axis=0)
        error = math.sqrt(self.shape[0]) * float(xp.max(factor.residual))
        return factor if error < settings.faithful * float(xp.max(variation)) else None

    def dense(self) -> DenseOperator:
        """All of Φ in memory."""
        Phi = self._at(self.Z)
        return KernelMatrix(Phi) if self.positive else DenseOperator(Phi)

    def _at(self, Z: Array) -> Array:
        """k(x_n, z_m) for all rows and the centres Z, stored by columns for a symmetric kernel."""
        return self.kernel.matrix(Z, self.X).T if self.kernel.symmetric else self.kernel.matrix(self.X, Z)

    @property
    def fits(self) -> bool:
        """Whether all of Φ fits in memory."""
        return self.shape[0] * self.shape[1] <= self.memory.fits

    def held(self) -> Operator:
        """Φ in memory if it fits there, else as it is."""
        return self.dense() if self.fits else self

    def distinct(self) -> np.ndarray:
        """Which centres do not repeat an earlier one, (M,) of bool."""
        order = np.lexsort(self.Z.T) if is_numpy(self.Z) else _by_hash(self.Z)
        ordered = take(self.Z, order)
        repeats = to_numpy(namespace(self.Z).all(ordered[1:, ...] == ordered[:-1, ...], axis=1))
        first = np.ones(len(order), dtype=bool)
        first[order[1:][repeats]] = False
        return first


def _by_hash(Z: Array) -> np.ndarray:
    """The rows of Z in an order in which equal ones stand together, the earlier one first."""
    return to_numpy(namespace(Z).argsort(hashes(Z), stable=True))
