"""Kernel machines on arrays of every library: the fit of NumPy arrays, attributes and predictions where X is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor
from sparsebayes._array import to_numpy
from sparsebayes.bases import RBF, Columns

# JAX compiles every operation anew for every size, which takes long on a processor
not_jax = pytest.mark.parametrize("backend", ["numpy", "array-api-strict", "torch", "cupy"], indirect=True)
MODELS = {
    "a number": {"gamma": 0.5},
    "learned": {},
    "ard": {"gamma": "ard"},
    "gp": {"variance": "gp"},
    "augmented": {"gamma": 0.5, "variance": "augmented"},
    "sum of parts": {"kernel": RBF() + Columns(), "gamma": "evidence"},
}


pytestmark = pytest.mark.usefixtures("dispatch")


def _data(N, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-3, 3, (N, 2)), 2)
    X[3] = X[N // 2]
    return X, np.sinc(np.hypot(X[:, 0], X[:, 1])) + 0.05 * rng.standard_normal(N)


def _assert_same(options, X, y, backend, **more):
    expected = RelevanceVectorRegressor(**options).fit(X, y, **more)
    more = {name: backend.asarray(value) for name, value in more.items()}
    model = RelevanceVectorRegressor(**options).fit(backend.asarray(X), backend.asarray(y), **more)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-8)
    assert_array_equal(to_numpy(model.relevance_), expected.relevance_)
    assert backend.is_own(model.relevance_vectors_)
    assert_array_equal(to_numpy(model.relevance_vectors_), expected.relevance_vectors_)
    queries = np.random.default_rng(1).uniform(-3, 3, (7, 2))
    found = model.predict(backend.asarray(queries), return_std=True)
    for own, one in zip(found, expected.predict(queries, return_std=True), strict=True):
        assert backend.is_own(own)
        assert_allclose(to_numpy(own), one, rtol=1e-6, atol=1e-8)
    return model, expected


@not_jax
@pytest.mark.parametrize("name", MODELS)
def test_a_regression_is_the_same(name, backend):
    model, expected = _assert_same(MODELS[name], *_data(70), backend)
    if hasattr(expected, "scales_"):
        assert_allclose(to_numpy(model.scales_), expected.scales_, rtol=1e-6)
        assert_allclose(to_numpy(model.input_relevance_), expected.input_relevance_, rtol=1e-6, atol=1e-9)


def test_a_regression_with_weights_and_a_given_width_is_the_same(backend):
    X, y = _data(40, seed=2)
    _assert_same({"gamma": 0.1}, X, y, backend, sample_weight=np.arange(40) % 3 + 1.0)


@not_jax
def test_a_regression_whose_matrix_is_not_formed_is_the_same(backend):
    _assert_same({"gamma": 0.05}, *_data(1600, seed=3), backend)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "array-api-strict", "torch", "cupy"], indirect=True)
@pytest.mark.parametrize("options", [{"gamma": 0.1}, {}], ids=["a number", "learned"])
def test_a_classification_is_the_same(options, backend):
    X, y = _data(40, seed=5)
    labels, queries = (y > 0.3).astype(int), 2 * X[:9]
    expected = RelevanceVectorClassifier(**options).fit(X, labels)
    model = RelevanceVectorClassifier(**options).fit(backend.asarray(X), backend.asarray(labels))
    assert model.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-8)
    found = model.predict_proba(backend.asarray(queries))
    assert backend.is_own(found)
    assert_allclose(to_numpy(found), expected.predict_proba(queries), rtol=1e-5, atol=1e-8)
