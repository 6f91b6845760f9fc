"""The Gaussian nearest to the posterior, against quadrature of the posterior itself."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from sparsebayes import Bernoulli, RelevanceVectorClassifier, SparseBayesClassifier, fit
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.prior import Uniform
from sparsebayes.laplace import LaplacePath
from sparsebayes.laplace.averaging import NearestGaussian, expectations, inverse_of
from sparsebayes.laplace.settings import LAPLACE
from sparsebayes.solvers.monitor import FitMonitor


@pytest.mark.parametrize(("m", "v"), [(0.3, 0.5), (-4.0, 9.0), (-12.0, 100.0), (2.0, 1000.0), (1.0, 0.0)])
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_expectations_are_integrals(m, v, y):
    found = expectations(np.asarray([y]), np.asarray([m]), np.asarray([v]))
    width = np.sqrt(v)

    def integral(of):
        if not v:
            return of(m)
        places = np.clip(-m / width + np.asarray([-4, 0, 4]) / width, -9, 9)  # where p turns
        return quad(lambda z: of(m + width * z) * norm.pdf(z), -10, 10, points=places, limit=400)[0]

    np.testing.assert_allclose(found.p[0], integral(expit), atol=2e-6)
    np.testing.assert_allclose(found.slope[0], integral(lambda f: expit(f) * expit(-f)), atol=2e-5)
    expected = integral(lambda f: -np.logaddexp(0.0, -(2 * y - 1) * f))
    np.testing.assert_allclose(found.log_prob[0], expected, rtol=1e-5, atol=2e-5)


def problem(seed, n=60, shift=0.0, weights=False):
    rng = np.random.default_rng(seed)
    Phi = np.column_stack([rng.standard_normal((n, 2)), np.ones(n)])
    y = (rng.random(n) < expit(Phi @ [1.5, -1.0, shift])).astype(float)
    counts = rng.integers(1, 4, n).astype(float) if weights else np.ones(n)
    return NearestGaussian(Phi, y, counts, np.asarray([0.5, 0.1, 0.0]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shift", [0.0, -2.5])
@pytest.mark.parametrize("weights", [False, True])
def test_its_equations_hold(seed, shift, weights):
    search = problem(seed, shift=shift, weights=weights)
    mean, found = search.run(np.zeros(3))
    V = inverse_of(found)
    np.testing.assert_allclose(V @ found, np.eye(3), atol=1e-9)
    v = np.einsum("ij,jk,ik->i", search.Phi, V, search.Phi)
    at = expectations(search.y, search.Phi @ mean, v)
    slope = search.Phi.T @ (search.counts * (search.y - at.p)) - search.alpha * mean
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    precision = np.diag(search.alpha) + search.Phi.T @ ((search.counts * at.slope)[:, None] * search.Phi)
    np.testing.assert_allclose(found, precision, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("width", [17.0, 3e3, 1e7])
@pytest.mark.parametrize("share", [-7.5, -1.0, 0.0, 0.3, 5.0, 8.5])
def test_expectations_where_f_varies_by_much_more_than_a_sigmoid_is_wide(width, share):
    """By parts: E σ(f) = E Φ((m − L)/s) and E log σ(f) = −E (L − f)₊ with L of the logistic distribution."""
    L = np.linspace(-45.0, 45.0, 20001)
    density, t = expit(L) * expit(-L) * (L[1] - L[0]), L / width - share
    at = expectations(np.ones(1), np.asarray([share * width]), np.asarray([width**2]))
    np.testing.assert_allclose(at.p[0], density @ norm.cdf(-t), atol=1e-13)
    np.testing.assert_allclose(at.slope[0], density @ norm.pdf(t) / width, rtol=1e-6, atol=1e-16)
    expected = -width * density @ (t * norm.cdf(t) + norm.pdf(t))
    np.testing.assert_allclose(at.log_prob[0], expected, rtol=1e-6, atol=1e-13 * width)


@pytest.mark.parametrize("seed", [0, 9, 15, 21])
def test_the_equations_hold_where_the_posterior_is_wide(seed):
    rng, x = np.random.default_rng(seed), np.linspace(-3, 3, 80)
    Phi = np.column_stack([np.exp(-2 * (x[:, None] - np.linspace(-3, 3, 7)) ** 2), np.ones(80)])
    y = (np.sin(2 * x + seed) + (seed % 3) * 0.3 * rng.standard_normal(80) > (seed % 4) * 0.2).astype(float)
    alpha = np.append(10.0 ** rng.uniform(-10, -5, 7), 0.0)
    mean, found = NearestGaussian(Phi, y, np.ones(80), alpha).run(np.zeros(8))
    v = np.einsum("ij,jk,ik->i", Phi, inverse_of(found), Phi)
    assert v.max() > 1e4
    at = expectations(y, Phi @ mean, v)
    precision, size = np.diag(alpha) + Phi.T @ (at.slope[:, None] * Phi), np.sqrt(found.diagonal())
    np.testing.assert_allclose(precision / np.outer(size, size), found / np.outer(size, size), atol=1e-3)


def exact_average(Phi, y, alpha, at):
    """E p at rows `at` under the posterior of (w, b), b with a flat prior, by a grid."""
    w, b = np.meshgrid(np.linspace(-25, 60, 801), np.linspace(-60, 20, 801), indexing="ij")
    log = -0.5 * alpha * w**2
    for phi, label in zip(Phi, y, strict=True):
        log -= np.logaddexp(0.0, -(2 * label - 1) * (phi * w + b))
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    return np.asarray([float(np.sum(weight * expit(phi * w + b))) for phi in at])


def test_averages_are_those_of_the_exact_posterior_where_those_of_laplace_are_not():
    rng = np.random.default_rng(0)
    phi = np.sort(np.exp(-0.5 * rng.standard_normal(80) ** 2))
    y = np.zeros(80)
    y[-2:] = 1  # rare, and separable
    alpha = 0.01
    exact = exact_average(phi, y, alpha, phi)
    np.testing.assert_allclose(exact.mean(), y.mean(), rtol=0.02)  # the identity, to the accuracy of the grid
    Phi = np.column_stack([phi, np.ones(80)])
    mean, precision = NearestGaussian(Phi, y, np.ones(80), np.asarray([alpha, 0.0])).run(np.asarray([0.0, -3.0]))
    V = inverse_of(precision)
    v = np.einsum("ij,jk,ik->i", Phi, V, Phi)
    ours = expectations(y, Phi @ mean, v).p
    mode = problem_mode(Phi, y, np.asarray([alpha, 0.0]))
    p = expit(Phi @ mode)
    H = Phi.T @ ((p * (1 - p))[:, None] * Phi) + np.diag([alpha, 0.0])
    laplace = expectations(y, Phi @ mode, np.einsum("ij,ji->i", Phi, np.linalg.solve(H, Phi.T))).p
    assert np.abs(ours - exact).max() < 0.35 * np.abs(laplace - exact).max()
    assert abs(ours.mean() / exact.mean() - 1) < 0.03
    assert laplace.mean() / exact.mean() > 1.5


def problem_mode(Phi, y, alpha):
    w = np.asarray([0.0, -3.0])
    for _ in range(200):
        p = expit(Phi @ w)
        H = Phi.T @ ((p * (1 - p))[:, None] * Phi) + np.diag(alpha)
        step = np.linalg.solve(H, Phi.T @ (y - p) - alpha * w)
        w = w + step * min(1.0, 2.0 / np.abs(step).max())
    return w


@pytest.mark.parametrize("model", [RelevanceVectorClassifier(gamma=0.5), SparseBayesClassifier()])
@pytest.mark.parametrize("flipped", [False, True])
def test_mean_probability_of_a_rare_class_is_its_share(model, flipped):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1500, 2))
    y = np.zeros(1500, int)
    y[:4] = 1
    X[:4] += 1.5
    labels = 1 - y if flipped else y
    p = model.fit(X, labels).predict_proba(X)[:, 0 if flipped else 1]
    np.testing.assert_allclose(p.mean(), 4 / 1500, rtol=1e-3)
    assert p[:4].mean() > 10 * p.mean()


@pytest.mark.parametrize("intercept", [True, False])
def test_result_has_the_gaussian_in_the_units_of_the_data(intercept):
    rng = np.random.default_rng(1)
    Phi = rng.standard_normal((100, 3)) * [1.0, 30.0, 0.2] + [0.0, 5.0, 1.0]
    y = (Phi[:, 0] + Phi[:, 1] / 30 + rng.standard_normal(100) > 0).astype(int)
    result = fit(Phi, y, likelihood=Bernoulli(), fit_intercept=intercept)
    columns = Phi[:, result.active]
    every = np.column_stack([columns, np.ones(100)]) if intercept else columns
    alpha = np.append(result.alpha, 0.0) if intercept else result.alpha
    mean, precision = NearestGaussian(every, y.astype(float), np.ones(100), alpha).run(np.zeros(len(alpha)))
    V = inverse_of(precision)
    expected = expectations(y.astype(float), every @ mean, np.einsum("ij,jk,ik->i", every, V, every)).p
    np.testing.assert_allclose(result.probabilities(columns)[:, 1], expected, atol=2e-4)
    assert result.averaged.active is result.active


def test_a_large_model_keeps_the_gaussian_of_laplace():
    rng = np.random.default_rng(1)
    Phi, y = DenseOperator(rng.standard_normal((50, 2))), np.arange(50) % 2
    for work, there in ((0.0, False), (1e6, True)):
        path = LaplacePath(Phi, y, None, True, Bernoulli(), replace(LAPLACE, averaging_work=work))
        assert (path.fit(Uniform(), path.default_solver, FitMonitor()).averaged is not None) == there
