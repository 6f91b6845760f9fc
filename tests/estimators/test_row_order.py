"""The order of the rows changes nothing, and neither do the names of the classes."""

import numpy as np
import pytest
import scipy.sparse

from sparsebayes import (
    RBF,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    Spike,
)
from sparsebayes.datasets import make_sinc2d
from sparsebayes.estimators._order import ClassOrder, first_of_each, row_order


def _small(seed, classes=2):
    """A small noisy problem, of the kind on which label order used to move probabilities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    X = rng.standard_normal((n, 3))
    f = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
    return X, np.searchsorted([0.0] if classes == 2 else [-0.6, 0.6], f), rng


@pytest.mark.parametrize("n", [400, 1501, 3000])
def test_regression_does_not_depend_on_the_order_of_rows(n):
    X, y, _ = make_sinc2d(n, noise=0.1, random_state=0)
    p = np.random.default_rng(1).permutation(n)
    a, b = (RelevanceVectorRegressor(gamma=0.16).fit(X[i], y[i]) for i in (np.arange(n), p))
    for mean, other in zip(a.predict(X, return_std=True), b.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mean, other, rtol=1e-6)
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-6)
    np.testing.assert_array_equal(a.relevance_, np.sort(p[b.relevance_]))
    for model, i in ((a, np.arange(n)), (b, p)):
        assert np.all(np.diff(model.relevance_) > 0)
        np.testing.assert_array_equal(model.relevance_vectors_, X[i][model.relevance_])


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("make", [RelevanceVectorClassifier, SparseBayesClassifier])
@pytest.mark.parametrize("n", [100, 500])
def test_classification_does_not_depend_on_the_order_of_rows(n, make, K):
    rng = np.random.default_rng(n + K)
    X = rng.standard_normal((n, 3))
    y = (np.stack([X[:, 0], X[:, 1] * X[:, 2], X[:, 2]][:K], axis=1) + rng.gumbel(size=(n, K))).argmax(axis=1)
    weights, p = rng.integers(1, 4, n), rng.permutation(n)
    a = make().fit(X, y, weights)
    b = make().fit(X[p], y[p], weights[p])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6, atol=1e-9)
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-6)
    found = a.relevance_ if make is SparseBayesClassifier else np.sort(p[b.relevance_])
    np.testing.assert_array_equal(a.relevance_, found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_labels_that_are_swapped_give_swapped_probabilities(seed):
    X, y, _ = _small(seed)
    a, b = (RelevanceVectorClassifier().fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, ::-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.dual_coef_, -b.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(a.intercept_, -b.intercept_, rtol=1e-9)
    np.testing.assert_allclose(a.candidates_.Q, -b.candidates_.Q, rtol=1e-9)
    np.testing.assert_array_equal(a.relevance_, b.relevance_)
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"gamma": "evidence"}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_classes_may_have_any_names(seed, K, weighted, options):
    X, y, rng = _small(seed, K)
    weights = rng.integers(0, 4, len(y)) if weighted else None
    names = np.asarray(["pear", "apple", "zucchini"])[rng.permutation(3)[:K]]
    a = RelevanceVectorClassifier(**options).fit(X, y, weights)
    b = RelevanceVectorClassifier(**options).fit(X, names[y], weights)
    places = np.searchsorted(b.classes_, names)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, places], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(names[a.predict(X)], b.predict(X))
    np.testing.assert_array_equal(a.relevance_, b.relevance_)
    if K == 3:
        np.testing.assert_allclose(a.dual_coef_, b.dual_coef_[places], rtol=1e-9)
        np.testing.assert_allclose(a.intercept_, b.intercept_[places], rtol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("K", [2, 3])
def test_columns_are_fitted_the_same_whatever_the_names(K, sparse):
    X, y, rng = _small(3, K)
    X = scipy.sparse.csr_array(np.where(rng.random(X.shape) < 0.7, X, 0.0)) if sparse else X
    names = np.asarray([5, 9, 2])[:K]
    a, b = SparseBayesClassifier().fit(X, y), SparseBayesClassifier().fit(X, names[y])
    places = np.searchsorted(b.classes_, names)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, places], rtol=1e-9, atol=1e-12)


def test_relevance_is_the_first_of_repeated_rows_as_they_were_given():
    rng = np.random.default_rng(4)
    X = rng.uniform(-3, 3, (40, 1)).round(1)
    X, y = np.concatenate([X, X]), np.sin(2 * np.concatenate([X, X])[:, 0]) + 0.1 * rng.standard_normal(80)
    for model, t in ((RelevanceVectorRegressor(), y), (RelevanceVectorClassifier(), y > 0)):
        model.fit(X, t)
        assert len(model.relevance_)
        for m in model.relevance_:
            assert m == np.flatnonzero(X[:, 0] == X[m, 0])[0]
        assert np.all(np.isin(model.candidates_.function, np.arange(40)))


def test_components_are_in_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, (60, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    y[17] += 5.0
    model = RelevanceVectorRegressor(RBF(0.5) + Spike(), prior="bic").fit(X, y)
    assert np.argmax(np.abs(model.components_[1])) == 17
    np.testing.assert_allclose(model.components_.sum(axis=0) + model.intercept_, model.predict(X), rtol=1e-9)


def test_rows_in_lexicographic_order():
    rng = np.random.default_rng(6)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    order, group = row_order(X)
    np.testing.assert_array_equal(X[order], X[np.lexsort(X.T[::-1])])
    distinct = np.unique(X, axis=0)
    np.testing.assert_array_equal(X[order], distinct[group])
    first = first_of_each(group, order)
    for row, number in zip(X[order], first, strict=True):
        assert number == np.flatnonzero((X == row).all(axis=1))[0]


def test_sparse_rows_have_an_order_of_their_own():
    rng = np.random.default_rng(7)
    X = scipy.sparse.random_array((100, 20), density=0.1, random_state=rng, format="csr")
    p = rng.permutation(100)
    a, b = row_order(X)[0], row_order(X[p])[0]
    np.testing.assert_array_equal(X[a].toarray(), X[p][b].toarray())


def test_the_order_of_classes_that_share_their_rows():
    X = np.asarray([0.0, 0.0, 0.0, 1.0, 1.0])[:, None]
    y = np.asarray(["a", "b", "b", "a", "b"])
    order = ClassOrder.of(y, None, *row_order(X))
    np.testing.assert_array_equal(order.labels[order.places], ["b", "a"])
    np.testing.assert_array_equal(order.codes, [1, 0, 0, 1, 0])
    other = np.where(y == "a", "z", y)
    np.testing.assert_array_equal(ClassOrder.of(other, None, *row_order(X)).codes, order.codes)
