"""Predictions of lazy rows are lazy, and those of the rows in memory."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    WaveletDenoiser,
    denoise,
    select,
)
from sparsebayes.datasets import make_signal

from .dask_examples import labels, regression

X, y, _ = regression(300, 5 + 3)
LX, two, three, _ = labels(300)
REMOTE, LABELLED = da.from_array(X, chunks=(70, 3)), da.from_array(LX, chunks=(70, 8))

REGRESSORS = [SparseBayesRegressor(), RelevanceVectorRegressor(gamma=0.05)]
ROUNDING = 1e-12  # of a prediction near 0, which is a sum of terms of the size of y, up to 8
CLASSIFIERS = [SparseBayesClassifier(), RelevanceVectorClassifier(gamma=0.05)]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_regressors(model):
    model.fit(X, y)
    mean, std = model.predict(REMOTE, return_std=True)
    assert all(isinstance(each, da.Array) and each.chunks == ((70, 70, 70, 70, 20),) for each in (mean, std))
    for found, expected in zip((mean, std), model.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=ROUNDING)
    np.testing.assert_allclose(model.predict(REMOTE).compute(), model.predict(X), rtol=1e-12, atol=ROUNDING)
    for found, expected in zip(model.predict_interval(REMOTE), model.predict_interval(X), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=ROUNDING)


@pytest.mark.parametrize("target", [two, three], ids=["two", "three"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers(model, target):
    model.fit(LX, target)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        found, expected = getattr(model, method)(LABELLED), getattr(model, method)(LX)
        assert isinstance(found, da.Array)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-8, atol=1e-10)
    found = model.predict(LABELLED)
    assert found.dtype == model.classes_.dtype
    assert (found.compute() == model.predict(LX)).all()


def test_dataframes_with_partitions_without_rows():
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(8)])
    model = SparseBayesRegressor().fit(frame, y)
    remote = dd.concat([dd.from_pandas(frame[:0], npartitions=1), dd.from_pandas(frame, npartitions=3)])
    np.testing.assert_allclose(model.predict(remote).compute(), model.predict(frame), rtol=1e-12)


def test_nothing_is_computed_before_it_is_asked_for():
    def fails():
        raise AssertionError("computed")

    lazy = da.from_delayed(dask.delayed(fails)(), (300, 8), dtype=float)
    SparseBayesRegressor().fit(X, y).predict(lazy)


@pytest.mark.parametrize("rows", [X, REMOTE], ids=["memory", "Dask"])
def test_an_argument_that_a_method_has_not_is_named(rows):
    model = SparseBayesRegressor().fit(X, y)
    with pytest.raises(TypeError, match="predict has no argument 'std', only X, return_std"):
        model.predict(rows, std=True)


@pytest.mark.parametrize("columns", ["cba", "ab", "abcd"])
def test_other_columns_of_a_dataframe_are_refused_before_anything_is_computed(columns):
    frame = pd.DataFrame(np.column_stack([X[:, :3], X[:, 0]]), columns=list("abcd"))
    model = SparseBayesRegressor().fit(frame[list("abc")], y)
    remote = dd.from_pandas(frame, npartitions=3)[list(columns)]
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        model.predict(remote)


def test_what_cannot_be_lazy_is_refused():
    model = SparseBayesRegressor().fit(X, y)
    with pytest.raises(ValueError, match="return_cov must be False"):
        model.predict(REMOTE, return_cov=True)
    with pytest.raises(ValueError, match="sample_y draws all rows"):
        model.sample_y(REMOTE)
    with pytest.raises(ValueError, match="path needs all rows"):
        model.path(REMOTE, y)
    with pytest.raises(ValueError, match="expecting 8 features"):
        model.predict(REMOTE[:, :5])


def test_many_signals_are_denoised_chunk_by_chunk():
    _, first, _ = make_signal("doppler", 256, snr=5.0, random_state=0)
    signals = first + 0.1 * np.random.default_rng(0).standard_normal((5, 256))
    denoiser = WaveletDenoiser(shifts=4).fit(signals[:2])
    lazy = da.from_array(signals, chunks=(2, 100))
    found, std = denoiser.transform(lazy, return_std=True)
    assert found.chunks == ((2, 2, 1), (256,))
    for one, other in zip((found, std), denoiser.transform(signals, return_std=True), strict=True):
        np.testing.assert_array_equal(one.compute(), other)
    np.testing.assert_array_equal(denoiser.transform(lazy).compute(), denoiser.transform(signals))
    with pytest.raises(ValueError, match="X must have 2 axes"):
        denoiser.transform(lazy[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WaveletDenoiser().fit(REMOTE), "which transform takes"),
        (lambda: WaveletDenoiser().fit_transform(REMOTE), "which transform takes"),
        (lambda: denoise(REMOTE), "denoise takes one signal in memory"),
        (lambda: select(REMOTE, y, [SparseBayesRegressor()]), "select predicts every row without itself"),
        (lambda: SparseRecovery().fit(REMOTE, y), "Phi and y must be in memory"),
    ],
)
def test_what_needs_memory_says_so_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert str(caught.value).count(". ") == 0
