"""What must not matter does not: the names and the order of classes and rows, units, weights or repeats."""

import datetime

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import RBF, Bias, Columns, RelevanceVectorClassifier, SparseBayesClassifier

TIGHT = {"rtol": 1e-4, "atol": 1e-6}
MODELS = {
    "rbf": RelevanceVectorClassifier(gamma="scale"),  # gamma="scale" depends on the weights as well
    "sum": RelevanceVectorClassifier(Bias() + RBF() + Columns(2), fit_intercept=False, prior="bic"),
    "columns": SparseBayesClassifier(),
    "columns without intercept": SparseBayesClassifier(prior="aic", fit_intercept=False),
    "balanced columns": SparseBayesClassifier(class_weight="balanced", prior="bic"),
    "balanced rbf": RelevanceVectorClassifier(gamma="scale", class_weight="balanced", prior="bic"),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_K = pytest.mark.parametrize("K", [2, 3])


def _problem(seed: int, K: int, n: int = 70) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlapping classes of unequal size, and counts of rows."""
    rng = np.random.default_rng(seed)
    y = rng.choice(K, n, p=np.arange(2, K + 2) / np.arange(2, K + 2).sum())
    angle = 2 * np.pi * y / K
    X = 1.3 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((n, 2))
    return X, y, rng.integers(0, 4, n)


def _weights(model) -> np.ndarray:
    return model.dual_coef_ if isinstance(model, RelevanceVectorClassifier) else model.active_coef_


def _assert_same(a, b, X, order=slice(None)) -> None:
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-7)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, order], **TIGHT)


@every_model
@every_K
@pytest.mark.parametrize("seed", range(3))
def test_integer_weights_equal_repeated_rows(name, K, seed):
    X, y, weights = _problem(seed, K)
    weighted = clone(MODELS[name]).fit(X, y, sample_weight=weights)
    repeated = clone(MODELS[name]).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    _assert_same(weighted, repeated, X)
    np.testing.assert_allclose(weighted.relevance_vectors_, repeated.relevance_vectors_)
    np.testing.assert_allclose(_weights(weighted), _weights(repeated), rtol=1e-3, atol=1e-5)


@every_model
@every_K
def test_zero_weights_equal_rows_left_out(name, K):
    X, y, weights = _problem(5, K)
    kept = np.flatnonzero(weights)
    weighted = clone(MODELS[name]).fit(X, y, sample_weight=weights > 0)
    without = clone(MODELS[name]).fit(X[kept], y[kept])
    _assert_same(weighted, without, X)
    np.testing.assert_array_equal(weighted.relevance_vectors_, without.relevance_vectors_)
    if name.startswith("rbf"):
        np.testing.assert_array_equal(weighted.relevance_, kept[without.relevance_])


def test_zero_weights_drop_columns_of_a_precomputed_kernel():
    X, y, weights = _problem(7, 3)
    kernel = RBF(0.4).bind(X)(X)
    model = RelevanceVectorClassifier("precomputed").fit(kernel, y, sample_weight=weights)
    reference = RelevanceVectorClassifier(gamma=0.4).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.relevance_, reference.relevance_)
    np.testing.assert_allclose(model.predict_proba(kernel), reference.predict_proba(X), **TIGHT)


def test_classes_are_those_of_the_rows_that_count():
    X, y, _ = _problem(8, 4)
    model = SparseBayesClassifier().fit(X, y, sample_weight=y != 2)
    assert model.classes_.tolist() == [0, 1, 3]
    two = SparseBayesClassifier(class_weight={0: 0.0, 1: 0.0, 2: 1.0, 3: 1.0}).fit(X, y)
    assert two.classes_.tolist() == [2, 3]
    assert two.decision_function(X).shape == (70,)


@pytest.mark.parametrize("weighted", [True, False])
def test_class_weights_multiply_sample_weights(weighted):
    X, y, weights = _problem(9, 3)
    given = weights if weighted else np.ones(70)
    counts = np.bincount(y, given)
    factors = {
        "named": ({0: 2.0, 2: 0.5}, np.array([2.0, 1.0, 0.5])),
        "balanced": ("balanced", counts.sum() / (3 * counts)),
    }
    for class_weight, factor in factors.values():
        ours = SparseBayesClassifier(class_weight=class_weight)
        ours.fit(X, y, sample_weight=weights if weighted else None)
        _assert_same(ours, SparseBayesClassifier().fit(X, y, sample_weight=given * factor[y]), X)


def test_balanced_weights_lift_the_rare_class():
    rng = np.random.default_rng(10)
    y = np.repeat([0, 1], [190, 10])
    X = rng.standard_normal((200, 2)) + y[:, None]
    plain, balanced = (SparseBayesClassifier(class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert balanced.predict(X)[190:].mean() > plain.predict(X)[190:].mean() + 0.3


@every_model
@every_K
@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_rows(name, K, seed):
    X, y, weights = _problem(seed + 20, K)
    order = np.random.default_rng(seed).permutation(70)
    plain = clone(MODELS[name]).fit(X, y, sample_weight=weights)
    shuffled = clone(MODELS[name]).fit(X[order], y[order], sample_weight=weights[order])
    _assert_same(shuffled, plain, X)


LABELS = {
    "words": np.array(["apple", "banana", "cherry"]),
    "negative": np.array([-7, -3, 0]),
    "floats": np.array([-1.0, 0.0, 1e6]),
    "unsigned": np.array([1, 100, 255], dtype=np.uint8),
    "objects": np.array(["a", "bb", "ccc"], dtype=object),
    "numbers in objects": np.array([1, 2, 10], dtype=object),
    "dates in objects": np.array([datetime.date(2020, 1, day) for day in (1, 2, 3)], dtype=object),
    "dates": np.array(["2020-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("labels", LABELS)
@every_K
@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, SparseBayesClassifier])
def test_names_of_classes(labels, K, estimator):
    X, y, _ = _problem(30, K)
    names = LABELS[labels]
    plain, named = estimator().fit(X, y), estimator().fit(X, names[y])
    np.testing.assert_array_equal(named.classes_, names[:K])
    assert named.classes_.dtype == names.dtype
    np.testing.assert_array_equal(named.predict(X), names[plain.predict(X)])
    assert named.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    assert np.mean(named.predict(X) == names[y]) == plain.score(X, y)


def test_truth_values_and_lists():
    X, y, _ = _problem(31, 2)
    plain = SparseBayesClassifier().fit(X, y)
    for labels in (y == 1, (y == 1).tolist(), (y == 1).astype(object)):
        model = SparseBayesClassifier(class_weight={True: 1.0, False: 1.0}).fit(X, labels)
        assert model.classes_.tolist() == [False, True]
        np.testing.assert_array_equal(model.predict(X), plain.predict(X) == 1)


@every_model
@every_K
@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_classes(name, K, seed):
    X, y, _ = _problem(seed + 40, K)
    plain, turned = clone(MODELS[name]).fit(X, y), clone(MODELS[name]).fit(X, K - 1 - y)
    _assert_same(turned, plain, X, order=slice(None, None, -1))
    np.testing.assert_array_equal(turned.relevance_, plain.relevance_)
    if K == 2:
        np.testing.assert_allclose(turned.decision_function(X), -plain.decision_function(X), **TIGHT)
        np.testing.assert_allclose(_weights(turned), -_weights(plain), **TIGHT)


def _table(seed: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 6))
    return X, (2 * X[:, :K] + rng.gumbel(size=(90, K))).argmax(axis=1)


@every_K
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [1e-6, 1e6, "mixed"])
def test_scale_of_columns(K, fit_intercept, scale):
    X, y = _table(50, K)
    scales = 10.0 ** np.array([6, -6, 3, -3, 0, 5]) if scale == "mixed" else np.full(6, scale)
    model = SparseBayesClassifier(fit_intercept=fit_intercept)
    plain, scaled = clone(model).fit(X, y), clone(model).fit(X * scales, y)
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    np.testing.assert_allclose(scaled.coef_ * scales, plain.coef_, **TIGHT)
    np.testing.assert_allclose(scaled.predict_proba(X * scales), plain.predict_proba(X), **TIGHT)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-7)


@every_K
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_inputs_with_gamma_scale(K, scale):
    X, y, _ = _problem(51, K)
    plain, scaled = (RelevanceVectorClassifier(prior="bic").fit(s * X, y) for s in (1.0, scale))
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    np.testing.assert_allclose(scaled.predict_proba(scale * X), plain.predict_proba(X), **TIGHT)


@every_K
@pytest.mark.parametrize("what", ["copies", "negatives", "zeros", "constants"])
def test_columns_that_say_nothing_new(K, what):
    X, y = _table(52, K)
    extra = {"copies": X, "negatives": -1e3 * X, "zeros": 0 * X, "constants": 0 * X + 7.25}[what]
    plain = SparseBayesClassifier().fit(X, y)
    wide = np.concatenate([X, extra], axis=1)
    model = SparseBayesClassifier().fit(wide, y)
    np.testing.assert_array_equal(model.relevance_, plain.relevance_)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), **TIGHT)


@every_K
def test_shift_of_columns(K):
    X, y = _table(53, K)
    plain, moved = SparseBayesClassifier().fit(X, y), SparseBayesClassifier().fit(X + 100.0, y)
    np.testing.assert_array_equal(plain.relevance_, moved.relevance_)
    np.testing.assert_allclose(moved.coef_, plain.coef_, **TIGHT)
    np.testing.assert_allclose(moved.predict_proba(X + 100.0), plain.predict_proba(X), **TIGHT)
