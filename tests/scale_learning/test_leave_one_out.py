"""Rows given the other rows, by taking them out; and what a process expects beyond the sparse model."""

import numpy as np
import pytest
from scale_examples import FIXED

from sparsebayes.bases import RBF
from sparsebayes.core.fit import fit_matrix
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import Result
from sparsebayes.scale_learning import GaussianEvidence, LeaveOneOutPredictions
from sparsebayes.scale_learning.leave_one_out import excess_variance
from sparsebayes.scale_learning.process import GaussianProcess

COUNTS = {
    "once": np.ones(24),
    "copies": np.random.default_rng(0).integers(1, 4, 24).astype(float),
    "fractions": np.random.default_rng(1).uniform(0.2, 2.5, 24),
}
WIDE = 1e6  # prior variance that stands for a flat one


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (24, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 2 + 0.3 * rng.standard_normal(24)


def given_the_others(K, y, counts, noise):
    """Mean and variance of f at each row, f ~ N(0, K), with one copy of it, or what there is, taken out."""
    means, variances = [], []
    for n in range(len(y)):
        left = counts.copy()
        left[n] -= min(left[n], 1.0)
        seen = np.flatnonzero(left)
        C = K[np.ix_(seen, seen)] + np.diag(noise / left[seen])
        a = np.linalg.solve(C, np.column_stack([y[seen], K[seen, n]]))
        means.append(K[n, seen] @ a[:, 0])
        variances.append(K[n, n] - K[n, seen] @ a[:, 1])
    return np.asarray(means), np.asarray(variances)


def sparse_model(X, y, center):
    """Functions (N, S), their precisions and a noise variance that suit the data."""
    Phi = RBF(0.4).bind(X)(X)
    found = fit_matrix(Phi, y, fit_intercept=center)
    return Phi[:, found.active], found.alpha, found.noise_variance


class Expanded:
    """Gaussian noise that is not known to be Gaussian."""

    def __init__(self, noise):
        self.gradient, self.curvature_factors, self.variance = (
            noise.gradient,
            noise.curvature_factors,
            noise.variance,
        )


def result_of(columns, y, alpha, noise, counts, center, likelihood):
    """The posterior of the weights of y = Φw + b + ε for given α and σ²."""
    total, S = counts.sum(), columns.shape[1]
    means = counts @ columns / total if center else np.zeros(S)
    Phi, t = columns - means, y - (counts @ y / total if center else 0.0)
    covariance = np.linalg.inv(np.diag(alpha) + (counts[:, None] * Phi).T @ Phi / noise)
    mean = covariance @ (Phi.T @ (counts * t)) / noise
    intercept = counts @ y / total - means @ mean if center else 0.0
    return Result(
        active=np.arange(S),
        output=np.zeros(S, dtype=np.int64),
        mean=mean,
        alpha=alpha,
        gamma=1 - alpha * covariance.diagonal(),
        covariance=covariance,
        intercept=np.asarray([intercept]),
        centre=means[None, :],
        intercept_covariance=np.asarray([[noise / total if center else 0.0]]),
        likelihood=likelihood,
        log_evidence=0.0,
        objective=0.0,
        evidence_path=np.zeros(1),
        converged=True,
    )


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("counted", COUNTS)
@pytest.mark.parametrize("center", [False, True])
def test_of_a_gaussian_process(name, counted, center):
    X, y = problem(len(name))
    counts, beta = COUNTS[counted], 20.0
    process = GaussianProcess(FIXED[name].bind(X), X, GaussianEvidence(y, counts, center))
    rng = np.random.default_rng(2)
    scales = np.concatenate([part.bound.log_scales for part in process.parts])
    theta = np.concatenate([scales, np.log(rng.uniform(0.5, 2, len(process.parts))), [np.log(beta)]])
    K = process.covariance(process.parts_at(theta)) + (WIDE if center else 0.0)
    mean, variance = given_the_others(K, y, counts, 1 / beta)
    found = LeaveOneOutPredictions.of_process(process, theta)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-3, atol=1e-4)
    assert found.noise == pytest.approx(1 / beta)


@pytest.mark.parametrize("counted", COUNTS)
@pytest.mark.parametrize("center", [False, True])
def test_of_a_sparse_model(counted, center):
    X, y = problem(5)
    columns, alpha, noise = sparse_model(X, y, center)
    counts = COUNTS[counted]
    K = columns @ np.diag(1 / alpha) @ columns.T + (WIDE if center else 0.0)
    mean, variance = given_the_others(K, y, counts, noise)
    found = LeaveOneOutPredictions.of_weights(columns, y, alpha, noise, counts, center)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("counted", [None, "fractions"])
@pytest.mark.parametrize("center", [False, True])
def test_by_expansion_they_are_exact_for_gaussian_noise(counted, center):
    X, y = problem(6)
    columns, alpha, noise = sparse_model(X, y, center)
    counts = None if counted is None else COUNTS[counted]
    model = (columns, y, alpha, noise, np.ones(len(y)) if counts is None else counts, center)
    likelihood = GaussianNoise(1 / noise)
    a, b = (
        LeaveOneOutPredictions.of_result(result_of(*model, each), columns, y, counts)
        for each in (likelihood, Expanded(likelihood))
    )
    np.testing.assert_allclose(b.mean, a.mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b.variance, a.variance, rtol=1e-4)
    assert a.noise == b.noise == pytest.approx(noise)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e150, 1e-150])
def test_functions_nearly_alike_leave_no_row_with_more_than_itself(center, size):
    x = np.linspace(0, 1, 12)[:, None]
    columns = RBF(0.01).bind(x)(x)  # of rank 4 or so, to rounding
    y = np.exp(x[:, 0])
    found = LeaveOneOutPredictions.of_weights(columns * size, y, np.full(12, 1e-6 * size) * size, 1e-10, None, center)
    assert np.all(found.variance >= 0)
    assert np.abs(found.mean - y).max() < 0.1


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(("size", "unit"), [(1e-160, 1e-16), (1e160, 1e16)])
def test_units_of_functions_and_targets_do_not_matter(center, size, unit):
    """Of φ → cφ, y → uy, α → αc²/u², σ² → σ²u² the product ασ² alone would leave the range of floating point."""
    X, y = problem(5)
    columns, alpha, noise = sparse_model(X, y, center)
    expected = LeaveOneOutPredictions.of_weights(columns, y, alpha, noise, None, center)
    alpha = alpha * (size / unit) ** 2
    found = LeaveOneOutPredictions.of_weights(columns * size, y * unit, alpha, noise * unit**2, None, center)
    np.testing.assert_allclose(found.mean / unit, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(found.variance / unit**2, expected.variance, rtol=1e-8)


def test_functions_far_too_small_for_their_precisions_predict_nothing():
    X, y = problem(5)
    columns, alpha, noise = sparse_model(X, y, False)
    found = LeaveOneOutPredictions.of_weights(columns * 1e-200, y, alpha, noise, None, False)
    np.testing.assert_allclose(found.mean, 0, atol=1e-12)
    np.testing.assert_allclose(found.variance, 0, atol=1e-12)


def test_the_excess_is_what_the_process_expects_beyond_the_sparse_model():
    rng = np.random.default_rng(3)
    process, sparse = (
        LeaveOneOutPredictions(rng.standard_normal(9), rng.uniform(1, 2, 9), noise) for noise in (0.3, 0.2)
    )
    counts = rng.integers(1, 4, 9)
    # the mean square distance of targets of the one from means of the other
    targets = process.mean + np.sqrt(process.variance + 0.3) * rng.standard_normal((400_000, 9))
    square = np.average(np.mean((targets - sparse.mean) ** 2, axis=0), weights=counts)
    expected = square - np.average(sparse.variance + 0.2, weights=counts)
    assert excess_variance(process, sparse, counts) == pytest.approx(expected, rel=0.02)
    repeated = [
        LeaveOneOutPredictions(each.mean.repeat(counts), each.variance.repeat(counts), each.noise)
        for each in (process, sparse)
    ]
    assert excess_variance(*repeated, None) == pytest.approx(excess_variance(process, sparse, counts))
    wider = LeaveOneOutPredictions(sparse.mean, sparse.variance + 1, 0.2)
    assert excess_variance(sparse, wider, None) == 0.0
