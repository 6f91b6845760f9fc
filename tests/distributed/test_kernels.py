"""Kernel machines on Dask: landmarks, working sets and scores by passes over all rows."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da

from sparsebayes import RBF, RelevanceVectorClassifier, RelevanceVectorRegressor
from sparsebayes.datasets import make_ripley, make_sinc2d
from sparsebayes.distributed.landmarks import Landmarks, find_landmarks
from sparsebayes.distributed.points import PointRows
from sparsebayes.distributed.sketches import SmallestKeys, hashes, uniform
from sparsebayes.estimators import _dask_kernels
from sparsebayes.rows.validation import check_design

X, y, f = make_sinc2d(4000, noise=0.1, random_state=0)
GAMMA = 1 / 2.5**2


@pytest.fixture
def remote(monkeypatch):
    """Kernel machines of a few hundred rows stay on Dask."""
    monkeypatch.setattr(_dask_kernels, "GATHERED", 100)


def chunked(rows, *arrays):
    return tuple(da.from_array(each, chunks=(rows, *each.shape[1:])) for each in arrays)


def test_few_rows_are_fitted_in_memory():
    found = RelevanceVectorRegressor().fit(*chunked(150, X[:400], y[:400]))
    expected = RelevanceVectorRegressor().fit(X[:400], y[:400])
    np.testing.assert_array_equal(found.relevance_, expected.relevance_)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-8)


def test_regression_counts_all_rows_however_they_are_divided(remote):
    found = [RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(rows, X, y)) for rows in (900, 4000)]
    np.testing.assert_array_equal(found[0].relevance_, found[1].relevance_)
    np.testing.assert_allclose(found[0].log_evidence_, found[1].log_evidence_, rtol=1e-8)
    np.testing.assert_allclose(found[0].dual_coef_, found[1].dual_coef_, rtol=1e-6)
    memory = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y)
    assert abs(found[0].log_evidence_ - memory.log_evidence_) < 5
    errors = [np.sqrt(np.mean((model.predict(X) - f) ** 2)) for model in (found[0], memory)]
    assert errors[0] < 1.1 * errors[1]
    np.testing.assert_array_equal(X[found[0].relevance_], found[0].relevance_vectors_)
    assert found[0].certificate_.is_local_maximum


def test_weights_count_rows(remote):
    weights = np.random.default_rng(0).integers(0, 3, 1500).astype(float)
    rows = np.repeat(np.arange(1500), weights.astype(int))
    one = RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(400, X[:1500], y[:1500], weights))
    many = RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(400, X[rows], y[rows]))
    np.testing.assert_allclose(one.log_evidence_, many.log_evidence_, rtol=1e-8)
    np.testing.assert_allclose(np.sort(one.relevance_vectors_, axis=0), np.sort(many.relevance_vectors_, axis=0))


def test_learned_width_and_error_bars(remote):
    model = RelevanceVectorRegressor().fit(*chunked(300, X[:900], y[:900]))
    mean, std = model.predict(X[900:], return_std=True)
    assert model.scales_.shape == (2,) and model.input_relevance_.shape == (2,)
    assert np.mean(np.abs(mean - y[900:]) < 2 * std) > 0.9


def test_classification_counts_all_rows_however_they_are_divided(remote):
    LX, labels, _ = make_ripley(800, random_state=0)
    found = [RelevanceVectorClassifier(gamma=2.0).fit(*chunked(rows, LX, labels)) for rows in (300, 800)]
    np.testing.assert_array_equal(found[0].relevance_, found[1].relevance_)
    np.testing.assert_allclose(found[0].log_evidence_, found[1].log_evidence_, rtol=1e-8)
    memory = RelevanceVectorClassifier(gamma=2.0).fit(LX, labels)
    assert abs(found[0].log_evidence_ - memory.log_evidence_) < 3
    assert np.abs(found[0].predict_proba(LX) - memory.predict_proba(LX)).max() < 0.1
    np.testing.assert_array_equal(LX[found[0].relevance_], found[0].relevance_vectors_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "sigmoid"}, "positive semi-definite"),
        ({"kernel": "precomputed"}, "precomputed"),
        ({"gamma": GAMMA, "variance": "augmented"}, "variance must be"),
        ({"gamma": GAMMA, "solver": "mackay"}, "solver must be"),
        ({"gamma": 5000.0}, "gamma"),
    ],
)
def test_errors(remote, options, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(**options).fit(*chunked(1000, X, y))


def test_landmarks_are_a_factor_of_the_kernel():
    points = PointRows.of(*chunked(300, X[:1000], y[:1000]), None, check_design)
    landmarks, complete = find_landmarks(points.rows, 1000, Landmarks.none(RBF(gamma=0.05), 2), 1e-6)
    L, K = landmarks.at(X[:1000]), RBF(gamma=0.05).bind(X[:1000])(X[:1000])
    assert complete and np.abs(L.T @ L - K).max() < 1e-6


def test_a_sample_does_not_depend_on_the_order_of_rows():
    order = np.random.default_rng(1).permutation(1000)
    one = SmallestKeys.of(uniform(X[:1000]), X[:1000], 50)
    two = SmallestKeys.of(uniform(X[order[:300]]), X[order[:300]], 50)
    two = two + SmallestKeys.of(uniform(X[order[300:]]), X[order[300:]], 50)
    np.testing.assert_array_equal(one.rows, two.rows)
    assert abs(uniform(X).mean() - 0.5) < 0.02 and len(np.unique(hashes(X))) == len(X)
