"""Predictions far from the training rows are finite, or refused in one sentence that names the row."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import (
    RBF,
    Columns,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Sigmoid,
    SparseBayesClassifier,
    SparseBayesRegressor,
    fit,
)

BOUNDED = [RBF(), Laplacian(), Matern(), Matern(nu=1.5), RationalQuadratic(), Periodic(), Cosine(), Sigmoid()]
DISTANCES = [1e3, 1e60, 1e154, 1e160, 1e300]
REFUSAL = (
    r"^X has a row too far from the training rows: .* is not finite at row 2\. Predict nearer to the training rows, "
    r"or use a kernel whose functions are bounded, such as 'rbf'\.$"
)


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def data(d=2, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, -1] + 0.1 * rng.standard_normal(n)


def far(d, distance):
    return distance * np.random.default_rng(1).uniform(-1, 1, (6, d))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("d", [1, 2, 6, 20])
@pytest.mark.parametrize("kernel", BOUNDED, ids=str)
def test_bounded_kernels_are_finite_everywhere(kernel, d, distance):
    X, _ = data(d)
    Q = far(d, distance)
    K = kernel.bind(X)(Q)
    assert np.isfinite(K).all()
    assert np.abs(K).max() <= 1 + 1e-12
    if isinstance(kernel, RBF | Laplacian | Matern) and distance > 1e5:
        assert not K.any()


@pytest.mark.parametrize("kernel", BOUNDED[:6], ids=str)
def test_kernels_of_queries_that_are_far_from_each_other(kernel):
    """Inputs beyond 1e160 widths are not all the same point."""
    Z = np.array([[1e200], [-1e200], [3e200]])
    K = kernel.set_params(**({"gamma": 1.0} if hasattr(kernel, "gamma") else {})).bind(Z)(Z)
    assert np.isfinite(K).all()
    if not isinstance(kernel, Periodic):
        assert_allclose(K, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("variance", ["auto", "posterior", "augmented"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern", "rational-quadratic", "cosine", "sigmoid"])
def test_predictions_with_bounded_kernels(kernel, variance, distance):
    X, y = data()
    model = RelevanceVectorRegressor(kernel, gamma=0.3, variance=variance).fit(X, y)
    mean, std = model.predict(far(2, distance), return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert_allclose(model.predict(far(2, distance)), mean)


@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_a_linear_model_is_as_uncertain_as_it_is_far(distance):
    X, y = data()
    for model in (SparseBayesRegressor().fit(X, y), RelevanceVectorRegressor(Linear()).fit(X, y)):
        near_mean, near = model.predict(far(2, 1e20), return_std=True)
        mean, std = model.predict(far(2, distance), return_std=True)
        if distance > 1e20:
            assert_allclose(std, near * (distance / 1e20), rtol=1e-9)
            assert_allclose(mean, near_mean * (distance / 1e20), rtol=1e-9)
        assert np.isfinite(std).all()


@pytest.mark.parametrize("kernel", ["linear-spline", "cubic-spline", "thin-plate-spline", "poly", Columns(degree=3)])
@pytest.mark.parametrize("options", [{}, {"return_std": True}, {"return_cov": True}])
def test_values_beyond_all_numbers_are_refused(kernel, options):
    X, y = data(1)
    model = RelevanceVectorRegressor(kernel).fit(X, y)
    Q = np.array([[0.0], [1.0], [-1e200], [1e250]])
    with pytest.raises(ValueError, match=REFUSAL):
        model.predict(Q, **options)
    assert np.isfinite(model.predict(Q[:2])).all()


def test_the_row_is_counted_from_the_first_of_all_batches():
    X, y = data(1)
    model = RelevanceVectorRegressor("cubic-spline").fit(X, y)
    Q = np.zeros((700_000, 1))
    Q[654_321] = 1e200
    with pytest.raises(ValueError, match=r"is not finite at row 654321\."):
        model.predict(Q)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("distance", DISTANCES[:-1])
@pytest.mark.parametrize("make", [SparseBayesClassifier, lambda: RelevanceVectorClassifier(Linear())])
def test_probabilities_far_away_are_those_of_the_direction(make, distance, classes):
    X, y = data()
    model = make().fit(X, np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])))
    p = model.predict_proba(far(2, distance))
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1.0)
    if distance > 1e20:
        assert_allclose(p, model.predict_proba(far(2, 1e20)), atol=1e-6)
    model.predict(far(2, distance))
    assert np.isfinite(model.set_params(moderated=False).predict_log_proba(far(2, distance))).all()


def test_minima_of_large_and_small_numbers():
    Z = np.array([[1.0, 2.0], [3.0, 0.5]])
    K = HistogramIntersection().bind(Z)(np.array([[1e160, 1e160], [1.0, 1e30]]))
    assert_allclose(K, [[3.0, 3.5], [3.0, 1.5]])


@pytest.mark.parametrize("unit", [1e-100, 1e100])
@pytest.mark.parametrize(
    ("kernel", "gamma"),
    [(name, word) for name in ("rbf", "matern", "rational-quadratic") for word in ("scale", "ard")]
    + [("laplacian", "ard")],  # 1/Var(X) is no scale of |x − z|
)
def test_huge_and_tiny_units_of_the_inputs(kernel, gamma, unit):
    X, y = data()
    model = RelevanceVectorRegressor(kernel, gamma=gamma).fit(X * unit, y)
    mean, std = model.predict(X * unit, return_std=True)
    assert np.mean((mean - y) ** 2) < 0.1
    assert np.isfinite(std).all()


def test_a_result_predicts_far_rows_of_its_design():
    X, y = data()
    result = fit(X, y, fit_intercept=True)
    near, scaled = (result.predict(far(2, distance), return_std=True)[1] for distance in (1e20, 1e200))
    assert_allclose(scaled / 1e180, near, rtol=1e-9)


def test_a_kernel_that_is_not_finite_on_training_rows():
    X, y = data()
    message = r"^CubicSpline\(.*\) returned values that are not finite at row 0 of X: rescale X .*\.$"
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor("cubic-spline").fit(X * 1e60, y)
