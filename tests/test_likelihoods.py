import math

import numpy as np
import pytest

from sparsebayes.likelihoods import Gaussian
from sparsebayes.priors import Smoothness

LIKELIHOODS = [Gaussian(0.3), Gaussian(25.0)]


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_curvature_equal_finite_differences(likelihood, seed):
    rng = np.random.default_rng(seed)
    y, f, h = rng.standard_normal(20), rng.standard_normal(20), 1e-4
    up, here, down = (likelihood.log_prob(y, f + d) for d in (h, 0.0, -h))
    np.testing.assert_allclose(likelihood.gradient(y, f), (up - down) / (2 * h), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(likelihood.curvature(y, f), -(up - 2 * here + down) / h**2, rtol=1e-4)


def test_log_prob_is_the_normal_density():
    y, f = np.array([0.2, -1.0]), np.array([0.0, 0.5])
    sigma = 1 / math.sqrt(4.0)
    expected = -0.5 * ((y - f) / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))
    np.testing.assert_allclose(Gaussian(4.0).log_prob(y, f), expected)


@pytest.mark.parametrize(("c", "d"), [(0.0, 0.0), (2.0, 0.5)])
def test_reestimated_noise_is_t01s_closed_form(c, d):
    # MacKay [T01, eq. 46] and EM [T01, eq. 50]
    n, residual, gamma, beta = 50.0, 3.0, 7.0, 2.0
    noise = Gaussian(beta, c=c, d=d)
    assert 1 / noise.reestimate(n, residual, gamma) == pytest.approx((residual + 2 * d) / (n - gamma + 2 * c))
    em = 1 / noise.reestimate(n, residual + gamma / beta, 0.0)
    assert em == pytest.approx((residual + gamma / beta + 2 * d) / (n + 2 * c))


@pytest.mark.parametrize("c", [1.0, 4.0])
def test_reestimated_noise_solves_se07s_equation(c):
    # ½[Nv − r − vΣγ] − c Σ α/(β+α)² = 0 with v = 1/β  [SE07, eq. 36, corrected]
    rng = np.random.default_rng(0)
    alpha, n, residual, gamma = 10 ** rng.uniform(-1, 2, 12), 60.0, 4.0, 9.0
    prior = Smoothness(c).resolve(n)
    beta = Gaussian(1.0).reestimate(
        n, residual, gamma, lambda b: prior.derivatives(alpha, b, np.ones_like(alpha))[2]
    )
    v = 1 / beta
    equation = 0.5 * (n * v - residual - v * gamma) - c * np.sum(alpha / (beta + alpha) ** 2)
    assert abs(equation) < 1e-8
    assert beta < (n - gamma) / residual


def test_noise_never_passes_its_ceiling():
    noise = Gaussian(1.0, beta_max=100.0)
    assert noise.reestimate(50.0, 1e-12, 3.0) == 100.0
    assert noise.reestimate(50.0, 0.0, 3.0) == 100.0
    assert noise.reestimate(3.0, 1.0, 5.0) == 1.0  # more parameters determined than rows: keep the noise
    assert noise.with_beta(1e6).beta == 100.0
