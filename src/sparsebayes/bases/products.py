"""Kernels of products of inputs, Σ_k γ_k x_k z_k."""

from __future__ import annotations

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace
from sparsebayes.bases._scales import Gamma, Scale, check_coef0, check_degree, resolve_gamma
from sparsebayes.bases.kernels import CentredBasis


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


def _products(X: Array, Z: Array, gamma: Scale) -> Array:
    """Σ_k γ_k x_nk z_mk."""
    return (X * asfloat64(np.atleast_1d(gamma), like=X)[None, :]) @ Z.T


def _power(K: Array, degree: int) -> Array:
    """K^degree by squaring: several times faster than the general power of large arrays."""
    if degree == 1:
        return K
    root = _power(K, degree // 2)
    square = root * root
    if degree % 2:
        square *= K
    return square
