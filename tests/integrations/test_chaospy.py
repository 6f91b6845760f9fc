"""Polynomial chaos with chaospy."""

import numpy as np
import pytest

chaospy = pytest.importorskip("chaospy", reason="chaospy is not installed", exc_type=ImportError)

from sparsebayes import SparseBayesRegressor  # noqa: E402
from sparsebayes.integrations.chaospy import fit_expansion  # noqa: E402

INPUTS = chaospy.Iid(chaospy.Uniform(-1, 1), 3)
TERMS, NORMS = chaospy.generate_expansion(5, INPUTS, retall=True)


def run(x, noise=0.0, seed=0):
    y = 1 + x[0] + 2 * x[1] * x[2]
    return y + noise * np.random.default_rng(seed).standard_normal(len(y))


@pytest.fixture(scope="module")
def samples():
    return INPUTS.sample(40, rule="sobol")


def test_fit_regression_takes_the_estimator_as_it_is(samples):
    model = SparseBayesRegressor(fit_intercept=False)
    polynomial = chaospy.fit_regression(TERMS, samples, run(samples, 0.01), model=model)
    new = INPUTS.sample(100, rule="halton")
    np.testing.assert_allclose(polynomial(*new), run(new), atol=0.05)
    assert len(model.relevance_) < 8


def test_the_polynomial_is_that_of_fit_regression(samples):
    y = run(samples, 0.01)
    polynomial = chaospy.fit_regression(TERMS, samples, y, model=SparseBayesRegressor(fit_intercept=False))
    fitted = fit_expansion(TERMS, INPUTS, samples, y, norms=NORMS)
    new = INPUTS.sample(20)
    np.testing.assert_allclose(fitted.polynomial(*new), polynomial(*new), rtol=1e-10)


def test_indices_are_those_of_chaospy(samples):
    fitted = fit_expansion(TERMS, INPUTS, samples, run(samples, 0.1), norms=NORMS)
    indices = fitted.sobol()
    np.testing.assert_allclose(indices.first, chaospy.Sens_m(fitted.polynomial, INPUTS), atol=1e-8)
    np.testing.assert_allclose(indices.total, chaospy.Sens_t(fitted.polynomial, INPUTS), atol=1e-8)
    assert indices.variance == pytest.approx(chaospy.Var(fitted.polynomial, INPUTS))


def test_norms_are_computed_if_they_are_not_given(samples):
    inputs = chaospy.J(chaospy.Normal(0, 1), chaospy.Uniform(0, 2))
    terms, norms = chaospy.generate_expansion(3, inputs, retall=True)
    x = inputs.sample(30, rule="halton")
    fitted = fit_expansion(terms, inputs, x, x[0] + x[1] ** 2)
    np.testing.assert_allclose(fitted.norms, norms, rtol=1e-8)


def test_error_bars_cover_the_truth(samples):
    truth, inside = np.array([1 / 3, 0, 0]) / (1 / 3 + 4 / 9), []
    for seed in range(20):
        indices = fit_expansion(TERMS, INPUTS, samples, run(samples, 0.3, seed), norms=NORMS).sobol()
        inside.append(abs(indices.first[0] - truth[0]) < 2 * indices.first_std[0])
    assert np.mean(inside) > 0.8


def test_error_bars_grow_with_the_noise(samples):
    little, much = (fit_expansion(TERMS, INPUTS, samples, run(samples, noise), norms=NORMS) for noise in (0.01, 0.1))
    assert (little.sobol().total_std[:2] < much.sobol().total_std[:2]).all()
    assert little.standard_errors.max() < much.standard_errors.max()


def test_several_outputs(samples):
    y = np.column_stack([run(samples, 0.01), samples[0]])
    fitted = fit_expansion(TERMS, INPUTS, samples, y, norms=NORMS)
    assert fitted.polynomial.shape == (2,)
    assert fitted.coefficients.shape == fitted.standard_errors.shape == (len(TERMS), 2)
    np.testing.assert_allclose(fitted.sobol().first, chaospy.Sens_m(fitted.polynomial, INPUTS), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": np.zeros((40, 3))}, "samples must have one row per input"),
        ({"evals": np.zeros(39)}, "evals must have one row per run"),
        ({"model": SparseBayesRegressor(fit_intercept=True)}, "model must have fit_intercept=False"),
        ({"norms": NORMS[1:]}, "norms must have one value per term"),
    ],
)
def test_errors_name_the_argument(samples, change, message):
    arguments = {"samples": samples, "evals": run(samples), "norms": NORMS} | change
    with pytest.raises(ValueError, match=message):
        fit_expansion(TERMS, INPUTS, **arguments)
