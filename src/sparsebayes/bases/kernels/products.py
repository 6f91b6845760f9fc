"""Kernels of products and minima of inputs."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes.bases.kernels._distances import absolute_distances, total
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.scales import (
    Bounds,
    Gamma,
    OneOrEach,
    Origin,
    about,
    check_coef0,
    check_degree,
    resolve_origin,
)

FAR = 100.0  # ranges from 0: inputs further off are counted from their middle by origin="auto"
LARGER = 1e3  # times the largest entry of z: beyond, a difference of x and |x − z| loses digits of z


class Polynomial(CentredBasis):
    """Polynomial kernel, k(x, z) = (Σ_k γ_k x_k z_k + c)^p.

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        γ. "scale" is 1/(d Var(X)), "auto" is 1/d.
    degree : int
        p, at least 1.
    coef0 : float
        c.
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds γ when scales are learned; a pair bounds it. By default the distances in X bound it.
    origin : "auto", a number or one per input
        What x and z are counted from. "auto" is 0, the definition, but if c is not 0 then inputs whose values lie
        more than 100 times their range from 0, such as time stamps, are counted from the middle of their range:
        the functions are still all polynomials of degree p, and not lost to rounding.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("gamma", power=-2.0, from_data=True),)

    def __init__(
        self,
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        *,
        gamma_bounds: Bounds = None,
        origin: Origin = "auto",
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self.origin = origin

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """All parameters as numbers."""
        degree, coef0 = check_degree(self.degree), check_coef0(self.coef0)
        homogeneous = coef0 == 0.0 and isinstance(self.origin, str) and self.origin == "auto"
        origin = 0.0 if homogeneous else resolve_origin(self.origin, X, 0.5, FAR)
        return super().resolve(X, sample_weight).with_params(degree=degree, coef0=coef0, origin=origin)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = (Σ_k γ_k x_nk z_mk + c)^p."""
        X, Z = about(X, self.origin), about(Z, self.origin)
        return _power(_products(X, Z, self.gamma) + self.coef0, self.degree)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log γ_k = p (Σ_k γ_k x_k z_k + c)^(p−1) γ_k x_k z_k."""
        X, Z = about(X, self.origin), about(Z, self.origin)
        products = _products(X, Z, self.gamma)
        lower = _power(products + self.coef0, self.degree - 1) if self.degree > 1 else 1.0
        return _product_shares(D * lower * self.degree, products, X, Z, self.gamma)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """If c is not negative: then k is a sum of products of positive semi-definite kernels."""
        return self.coef0 >= 0


class Linear(CentredBasis):
    """Linear kernel, k(x, z) = Σ_k x_k z_k."""

    always_positive = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = Σ_k x_nk z_mk."""
        return X @ Z.T


class Cosine(CentredBasis):
    """Cosine similarity, k(x, z) = Σ_k x_k z_k/(‖x‖ ‖z‖), 0 where x or z is 0."""

    always_positive = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, the products of rows of length one."""
        return _unit_rows(X) @ _unit_rows(Z).T


class HistogramIntersection(CentredBasis):
    """Histogram intersection kernel, k(x, z) = Σ_k min(x_k, z_k), for counts and other x, z ≥ 0."""

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = ½ Σ_k (x_nk + z_mk − |x_nk − z_mk|); minima one by one if that would lose digits of z."""
        xp = namespace(X, Z)
        if bool(xp.max(xp.abs(X)) > LARGER * xp.max(xp.abs(Z))):
            return sum(xp.minimum(X[:, k][:, None], Z[:, k][None, :]) for k in range(X.shape[1]))
        K = absolute_distances(X, Z, 1.0)
        K *= -1.0
        K += xp.sum(X, axis=1)[:, None]
        K += xp.sum(Z, axis=1)[None, :]
        K *= 0.5
        return K

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """If no input is negative: then min(x, z) is the length of the intersection of [0, x] and [0, z]."""
        return bool(namespace(Z).all(Z >= 0))


class Sigmoid(CentredBasis):
    """Sigmoid kernel, k(x, z) = tanh(Σ_k γ_k x_k z_k + c).

    It is not positive definite for all parameters. Basis functions need not be.

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        γ. "scale" is 1/(d Var(X)), "auto" is 1/d.
    coef0 : float
        c.
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds γ when scales are learned; a pair bounds it. By default the distances in X bound it.
    """

    learnable = Polynomial.learnable

    def __init__(self, gamma: Gamma = "scale", coef0: float = 0.0, *, gamma_bounds: Bounds = None) -> None:
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """All parameters as numbers."""
        return super().resolve(X, sample_weight).with_params(coef0=check_coef0(self.coef0))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = tanh(Σ_k γ_k x_nk z_mk + c)."""
        return namespace(X).tanh(_finite_products(X, Z, self.gamma) + self.coef0)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log γ_k = (1 − k²) γ_k x_k z_k."""
        products = _products(X, Z, self.gamma)
        K = namespace(products).tanh(products + self.coef0)
        return _product_shares(D * (1.0 - K * K), products, X, Z, self.gamma)


def _products(X: Array, Z: Array, gamma: OneOrEach) -> Array:
    """Σ_k γ_k x_nk z_mk."""
    return (X * asfloat64(np.atleast_1d(gamma), like=X)[None, :]) @ Z.T


def _finite_products(X: Array, Z: Array, gamma: OneOrEach) -> Array:
    """Σ_k γ_k x_nk z_mk, ±∞ if it is beyond the range of floats: no difference of two infinite numbers."""
    products, xp = _products(X, Z, gamma), namespace(X, Z)
    if bool(xp.all(xp.isfinite(products))):
        return products
    largest = xp.max(xp.abs(X), axis=1, keepdims=True)
    size = xp.where(largest > 1.0, largest, xp.ones_like(largest))
    return _products(X / size, Z, gamma) * size


def _product_shares(W: Array, products: Array, X: Array, Z: Array, gamma: OneOrEach) -> np.ndarray:
    """Σ_nm W_nm γ_k x_nk z_mk for each input k, (d,), or over all inputs, (1,), if γ is one number."""
    if np.ndim(gamma) == 0:
        return np.asarray([total(W, products)])
    return to_numpy(namespace(W, X, Z).sum((W @ Z) * X, axis=0)) * gamma


def _unit_rows(X: Array) -> Array:
    """X (n, d) with every row divided by its length, rows of zeros unchanged; no square overflows."""
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=1, keepdims=True)
    X = X / xp.where(largest > 0, largest, xp.ones_like(largest))
    length = xp.sqrt(xp.sum(X * X, axis=1, keepdims=True))
    return X / xp.where(length > 0, length, xp.ones_like(length))


def _power(K: Array, degree: int) -> Array:
    """K^degree by squaring: several times faster than the general power of large arrays."""
    if degree == 1:
        return K
    root = _power(K, degree // 2)
    square = root * root
    if degree % 2:
        square *= K
    return square
