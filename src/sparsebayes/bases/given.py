"""Kernels that users bring: a function of x and z, or the matrix itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, is_numpy, take
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points
from sparsebayes.bases.kernels import CentredBasis
from sparsebayes.bases.operators import DenseOperator, KernelMatrix, Operator

ROUNDING = 1e-12  # of the largest value: by how much k(x, z) and k(z, x) of a symmetric kernel may differ


class Kernel(CentredBasis):
    """Any kernel: `function(X, Z)` returns K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d).

    It need not be symmetric, nor positive definite.
    """

    symmetric = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def resolve(self, X: Array, sample_weight: Array | None) -> Kernel:
        """The function as it is."""
        if not callable(self.function):
            raise TypeError(f"function must be a callable k(X, Z), got {self.function!r}")
        return Kernel(self.function)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """What the function returns, its shape checked."""
        K: Any = self.function(X, Z)
        try:
            K = asfloat64(K, like=X)
        except (TypeError, ValueError) as error:
            raise ValueError(f"kernel must return an array of numbers, got {type(K).__name__}") from error
        expected = (X.shape[0], Z.shape[0])
        if tuple(K.shape) != expected:
            raise ValueError(f"kernel returned shape {tuple(K.shape)}, expected {expected}")
        return K


class Precomputed(Basis):
    """X itself is the kernel matrix: X_nm = k(x_n, z_m), the training points z_m in the columns."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundPrecomputed:
        """One function per column of the square X."""
        X = as_points(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be square when kernel='precomputed', got shape {tuple(X.shape)}")
        return BoundPrecomputed(np.arange(X.shape[1]), int(X.shape[1]))


@dataclass(frozen=True, eq=False)
class BoundPrecomputed(BoundBasis):
    """Columns `kept` of kernel matrices that are `n_train` columns wide."""

    kept: np.ndarray
    n_train: int

    @property
    def n_functions(self) -> int:
        """M, the number of columns kept."""
        return len(self.kept)

    def __call__(self, X: Array) -> Array:
        """X[:, kept]."""
        X = as_points(X)
        if X.shape[1] != self.n_train:
            raise ValueError(
                f"X must have as many columns as there were training points ({self.n_train}) "
                f"when kernel='precomputed', got {X.shape[1]}"
            )
        return X if np.array_equal(self.kept, np.arange(self.n_train)) else take(X, self.kept, axis=1)

    def operator(self, X: Array) -> Operator:
        """A symmetric matrix of all points is taken to be that of a positive semi-definite kernel."""
        Phi = self(X)
        if is_numpy(Phi) and Phi.shape[0] == Phi.shape[1] == self.n_train and _is_symmetric(Phi):
            return KernelMatrix(Phi if Phi.flags.f_contiguous else Phi.T)  # by columns, without a copy
        return DenseOperator(Phi)

    def select(self, J: Sequence[int]) -> BoundPrecomputed:
        """The columns J of those kept."""
        return BoundPrecomputed(self.kept[as_indices(J, self.n_functions)], self.n_train)


def _is_symmetric(Phi: np.ndarray) -> bool:
    """Whether Φ is, but for rounding."""
    return bool(np.allclose(Phi, Phi.T, rtol=0.0, atol=ROUNDING * np.abs(Phi).max(initial=0.0)))
