"""One or more examples of every basis, and data for them: what contract tests of bases run over."""

from __future__ import annotations

from typing import NamedTuple

import array_api_compat
import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from sparsebayes.bases import (
    RBF,
    Basis,
    Bias,
    Columns,
    Concatenation,
    Cosine,
    CubicSpline,
    Fixed,
    HistogramIntersection,
    Kernel,
    KernelProduct,
    KernelSum,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    MultiScale,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)
from sparsebayes.signals.sampled import DCT, Spike, Wavelet


def inverse_multiquadric(X, Z):
    """A kernel the package does not have."""
    xp = array_api_compat.array_namespace(X, Z)
    return 1.0 / xp.sqrt(1.0 + xp.sum((X[:, None, :] - Z[None, :, :]) ** 2, axis=2))


def lopsided(X, Z):
    """A kernel that is not symmetric."""
    xp = array_api_compat.array_namespace(X, Z)
    return xp.tanh(X[:, :1] - 2.0 * Z[:, 0][None, :])


EXAMPLES: dict[type[Basis], list[Basis]] = {
    RBF: [RBF(), RBF("auto"), RBF(0.3), RBF(width=2.0)],
    Matern: [Matern(), Matern(0.4, nu=1.5), Matern(width=3.0)],
    RationalQuadratic: [RationalQuadratic(), RationalQuadratic(0.3, alpha=0.4)],
    Periodic: [Periodic(), Periodic(period=3.0, width=0.7, period_bounds=None)],
    Laplacian: [Laplacian(), Laplacian(0.7)],
    Polynomial: [Polynomial(), Polynomial(0.5, degree=5, coef0=1.0)],
    Linear: [Linear()],
    Cosine: [Cosine()],
    HistogramIntersection: [HistogramIntersection()],
    Sigmoid: [Sigmoid(), Sigmoid(0.2, coef0=-0.5)],
    LinearSpline: [LinearSpline(), LinearSpline(width=3.0)],
    CubicSpline: [CubicSpline(width=2.0)],
    ThinPlateSpline: [ThinPlateSpline(), ThinPlateSpline(width=3.0)],
    Kernel: [Kernel(inverse_multiquadric), Kernel(lopsided)],
    Precomputed: [Precomputed()],
    Columns: [
        Columns(),
        Columns(degree=2),
        Columns(degree=3),
        Columns(transformer=PolynomialFeatures(2, include_bias=False)),
        Columns(degree=2, transformer=FunctionTransformer(np.tanh)),
    ],
    Bias: [Bias()],
    Fixed: [Fixed(Bias().bind(np.zeros((1, 1))))],  # functions of any number of inputs
    Wavelet: [Wavelet(), Wavelet("haar")],
    DCT: [DCT()],
    Spike: [Spike()],
    KernelProduct: [RBF(0.2) * Periodic(3.0), RBF() * Linear() * Kernel(lopsided)],
    KernelSum: [
        KernelSum([RBF(0.2), Linear()]),
        KernelSum([Matern(), Matern() * Linear()], weights=[2.0, 0.3]),
    ],
    MultiScale: [
        MultiScale(RBF()),
        MultiScale(RationalQuadratic(0.2) * Periodic(3.0), widths=(0.5, 3.0)),
        MultiScale(KernelSum([Laplacian(), LinearSpline(2.0)]), widths=[2.0]),
    ],
    Concatenation: [
        RBF() + Columns(degree=2) + Bias(),
        Linear() + RBF(0.1),
        Bias() + Bias(),
        MultiScale(RBF()) + Columns(),
    ],
}


class Problem(NamedTuple):
    """A basis with rows to bind it to and rows to evaluate it at."""

    basis: Basis
    train: np.ndarray
    test: np.ndarray


def problem(basis: Basis, train: np.ndarray, test: np.ndarray) -> Problem:
    """The problem itself; for precomputed kernels the kernel matrices in place of the points."""
    if isinstance(basis, Precomputed):
        return Problem(basis, inverse_multiquadric(train, train), inverse_multiquadric(test, train))
    return Problem(basis, train, test)


def random_problem(basis: Basis, seed: int, n: int = 13, n_test: int = 7, d: int = 3) -> Problem:
    """Points away from the origin, with inputs on different scales."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.3, 2.0, size=d)
    train, test = (rng.normal(size=(rows, d)) * spread + rng.normal(size=d) for rows in (n, n_test))
    return problem(basis, train, test)


ALL = [example for examples in EXAMPLES.values() for example in examples]
every_basis = pytest.mark.parametrize("basis", ALL, ids=lambda basis: repr(basis).split(" at 0x")[0])
seeds = pytest.mark.parametrize("seed", range(3))
