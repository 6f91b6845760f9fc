"""The formulas of the kernels of the package, in the words of `sparsebayes.export.expressions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes.bases import (
    RBF,
    Cosine,
    CubicSpline,
    HistogramIntersection,
    KernelProduct,
    KernelSum,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)
from sparsebayes.bases.kernels.stationary import VANISHED
from sparsebayes.export.expressions import CENTRE, QUERY, Expression, call, constant, exp, power, product, total

LEAST = 1e-37  # positive in single precision too: a divisor or the argument of a logarithm is no smaller


def expression_of(kernel: Any, x: Expression = QUERY, z: Expression = CENTRE) -> Expression:
    """The formula of a kernel.

    Parameters
    ----------
    kernel : CentredBasis
        A kernel whose parameters are numbers.
    x, z : Expression
        Its two arguments.

    Returns
    -------
    Expression
        k(x, z).
    """
    formula = FORMULAS.get(type(kernel))  # a subclass may have another formula
    if formula is None:
        raise ValueError(
            f"model has the kernel {kernel!r}, which cannot be exported: its formula is not known; use one of "
            f"{', '.join(sorted(each.__name__ for each in FORMULAS))}."
        )
    return formula(kernel, x, z)


def _scaled_total(scale: Any, terms: Expression) -> Expression:
    """Σ_k scale_k terms_k; a scale that all inputs share is taken out of the sum."""
    return total(constant(scale) * terms) if np.ndim(scale) else constant(scale) * total(terms)


def _squares(scale: Any, x: Expression, z: Expression) -> Expression:
    """Σ_k scale_k (x_k − z_k)²."""
    gap = x - z
    return _scaled_total(scale, gap * gap)


def _rbf(kernel: RBF, x: Expression, z: Expression) -> Expression:
    return exp(-_squares(kernel.gamma, x, z))


def _laplacian(kernel: Laplacian, x: Expression, z: Expression) -> Expression:
    return exp(-_scaled_total(kernel.gamma, call("Abs", x - z)))


def _matern(kernel: Matern, x: Expression, z: Expression) -> Expression:
    s = call("Min", call("Sqrt", _squares(4.0 * kernel.nu * np.asarray(kernel.gamma), x, z)), VANISHED)
    shape = 1.0 + s if kernel.nu == 1.5 else 1.0 + s * (1.0 + s / 3.0)
    return shape * exp(-s)


def _rational_quadratic(kernel: RationalQuadratic, x: Expression, z: Expression) -> Expression:
    q = _squares(np.asarray(kernel.gamma) / kernel.alpha, x, z)
    return exp(-kernel.alpha * call("Log", 1.0 + q))


def _periodic(kernel: Periodic, x: Expression, z: Expression) -> Expression:
    """The difference comes first: far from 0 that of the angles would be lost to rounding."""
    sine = call("Sin", (x - z) * (np.pi / np.asarray(kernel.period)))
    return exp(-_scaled_total(2.0 * np.asarray(kernel.width) ** -2.0, sine * sine))


def _linear(kernel: Linear, x: Expression, z: Expression) -> Expression:
    return total(x * z)


def _polynomial(kernel: Polynomial, x: Expression, z: Expression) -> Expression:
    x, z = _about(x, kernel.origin), _about(z, kernel.origin)
    return power(total(x * (constant(kernel.gamma) * z)) + kernel.coef0, kernel.degree)


def _sigmoid(kernel: Sigmoid, x: Expression, z: Expression) -> Expression:
    return call("Tanh", total(x * (constant(kernel.gamma) * z)) + kernel.coef0)


def _cosine(kernel: Cosine, x: Expression, z: Expression) -> Expression:
    lengths = (call("Max", call("Sqrt", total(each * each)), LEAST) for each in (x, z))
    own, other = lengths
    return total(x * z) / own / other


def _intersection(kernel: HistogramIntersection, x: Expression, z: Expression) -> Expression:
    return total(call("Min", x, z))


def _linear_spline(kernel: LinearSpline, x: Expression, z: Expression) -> Expression:
    x, z = _about(x, kernel.origin) / kernel.width, _about(z, kernel.origin) / kernel.width
    low, high = call("Min", x, z), call("Max", x, z)
    return product(1.0 + x * z + low * low * (3.0 * high - low) / 6.0)


def _cubic_spline(kernel: CubicSpline, x: Expression, z: Expression) -> Expression:
    x, z = _about(x, kernel.origin) / kernel.width, _about(z, kernel.origin) / kernel.width
    low, c, xz = call("Min", x, z), call("Abs", x - z), x * z
    square = low * low
    integral = square * square * (c * (c * (c / 4.0 + 0.6 * low) + 0.5 * square) + square * low / 7.0)
    return product(integral + (1.0 + xz * (1.0 + xz * (1.0 + xz))))


def _thin_plate(kernel: ThinPlateSpline, x: Expression, z: Expression) -> Expression:
    q = _squares(np.asarray(kernel.width) ** -2.0, x, z)
    return 0.5 * q * call("Log", call("Max", q, LEAST))


def _product(kernel: KernelProduct, x: Expression, z: Expression) -> Expression:
    first, *others = (expression_of(part, x, z) for part in kernel.parts)
    for other in others:
        first = first * other
    return first


def _sum(kernel: KernelSum, x: Expression, z: Expression) -> Expression:
    weights = np.asarray(kernel.weights).tolist()
    first, *others = (c * expression_of(part, x, z) for c, part in zip(weights, kernel.parts, strict=True))
    for other in others:
        first = first + other
    return first


def _about(a: Expression, origin: Any) -> Expression:
    """The argument less the origin."""
    return a if np.ndim(origin) == 0 and origin == 0.0 else a - origin


FORMULAS: dict[type, Callable[[Any, Expression, Expression], Expression]] = {
    RBF: _rbf,
    Cosine: _cosine,
    CubicSpline: _cubic_spline,
    HistogramIntersection: _intersection,
    KernelProduct: _product,
    KernelSum: _sum,
    Laplacian: _laplacian,
    Linear: _linear,
    LinearSpline: _linear_spline,
    Matern: _matern,
    Periodic: _periodic,
    Polynomial: _polynomial,
    RationalQuadratic: _rational_quadratic,
    Sigmoid: _sigmoid,
    ThinPlateSpline: _thin_plate,
}
