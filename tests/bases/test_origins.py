"""Splines and polynomials of inputs far from 0 are counted from an origin near the data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import Columns, CubicSpline, LinearSpline, Polynomial, RelevanceVectorRegressor, ThinPlateSpline

OFFSETS = [1e3, -1e5, 1e6, 1e9]
STEPS = np.arange(200.0)


def curve(x):
    """A cubic, which every one of the bases can follow."""
    return 1.0 + x - 3.0 * x**2 + 2.0 * x**3


def test_splines_of_time_stamps():
    """Time stamps in seconds, a minute apart."""
    T, z = 1.7e9 + 60.0 * STEPS[:, None], np.sin(STEPS / 10)
    model = RelevanceVectorRegressor("linear-spline").fit(T, z)
    assert_allclose(model.predict(T), z, atol=0.01)


@pytest.mark.parametrize(
    "basis",
    [
        "linear-spline",
        LinearSpline(0.1),
        CubicSpline(0.5),
        ThinPlateSpline(0.05),
        Columns(degree=3),
        Polynomial(20.0, degree=3, coef0=1.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("offset", OFFSETS)
def test_an_offset_does_not_matter(basis, offset):
    x = np.arange(128.0)[:, None] / 128  # exact after any of the offsets
    y = curve(x[:, 0]) + 1e-3 * np.random.default_rng(0).standard_normal(128)
    one, other = (RelevanceVectorRegressor(basis).fit(x + c, y) for c in (1e4, offset))
    assert_allclose(other.predict(x + offset), one.predict(x + 1e4), atol=1e-6)
    assert_allclose(other.predict(x + offset), curve(x[:, 0]), atol=5e-3)


@pytest.mark.parametrize("make", [LinearSpline, CubicSpline])
def test_splines_far_from_0_start_at_the_least_value(make):
    x = np.linspace(0, 2, 9)[:, None]
    far = make().bind(x + 1024.0)
    assert_allclose(far(x + 1024.0), make().bind(x)(x), rtol=1e-9)
    assert far.positive_semidefinite
    # queries below the least value are below the origin
    assert_allclose(far(x + 1023.0), make().bind(x)(x - 1.0), rtol=1e-9)


@pytest.mark.parametrize("make", [LinearSpline, CubicSpline])
@pytest.mark.parametrize("low", [-10.0, 0.0, 40.0])
def test_splines_near_0_are_as_defined(make, low):
    x = np.linspace(low, low + 2, 9)[:, None]
    assert_allclose(make().bind(x)(x), make(origin=0.0).bind(x)(x), rtol=0)


def test_only_the_inputs_that_are_far_are_moved():
    X = np.column_stack([np.linspace(-1, 1, 7), np.linspace(1e6, 1e6 + 1, 7), np.full(7, 5.0)])
    assert LinearSpline().bind(X).kernel.origin.tolist() == [0.0, 1e6, 0.0]
    assert Polynomial(coef0=1.0).bind(X).kernel.origin.tolist() == [0.0, 1e6 + 0.5, 0.0]


def test_a_homogeneous_polynomial_keeps_its_origin():
    X = np.linspace(1e6, 1e6 + 1, 7)[:, None]
    assert Polynomial(coef0=0.0).bind(X).kernel.origin == 0.0


def test_columns_of_degree_one_are_the_columns():
    X = np.linspace(1e6, 1e6 + 1, 14).reshape(7, 2)
    assert_allclose(Columns().bind(X)(X), X, rtol=0)
    Phi = Columns(degree=2).bind(X)(X)
    u, v = (X - (X.min(axis=0) + X.max(axis=0)) / 2).T
    assert_allclose(Phi, np.column_stack([X, u * u, v * v, u * v]), atol=1e-9)


def test_a_selection_of_columns_keeps_the_origin():
    X = np.linspace(1e6, 1e6 + 1, 14).reshape(7, 2)
    bound = Columns(degree=3).bind(X)
    J = [8, 1, 3, 2]
    assert_allclose(bound.select(J)(X), bound(X)[:, J], rtol=0)


@pytest.mark.parametrize(("origin", "value"), [(2.0, [2.0, 2.0]), ([1.0, 3.0], [1.0, 3.0])])
@pytest.mark.parametrize("make", [LinearSpline, lambda **p: Polynomial(0.5, **p), lambda **p: Columns(2, **p)])
def test_a_given_origin(make, origin, value):
    X = np.random.default_rng(0).uniform(1, 3, (6, 2))
    given, moved = make(origin=origin).bind(X)(X), make(origin=0.0).bind(X - value)(X - value)
    first = 2 if given.shape[1] == 5 else 0  # terms of degree 1 are the columns
    assert_allclose(given[:, first:], moved[:, first:], rtol=1e-12)


@pytest.mark.parametrize("origin", ["middle", [1.0, 2.0, 3.0], np.nan, None])
@pytest.mark.parametrize("make", [LinearSpline, Polynomial, lambda **p: Columns(2, **p)])
def test_origins_that_are_none(make, origin):
    with pytest.raises(ValueError, match=r"^origin must be 'auto', a finite number or one per column of X \(2\), got"):
        make(origin=origin).bind(np.ones((3, 2)))


@pytest.mark.parametrize("make", [lambda: LinearSpline([1.0, 2.0]), lambda: Polynomial([0.5, 0.2], 3, 1.0)])
def test_the_gradient_is_that_of_the_moved_functions(make):
    rng = np.random.default_rng(1)
    X, D = 1e4 + rng.uniform(0, 1, (8, 2)), rng.standard_normal((8, 8))
    bound = make().bind(X)
    ahead, behind = (
        [np.sum(D * bound.with_log_scales(bound.log_scales + s * e)(X)) for e in np.eye(2)] for s in (1e-5, -1e-5)
    )
    assert_allclose(bound.scale_gradient(X, D), (np.array(ahead) - behind) / 2e-5, rtol=1e-5)
