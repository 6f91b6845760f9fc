"""The variance of a Gaussian process, given its training rows."""

import pickle

import numpy as np
import pytest
from scale_examples import FIXED

from sparsebayes.scale_learning import GaussianEvidence, GaussianProcessPosterior
from sparsebayes.scale_learning.process import GaussianProcess


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n), rng.uniform(-5, 5, (15, 2))


def together(process, theta, X, Q):
    """The covariance of f at training rows and queries, part by part from its definition."""
    both = np.vstack([X, Q])
    K = np.zeros((len(both), len(both)))
    for each in process.parts_at(theta):
        if each.part.is_covariance:
            K += each.share * each.bound.centred_at(both)(both)
        else:
            functions = each.bound(both) / each.part.spreads
            K += each.share * functions @ functions.T
    return K


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("center", [False, True])
def test_it_is_the_variance_given_the_rows(name, center):
    X, y, Q = problem(len(name))
    rng = np.random.default_rng(0)
    counts, n, beta = rng.integers(1, 4, 40).astype(float), 40, 30.0
    process = GaussianProcess(FIXED[name].bind(X), X, GaussianEvidence(y, counts, center))
    theta = np.concatenate([part.bound.log_scales for part in process.parts])
    theta = np.concatenate([theta, np.log(rng.uniform(0.5, 2, len(process.parts))), [np.log(beta)]])
    K = together(process, theta, X, Q) + (1e5 if center else 0.0)  # a wide prior for a flat one
    C = K[:n, :n] + np.diag(1 / (beta * counts))
    expected = K[n:, n:] - K[n:, :n] @ np.linalg.solve(C, K[:n, n:])
    posterior = GaussianProcessPosterior.of(process, theta)
    scale = np.abs(np.diag(expected)).max()
    np.testing.assert_allclose(posterior.covariance(Q), expected, rtol=1e-3, atol=1e-4 * scale)
    np.testing.assert_allclose(posterior.variance(Q), np.diag(posterior.covariance(Q)), rtol=1e-6)
    assert posterior.n == 40


def test_it_is_kept_without_the_covariances_of_its_parts():
    X, y, Q = problem(0, 200)
    process = GaussianProcess(FIXED["two kernels"].bind(X), X, GaussianEvidence(y, np.ones(200), True))
    theta = np.concatenate([np.concatenate([part.bound.log_scales for part in process.parts]), np.zeros(3)])
    posterior = GaussianProcessPosterior.of(process, theta)
    stored = pickle.dumps(posterior)
    assert len(stored) < 1.2 * posterior.factor.nbytes
    np.testing.assert_array_equal(pickle.loads(stored).variance(Q), posterior.variance(Q))
