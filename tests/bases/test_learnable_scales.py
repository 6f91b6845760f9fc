"""Scales that can be learned: what every basis promises of them, against finite differences and loops."""

from __future__ import annotations

import tracemalloc

import array_api_strict
import numpy as np
import pytest
from basis_examples import every_basis, problem, random_problem, seeds
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.bases import (
    RBF,
    Bias,
    BoundBasis,
    CentredBasis,
    Columns,
    CubicSpline,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    MultiScale,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)

PER_INPUT = [
    RBF([0.2, 1.5, 0.7]),
    Laplacian([0.2, 1.5, 0.7]),
    Matern([0.2, 1.5, 0.7]),
    Matern([0.2, 1.5, 0.7], nu=1.5),
    RationalQuadratic([0.2, 1.5, 0.7], alpha=2.0),
    Periodic([2.0, 4.0, 3.0], width=0.8, period_bounds=None),
    Periodic(3.0, width=[2.0, 1.0, 0.5], period_bounds=None),
    Polynomial([0.2, 1.5, 0.7], degree=3, coef0=0.5),
    Polynomial([0.2, 1.5, 0.7], degree=1),
    Sigmoid([0.2, 0.05, 0.1], coef0=0.3),
    LinearSpline([1.0, 3.0, 2.0]),
    CubicSpline([1.0, 3.0, 2.0]),
    ThinPlateSpline([1.0, 3.0, 2.0]),
    RBF(0.4) + Laplacian([1.0, 0.1, 0.3]) + Bias(),
]
per_input = pytest.mark.parametrize("basis", PER_INPUT, ids=repr)


def numerical_gradient(bound: BoundBasis, X: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Σ D ∂Φ/∂ log η by central differences of fourth order."""
    here, step = bound.log_scales, 3e-4

    def value(moved: np.ndarray) -> float:
        return float(np.sum(D * bound.with_log_scales(moved)(X)))

    gradient = np.zeros(len(here))
    for p, unit in enumerate(np.eye(len(here))):
        near, far = (value(here + s * unit) - value(here - s * unit) for s in (step, 2 * step))
        gradient[p] = (8 * near - far) / (12 * step)
    return gradient


def check_gradient(bound: BoundBasis, X: np.ndarray, seed: int) -> None:
    D = np.random.default_rng(seed).normal(size=(len(X), bound.n_functions))
    gradient = bound.scale_gradient(X, D)
    assert gradient.shape == bound.log_scales.shape
    size = np.abs(D).sum() * max(1.0, float(np.abs(bound(X)).max(initial=0.0)))
    assert_allclose(gradient, numerical_gradient(bound, X, D), rtol=1e-7, atol=1e-11 * size)


@every_basis
@seeds
def test_gradient_is_that_of_finite_differences(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    J = np.random.default_rng(seed).permutation(bound.n_functions)[: 1 + bound.n_functions // 2]
    for functions in (bound, bound.select(J), bound.select([]), bound.with_scale_per_input().select(J)):
        check_gradient(functions, test, seed)
        check_gradient(functions, train, seed)


@per_input
@seeds
def test_gradient_for_each_input(basis, seed):
    _, train, test = random_problem(basis, seed)
    check_gradient(basis.bind(train), test, seed)


@every_basis
@seeds
def test_scales_are_what_makes_the_functions(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    P = len(bound.log_scales)
    assert bound.log_scales.shape == (P,)
    assert len(bound.scale_names) == len(set(bound.scale_names)) == P
    same = bound.with_log_scales(bound.log_scales)
    assert_allclose(same(test), bound(test), rtol=1e-12, atol=1e-13)
    values = bound.log_scales + np.random.default_rng(seed).normal(size=P)
    moved = bound.with_log_scales(values)
    assert_allclose(moved.log_scales, values, rtol=1e-12, atol=1e-14)
    assert moved.scale_names == bound.scale_names
    assert_allclose(moved.select([0])(test), moved(test)[:, :1], rtol=1e-12, atol=1e-13)
    if P:
        assert not np.allclose(moved(test), bound(test))
    if bound.vectors is not None:
        assert_array_equal(moved.vectors, bound.vectors)


@every_basis
@seeds
def test_a_scale_per_input_changes_nothing_by_itself(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    split = bound.with_scale_per_input()
    assert_allclose(split(test), bound(test), rtol=1e-12, atol=1e-13)
    assert len(split.log_scales) >= len(bound.log_scales)
    assert split.with_scale_per_input().scale_names == split.scale_names
    D = np.random.default_rng(seed).normal(size=(len(test), bound.n_functions))
    assert_allclose(split.scale_gradient(test, D).sum(), bound.scale_gradient(test, D).sum(), rtol=1e-9, atol=1e-9)


@every_basis
@seeds
def test_other_arrays_give_the_same_gradient(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train).with_scale_per_input()
    strict = basis.bind(array_api_strict.asarray(train)).with_scale_per_input()
    D = np.random.default_rng(seed).normal(size=(len(test), bound.n_functions))
    ours, theirs = (
        bound.scale_gradient(test, D),
        strict.scale_gradient(array_api_strict.asarray(test), array_api_strict.asarray(D)),
    )
    assert isinstance(theirs, np.ndarray)
    assert_allclose(theirs, ours, rtol=1e-9, atol=1e-10)
    assert_allclose(strict.log_scale_bounds(array_api_strict.asarray(train)), bound.log_scale_bounds(train))


@every_basis
def test_wrong_numbers_of_scales_are_refused(basis):
    basis, train, _ = random_problem(basis, 0)
    bound = basis.bind(train)
    P = len(bound.log_scales)
    with pytest.raises(ValueError, match=rf"values must be {P} logarithms of scales, got shape"):
        bound.with_log_scales(np.zeros(P + 1))
    if P:
        with pytest.raises(ValueError, match="values must be logarithms of positive finite scales"):
            bound.with_log_scales(np.full(P, np.nan))
        with pytest.raises(ValueError, match="D must have"):
            bound.scale_gradient(train, np.zeros((len(train), bound.n_functions + 1)))


def test_names():
    train = random_problem(RBF(), 0).train
    bound = (RBF([1.0, 2.0, 3.0]) + Columns() + Laplacian(0.5)).bind(train)
    assert bound.scale_names == ("part0__gamma[0]", "part0__gamma[1]", "part0__gamma[2]", "part2__gamma")
    assert_allclose(np.exp(bound.log_scales), [1.0, 2.0, 3.0, 0.5])
    assert Linear().bind(train).with_scale_per_input().scale_names == ()


@seeds
def test_bounds_are_the_distances_in_the_data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3)) * [1e-3, 1.0, 1e4]
    gaps = np.abs(X[:, None, :] - X[None, :, :])
    for k in range(3):
        smallest, largest = gaps[:, :, k][gaps[:, :, k] > 0].min(), gaps[:, :, k].max()
        bounds = RBF([1.0, 1.0, 1.0]).bind(X).log_scale_bounds(X, reach=3.0)[k]
        assert_allclose(np.exp(bounds), [(3 * largest) ** -2, smallest**-2])
        assert_allclose(np.exp(Laplacian([1.0] * 3).bind(X).log_scale_bounds(X))[k], [1 / largest, 1 / smallest])
    apart = np.sqrt((gaps**2).sum(axis=2))
    narrow, wide = np.exp(-0.5 * RBF(1.0).bind(X).log_scale_bounds(X)[0][::-1])
    assert_allclose(narrow, apart[apart > 0].min())
    assert apart.max() <= wide <= np.sqrt(3) * apart.max()


@every_basis
@pytest.mark.parametrize("d", [1, 3])
def test_bounds_are_in_order_and_finite_whatever_the_data(basis, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(16, d))
    constant, repeated = X.copy(), np.repeat(X[:8], 2, axis=0)
    constant[:, 0] = 0.1
    for points in (X, constant, repeated, np.zeros((16, d)), X * 1e-100, X * 1e100, X[:1], X + 1e9):
        if basis.__class__.__name__ == "Precomputed":
            points = points @ points.T
        bound = basis.bind(points).with_scale_per_input()
        bounds = bound.log_scale_bounds(points, reach=100.0)
        assert bounds.shape == (len(bound.log_scales), 2)
        assert np.isfinite(bounds).all()
        assert (bounds[:, 0] <= bounds[:, 1]).all()


def test_an_input_that_does_not_vary_keeps_its_scale():
    X = np.random.default_rng(0).normal(size=(9, 3))
    X[:, 1] = 7.0
    bound = RBF([0.5, 0.25, 2.0]).bind(X)
    assert_allclose(bound.log_scale_bounds(X)[1], np.log(0.25))
    assert_allclose(bound.scale_gradient(X, np.ones((9, 9)))[1], 0.0, atol=1e-12)
    assert_allclose(RBF(0.5).bind(X[:1]).log_scale_bounds(X[:1]), np.log(0.5))


@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize("width", [1e-6, 1e-3, 1.0, 1e6])
def test_gradient_keeps_its_digits_for_any_width(width, d):
    """Centres a width away from the rows, all over a range of 1: against differences of coordinates."""
    rng = np.random.default_rng(3)
    Z = rng.uniform(size=(30, d))
    X = Z + width * rng.normal(size=Z.shape) / np.sqrt(d)
    eta = np.full(d, width**-2.0)
    bound = RBF(eta).bind(Z)
    D = rng.normal(size=(30, 30))
    squares = (X[:, None, :] - Z[None, :, :]) ** 2 * eta
    weights = -D * np.exp(-squares.sum(axis=2))
    expected = np.einsum("nm,nmk->k", weights, squares)
    assert_allclose(bound.scale_gradient(X, D), expected, atol=1e-8 * np.abs(weights).sum(), rtol=1e-8)


def hard_points(case: str, rng: np.random.Generator) -> np.ndarray:
    """Inputs that a scale for all, or one for each, may break on."""
    X = rng.normal(size=(16, 3))
    if case == "units":
        return X * [1e-6, 1.0, 1e6]
    if case == "constant":
        X[:, 1] = 0.1
    if case == "identical":
        X[:, 2] = X[:, 0]
    if case == "more inputs than rows":
        return rng.normal(size=(4, 9))
    if case == "repeated rows":
        return np.repeat(X[:4], 4, axis=0)
    return X


@every_basis
@pytest.mark.parametrize("case", ["units", "constant", "identical", "more inputs than rows", "repeated rows"])
def test_functions_and_gradients_are_finite_on_hard_inputs(basis, case):
    """At the scales the basis starts from, and at their bounds."""
    rng = np.random.default_rng(len(case))
    basis, X, _ = problem(basis, *[hard_points(case, rng)] * 2)
    bound = basis.bind(X)
    D = rng.normal(size=(len(X), bound.n_functions))
    for functions in (bound, bound.with_scale_per_input()):
        low, high = functions.log_scale_bounds(X, reach=100.0).T
        inside = np.clip(functions.log_scales, low, high)
        for values in (functions.log_scales, inside, low, high):
            moved = functions.with_log_scales(values)
            assert np.isfinite(moved(X)).all()
            assert np.isfinite(moved.scale_gradient(X, D)).all()


def test_identical_inputs_have_the_same_gradient():
    rng = np.random.default_rng(0)
    X = hard_points("identical", rng)
    bound = RBF([0.5, 0.2, 0.5]).bind(X)
    gradient = bound.scale_gradient(X, rng.normal(size=(16, 16)))
    assert_allclose(gradient[0], gradient[2], rtol=1e-12)


@pytest.mark.parametrize("basis", [RBF([1.0]), RBF(1.0), MultiScale(RBF(1.0)), RBF(1.0) * Linear()], ids=repr)
def test_the_narrowest_width_can_be_told(basis):
    X = np.array([0.0, 1e-9, 1.0, 5.0])[:, None]
    bound = basis.bind(X)
    assert_allclose(np.exp(-0.5 * bound.log_scale_bounds(X)), [[5.0, 5e-8]], rtol=1e-6)
    assert_allclose(np.exp(-0.5 * bound.log_scale_bounds(X, reach=2.0, narrowest=0.02)), [[10.0, 0.1]])
    assert_allclose(np.exp(-0.5 * bound.log_scale_bounds(X, narrowest=3.0)), [[5.0, 5.0]])


def test_of_many_rows_some_are_looked_at():
    X = np.random.default_rng(0).uniform(size=(9001, 2))
    narrow, wide = np.exp(-0.5 * RBF(1.0).bind(X[:5]).log_scale_bounds(X)[0][::-1])
    assert 1e-5 < narrow < 1e-2
    assert 1.3 < wide < np.sqrt(2)


def test_a_period_is_sought_within_the_data():
    X = np.arange(5.0)[:, None]
    bounds = Periodic(period_bounds=None).bind(X).log_scale_bounds(X, reach=100.0)
    assert_allclose(np.exp(bounds), [[1.0, 4.0], [0.05, 20.0]])


def test_a_kernel_that_can_learn_has_a_gradient():
    class Unfinished(RBF):
        scale_gradient = CentredBasis.scale_gradient

        def resolve(self, X, sample_weight):
            return self

    with pytest.raises(NotImplementedError, match="Unfinished has parameters to learn but no scale_gradient"):
        Unfinished(1.0).bind(np.ones((2, 1))).scale_gradient(np.ones((3, 1)), np.ones((3, 2)))


def test_gradient_needs_a_few_arrays_of_the_size_of_the_design_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 12))
    bound = RBF(np.full(12, 0.1)).bind(X[:700])
    D = rng.normal(size=(1500, 700))
    tracemalloc.start()
    bound.scale_gradient(X, D)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4.2 * D.nbytes
