"""Regressors of several outputs: joint models, separate ones, groups of outputs and of columns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.preprocessing import OneHotEncoder

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor, fit

MODELS = {
    "columns": SparseBayesRegressor(prior="bic"),
    "kernel": RelevanceVectorRegressor(gamma="scale"),
    "learned": RelevanceVectorRegressor(effort="fast"),
}


def smooth(seed, n=90):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    F = np.column_stack([np.sin(2 * X[:, 0]), 10 * np.cos(2 * X[:, 0]), 1e-3 * (np.sin(2 * X[:, 0]) + X[:, 1])])
    sigma = np.array([0.1, 1.5, 2e-4])
    return X, F, F + sigma * rng.standard_normal(F.shape), sigma


def linear(seed, n=60, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    W = np.zeros((d, 3))
    W[[2, 7]] = [[1.0, -20.0, 3e-3], [0.5, 30.0, -1e-3]]
    F = X @ W + [1.0, 2.0, 3.0]
    sigma = np.array([0.1, 3.0, 3e-4])
    return X, F, F + sigma * rng.standard_normal(F.shape), sigma


def data(name, seed):
    return linear(seed) if name == "columns" else smooth(seed)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_shapes_noise_and_error_bars_of_a_joint_model(name, seed):
    X, F, Y, sigma = data(name, seed)
    model = clone(MODELS[name]).fit(X, Y)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == Y.shape
    assert np.isfinite(std).all()
    assert (std > 0).all()
    np.testing.assert_array_less(np.sqrt(np.mean((mean - F) ** 2, axis=0)), sigma)
    np.testing.assert_allclose(np.sqrt(model.noise_variance_), sigma, rtol=0.5)
    covered = (np.abs(mean - Y) < 1.96 * std).mean(axis=0)
    assert (covered > 0.85).all()
    assert model.intercept_.shape == (3,)
    _, cov = model.predict(X[:5], return_cov=True)
    assert cov.shape == (5, 5, 3)
    np.testing.assert_allclose(np.sqrt(np.einsum("iit->it", cov)), std[:5], rtol=1e-9)
    lower, upper = model.predict_interval(X, 0.9)
    np.testing.assert_allclose(0.5 * (lower + upper), mean, rtol=1e-9, atol=1e-12)
    draws = model.sample_y(X[:4], 4000, random_state=0)
    assert draws.shape == (4, 3, 4000)
    np.testing.assert_allclose(draws.std(axis=2), std[:4], rtol=0.1)
    assert 0.5 < model.score(X, Y) <= 1.0
    assert "noise std" in repr(model)


def test_coefficients_of_columns_have_a_row_for_each_output():
    X, _, Y, _ = linear(3)
    model = SparseBayesRegressor(prior="bic").fit(X, Y)
    assert model.coef_.shape == (3, 12)
    np.testing.assert_array_equal(model.relevance_, [2, 7])
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-9)
    np.testing.assert_allclose(model.coef_[:, model.relevance_], model.active_coef_)


@pytest.mark.parametrize("name", MODELS)
def test_separate_models_are_those_of_scikit_learns_meta_estimator(name):
    X, _, Y, _ = data(name, 4)
    separate = clone(MODELS[name]).set_params(joint=False).fit(X, Y)
    expected = MultiOutputRegressor(MODELS[name]).fit(X, Y)
    np.testing.assert_allclose(separate.predict(X), expected.predict(X), rtol=1e-9, atol=1e-12)
    mean, std = separate.predict(X, return_std=True)
    for t, each in enumerate(expected.estimators_):
        np.testing.assert_allclose(std[:, t], each.predict(X, return_std=True)[1], rtol=1e-9)
    assert len(separate.estimators_) == 3
    with pytest.raises(AttributeError, match="estimators_"):
        _ = separate.covariance_
    assert separate.noise_variance_.shape == (3,)
    assert separate.sample_y(X[:2], 7, random_state=0).shape == (2, 3, 7)
    assert separate.predict_interval(X[:2])[0].shape == (2, 3)
    assert mean.shape == Y.shape


def test_a_joint_fit_after_a_separate_one_forgets_its_models():
    X, _, Y, _ = linear(5)
    model = SparseBayesRegressor(joint=False).fit(X, Y).set_params(joint=True).fit(X, Y)
    assert not hasattr(model, "estimators_")
    assert model.coef_.shape == (3, 12)


def test_outputs_of_a_kernel_machine_by_groups():
    X, _, Y, _ = smooth(6)
    model = RelevanceVectorRegressor(gamma="scale", groups=["a", "b", "a"]).fit(X, Y)
    pair = RelevanceVectorRegressor(gamma="scale").fit(X, Y[:, [0, 2]])
    alone = RelevanceVectorRegressor(gamma="scale").fit(X, Y[:, 1])
    np.testing.assert_allclose(model.predict(X)[:, [0, 2]], pair.predict(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict(X)[:, 1], alone.predict(X), rtol=1e-9)
    assert model.log_evidence_ == pytest.approx(pair.log_evidence_ + alone.log_evidence_)
    with pytest.raises(ValueError, match="one label for each of 3 outputs"):
        RelevanceVectorRegressor(groups=[0, 1]).fit(X, Y)
    with pytest.raises(ValueError, match="needs y of several outputs"):
        RelevanceVectorRegressor(groups=[0]).fit(X, Y[:, 0])


@pytest.mark.parametrize("seed", range(3))
def test_a_factor_of_dummies_is_kept_or_dropped_as_a_whole(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (200, 4))
    X = OneHotEncoder(sparse_output=True).fit_transform(codes)
    y = np.array([0.0, 1.0, -1.0, 2.0, 0.5])[codes[:, 1]] + 0.3 * rng.standard_normal(200)
    factor = np.repeat(np.arange(4), 5)
    model = SparseBayesRegressor(prior="bic", groups=factor).fit(X, y)
    np.testing.assert_array_equal(model.relevance_, np.arange(5, 10))
    assert len(np.unique(model.alpha_)) == 1


def test_unpenalised_columns_are_always_there_and_not_shrunk():
    X, _, Y, _ = linear(7)
    model = SparseBayesRegressor(prior="bic", unpenalised=[0, 11]).fit(X, Y[:, 0])
    assert {0, 2, 7, 11} == set(model.relevance_.tolist())
    np.testing.assert_array_equal(model.alpha_[[0, 3]], 0.0)
    design = np.column_stack([X[:, model.relevance_], np.ones(len(X))])
    penalty = np.append(model.alpha_, 0.0) * model.noise_variance_
    expected = np.linalg.solve(design.T @ design + np.diag(penalty), design.T @ Y[:, 0])
    np.testing.assert_allclose(model.coef_[model.relevance_], expected[:-1], rtol=1e-7)


def test_partial_fit_and_chunks_of_several_outputs_are_the_fit_of_all_rows():
    X, _, Y, _ = linear(8)
    whole = SparseBayesRegressor(prior="bic").fit(X, Y)
    parts = SparseBayesRegressor(prior="bic")
    for rows in np.array_split(np.arange(60), 4):
        parts.partial_fit(X[rows], Y[rows])
    chunks = SparseBayesRegressor(prior="bic").fit([(X[:25], Y[:25]), (X[25:], Y[25:])])
    for other in (parts, chunks):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-6, atol=1e-10)
        assert other.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-9)


def test_sample_weights_count_rows_of_several_outputs():
    X, _, Y, _ = linear(9)
    counts = np.random.default_rng(0).integers(1, 3, 60)
    weighted = SparseBayesRegressor(prior="bic").fit(X, Y, sample_weight=counts)
    repeated = SparseBayesRegressor(prior="bic").fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-12)


def test_known_noise_of_each_output_is_kept():
    X, _, Y, sigma = smooth(10)
    for gamma in ("scale", "evidence"):
        model = RelevanceVectorRegressor(gamma=gamma, effort="fast", noise_variance=sigma**2).fit(X, Y)
        np.testing.assert_allclose(model.noise_variance_, sigma**2)


def test_meta_estimators_of_scikit_learn_take_several_outputs():
    X, _, Y, _ = linear(11)
    assert cross_val_score(SparseBayesRegressor(), X, Y, cv=3).mean() > 0.9
    search = GridSearchCV(SparseBayesRegressor(), {"joint": [True, False]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("variance", ["augmented", "gp"])
def test_error_bars_that_have_no_joint_form_are_refused(variance):
    X, _, Y, _ = smooth(12)
    with pytest.raises(ValueError, match="share their functions"):
        RelevanceVectorRegressor(variance=variance).fit(X, Y)


def test_the_path_of_sizes_needs_one_output():
    X, _, Y, _ = linear(13)
    with pytest.raises(ValueError, match="one output"):
        SparseBayesRegressor().fit(X, Y).path(X, Y)


def test_outputs_with_one_choice_find_weak_functions_that_single_outputs_miss():
    rng = np.random.default_rng(14)
    X = rng.standard_normal((40, 80))
    W = np.zeros((80, 12))
    W[[3, 9, 27]] = 0.35 * rng.standard_normal((3, 12))
    Y = X @ W + 0.5 * rng.standard_normal((40, 12))
    joint = fit(X, Y, prior="ric", shared_noise=True)
    separate = fit(X, Y, prior="ric", joint=False)
    assert {3, 9, 27} <= set(joint.active.tolist())
    found = [len({3, 9, 27} & set(each.active.tolist())) for each in separate.results]
    assert np.mean(found) < 3
    assert np.mean((joint.predict(X) - X @ W) ** 2) < np.mean((separate.predict(X) - X @ W) ** 2)
