"""Kernels by name: what the `kernel` argument of an estimator may be."""

from __future__ import annotations

from typing import Any

from sparsebayes.bases.contract import Basis, BoundBasis, Fixed
from sparsebayes.bases.kernels.given import Kernel, Precomputed
from sparsebayes.bases.kernels.products import Cosine, HistogramIntersection, Linear, Polynomial, Sigmoid
from sparsebayes.bases.kernels.scales import Gamma
from sparsebayes.bases.kernels.splines import CubicSpline, LinearSpline, ThinPlateSpline
from sparsebayes.bases.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic

_BY_NAME: dict[str, type[Basis]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern": Matern,
    "rational-quadratic": RationalQuadratic,
    "poly": Polynomial,
    "linear": Linear,
    "cosine": Cosine,
    "sigmoid": Sigmoid,
    "histogram-intersection": HistogramIntersection,
    "linear-spline": LinearSpline,
    "cubic-spline": CubicSpline,
    "thin-plate-spline": ThinPlateSpline,
    "precomputed": Precomputed,
}

KERNEL_NAMES = tuple(_BY_NAME)


def as_basis(kernel: Any, gamma: Gamma = "scale", degree: int = 3, coef0: float = 0.0) -> Basis:
    """The basis that a `kernel` argument stands for.

    Parameters
    ----------
    kernel : str, callable, Basis or BoundBasis
        A name out of `KERNEL_NAMES`, a function k(X, Z) -> (n, m), or a basis. A bound basis is used as it
        is.
    gamma, degree, coef0
        Parameters of the named kernels that have them; ignored by all others.

    Returns
    -------
    Basis
        A basis unchanged, anything else wrapped.
    """
    if isinstance(kernel, Basis):
        return kernel
    if isinstance(kernel, BoundBasis):
        return Fixed(kernel)
    if isinstance(kernel, str):
        if kernel not in _BY_NAME:
            names = ", ".join(map(repr, KERNEL_NAMES))
            raise ValueError(f"kernel must be one of {names}, a callable or a basis, got {kernel!r}.")
        basis, given = _BY_NAME[kernel](), {"gamma": gamma, "degree": degree, "coef0": coef0}
        for name in given.keys() & basis.get_params().keys():
            setattr(basis, name, given[name])
        return basis
    if not callable(kernel) or (isinstance(kernel, type) and issubclass(kernel, Basis)):
        raise TypeError(f"kernel must be a name, a callable k(X, Z) or a basis object, got {kernel!r}.")
    return Kernel(kernel)
