"""variance="gp": the variance of the Gaussian process that the scales were learned from."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as Covariance
from sklearn.gaussian_process.kernels import ConstantKernel

from sparsebayes import RBF, Columns, RelevanceVectorRegressor


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n), rng.uniform(-5, 5, (15, 2))


def test_it_is_that_of_the_same_process_elsewhere():
    X, y, Q = problem(0)
    model = RelevanceVectorRegressor(gamma="evidence", variance="gp", fit_intercept=False).fit(X, y)
    share = model._error_bars.posterior.parts[0].share
    kernel = ConstantKernel(share, "fixed") * Covariance((2 * model.scales_) ** -0.5, "fixed")
    posterior = model._error_bars.posterior
    noise = (posterior.factor @ posterior.factor.T)[0, 0] - share
    process = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y)
    std = process.predict(Q, return_std=True)[1]
    expected = np.sqrt(std**2 + model.noise_variance_)
    np.testing.assert_allclose(model.predict(Q, return_std=True)[1], expected, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", RBF() + Columns(2)])
def test_means_stay_and_deviations_grow_away_from_the_data(kernel):
    X, y, Q = problem(1, 80)
    plain = RelevanceVectorRegressor(kernel, gamma="ard").fit(X, y)
    process_bars = RelevanceVectorRegressor(kernel, gamma="ard", variance="gp").fit(X, y)
    np.testing.assert_array_equal(process_bars.predict(Q), plain.predict(Q))
    inside, outside = (process_bars.predict(A, return_std=True)[1] for A in (X, 3 * np.sign(Q) + 3 * Q))
    assert outside.min() > inside.max()
    mean, covariance = process_bars.predict(Q, return_cov=True)
    np.testing.assert_allclose(mean, process_bars.predict(Q))
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), process_bars.predict(Q, return_std=True)[1], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_the_target_do_not_matter(unit):
    X, y, Q = problem(2, 60)
    std = RelevanceVectorRegressor(gamma="ard", variance="gp").fit(X, y).predict(Q, return_std=True)[1]
    other = RelevanceVectorRegressor(gamma="ard", variance="gp").fit(X, unit * (y + 7))
    np.testing.assert_allclose(other.predict(Q, return_std=True)[1] / unit, std, rtol=1e-3)


def test_it_is_kept_with_the_model_and_dropped_with_the_next_fit():
    X, y, Q = problem(3)
    model = RelevanceVectorRegressor(gamma="evidence", variance="gp").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Q, return_std=True)[1], model.predict(Q, return_std=True)[1])
    model.set_params(variance="posterior").fit(X, y)
    assert not hasattr(model._error_bars, "posterior")


def test_it_needs_scales_that_are_learned():
    X, y, _ = problem(4)
    with pytest.raises(ValueError, match="variance='gp' needs gamma='evidence' or 'ard', got gamma='scale'"):
        RelevanceVectorRegressor(gamma="scale", variance="gp").fit(X, y)
