"""Regression on Dask collections: the model is that of the rows in memory, however they are divided."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

dask = pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from dask import bag

from sparsebayes import SparseBayesClassifier, SparseBayesRegressor, fit
from sparsebayes.distributed import DaskRows

from .dask_examples import regression

X, y, weights = regression()
NAMES = [f"input {k}" for k in range(X.shape[1])]


def model():
    return SparseBayesRegressor(prior="bic")


def same(one, other):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-8)
    np.testing.assert_allclose(one.log_evidence_, other.log_evidence_, rtol=1e-10)
    np.testing.assert_allclose(one.covariance_, other.covariance_, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("rows", [(1200,), (700, 500), (1, 2, 597, 600), (100,) * 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_model_does_not_depend_on_chunks(rows, weighted):
    w = weights if weighted else None
    remote = None if w is None else da.from_array(w, chunks=177)
    found = model().fit(da.from_array(X, chunks=(rows, 12)), da.from_array(y, chunks=333), remote)
    same(found, model().fit(X, y, w))


def test_chunks_of_columns_are_put_together():
    same(model().fit(da.from_array(X, chunks=(400, 5)), da.from_array(y, chunks=400)), model().fit(X, y))


def test_targets_and_weights_may_be_in_memory():
    same(model().fit(da.from_array(X, chunks=(400, 12)), y, weights), model().fit(X, y, weights))


def test_dataframes_keep_the_names_of_their_columns():
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(target=y), npartitions=5)
    found = model().fit(frame[NAMES], frame["target"])
    same(found, model().fit(X, y))
    assert list(found.feature_names_in_) == NAMES


def test_unknown_chunk_sizes_will_do_if_the_chunks_agree():
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(target=y), npartitions=5)
    unknown = frame[NAMES].to_dask_array()
    assert np.isnan(unknown.shape[0])
    same(model().fit(unknown, frame["target"].to_dask_array()), model().fit(X, y))


def test_sparse_chunks():
    A = np.where(np.abs(X - 5) > 1, X - 5, 0.0)
    blocks = [
        da.from_delayed(
            dask.delayed(scipy.sparse.csr_matrix)(A[k : k + 400]), (400, 12), meta=scipy.sparse.csr_matrix((0, 0))
        )
        for k in range(0, 1200, 400)
    ]
    same(model().fit(da.concatenate(blocks), da.from_array(y, chunks=400)), model().fit(A, y))


def test_float32_chunks_and_chunks_without_rows():
    narrow = X.astype(np.float32)
    remote = da.concatenate([da.from_array(narrow[:500], chunks=500), da.zeros((0, 12)), narrow[500:]])
    same(model().fit(remote, y), model().fit(narrow, y))


def test_the_function_fit():
    found = fit(da.from_array(X, chunks=(500, 12)), da.from_array(y, chunks=500), fit_intercept=True, prior="bic")
    np.testing.assert_allclose(found.log_evidence, fit(X, y, fit_intercept=True, prior="bic").log_evidence, rtol=1e-10)


def test_constant_targets():
    with pytest.warns(UserWarning, match="constant"):
        found = model().fit(da.from_array(X, chunks=(500, 12)), da.ones(1200, chunks=500))
    assert found.intercept_ == 1
    assert not len(found.relevance_)


def test_a_callback_sees_the_iterations():
    seen = []
    SparseBayesRegressor(callback=seen.append).fit(da.from_array(X, chunks=(500, 12)), y)
    assert seen
    assert seen[-1].n_active > 0


def test_tasks_have_names():
    seen = set()

    class Watch(dask.callbacks.Callback):
        def _pretask(self, key, graph, state):
            seen.add(dask.utils.key_split(key))

    with Watch(), dask.config.set(scheduler="synchronous"):
        model().fit(da.from_array(X, chunks=(100, 12)), y)
    assert {"sparsebayes-triangle", "sparsebayes-triangle-sum"} <= seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda: (da.from_array(X, chunks=(400, 12)), y[:-1]), "one value per row"),
        (lambda: (da.from_array(X, chunks=(400, 12)), da.from_array(y[:-1], chunks=400)), "one value per row"),
        (lambda: (da.from_array(X[:, 0], chunks=400), y), "two dimensions"),
        (lambda: (da.from_array(X, chunks=(400, 12))[da.from_array(y, chunks=400) > 0], y), "compute_chunk_sizes"),
        (lambda: (dd.from_pandas(pd.DataFrame(X), npartitions=2), y), r"pass X.to_dask_array\(lengths=True\)"),
        (lambda: (da.from_array(X, chunks=(400, 12)), None), "y"),
        (lambda: (da.from_array(np.where(X > 7.5, np.nan, X), chunks=(400, 12)), y), "in chunk ., which starts at row"),
    ],
)
def test_errors_are_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        model().fit(*arguments())
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: model().fit(dask.delayed(X), y),
        lambda: model().fit(bag.from_sequence([1, 2]), y),
        lambda: SparseBayesClassifier().fit(da.from_array(X, chunks=(500, 12)), dask.delayed(y)),
        lambda: model().fit(X, y).predict(dask.delayed(X)),
    ],
    ids=["delayed", "bag", "delayed y", "predict"],
)
def test_collections_of_dask_that_have_no_rows_are_refused(call):
    with pytest.raises(TypeError, match="must be arrays, dataframes or series if they are on Dask, got a "):
        call()


def test_noise_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="likelihood must be 'gaussian'"):
        SparseBayesRegressor(likelihood="generalized-normal").fit(da.from_array(X, chunks=(400, 12)), y)


def test_a_pass_without_rows_finds_nothing():
    assert DaskRows((), (0.0, 3)).reduce("nothing", len, sum) is None


def test_dask_is_not_imported_before_it_is_needed():
    code = "import sys, sparsebayes; sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
