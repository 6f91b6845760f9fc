"""Kernels against their definitions written out in scalar code, and against scikit-learn's."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise
from sklearn.svm import SVR

from sparsebayes.bases import RBF, Kernel, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, as_basis

seeds = pytest.mark.parametrize("seed", range(4))


def points(seed, n=9, n_test=6, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 1.5 + 0.4, rng.normal(size=(n_test, d))


def by_loops(function, X, Z):
    return np.array([[function(list(x), list(z)) for z in Z] for x in X])


def gaussian(eta):
    return lambda x, z: math.exp(-sum(e * (a - b) ** 2 for e, a, b in zip(eta, x, z, strict=True)))


def laplacian(gamma):
    return lambda x, z: math.exp(-sum(g * abs(a - b) for g, a, b in zip(gamma, x, z, strict=True)))


def dot(gamma, x, z):
    return sum(g * a * b for g, a, b in zip(gamma, x, z, strict=True))


DEFINITIONS = [
    (RBF(0.3), gaussian([0.3] * 3)),
    (RBF([0.1, 2.0, 0.5]), gaussian([0.1, 2.0, 0.5])),
    (RBF(width=2.5), gaussian([1 / 2.5**2] * 3)),
    (RBF("scale", width=(1.0, 2.0, 4.0)), gaussian([1.0, 0.25, 0.0625])),
    (RBF("auto"), gaussian([1 / 3] * 3)),
    (Laplacian(0.6), laplacian([0.6] * 3)),
    (Laplacian(np.array([0.1, 1.0, 3.0])), laplacian([0.1, 1.0, 3.0])),
    (Polynomial(0.4, 3, 0.7), lambda x, z: (dot([0.4] * 3, x, z) + 0.7) ** 3),
    (Polynomial(0.4, 1, -1.0), lambda x, z: dot([0.4] * 3, x, z) - 1.0),
    (Polynomial([1.0, 0.1, 2.0], 7, 0.0), lambda x, z: dot([1.0, 0.1, 2.0], x, z) ** 7),
    (Linear(), lambda x, z: dot([1.0] * 3, x, z)),
    (Sigmoid(0.2, -0.3), lambda x, z: math.tanh(dot([0.2] * 3, x, z) - 0.3)),
]


@seeds
@pytest.mark.parametrize(("basis", "definition"), DEFINITIONS, ids=[repr(basis) for basis, _ in DEFINITIONS])
def test_kernel_is_its_definition(basis, definition, seed):
    train, test = points(seed)
    assert_allclose(basis.bind(train)(test), by_loops(definition, test, train), rtol=1e-11, atol=1e-13)


@seeds
@pytest.mark.parametrize("d", [1, 5, 40])
def test_agrees_with_scikit_learn(seed, d):
    train, test = points(seed, d=d)
    for basis, function, options in (
        (RBF(0.2), pairwise.rbf_kernel, {"gamma": 0.2}),
        (Laplacian(0.2), pairwise.laplacian_kernel, {"gamma": 0.2}),
        (Polynomial(0.2, 4, 1.5), pairwise.polynomial_kernel, {"gamma": 0.2, "degree": 4, "coef0": 1.5}),
        (Sigmoid(0.2, 0.1), pairwise.sigmoid_kernel, {"gamma": 0.2, "coef0": 0.1}),
        (Linear(), pairwise.linear_kernel, {}),
    ):
        assert_allclose(basis.bind(train)(test), function(test, train, **options), rtol=1e-10, atol=1e-12)


@seeds
@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid", "linear"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.37])
def test_names_mean_what_they_mean_in_libsvm(name, gamma, seed):
    """An SVR on our kernel matrix is the SVR on the named kernel."""
    train, test = points(seed, n=25)
    if (name, gamma) == ("rbf", "scale"):  # libsvm has one spread for all inputs
        train, test = ((each - train.mean(axis=0)) / train.std(axis=0) for each in (train, test))
    y = np.sin(train[:, 0])
    bound = as_basis(name, gamma=gamma, degree=2, coef0=0.5).bind(train)
    named = SVR(kernel=name, gamma=gamma, degree=2, coef0=0.5, tol=1e-10, max_iter=100_000)
    ours = SVR(kernel="precomputed", tol=1e-10, max_iter=100_000).fit(bound(train), y)
    assert_allclose(ours.predict(bound(test)), named.fit(train, y).predict(test), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("basis", [RBF(), Laplacian()])
def test_far_from_the_origin_no_digit_is_lost(basis, d):
    """Points on a grid of 1/8, so that moving them by 2^30 is exact: the kernel must not notice."""
    grid = np.random.default_rng(d).integers(-40, 40, size=(12, d)) / 8.0
    assert_allclose(basis.bind(grid + 2.0**30)(grid + 2.0**30), basis.bind(grid)(grid), rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 8, 16])
def test_equal_rows_have_kernel_exactly_one(d):
    X = np.random.default_rng(d).normal(size=(30, d)) * 1e3
    twice = np.concatenate([X, X])
    for basis in (RBF(0.7), Laplacian(0.7)):
        K = basis.bind(twice)(twice)
        assert_array_equal(np.diag(K), 1.0)
        assert_array_equal(np.diag(K[:30, 30:]), 1.0)


@pytest.mark.parametrize("d", [2, 17, 60])
def test_gaussian_never_exceeds_one(d):
    X = np.random.default_rng(d).normal(size=(50, d))
    K = RBF(1e3).bind(X)(X)
    assert K.max() <= 1.0
    assert K.min() >= 0.0
    assert_allclose(np.diag(K), 1.0, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize("basis", [RBF(), Polynomial(), Sigmoid()], ids=repr)
def test_scale_words_make_kernels_scale_free(basis, scale):
    train, test = points(3)
    assert_allclose(basis.bind(train * scale)(test * scale), basis.bind(train)(test), rtol=1e-9)


@pytest.mark.parametrize("d", [2, 30])
def test_gaussian_matrix_needs_one_array(d):
    X = np.random.default_rng(0).normal(size=(1200, d))
    bound = RBF().bind(X)
    tracemalloc.start()
    K = bound(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * K.nbytes


def test_callable_of_the_wrong_shape():
    train, test = points(0, n=5, n_test=3)
    with pytest.raises(ValueError, match=r"kernel returned shape \(3, 4\), expected \(3, 5\)"):
        Kernel(lambda X, Z: np.zeros((len(X), len(Z) - 1))).bind(train)(test)
    with pytest.raises(ValueError, match=r"kernel returned shape \(\), expected \(3, 5\)"):
        Kernel(lambda X, Z: 1.0).bind(train)(test)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_callable_that_is_not_finite(value):
    train, test = points(0)
    with pytest.raises(ValueError, match="returned values that are not finite"):
        Kernel(lambda X, Z: np.full((len(X), len(Z)), value)).bind(train)(test)


def test_values_whose_squares_overflow_are_finite():
    train, test = points(0)
    K = Kernel(lambda X, Z: np.full((len(X), len(Z)), -1e200)).bind(train)(test)
    assert (K == -1e200).all()


@pytest.mark.parametrize("result", ["nonsense", scipy.sparse.eye_array(6, 9), [[object()]]])
def test_callable_that_returns_no_numbers(result):
    train, test = points(0)
    with pytest.raises(ValueError, match="kernel must return an array of numbers, got"):
        Kernel(lambda X, Z: result).bind(train)(test)


def test_callable_may_be_anyones():
    train, test = points(1)
    K = Kernel(pairwise.additive_chi2_kernel).bind(abs(train))(abs(test))
    assert_array_equal(K, pairwise.additive_chi2_kernel(abs(test), abs(train)))


def test_function_must_be_callable():
    with pytest.raises(TypeError, match="function must be a callable"):
        Kernel("rbf").bind(points(0)[0])


def test_overflow_is_said_in_words():
    train, _ = points(0)
    with pytest.raises(ValueError, match=r"Polynomial.*not finite"):
        Polynomial(1.0, degree=3).bind(train * 1e80)(train * 1e80)


def test_precomputed_checks_its_width():
    K = np.random.default_rng(0).normal(size=(100, 100))
    with pytest.raises(ValueError, match=r"X must be square when kernel='precomputed', got shape \(100, 90\)"):
        Precomputed().bind(K[:, :90])
    chosen = Precomputed().bind(K).select([7, 3, 99]).select([2, 0])
    assert_array_equal(chosen(K[:4]), K[:4][:, [99, 7]])
    assert chosen.vectors is None
    assert chosen.centred_at(K) is None
    message = r"X must have as many columns as there were training points \(100\) when kernel='precomputed', got 90"
    with pytest.raises(ValueError, match=message):
        chosen(K[:4, :90])


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_empty_training_points_are_refused(shape):
    with pytest.raises(ValueError, match="X must have at least one row and one column"):
        RBF().bind(np.zeros(shape))


def test_kernels_refuse_sparse_points():
    with pytest.raises(TypeError, match="X must be dense"):
        RBF().bind(scipy.sparse.eye_array(4, format="csr"))
