"""Functions beside a kernel that the dense model has no use for."""

import numpy as np
import pytest
from dense_examples import data
from scipy.stats import multivariate_normal

from sparsebayes import RelevanceVectorRegressor, fit
from sparsebayes.bases import RBF, Bias, Columns, Matern, Spike
from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.dense_classes import LaplaceEvidence
from sparsebayes.inference.idle import idle_functions


def bent(seed, n=100):
    """Not linear in input 0, linear in input 1; nothing else matters."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 2))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1] + 0.1 * rng.standard_normal(n)


def dense(basis, X, y, counts=None, center=True):
    counts = np.ones(len(y)) if counts is None else counts
    return DenseModel(basis.bind(X), X, GaussianEvidence(y, counts, center))


@pytest.mark.parametrize("center", [False, True])
def test_whitened_products_are_those_of_the_inverse_covariance(center):
    X, t, rng = data(3)
    counts, beta, columns = rng.integers(1, 4, len(t)).astype(float), 4.0, rng.standard_normal((len(t), 3))
    K = RBF(0.3).bind(X)(X)
    z, Z = GaussianEvidence(t, counts, center).whitened(K, np.asarray([np.log(beta)]), columns)
    inverse = np.linalg.inv(K + np.diag(1 / (beta * counts)))
    if center:
        u = inverse.sum(axis=0)
        inverse -= np.outer(u, u) / u.sum()
    np.testing.assert_allclose(Z.T @ Z, columns.T @ inverse @ columns, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Z.T @ z, columns.T @ inverse @ t, rtol=1e-9, atol=1e-9)


def test_what_columns_gain_is_what_the_density_of_the_targets_gains():
    X, t, rng = data(4)
    K, beta, columns = RBF(0.3).bind(X)(X), 9.0, rng.standard_normal((len(t), 4))
    z, Z = GaussianEvidence(t, np.ones(len(t)), False).whitened(K, np.asarray([np.log(beta)]), columns)
    found = fit(Z, z, noise_variance=1.0)
    C = K + np.eye(len(t)) / beta
    active = columns[:, found.active]
    with_columns = multivariate_normal(None, C + (active / found.alpha) @ active.T).logpdf(t)
    gain = found.log_evidence + 0.5 * (len(t) * np.log(2 * np.pi) + z @ z)
    assert with_columns - multivariate_normal(None, C).logpdf(t) == pytest.approx(gain, abs=1e-8)


@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_columns_that_carry_nothing_are_left_out(prior):
    kept = []
    for seed in range(10):
        X, y = bent(seed)
        model = RelevanceVectorRegressor(RBF() + Columns(2), gamma="ard", prior=prior).fit(X, y)
        kept.append(set(model.relevance_[model.relevance_ >= 100]))
        assert model.coef_[model.relevance_ == 101] == pytest.approx(0.1, abs=0.01)
    assert all(101 in each for each in kept)
    assert sum(each == {101} for each in kept) >= 8


def test_numbers_of_functions_are_those_of_all_candidates():
    X, y = bent(11)
    basis = Columns(2) + RBF() + Columns(1) + Matern()
    model = RelevanceVectorRegressor(basis, gamma="evidence").fit(X, y)
    bound = basis.bind(X)
    scales = bound.with_log_scales(np.log(model.scales_))
    columns = scales(X)[:, model.relevance_]
    np.testing.assert_allclose(columns @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-9)
    assert model.components_.shape == (4, 100)
    with_weights = RelevanceVectorRegressor(basis, gamma="evidence")
    with_weights.fit(np.vstack([X[:1], X]), np.r_[9.0, y], sample_weight=np.r_[0.0, np.ones(100)])
    moved = np.where((model.relevance_ >= 5) & (model.relevance_ < 105), 1, 0)
    moved += np.where(model.relevance_ >= 105, 1, 0) + np.where(model.relevance_ >= 107, 1, 0)
    np.testing.assert_array_equal(with_weights.relevance_, model.relevance_ + moved)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_units_and_repeated_rows_do_not_matter(unit):
    X, y = bent(2, 60)
    basis, theta = RBF([0.07, 1e-6]) + Columns(2), np.log([0.07, 1e-6, 0.1, 0.4, 1 / 0.01])
    known = idle_functions(dense(basis, X, y), theta)
    scaled = theta + np.log([1.0, 1.0, unit**2, unit**2, unit**-2])
    np.testing.assert_array_equal(idle_functions(dense(basis, X, unit * (y + 3)), scaled), known)
    assert 61 not in known
    counts = np.random.default_rng(0).integers(1, 3, 60)
    rows = np.repeat(np.arange(60), counts)
    once = idle_functions(dense(basis, X, y, counts.astype(float)), theta)
    often = idle_functions(dense(basis, X[rows], y[rows]), theta)
    np.testing.assert_array_equal(often - len(rows), once - 60)


def test_a_constant_beside_an_intercept_is_idle():
    X, y = bent(3)
    theta = np.log([0.07, 0.1, 0.2, 0.2, 1 / 0.01])
    basis = RBF(0.07) + Bias() + Columns(1)
    assert 100 in idle_functions(dense(basis, X, y + 5), theta)
    assert 100 not in idle_functions(dense(basis, X, y + 5, center=False), theta)


def test_spikes_are_left_to_rows_that_are_far_out():
    x = np.linspace(-10, 10, 80)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(80)
    y[[20, 50]] += 1.5
    theta = np.log([0.07, 0.1, 0.1, 1 / 0.01])
    idle = idle_functions(dense(RBF(0.07) + Spike(), x, y), theta)
    left = np.setdiff1d(np.arange(160), idle)
    assert {100, 130} <= set(left)
    assert len(left) < 80 + 8


def test_nothing_is_idle_where_there_is_nothing_beside_a_kernel_or_classes():
    X, y = bent(4)
    assert not len(idle_functions(dense(RBF(0.07) + Matern(0.1), X, y), np.zeros(5)))
    labels = LaplaceEvidence((y > 0).astype(float)[:, None], np.ones(100), True)
    model = DenseModel((RBF(0.07) + Columns(2)).bind(X), X, labels)
    assert not len(idle_functions(model, np.zeros(3)))


def test_a_constant_that_an_intercept_makes_idle_leaves_the_kernel_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (100, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(100)
    both, alone = (
        RelevanceVectorRegressor(kernel, gamma="evidence").fit(X, y) for kernel in (RBF() + Bias(), RBF())
    )
    np.testing.assert_array_equal(both.relevance_, alone.relevance_)
    assert both.log_evidence_ == pytest.approx(alone.log_evidence_, rel=1e-4)
