"""Intervals, samples of targets, and predictions by some parts of a concatenation."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    DCT,
    RBF,
    Columns,
    GeneralizedNormal,
    LaplaceLikelihood,
    MultiScale,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    Spike,
    Wavelet,
)
from sparsebayes.datasets import make_sinc
from sparsebayes.estimators._predictions import GaussianPredictive, GeneralizedPredictive


def _sinc(n=80, **options):
    X, y, _ = make_sinc(n, random_state=0)
    return X, y, RelevanceVectorRegressor(gamma=0.1, **options).fit(X, y)


def _table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = 2 * X[:, 1] + 1 + 0.3 * rng.standard_normal(60)
    return X, y, SparseBayesRegressor().fit(X, y)


def _uniform_noise(shape=6.0):
    rng = np.random.default_rng(3)
    X = rng.uniform(-5, 5, (200, 1))
    y = np.sin(X[:, 0]) + rng.uniform(-1, 1, 200)
    return X, y, RelevanceVectorRegressor(gamma=0.1, likelihood=GeneralizedNormal(shape)).fit(X, y)


def _outliers():
    rng = np.random.default_rng(0)
    n = 128
    X = np.arange(float(n))[:, None]
    y = np.where(np.arange(n) < 64, 1.0, -1.0) + 0.1 * rng.standard_normal(n)
    y[[20, 90]] += [5.0, -6.0]
    kernel = Wavelet("haar", level=7) + DCT() + Spike()
    return X, y, RelevanceVectorRegressor(kernel, prior="ric").fit(X, y)


# intervals


@pytest.mark.parametrize("make", [_sinc, _table])
@pytest.mark.parametrize("level", [1e-6, 0.5, 0.95, 0.999])
def test_interval_of_gaussian_noise(make, level):
    X, _, model = make()
    mean, std = model.predict(X, return_std=True)
    lower, upper = model.predict_interval(X, level)
    for bound, probability in ((lower, 0.5 * (1 - level)), (upper, 0.5 * (1 + level))):
        assert_allclose(norm(mean, std).cdf(bound), probability, rtol=1e-9)


@pytest.mark.parametrize("make", [_sinc, _table, _uniform_noise])
def test_interval_covers_the_targets(make):
    X, y, model = make()
    lower, upper = model.predict_interval(X)
    assert lower.shape == upper.shape == y.shape
    assert 0.9 <= np.mean((lower < y) & (y < upper)) <= 1.0


@pytest.mark.parametrize("shape", [2.5, 6.0])
@pytest.mark.parametrize("level", [0.2, 0.95, 0.999])
def test_interval_of_generalized_normal_noise_has_its_probability(shape, level):
    """Against the integral of the log predictive density, from near the data to far where f is uncertain."""
    _, _, model = _uniform_noise(shape)
    queries = np.linspace(-9, 9, 7)[:, None]
    lower, upper = model.predict_interval(queries, level)
    mean, std = model.predict(queries, return_std=True)
    assert_allclose(upper + lower, 2 * mean, atol=1e-12)
    noise = model._fitted.result.likelihood
    for row in range(len(queries)):
        grid = np.linspace(lower[row], upper[row], 4001)
        variance = np.full(4001, std[row] ** 2 - model.noise_variance_)
        density = np.exp(noise.log_predictive(grid, np.full(4001, mean[row]), variance))
        assert np.trapezoid(density, grid) == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 1e-20, 1e-6, 0.3, 0.7, 1 - 1e-9])
def test_quantiles_at_extreme_shares_of_the_noise(share):
    near_gaussian = GeneralizedPredictive(GeneralizedNormal.of_variance(2.0 + 1e-9, 1.0 - share))
    gaussian = GaussianPredictive(1.0 - share)
    for level in (1e-9, 0.1, 0.95, 1 - 1e-9):
        widths = [each.half_widths(level, np.array([share])) for each in (near_gaussian, gaussian)]
        assert_allclose(*widths, rtol=1e-6, atol=1e-9)


def test_an_interval_is_the_same_at_every_call():
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, (40, 1))
    model = RelevanceVectorRegressor(likelihood=GeneralizedNormal(8.0)).fit(X, np.sin(X[:, 0]) + rng.uniform(-1, 1, 40))
    first, second = (model.predict_interval(X, 0.8) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_noise_with_bounds_has_a_narrower_interval_than_gaussian_noise():
    X, _, model = _uniform_noise()
    _, std = model.predict(X, return_std=True)
    lower, upper = model.predict_interval(X)
    assert np.all(upper - lower < 2 * 1.95 * std)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan"), "0.95", True, None, [0.5]])
def test_wrong_level(level):
    X, _, model = _table()
    with pytest.raises(ValueError, match=r"level must be a number between 0 and 1, such as 0\.95, got"):
        model.predict_interval(X, level)


@dataclass
class Poisson(LaplaceLikelihood):
    """Counts with mean exp(f)."""

    def log_prob(self, y, f):
        return (y * f - np.exp(f))[:, 0]

    def gradient(self, y, f):
        return y - np.exp(f)

    def curvature_factors(self, y, f):
        return np.exp(f), None

    def start(self, y, counts):
        return np.log((counts @ y) / counts.sum())


def test_likelihood_without_a_known_predictive_distribution():
    X = np.linspace(-2, 2, 80)[:, None]
    y = np.random.default_rng(0).poisson(np.exp(1 + np.sin(2 * X[:, 0]))).astype(float)
    model = RelevanceVectorRegressor(gamma=1.0, likelihood=Poisson()).fit(X, y)
    for method in (model.predict_interval, model.sample_y):
        with pytest.raises(ValueError, match=r"got likelihood=Poisson\(\): .* use predict\."):
            method(X)


# samples


@pytest.mark.parametrize("make", [_sinc, _table, _uniform_noise])
def test_samples_have_the_predictive_mean_and_covariance(make):
    X, _, model = make()
    queries = X[:6] * 1.5
    mean, cov = model.predict(queries, return_cov=True)
    samples = model.sample_y(queries, 200_000, random_state=0)
    assert samples.shape == (6, 200_000)
    std = np.sqrt(np.diag(cov))
    assert_allclose(samples.mean(axis=1), mean, atol=0.02 * std.max())
    assert_allclose(np.cov(samples), cov, atol=0.02 * std.max() ** 2)


def test_samples_of_bounded_noise_are_bounded():
    X, _, model = _uniform_noise(8.0)
    errors = model.sample_y(X, 500, random_state=1) - model.predict(X)[:, None]
    assert abs(errors).max() < 4.0 * np.sqrt(model.noise_variance_)
    assert errors.std() == pytest.approx(model.predict(X, return_std=True)[1].mean(), rel=0.02)


@pytest.mark.parametrize("variance", ["auto", "posterior", "gp"])
def test_samples_with_learned_scales(variance):
    X, y, _ = make_sinc(60, random_state=1)
    model = RelevanceVectorRegressor(gamma="evidence", variance=variance).fit(X, y)
    queries = np.array([[-14.0], [0.0], [0.1], [3.0]])
    _, cov = model.predict(queries, return_cov=True)
    assert_allclose(np.cov(model.sample_y(queries, 200_000, random_state=0)), cov, atol=0.02 * cov.max())


def test_samples_if_the_covariance_is_singular():
    """More queries than functions, repeated queries and hardly any noise."""
    X = np.linspace(0, 1, 50)[:, None]
    y = 3 * X[:, 0] + 1e-7 * np.random.default_rng(0).standard_normal(50)
    model = RelevanceVectorRegressor(Columns(), noise_variance=1e-14).fit(X, y)
    queries = np.concatenate([X, X, X])
    samples = model.sample_y(queries, 3, random_state=0)
    assert np.isfinite(samples).all()
    assert_allclose(samples, np.tile(model.predict(queries)[:, None], 3), atol=1e-6)


def test_samples_of_a_closed_form_whose_covariance_is_diagonal():
    X = np.arange(64.0)[:, None]
    y = np.where(X[:, 0] < 32, 1.0, -1.0) + 0.1 * np.random.default_rng(0).standard_normal(64)
    model = RelevanceVectorRegressor(Wavelet("haar"), prior="bic", fit_intercept=False).fit(X, y)
    samples = model.sample_y(X, 20_000, random_state=0)
    _, cov = model.predict(X, return_cov=True)
    assert_allclose(np.cov(samples), cov, atol=0.06 * cov.max())


def test_samples_of_sparse_rows():
    X, _, model = _table()
    sparse, dense = (model.sample_y(rows, 2, random_state=0) for rows in (scipy.sparse.csr_array(X), X))
    assert_allclose(sparse, dense, rtol=1e-12)  # sums of products in another order


def test_seeds_of_samples():
    X, _, model = _sinc()
    assert model.sample_y(X).shape == (80, 1)
    assert_array_equal(model.sample_y(X, 4, random_state=5), model.sample_y(X, 4, random_state=5))
    assert not np.array_equal(model.sample_y(X, 4), model.sample_y(X, 4))


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "3", None])
def test_wrong_number_of_samples(n_samples):
    X, _, model = _table()
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1"):
        model.sample_y(X, n_samples)


def test_samples_with_augmented_variance():
    X, _, model = _sinc(variance="augmented")
    with pytest.raises(ValueError, match="sample_y has no meaning with variance='augmented'"):
        model.sample_y(X)
    lower, upper = model.predict_interval([[100.0]])
    assert upper - lower > 4 * np.sqrt(model.noise_variance_)


@pytest.mark.parametrize("method", ["predict_interval", "sample_y"])
@pytest.mark.parametrize("estimator", [RelevanceVectorRegressor, SparseBayesRegressor])
def test_before_a_fit(method, estimator):
    with pytest.raises(NotFittedError):
        getattr(estimator(), method)(np.zeros((3, 1)))


# parts


def test_outliers_do_not_reach_other_points():
    X, _, model = _outliers()
    near = np.array([[20.3], [89.8]])
    assert_allclose(model.predict(near), [6.0, -7.0], atol=0.5)  # the spike of the nearest sample
    assert_allclose(model.predict(near, parts=[0, 1]), [1.0, -1.0], atol=0.2)
    assert_allclose(model.predict(X, parts=[0, 1, 2]), model.predict(X), atol=1e-10)


def test_parts_are_the_components_and_the_intercept():
    X, _, model = _outliers()
    for k, component in enumerate(model.components_):
        assert_allclose(model.predict(X, parts=[k]), component + model.intercept_, atol=1e-10)
    assert_allclose(
        model.predict(X, parts=[0, 2]), model.components_[[0, 2]].sum(axis=0) + model.intercept_, atol=1e-10
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_variance_of_parts(fit_intercept):
    """By the joint posterior of the weights and the intercept, from sixty thousand draws of them."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (70, 1))
    y = np.sin(X[:, 0]) + 2 * X[:, 0] + 3 + 0.1 * rng.standard_normal(70)
    kernel = RBF(gamma=0.5) + Columns(degree=2)
    model = RelevanceVectorRegressor(kernel, prior="bic", fit_intercept=fit_intercept).fit(X, y)
    result, basis = model._fitted.result, model._fitted.basis
    assert min(part.n_functions for part in basis.parts) > 0
    weights = rng.multivariate_normal(result.mean, result.covariance, 60_000)
    intercept = result.intercept[0] - (weights - result.mean) @ result.centre[0]
    intercept += np.sqrt(result.intercept_covariance[0, 0]) * rng.standard_normal(60_000)
    queries = np.array([[-2.0], [0.5], [4.0]])
    columns = basis(queries)
    kept = np.arange(columns.shape[1]) < basis.parts[0].n_functions
    f = weights[:, kept] @ columns[:, kept].T + intercept[:, None]
    mean, std = model.predict(queries, return_std=True, parts=[0])
    assert_allclose(mean, f.mean(axis=0), atol=0.02)
    assert_allclose(std**2, f.var(axis=0) + model.noise_variance_, rtol=0.02)
    _, cov = model.predict(queries, return_cov=True, parts=[0])
    assert_allclose(np.diag(cov), std**2)
    lower, upper = model.predict_interval(queries, parts=[0])
    assert_allclose(upper - lower, 2 * norm.ppf(0.975) * std)
    samples = model.sample_y(queries, 60_000, random_state=0, parts=[0])
    assert_allclose(np.cov(samples), cov, atol=0.03 * cov.max())


def test_a_part_by_number_name_object_or_an_equal_object():
    X, y, model = _outliers()
    expected = model.predict(X, parts=[0])
    for part in (np.int64(0), "part0", model.kernel.parts[0], Wavelet("haar", level=7)):
        assert_array_equal(model.predict(X, parts=[part]), expected)
    copy = clone(model).fit(X, y)
    assert_array_equal(copy.predict(X, parts=(model.kernel.parts[0],)), expected)


def test_part_without_functions_has_the_intercept_alone():
    X, y, _ = make_sinc(60, random_state=0)
    model = RelevanceVectorRegressor(RBF(gamma=0.1) + Spike(), prior="ric", effort="fast").fit(X, y)
    assert model._fitted.basis.parts[1].n_functions == 0
    mean, std = model.predict(X, return_std=True, parts=["part1"])
    assert_allclose(mean, model.intercept_)
    assert np.all(std > 0.99 * np.sqrt(model.noise_variance_))


def test_parts_of_scales_and_in_a_pipeline():
    X, y, _ = make_sinc(60, random_state=0)
    model = RelevanceVectorRegressor(MultiScale(RBF(), [2.0, 8.0])).fit(X, y)
    assert_allclose(model.predict(X, parts=[0]), model.components_[0] + model.intercept_)
    pipeline = make_pipeline(StandardScaler(), RelevanceVectorRegressor(RBF() + Columns())).fit(X, y)
    final = pipeline[-1]
    assert_allclose(pipeline.predict(X, parts=[1]), final.components_[1] + final.intercept_)


@pytest.mark.parametrize("parts", [3, "part0", [], {0}, np.array([0])])
def test_parts_that_are_no_list(parts):
    X, _, model = _outliers()
    with pytest.raises(ValueError, match="parts must be a non-empty list of parts of the kernel, got"):
        model.predict(X, parts=parts)


@pytest.mark.parametrize("part", [3, -1, True, 0.0, "Spike", "part3", RBF(), Wavelet("haar"), None])
def test_unknown_part(part):
    X, _, model = _outliers()
    with pytest.raises(ValueError, match=r"numbers from 0 to 2, names .* or one of \[Wavelet.* which is none of them"):
        model.predict(X, parts=[part])


def test_ambiguous_part():
    X, y, _ = make_sinc(40, random_state=0)
    model = RelevanceVectorRegressor(RBF(gamma=0.1) + RBF(gamma=0.1)).fit(X, y)
    with pytest.raises(ValueError, match="which fits several of them"):
        model.predict(X, parts=[RBF(gamma=0.1)])
    model.predict(X, parts=[model.kernel.parts[1]])


def test_models_without_parts():
    X, _, model = _sinc()
    with pytest.raises(ValueError, match=r"parts needs a kernel of several parts, .* got kernel='rbf'"):
        model.predict(X, parts=[0])
    X, _, model = _table()
    with pytest.raises(ValueError, match=r"parts needs a kernel of several parts, .* got SparseBayesRegressor"):
        model.predict_interval(X, parts=[0])


def test_error_bars_that_have_no_parts():
    X, y, _ = make_sinc(50, random_state=0)
    model = RelevanceVectorRegressor(RBF() + Columns(), gamma="evidence", variance="gp").fit(X, y)
    model.predict(X, parts=[0])
    with pytest.raises(ValueError, match="parts has no error bars with variance='gp'"):
        model.predict(X, return_std=True, parts=[0])
