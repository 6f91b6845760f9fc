"""The evidence of the dense model against brute force, and its gradient against finite differences."""

import numpy as np
import pytest
from dense_examples import BASES, data
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as Covariance

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.bases import RBF, Columns
from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.dense_classes import LaplaceEvidence


def evidences(X, y, rng):
    counts = rng.integers(1, 4, len(y)).astype(float)
    three = np.eye(3)[np.digitize(y, [-0.4, 0.5])]
    return {
        "noise estimated": GaussianEvidence(y, counts, True),
        "noise known": GaussianEvidence(y, counts, False, beta=20.0),
        "two classes": LaplaceEvidence((y > 0).astype(float)[:, None], counts, True),
        "three classes": LaplaceEvidence(three, counts, False),
    }


@pytest.mark.parametrize("kind", ["noise estimated", "noise known", "two classes", "three classes"])
@pytest.mark.parametrize("per_input", [False, True], ids=["one scale", "a scale per input"])
@pytest.mark.parametrize("name", BASES)
def test_the_gradient_is_that_of_the_value(name, per_input, kind):
    X, y, rng = data(len(name))
    bound = BASES[name].bind(X)
    bound = bound.with_scale_per_input() if per_input else bound
    model = DenseModel(bound, X, evidences(X, y, rng)[kind])
    size = model.scales + len(model.parts) + model.evidence.tail
    theta = np.concatenate([bound.log_scales, np.zeros(size - model.scales)])
    theta += 0.3 * rng.standard_normal(size)
    value, gradient = model(theta)
    step = 1e-5
    numeric = [(model(theta + step * e)[0] - model(theta - step * e)[0]) / (2 * step) for e in np.eye(size)]
    np.testing.assert_allclose(gradient, numeric, rtol=2e-5, atol=2e-5 * max(1.0, np.abs(gradient).max()))
    assert np.isfinite(value)


@pytest.mark.parametrize("seed", range(3))
def test_the_gaussian_evidence_is_the_density_of_the_targets(seed):
    X, t, _ = data(seed)
    K, beta = RBF(0.3).bind(X)(X), 7.0
    value, _, _ = GaussianEvidence(t, np.ones(len(t)), False)(K, np.asarray([np.log(beta)]))
    density = multivariate_normal(np.zeros(len(t)), K + np.eye(len(t)) / beta)
    assert value == pytest.approx(density.logpdf(t), rel=1e-10)


def test_the_intercept_is_integrated_out():
    X, t, _ = data(1)
    K, tail = RBF(0.3).bind(X)(X), np.asarray([1.5])
    with_intercept = GaussianEvidence(t, np.ones(len(t)), True)(K, tail)[0]
    grid = np.linspace(-30, 30, 4001)
    heights = [GaussianEvidence(t - b, np.ones(len(t)), False)(K, tail)[0] for b in grid]
    peak = max(heights)
    integral = peak + np.log(np.trapezoid(np.exp(np.asarray(heights) - peak), grid))
    assert with_intercept == pytest.approx(integral, abs=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_counts_are_repeated_rows(center):
    X, t, rng = data(2, n=12)
    counts = rng.integers(1, 4, 12)
    K, tail = RBF(0.3).bind(X)(X), np.asarray([0.7])
    again = np.repeat(np.arange(12), counts)
    one = GaussianEvidence(t, counts.astype(float), center)(K, tail)
    other = GaussianEvidence(t[again], np.ones(len(again)), center)(K[np.ix_(again, again)], tail)
    assert one[0] == pytest.approx(other[0], rel=1e-9)
    assert one[2] == pytest.approx(other[2], rel=1e-7)
    y = (t > 0).astype(float)[:, None]
    one = LaplaceEvidence(y, counts.astype(float), center)(K, np.zeros(0))
    other = LaplaceEvidence(y[again], np.ones(len(again)), center)(K[np.ix_(again, again)], np.zeros(0))
    assert one[0] == pytest.approx(other[0], rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_laplace_evidence_is_that_of_a_gaussian_process_classifier(seed):
    X, t, _ = data(seed, n=40)
    y = t > 0.1
    process = GaussianProcessClassifier(Covariance(1.3), optimizer=None).fit(X, y)
    K = RBF(gamma=0.5 / 1.3**2).bind(X)(X)
    value = LaplaceEvidence(y.astype(float)[:, None], np.ones(len(y)), False)(K, np.zeros(0))[0]
    assert value == pytest.approx(process.log_marginal_likelihood_value_, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("center", [False, True])
def test_the_mode_does_not_depend_on_what_was_evaluated_before(seed, center):
    """Kernels far apart and large: the mode of one is a poor start for the other."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    y = (X[:, :1] * X[:, 1:] > 0).astype(float)
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    kernels = [s * np.exp(-g * distances) + 1e-6 * np.eye(40) for s, g in ((1, 5), (3e3, 0.5), (50, 30))]
    used = LaplaceEvidence(y, np.ones(40), center)
    for K in (*kernels, *kernels[::-1]):
        value, G, _ = used(K, np.zeros(0))
        expected, expected_G, _ = LaplaceEvidence(y, np.ones(40), center)(K, np.zeros(0))
        assert value == pytest.approx(expected, rel=1e-8)
        np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-6 * np.abs(expected_G).max())


@pytest.mark.parametrize("level", [0.1, 0.3, 1.7, 1e6])
def test_a_constant_column_does_not_matter_whatever_rounding_leaves_of_it(level):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(100)
    one, other = (
        RelevanceVectorRegressor(RBF() + Columns(), gamma="evidence").fit(np.column_stack([X, c]), y)
        for c in (np.zeros(100), np.full(100, level))
    )
    np.testing.assert_allclose(other.scales_, one.scales_, rtol=0.02)
    assert other.noise_variance_ == pytest.approx(one.noise_variance_, rel=0.02)
