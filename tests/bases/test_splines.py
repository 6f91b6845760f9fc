"""Spline kernels against their definitions and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.bases import LinearSpline, ThinPlateSpline


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
