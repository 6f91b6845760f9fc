"""Labels on Dask: the loop is that of the rows in memory, one pass for each Newton step."""

import itertools

import numpy as np
import pytest
import scipy.sparse

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da

from sparsebayes import SparseBayesClassifier, fit
from sparsebayes.distributed import DistributedSettings, expansion
from sparsebayes.distributed.labels import LabelRows
from sparsebayes.estimators._order import ClassOrder, row_order
from sparsebayes.laplace import check_label_vector
from sparsebayes.rows.validation import check_design

from .dask_examples import labels

X, two, three, weights = labels()


def same(one, other):
    """Labels end where no log α moves by 1e-6, one alternation sooner or later by rounding; L is flat there."""
    assert list(one.classes_) == list(other.classes_)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.log_evidence_, other.log_evidence_, rtol=1e-10)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("target", [two, three], ids=["two", "three"])
@pytest.mark.parametrize("chunk", [500, 1200])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced", "fit_intercept": False}], ids=["", "options"])
def test_the_model_is_that_of_the_rows_in_memory(target, chunk, options):
    model = SparseBayesClassifier(prior="bic", **options)
    remote = da.from_array(X, chunks=(chunk, 8)), da.from_array(target, chunks=300), da.from_array(weights, chunks=700)
    found = SparseBayesClassifier(prior="bic", **options).fit(*remote)
    same(found, model.fit(X, target, weights))
    assert found.certificate_.is_local_maximum


@pytest.mark.parametrize("groups", [["a", "b", "a"], [1, 1, 1]])
def test_classes_may_share_their_functions(groups):
    remote = da.from_array(X, chunks=(170, 8)), da.from_array(three, chunks=500)
    same(
        SparseBayesClassifier(prior="bic", groups=groups).fit(*remote),
        SparseBayesClassifier(prior="bic", groups=groups).fit(X, three),
    )
    options = {"likelihood": "multinomial", "prior": "bic", "groups": groups}
    found, expected = fit(*remote, **options), fit(X, three, **options)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.active, expected.active)


def test_class_weights_may_leave_a_class_out():
    each = {0: 1.0, 1: 0.0, 2: 3.0}
    found = SparseBayesClassifier(class_weight=each).fit(
        da.from_array(X, chunks=(500, 8)), da.from_array(three, chunks=500)
    )
    same(found, SparseBayesClassifier(class_weight=each).fit(X, three))


def test_many_candidates_fetch_rows_of_the_gram_matrix(monkeypatch):
    monkeypatch.setattr(expansion, "DISTRIBUTED", DistributedSettings(dense=6, fetched=2))
    found = SparseBayesClassifier(prior="bic").fit(da.from_array(X, chunks=(500, 8)), da.from_array(three, chunks=500))
    same(found, SparseBayesClassifier(prior="bic").fit(X, three))


def test_repeated_and_constant_columns_are_not_selected():
    A = np.column_stack([X, X[:, 2], -X[:, 5], np.ones(len(X))])
    remote = da.from_array(A, chunks=(500, 11))
    found = SparseBayesClassifier(prior="bic").fit(remote, da.from_array(two, chunks=500))
    assert list(found.relevance_) == list(SparseBayesClassifier(prior="bic").fit(A, two).relevance_)
    assert found.relevance_.max() < 8


def test_sparse_chunks():
    A = np.where(np.abs(X - 3) > 1, X - 3, 0.0)
    blocks = [
        da.from_delayed(
            dask.delayed(scipy.sparse.csr_matrix)(A[k : k + 400]), (400, 8), meta=scipy.sparse.csr_matrix((0, 0))
        )
        for k in range(0, 1200, 400)
    ]
    found = SparseBayesClassifier(prior="bic").fit(da.concatenate(blocks), da.from_array(two, chunks=400))
    np.testing.assert_allclose(found.coef_, SparseBayesClassifier(prior="bic").fit(A, two).coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("sizes", [(300,), (100, 200), (1, 99, 50, 150)])
def test_sparse_chunks_have_the_order_of_classes_of_the_rows_in_memory(sizes):
    rng = np.random.default_rng(1)
    A = scipy.sparse.csr_matrix(np.where(rng.random((300, 9)) < 0.3, rng.integers(1, 3, (300, 9)), 0.0))
    target, ends = rng.integers(0, 5, 300), np.cumsum((0, *sizes))
    blocks = [
        da.from_delayed(dask.delayed(A[first:last]), (last - first, 9), meta=A[:0])
        for first, last in itertools.pairwise(ends)
    ]
    rows = LabelRows.of(
        da.concatenate(blocks), da.from_array(target, chunks=300), None, check_design, check_label_vector
    )
    expected = ClassOrder.of(target, None, *row_order(A)).places
    np.testing.assert_array_equal(rows.encoded().places, expected)


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "category", "category of numbers"])
@pytest.mark.parametrize("partitions", [3, 4])
def test_a_series_has_the_classes_that_it_has_in_memory(kind, partitions):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    numbers = kind in ("Int64", "boolean", "category of numbers")
    target = pandas.Series((two == "yes").astype(int) if numbers else two).astype(kind.split()[0])
    expected = SparseBayesClassifier().fit(X, target)
    remote = frames.from_pandas(pandas.DataFrame(X), npartitions=3).to_dask_array(lengths=True)
    found = SparseBayesClassifier().fit(remote, frames.from_pandas(target, npartitions=partitions))
    assert found.classes_.dtype == expected.classes_.dtype
    same(found, expected)


def test_the_function_fit():
    remote = da.from_array(X, chunks=(500, 8)), da.from_array(two, chunks=500)
    found = fit(*remote, likelihood="bernoulli", fit_intercept=True, prior="bic")
    expected = fit(X, two, likelihood="bernoulli", fit_intercept=True, prior="bic")
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-8)
    assert list(found.classes) == ["no", "yes"]


def test_classes_are_found_in_one_pass():
    rows = LabelRows.of(da.from_array(X, chunks=(100, 8)), three, weights, check_design, check_label_vector)
    np.testing.assert_allclose(rows.classes.weights, np.bincount(three, weights))
    positive = X[weights > 0]
    expected = min(tuple(row) for row in positive[three[weights > 0] == 1])
    np.testing.assert_array_equal(rows.classes.first[1], expected)


@pytest.mark.parametrize(
    ("options", "target", "message"),
    [
        ({"polish": True}, two, "polish must be False"),
        ({"groups": [0, 0]}, two, "groups must be None for two classes"),
        ({"groups": [0, 0]}, three, "one label for each of 3 classes"),
        ({}, np.full(1200, "one"), "at least two classes"),
    ],
)
def test_errors(options, target, message):
    with pytest.raises(ValueError, match=message):
        SparseBayesClassifier(**options).fit(da.from_array(X, chunks=(500, 8)), da.from_array(target, chunks=500))
