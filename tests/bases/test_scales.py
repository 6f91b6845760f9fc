"""gamma, width, degree and coef0: what they mean and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.bases import (
    RBF,
    Columns,
    CubicSpline,
    Laplacian,
    LinearSpline,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)

X = np.random.default_rng(5).normal(size=(20, 3)) * [1.0, 3.0, 0.2] + 2.0


def gamma_of(basis, points, weights=None):
    return basis.bind(points, weights).kernel.gamma


@pytest.mark.parametrize("kind", [RBF, Laplacian, Polynomial, Sigmoid])
def test_words(kind):
    expected = {RBF: 1 / (3 * X.var(axis=0)), Laplacian: 1 / (3 * X.std(axis=0))}.get(kind, 1 / (3 * X.var()))
    assert gamma_of(kind("scale"), X) == pytest.approx(expected, rel=1e-12)
    assert gamma_of(kind("auto"), X) == 1 / 3
    assert gamma_of(kind(0.25), X) == 0.25
    assert_array_equal(gamma_of(kind((1, 2, 3)), X), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(5))
def test_weighted_scale_is_that_of_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=len(X))
    repeated = np.repeat(X, weights, axis=0)
    assert gamma_of(RBF(), X, weights) == pytest.approx(1 / (3 * repeated.var(axis=0)), rel=1e-12)
    assert gamma_of(Sigmoid(), X, weights) == pytest.approx(1 / (3 * repeated.var()), rel=1e-12)
    assert gamma_of(RBF(), X, 7.5 * weights) == pytest.approx(gamma_of(RBF(), X, weights), rel=1e-12)


def test_equal_spreads_share_one_number_and_a_constant_counts_for_nothing():
    units = (X - X.mean(axis=0)) / X.std(axis=0)
    assert gamma_of(RBF(), units) == pytest.approx(1 / 3, rel=1e-9)
    assert gamma_of(RBF(), np.column_stack([units, np.full(len(X), 7.0)])) == pytest.approx(1 / 3, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e10, 1 / 3])
def test_constant_inputs_have_gamma_one(value):
    assert gamma_of(RBF(), np.full((7, 3), value)) == 1.0


def test_scale_is_accurate_far_from_the_origin():
    grid = np.random.default_rng(0).integers(-50, 50, size=(30, 2)) / 4.0
    assert gamma_of(RBF(), grid + 2.0**40) == pytest.approx(gamma_of(RBF(), grid), rel=1e-10)


def test_width_overrides_gamma():
    assert gamma_of(RBF(gamma=99.0, width=2.5), X) == pytest.approx(0.16, rel=1e-15)
    assert_allclose(gamma_of(RBF(width=[1, 2, 4]), X), [1, 1 / 4, 1 / 16], rtol=1e-15)


@pytest.mark.parametrize("kind", [RBF, Laplacian, Polynomial, Sigmoid])
@pytest.mark.parametrize(
    ("gamma", "message"),
    [
        (0.0, "gamma must be positive and finite, got 0.0"),
        (-1, "gamma must be positive and finite, got -1"),
        (np.nan, "gamma must be positive and finite, got nan"),
        (np.inf, "gamma must be positive and finite"),
        ([1.0, -1.0, 1.0], "gamma must be positive and finite"),
        ([1.0, 2.0], r"gamma must have one number per column of X \(3\), got shape \(2,\)"),
        (np.ones((3, 1)), "gamma must have one number per column"),
        ("median", "gamma must be 'scale', 'auto' or positive numbers, got 'median'"),
        (None, "gamma must be a positive number or 3 of them, got None"),
        (True, "gamma must be a positive number"),
        (1j, "gamma must be a positive number"),
        ([1.0, [2.0, 3.0]], "gamma must be a positive number"),
    ],
)
def test_bad_gamma(kind, gamma, message):
    with pytest.raises(ValueError, match=message):
        kind(gamma).bind(X)


@pytest.mark.parametrize("make", [lambda width: RBF(width=width), lambda width: LinearSpline(width)])
@pytest.mark.parametrize("width", [0, -2.0, np.nan, "scale", [1.0, 2.0], False])
def test_bad_width(make, width):
    with pytest.raises(ValueError, match="width must"):
        make(width).bind(X)


SQUARED = [
    lambda width: RBF(width=width),
    lambda width: Matern(width=width),
    lambda width: RationalQuadratic(width=width),
    ThinPlateSpline,
]


@pytest.mark.parametrize("make", SQUARED)
@pytest.mark.parametrize("width", [5e-324, 1e-200, 1e-155, 1e154, 1e200, [1.0, 1e-200, 1.0], [1e200, 1.0, 1.0]])
def test_a_width_without_a_square_is_refused(make, width):
    with pytest.raises(ValueError, match=r"^width must be between 1e-154 and 1e.153, got .*: rescale X\.$"):
        make(width).bind(X)


@pytest.mark.parametrize("make", SQUARED)
@pytest.mark.parametrize("width", [1e-153, 1e152])
def test_widths_are_units_of_x_far_from_one(make, width):
    rescaled = make(width).bind(X * width)(X * width)
    assert_allclose(rescaled, make(1.0).bind(X)(X), rtol=1e-9, atol=1e-12)


def test_a_learned_width_without_a_square_is_refused():
    bound = ThinPlateSpline().bind(X).with_log_scales([-500.0])
    for call in (bound, lambda X: bound.scale_gradient(X, np.ones((20, 20)))):
        with pytest.raises(ValueError, match=r"^width must be between"):
            call(X)


@pytest.mark.parametrize("make", [LinearSpline, CubicSpline, ThinPlateSpline])
def test_splines_that_overflow_are_refused(make):
    with pytest.raises(
        ValueError, match=r"Spline\(.*width=1e-150\) returned values that are not finite at row \d+ of X"
    ):
        make(1e-150).bind(X)(X * 1e10)


@pytest.mark.parametrize("make", [lambda degree: Polynomial(degree=degree), lambda degree: Columns(degree)])
@pytest.mark.parametrize("degree", [0, -1, 2.5, 2.0, "2", None, True])
def test_bad_degree(make, degree):
    with pytest.raises(ValueError, match="degree must be an integer of at least 1, got"):
        make(degree).bind(X)


@pytest.mark.parametrize("make", [lambda c: Polynomial(coef0=c), lambda c: Sigmoid(coef0=c)])
@pytest.mark.parametrize("coef0", [np.nan, np.inf, "1", None, 1j])
def test_bad_coef0(make, coef0):
    with pytest.raises(ValueError, match="coef0 must be a finite number, got"):
        make(coef0).bind(X)


def test_numpy_numbers_are_numbers():
    basis = Polynomial(np.float32(0.5), np.int64(2), np.float64(1.0))
    assert_allclose(basis.bind(X)(X), (0.5 * X @ X.T + 1.0) ** 2, rtol=1e-12)


def test_weights_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"sample_weight must have one number per row of X \(20\)"):
        RBF().bind(X, np.ones(19))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_variance_out_of_range(scale):
    if scale > 1:
        with pytest.raises(ValueError, match="gamma='scale' needs a variance of X within range"):
            RBF().bind(X * scale)
    else:
        assert gamma_of(RBF(), X * scale) == 1.0
