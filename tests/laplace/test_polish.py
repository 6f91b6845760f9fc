"""The slope of the Laplace evidence by log α, the curvature moving, and its maximum."""

import warnings

import numpy as np
import pytest
from brute import EVERY_PRIOR, LaplaceModel, codes, random_classes
from sklearn.base import clone

from sparsebayes import (
    Bernoulli,
    Gamma,
    Multinomial,
    RelevanceVectorClassifier,
    Smoothness,
    SparseBayesClassifier,
    Uniform,
    fit,
)
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.laplace.mode import Modes
from sparsebayes.laplace.polish import evidence_hessian, evidence_slope, maximise_evidence
from sparsebayes.laplace.rows import LaplaceRows

classes = pytest.mark.parametrize("K", [2, 3])
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])
CHANGE = 1e-5


def _problem(seed, K, center, weighted, prior=None, N=60, M=5):
    """Modes over random rows, the rows, and a mode of some candidates at random α."""
    Phi, labels = random_classes(seed, N, M, K)
    rng = np.random.default_rng(seed + 50)
    counts = rng.uniform(0.3, 2.5, N) if weighted else np.ones(N)
    y, likelihood = codes(labels, K), Bernoulli() if K == 2 else Multinomial(K)
    rows = LaplaceRows(DenseOperator(Phi), y, likelihood, counts, center)
    modes = Modes(rows, (prior or Uniform()).resolve(rows.n))
    J = np.sort(rng.choice(rows.size, 4, replace=False))
    alpha = np.exp(rng.uniform(-2.0, 2.0, 4))
    return Phi, y, counts, modes, modes.find(J, alpha, np.zeros(4), rows.start())


def _by_differences(modes, mode, i):
    """∂(objective)/∂ log α_i, from the objective at modes found again."""
    heights = []
    for change in (CHANGE, -CHANGE):
        alpha = mode.alpha * np.exp(change * (np.arange(len(mode.J)) == i))
        heights.append(modes.find(mode.J, alpha, mode.w, mode.b).objective)
    return (heights[0] - heights[1]) / (2 * CHANGE)


@classes
@centred
@weighted
@pytest.mark.parametrize("prior", EVERY_PRIOR)
def test_the_slope_is_that_of_differences(K, center, weighted, prior):
    *_, modes, mode = _problem(3, K, center, weighted, EVERY_PRIOR[prior])
    expected = [_by_differences(modes, mode, i) for i in range(len(mode.J))]
    np.testing.assert_allclose(evidence_slope(modes, mode), expected, atol=1e-6)


@classes
@centred
@weighted
@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_that_of_brute_force(K, center, weighted, seed):
    Phi, y, counts, modes, mode = _problem(seed, K, center, weighted)
    function, output = modes.rows.split(mode.J)
    alpha = mode.alpha * modes.rows.design.norms[function] ** 2
    brute = LaplaceModel(Phi, y, function, output, alpha, counts, center)
    np.testing.assert_allclose(evidence_slope(modes, mode), brute.evidence_gradient(brute.mode()), atol=1e-6)


@classes
def test_the_slope_of_the_curvature(K):
    rng = np.random.default_rng(0)
    likelihood, outputs = (Bernoulli(), 1) if K == 2 else (Multinomial(K), K)
    f, H = rng.standard_normal((7, outputs)), rng.standard_normal((7, outputs, outputs))
    H, y = H + H.transpose(0, 2, 1), np.zeros((7, outputs))
    for k in range(outputs):
        change = CHANGE * (np.arange(outputs) == k)[None, :]
        up, down = (np.einsum("nkl,nlk->n", likelihood.curvature(y, f + each), H) for each in (change, -change))
        expected = (up - down) / (2 * CHANGE)
        np.testing.assert_allclose(likelihood.curvature_slope(y, f, H)[:, k], expected, atol=1e-8)


@classes
@centred
@weighted
@pytest.mark.parametrize("prior", [Uniform(), Smoothness("bic")], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_has_no_slope_and_is_no_saddle(K, center, weighted, prior, seed):
    *_, modes, mode = _problem(seed, K, center, weighted, prior)
    end = maximise_evidence(modes, mode)
    assert end.reached
    assert end.objective > mode.objective
    assert np.abs(evidence_slope(modes, end)).max() < 1e-4
    assert np.linalg.eigvalsh(evidence_hessian(modes, end)).max() < 1e-4
    assert set(end.J) <= set(mode.J)


def test_a_function_that_does_not_help_is_deleted():
    *_, modes, mode = _problem(0, 2, True, False, Smoothness(4.0))
    end = maximise_evidence(modes, mode)
    assert len(end.J) < len(mode.J)
    for i in range(len(end.J)):
        kept = np.delete(np.arange(len(end.J)), i)
        if len(kept):
            fewer = modes.find(end.J[kept], end.alpha[kept], end.w[kept], end.b)
            assert fewer.objective < end.objective


def _random_set(seed, K):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    X = rng.standard_normal((n, 3))
    f = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
    return X, (f > 0).astype(int) if K == 2 else np.digitize(f, [-0.5, 0.5]), rng.uniform(0.3, 2.5, n)


MODELS = [
    RelevanceVectorClassifier(),
    RelevanceVectorClassifier(gamma=2.0),
    RelevanceVectorClassifier(prior="bic"),
    SparseBayesClassifier(),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
@classes
@weighted
def test_converged_means_certified_or_a_warning_says_why(model, K, weighted):
    for seed in range(12):
        X, y, weights = _random_set(seed, K)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fitted = clone(model).fit(X, y, weights if weighted else None)
        assert fitted.converged_ == fitted.certificate_.is_local_maximum
        assert fitted.converged_ or any("not certified" in str(each.message) for each in said)


@pytest.mark.slow
@pytest.mark.parametrize("model", [RelevanceVectorClassifier(), SparseBayesClassifier()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_swapping_the_labels_changes_nothing(model):
    for seed in range(20):
        X, y, _ = _random_set(seed, 2)
        one, other = (clone(model).fit(X, labels).predict_proba(X) for labels in (y, 1 - y))
        np.testing.assert_allclose(one, other[:, ::-1], atol=1e-6)


@pytest.mark.parametrize("prior", ["uniform", "bic"])
@classes
def test_a_polished_fit_is_a_certified_maximum_and_higher(prior, K):
    for seed in range(3):
        X, y, weights = _random_set(seed, K)
        plain, polished = (
            SparseBayesClassifier(prior=prior, polish=polish).fit(X, y, weights) for polish in (False, True)
        )
        assert polished.converged_
        assert polished.certificate_.is_local_maximum
        assert polished._fitted.result.objective >= plain._fitted.result.objective - 1e-9


def test_numbers_cannot_be_polished():
    with pytest.raises(ValueError, match=r"polish must be False with likelihood=Gaussian"):
        fit(np.eye(5), np.arange(5.0), polish=True)


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")
def test_alpha_that_finds_no_rest_ends_at_the_highest_evidence():
    rng = np.random.default_rng(2)
    labels = np.arange(60) % 2
    X = rng.standard_normal((60, 2)) + 1.5 * np.stack([np.cos(2.1 * labels), np.sin(2.1 * labels)], axis=1)
    Phi = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1))
    result = fit(Phi, labels, likelihood="bernoulli", fit_intercept=True, prior=Gamma(1.0, 1e-3))
    assert result.converged
    assert result.certificate.is_local_maximum
