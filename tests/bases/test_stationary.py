"""Kernels of x − z against their definitions, in plain loops and in scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp

from sparsebayes.bases import RBF, Laplacian, Matern, Periodic, RationalQuadratic
from sparsebayes.bases.kernels._distances import squared_distances

seeds = pytest.mark.parametrize("seed", range(4))


def points(seed, n=9, n_test=6, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 1.5 + 0.4, rng.normal(size=(n_test, d))


def by_loops(function, X, Z):
    return np.array([[function(list(x), list(z)) for z in Z] for x in X])


def squared(gamma, x, z):
    return sum(g * (a - b) ** 2 for g, a, b in zip(gamma, x, z, strict=True))


def matern32(gamma):
    def kernel(x, z):
        s = math.sqrt(6 * squared(gamma, x, z))
        return (1 + s) * math.exp(-s)

    return kernel


def matern52(gamma):
    def kernel(x, z):
        s = math.sqrt(10 * squared(gamma, x, z))
        return (1 + s + s * s / 3) * math.exp(-s)

    return kernel


def periodic(p, r):
    def kernel(x, z):
        sines = (math.sin(math.pi * (a - b) / q) ** 2 / w**2 for a, b, q, w in zip(x, z, p, r, strict=True))
        return math.exp(-2 * sum(sines))

    return kernel


G, LENGTHS = [0.1, 2.0, 0.5], [1.5, 4.0, 0.9]
DEFINITIONS = [
    (Matern(0.3, nu=1.5), matern32([0.3] * 3)),
    (Matern(G, nu=1.5), matern32(G)),
    (Matern(G), matern52(G)),
    (Matern(width=2.0), matern52([0.25] * 3)),
    (RationalQuadratic(0.3), lambda x, z: 1 / (1 + squared([0.3] * 3, x, z))),
    (RationalQuadratic(G, alpha=2.5), lambda x, z: (1 + squared(G, x, z) / 2.5) ** -2.5),
    (Periodic(), periodic([1.0] * 3, [1.0] * 3)),
    (Periodic(LENGTHS, [0.7, 1.0, 3.0]), periodic(LENGTHS, [0.7, 1.0, 3.0])),
    (Periodic(2.0, LENGTHS), periodic([2.0] * 3, LENGTHS)),
]
RADIAL = [RBF(0.7), Matern(0.7), Matern(0.7, nu=1.5), RationalQuadratic(0.7), Laplacian(0.7), Periodic(3.0)]


@seeds
@pytest.mark.parametrize(("basis", "definition"), DEFINITIONS, ids=[repr(basis) for basis, _ in DEFINITIONS])
def test_kernel_is_its_definition(basis, definition, seed):
    train, test = points(seed)
    assert_allclose(basis.bind(train)(test), by_loops(definition, test, train), rtol=1e-11, atol=1e-13)


@seeds
@pytest.mark.parametrize("length", [0.3, 1.0, 5.0])
def test_agrees_with_scikit_learn(seed, length):
    train, test = points(seed)
    gamma = 0.5 / length**2
    for basis, theirs in (
        (Matern(gamma, nu=1.5), gp.Matern(length, nu=1.5)),
        (Matern(gamma, nu=2.5), gp.Matern(length, nu=2.5)),
        (RationalQuadratic(gamma, alpha=0.7), gp.RationalQuadratic(length, alpha=0.7)),
    ):
        assert_allclose(basis.bind(train)(test), theirs(test, train), rtol=1e-9, atol=1e-12)
    one = Periodic(1.7, length).bind(train[:, :1])(test[:, :1])
    assert_allclose(one, gp.ExpSineSquared(length, 1.7)(test[:, :1], train[:, :1]), rtol=1e-9)


def test_a_rational_quadratic_kernel_tends_to_the_gaussian():
    train, test = points(0)
    assert_allclose(RationalQuadratic(0.3, alpha=1e9).bind(train)(test), RBF(0.3).bind(train)(test), rtol=1e-7)


@pytest.mark.parametrize("basis", RADIAL, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 8])
def test_equal_rows_have_kernel_exactly_one(basis, d):
    X = np.random.default_rng(d).normal(size=(30, d)) * 1e3
    K = basis.bind(np.concatenate([X, X]))(X)
    assert_array_equal(np.diag(K[:, :30]), 1.0)
    assert_array_equal(np.diag(K[:, 30:]), 1.0)
    assert K.max() <= 1.0


@pytest.mark.parametrize("spread", [1e-9, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("d", [4, 5, 11, 16, 17])
@seeds
def test_distances_of_rows_near_and_far_are_those_of_their_differences(seed, d, spread):
    """Whatever way they are computed; and a row is at distance 0 from itself."""
    rng = np.random.default_rng(seed)
    X = 7.0 + spread * rng.normal(size=(200, d))  # too many for differences alone
    Z = np.concatenate([X[:5], 7.0 + spread * rng.normal(size=(30, d))])
    D, expected = squared_distances(X, Z, 0.7), 0.7 * ((X[:, None] - Z) ** 2).sum(-1)
    assert_allclose(D, expected, rtol=1e-9, atol=4e-14 * (1 + 0.7 * d * spread**2 * 8))
    if d <= 16:
        assert_array_equal(np.diag(D[:, :5]), 0.0)


@pytest.mark.parametrize("d", [4, 11, 17, 100])
def test_distances_of_one_query_are_differences_whatever_the_number_of_inputs(d):
    rng = np.random.default_rng(d)
    Z = 7.0 + 1e-6 * rng.normal(size=(40, d))
    expected = ((Z[:1] - Z) ** 2).sum(-1)[None]
    assert_allclose(squared_distances(Z[:1], Z, 1.0), expected, rtol=1e-6)


@pytest.mark.parametrize("basis", RADIAL, ids=repr)
def test_far_rows_have_a_kernel_and_a_gradient_that_are_finite(basis):
    X = np.array([[0.0, 0.0], [1e-300, 0.0], [1e160, 1.0], [-1e200, 1e200]])
    bound = basis.bind(X)
    for functions in (bound, bound.with_scale_per_input()):
        assert np.isfinite(functions(X)).all()
        assert np.isfinite(functions.scale_gradient(X, np.ones((4, 4)))).all()


def test_periodic_functions_repeat():
    train, test = points(2)
    bound = Periodic([1.5, 2.0, 0.25]).bind(train)
    assert_allclose(bound(test + np.array([3.0, -4.0, 1.0])), bound(test), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (Matern(nu=2.0), "nu must be 1.5 or 2.5, got 2.0"),
        (Matern(nu="smooth"), "nu must be 1.5 or 2.5, got 'smooth'"),
        (RationalQuadratic(alpha=0.0), "alpha must be a positive number, got 0.0"),
        (RationalQuadratic(alpha=[1.0]), r"alpha must be a positive number, got \[1.0\]"),
        (Periodic(period=-1.0), "period must be positive and finite, got -1.0"),
        (Periodic(width=[1.0, 2.0]), r"width must have one number per column of X \(3\), got shape \(2,\)"),
    ],
)
def test_parameters_that_are_refused(basis, message):
    with pytest.raises(ValueError, match=message):
        basis.bind(points(0)[0])
