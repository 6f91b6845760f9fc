"""Spline kernels."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace
from sparsebayes.bases.kernels._distances import squared_distances, squared_shares, totals
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.scales import Bounds, OneOrEach, Origin, Width, about, inverse_square, resolve_origin

FAR = 30.0  # ranges from 0: inputs further off are counted from their least value by origin="auto"


class _Spline(CentredBasis):
    """k(x, z) = Π_k f(x_k/r_k, z_k/r_k); f is a polynomial in the lesser and the greater argument.

    width = r, a positive number or one per input; x and z are counted from the origin.
    """

    # splines grow with powers of x/r and overflow if r is much less than the range of x
    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("width", power=1.0, narrowest=1e-2),)

    def __init__(self, width: Width = 1.0, *, width_bounds: Bounds = None, origin: Origin = "auto") -> None:
        self.width = width
        self.width_bounds = width_bounds
        self.origin = origin

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """width and origin as numbers."""
        return super().resolve(X, sample_weight).with_params(origin=resolve_origin(self.origin, X, 0.0, FAR))

    @abstractmethod
    def factor(self, x: Array, z: Array) -> Array:
        """f (n, m) for x (n,) and z (m,)."""

    @abstractmethod
    def growth(self, x: Array, z: Array, f: Array) -> Array:
        """x ∂f/∂x + z ∂f/∂z (n, m), which is −∂f/∂ log r; f = factor(x, z)."""

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one factor per input."""
        X, Z = self._in_widths(X), self._in_widths(Z)
        K = self.factor(X[:, 0], Z[:, 0])
        for k in range(1, X.shape[1]):
            K *= self.factor(X[:, k], Z[:, k])
        return K

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log r_k = −(growth of factor k) times the others: k/(factor k), unless factor k is 0."""
        X, Z = self._in_widths(X), self._in_widths(Z)
        xp = namespace(X, Z, D)
        others, zeros = D, xp.zeros_like(D)  # D times the factors that are not 0, and the number of zeros
        for k in range(X.shape[1]):
            f = self.factor(X[:, k], Z[:, k])
            others = others * xp.where(f == 0, xp.ones_like(f), f)
            zeros += asfloat64(f == 0, like=D)
        shares = -totals(self._share(X[:, k], Z[:, k], others, zeros) for k in range(X.shape[1]))
        return shares if np.ndim(self.width) else np.asarray([sum(shares.tolist())])

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """If no input is below the origin: then k is an integral of products of functions of x and z."""
        return bool(namespace(Z).all(about(Z, self.origin) >= 0))

    def _share(self, x: Array, z: Array, others: Array, zeros: Array) -> tuple[Array, Array]:
        """D times the other factors, and the growth of this one, for the input whose values are x and z."""
        f = self.factor(x, z)
        xp = namespace(f)
        vanishes = f == 0
        weights = others / xp.where(vanishes, xp.ones_like(f), f)
        elsewhere = zeros - asfloat64(vanishes, like=zeros)
        weights = xp.where(elsewhere > 0, xp.zeros_like(f), weights)
        return weights, self.growth(x, z, f)

    def _in_widths(self, X: Array) -> Array:
        return about(X, self.origin) / asfloat64(np.atleast_1d(self.width), like=X)[None, :]


class LinearSpline(_Spline):
    """Linear spline kernel, the product over inputs k of [SE07, eq. 38], which is [T01, eq. 29] at r = 1:

        1 + r⁻² x z + r⁻³ [x z min(x, z) − ½(x + z) min(x, z)² + ⅓ min(x, z)³],    x = x_k, z = z_k.

    Parameters
    ----------
    width : a positive number or one per input
        r.
    width_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds r when scales are learned; a pair bounds it. By default the distances in X bound it.
    origin : "auto", a number or one per input
        What x and z are counted from. "auto" is 0, the definition, but for inputs whose values lie more than 30
        times their range from 0, such as time stamps, it is the least training value: a polynomial of large
        numbers that differ little is lost to rounding.
    """

    def factor(self, x: Array, z: Array) -> Array:
        """1 + a b + a² (3b − a)/6, a = min(x, z) and b = max(x, z)."""
        low, K = _least_and_greatest(x, z)
        K *= 3.0
        K -= low
        K *= low
        K *= low
        K /= 6.0
        K += x[:, None] * z[None, :]  # a b = x z
        K += 1.0
        return K

    def growth(self, x: Array, z: Array, f: Array) -> Array:
        """The terms of degree two and three, times their degree: 2 x z + 3 (f − 1 − x z)."""
        return 3.0 * (f - 1.0) - x[:, None] * z[None, :]


class CubicSpline(_Spline):
    """Cubic spline kernel, the product over inputs k of

        1 + x z + (x z)² + (x z)³ + ∫₀ᵃ (x − u)³ (z − u)³ du,    x = x_k/r, z = z_k/r, a = min(x, z),

    the linear spline kernel with cubes in place of first powers: smoother, and growing as the seventh power
    of x/r. Scale the inputs to within a few widths of 0.

    Parameters
    ----------
    width : a positive number or one per input
        r.
    width_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds r when scales are learned; a pair bounds it. By default the distances in X bound it.
    origin : "auto", a number or one per input
        What x and z are counted from. "auto" is 0, the definition, but for inputs whose values lie more than 30
        times their range from 0, such as time stamps, it is the least training value: a polynomial of large
        numbers that differ little is lost to rounding.
    """

    def factor(self, x: Array, z: Array) -> Array:
        """The polynomial in x z, and the integral: a⁴ [a³/7 + a²c/2 + 3ac²/5 + c³/4], c = |x − z|."""
        product = x[:, None] * z[None, :]
        K = self._integral(x, z)
        K += 1.0 + product * (1.0 + product * (1.0 + product))
        return K

    def growth(self, x: Array, z: Array, f: Array) -> Array:
        """Every term times its degree: 2 for x z, 7 for the integral."""
        product = x[:, None] * z[None, :]
        return product * (2.0 + product * (4.0 + product * 6.0)) + 7.0 * self._integral(x, z)

    def _integral(self, x: Array, z: Array) -> Array:
        low, gap = _least_and_greatest(x, z)
        gap -= low
        square = low * low
        K = gap * (gap * (gap / 4.0 + 0.6 * low) + 0.5 * square) + square * low / 7.0
        K *= square
        K *= square
        return K


class ThinPlateSpline(CentredBasis):
    """Thin-plate spline kernel, k(x, z) = (d/r)² log(d/r) with d = ‖x − z‖, 0 at d = 0  [SE07, eq. 40].

    It is not positive definite. Basis functions need not be.

    Parameters
    ----------
    width : a positive number or one per input
        r.
    width_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds r when scales are learned; a pair bounds it. By default the distances in X bound it.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("width", power=1.0),)

    def __init__(self, width: Width = 1.0, *, width_bounds: Bounds = None) -> None:
        self.width = width
        self.width_bounds = width_bounds

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """width as numbers; ValueError if they have no squares."""
        resolved = super().resolve(X, sample_weight)
        resolved._eta()
        return resolved

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = ½ q log q with q = Σ_k (x_nk − z_mk)²/r_k²."""
        q = squared_distances(X, Z, self._eta())
        return 0.5 * q * _log(q)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log r_k = −(1 + log q) (x_k − z_k)²/r_k²."""
        eta = self._eta()
        q = squared_distances(X, Z, eta)
        return squared_shares(-D * (1.0 + _log(q)), q, X, Z, eta)

    def _eta(self) -> OneOrEach:
        """1/r²."""
        return inverse_square(self.width, "width")


def _log(q: Array) -> Array:
    """log q, or 0 where q is 0."""
    xp = namespace(q)
    return xp.log(xp.where(q > 0, q, xp.ones_like(q)))


def _least_and_greatest(x: Array, z: Array) -> tuple[Array, Array]:
    """min(x_n, z_m) and max(x_n, z_m), both (n, m)."""
    xp = namespace(x, z)
    return xp.minimum(x[:, None], z[None, :]), xp.maximum(x[:, None], z[None, :])
