"""The prior that depends on how many rows there are for each column."""

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LassoCV

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.priors import Automatic, Smoothness, Uniform


@pytest.mark.parametrize(("n", "expected"), [(200, Uniform()), (199, Smoothness(1.0)), (100, Smoothness(1.0))])
def test_rows_per_column(n, expected):
    assert Automatic(100).resolve(n) == expected


def test_fewer_rows_than_columns():
    assert Automatic(100).resolve(60.0) == Smoothness("ric").resolve(60.0)


@pytest.mark.parametrize("columns", [0, -1, 2.5, "many"])
def test_columns_are_a_number_of_them(columns):
    with pytest.raises(ValueError, match=r"columns of prior Automatic must be an integer >= 1, got"):
        Automatic(columns).resolve(10.0)


@pytest.mark.parametrize(("n", "prior"), [(80, "uniform"), (60, "aic"), (30, "ric")])
def test_the_default_of_a_linear_model_and_of_chunks(n, prior):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 40))
    y = X[:, 3] - 2 * X[:, 7] + 0.3 * rng.standard_normal(n)
    default, named = SparseBayesRegressor().fit(X, y), SparseBayesRegressor(prior=prior).fit(X, y)
    np.testing.assert_array_equal(default.coef_, named.coef_)
    chunks = SparseBayesRegressor().fit([(X[:20], y[:20]), (X[20:], y[20:])])
    np.testing.assert_array_equal(chunks.relevance_, named.relevance_)
    assert len(default.path(X, y).size)


def test_kernel_machines_have_the_uniform_prior():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (40, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)
    one, other = (RelevanceVectorRegressor(gamma=0.5, prior=prior).fit(X, y) for prior in ("auto", "uniform"))
    np.testing.assert_array_equal(one.relevance_, other.relevance_)


@pytest.mark.parametrize("noise", [1.0, 10.0])
def test_more_columns_than_rows_with_all_defaults(noise):
    """Errors below the lasso's, and intervals that hold what they promise: the uniform prior covers none."""
    errors, inside = [], []
    for seed in range(5):
        X, y = make_regression(360, 400, n_informative=10, noise=noise, random_state=seed)
        model, lasso = SparseBayesRegressor().fit(X[:60], y[:60]), LassoCV(max_iter=5000).fit(X[:60], y[:60])
        low, high = model.predict_interval(X[60:])
        inside.append(np.mean((low < y[60:]) & (y[60:] < high)))
        errors.append([np.sqrt(np.mean((each.predict(X[60:]) - y[60:]) ** 2)) for each in (model, lasso)])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < theirs
    assert 0.85 < np.mean(inside) < 0.99
