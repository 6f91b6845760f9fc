"""The GP log marginal likelihood against brute force, and its gradient against finite differences."""

import numpy as np
import pytest
from scale_examples import BASES, data
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as Covariance

from sparsebayes.bases import RBF, Columns
from sparsebayes.laplace import Bernoulli
from sparsebayes.scale_learning import GaussianEvidence, LaplaceEvidence, ScaleSearchSettings
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.signals import DCT, Spike

EVIDENCES = ["noise estimated", "noise known", "two classes", "three classes"]


def evidences(X, y, rng):
    counts = rng.integers(1, 4, len(y)).astype(float)
    three = np.eye(3)[np.digitize(y, [-0.4, 0.5])]
    return {
        "noise estimated": GaussianEvidence(y, counts, True),
        "noise known": GaussianEvidence(y, counts, False, noise_variance=0.05),
        "two classes": LaplaceEvidence((y > 0).astype(float)[:, None], counts, True, Bernoulli()),
        "three classes": LaplaceEvidence(three, counts, False, Bernoulli()),
    }


def bound_to(name, X, per_input):
    bound = BASES[name].bind(X)
    return bound.with_scale_per_input() if per_input else bound


def theta_of(process, bound, rng):
    start = np.concatenate([bound.log_scales, np.zeros(len(process.parts) + process.evidence.n_noise)])
    return start + 0.3 * rng.standard_normal(len(start))


def assert_the_gradient_is_that_of_the_value(process, theta):
    value, gradient = process(theta)
    step = 1e-5
    numeric = [(process(theta + step * e)[0] - process(theta - step * e)[0]) / (2 * step) for e in np.eye(len(theta))]
    np.testing.assert_allclose(gradient, numeric, rtol=2e-5, atol=2e-5 * max(1.0, np.abs(gradient).max()))
    assert np.isfinite(value)
    assert process.value(theta) == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("kind", EVIDENCES)
@pytest.mark.parametrize("per_input", [False, True], ids=["one scale", "a scale per input"])
@pytest.mark.parametrize("name", BASES)
def test_the_gradient_is_that_of_the_value(name, per_input, kind):
    X, y, rng = data(len(name))
    bound = bound_to(name, X, per_input)
    process = GaussianProcess(bound, X, evidences(X, y, rng)[kind])
    assert_the_gradient_is_that_of_the_value(process, theta_of(process, bound, rng))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("per_input", [False, True], ids=["one scale", "a scale per input"])
@pytest.mark.parametrize("name", BASES)
def test_the_gradient_is_that_of_the_value_through_few_centres(name, per_input, center):
    X, y, rng = data(len(name), n=30)
    bound = bound_to(name, X, per_input)
    counts = rng.integers(1, 4, len(y)).astype(float)
    process = GaussianProcess(bound, X, GaussianEvidence(y, counts, center), X[:9])
    assert_the_gradient_is_that_of_the_value(process, theta_of(process, bound, rng))


@pytest.mark.parametrize("name", ["rbf", "matern", "laplacian", "dictionary", "two kernels"])
@pytest.mark.parametrize("center", [False, True])
def test_with_all_rows_as_centres_it_is_that_of_the_exact_covariance(name, center):
    X, y, rng = data(3)
    bound, evidence = BASES[name].bind(X), GaussianEvidence(y, np.ones(len(y)), center)
    exact, few = (GaussianProcess(bound, X, evidence, Z) for Z in (None, X))
    theta = theta_of(few, bound, rng)
    for one, other in zip(exact(theta), few(theta), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_through_few_centres_it_is_the_density_of_the_targets(seed):
    X, y, _ = data(seed)
    bound, beta = RBF(0.4).bind(X), 5.0
    process = GaussianProcess(bound, X, GaussianEvidence(y, np.ones(len(y)), False, 1 / beta), X[:6])
    P, V = bound.centred_at(X[:6])(X), bound.centred_at(X[:6])(X[:6])
    C = 2.0 * P @ np.linalg.solve(V, P.T) + np.eye(len(y)) / beta
    value, gradient = process(np.append(bound.log_scales, np.log(2.0)))
    assert value == pytest.approx(multivariate_normal(np.zeros(len(y)), C).logpdf(y), rel=1e-6)
    assert gradient.shape == (2,)


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("few", [False, True], ids=["exact", "through few centres"])
def test_it_is_the_density_of_the_targets_with_each_part_at_its_share(name, few):
    X, y, _ = data(len(name))
    bound, share = BASES[name].bind(X), 0.7
    evidence = GaussianEvidence(y, np.ones(len(y)), False, noise_variance=0.3)
    process = GaussianProcess(bound, X, evidence, X[:12] if few else None)
    theta = np.concatenate([bound.log_scales, np.log(np.full(len(process.parts), share))])
    C = 0.3 * np.eye(len(y))
    Z = X[:12] if few else X
    for part in bound.scale_groups:
        centred = part.centred_at(Z)
        Phi, at_Z = ((part if centred is None else centred)(rows) for rows in (X, Z))
        if centred is not None and centred.positive_semidefinite:
            C += share * Phi @ np.linalg.lstsq(at_Z, Phi.T, rcond=1e-12)[0] / np.diag(at_Z).mean()
        else:
            Phi = Phi / at_Z.std(axis=0)
            C += share * Phi @ Phi.T / Phi.shape[1]
    expected = multivariate_normal(np.zeros(len(y)), C).logpdf(y)
    assert process(theta)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("few", [False, True], ids=["exact", "through few centres"])
def test_a_covariance_that_is_not_positive_definite_has_no_evidence(few):
    X, y, _ = data(0)
    bound, settings = RBF(1e-6).bind(X), ScaleSearchSettings(jitter=0.0, centre_jitter=0.0)
    evidence = GaussianEvidence(y, np.ones(len(y)), True)
    process = GaussianProcess(bound, X, evidence, X if few else None, settings)
    value, gradient = process(np.concatenate([bound.log_scales, [0.0, 80.0]]))
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, np.zeros(3))


def test_parts_on_the_samples_of_a_signal_are_not_in_it():
    X = np.arange(16.0)[:, None]
    y = np.sin(X[:, 0])
    evidence = GaussianEvidence(y, np.ones(16), True)
    bound = (Columns(2) + DCT() + RBF(0.1) + Spike()).bind(X)
    process, without = (GaussianProcess(each, X, evidence) for each in (bound, (Columns(2) + RBF(0.1)).bind(X)))
    assert [part.numbers.tolist() for part in process.parts] == [[0, 1], list(range(18, 34))]
    assert not process.all_parts
    assert without.all_parts
    assert process.n_scales == len(bound.log_scales) == 1
    theta = np.asarray([-2.0, 0.3, 0.1, 1.0])
    for one, other in zip(process(theta), without(theta), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_basis_of_such_parts_alone_is_refused():
    X = np.arange(16.0)[:, None]
    evidence = GaussianEvidence(np.sin(X[:, 0]), np.ones(16), True)
    with pytest.raises(ValueError, match="basis must have a kernel to learn scales from"):
        GaussianProcess((DCT() + Spike()).bind(X), X, evidence)


@pytest.mark.parametrize("seed", range(3))
def test_the_gaussian_evidence_is_the_density_of_the_targets(seed):
    X, y, _ = data(seed)
    K, beta = RBF(0.3).bind(X)(X), 7.0
    value, _, _ = GaussianEvidence(y, np.ones(len(y)), False)(K, np.asarray([np.log(beta)]))
    density = multivariate_normal(np.zeros(len(y)), K + np.eye(len(y)) / beta)
    assert value == pytest.approx(density.logpdf(y), rel=1e-10)


def test_the_intercept_is_integrated_out():
    X, y, _ = data(1)
    K, log_beta = RBF(0.3).bind(X)(X), np.asarray([1.5])
    with_intercept = GaussianEvidence(y, np.ones(len(y)), True)(K, log_beta)[0]
    grid = np.linspace(-30, 30, 4001)
    heights = [GaussianEvidence(y - b, np.ones(len(y)), False)(K, log_beta)[0] for b in grid]
    peak = max(heights)
    integral = peak + np.log(np.trapezoid(np.exp(np.asarray(heights) - peak), grid))
    assert with_intercept == pytest.approx(integral, abs=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_counts_are_repeated_rows(center):
    X, t, rng = data(2, n=12)
    counts = rng.integers(1, 4, 12)
    K, log_beta = RBF(0.3).bind(X)(X), np.asarray([0.7])
    again = np.repeat(np.arange(12), counts)
    one = GaussianEvidence(t, counts.astype(float), center)(K, log_beta)
    other = GaussianEvidence(t[again], np.ones(len(again)), center)(K[np.ix_(again, again)], log_beta)
    assert one[0] == pytest.approx(other[0], rel=1e-9)
    assert one[2] == pytest.approx(other[2], rel=1e-7)
    y = (t > 0).astype(float)[:, None]
    one = LaplaceEvidence(y, counts.astype(float), center, Bernoulli())(K, np.zeros(0))
    repeated = LaplaceEvidence(y[again], np.ones(len(again)), center, Bernoulli())
    other = repeated(K[np.ix_(again, again)], np.zeros(0))
    assert one[0] == pytest.approx(other[0], rel=1e-8)


def test_the_evidence_of_some_rows_is_that_of_these_alone():
    X, t, rng = data(5)
    counts, rows = rng.integers(1, 4, len(t)).astype(float), np.asarray([3, 4, 9, 17])
    K = RBF(0.3).bind(X[rows])(X[rows])
    some = GaussianEvidence(t, counts, True, 0.2).of_rows(rows)
    assert some(K, np.zeros(0))[0] == GaussianEvidence(t[rows], counts[rows], True, 0.2)(K, np.zeros(0))[0]
    assert some.total == counts[rows].sum()
    y = np.eye(3)[np.digitize(t, [-0.4, 0.5])]
    classes = LaplaceEvidence(y, counts, True, Bernoulli())
    np.testing.assert_array_equal(np.argsort(classes.order, kind="stable"), np.argsort(y.argmax(1), kind="stable"))
    expected = LaplaceEvidence(y[rows], counts[rows], True, Bernoulli())(K, np.zeros(0))[0]
    assert classes.of_rows(rows)(K, np.zeros(0))[0] == expected


@pytest.mark.parametrize("seed", range(3))
def test_the_laplace_evidence_is_that_of_a_gaussian_process_classifier(seed):
    X, t, _ = data(seed, n=40)
    y = t > 0.1
    process = GaussianProcessClassifier(Covariance(1.3), optimizer=None).fit(X, y)
    K = RBF(gamma=0.5 / 1.3**2).bind(X)(X)
    evidence = LaplaceEvidence(y.astype(float)[:, None], np.ones(len(y)), False, Bernoulli())
    value = evidence(K, np.zeros(0))[0]
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
    used = LaplaceEvidence(y, np.ones(40), center, Bernoulli())
    for K in (*kernels, *kernels[::-1]):
        value, G, _ = used(K, np.zeros(0))
        expected, expected_G, _ = LaplaceEvidence(y, np.ones(40), center, Bernoulli())(K, np.zeros(0))
        assert value == pytest.approx(expected, rel=1e-8)
        np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-6 * np.abs(expected_G).max())
