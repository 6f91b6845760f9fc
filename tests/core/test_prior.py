"""The interface of a prior and the uniform prior, against the evidence itself."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from brute import EVERY_PRIOR, log_evidence, random_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from sparsebayes.core.prior import Prior, Uniform


@dataclass
class Cost(Prior):
    """log p(α) = −cost·α/(1+α): its slope in log α is negative everywhere."""

    cost: float = 0.5

    def maximise(self, s, q, beta, unit):
        grid = np.geomspace(1e-4, 1e4, 801)[:, None]
        gain = self.gain(np.broadcast_to(grid, (801, len(s))), s, q, beta, unit)
        return np.where(gain.max(axis=0) > 0, grid[gain.argmax(axis=0), 0], math.inf)

    def log_density(self, alpha, beta, unit):
        return -self.cost * alpha / (1 + alpha)

    def derivatives(self, alpha, beta, unit):
        first = -self.cost * alpha / (1 + alpha) ** 2
        return first, first * (1 - alpha) / (1 + alpha), 0.0, 0.0, 0 * alpha


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_is_the_change_of_the_evidence(seed):
    """ℓ(α) is the log density of t with the function less that without it [TF03, eq. 18]."""
    Phi, t, _ = random_problem(seed, 25, 8, 3)
    others, alpha, beta = np.arange(5), np.full(5, 0.3), 8.0
    C = np.eye(25) / beta + Phi[:, others] / alpha @ Phi[:, others].T
    phi = Phi[:, 6]
    s, q = (np.asarray([phi @ np.linalg.solve(C, x)]) for x in (phi, t))
    for own in (0.02, 1.0, 40.0):
        both = log_evidence(Phi[:, [*others, 6]], t, np.append(alpha, own), beta)
        gain = Uniform().gain(np.asarray([own]), s, q, beta, np.ones(1))[0]
        assert gain == pytest.approx(both - log_evidence(Phi[:, others], t, alpha, beta), rel=1e-9, abs=1e-10)


def test_the_gain_counts_the_prior_and_is_zero_outside():
    alpha, s, q = np.asarray([2.0, math.inf, 0.0]), np.full(3, 1.5), np.full(3, 3.0)
    one = np.ones(3)
    plain = Uniform().gain(alpha, s, q, 1.0, one)
    assert_allclose(plain, [0.5 * (9 / 3.5 - math.log(3.5 / 2)), 0.0, 0.0])
    assert_allclose(Cost(0.5).gain(alpha, s, q, 1.0, one), [plain[0] - 0.5 * 2 / 3, 0.0, 0.0])
    assert_array_equal(Uniform().gain(np.zeros(1), np.zeros(1), np.zeros(1), 1.0, np.ones(1)), [0.0])


def test_the_uniform_prior_selects_what_is_above_its_threshold():
    s = np.full(6, 2.0)
    ratio = np.asarray([0.5, 0.999, 1.1, 1.5, 3.0, 400.0])
    q = np.sqrt(ratio * s) * np.asarray([1, -1, 1, -1, 1, -1])
    best = Uniform().maximise(s, q, 5.0, np.ones(6))
    assert_array_equal(np.isfinite(best), ratio > Uniform.threshold)
    assert_allclose(best[2:], s[2:] ** 2 / (q[2:] ** 2 - s[2:]))
    for k in (2, 3, 4):
        search = minimize_scalar(
            lambda a, k=k: -Uniform().gain(np.exp([a]), s[[k]], q[[k]], 5.0, np.ones(1))[0], bounds=(-9, 9)
        )
        assert math.exp(search.x) == pytest.approx(best[k], rel=1e-3)
    assert Uniform().threshold == 1.0
    assert Prior.threshold == 0.0


def test_orthonormal_functions_have_s_of_beta_and_q_of_beta_h():
    h, beta = np.asarray([-2.0, 0.1, 0.7]), 3.0
    best = Uniform().maximise_orthonormal(h, beta, np.ones(3))
    assert_allclose(best, [3 / (12 - 1), math.inf, 3 / (3 * 0.49 - 1)])


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_totals_and_slopes_follow_from_density_and_derivatives(name):
    prior = EVERY_PRIOR[name].resolve(50)
    alpha = 10 ** np.random.default_rng(0).uniform(-2, 3, 20)
    unit = prior.units(np.full(20, 0.3), np.arange(20))
    assert prior.total(alpha, 4.0, unit) == pytest.approx(prior.log_density(alpha, 4.0, unit).sum(), abs=1e-12)
    up, down = prior.slopes(alpha, 4.0, unit)
    assert (up >= 0).all()
    assert (down >= 0).all()
    assert_allclose(up - down, prior.derivatives(alpha, 4.0, unit)[0], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("cost", [0.5, -0.5])
def test_a_slope_is_either_up_or_down(cost):
    alpha = np.geomspace(0.1, 10, 5)
    up, down = Cost(cost).slopes(alpha, 1.0, np.ones(5))
    size = 0.5 * alpha / (1 + alpha) ** 2
    assert_allclose(up, 0 * size if cost > 0 else size)
    assert_allclose(down, size if cost > 0 else 0 * size)


def test_a_uniform_prior_is_flat():
    prior, alpha = Uniform(), np.asarray([0.1, 3.0])
    assert prior.flat
    assert not prior.depends_on_noise
    assert prior.total(alpha, 1.0, np.ones(2)) == 0.0
    assert_array_equal(prior.log_density(alpha, 1.0, np.ones(2)), [0.0, 0.0])
    assert all(np.all(np.asarray(each) == 0) for each in prior.derivatives(alpha, 1.0, np.ones(2)))


def test_a_prior_resolves_to_itself_and_takes_units_as_they_are():
    prior, unit = Uniform(), np.ones(2)
    assert prior.resolve(10.0) is prior
    assert prior.units(unit, np.arange(2)) is unit
