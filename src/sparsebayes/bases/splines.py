"""Spline kernels."""

from __future__ import annotations

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace
from sparsebayes.bases._distances import squared_distances
from sparsebayes.bases._scales import Width, positive_scale
from sparsebayes.bases.kernels import CentredBasis


class LinearSpline(CentredBasis):
    """Linear spline kernel, the product over inputs k of [SE07, eq. 38], which is [T01, eq. 29] at r = 1:

        1 + r⁻² x z + r⁻³ [x z min(x, z) − ½(x + z) min(x, z)² + ⅓ min(x, z)³],    x = x_k, z = z_k.

    Parameters
    ----------
    width : a positive number or one per input
        r.
    """

    def __init__(self, width: Width = 1.0) -> None:
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> LinearSpline:
        """width as numbers."""
        return LinearSpline(positive_scale(self.width, "width", int(X.shape[1])))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one factor per input."""
        r = asfloat64(np.atleast_1d(self.width), like=X)[None, :]
        X, Z = X / r, Z / r
        K = _factor(X[:, 0], Z[:, 0])
        for k in range(1, X.shape[1]):
            K *= _factor(X[:, k], Z[:, k])
        return K


class ThinPlateSpline(CentredBasis):
    """Thin-plate spline kernel, k(x, z) = (d/r)² log(d/r) with d = ‖x − z‖, 0 at d = 0  [SE07, eq. 40].

    It is not positive definite. Basis functions need not be.

    Parameters
    ----------
    width : a positive number or one per input
        r.
    """

    def __init__(self, width: Width = 1.0) -> None:
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> ThinPlateSpline:
        """width as numbers."""
        return ThinPlateSpline(positive_scale(self.width, "width", int(X.shape[1])))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = ½ q log q with q = Σ_k (x_nk − z_mk)²/r_k²."""
        q = squared_distances(X, Z, self.width**-2.0)
        xp = namespace(q)
        return 0.5 * q * xp.log(xp.where(q > 0, q, xp.ones_like(q)))


def _factor(x: Array, z: Array) -> Array:
    """[T01, eq. 29] for x (n,) and z (m,) as 1 + a b + a² (3b − a)/6, a = min(x, z) and b = max(x, z)."""
    xp = namespace(x, z)
    low = xp.minimum(x[:, None], z[None, :])
    K = 3.0 * xp.maximum(x[:, None], z[None, :])
    K -= low
    K *= low
    K *= low
    K /= 6.0
    K += x[:, None] * z[None, :]  # a b = x z
    K += 1.0
    return K
