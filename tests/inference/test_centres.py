"""The evidence through few centres: the dense one where all rows are centres, and its gradient."""

import numpy as np
import pytest
from dense_examples import BASES, data
from scipy.stats import multivariate_normal

from sparsebayes.bases import RBF
from sparsebayes.inference.centres import CentredModel
from sparsebayes.inference.dense import DenseModel, GaussianEvidence


def theta_of(model, bound, rng, tail=1):
    start = np.concatenate([bound.log_scales, np.zeros(len(model.parts) + tail)])
    return start + 0.3 * rng.standard_normal(len(start))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("per_input", [False, True], ids=["one scale", "a scale per input"])
@pytest.mark.parametrize("name", BASES)
def test_the_gradient_is_that_of_the_value(name, per_input, center):
    X, t, rng = data(len(name), n=30)
    bound = BASES[name].bind(X)
    bound = bound.with_scale_per_input() if per_input else bound
    counts = rng.integers(1, 4, len(t)).astype(float)
    model = CentredModel(bound, X, X[:9], t, counts, center, None)
    theta = theta_of(model, bound, rng)
    _, gradient = model(theta)
    step = 1e-5
    numeric = [
        (model(theta + step * e)[0] - model(theta - step * e)[0]) / (2 * step) for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=2e-5, atol=2e-5 * max(1.0, np.abs(gradient).max()))


@pytest.mark.parametrize("name", ["rbf", "matern", "laplacian", "dictionary", "two kernels"])
@pytest.mark.parametrize("center", [False, True])
def test_with_all_rows_as_centres_it_is_the_dense_evidence(name, center):
    X, t, rng = data(3)
    bound, ones = BASES[name].bind(X), np.ones(len(t))
    dense = DenseModel(bound, X, GaussianEvidence(t, ones, center))
    few = CentredModel(bound, X, X, t, ones, center, None)
    theta = theta_of(few, bound, rng)
    for one, other in zip(dense(theta), few(theta), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_the_density_of_the_targets(seed):
    X, t, _ = data(seed)
    bound, beta = RBF(0.4).bind(X), 5.0
    model = CentredModel(bound, X, X[:6], t, np.ones(len(t)), False, beta)
    P, V = bound.centred_at(X[:6])(X), bound.centred_at(X[:6])(X[:6])
    C = 2.0 * P @ np.linalg.solve(V, P.T) + np.eye(len(t)) / beta
    value, gradient = model(np.append(bound.log_scales, np.log(2.0)))
    assert value == pytest.approx(multivariate_normal(np.zeros(len(t)), C).logpdf(t), rel=1e-6)
    assert gradient.shape == (2,)
