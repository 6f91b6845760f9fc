"""Kernel bases: one function φ_m(x) = k(x, z_m) per training point z_m.

A kernel class states its parameters, how they become numbers (`resolve`) and the formula (`evaluate`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, device, is_numpy, namespace, take
from sparsebayes.bases._distances import absolute_distances, squared_distances
from sparsebayes.bases._scales import (
    Gamma,
    Scale,
    Width,
    check_coef0,
    check_degree,
    positive_scale,
    resolve_gamma,
)
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points, check_finite
from sparsebayes.bases.operators import DenseOperator, Operator


class CentredBasis(Basis):
    """A kernel k(x, z) with the training points as centres z_m: φ_m(x) = k(x, z_m).

    symmetric : whether k(x, z) = k(z, x), so that Φ may be computed as its transpose.
    """

    symmetric = True

    @abstractmethod
    def resolve(self, X: Array, sample_weight: Array | None) -> CentredBasis:
        """This kernel with every parameter checked and made a number, given the training points X (n, d)."""

    @abstractmethod
    def evaluate(self, X: Array, Z: Array) -> Array:
        """K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d). The parameters are numbers by now."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundKernel:
        """The kernel with the rows of X as centres."""
        X = as_points(X)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {tuple(X.shape)}")
        return BoundKernel(self.resolve(X, sample_weight), X)


@dataclass(frozen=True, eq=False)
class BoundKernel(BoundBasis):
    """φ_m(x) = k(x, z_m): a kernel whose parameters are numbers, and the centres z_m (M, d)."""

    kernel: CentredBasis
    centres: Array

    @property
    def n_functions(self) -> int:
        """M, the number of centres."""
        return int(self.centres.shape[0])

    def __call__(self, X: Array) -> Array:
        """Φ (n, M), φ_nm = k(x_n, z_m)."""
        X = as_points(X, n_inputs=int(self.centres.shape[1]))
        if 0 in (X.shape[0], self.n_functions):
            return namespace(X).zeros((X.shape[0], self.n_functions), dtype=X.dtype, device=device(X))
        with np.errstate(over="ignore", invalid="ignore"):  # said better by check_finite
            return check_finite(self.kernel.evaluate(X, self.centres), self.kernel)

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X, stored by columns where that costs nothing: a solver asks for columns."""
        if not self.kernel.symmetric or 0 in (X.shape[0], self.n_functions):
            return super().operator(X)
        return DenseOperator(BoundKernel(self.kernel, as_points(X))(self.centres).T)

    def select(self, J: Sequence[int]) -> BoundKernel:
        """The centres J alone."""
        return BoundKernel(self.kernel, take(self.centres, as_indices(J, self.n_functions), axis=0))

    @property
    def vectors(self) -> Array:
        """The centres, (M, d)."""
        return self.centres

    def centred_at(self, X: Array) -> BoundKernel:
        """The same kernel with the rows of X as centres."""
        return BoundKernel(self.kernel, as_points(X, n_inputs=int(self.centres.shape[1])))


class RBF(CentredBasis):
    """Gaussian kernel, k(x, z) = exp(−Σ_k η_k (x_k − z_k)²)  [T01, app. C].

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        η. "scale" is 1/(d Var(X)), "auto" is 1/d.
    width : a positive number or one per input, optional
        r in exp(−‖x − z‖²/r²); where given, η = 1/r² and gamma is not looked at  [SE07, eq. 39].
    """

    def __init__(self, gamma: Gamma = "scale", *, width: Width | None = None) -> None:
        self.gamma = gamma
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> RBF:
        """gamma as numbers."""
        if self.width is None:
            return RBF(resolve_gamma(self.gamma, X, sample_weight))
        return RBF(positive_scale(self.width, "width", int(X.shape[1])) ** -2.0)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = exp(−Σ_k η_k (x_nk − z_mk)²)."""
        return _exp_of_minus(squared_distances(X, Z, self.gamma))


class Laplacian(CentredBasis):
    """Laplacian kernel, k(x, z) = exp(−Σ_k γ_k |x_k − z_k|); gamma = γ in the words of `RBF`."""

    def __init__(self, gamma: Gamma = "scale") -> None:
        self.gamma = gamma

    def resolve(self, X: Array, sample_weight: Array | None) -> Laplacian:
        """gamma as numbers."""
        return Laplacian(resolve_gamma(self.gamma, X, sample_weight))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = exp(−Σ_k γ_k |x_nk − z_mk|)."""
        return _exp_of_minus(absolute_distances(X, Z, self.gamma))


class Polynomial(CentredBasis):
    """Polynomial kernel, k(x, z) = (Σ_k γ_k x_k z_k + c)^p.

    gamma = γ in the words of `RBF`, degree = p (an integer of at least 1), coef0 = c.
    """

    def __init__(self, gamma: Gamma = "scale", degree: int = 3, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def resolve(self, X: Array, sample_weight: Array | None) -> Polynomial:
        """gamma as numbers."""
        gamma = resolve_gamma(self.gamma, X, sample_weight)
        return Polynomial(gamma, check_degree(self.degree), check_coef0(self.coef0))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = (Σ_k γ_k x_nk z_mk + c)^p."""
        return _power(_products(X, Z, self.gamma) + self.coef0, self.degree)


class Linear(CentredBasis):
    """Linear kernel, k(x, z) = Σ_k x_k z_k."""

    def resolve(self, X: Array, sample_weight: Array | None) -> Linear:
        """There is no parameter."""
        return self

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = Σ_k x_nk z_mk."""
        return X @ Z.T


class Sigmoid(CentredBasis):
    """Sigmoid kernel, k(x, z) = tanh(Σ_k γ_k x_k z_k + c); gamma = γ in the words of `RBF`, coef0 = c.

    It is not positive definite for all parameters. Basis functions need not be.
    """

    def __init__(self, gamma: Gamma = "scale", coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def resolve(self, X: Array, sample_weight: Array | None) -> Sigmoid:
        """gamma as numbers."""
        return Sigmoid(resolve_gamma(self.gamma, X, sample_weight), check_coef0(self.coef0))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = tanh(Σ_k γ_k x_nk z_mk + c)."""
        return namespace(X).tanh(_products(X, Z, self.gamma) + self.coef0)


class Kernel(CentredBasis):
    """Any kernel: `function(X, Z)` returns K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d)."""

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

    def select(self, J: Sequence[int]) -> BoundPrecomputed:
        """The columns J of those kept."""
        return BoundPrecomputed(self.kept[as_indices(J, self.n_functions)], self.n_train)


def _products(X: Array, Z: Array, gamma: Scale) -> Array:
    """Σ_k γ_k x_nk z_mk."""
    return (X * asfloat64(np.atleast_1d(gamma), like=X)[None, :]) @ Z.T


def _exp_of_minus(D: Array) -> Array:
    """exp(−D), overwriting D where the library can."""
    D *= -1.0
    return np.exp(D, out=D) if is_numpy(D) else namespace(D).exp(D)


def _power(K: Array, degree: int) -> Array:
    """K^degree by squaring: several times faster than the general power of large arrays."""
    if degree == 1:
        return K
    root = _power(K, degree // 2)
    square = root * root
    if degree % 2:
        square *= K
    return square
