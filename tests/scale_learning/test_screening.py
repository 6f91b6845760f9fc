"""Columns beside a kernel that are irrelevant, and what each input does to the predictions."""

import numpy as np
import pytest
from scale_examples import data
from scipy.stats import multivariate_normal

from sparsebayes.bases import RBF, Bias, Columns, Matern
from sparsebayes.core.fit import fit_matrix
from sparsebayes.laplace import Bernoulli
from sparsebayes.scale_learning import GaussianEvidence, LaplaceEvidence, input_relevance
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.screening import irrelevant_functions
from sparsebayes.signals import Spike


def bent(seed, n=100):
    """Not linear in input 0, linear in input 1; nothing else matters."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 2))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1] + 0.1 * rng.standard_normal(n)


def process_of(basis, X, y, counts=None, center=True):
    counts = np.ones(len(y)) if counts is None else counts
    return GaussianProcess(basis.bind(X), X, GaussianEvidence(y, counts, center))


@pytest.mark.parametrize("center", [False, True])
def test_whitened_products_are_those_of_the_inverse_covariance(center):
    X, y, rng = data(3)
    counts, beta, columns = rng.integers(1, 4, len(y)).astype(float), 4.0, rng.standard_normal((len(y), 3))
    K = RBF(0.3).bind(X)(X)
    z, Z = GaussianEvidence(y, counts, center).whitened(K, np.asarray([np.log(beta)]), columns)
    inverse = np.linalg.inv(K + np.diag(1 / (beta * counts)))
    if center:
        u = inverse.sum(axis=0)
        inverse -= np.outer(u, u) / u.sum()
    np.testing.assert_allclose(Z.T @ Z, columns.T @ inverse @ columns, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Z.T @ z, columns.T @ inverse @ y, rtol=1e-9, atol=1e-9)


def test_what_columns_gain_is_what_the_density_of_the_targets_gains():
    X, y, rng = data(4)
    K, beta, columns = RBF(0.3).bind(X)(X), 9.0, rng.standard_normal((len(y), 4))
    z, Z = GaussianEvidence(y, np.ones(len(y)), False).whitened(K, np.asarray([np.log(beta)]), columns)
    found = fit_matrix(Z, z, noise_variance=1.0)
    C = K + np.eye(len(y)) / beta
    active = columns[:, found.active]
    with_columns = multivariate_normal(None, C + (active / found.alpha) @ active.T).logpdf(y)
    gain = found.log_evidence + 0.5 * (len(y) * np.log(2 * np.pi) + z @ z)
    assert with_columns - multivariate_normal(None, C).logpdf(y) == pytest.approx(gain, abs=1e-8)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_units_and_repeated_rows_do_not_matter(unit):
    X, y = bent(2, 60)
    basis, theta = RBF([0.07, 1e-6]) + Columns(2), np.log([0.07, 1e-6, 0.1, 0.4, 1 / 0.01])
    known = irrelevant_functions(process_of(basis, X, y), theta)
    scaled = theta + np.log([1.0, 1.0, unit**2, unit**2, unit**-2])
    np.testing.assert_array_equal(irrelevant_functions(process_of(basis, X, unit * (y + 3)), scaled), known)
    assert 61 not in known
    counts = np.random.default_rng(0).integers(1, 3, 60)
    rows = np.repeat(np.arange(60), counts)
    once = irrelevant_functions(process_of(basis, X, y, counts.astype(float)), theta)
    often = irrelevant_functions(process_of(basis, X[rows], y[rows]), theta)
    np.testing.assert_array_equal(often - len(rows), once - 60)


def test_a_constant_beside_an_intercept_is_irrelevant():
    X, y = bent(3)
    theta = np.log([0.07, 0.1, 0.2, 0.2, 1 / 0.01])
    basis = RBF(0.07) + Bias() + Columns(1)
    assert 100 in irrelevant_functions(process_of(basis, X, y + 5), theta)
    assert 100 not in irrelevant_functions(process_of(basis, X, y + 5, center=False), theta)
    alone = process_of(RBF(0.07) + Bias(), X, y)
    np.testing.assert_array_equal(irrelevant_functions(alone, theta[[0, 1, 2, 4]]), [100])


def test_of_two_columns_that_are_alike_the_second_is_irrelevant():
    X, y = bent(5)
    basis = Columns(1) + RBF(0.07) + Columns(1)
    found = irrelevant_functions(process_of(basis, X, y), np.log([0.07, 0.4, 0.1, 0.4, 1 / 0.01]))
    np.testing.assert_array_equal(found, [0, 102, 103])


def test_nothing_is_screened_out_without_a_kernel_for_classes_and_beside_samples():
    X, y = bent(4)
    assert not len(irrelevant_functions(process_of(RBF(0.07) + Matern(0.1), X, y), np.zeros(5)))
    assert not len(irrelevant_functions(process_of(Columns(2) + Bias(), X, y), np.zeros(3)))
    labels = LaplaceEvidence((y > 0).astype(float)[:, None], np.ones(100), True, Bernoulli())
    process = GaussianProcess((RBF(0.07) + Columns(2)).bind(X), X, labels)
    assert not len(irrelevant_functions(process, np.zeros(3)))
    theta = np.log([0.07, 0.1, 0.4, 1 / 0.01])
    assert len(irrelevant_functions(process_of(RBF(0.07) + Columns(2), X, y), theta))
    assert not len(irrelevant_functions(process_of(RBF(0.07) + Columns(2) + Spike(), X, y), theta))


def test_the_relevance_of_an_input_is_what_predictions_lose_without_it():
    rng = np.random.default_rng(0)
    X, counts = rng.standard_normal((40, 3)), rng.integers(1, 4, 40).astype(float)
    X[:, 2] = 1.7
    weights = np.asarray([[2.0, 0.5], [0.0, 1.0], [3.0, -4.0]])
    y = np.arange(40) % 3
    found = input_relevance(Columns(1).bind(X), weights, X, y, counts)
    share = counts / counts.sum()
    variances = share @ (X - share @ X) ** 2
    total = np.sum(share @ ((X - share @ X) @ weights) ** 2)
    np.testing.assert_allclose(found, variances * np.sum(weights**2, axis=1) / total, atol=1e-12)
    assert found[2] == 0
    np.testing.assert_array_equal(input_relevance(Columns(1).bind(X), 0 * weights, X, y, None), 0.0)
