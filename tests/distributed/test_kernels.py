"""Kernel machines on Dask: landmarks, working sets and scores by passes over all rows."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da

from sparsebayes import RBF, RelevanceVectorClassifier, RelevanceVectorRegressor
from sparsebayes.datasets import make_ripley, make_sinc2d
from sparsebayes.distributed.kernel_statistics import KnownPoints, RemoteColumns
from sparsebayes.distributed.landmarks import Landmarks, find_landmarks
from sparsebayes.distributed.points import PointRows
from sparsebayes.estimators import _dask_kernels
from sparsebayes.rows.validation import check_design

X, y, f = make_sinc2d(1200, noise=0.1, random_state=0)
GAMMA = 1 / 2.5**2


@pytest.fixture
def remote(monkeypatch):
    """Kernel machines of a few hundred rows stay on Dask."""
    monkeypatch.setattr(_dask_kernels, "GATHERED", 100)


def chunked(rows, *arrays):
    return tuple(da.from_array(each, chunks=(rows, *each.shape[1:])) for each in arrays)


def test_few_rows_are_fitted_in_memory():
    found = RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(80, X[:200], y[:200]))
    expected = RelevanceVectorRegressor(gamma=GAMMA).fit(X[:200], y[:200])
    np.testing.assert_array_equal(found.relevance_, expected.relevance_)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-8)


def test_few_rows_may_have_outputs_and_known_noise():
    Y, variances = np.column_stack([y, -2 * y + X[:, 0]])[:200], np.linspace(0.005, 0.02, 200)
    for options, target, noise in (
        ({}, Y, None),
        ({"joint": False}, Y, None),
        ({"groups": [0, 0]}, Y, None),
        ({"variance": "augmented"}, Y[:, 0], None),
        ({}, Y[:, 0], variances),
    ):
        expected = RelevanceVectorRegressor(gamma=GAMMA, **options).fit(X[:200], target, noise_variance=noise)
        lazy = None if noise is None else chunked(90, noise)[0]
        found = RelevanceVectorRegressor(gamma=GAMMA, **options)
        found.fit(*chunked(80, X[:200], target), noise_variance=lazy)
        mean, std = found.predict(chunked(60, X[200:300])[0], return_std=True)
        wanted = expected.predict(X[200:300], return_std=True)
        np.testing.assert_allclose(mean.compute(), wanted[0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(std.compute(), wanted[1], rtol=1e-8)


def test_outputs_one_by_one_stay_on_dask(remote):
    Y, options = np.column_stack([y, -f - y]), {"gamma": GAMMA, "effort": "fast"}
    found = RelevanceVectorRegressor(joint=False, **options).fit(*chunked(500, X, Y))
    each = [RelevanceVectorRegressor(**options).fit(*chunked(700, X, Y[:, k])) for k in range(2)]
    for k, model in enumerate(each):
        np.testing.assert_allclose(found.predict(X)[:, k], model.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("arguments", [{"y": np.ones((1200, 2))}, {"noise_variance": np.ones(1200)}])
def test_many_rows_have_one_output_of_unknown_noise(remote, arguments):
    given = {"y": y} | arguments
    with pytest.raises(ValueError, match=r"1200 rows of a Dask collection, more than 100"):
        RelevanceVectorRegressor(gamma=GAMMA).fit(chunked(500, X)[0], **given)


def test_regression_counts_all_rows_however_they_are_divided(remote):
    found = [RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(rows, X, y)) for rows in (500, 1200)]
    np.testing.assert_array_equal(found[0].relevance_, found[1].relevance_)
    np.testing.assert_allclose(found[0].log_evidence_, found[1].log_evidence_, rtol=1e-8)
    np.testing.assert_allclose(found[0].dual_coef_, found[1].dual_coef_, rtol=1e-6)
    memory = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y)
    assert abs(found[0].log_evidence_ - memory.log_evidence_) < 5
    errors = [np.sqrt(np.mean((model.predict(X) - f) ** 2)) for model in (found[0], memory)]
    assert errors[0] < 1.1 * errors[1]
    np.testing.assert_array_equal(X[found[0].relevance_], found[0].relevance_vectors_)
    assert found[0].certificate_.is_local_maximum


def test_more_rows_than_a_matrix_in_memory_allows_have_the_model_of_the_rows_in_memory():
    rows, targets, _ = make_sinc2d(16_500, noise=0.1, random_state=1)
    expected = RelevanceVectorRegressor(gamma=GAMMA).fit(rows, targets)
    for order, size in ((np.arange(16_500), 5000), (np.random.default_rng(0).permutation(16_500), 16_500)):
        found = RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(size, rows[order], targets[order]))
        assert set(order[found.relevance_]) == set(expected.relevance_)
        np.testing.assert_allclose(found.log_evidence_, expected.log_evidence_, rtol=1e-10)
        np.testing.assert_allclose(found.predict(rows[:500]), expected.predict(rows[:500]), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found.noise_variance_, expected.noise_variance_, rtol=1e-8)


def test_points_that_repeat_one_another_are_one_candidate(remote):
    rows = np.tile(X[:400], (3, 1))
    values = np.tile(f[:400], 3) + y - f
    found = [RelevanceVectorRegressor(gamma=GAMMA).fit(*chunked(size, rows, values)) for size in (400, 1200)]
    np.testing.assert_array_equal(found[0].relevance_, found[1].relevance_)
    np.testing.assert_allclose(found[0].log_evidence_, found[1].log_evidence_, rtol=1e-10)
    assert len(np.unique(found[0].relevance_vectors_, axis=0)) == len(found[0].relevance_)


def test_weights_count_rows():
    weights = np.random.default_rng(0).integers(0, 3, 500).astype(float)
    rows = np.repeat(np.arange(500), weights.astype(int))
    found = []
    for data in ((X[:500], y[:500], weights), (X[rows], y[rows], np.ones(len(rows)))):
        columns = RemoteColumns(PointRows.of(*chunked(200, *data), check_design), RBF(gamma=GAMMA), known(X[:20]), True)
        found.append(columns.subset(np.arange(20)))
    for one, other in zip(*(vars(quadratic).items() for quadratic, _ in found), strict=True):
        if one[0] in ("n", "tt", "h", "G"):
            np.testing.assert_allclose(one[1], other[1], rtol=1e-10, atol=1e-12)


def known(points):
    found = KnownPoints(np.zeros((0, points.shape[1])))
    found.numbers_of(points)
    return found


def test_learned_width_and_error_bars(remote):
    model = RelevanceVectorRegressor().fit(*chunked(500, X, y))
    queries, targets, _ = make_sinc2d(300, noise=0.1, random_state=1)
    mean, std = model.predict(queries, return_std=True)
    assert model.scales_.shape == (2,)
    assert model.input_relevance_.shape == (2,)
    assert np.mean(np.abs(mean - targets) < 2 * std) > 0.9


def test_classification_counts_all_rows_however_they_are_divided(remote):
    LX, labels, _ = make_ripley(500, random_state=0)
    found = [RelevanceVectorClassifier(gamma=2.0).fit(*chunked(rows, LX, labels)) for rows in (200, 500)]
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
        RelevanceVectorRegressor(**options).fit(*chunked(600, X, y))


def test_classes_that_share_functions_are_refused_on_a_second_fit_too(remote):
    LX, labels, _ = make_ripley(500, random_state=0)
    labels = np.where(LX[:, 1] > 0.8, 2, labels)
    model = RelevanceVectorClassifier(gamma=2.0).fit(*chunked(200, LX, labels))
    with pytest.raises(ValueError, match="groups must be None"):
        model.set_params(groups=[0, 0, 0]).fit(*chunked(200, LX, labels))


def test_landmarks_are_a_factor_of_the_kernel():
    points = PointRows.of(*chunked(300, X[:600], y[:600]), None, check_design)
    landmarks, complete = find_landmarks(points.rows, 600, Landmarks.none(RBF(gamma=0.005), 2), 1e-6)
    L, K = landmarks.at(X[:600]), RBF(gamma=0.005).bind(X[:600])(X[:600])
    assert complete
    assert np.abs(L.T @ L - K).max() < 1e-6
