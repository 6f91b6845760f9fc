"""What relevance_ and relevance_vectors_ refer to, for every kind of kernel."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from sparsebayes import (
    RBF,
    Bias,
    Columns,
    Laplacian,
    Precomputed,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
)
from sparsebayes.bases import KERNEL_NAMES

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (50, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(50)
QUERIES = rng.uniform(-3, 3, (7, 2))


@pytest.mark.parametrize("kernel", [name for name in KERNEL_NAMES if name != "precomputed"])
def test_relevance_is_the_rows_of_x(kernel):
    model = RelevanceVectorRegressor(kernel, noise_variance=0.01).fit(X, Y)
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.relevance_])
    assert model.relevance_.dtype.kind == "i"
    assert not np.shares_memory(model.relevance_vectors_, X)


def test_the_same_kernel_said_in_every_way():
    reference = RelevanceVectorRegressor(gamma=0.4).fit(X, Y)
    spoken = {
        "object": (RBF(0.4), X, QUERIES),
        "width": (RBF(width=0.4**-0.5), X, QUERIES),
        "callable": (lambda A, B: rbf_kernel(A, B, gamma=0.4), X, QUERIES),
        "precomputed": ("precomputed", rbf_kernel(X, gamma=0.4), rbf_kernel(QUERIES, X, gamma=0.4)),
    }
    for name, (kernel, inputs, queries) in spoken.items():
        model = RelevanceVectorRegressor(kernel).fit(inputs, Y)
        np.testing.assert_array_equal(model.relevance_, reference.relevance_, err_msg=name)
        np.testing.assert_allclose(model.predict(queries), reference.predict(QUERIES), rtol=1e-5, atol=1e-6)
        if name == "precomputed":
            assert model.relevance_vectors_.shape == (0, 50)
        else:
            np.testing.assert_array_equal(model.relevance_vectors_, reference.relevance_vectors_)


def test_sums_number_their_candidates_part_after_part():
    kernel = Bias() + RBF(0.4) + Columns(2) + Laplacian(0.4)
    model = RelevanceVectorRegressor(kernel, fit_intercept=False, noise_variance=0.01).fit(X, Y)
    Phi = kernel.bind(X)(X)
    assert Phi.shape == (50, 1 + 50 + 5 + 50)
    np.testing.assert_allclose(Phi[:, model.relevance_] @ model.dual_coef_, model.predict(X), rtol=1e-9, atol=1e-9)
    first = model.relevance_[(model.relevance_ >= 1) & (model.relevance_ <= 50)] - 1
    last = model.relevance_[model.relevance_ >= 56] - 56
    np.testing.assert_array_equal(model.relevance_vectors_, X[np.concatenate([first, last])])


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_target_is_carried_by_the_linear_term_of_a_sum(seed):
    y = 2 * X[:, 1] + 0.1 * np.random.default_rng(seed).standard_normal(50)
    model = RelevanceVectorRegressor(RBF(1.0) + Columns(), prior="ric").fit(X, y)
    assert 51 in model.relevance_  # 50 Gaussians, then the two columns
    assert model.dual_coef_[list(model.relevance_).index(51)] == pytest.approx(2.0, abs=0.1)


def test_a_precomputed_part():
    matrix = rbf_kernel(X, gamma=0.4)
    model = RelevanceVectorRegressor(Precomputed() + Bias(), fit_intercept=False).fit(matrix, Y)
    same = RelevanceVectorRegressor(RBF(0.4) + Bias(), fit_intercept=False).fit(X, Y)
    np.testing.assert_array_equal(model.relevance_, same.relevance_)
    assert model.relevance_vectors_.shape == (0, 50)


def test_columns():
    model = SparseBayesRegressor().fit(np.column_stack([X[:, 1], 0 * X[:, 0], X[:, 0]]), X[:, 1] + 0.1 * Y)
    assert 0 in model.relevance_
    assert 1 not in model.relevance_
    assert model.relevance_vectors_.shape == (0, 3)
