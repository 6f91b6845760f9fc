"""Data without a comfortable answer: finite numbers all the same, or one clear sentence."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import KFold, cross_val_predict

from sparsebayes import RelevanceVectorClassifier, SparseBayesClassifier

MODELS = {
    "rbf": RelevanceVectorClassifier(),
    "linear": RelevanceVectorClassifier("linear"),
    "columns": SparseBayesClassifier(),
    "columns without intercept": SparseBayesClassifier(fit_intercept=False),
    "columns, bic": SparseBayesClassifier(prior="bic"),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_K = pytest.mark.parametrize("K", [2, 3])


def _assert_sound(model, X: np.ndarray) -> None:
    """Finite attributes, and probabilities that are some, near the data and far from it."""
    for value in (
        model.dual_coef_ if isinstance(model, RelevanceVectorClassifier) else model.active_coef_,
        model.intercept_,
        model.covariance_,
        model.log_evidence_,
        model.evidence_path_,
    ):
        assert np.isfinite(value).all()
    assert np.all(model.alpha_ > 0)
    assert np.all(np.diag(model.covariance_) > 0)
    for queries in (X, 1e3 * X):
        p = model.predict_proba(queries)
        assert np.all((p >= 0) & (p <= 1))
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
        assert np.isfinite(model.predict_log_proba(queries)).all()
        assert np.isfinite(model.decision_function(queries)).all()
        assert set(model.predict(queries)) <= set(model.classes_)


@every_model
@every_K
@pytest.mark.parametrize("seed", range(3))
def test_separable(name, K, seed):
    centers = 8 * np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.5]])[:K]
    X, y = make_blobs(60, centers=centers, random_state=seed)
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("gap", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, SparseBayesClassifier])
def test_one_feature_and_a_gap(gap, estimator):
    X = np.concatenate([np.linspace(-1, 0, 20), gap + np.linspace(0, 1, 20)])[:, None]
    y = np.repeat(["left", "right"], 20)
    model = estimator().fit(X, y)
    _assert_sound(model, X)
    assert model.score(X, y) >= 0.95


@every_model
@every_K
@pytest.mark.parametrize("seed", range(2))
def test_one_example_of_a_class(name, K, seed):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(40) % max(K - 1, 1), K - 1)
    X = rng.standard_normal((41, 2)) + 2 * y[:, None]
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    assert len(model.classes_) == K


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rbf", "columns", "columns, bic"])
@pytest.mark.parametrize("shift", [0.0, 2.0, 10.0])
def test_a_thousand_to_one(name, shift):
    rng = np.random.default_rng(3)
    n = 1001 if "columns" in name else 501
    X, y = rng.standard_normal((n, 2)), np.zeros(n, dtype=int)
    y[-1], X[-1] = 1, X[-1] + shift
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    p = model.set_params(moderated=False).predict_proba(X)[:, 1]
    assert p.sum() == pytest.approx(1.0, rel=1e-4)  # an intercept makes what is expected what was seen
    assert p[-1] >= np.median(p)
    _assert_sound(clone(model).set_params(class_weight="balanced").fit(X, y), X)


@every_model
@every_K
def test_duplicated_rows(name, K):
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((15, 2)), 4, axis=0)
    y = np.repeat(np.arange(15) % K, 4)
    _assert_sound(clone(MODELS[name]).fit(X, y), X)


@every_model
@every_K
@pytest.mark.parametrize("seed", range(2))
def test_the_same_rows_with_every_label(name, K, seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((12, 2)), K, axis=0)
    y = np.tile(np.arange(K), 12)
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    # an average over points knows the middle of more than two classes as well as it knows anything
    np.testing.assert_allclose(model.predict_proba(X), 1 / K, atol=1e-6 if K == 2 else 1e-3)
    np.testing.assert_allclose(model.set_params(moderated=False).predict_proba(X), 1 / K, atol=1e-6)


@every_model
def test_contradictory_rows_among_others(name):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    X, y = np.concatenate([X, X[:10]]), np.concatenate([y, 1 - y[:10]])
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    assert model.score(X, y) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "K"), [("rbf", 40), ("columns", 100)])
def test_many_classes(name, K):
    y = np.arange(2 * K) % K
    X = np.column_stack([y % 10, y // 10]) + 0.1 * np.random.default_rng(6).standard_normal((2 * K, 2))
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    assert model.predict_proba(X).shape == (2 * K, K)
    assert model.score(X, y) > 0.1


@pytest.mark.parametrize("name", ["rbf", "columns", "columns without intercept"])
@pytest.mark.parametrize("K", [3, 8])
def test_a_class_for_every_row(name, K):
    X = np.random.default_rng(7).standard_normal((K, 4))
    model = clone(MODELS[name]).fit(X, np.arange(K))
    _assert_sound(model, X)


@every_model
def test_two_rows(name):
    X = np.array([[0.0, 1.0], [1.0, -1.0]])
    _assert_sound(clone(MODELS[name]).fit(X, [0, 1]), X)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rbf", "columns"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "predict_log_proba"])
@pytest.mark.filterwarnings("ignore:Number of classes in training fold")
def test_a_class_missing_from_a_fold(name, method):
    """Sorted labels in unshuffled folds: every training fold lacks what it is then tested on."""
    X, y = make_blobs(60, centers=4, random_state=8)
    order = np.argsort(y)
    model = clone(MODELS[name])
    found = cross_val_predict(model, X[order], y[order], cv=KFold(4), method=method)
    assert len(found) == 60
    if method == "predict":
        assert not np.any(found == y[order])
    if method == "predict_proba":
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)
        assert np.all(found[np.arange(60), y[order]] == 0)


@every_model
@every_K
def test_a_constant_column(name, K):
    rng = np.random.default_rng(9)
    y = np.arange(60) % K
    X = np.column_stack([np.full(60, 3.0), rng.standard_normal(60) + 2 * y])
    model = clone(MODELS[name]).fit(X, y)
    _assert_sound(model, X)
    assert model.score(X, y) > 0.5
    if name == "columns":
        assert 0 not in model.relevance_


@every_K
@pytest.mark.parametrize("seed", range(4))
def test_nothing_to_be_learned(K, seed):
    """Labels that have nothing to do with X: about the shares of the classes everywhere."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((150, 4)), rng.permutation(np.arange(150) % K)
    model = SparseBayesClassifier(prior="ric").fit(X, y)
    _assert_sound(model, X)
    assert np.abs(model.predict_proba(X) - 1 / K).max() < 0.35
    if not len(model.relevance_):
        np.testing.assert_allclose(model.predict_proba(X), 1 / K, atol=1e-9)


@every_K
def test_more_columns_than_rows(K):
    rng = np.random.default_rng(10)
    X = rng.standard_normal((30, 200))
    y = X[:, :K].argmax(axis=1)
    model = SparseBayesClassifier().fit(X, y)
    _assert_sound(model, X)
    assert len(model.terms_) < 30
