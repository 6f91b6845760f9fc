"""Sample weights count rows: integer weights equal repeated rows, zero weights equal rows left out."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from sparsebayes import RBF, Bias, Columns, RelevanceVectorRegressor, SparseBayesRegressor

MODELS = {
    "rbf": RelevanceVectorRegressor(gamma="scale", effort="fast"),  # gamma="scale" depends on the weights as well
    "rbf without intercept": RelevanceVectorRegressor(gamma="scale", fit_intercept=False),
    "augmented": RelevanceVectorRegressor(gamma="scale", variance="augmented", prior="bic"),
    "sum": RelevanceVectorRegressor(Bias() + RBF() + Columns(2), fit_intercept=False),
    "columns": SparseBayesRegressor(),
    "columns without intercept": SparseBayesRegressor(prior="aic", fit_intercept=False),
}
every_model = pytest.mark.parametrize("name", MODELS)


def _problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (60, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(60)
    return X, y, rng.integers(0, 4, 60)


def _weights(model) -> np.ndarray:
    return model.dual_coef_ if isinstance(model, RelevanceVectorRegressor) else model.coef_


def _assert_same_predictions(a, b, X) -> None:
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-8)
    assert a.noise_variance_ == pytest.approx(b.noise_variance_, rel=1e-5)
    np.testing.assert_allclose(_weights(a), _weights(b), rtol=1e-4, atol=1e-6)
    for first, second in zip(a.predict(X, return_std=True), b.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


@every_model
@pytest.mark.parametrize("seed", range(3))
def test_integer_weights_equal_repeated_rows(name, seed):
    X, y, weights = _problem(seed)
    weighted = clone(MODELS[name]).fit(X, y, sample_weight=weights)
    repeated = clone(MODELS[name]).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    _assert_same_predictions(weighted, repeated, X)
    np.testing.assert_allclose(weighted.relevance_vectors_, repeated.relevance_vectors_)


@every_model
def test_zero_weights_equal_rows_left_out(name):
    X, y, weights = _problem(5)
    kept = np.flatnonzero(weights)
    weighted = clone(MODELS[name]).fit(X, y, sample_weight=weights > 0)
    without = clone(MODELS[name]).fit(X[kept], y[kept])
    _assert_same_predictions(weighted, without, X)
    np.testing.assert_array_equal(weighted.relevance_vectors_, without.relevance_vectors_)


def test_relevance_counts_the_rows_of_x_as_it_was_passed():
    X, y, weights = _problem(6)
    kept = np.flatnonzero(weights)
    model = RelevanceVectorRegressor(gamma="scale").fit(X, y, sample_weight=weights)
    assert np.all(weights[model.relevance_] > 0)
    np.testing.assert_array_equal(X[model.relevance_], model.relevance_vectors_)
    # a sum of bases numbers its candidates as if no row had been left out
    parts = clone(MODELS["sum"])
    numbers = parts.fit(X, y, sample_weight=weights > 0).relevance_
    fewer = parts.fit(X[kept], y[kept]).relevance_
    expected = [0 if m < 1 else 1 + kept[m - 1] if m <= len(kept) else m - len(kept) + 60 for m in fewer]
    np.testing.assert_array_equal(numbers, expected)


def test_zero_weights_drop_columns_of_a_precomputed_kernel():
    X, y, weights = _problem(7)
    kernel, kept = RBF(0.4).bind(X)(X), np.flatnonzero(weights)
    model = RelevanceVectorRegressor("precomputed").fit(kernel, y, sample_weight=weights)
    reference = RelevanceVectorRegressor(gamma=0.4).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.relevance_, reference.relevance_)
    assert set(model.relevance_) <= set(kept)
    assert model.n_features_in_ == 60
    queries = np.random.default_rng(8).uniform(-3, 3, (9, 2))
    ours = model.predict(RBF(0.4).bind(X)(queries), return_std=True)
    for first, second in zip(ours, reference.predict(queries, return_std=True), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(kernel[:, kept])


def test_uniform_weights_and_a_single_number():
    X, y, _ = _problem(9)
    plain = SparseBayesRegressor().fit(X, y)
    _assert_same_predictions(plain, SparseBayesRegressor().fit(X, y, sample_weight=np.ones(60)), X)
    twice = SparseBayesRegressor().fit(X, y, sample_weight=2)
    _assert_same_predictions(twice, SparseBayesRegressor().fit(X, y, sample_weight=np.full(60, 2.0)), X)
    assert twice.log_evidence_ != pytest.approx(plain.log_evidence_)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_weights_of_sparse_rows(container):
    X, y, weights = _problem(10)
    dense = SparseBayesRegressor().fit(X, y, sample_weight=weights)
    sparse = SparseBayesRegressor().fit(container(X), y, sample_weight=weights)
    _assert_same_predictions(dense, sparse, X)
