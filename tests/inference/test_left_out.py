"""Rows given the other rows, by taking them out; and what the dense model expects beyond the sparse one."""

import numpy as np
import pytest

from sparsebayes import RBF, Columns, Matern, ThinPlateSpline, fit
from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.left_out import LeftOut, excess_variance

BASES = {
    "rbf": RBF(0.4),
    "two kernels": RBF(0.4) + Matern(0.2),
    "columns": RBF(0.4) + Columns(2),
    "no covariance": ThinPlateSpline(2.0) + Columns(),
}
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


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("counted", COUNTS)
@pytest.mark.parametrize("center", [False, True])
def test_under_the_dense_model(name, counted, center):
    X, y = problem(len(name))
    counts, beta = COUNTS[counted], 20.0
    model = DenseModel(BASES[name].bind(X), X, GaussianEvidence(y, counts, center))
    rng = np.random.default_rng(2)
    scales = np.concatenate([part.bound.log_scales for part in model.parts])
    theta = np.concatenate([scales, np.log(rng.uniform(0.5, 2, len(model.parts))), [np.log(beta)]])
    K = model.covariance(model.terms(theta)) + (WIDE if center else 0.0)
    mean, variance = given_the_others(K, y, counts, 1 / beta)
    found = LeftOut.of_process(model, theta)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-3, atol=1e-4)
    assert found.noise == pytest.approx(1 / beta)


@pytest.mark.parametrize("counted", COUNTS)
@pytest.mark.parametrize("center", [False, True])
def test_under_the_sparse_model(counted, center):
    X, y = problem(5)
    Phi, counts = RBF(0.4).bind(X)(X), COUNTS[counted]
    result = fit(Phi, y, sample_weight=counts, fit_intercept=center)
    columns, noise = Phi[:, result.active], result.noise_variance
    K = columns @ np.diag(1 / result.alpha) @ columns.T + (WIDE if center else 0.0)
    mean, variance = given_the_others(K, y, counts, noise)
    found = LeftOut.of_weights(columns, y, result.alpha, noise, counts, center)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e150, 1e-150])
def test_functions_nearly_alike_leave_no_row_with_more_than_itself(center, size):
    x = np.linspace(0, 1, 12)[:, None]
    columns = RBF(0.01).bind(x)(x)  # of rank 4 or so, to rounding
    y = np.exp(x[:, 0])
    found = LeftOut.of_weights(columns * size, y, np.full(12, 1e-6 * size) * size, 1e-10, None, center)
    assert np.all(found.variance >= 0)
    assert np.abs(found.mean - y).max() < 0.1


def test_the_excess_is_what_the_dense_model_expects_beyond_the_sparse():
    rng = np.random.default_rng(3)
    dense, sparse = (LeftOut(rng.standard_normal(9), rng.uniform(1, 2, 9), noise) for noise in (0.3, 0.2))
    counts = rng.integers(1, 4, 9)
    # the mean square distance of targets of the one from means of the other
    targets = dense.mean + np.sqrt(dense.variance + 0.3) * rng.standard_normal((400_000, 9))
    square = np.average(np.mean((targets - sparse.mean) ** 2, axis=0), weights=counts)
    expected = square - np.average(sparse.variance + 0.2, weights=counts)
    assert excess_variance(dense, sparse, counts) == pytest.approx(expected, rel=0.02)
    models = (dense, sparse)
    repeated = [
        LeftOut(each.mean.repeat(counts), each.variance.repeat(counts), each.noise) for each in models
    ]
    assert excess_variance(*repeated, None) == pytest.approx(excess_variance(dense, sparse, counts))
    assert excess_variance(sparse, LeftOut(sparse.mean, sparse.variance + 1, 0.2), None) == 0.0
