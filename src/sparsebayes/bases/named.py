"""Bases by name: what an estimator's `kernel` argument may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsebayes._array import Array
from sparsebayes.bases._scales import Gamma
from sparsebayes.bases.base import Basis
from sparsebayes.bases.given import Kernel, Precomputed
from sparsebayes.bases.products import Cosine, HistogramIntersection, Linear, Polynomial, Sigmoid
from sparsebayes.bases.splines import CubicSpline, LinearSpline, ThinPlateSpline
from sparsebayes.bases.stationary import RBF, Laplacian, Matern, RationalQuadratic

_BY_NAME: dict[str, Callable[[Gamma, int, float], Basis]] = {
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma),
    "matern": lambda gamma, degree, coef0: Matern(gamma),
    "rational-quadratic": lambda gamma, degree, coef0: RationalQuadratic(gamma),
    "poly": lambda gamma, degree, coef0: Polynomial(gamma, degree, coef0),
    "linear": lambda gamma, degree, coef0: Linear(),
    "cosine": lambda gamma, degree, coef0: Cosine(),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
    "histogram-intersection": lambda gamma, degree, coef0: HistogramIntersection(),
    "linear-spline": lambda gamma, degree, coef0: LinearSpline(),
    "cubic-spline": lambda gamma, degree, coef0: CubicSpline(),
    "thin-plate-spline": lambda gamma, degree, coef0: ThinPlateSpline(),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}

KERNEL_NAMES = tuple(_BY_NAME)


def as_basis(
    kernel: str | Basis | Callable[[Array, Array], Array],
    gamma: Gamma = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Basis:
    """The basis a `kernel` argument means: a name, a callable k(X, Z) -> (n, m), or a basis, as it is.

    gamma, degree and coef0 reach the named kernels that have such a parameter, and nothing else.
    """
    if isinstance(kernel, str):
        if kernel not in _BY_NAME:
            names = ", ".join(map(repr, KERNEL_NAMES))
            raise ValueError(f"kernel must be one of {names}, a callable or a basis, got {kernel!r}")
        return _BY_NAME[kernel](gamma, degree, coef0)
    if isinstance(kernel, Basis):
        return kernel
    if _is_basis_class(kernel) or not callable(kernel):
        raise TypeError(f"kernel must be a name, a callable k(X, Z) or a basis object, got {kernel!r}")
    return Kernel(kernel)


def _is_basis_class(kernel: Any) -> bool:
    return isinstance(kernel, type) and issubclass(kernel, Basis)
