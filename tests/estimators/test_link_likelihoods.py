"""Regressors under a likelihood with a link, of which f is not the mean of y: counts."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import gammaln

from sparsebayes import LaplaceLikelihood, RelevanceVectorRegressor, SparseBayesRegressor, select


@dataclass
class Poisson(LaplaceLikelihood):
    """log p = yf − exp f − log y!"""

    def log_prob(self, y, f):
        return (y * f - np.exp(np.minimum(f, 300)) - gammaln(y + 1))[:, 0]

    def gradient(self, y, f):
        return y - np.exp(np.minimum(f, 300))

    def curvature_factors(self, y, f):
        return np.exp(np.minimum(f, 300)), None

    def start(self, y, counts):
        return np.log((counts @ y) / counts.sum())


RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (120, 1))
Y = RNG.poisson(np.exp(2 + np.sin(2 * X[:, 0])))


@pytest.mark.parametrize("gamma", [1.0, "evidence", "ard"])
def test_counts_do_not_compare_with_f(gamma):
    model = RelevanceVectorRegressor(gamma=gamma, likelihood=Poisson()).fit(X, Y)
    assert model.excess_variance_ == 0
    assert math.isnan(model.noise_shape_)
    std = model.predict(X, return_std=True)[1]
    np.testing.assert_allclose(std**2, model._fitted.result.f_variance(model._fitted.basis(X)), rtol=1e-12)


def test_constant_counts_have_a_rate():
    model = SparseBayesRegressor(likelihood=Poisson(), prior="bic").fit(X, np.full(120, 4))
    np.testing.assert_allclose(model.predict(X), np.log(4), atol=1e-3)


def test_select_says_what_is_missing():
    with pytest.raises(
        TypeError, match=r"^candidates must have a likelihood that knows .* \(log_predictive\), .*Poisson"
    ):
        select(X, Y, [RelevanceVectorRegressor(gamma=1.0, likelihood=Poisson())])
