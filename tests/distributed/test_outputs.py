"""Several outputs, groups, columns without a prior and known noise on Dask: the model is that of the rows in memory."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from sparsebayes import SparseBayesRegressor, fit
from sparsebayes.core.noise import Gaussian
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.triangle import Triangle

N, D, T = 400, 9, 3


def data(seed=0):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((N, D)) + 2, np.zeros((D, T))
    W[2], W[5] = [1, 2, -1], [0.5, 0, 1]
    Y = X @ W + 0.3 * rng.standard_normal((N, T)) * [1, 2, 3] + [1, 2, 3]
    return X, Y, rng.integers(0, 3, N).astype(float), rng.uniform(0.05, 2.0, N)


X, Y, WEIGHTS, VARIANCES = data()
GROUPS = np.arange(D) // 3


def remote(values, rng):
    """An array in chunks of random sizes, some of them empty."""
    ends = np.sort(rng.integers(0, len(values) + 1, rng.integers(1, 6)))
    sizes = np.diff([0, *ends.tolist(), len(values)])
    return da.from_array(values, chunks=(tuple(sizes.tolist()), *values.shape[1:]))


def same(found, expected):
    for name in ("coef_", "intercept_", "log_evidence_", "alpha_", "degrees_of_freedom_"):
        if hasattr(expected, name):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-10, err_msg=name
            )
    np.testing.assert_array_equal(found.relevance_, expected.relevance_)
    mean, std = expected.predict(X, return_std=True)
    lazy = found.predict(da.from_array(X, chunks=(150, D)), return_std=True)
    np.testing.assert_allclose(lazy[0].compute(), mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(lazy[1].compute(), std, rtol=1e-8)
    assert lazy[0].shape == mean.shape
    if len(np.shape(expected.noise_variance_)) and expected.noise_variance_.shape[0] > T:
        return  # the noise of a new row is unknown
    bounds = found.predict_interval(da.from_array(X, chunks=(150, D)))
    for one, other in zip(bounds, expected.predict_interval(X), strict=True):
        np.testing.assert_allclose(one.compute(), other, rtol=1e-8, atol=1e-10)


CASES = {
    "outputs": (Y, {}, {}),
    "outputs, weights": (Y, {}, {"sample_weight": WEIGHTS}),
    "outputs of one noise": (Y, {"shared_noise": True}, {}),
    "outputs of known noise": (Y, {"noise_variance": [0.1, 0.3, 0.8]}, {}),
    "outputs of one known noise": (Y, {"noise_variance": 0.3}, {}),
    "outputs one by one": (Y, {"joint": False}, {"sample_weight": WEIGHTS}),
    "outputs without intercept": (Y, {"fit_intercept": False}, {}),
    "outputs, groups": (Y, {"groups": GROUPS}, {}),
    "outputs, unpenalised": (Y, {"unpenalised": [0, 4]}, {"sample_weight": WEIGHTS}),
    "groups": (Y[:, 0], {"groups": GROUPS}, {"sample_weight": WEIGHTS}),
    "unpenalised": (Y[:, 0], {"unpenalised": [0, 4]}, {}),
    "noise of each row": (Y[:, 0], {}, {"noise_variance": VARIANCES}),
    "noise of each row, weights": (Y[:, 1], {}, {"noise_variance": VARIANCES, "sample_weight": WEIGHTS}),
    "noise of each row, shares": (Y[:, 1], {}, {"noise_variance": VARIANCES, "sample_weight": WEIGHTS / 1e4}),
    "noise of each row, outputs": (Y, {}, {"noise_variance": VARIANCES}),
    "noise of each row, one by one": (Y, {"joint": False}, {"noise_variance": VARIANCES}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_that_of_the_rows_in_memory_however_they_are_divided(name):
    y, options, arguments = CASES[name]
    expected = SparseBayesRegressor(prior="bic", **options).fit(X, y, **arguments)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        given = {key: remote(value, rng) for key, value in arguments.items()}
        same(SparseBayesRegressor(prior="bic", **options).fit(remote(X, rng), remote(y, rng), **given), expected)


def test_targets_in_chunks_of_columns_in_memory_and_in_dataframes():
    expected, inputs = SparseBayesRegressor().fit(X, Y), da.from_array(X, chunks=(130, D))
    frame = dd.from_pandas(pd.DataFrame(X).assign(a=Y[:, 0], b=Y[:, 1], c=Y[:, 2]), npartitions=3)
    same(SparseBayesRegressor().fit(inputs, da.from_array(Y, chunks=(100, 2))), expected)
    same(SparseBayesRegressor().fit(inputs, Y), expected)
    found = SparseBayesRegressor().fit(frame[list(range(D))], frame[["a", "b", "c"]])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)


def test_noise_variances_are_kept_as_they_were_given():
    lazy = da.from_array(VARIANCES, chunks=100)
    model = SparseBayesRegressor().fit(da.from_array(X, chunks=(90, D)), Y[:, 0], noise_variance=lazy)
    assert model.noise_variance_ is lazy


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_outputs_that_are_constant(fit_intercept):
    constant = Y.copy()
    constant[:, 1] = 4.0 if fit_intercept else 0.0
    with pytest.warns(UserWarning, match=r"constant in output\(s\) \[1\]"):
        expected = SparseBayesRegressor(fit_intercept=fit_intercept).fit(X, constant)
    with pytest.warns(UserWarning, match=r"constant in output\(s\) \[1\]"):
        found = SparseBayesRegressor(fit_intercept=fit_intercept).fit(da.from_array(X, chunks=(90, D)), constant)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-8)


@pytest.mark.parametrize("several", [False, True])
def test_partial_fit_takes_chunks(several):
    y, memory = Y if several else Y[:, 0], SparseBayesRegressor()
    model = SparseBayesRegressor().partial_fit(da.from_array(X[:150], chunks=(60, D)), y[:150])
    model.partial_fit(X[150:200], y[150:200], WEIGHTS[150:200])
    model.partial_fit(da.from_array(X[200:], chunks=(90, D)), da.from_array(y[200:], chunks=(70, *y.shape[1:])))
    memory.fit(X, y, np.concatenate([np.ones(150), WEIGHTS[150:200], np.ones(200)]))
    same(model, memory)
    assert model.statistics_.rows == N - np.sum(WEIGHTS[150:200] == 0)
    with pytest.raises(ValueError, match="expecting 9 features"):
        model.partial_fit(da.from_array(X[:, :4], chunks=(90, 4)), y)
    with pytest.raises(ValueError, match=r"y must have \d output"):
        model.partial_fit(da.from_array(X, chunks=(90, D)), Y[:, 0] if several else Y)


@pytest.mark.parametrize("joint", [False, True])
def test_the_function_fit(joint):
    inputs, options = da.from_array(X, chunks=(90, D)), {"joint": joint, "fit_intercept": True, "noise_variance": None}
    for likelihood, other in (("gaussian", "gaussian"), (Gaussian(variance=VARIANCES), None)):
        lazy = Gaussian(variance=da.from_array(VARIANCES, chunks=70)) if other is None else other
        expected, found = fit(X, Y, likelihood=likelihood, **options), fit(inputs, Y, likelihood=lazy, **options)
        np.testing.assert_allclose(found.log_evidence, expected.log_evidence, rtol=1e-10)
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"noise_variance": 1.0}, {"noise_variance": VARIANCES}, "given twice"),
        ({}, {"noise_variance": -VARIANCES}, "variances > 0.*in chunk "),
        ({}, {"noise_variance": VARIANCES[:-1]}, "one value per row"),
        ({"noise_variance": [1.0, 2.0]}, {}, "one for each of 3 outputs"),
        ({"groups": [1, 2]}, {}, "one label for each of 9 columns"),
        ({"likelihood": "generalized-normal"}, {}, "likelihood must be 'gaussian'"),
    ],
)
def test_errors_are_one_sentence(options, arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        SparseBayesRegressor(**options).fit(da.from_array(X, chunks=(90, D)), Y, **arguments)
    assert str(caught.value).count(". ") == 0


def test_a_triangle_of_some_outputs():
    rows = Triangle.of([Chunk(X, Y, WEIGHTS)], outputs=T)
    found, expected = rows.of_outputs([2, 0]), Triangle.of([Chunk(X, Y[:, [2, 0]], WEIGHTS)], outputs=2)
    np.testing.assert_allclose(found.R.T @ found.R, expected.R.T @ expected.R, rtol=1e-10)
    np.testing.assert_array_equal(found.R, np.triu(found.R))
    np.testing.assert_allclose(found.moments.means, expected.moments.means)
    assert (found.outputs, found.width, found.rows) == (2, D, expected.rows)
