"""variance="auto": error bars of the sparse model, and what the Gaussian process knows beyond."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import RBF, Columns, RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman
from sparsebayes.estimators._leave_one_out import leave_one_out


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(n), rng.uniform(-4, 4, (15, 2))


@pytest.mark.parametrize("kernel", ["rbf", RBF() + Columns(2)])
@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_the_model_is_that_of_the_posterior_and_its_variance_a_constant_more(kernel, gamma):
    X, y, Q = problem(0)
    auto = RelevanceVectorRegressor(kernel, gamma=gamma).fit(X, y)
    plain = RelevanceVectorRegressor(kernel, gamma=gamma, variance="posterior").fit(X, y)
    assert auto.excess_variance_ > 0
    assert plain.excess_variance_ == 0
    mean, std = auto.predict(Q, return_std=True)
    np.testing.assert_array_equal(mean, plain.predict(Q))
    np.testing.assert_array_equal(auto.covariance_, plain.covariance_)
    assert auto.noise_variance_ == plain.noise_variance_
    expected = plain.predict(Q, return_std=True)[1] ** 2 + auto.excess_variance_
    np.testing.assert_allclose(std**2, expected, rtol=1e-12)
    covariance, others = (model.predict(Q, return_cov=True)[1] for model in (auto, plain))
    np.testing.assert_allclose(covariance - others, auto.excess_variance_ * np.eye(len(Q)), atol=1e-12)


def test_nothing_more_is_kept():
    X, y, _ = problem(1, 200)
    model = RelevanceVectorRegressor(gamma="ard", variance="posterior")
    without = len(pickle.dumps(model.fit(X, y)))
    assert len(pickle.dumps(model.set_params(variance="auto").fit(X, y))) < without + 100


def test_there_is_none_without_a_gaussian_process():
    X, y, Q = problem(2)
    model = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    assert model.excess_variance_ > 0
    model.set_params(gamma="scale").fit(X, y)
    assert model.excess_variance_ == 0
    plain = RelevanceVectorRegressor(gamma="scale", variance="posterior").fit(X, y)
    np.testing.assert_array_equal(model.predict(Q, return_std=True)[1], plain.predict(Q, return_std=True)[1])
    for variance in ("augmented", "gp"):
        assert RelevanceVectorRegressor(gamma="ard", variance=variance).fit(X, y).excess_variance_ == 0


def test_error_bars_do_not_change_where_the_exact_process_ends():
    """At 1001 rows the process is one by inducing centres."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, (2001, 3))
    y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * X[:, 2] + 0.2 * rng.standard_normal(2001)
    models = [RelevanceVectorRegressor().fit(X[:n], y[:n]) for n in (1000, 1001)]
    totals = [np.mean(model.predict(X[1001:], return_std=True)[1] ** 2) for model in models]
    assert totals[1] == pytest.approx(totals[0], rel=0.1)
    for model in models:
        mean, std = model.predict(X[1001:], return_std=True)
        assert 0.92 < np.mean(np.abs(y[1001:] - mean) < 1.96 * std) < 0.98


def test_integer_weights_equal_repeated_rows():
    X, y, Q = problem(4)
    weights = np.random.default_rng(4).integers(0, 4, len(y))
    model = RelevanceVectorRegressor(gamma="ard", noise_variance=0.04)  # copies look as if there were none
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert weighted.excess_variance_ == pytest.approx(repeated.excess_variance_, rel=1e-3)
    for ours, theirs in zip(*(m.predict(Q, return_std=True) for m in (weighted, repeated)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_the_target_do_not_matter(unit):
    X, y, _ = problem(5)
    plain = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    other = RelevanceVectorRegressor(gamma="ard").fit(X, unit * (y + 7))
    assert other.excess_variance_ / unit**2 == pytest.approx(plain.excess_variance_, rel=1e-3)


@pytest.mark.parametrize("options", [{"noise_variance": 0.04}, {"fit_intercept": False}, {"prior": "bic"}])
def test_other_models_have_it_too(options):
    X, y, _ = problem(6)
    excess = RelevanceVectorRegressor(gamma="ard", **options).fit(X, y).excess_variance_
    assert 0 < excess < np.var(y)


def test_error_bars_are_more_honest():
    """Ten inputs and 60 rows, where many other functions would have done as well."""
    squares = {"auto": [], "posterior": []}
    for seed in range(300, 306):
        X, y, _ = make_friedman(1, 60, 5.0, random_state=seed)
        X_test, y_test, _ = make_friedman(1, 500, 5.0, random_state=1000 + seed)
        for variance, found in squares.items():
            model = RelevanceVectorRegressor(gamma="ard", variance=variance).fit(X, y)
            mean, std = model.predict(X_test, return_std=True)
            found.append(np.mean(((y_test - mean) / std) ** 2))
    honest, plain = np.median(squares["auto"]), np.median(squares["posterior"])
    assert abs(np.log(honest)) < 0.5 * abs(np.log(plain))


@pytest.mark.filterwarnings("ignore:The estimated noise variance fell")
@pytest.mark.parametrize(("kernel", "seed"), [("rbf", 18), ("rational-quadratic", 98), ("matern", 40)])
def test_smooth_data_without_noise_leave_little_open(kernel, seed):
    """Functions so nearly dependent that leverages from Σ come out above 1."""
    X = np.random.default_rng(seed).uniform(-1, 1, (20, 2))
    y = np.exp(X.sum(axis=1))
    model = RelevanceVectorRegressor(kernel, gamma="evidence", fit_intercept=False).fit(X, y)
    assert 0 <= model.excess_variance_ < 0.1 * y.var()
    error = leave_one_out(model, X, y).error
    assert error < 0.5 * y.std()


def test_a_small_noise_that_is_given_is_no_reason_for_wide_error_bars():
    X = np.random.default_rng(2).uniform(-3, 3, (10, 1))
    y = np.sin(X[:, 0])
    model = RelevanceVectorRegressor(gamma="evidence", noise_variance=1e-10).fit(X, y)
    assert 0 <= model.excess_variance_ < 1e-3 * y.var()


@pytest.mark.parametrize("variance", ["auto", "gp"])
def test_an_interrupted_fit_keeps_nothing_of_the_gaussian_process(variance):
    def interrupt(progress):
        raise KeyboardInterrupt

    X, y = problem(0)[:2]
    model = RelevanceVectorRegressor(gamma="evidence", variance=variance, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params(deep=False))
    assert len(pickle.dumps(model.set_params(callback=None).fit(X, y))) > 0


def several_outputs(seed, n, noises):
    """Two outputs that X explains and one of noise alone."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, np.column_stack([f, X[:, 2] - 2 * f, 0 * f]) + noises * rng.standard_normal((n, 3))


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_an_output_that_nothing_explains_leaves_the_error_bars_of_others_alone(gamma):
    noises = np.array([0.1, 0.2, 1.0])
    X, Y = several_outputs(0, 150, noises)
    Q, F = several_outputs(1, 1000, noises)
    mean, std = RelevanceVectorRegressor(gamma=gamma).fit(X, Y).predict(Q, return_std=True)
    z = (F - mean) / std
    assert ((np.abs(z) < 1.96).mean(axis=0) > 0.9).all()
    assert (np.sqrt((z**2).mean(axis=0)) > 0.7).all()  # not wider than errors are


def test_outputs_of_the_same_noise_have_the_excess_of_one():
    X, y, _ = problem(4, 100)
    Q = X + 0.05
    one = RelevanceVectorRegressor(gamma="ard").fit(X, y).predict(Q, return_std=True)[1]
    two = RelevanceVectorRegressor(gamma="ard").fit(X, np.column_stack([y, -3 * y])).predict(Q, return_std=True)[1]
    np.testing.assert_allclose(two, np.column_stack([one, 3 * one]), rtol=0.1)


def test_an_output_that_is_constant_does_not_matter_to_the_excess():
    X, Y = several_outputs(0, 60, np.array([0.1, 0.2, 1.0]))
    model = RelevanceVectorRegressor(gamma="ard").fit(X, Y[:, :2])
    with pytest.warns(UserWarning, match="constant in output"):
        more = RelevanceVectorRegressor(gamma="ard").fit(X, np.column_stack([Y[:, :2], np.ones(60)]))
    Q = X[:5] + 0.1
    std, other = (each.predict(Q, return_std=True)[1] for each in (model, more))
    assert more.excess_variance_ > 0
    np.testing.assert_allclose(more.input_relevance_, model.input_relevance_, rtol=1e-6)
    np.testing.assert_allclose(other[:, :2], std, rtol=0.05)
    np.testing.assert_array_equal(other[:, 2], 0.0)
