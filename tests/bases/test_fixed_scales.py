"""Scales that are held fixed, or bounded, while others are learned."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from sparsebayes import (
    RBF,
    Columns,
    CubicSpline,
    KernelSum,
    Laplacian,
    LinearSpline,
    Matern,
    MultiScale,
    Periodic,
    Polynomial,
    RationalQuadratic,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Sigmoid,
    ThinPlateSpline,
)

HELD = [
    (RBF(0.3, gamma_bounds="fixed"), ()),
    (Laplacian(0.3, gamma_bounds="fixed"), ()),
    (Matern(0.3, gamma_bounds="fixed"), ()),
    (RationalQuadratic(0.3, alpha_bounds="fixed"), ("gamma",)),
    (RationalQuadratic(0.3, gamma_bounds="fixed"), ("alpha",)),
    (Polynomial(0.3, gamma_bounds="fixed"), ()),
    (Sigmoid(0.3, gamma_bounds="fixed"), ()),
    (LinearSpline(2.0, width_bounds="fixed"), ()),
    (CubicSpline(2.0, width_bounds="fixed"), ()),
    (ThinPlateSpline(2.0, width_bounds="fixed"), ()),
    (Periodic(4.0), ("width",)),
    (Periodic(4.0, period_bounds=None), ("period", "width")),
    (Periodic(4.0, width_bounds="fixed"), ()),
    (RBF(0.3, gamma_bounds="fixed") * Periodic(4.0), ("part1__width",)),
    (RBF(0.3) * Periodic(4.0), ("part0__gamma", "part1__width")),
    (
        KernelSum([RBF(0.3, gamma_bounds="fixed"), Periodic(4.0)]),
        ("weights[0]", "weights[1]", "part1__width"),
    ),
    (KernelSum([RBF(0.3), Periodic(4.0)], weights_bounds="fixed"), ("part0__gamma", "part1__width")),
    (RBF(0.3, gamma_bounds="fixed") + Matern(0.2), ("part1__gamma",)),
    (MultiScale(RBF(0.3, gamma_bounds="fixed") * Periodic(4.0)), ("part1__width",)),
]


@pytest.mark.parametrize(("basis", "names"), HELD, ids=lambda each: "" if isinstance(each, tuple) else str(each))
def test_only_what_is_free_is_a_scale(basis, names):
    rng = np.random.default_rng(0)
    X, D = rng.uniform(0, 6, (9, 2)), None
    bound = clone(basis).bind(X)
    assert bound.scale_names == names
    assert bound.log_scale_bounds(X).shape == (len(names), 2)
    D = rng.standard_normal((9, bound.n_functions))
    moves = 1e-6 * np.eye(len(names))
    changed = [
        (np.sum(D * bound.with_log_scales(bound.log_scales + m)(X)) - np.sum(D * bound(X))) / 1e-6 for m in moves
    ]
    assert_allclose(bound.scale_gradient(X, D), changed, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(bound.with_log_scales(bound.log_scales)(X).shape, bound(X).shape)


def test_a_fixed_scale_stays_one_number_for_all_inputs():
    X = np.random.default_rng(0).uniform(0, 6, (9, 3))
    bound = RationalQuadratic(0.3, alpha_bounds="fixed").bind(X).with_scale_per_input()
    assert bound.scale_names == ("gamma[0]", "gamma[1]", "gamma[2]")
    assert Periodic(4.0, width_bounds="fixed", period_bounds=None).bind(X).with_scale_per_input().kernel.width == 1.0


def test_widths_of_a_multiscale_apply_to_fixed_widths_too():
    X = np.random.default_rng(0).uniform(0, 6, (9, 2))
    one, other = (MultiScale(RBF(0.3, gamma_bounds=b), (2.0, 0.5)).bind(X)(X) for b in (None, "fixed"))
    assert_allclose(other, one, rtol=1e-14)


def test_given_bounds():
    X = np.random.default_rng(0).uniform(0, 6, (9, 2))
    bound = Periodic(4.0, period_bounds=(3, 5)).bind(X)
    assert_allclose(np.exp(bound.log_scale_bounds(X, reach=1e3)[0]), [3.0, 5.0])


@pytest.mark.parametrize("bounds", ["free", (3.0,), (5.0, 3.0), (0.0, 1.0), (1.0, np.inf), 4.0, ("a", "b")])
def test_bounds_that_are_none(bounds):
    message = r"^period_bounds must be None, 'fixed' or two positive numbers in ascending order, got"
    with pytest.raises(ValueError, match=message):
        Periodic(period_bounds=bounds).bind(np.ones((3, 1)))
    with pytest.raises(ValueError, match=message.replace("period", "weights")):
        KernelSum([RBF()], weights_bounds=bounds).bind(np.ones((3, 1)))


def waves():
    x = np.sort(np.random.default_rng(0).uniform(0, 24, 80))[:, None]
    return x, np.sign(np.sin(np.pi * x[:, 0] / 2)) + 0.1 * np.random.default_rng(1).standard_normal(80)


@pytest.mark.parametrize("word", ["evidence", "ard"])
def test_a_given_period_is_kept_while_the_width_is_learned(word):
    x, y = waves()
    model = RelevanceVectorRegressor(Periodic(period=4), gamma=word).fit(x, y)
    kernel = model._fitted.basis.kernel
    assert kernel.period == 4
    assert model.scales_.shape == (1,)
    assert np.all(kernel.width != 1.0)
    assert np.mean((model.predict(x) - y) ** 2) < 0.1


def test_a_given_period_is_kept_in_compositions():
    x, y = waves()
    product = RelevanceVectorRegressor(RBF() * Periodic(4.0), gamma="evidence").fit(x, y)
    assert product._fitted.basis.kernel.parts[1].period == 4.0
    assert product.scales_.shape == (2,)
    side_by_side = RelevanceVectorRegressor(Periodic(4.0) + Columns(), gamma="evidence").fit(x, y)
    assert side_by_side._fitted.basis.parts[0].kernel.period == 4.0


def test_a_period_is_learned_within_its_bounds():
    x, y = waves()
    free = RelevanceVectorRegressor(Periodic(4.1, period_bounds=(3.5, 4.5)), gamma="evidence").fit(x, y)
    assert free.scales_[0] == pytest.approx(4.0, abs=0.03)
    kept = RelevanceVectorRegressor(Periodic(4.3, period_bounds=(4.2, 4.5)), gamma="evidence").fit(x, y)
    assert 4.2 * (1 - 1e-12) <= kept.scales_[0] <= 4.5


def test_a_classifier_keeps_a_given_period():
    x, y = waves()
    model = RelevanceVectorClassifier(Periodic(4.0), gamma="evidence").fit(x, y > 0)
    assert model._fitted.basis.kernel.period == 4.0


def test_nothing_to_learn():
    x, y = waves()
    kernel = Periodic(4.0, width_bounds="fixed")
    with pytest.raises(ValueError, match=r"gamma='evidence' needs a kernel with scales that are not fixed"):
        RelevanceVectorRegressor(kernel, gamma="evidence").fit(x, y)
