"""variance="dense": the variance of the Gaussian process the scales were learned from."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as Covariance
from sklearn.gaussian_process.kernels import ConstantKernel

from sparsebayes import RBF, Columns, Matern, RelevanceVectorRegressor, ThinPlateSpline
from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.dense_variance import DensePosterior

BASES = {
    "rbf": RBF(0.4),
    "two kernels": RBF(0.4) + Matern(0.2),
    "columns": RBF(0.4) + Columns(2),
    "no covariance": ThinPlateSpline(2.0) + Columns(),
}


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n), rng.uniform(-5, 5, (15, 2))


def together(model, theta, X, Q):
    """The covariance of f at training rows and queries, term by term from its definition."""
    both = np.vstack([X, Q])
    K = np.zeros((len(both), len(both)))
    for term in model.terms(theta):
        if term.part.is_covariance:
            K += term.share * term.bound.centred_at(both)(both)
        else:
            functions = term.bound(both) / term.part.norms
            K += term.share * functions @ functions.T
    return K


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("center", [False, True])
def test_it_is_the_variance_given_the_rows(name, center):
    X, y, Q = problem(len(name))
    rng = np.random.default_rng(0)
    counts, n, beta = rng.integers(1, 4, 40).astype(float), 40, 30.0
    model = DenseModel(BASES[name].bind(X), X, GaussianEvidence(y, counts, center))
    theta = np.concatenate([np.concatenate([part.bound.log_scales for part in model.parts])])
    theta = np.concatenate([theta, np.log(rng.uniform(0.5, 2, len(model.parts))), [np.log(beta)]])
    K = together(model, theta, X, Q) + (1e5 if center else 0.0)  # a wide prior for a flat one
    C = K[:n, :n] + np.diag(1 / (beta * counts))
    expected = K[n:, n:] - K[n:, :n] @ np.linalg.solve(C, K[:n, n:])
    posterior = DensePosterior.of(model, theta)
    scale = np.abs(np.diag(expected)).max()
    np.testing.assert_allclose(posterior.covariance(Q), expected, rtol=1e-3, atol=1e-4 * scale)
    np.testing.assert_allclose(posterior.variance(Q), np.diag(posterior.covariance(Q)), rtol=1e-6)


def test_it_is_that_of_the_same_process_elsewhere():
    X, y, Q = problem(0)
    model = RelevanceVectorRegressor(gamma="evidence", variance="dense", fit_intercept=False).fit(X, y)
    share = model._own_variance.posterior.parts[0].share
    kernel = ConstantKernel(share, "fixed") * Covariance((2 * model.scales_[0]) ** -0.5, "fixed")
    posterior = model._own_variance.posterior
    noise = (posterior.factor @ posterior.factor.T)[0, 0] - share
    process = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y)
    std = process.predict(Q, return_std=True)[1]
    expected = np.sqrt(std**2 + model.noise_variance_)
    np.testing.assert_allclose(model.predict(Q, return_std=True)[1], expected, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", RBF() + Columns(2)])
def test_means_stay_and_deviations_grow_away_from_the_data(kernel):
    X, y, Q = problem(1, 80)
    plain = RelevanceVectorRegressor(kernel, gamma="ard").fit(X, y)
    dense = RelevanceVectorRegressor(kernel, gamma="ard", variance="dense").fit(X, y)
    np.testing.assert_array_equal(dense.predict(Q), plain.predict(Q))
    inside, outside = (dense.predict(A, return_std=True)[1] for A in (X, 3 * np.sign(Q) + 3 * Q))
    assert outside.min() > inside.max()
    mean, covariance = dense.predict(Q, return_cov=True)
    np.testing.assert_allclose(mean, dense.predict(Q))
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), dense.predict(Q, return_std=True)[1], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_the_target_do_not_matter(unit):
    X, y, Q = problem(2, 60)
    std = RelevanceVectorRegressor(gamma="ard", variance="dense").fit(X, y).predict(Q, return_std=True)[1]
    other = RelevanceVectorRegressor(gamma="ard", variance="dense").fit(X, unit * (y + 7))
    np.testing.assert_allclose(other.predict(Q, return_std=True)[1] / unit, std, rtol=1e-3)


def test_it_is_kept_with_the_model_and_dropped_with_the_next_fit():
    X, y, Q = problem(3)
    model = RelevanceVectorRegressor(gamma="evidence", variance="dense").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Q, return_std=True)[1], model.predict(Q, return_std=True)[1])
    model.set_params(variance="posterior").fit(X, y)
    assert model._own_variance is None


def test_it_needs_scales_that_are_learned():
    X, y, _ = problem(4)
    with pytest.raises(
        ValueError, match="variance='dense' needs gamma='evidence' or 'ard', got gamma='scale'"
    ):
        RelevanceVectorRegressor(variance="dense").fit(X, y)
