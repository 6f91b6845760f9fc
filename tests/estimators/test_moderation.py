"""Probabilities of the calibrated Gaussian process through few functions, and far from the training rows."""

from copy import copy

import numpy as np
import pytest
from sklearn.metrics import log_loss

from sparsebayes import RBF, RelevanceVectorClassifier
from sparsebayes.bases.low_rank import greedy_cholesky, kernel_diagonal
from sparsebayes.datasets import make_ripley
from sparsebayes.estimators._moderation import Coverage


def labelled(n=120, seed=0, share=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * rng.standard_normal(n) > share).astype(int)


@pytest.fixture(scope="module")
def calibrated():
    X, y = labelled()
    return X, y, RelevanceVectorClassifier(gamma="evidence").fit(X, y)


def test_greedy_factor_is_that_of_the_kernel():
    X = np.random.default_rng(0).uniform(-2, 2, (80, 2))
    bound = RBF(gamma=0.7).bind(X)
    K = bound(X)
    np.testing.assert_allclose(kernel_diagonal(bound, X), K.diagonal())
    L, pivots, residual = greedy_cholesky(bound, X, 30, 1e-12)
    np.testing.assert_allclose((K - L @ L.T).diagonal(), residual, atol=1e-9)
    np.testing.assert_allclose((L @ L.T)[pivots][:, pivots], K[pivots][:, pivots], atol=1e-8)
    np.testing.assert_allclose(np.triu(L[pivots], 1), 0, atol=1e-8)
    whole, _, left = greedy_cholesky(bound, X, 80, 1e-10)
    np.testing.assert_allclose(whole @ whole.T, K, atol=1e-8)
    assert left.max() <= 1e-9


def test_doubt_is_the_share_that_rows_leave_unexplained():
    X = np.random.default_rng(0).uniform(-2, 2, (40, 2))
    bound = RBF(gamma=2.0).bind(X)
    coverage = Coverage.of(bound, X, np.asarray([0.5, 0.5]))
    Q = np.random.default_rng(1).uniform(-6, 6, (200, 2))
    Z = coverage.basis.vectors
    K = np.exp(-2.0 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    k = np.exp(-2.0 * ((Q[:, None] - Z[None]) ** 2).sum(axis=2))
    e = np.sum(k * np.linalg.solve(K, k.T).T, axis=1)
    np.testing.assert_allclose(coverage.doubt(Q), np.clip(1 - e / coverage.least, 0, 1), atol=1e-6)
    assert (coverage.doubt(X) == 0).all()
    np.testing.assert_array_equal(coverage.doubt(X + 50), 1)


@pytest.mark.parametrize("gamma", ["scale", "evidence", "ard", 1.0])
@pytest.mark.parametrize("kernel", ["rbf", "matern"])
def test_far_from_the_rows_probabilities_are_the_shares_of_the_classes(gamma, kernel):
    X, y = labelled(share=0.8)
    model = RelevanceVectorClassifier(kernel, gamma=gamma).fit(X, y)
    far = np.asarray([[1e3, -1e3], [-1e3, -1e3]])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], y.mean(), rtol=1e-3)
    near = model.predict_proba(X)[:, 1]
    assert log_loss(y, near) < 0.5 * log_loss(y, np.full(len(y), y.mean()))


def test_shares_are_those_of_weighted_classes_and_of_many():
    X, y = labelled(share=0.8)
    far = np.asarray([[1e3, 1e3]])
    balanced = RelevanceVectorClassifier(gamma=1.0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba(far), 0.5, rtol=1e-6)
    three = y + (X[:, 0] > 1.2)
    model = RelevanceVectorClassifier(gamma=1.0).fit(X, three)
    np.testing.assert_allclose(model.predict_proba(far)[0], np.bincount(three) / len(three), rtol=1e-6)
    assert model.predict(far)[0] == np.bincount(three).argmax()


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_without_a_range_have_no_far(kernel):
    X, y = labelled()
    assert RelevanceVectorClassifier(kernel, gamma=1.0).fit(X, y)._fitted.moderation.coverage is None


def test_labels_follow_the_probabilities(calibrated):
    model = calibrated[2]
    Q = np.random.default_rng(5).uniform(-6, 6, (300, 2))
    p, decision = model.predict_proba(Q), model.decision_function(Q)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-decision)), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(Q), (decision > 0).astype(int))
    assert set(model.relevance_) <= set(model.probability_vectors_)
    assert len(model.probability_vectors_) <= len(model.relevance_) + 8


def test_uncalibrated_probabilities_are_those_of_the_sparse_model(calibrated):
    X, y, model = calibrated
    other = copy(model).set_params(calibrated=False)
    fresh = RelevanceVectorClassifier(gamma="evidence", calibrated=False).fit(X, y)
    np.testing.assert_allclose(other.predict_proba(X), fresh.predict_proba(X), rtol=1e-9)
    assert not hasattr(fresh, "probability_vectors_")
    assert np.abs(other.predict_proba(X) - model.predict_proba(X)).max() > 1e-3
    np.testing.assert_array_equal(fresh.dual_coef_, model.dual_coef_)


def test_calibrated_probabilities_do_not_depend_on_names_or_order(calibrated):
    X, y, model = calibrated
    order = np.random.default_rng(3).permutation(len(y))
    swapped = RelevanceVectorClassifier(gamma="evidence").fit(X[order], 1 - y[order])
    np.testing.assert_allclose(swapped.predict_proba(X)[:, ::-1], model.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(order[swapped.probability_vectors_].sum(), model.probability_vectors_.sum())


def test_weights_equal_repeated_rows():
    X, y = labelled(60)
    weights = np.random.default_rng(0).integers(1, 3, 60)
    again = np.repeat(np.arange(60), weights)
    one = RelevanceVectorClassifier(gamma="evidence").fit(X, y, sample_weight=weights)
    other = RelevanceVectorClassifier(gamma="evidence").fit(X[again], y[again])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=0.02)


def test_nearly_separable_classes():
    """Breiman's twonorm: sparse models alone are too certain."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2300)
    X = rng.standard_normal((2300, 20)) + np.where(y[:, None] == 1, 2, -2) / np.sqrt(20)
    model = RelevanceVectorClassifier(gamma="evidence").fit(X[:300], y[:300])
    ours = log_loss(y[300:], model.predict_proba(X[300:]))
    assert ours < 0.9 * log_loss(y[300:], model.set_params(calibrated=False).predict_proba(X[300:]))
    assert ours < 0.1


@pytest.mark.parametrize("seed", range(2))
def test_a_width_for_each_input_neither_overfits_nor_drops_what_informs(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 20))
    equal = (X.sum(axis=1) + 1.5 * rng.standard_normal(1500) > 0).astype(int)
    model = RelevanceVectorClassifier(gamma="ard").fit(X[:200], equal[:200])
    measured = model.scales_ * X[:200].var(axis=0)  # one width, in units of the spread of each input
    np.testing.assert_allclose(measured, measured[0])
    assert len(model.scales_) == 20
    plain = RelevanceVectorClassifier(gamma="evidence").fit(X[:200], equal[:200])
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    few = (2 * np.sin(2 * X[:, 0]) + 1.5 * X[:, 1] + 0.5 * rng.standard_normal(1500) > 0).astype(int)
    model = RelevanceVectorClassifier(gamma="ard").fit(X[:200], few[:200])
    plain = RelevanceVectorClassifier(gamma="evidence").fit(X[:200], few[:200])
    losses = [log_loss(few[200:], each.predict_proba(X[200:])) for each in (model, plain)]
    assert losses[0] < 0.7 * losses[1]


def test_ripley_with_a_width_for_each_input():
    X, y, _ = make_ripley(250, random_state=0)
    model = RelevanceVectorClassifier(gamma="ard").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[30.0, 30.0]])[0, 1], y.mean(), atol=1e-6)
