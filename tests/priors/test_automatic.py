"""The prior that the data choose: uniform where many columns matter, strict where few do."""

from math import comb

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LassoCV

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.priors import Automatic, Smoothness, Uniform, alternatives, subset_evidence


def test_the_alternatives():
    assert Automatic(100).alternatives(150.0) == [Uniform(), Smoothness("bic").resolve(150.0)]
    assert alternatives(Automatic(100), 149.0) == [Smoothness("ric").resolve(149.0)] == [Automatic(100).resolve(149.0)]
    assert Automatic(100).resolve(150.0) == Uniform()
    assert alternatives(Smoothness("aic"), 60.0) == [Smoothness(1.0)]


@pytest.mark.parametrize(("selected", "candidates"), [(0, 5), (2, 5), (5, 5), (3, 40)])
def test_the_evidence_of_a_subset_counts_all_subsets_of_its_size(selected, candidates):
    assert subset_evidence(-7.0, selected, candidates) == pytest.approx(-7.0 - np.log(comb(candidates, selected)))


@pytest.mark.parametrize("columns", [0, -1, 2.5, "many"])
def test_columns_are_a_number_of_them(columns):
    with pytest.raises(ValueError, match=r"columns of prior Automatic must be an integer >= 1, got"):
        Automatic(columns).resolve(10.0)


def _few_or_all(n, few, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 40))
    weights = np.zeros(40)
    weights[[3, 7] if few else slice(None)] = rng.choice([-1.0, 1.0], 2 if few else 40) * 2
    return X, X @ weights + rng.standard_normal(n)


@pytest.mark.parametrize(
    ("n", "few", "prior"),
    [(80, False, "uniform"), (80, True, "bic"), (60, True, "bic"), (59, True, "ric"), (30, True, "ric")],
)
def test_the_default_of_a_linear_model_and_of_chunks_follows_the_rows(n, few, prior):
    X, y = _few_or_all(n, few)
    default, named = SparseBayesRegressor().fit(X, y), SparseBayesRegressor(prior=prior).fit(X, y)
    np.testing.assert_array_equal(default.coef_, named.coef_)
    np.testing.assert_array_equal(default.evidence_path_, named.evidence_path_)
    assert [move.name for move in default.trace_] == [move.name for move in named.trace_]
    assert f"auto: {prior}" in str(default.summary())
    chunks = SparseBayesRegressor().fit([(X[:20], y[:20]), (X[20:], y[20:])])
    np.testing.assert_array_equal(chunks.relevance_, named.relevance_)
    assert len(default.path(X, y).size)


def test_the_model_with_the_higher_evidence_less_the_choice_of_its_columns_is_kept():
    for seed in range(6):
        X, y = _few_or_all(60, few=seed % 2 == 0, seed=seed)
        models = [SparseBayesRegressor(prior=prior).fit(X, y) for prior in ("uniform", "bic")]
        heights = [subset_evidence(model.log_evidence_, len(model.relevance_), 40) for model in models]
        np.testing.assert_array_equal(SparseBayesRegressor().fit(X, y).coef_, models[int(np.argmax(heights))].coef_)


def test_several_outputs_and_groups_of_columns_choose_as_well():
    X, y = _few_or_all(80, few=True)
    Y, groups = np.stack([y, 2 * y + np.random.default_rng(1).standard_normal(80)], axis=1), np.arange(40) // 2
    for options, target in (({}, Y), ({"groups": groups}, y)):
        default = SparseBayesRegressor(**options).fit(X, target)
        named = SparseBayesRegressor(prior="bic", **options).fit(X, target)
        np.testing.assert_array_equal(default.coef_, named.coef_)


def test_a_callback_that_ends_the_fit_ends_it_under_the_first_prior():
    X, y = _few_or_all(80, few=True)
    seen = []
    model = SparseBayesRegressor(callback=lambda progress: seen.append(progress) or True).fit(X, y)
    assert len(seen) == 1
    assert not model.converged_


def test_more_rows_do_not_make_the_default_worse_where_few_columns_matter():
    """95 % intervals hold what they promise on either side of as many rows as columns."""
    for n in (30, 50, 100):
        covered = []
        for seed in range(5):
            X, y = _few_or_all(n + 400, few=True, seed=seed)
            model = SparseBayesRegressor().fit(X[:n], y[:n])
            low, high = model.predict_interval(X[n:])
            covered.append(np.mean((low < y[n:]) & (y[n:] < high)))
            assert len(model.relevance_) < 8
        assert 0.88 < np.mean(covered) < 0.99


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
