"""Noise whose variance is known at each row: evidence, weights and error bars against brute force."""

import math

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sliced_rows import Dataset

from sparsebayes import (
    Gaussian,
    GeneralizedNormal,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    fit,
)
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.rows.known_noise import KnownNoise

centred = pytest.mark.parametrize("center", [False, True])


def data(seed=0, N=40, M=6):
    """Rows whose noise differs a hundredfold."""
    rng = np.random.default_rng(seed)
    Phi, variances = rng.standard_normal((N, M)) + 0.5, 10 ** rng.uniform(-3, 1, N)
    t = Phi[:, :2] @ [2.0, -1.0] + np.sqrt(variances) * rng.standard_normal(N)
    return Phi, t, variances


def log_density(y, C, center):
    """log N(y | 0, C); with an intercept log ∫ N(y | b1, C) db."""
    P, n, one = np.linalg.inv(C), len(y), np.ones(len(y))
    value = -0.5 * (n * math.log(2 * math.pi) + np.linalg.slogdet(C)[1])
    if center:
        value += 0.5 * math.log(2 * math.pi / (one @ P @ one))
        y = y - (one @ P @ y) / (one @ P @ one)
    return value - 0.5 * y @ P @ y


def design(kind, Phi):
    return scipy.sparse.csc_array(Phi) if kind == "sparse" else Phi


@centred
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_is_the_density_of_the_targets(center, kind, weighted):
    Phi, t, variances = data()
    counts = np.random.default_rng(1).integers(0, 4, len(t)) if weighted else np.ones(len(t), dtype=int)
    weights = counts if weighted else None
    noise = Gaussian(variance=variances)
    result = fit(design(kind, Phi), t, likelihood=noise, fit_intercept=center, sample_weight=weights)
    Phi, t, variances = (np.repeat(each, counts, axis=0) for each in (Phi, t, variances))
    J = Phi[:, result.active]
    expected = log_density(t, np.diag(variances) + (J / result.alpha) @ J.T, center)
    assert result.log_evidence == pytest.approx(expected, rel=1e-9)
    assert result.evidence_path[-1] == result.objective == pytest.approx(expected, rel=1e-9)
    assert result.certificate.is_local_maximum


@centred
def test_weights_and_their_covariance_are_those_of_generalised_least_squares(center):
    Phi, t, variances = data(1)
    result = fit(Phi, t, likelihood=Gaussian(variance=variances), fit_intercept=center)
    J, A = Phi[:, result.active], np.diag(np.append(result.alpha, np.zeros(int(center))))
    X = np.column_stack([J, np.ones(len(t))]) if center else J
    Sigma = np.linalg.inv(A + (X.T / variances) @ X)
    mean = Sigma @ (X.T @ (t / variances))
    S = len(result.active)
    np.testing.assert_allclose(result.mean, mean[:S], rtol=1e-9)
    np.testing.assert_allclose(result.covariance, Sigma[:S, :S], rtol=1e-9)
    if center:
        assert result.intercept[0] == pytest.approx(mean[-1], rel=1e-9)
    # the standard deviation of f, without noise
    queries = np.random.default_rng(2).standard_normal((5, Phi.shape[1]))
    at = np.column_stack([queries[:, result.active], np.ones(5)]) if center else queries[:, result.active]
    ours = result.predict(queries, return_std=True)
    np.testing.assert_allclose(ours[0], at @ mean, rtol=1e-9)
    np.testing.assert_allclose(ours[1], np.sqrt(np.einsum("ij,jk,ik->i", at, Sigma, at)), rtol=1e-9)


@centred
@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_equal_variances_are_one_noise_variance(center, prior):
    Phi, t, _ = data(2)
    same = {"prior": prior, "fit_intercept": center}
    each, one = (
        fit(Phi, t, likelihood=Gaussian(variance=np.full(len(t), 0.3)), **same),
        fit(Phi, t, noise_variance=0.3, **same),
    )
    np.testing.assert_array_equal(each.active, one.active)
    np.testing.assert_allclose(each.mean, one.mean, rtol=1e-9)
    np.testing.assert_allclose(each.covariance, one.covariance, rtol=1e-9)
    np.testing.assert_allclose(each.evidence_path, one.evidence_path, rtol=1e-9)
    np.testing.assert_allclose(each.f_variance(Phi[:, each.active]), one.f_variance(Phi[:, one.active]), rtol=1e-9)
    assert (each.noise_variance, one.noise_variance) == (0.0, 0.3)


@pytest.mark.parametrize("solver", ["greedy", "sequential", "mackay"])
def test_all_solvers_find_the_same_evidence(solver):
    Phi, t, variances = data(3)
    found = fit(Phi, t, likelihood=Gaussian(variance=variances), prior="bic", solver=solver)
    assert found.log_evidence == pytest.approx(
        fit(Phi, t, likelihood=Gaussian(variance=variances), prior="bic").log_evidence
    )


def test_a_callback_is_shown_the_evidence_of_the_rows():
    Phi, t, variances = data(4)
    seen = []
    result = fit(
        Phi, t, likelihood=Gaussian(variance=variances), effort="fast", callback=lambda p: seen.append(p.objective)
    )
    np.testing.assert_array_equal(seen, result.evidence_path[:-1])


@pytest.mark.parametrize("scale", [1e-120, 1e-8, 1e8, 1e120])
def test_units_do_not_matter(scale):
    Phi, t, variances = data(5)
    one, other = (fit(Phi, t * s, likelihood=Gaussian(variance=variances * s * s)) for s in (1.0, math.sqrt(scale)))
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_allclose(other.mean, one.mean * math.sqrt(scale), rtol=1e-6)
    assert other.log_evidence == pytest.approx(one.log_evidence - 0.5 * len(t) * math.log(scale), rel=1e-6)


@pytest.mark.slow
def test_standard_errors_have_the_right_size():
    """z-scores of weights over many draws; 1/variance as sample_weight makes them several times too large."""
    rng, truth, z, wrong = np.random.default_rng(0), np.asarray([2.0, -1.0, 3.0]), [], []
    for _ in range(150):
        X, variances = rng.standard_normal((50, 3)), 10 ** rng.uniform(-3, 1, 50)
        y = X @ truth + 4 + np.sqrt(variances) * rng.standard_normal(50)
        for model, found in (
            (SparseBayesRegressor().fit(X, y, noise_variance=variances), z),
            (SparseBayesRegressor().fit(X, y, sample_weight=1 / variances), wrong),
        ):
            found.append((model.active_coef_ - truth) / np.sqrt(np.diagonal(model.covariance_)))
    assert np.sqrt(np.mean(np.square(z))) == pytest.approx(1, abs=0.1)
    assert np.sqrt(np.mean(np.square(wrong))) > 2


@pytest.mark.parametrize("gamma", [0.5, "evidence", "ard"])
@pytest.mark.parametrize("variance", ["auto", "augmented", "gp"])
def test_kernels(gamma, variance):
    if variance == "gp" and gamma == 0.5:
        return
    rng = np.random.default_rng(6)
    X, variances = rng.uniform(-4, 4, (80, 1)), np.where(np.arange(80) % 2, 1e-4, 1.0)
    f = np.sin(X[:, 0])
    y = f + np.sqrt(variances) * rng.standard_normal(80)
    model = RelevanceVectorRegressor(gamma=gamma, variance=variance).fit(X, y, noise_variance=variances)
    training, X, f = X, X[abs(X[:, 0]) < 3], f[abs(X[:, 0]) < 3]
    mean, std = model.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - f) ** 2)) < 0.01
    assert np.all(std < 0.2)
    # Bars of f alone, of four to eight functions: neighbouring points err together, and functions that were not
    # selected count as absent. Coverage by 2.5 deviations is 78 to 100 % over draws, as with one noise variance.
    assert np.mean(np.abs(mean - f) < 2.5 * std) > 0.7
    if variance == "auto":
        basis = model._fitted.basis
        Phi, at = (np.column_stack([basis(rows), np.ones(len(rows))]) for rows in (training, X))
        Sigma = np.linalg.inv(np.diag(np.append(model.alpha_, 0)) + (Phi.T / variances) @ Phi)
        np.testing.assert_allclose(mean, at @ (Sigma @ (Phi.T @ (y / variances))), atol=1e-9)
        np.testing.assert_allclose(std, np.sqrt(np.einsum("ij,jk,ik->i", at, Sigma, at)), rtol=1e-7)
    np.testing.assert_array_equal(model.noise_variance_, variances)
    assert model.noise_shape_ == 2
    assert model.excess_variance_ == 0


def test_scale_learning_equals_one_noise_variance():
    rng = np.random.default_rng(7)
    X = rng.uniform(-4, 4, (60, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    each = RelevanceVectorRegressor(gamma="ard").fit(X, y, noise_variance=np.full(60, 0.01))
    one = RelevanceVectorRegressor(gamma="ard", noise_variance=0.01).fit(X, y)
    np.testing.assert_allclose(each.scales_, one.scales_, rtol=1e-4)
    assert each.log_evidence_ == pytest.approx(one.log_evidence_, abs=1e-4)


def test_rows_of_weight_zero_do_not_count():
    Phi, t, variances = data(8)
    kept = np.arange(len(t)) % 3 > 0
    for model in (SparseBayesRegressor(), RelevanceVectorRegressor(gamma=0.1)):
        some = model.fit(Phi, t, kept.astype(float), noise_variance=variances)
        evidence, mean = some.log_evidence_, some.predict(Phi)
        fewer = model.fit(Phi[kept], t[kept], noise_variance=variances[kept])
        assert evidence == pytest.approx(fewer.log_evidence_, rel=1e-9)
        np.testing.assert_allclose(mean, fewer.predict(Phi), rtol=1e-6)


@centred
def test_constant_targets(center):
    Phi, _, variances = data(9)
    y = np.full(40, 2.5 * center)
    with pytest.warns(UserWarning, match="y is constant"):
        result = fit(Phi, y, likelihood=Gaussian(variance=variances), fit_intercept=center)
    assert result.log_evidence == pytest.approx(log_density(y, np.diag(variances), center), rel=1e-12)
    spread = 1 / math.sqrt(np.sum(1 / variances)) if center else 0.0
    np.testing.assert_allclose(result.predict(Phi, return_std=True)[1], spread, rtol=1e-12)


def test_a_large_kernel():
    rng = np.random.default_rng(0)
    X, variances = rng.uniform(-6, 6, (1700, 1)), np.where(np.arange(1700) % 2, 1e-3, 1.0)
    y = np.sin(X[:, 0]) + np.sqrt(variances) * rng.standard_normal(1700)
    model = RelevanceVectorRegressor(gamma=0.5).fit(X, y, noise_variance=variances)
    J = np.exp(-0.5 * (X - model.relevance_vectors_.T) ** 2)
    expected = log_density(y, np.diag(variances) + (J / model.alpha_) @ J.T, True)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-8)


def test_the_likelihood_of_the_training_rows_is_that_of_gaussian_noise():
    rng = np.random.default_rng(0)
    y, f, variance = rng.standard_normal((5, 1)), rng.standard_normal((5, 1)), rng.uniform(1, 2, 5)
    known, one = KnownNoise(np.full(5, 0.25), np.ones(5)), GaussianNoise(4.0)
    np.testing.assert_allclose(known.log_prob(y, f), one.log_prob(y, f))
    np.testing.assert_allclose(known.gradient(y, f), one.gradient(y, f))
    np.testing.assert_allclose(known.curvature_factors(y, f)[0], one.curvature_factors(y, f)[0])
    ours, theirs = (each.log_predictive(y[:, 0], f[:, 0], variance) for each in (known, one))
    np.testing.assert_allclose(ours, theirs)


BAD = {
    "number": (0.3, {}, r"^noise_variance of fit must have one value per row, .* got 0\.3; one σ² for all rows is"),
    "length": (np.ones(3), {}, r"^noise_variance of fit must have one value per row of X: X has 40 rows, but"),
    "zero": (np.arange(40.0)[::-1], {}, r"^noise_variance of fit must hold variances > 0, got 0 in row 39\.$"),
    "NaN": (np.full(40, np.nan), {}, r"^noise_variance of fit contains (NaN|infinity) in row 0"),
    "twice": (np.ones(40), {"noise_variance": 1.0}, r"^noise_variance was given twice: as a parameter"),
    "shape": (np.ones(40), {"likelihood": GeneralizedNormal(4.0)}, r"^noise_variance of fit needs Gaussian noise"),
    "parameter": (
        None,
        {"likelihood": Gaussian(variance=np.ones(40))},
        r"^variance of likelihood=Gaussian\(…\) is for",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("estimator", [SparseBayesRegressor, RelevanceVectorRegressor])
def test_bad_arguments(estimator, case):
    variances, parameters, message = BAD[case]
    Phi, t, _ = data()
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(Phi, t, noise_variance=variances)


def test_bad_arguments_of_the_function():
    Phi, t, variances = data()
    with pytest.raises(ValueError, match=r"^noise_variance must be None if every row has a noise variance of its own"):
        fit(Phi, t, likelihood=Gaussian(variance=variances), noise_variance=1.0)
    with pytest.raises(ValueError, match=r"^variance of Gaussian must have one value per row"):
        fit(Phi, t, likelihood=Gaussian(variance=variances[:4]))
    with pytest.raises(ValueError, match=r"^variance of Gaussian must be None if Phi gives chunks: give Phi as one"):
        fit([(Phi, t)], likelihood=Gaussian(variance=variances))
    with pytest.raises(ValueError, match=r"^noise_variance of fit must be None if X gives chunks: give X as one"):
        SparseBayesRegressor().fit([(Phi, t)], noise_variance=variances)


@centred
@pytest.mark.parametrize("memory", [2e-3, 4e-4], ids=["triangle", "passes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_on_disk_equal_rows_in_memory(center, memory, weighted):
    Phi, t, variances = data(10, N=60)
    counts = np.random.default_rng(1).integers(0, 4, 60) if weighted else None
    options = {"likelihood": Gaussian(variance=variances), "sample_weight": counts, "fit_intercept": center}
    model = SparseBayesRegressor(fit_intercept=center)
    whole, fitted = fit(Phi, t, **options), clone(model).fit(Phi, t, counts, noise_variance=variances)
    with sklearn.config_context(working_memory=memory):
        read, streamed = fit(Dataset(Phi), t, **options), model.fit(Dataset(Phi), t, counts, noise_variance=variances)
    np.testing.assert_array_equal(read.active, whole.active)
    np.testing.assert_allclose(read.mean, whole.mean, rtol=1e-6)
    np.testing.assert_allclose(read.covariance, whole.covariance, rtol=1e-5)
    assert read.log_evidence == pytest.approx(whole.log_evidence, rel=1e-9)
    assert read.evidence_path[-1] == read.objective == pytest.approx(whole.objective, rel=1e-9)
    assert streamed.log_evidence_ == pytest.approx(fitted.log_evidence_, rel=1e-9)
    np.testing.assert_allclose(streamed.coef_, fitted.coef_, rtol=1e-6)
    for ours, theirs in zip(streamed.predict(Phi, True), fitted.predict(Phi, True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_bad_noise_of_rows_on_disk():
    Phi, t, variances = data()
    with sklearn.config_context(working_memory=1e-3):
        with pytest.raises(ValueError, match=r"^noise_variance of fit must have one value per row of X: X has 40"):
            SparseBayesRegressor().fit(Dataset(Phi), t, noise_variance=variances[:5])
        with pytest.raises(ValueError, match=r"^noise_variance was given twice"):
            SparseBayesRegressor(noise_variance=1.0).fit(Dataset(Phi), t, noise_variance=variances)
        with pytest.raises(ValueError, match=r"^noise_variance must be None if every row has a noise variance"):
            fit(Dataset(Phi), t, likelihood=Gaussian(variance=variances), noise_variance=1.0)
        with pytest.raises(ValueError, match=r"^sample_weight is zero for every row"):
            SparseBayesRegressor().fit(Dataset(Phi), t, np.zeros(40), noise_variance=variances)
