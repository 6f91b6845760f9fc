"""Spline kernels against their definitions and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.bases import CubicSpline, LinearSpline, ThinPlateSpline


def as_printed(x, z, r):
    """[SE07, eq. 38] term by term."""
    low = min(x, z)
    return 1 + x * z / r**2 + (x * z * low - (x + z) / 2 * low**2 + low**3 / 3) / r**3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1.0, 3.0, 0.4, [1.0, 2.0, 5.0]])
def test_definition(seed, width):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(6, 3)) * 3, rng.normal(size=(8, 3)) * 3
    r = np.broadcast_to(width, 3)
    expected = [[math.prod(as_printed(x[k], z[k], r[k]) for k in range(3)) for z in Z] for x in X]
    assert_allclose(LinearSpline(width).bind(Z)(X), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_width_is_a_scale_of_x(seed):
    X = np.random.default_rng(seed).normal(size=(9, 2)) * 4
    assert_allclose(LinearSpline(2.5).bind(X)(X), LinearSpline().bind(X / 2.5)(X / 2.5), rtol=1e-12)


def test_on_positive_inputs_it_is_the_integral_of_two_ramps():
    """For x, z ≥ 0: k = 1 + xz + ∫₀^∞ (x − u)₊ (z − u)₊ du, the linear spline with a knot everywhere."""
    for x, z in [(0.5, 2.0), (3.0, 1.0), (1.5, 1.5), (0.0, 4.0)]:
        u = (np.arange(200_000) + 0.5) * (5.0 / 200_000)
        integral = np.sum(np.maximum(x - u, 0) * np.maximum(z - u, 0)) * (5.0 / 200_000)
        k = LinearSpline().bind([[z]])([[x]])[0, 0]
        assert k == pytest.approx(1 + x * z + integral, rel=1e-8)


def test_symmetric():
    X = np.random.default_rng(8).normal(size=(15, 3)) * 2
    K = LinearSpline().bind(X)(X)
    assert_allclose(K, K.T, rtol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [1.0, 3.0, 0.4])
def test_thin_plate_spline_is_as_printed(seed, width):
    """[SE07, eq. 40], with δ = 1 where the points are the same."""
    x = np.random.default_rng(seed).normal(size=9) * 5
    expected = [
        [abs(a - b) ** 2 / width**2 * math.log(abs(a - b + (i == j)) / width) for j, b in enumerate(x)]
        for i, a in enumerate(x)
    ]
    assert_allclose(ThinPlateSpline(width).bind(x[:, None])(x[:, None]), expected, rtol=1e-10, atol=1e-12)


def test_thin_plate_spline_depends_on_the_distance_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(7, 2))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    moved = X @ turn + rng.normal(size=2)
    assert_allclose(ThinPlateSpline(2.0).bind(moved)(moved), ThinPlateSpline(2.0).bind(X)(X), atol=1e-12)


def cubic_as_defined(x, z):
    """1 + xz + (xz)² + (xz)³ + ∫₀ᵃ (x − u)³(z − u)³ du, the integral exact by Gauss's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    u = (nodes + 1) / 2 * min(x, z)
    integral = min(x, z) / 2 * np.sum(weights * (x - u) ** 3 * (z - u) ** 3)
    return 1 + x * z + (x * z) ** 2 + (x * z) ** 3 + integral


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1.0, 3.0, [1.0, 2.0, 5.0]])
def test_cubic_spline_is_its_definition(seed, width):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(8, 3))
    r = np.broadcast_to(width, 3)
    expected = [[math.prod(cubic_as_defined(x[k] / r[k], z[k] / r[k]) for k in range(3)) for z in Z] for x in X]
    assert_allclose(CubicSpline(width).bind(Z)(X), expected, rtol=1e-10, atol=1e-10)


class Bilinear(LinearSpline):
    """Factors x z, which are 0 where an input is."""

    def factor(self, x, z):
        return x[:, None] * z[None, :]

    def growth(self, x, z, f):
        return 2.0 * f


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_gradient_where_factors_vanish(zeros):
    """Where one factor is 0 the gradient by the others is 0, and by its own width it is that factor's."""
    rng = np.random.default_rng(zeros)
    X, Z, D = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.normal(size=(5, 4))
    X[2, :zeros] = 0.0
    K = np.prod(X[:, None, :] * Z[None, :, :], axis=2)
    gradient = Bilinear([1.0, 1.0, 1.0]).bind(Z).scale_gradient(X, D)
    assert_allclose(gradient, -2.0 * np.sum(D * K), rtol=1e-12)


def test_gradient_by_the_one_factor_that_vanishes():
    class Shifted(Bilinear):
        """Factors x z − 1: 0 at x z = 1, where they still grow."""

        def factor(self, x, z):
            return x[:, None] * z[None, :] - 1.0

        def growth(self, x, z, f):
            return 2.0 * (f + 1.0)

    X, Z = np.array([[2.0, 3.0]]), np.array([[0.5, 4.0]])
    gradient = Shifted([1.0, 1.0]).bind(Z).scale_gradient(X, np.ones((1, 1)))
    assert_allclose(gradient, [-2.0 * 1.0 * 11.0, 0.0])
