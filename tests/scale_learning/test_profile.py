"""The likelihood at its maximum over amplitude and noise, the bounds of tied scales, and leave-one-out by centres."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from sparsebayes.bases import RBF, Laplacian, Matern
from sparsebayes.scale_learning.evidence import GaussianEvidence
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.profile import profiled
from sparsebayes.scale_learning.space import ScaleSpace


def _data(seed, n=40, d=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(n), rng.integers(1, 4, n).astype(float)


def _log_density(y, C, center):
    """log N(y | 0, C) by brute force; with an intercept that of the contrasts, which no constant is part of."""
    if not center:
        return multivariate_normal(np.zeros(len(y)), C).logpdf(y)
    Q = np.linalg.qr(np.column_stack([np.ones(len(y)), np.eye(len(y))[:, 1:]]))[0][:, 1:]
    return multivariate_normal(np.zeros(len(y) - 1), Q.T @ C @ Q).logpdf(Q.T @ y)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("known", [None, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_the_profile_is_the_maximum_of_the_brute_force_density(seed, known, center):
    X, y, _ = _data(seed)
    K = RBF(1.0).bind(X)(X)
    value, log_s, log_noise = profiled(GaussianEvidence(y, np.ones(40), center, known), K, (-18.0, 4.0))
    C = math.exp(log_s) * K + math.exp(log_noise) * np.eye(40)
    assert value == pytest.approx(_log_density(y, C, center), rel=1e-6)

    def downhill(x):
        noise = x[1] if known is None else math.log(known)
        return -_log_density(y, math.exp(x[0]) * K + math.exp(noise) * np.eye(40), center)

    best = minimize(downhill, [log_s, log_noise], method="Nelder-Mead", options={"xatol": 1e-4})
    assert value >= -best.fun - 1e-4


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("half", [False, True])
def test_the_profile_counts_rows(half, center):
    """Up to a constant it is the evidence of rows that count as often as that, at every kernel."""
    X, y, counts = _data(3)
    evidence = GaussianEvidence(y, 0.5 * counts if half else counts, center)
    apart = []
    for gamma in (0.3, 1.0, 3.0):
        K = RBF(gamma).bind(X)(X)
        value, log_s, log_noise = profiled(evidence, K, (-18.0, 4.0))
        apart.append(value - evidence(math.exp(log_s) * K, np.asarray([-log_noise]))[0])
        for step in (-0.3, 0.3) if half else ():  # and that is its maximum; copies that agree have none
            moved = max(
                evidence(math.exp(log_s + step) * K, np.asarray([-log_noise]))[0],
                evidence(math.exp(log_s) * K, np.asarray([-log_noise + step]))[0],
            )
            assert moved < value - apart[-1]
    assert_allclose(apart, np.full(3, apart[0]), atol=1e-5)


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Matern])
def test_tied_scales_keep_the_ratios_of_the_spreads_whatever_the_units(kernel):
    X, _, _ = _data(0, d=3)
    units = np.asarray([1.0, 100.0, 1e-3])
    plain, other = (ScaleSpace(kernel().bind(x), x, tied=True) for x in (X, X * units))
    assert len(plain.groups) == len(other.groups) == 1
    power = plain.scales[0].width_power
    for width in (0.1, 1.0, 2.5):
        assert_allclose(other.start(width), plain.start(width) + power * np.log(units), atol=1e-9)
    assert_allclose(other.bounds(10.0), plain.bounds(10.0) + power * np.log(units)[:, None], atol=1e-9)
    moved = plain.start(1.0) - plain.now
    assert_allclose(moved, moved[0])


def test_free_scales_are_groups_of_their_own():
    X, _, _ = _data(0, d=3)
    space = ScaleSpace(RBF().bind(X).with_scale_per_input(), X, tied=False)
    assert [group.tolist() for group in space.groups] == [[0], [1], [2]]
    assert not space.tied.any()


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_leave_one_out_by_as_many_centres_as_rows_is_exact(center, counted):
    X, y, counts = _data(5)
    counts = counts if counted else np.ones(len(y))
    evidence = GaussianEvidence(y, counts, center)
    bound = RBF(2.0).bind(X)
    exact, by_centres = (GaussianProcess(bound, X, evidence, Z) for Z in (None, X))
    theta = np.asarray([math.log(2.0), 0.3, math.log(8.0)])
    one, other = (LeaveOneOutPredictions.of_process(each, theta) for each in (exact, by_centres))
    assert_allclose(other.mean, one.mean, atol=1e-5)
    assert_allclose(other.variance, one.variance, atol=1e-5)


@pytest.mark.parametrize("center", [False, True])
def test_leave_one_out_by_few_centres_is_that_of_brute_force(center):
    """Every row left out in turn, under the covariance UUᵀ + diag(what the centres do not explain)."""
    X, y, _ = _data(6)
    process = GaussianProcess(RBF(2.0).bind(X), X, GaussianEvidence(y, np.ones(40), center), X[:7])
    theta = np.asarray([math.log(2.0), 0.3, math.log(8.0)])
    found = LeaveOneOutPredictions.of_process(process, theta)
    U = process.factor(theta)
    own = process.left_over(theta)
    K = U @ U.T + np.diag(own) + (1e6 if center else 0.0)
    for n in range(0, 40, 9):
        rest = np.delete(np.arange(40), n)
        C = K[np.ix_(rest, rest)] + np.eye(39) / 8.0
        mean = K[n, rest] @ np.linalg.solve(C, y[rest])
        variance = K[n, n] - K[n, rest] @ np.linalg.solve(C, K[n, rest])
        assert found.mean[n] == pytest.approx(mean, abs=1e-3)
        assert found.variance[n] == pytest.approx(variance, abs=1e-3)
    assert_allclose(np.sum(U**2, axis=1) + own, math.exp(0.3) * np.ones(40), rtol=1e-6)
