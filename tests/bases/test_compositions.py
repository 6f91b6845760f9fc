"""Products and sums of kernels, and kernels at several widths."""

from __future__ import annotations

import numpy as np
import pytest
from basis_examples import lopsided, random_problem, seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.bases import (
    RBF,
    Bias,
    Columns,
    Concatenation,
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
    RationalQuadratic,
)


@seeds
def test_a_product_is_the_product_and_a_sum_the_sum(seed):
    _, train, test = random_problem(RBF(), seed)
    parts = [RBF(0.3), Periodic(2.0), Linear()]
    values = [part.bind(train)(test) for part in parts]
    assert_allclose((parts[0] * parts[1] * parts[2]).bind(train)(test), np.prod(values, axis=0), rtol=1e-13)
    assert_allclose(KernelSum(parts).bind(train)(test), np.sum(values, axis=0), rtol=1e-13)
    weighted = KernelSum(parts, weights=(0.5, 3.0, 2.0)).bind(train)(test)
    assert_allclose(weighted, 0.5 * values[0] + 3.0 * values[1] + 2.0 * values[2], rtol=1e-13)


def test_products_bind_before_concatenations_and_flatten():
    basis = RBF() * Periodic() * Matern() + Linear() * Linear() + Bias()
    assert isinstance(basis, Concatenation)
    assert [type(part) for part in basis.parts] == [KernelProduct, KernelProduct, Bias]
    assert [type(part) for part in basis.parts[0].parts] == [RBF, Periodic, Matern]


@pytest.mark.parametrize("other", [Columns(), Bias(), RBF() + Bias(), 2.0, MultiScale(RBF())])
def test_only_kernels_can_be_multiplied(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF() * other


def test_parameters_of_parts_by_name():
    product = RBF(0.3) * Periodic(2.0)
    assert product.get_params()["part1__period"] == 2.0
    product.set_params(part0=Laplacian(), part1__period=5.0)
    assert repr(product) == "KernelProduct(parts=[Laplacian(), Periodic(period=5.0)])"
    weighted = clone(KernelSum([RBF(), Linear()], weights=[1.0, 2.0])).set_params(weights=[3.0, 1.0])
    assert weighted.get_params(deep=False) == {
        "parts": weighted.parts,
        "weights": [3.0, 1.0],
        "weights_bounds": None,
    }
    with pytest.raises(ValueError, match="part2 does not exist: there are 2 parts"):
        product.set_params(part2=RBF())
    assert MultiScale(RBF()).set_params(kernel__gamma=0.5).kernel.gamma == 0.5


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (KernelProduct([]), r"parts must be a non-empty list of kernels, got \[\]"),
        (KernelProduct([RBF(), Bias()]), r"parts must be kernels, got Bias\(\)"),
        (KernelSum(RBF()), r"parts must be a non-empty list of kernels, got RBF\(\)"),
        (KernelSum([RBF()], weights=[1.0, 2.0]), r"weights must be 1 positive numbers, got \[1.0, 2.0\]"),
        (KernelSum([RBF()], weights=[0.0]), "each of weights must be a positive number, got 0.0"),
        (MultiScale("rbf"), "kernel must be a kernel that has a width, got 'rbf'"),
        (MultiScale(Linear()), r"kernel must be a kernel that has a width, got Linear\(\)"),
        (MultiScale(RBF(), widths=()), r"widths must be one or more positive numbers, got \(\)"),
        (MultiScale(RBF(), widths=[1.0, -1.0]), "each of widths must be a positive number, got -1.0"),
    ],
)
def test_what_is_refused(basis, message):
    with pytest.raises((TypeError, ValueError), match=message):
        basis.bind(np.ones((3, 2)))


def test_symmetric_and_positive_where_all_parts_are():
    X = np.random.default_rng(0).normal(size=(6, 2))
    odd = Kernel(lopsided)
    assert (RBF() * Linear()).symmetric
    assert not (RBF() * odd).symmetric
    assert not KernelSum([odd, RBF()]).symmetric
    assert (RBF() * Linear()).bind(X).positive_semidefinite
    assert not KernelSum([RBF(), Polynomial(coef0=-1.0)]).bind(X).positive_semidefinite


def test_scales_of_a_composition_are_those_of_its_parts():
    X = np.random.default_rng(0).normal(size=(6, 2))
    bound = (RBF([0.5, 2.0]) * KernelSum([Linear(), RationalQuadratic(0.1, alpha=3.0)])).bind(X)
    assert bound.scale_names == (
        "part0__gamma[0]",
        "part0__gamma[1]",
        "part1__weights[0]",
        "part1__weights[1]",
        "part1__part1__gamma",
        "part1__part1__alpha",
    )
    assert_allclose(np.exp(bound.log_scales), [0.5, 2.0, 1.0, 1.0, 0.1, 3.0])


@seeds
@pytest.mark.parametrize(
    ("kernel", "wider"),
    [
        (RBF(0.4), lambda c: RBF(0.4 / c**2)),
        (RBF([0.4, 1.0, 2.0]), lambda c: RBF(np.array([0.4, 1.0, 2.0]) / c**2)),
        (Laplacian(0.4), lambda c: Laplacian(0.4 / c)),
        (LinearSpline(3.0), lambda c: LinearSpline(3.0 * c)),
        (RationalQuadratic(0.4, alpha=2.0), lambda c: RationalQuadratic(0.4 / c**2, alpha=2.0)),
        (Periodic(3.0, 0.8), lambda c: Periodic(3.0, 0.8 * c)),
        (RBF(0.4) * Linear(), lambda c: RBF(0.4 / c**2) * Linear()),
    ],
)
def test_several_widths_are_the_kernel_at_each(kernel, wider, seed):
    _, train, test = random_problem(RBF(), seed)
    widths = (2.0, 1.0, 0.5)
    expected = np.concatenate([wider(c).bind(train)(test) for c in widths], axis=1)
    bound = MultiScale(kernel, widths).bind(train)
    assert_allclose(bound(test), expected, rtol=1e-10)
    assert_allclose(bound.log_scales, kernel.bind(train).log_scales, atol=1e-14)
    assert bound.scale_names == kernel.bind(train).scale_names


def test_bounds_of_several_widths_are_those_of_the_kernel():
    X = np.random.default_rng(1).normal(size=(12, 2))
    X[:, 1] = 3.0
    for kernel in (RBF(0.7), RBF([0.7, 0.2])):
        bounds = MultiScale(kernel).bind(X).log_scale_bounds(X, reach=2.0)
        assert_allclose(bounds, kernel.bind(X).log_scale_bounds(X, reach=2.0), atol=1e-12)


def two_scales(seed, n=120):
    """A wide wave, and a narrow bump on it."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-10, 10, n))
    truth = np.sin(0.4 * x) + np.exp(-8.0 * (x - 2.0) ** 2)
    return x[:, None], truth + 0.05 * rng.standard_normal(n), truth


@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_picks_among_the_widths(seed):
    """Both widths are used, and no single one of them explains the data as well."""
    X, y, _ = two_scales(seed)
    widths = (4.0, 0.4)
    model = RelevanceVectorRegressor(MultiScale(RBF(width=1.0), widths)).fit(X, y)
    counts = np.bincount(model.relevance_ // len(X), minlength=2)
    assert counts.min() >= 1
    single = [RelevanceVectorRegressor(RBF(width=width)).fit(X, y).log_evidence_ for width in widths]
    assert model.log_evidence_ > max(single) + 5.0
    assert model.components_.shape == (2, len(X))
    fitted = model.components_.sum(axis=0) + model.intercept_
    assert_allclose(fitted, model.predict(X), atol=1e-9)


def test_numbers_and_centres_of_functions_at_several_widths():
    """With rows of weight zero, beside another part, and in a concatenation within one."""
    X, y, _ = two_scales(3)
    weights = np.ones(len(X))
    weights[::7] = 0.0
    n = len(X)
    inner = Concatenation([MultiScale(RBF(width=1.0), (4.0, 0.4)), Columns()])
    model = RelevanceVectorRegressor(Concatenation([inner, Laplacian(0.5)])).fit(X, y, weights)
    numbers = model.relevance_
    assert numbers.max() < 3 * n + 1
    at_rows = numbers[numbers != 2 * n]
    rows = np.where(at_rows < 2 * n, at_rows % n, at_rows - 2 * n - 1)
    assert (weights[rows] > 0).all()
    assert_array_equal(model.relevance_vectors_, X[rows])


def test_augmented_error_bars_with_a_product():
    X, y, _ = two_scales(4)
    model = RelevanceVectorRegressor(RBF(width=2.0) * Matern(width=5.0), variance="augmented").fit(X, y)
    _, near = model.predict(X[:1], return_std=True)
    _, far = model.predict([[50.0]], return_std=True)
    assert far[0] > near[0]


def test_weights_of_a_sum_are_no_scales_of_inputs():
    X = np.random.default_rng(0).normal(size=(6, 2))
    bound = (RBF([0.5, 2.0]) * KernelSum([Linear(), RationalQuadratic(0.1)])).bind(X)
    assert_array_equal(bound.scale_per_input, [True, True, False, False, False, False])
