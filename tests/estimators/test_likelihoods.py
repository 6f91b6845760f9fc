"""Regressors with noise that is not Gaussian: error bars, variances, leave-one-out, what is refused."""

import numpy as np
import pytest
from brute import ShapedModel

from sparsebayes import (
    RBF,
    GeneralizedNormal,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    select,
)
from sparsebayes.datasets import make_sinc
from sparsebayes.estimators._leave_one_out import leave_one_out


def _sinc(seed=0):
    return make_sinc(100, "uniform", 0.2, random_state=seed)


def _brute(model, X, y, weights=None):
    """The posterior of the retained functions, at the precisions and the noise the model has."""
    size = len(model.relevance_)
    counts = np.ones(len(y)) if weights is None else weights
    return ShapedModel(
        model._fitted.basis(X),
        y[:, None],
        np.arange(size),
        np.zeros(size, dtype=int),
        model.alpha_,
        counts,
        bool(model.fit_intercept),
        model.noise_shape_,
        model._fitted.result.likelihood.scale,
    )


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [3.0, 6.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_variance_are_those_of_the_laplace_posterior(intercept, shape, weighted):
    X, y, _ = _sinc()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 100) if weighted else None
    model = RelevanceVectorRegressor(RBF(width=3.0), likelihood=GeneralizedNormal(shape), fit_intercept=intercept)
    model.fit(X, y, weights)
    brute = _brute(model, X, y, weights)
    theta, Q = brute.mode(), np.linspace(-12, 12, 30)[:, None]
    columns = model._fitted.basis(Q)
    mean, std = model.predict(Q, return_std=True)
    np.testing.assert_allclose(mean, brute.design(columns)[:, 0, :] @ theta, atol=1e-5)
    T = brute.design(columns)[:, 0, :]
    covariance = T @ np.linalg.inv(brute.hessian(theta)) @ T.T
    np.testing.assert_allclose(std**2, covariance.diagonal() + model.noise_variance_, rtol=1e-4)
    joint = model.predict(Q, return_cov=True)[1]
    np.testing.assert_allclose(joint, covariance + model.noise_variance_ * np.eye(30), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_augmented_variance_is_that_of_one_more_function(intercept):
    X, y, _ = _sinc(1)
    model = RelevanceVectorRegressor(
        RBF(width=3.0), likelihood=GeneralizedNormal(4.0), fit_intercept=intercept, variance="augmented"
    ).fit(X, y)
    brute = _brute(model, X, y)
    theta = brute.mode()
    B, T = brute.curvature(brute.design() @ theta)[:, 0, 0], brute.design()[:, 0, :]
    Q = np.linspace(-14, 14, 9)[:, None]
    found = model.predict(Q, return_std=True)[1]
    for x, std in zip(Q, found, strict=True):
        extra = RBF(width=3.0).bind(x[None, :])
        wide = np.column_stack([T, extra(X)])
        precision = np.append(brute.penalty, 1 / np.var(y))
        covariance = np.linalg.inv((wide.T * B) @ wide + np.diag(precision))
        row = np.concatenate([brute.design(model._fitted.basis(x[None, :]))[0, 0, :], extra(x[None, :])[0]])
        assert std**2 == pytest.approx(row @ covariance @ row + model.noise_variance_, rel=1e-4)


@pytest.mark.parametrize("variance", ["auto", "gp"])
def test_learned_widths_go_with_it(variance):
    X, y, f = _sinc(0)
    model = RelevanceVectorRegressor(gamma="ard", likelihood=GeneralizedNormal("evidence"), variance=variance).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert model.noise_shape_ > 3
    assert np.sqrt(np.mean((mean - f) ** 2)) < 0.05
    assert 0.08 < std.min() <= std.max() < 0.2


def test_leave_one_out_prefers_the_noise_that_is_there():
    scores = []
    for seed in range(4):
        X, y, _ = _sinc(seed)
        models = [
            RelevanceVectorRegressor("linear-spline", likelihood=GeneralizedNormal(shape))
            for shape in (2.0, "evidence")
        ]
        plain, shaped = (leave_one_out(model.fit(X, y), X, y) for model in models)
        scores.append(plain.log_loss - shaped.log_loss)
        chosen = select(X, y, models, by="loo")
        assert chosen.best_index_ == int(scores[-1] > 0)
        assert select(X, y, models).best_index_ == 1
    assert np.mean(scores) > 0.03  # nats a row


def test_columns_of_uniform_noise():
    truth, errors = np.asarray([3.0, -2.0, 1.0]), {2.0: [], "evidence": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((120, 30))
        y = X[:, :3] @ truth + rng.uniform(-1, 1, 120)
        for shape, found in errors.items():
            model = SparseBayesRegressor(likelihood=GeneralizedNormal(shape), prior="ric").fit(X, y)
            assert model.relevance_.tolist() == [0, 1, 2]
            assert model.noise_shape_ == 2 if shape == 2 else model.noise_shape_ > 4
            found.append(np.linalg.norm(model.active_coef_ - truth))
    assert np.mean(errors["evidence"]) < 0.7 * np.mean(errors[2.0])


def test_rows_that_are_not_kept_are_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    y = X[:, 0] + rng.uniform(-1, 1, 50)
    model = SparseBayesRegressor(likelihood=GeneralizedNormal(4.0))
    assert not hasattr(model, "partial_fit")
    assert hasattr(SparseBayesRegressor(), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="likelihood must be Gaussian"):
        model.fit(iter([(X, y)]))


def test_progress_shows_the_variance_of_the_noise():
    X, y, _ = _sinc(3)
    seen = []
    model = RelevanceVectorRegressor("linear-spline", likelihood=GeneralizedNormal("evidence"), callback=seen.append)
    model.fit(X, y)
    assert seen[-1].noise_variance == pytest.approx(model.noise_variance_, rel=0.1)
    stopped = RelevanceVectorRegressor(likelihood=GeneralizedNormal(4.0), callback=lambda progress: True).fit(X, y)
    assert stopped.noise_shape_ == 2
