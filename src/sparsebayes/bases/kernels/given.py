"""Kernels given by users: a function of x and z, or the kernel matrix itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sparsebayes._array import Array, asfloat64, is_numpy, namespace, take
from sparsebayes.bases.arguments import as_indices, as_points
from sparsebayes.bases.contract import Basis, BoundBasis, ListedBasis
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.names import at_places
from sparsebayes.bases.operators import DenseOperator, KernelMatrix, Operator

ROUNDING = 1e-12  # of the largest value: the largest difference of k(x, z) and k(z, x) in a symmetric matrix


class Kernel(CentredBasis):
    """A kernel given as a function. It need not be symmetric or positive definite.

    Parameters
    ----------
    function : callable
        `function(X, Z)` returns K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d).
    """

    symmetric = False

    @property
    def label(self) -> str:
        """The name of the function; "kernel" if it has none."""
        name = getattr(self.function, "__name__", "kernel")
        return name if name.isidentifier() else "kernel"

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """This kernel, which has no parameters to resolve; TypeError if the function is not callable."""
        if not callable(self.function):
            raise TypeError(f"function must be a callable k(X, Z), got {self.function!r}.")
        return self

    def evaluate(self, X: Array, Z: Array) -> Array:
        """The array that the function returns; ValueError if it has another shape."""
        try:
            K: Any = self.function(X, Z)
        except (RuntimeError, TypeError) as error:
            if is_numpy(X):
                raise
            raise ValueError(
                f"kernel must be a function of arrays of the library of X, {namespace(X).__name__}, on their device: "
                f"{error}"
            ) from error
        try:
            K = asfloat64(K, like=X)
        except (TypeError, ValueError) as error:
            raise ValueError(f"kernel must return an array of numbers, got {type(K).__name__}.") from error
        expected = (X.shape[0], Z.shape[0])
        if tuple(K.shape) != expected:
            raise ValueError(f"kernel returned shape {tuple(K.shape)}, expected {expected}.")
        return K


class Precomputed(Basis):
    """X itself is the kernel matrix, X_nm = k(x_n, z_m), with one column per training point z_m."""

    pairwise = True

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """One function per column of the square X."""
        X = as_points(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be square when kernel='precomputed', got shape {tuple(X.shape)}.")
        return BoundPrecomputed(np.arange(X.shape[1]), int(X.shape[1]))


@dataclass(frozen=True, eq=False)
class BoundPrecomputed(ListedBasis):
    """Columns of kernel matrices.

    Parameters
    ----------
    functions : ndarray of int
        The numbers of the columns.
    n_train : int
        The number of columns of a whole matrix.
    by_row : bool
        Whether the columns belong to the training rows.
    labels : ndarray of int, shape (M,), optional
        The numbers of the training rows, for the names of the functions; by default those of the columns.
    """

    n_train: int
    by_row: bool = True
    labels: np.ndarray | None = None

    def __call__(self, X: Array) -> Array:
        """X[:, functions]."""
        X = as_points(X)
        if X.shape[1] != self.n_train:
            raise ValueError(
                f"X must have as many columns as there were training points ({self.n_train}) "
                f"when kernel='precomputed', got {X.shape[1]}."
            )
        whole = np.array_equal(self.functions, np.arange(self.n_train))
        return X if whole else take(X, self.functions, axis=1)

    def select(self, J: Sequence[int]) -> Self:
        """The columns with the numbers J, in that order."""
        labels = None if self.labels is None else self.labels[as_indices(J, self.n_functions)]
        return replace(super().select(J), labels=labels)

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Such as "kernel at row 17"."""
        return at_places("kernel", "row", self.functions if self.labels is None else self.labels)

    @property
    def families(self) -> frozenset[str]:
        """One family: a kernel."""
        return frozenset(["kernel"])

    def at_rows(self, rows: np.ndarray) -> Self:
        """The same functions, named by these numbers of the training rows."""
        return replace(self, labels=rows) if self.by_row else self

    def operator(self, X: Array) -> Operator:
        """X[:, functions]; a whole symmetric matrix is assumed to be positive semi-definite."""
        Phi = self(X)
        if is_numpy(Phi) and Phi.shape[0] == Phi.shape[1] == self.n_train and _is_symmetric(Phi):
            return KernelMatrix(Phi if Phi.flags.f_contiguous else Phi.T)  # by columns, without a copy
        return DenseOperator(Phi)


def _is_symmetric(Phi: np.ndarray) -> bool:
    """Whether Φ = Φᵀ up to rounding."""
    return bool(np.allclose(Phi, Phi.T, rtol=0.0, atol=ROUNDING * np.abs(Phi).max(initial=0.0)))
