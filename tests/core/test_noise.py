"""Gaussian noise against SciPy's densities, and the updates of its precision against their equations."""

import math

import array_api_strict
import numpy as np
import pytest
from brute import problem_of, random_problem
from numpy.testing import assert_allclose
from scipy.stats import norm

from sparsebayes.core.noise import Gaussian, GaussianNoise
from sparsebayes.core.units import Units

RNG = np.random.default_rng(1)
Y, F = RNG.standard_normal((12, 1)), RNG.standard_normal((12, 1))


def test_log_prob_is_the_normal_density():
    noise = GaussianNoise(4.0)
    assert noise.variance == 0.25
    assert_allclose(noise.log_prob(Y, F), norm(F[:, 0], 0.5).logpdf(Y[:, 0]))


def test_gradient_and_curvature_equal_finite_differences():
    noise, h = GaussianNoise(4.0), 1e-4
    up, here, down = (noise.log_prob(Y, F + step) for step in (h, 0.0, -h))
    assert_allclose(noise.gradient(Y, F)[:, 0], (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
    curvature, factor = noise.curvature_factors(Y, F)
    assert curvature.shape == F.shape
    assert_allclose(curvature[:, 0], -(up - 2 * here + down) / h**2, rtol=1e-5)
    assert factor is None


def test_log_predictive_adds_the_variances():
    mean, variance = RNG.standard_normal(12), RNG.uniform(0.1, 2, 12)
    expected = norm(mean, np.sqrt(0.25 + variance)).logpdf(Y[:, 0])
    assert_allclose(GaussianNoise(4.0).log_predictive(Y[:, 0], mean, variance), expected)


def test_noise_follows_the_array_standard():
    strict = [array_api_strict.asarray(x) for x in (Y, F)]
    noise = GaussianNoise(4.0)
    assert_allclose(np.asarray(noise.log_prob(*strict)), noise.log_prob(Y, F))
    assert_allclose(np.asarray(noise.curvature_factors(*strict)[0]), noise.curvature_factors(Y, F)[0])


def test_the_prior_and_its_slopes_by_log_beta():
    noise, beta, h = GaussianNoise(1.0, c=0.7, d=0.3), 2.5, 1e-4
    assert noise.log_prior(beta) == pytest.approx(0.7 * math.log(2.5) - 0.3 * 2.5)
    up, here, down = (noise.log_prior(beta * math.exp(step)) for step in (h, 0.0, -h))
    first, second = noise.log_prior_slopes(beta)
    assert first == pytest.approx((up - down) / (2 * h), rel=1e-6)
    assert second == pytest.approx((up - 2 * here + down) / h**2, rel=1e-5)
    assert GaussianNoise(1.0, False, 0.7, 0.3).log_prior(beta) == 0.0


@pytest.mark.parametrize(("c", "d"), [(0.0, 0.0), (0.7, 0.0), (0.0, 0.4), (1.3, 2.0)])
@pytest.mark.parametrize("shrink", [0.0, 6.5])
def test_reestimation_solves_the_noise_equation(c, d, shrink):
    n, residual = 30.0, 4.2
    beta = GaussianNoise(1.0, c=c, d=d).reestimate(n, residual, shrink)
    assert 0.5 * (n - shrink - beta * residual) + c - d * beta == pytest.approx(0.0, abs=1e-12)


def test_reestimation_stays_below_the_ceiling():
    noise = GaussianNoise(3.0, beta_max=100.0)
    assert noise.reestimate(30.0, 0.29, 0.0) == 100.0
    assert noise.reestimate(30.0, 0.31, 0.0) == pytest.approx(30 / 0.31)
    assert noise.reestimate(30.0, 0.0, 0.0) == 100.0
    assert noise.reestimate(30.0, -1e-9, 0.0) == 100.0  # rounding


def test_reestimation_with_no_degree_of_freedom_left_keeps_the_noise():
    assert GaussianNoise(3.0, beta_max=100.0).reestimate(30.0, 1.0, 30.0) == 3.0
    assert GaussianNoise(300.0, beta_max=100.0).reestimate(30.0, 1.0, 31.0) == 100.0
    assert GaussianNoise(3.0, c=0.5).reestimate(30.0, 0.5, 30.0) == 2.0


def test_em_never_lowers_the_evidence_and_mackay_is_exact_at_the_maximum():
    """β of the EM update is that of the expected likelihood; MacKay's is where the slope in log β is zero."""
    Phi, t, J = random_problem(3, 40, 12, 4)
    state = problem_of(Phi, t).start(J, np.full(4, 0.05), 2.0)
    gamma = float(np.sum(state.gamma))
    em = state.problem.noise.reestimate(40.0, state.residual + gamma / state.beta, 0.0)
    expected = np.sum((t - Phi[:, J] @ state.mean) ** 2) + np.trace(Phi[:, J].T @ Phi[:, J] @ state.covariance)
    assert em == pytest.approx(40 / expected)
    assert state.moved(state.alpha, em).objective > state.objective
    for _ in range(100):
        mackay = state.problem.noise.reestimate(40.0, state.residual, float(np.sum(state.gamma)))
        state = state.moved(state.alpha, mackay)
    h = 1e-4
    up, down = (state.moved(state.alpha, state.beta * math.exp(step)).objective for step in (h, -h))
    assert (up - down) / (2 * h) == pytest.approx(0.0, abs=1e-6)


def test_an_estimate_is_at_its_floor_within_a_millionth():
    noise = GaussianNoise(1.0, beta_max=1e8)
    assert noise.at_floor(1e8)
    assert noise.at_floor(1e8 * (1 - 0.9e-6))
    assert not noise.at_floor(1e8 * (1 - 1.1e-6))
    assert not GaussianNoise(1.0, estimate=False, beta_max=1e8).at_floor(1e8)
    assert not GaussianNoise(1.0).at_floor(1e300)


def test_noise_in_the_solvers_units():
    units = Units(20.0, False, target_scale=3.0, target_spread=0.5)
    given = Gaussian(prior=(1.0, 2.0)).noise(units, 0.2)
    assert given == GaussianNoise(9 / 0.2, estimate=False)
    estimated = Gaussian(prior=(1.5, 2.0)).noise(units, None)
    assert estimated.estimate
    assert estimated.variance == pytest.approx(0.1)  # of the mean square of the target
    assert (estimated.c, estimated.d) == (1.5, pytest.approx(2 / 9))
    assert 1 / estimated.beta_max == pytest.approx(1e-10 * 0.5)
    plain = Gaussian().noise(units, None)
    assert (plain.c, plain.d) == (0.0, 0.0)
    # the prior of a precision is the same number in either units, and has its maximum at the same noise
    assert estimated.log_prior(4.0) == pytest.approx(1.5 * math.log(4 / 9) - 2 * 4 / 9)
    assert estimated.c / estimated.d == pytest.approx(1.5 / 2 * 9)


@pytest.mark.parametrize("prior", [None, (0, 0), [1.0, 2], (0.5, 1e-6)])
def test_usable_noise_priors(prior):
    Gaussian(prior).check()


@pytest.mark.parametrize("prior", [1.0, (1.0,), (1.0, 2.0, 3.0), (-1.0, 1.0), (1.0, -1.0), (math.inf, 1.0), "ab"])
def test_unusable_noise_priors_are_refused(prior):
    with pytest.raises(ValueError, match=r"prior of Gaussian must be a pair \(c, d\)"):
        Gaussian(prior).check()
    with pytest.raises(ValueError, match=r"prior of Gaussian must be a pair \(c, d\)"):
        Gaussian(prior).noise(Units(5.0, False), None)


@pytest.mark.parametrize("prior", [(1.0, math.inf), (1.0, math.nan), (math.nan, 1.0), (None, 1.0)])
def test_noise_priors_of_no_numbers_are_refused(prior):
    with pytest.raises(ValueError, match=r"prior of Gaussian must be a pair \(c, d\)"):
        Gaussian(prior).check()
