"""Predictions and evidence against brute force, O(N³) and nothing clever."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import sklearn
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import (
    RBF,
    Bias,
    Columns,
    NoiseCollapseWarning,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
)
from sparsebayes.bases import as_basis

MODELS = {
    "rbf": RelevanceVectorRegressor(gamma=0.3),
    "rbf without intercept": RelevanceVectorRegressor(gamma=0.3, fit_intercept=False),
    "polynomial": RelevanceVectorRegressor("poly", gamma=0.5, degree=2, coef0=1.0),
    "sum": RelevanceVectorRegressor(RBF(0.3) + Columns(2) + Bias(), fit_intercept=False, prior="bic"),
    "columns": SparseBayesRegressor(),
    "columns without intercept": SparseBayesRegressor(fit_intercept=False, noise_variance=0.02),
    "columns, mackay": SparseBayesRegressor(solver="mackay", prior="aic"),
}
every_model = pytest.mark.parametrize("name", MODELS)


def _problem(seed: int, n: int = 50) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    y = 2.0 + np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(n)
    return X, y, rng.uniform(-4, 4, (17, 2))


def _fitted(name: str, seed: int) -> tuple:
    """The model, its retained functions on the training rows and at the queries, the targets."""
    X, y, queries = _problem(seed)
    model = sklearn.clone(MODELS[name]).fit(X, y)
    if isinstance(model, SparseBayesRegressor):
        Phi, at_queries = X[:, model.relevance_], queries[:, model.relevance_]
    else:
        bound = as_basis(model.kernel, model.gamma, model.degree, model.coef0).bind(X)
        Phi, at_queries = bound(X)[:, model.relevance_], bound(queries)[:, model.relevance_]
    return model, Phi, at_queries, y, queries


def _weights(model) -> np.ndarray:
    return model.dual_coef_ if isinstance(model, RelevanceVectorRegressor) else model.active_coef_


def _posterior(model, Phi, y) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of (w, b); without an intercept b is not there."""
    alpha, design = model.alpha_, Phi
    if model.fit_intercept:
        alpha, design = np.append(alpha, 0.0), np.column_stack([Phi, np.ones(len(y))])
    Sigma = np.linalg.inv(np.diag(alpha) + design.T @ design / model.noise_variance_)
    return Sigma @ design.T @ y / model.noise_variance_, Sigma


@every_model
@pytest.mark.parametrize("seed", [0, 1])
def test_mean_std_and_covariance(name, seed):
    model, Phi, at_queries, y, queries = _fitted(name, seed)
    weights, Sigma = _posterior(model, Phi, y)
    design = np.column_stack([at_queries, np.ones(len(queries))]) if model.fit_intercept else at_queries
    covariance = design @ Sigma @ design.T + model.noise_variance_ * np.eye(len(queries))

    mean, std = model.predict(queries, return_std=True)
    np.testing.assert_allclose(mean, design @ weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(std**2, np.diag(covariance), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(queries), mean)
    joint_mean, joint = model.predict(queries, return_cov=True)
    np.testing.assert_allclose(joint_mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(joint, covariance, rtol=1e-6, atol=1e-8)


@every_model
def test_attributes_are_the_posterior(name):
    model, Phi, _, y, _ = _fitted(name, 2)
    weights, Sigma = _posterior(model, Phi, y)
    size = len(model.relevance_)
    np.testing.assert_allclose(_weights(model), weights[:size], rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, Sigma[:size, :size], rtol=1e-5, atol=1e-12)
    assert model.intercept_ == (pytest.approx(weights[-1], rel=1e-6) if model.fit_intercept else 0.0)
    assert model.alpha_.shape == _weights(model).shape == model.relevance_.shape
    assert np.all(np.diff(model.relevance_) > 0)
    assert model.converged_
    assert model.certificate_.is_local_maximum
    assert model.n_iter_ >= 1
    assert len(model.evidence_path_) >= model.n_iter_


@every_model
@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_is_the_density_of_the_targets(name, seed):
    model, Phi, _, y, _ = _fitted(name, seed)
    n = len(y)
    C = model.noise_variance_ * np.eye(n) + Phi / model.alpha_ @ Phi.T
    expected = 0.0
    if model.fit_intercept:  # the density of orthonormal contrasts; √n is their Jacobian against the intercept
        contrasts = np.linalg.svd(np.ones((1, n)))[2][1:]
        C, y, expected = contrasts @ C @ contrasts.T, contrasts @ y, -0.5 * np.log(n)
    expected += multivariate_normal(np.zeros(len(y)), C).logpdf(y)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("variance", ["posterior", "augmented"])
def test_predictions_do_not_depend_on_working_memory(variance):
    X, y, _ = _problem(3)
    queries = np.random.default_rng(4).uniform(-4, 4, (900, 2))
    model = RelevanceVectorRegressor(gamma=0.3, variance=variance).fit(X, y)
    mean, std = model.predict(queries, return_std=True)
    sizes = []
    basis = model._fitted.basis

    def watched(rows):
        sizes.append(len(rows))
        return basis(rows)

    watched.centred_at, watched.few_batches = basis.centred_at, basis.few_batches
    model._fitted = replace(model._fitted, basis=watched)
    with sklearn.config_context(working_memory=0.02):
        few_at_a_time = model.predict(queries, return_std=True)
    assert sum(sizes) == 900
    assert max(sizes) * len(model.dual_coef_) * 8 <= 0.02 * 2**20
    np.testing.assert_allclose(few_at_a_time[0], mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(few_at_a_time[1], std, rtol=1e-10)


def test_one_row_at_a_time_where_memory_is_short():
    X, y, queries = _problem(5)
    model = SparseBayesRegressor().fit(X, y)
    with sklearn.config_context(working_memory=1e-9):
        np.testing.assert_allclose(
            model.predict(queries), queries[:, model.relevance_] @ model.active_coef_ + model.intercept_
        )


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_columns_give_the_dense_model(container, fit_intercept, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((80, 300)) * (rng.uniform(size=(80, 300)) < 0.1)
    y = X[:, :3] @ [1.0, -2.0, 3.0] + 0.3 + 0.05 * rng.standard_normal(80)
    dense = SparseBayesRegressor(prior="bic", fit_intercept=fit_intercept).fit(X, y)
    widest = []
    toarray = container.toarray

    def watched(self, *args, **kwargs):
        widest.append(self.shape[1])
        return toarray(self, *args, **kwargs)

    for kind in (container, scipy.sparse.csc_array, scipy.sparse.csc_matrix):
        monkeypatch.setattr(kind, "toarray", watched)
    sparse = SparseBayesRegressor(prior="bic", fit_intercept=fit_intercept).fit(container(X), y)
    std = sparse.predict(container(X), return_std=True)[1]
    assert max(widest) <= 64  # never all 300 columns
    np.testing.assert_array_equal(sparse.relevance_, dense.relevance_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6)
    np.testing.assert_allclose(std, dense.predict(X, return_std=True)[1], rtol=1e-6)
    assert sparse.log_evidence_ == pytest.approx(dense.log_evidence_, rel=1e-9)


def test_callback_sees_progress_and_may_stop_the_fit():
    X, y, _ = _problem(7)
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return progress.iteration == 3

    model = RelevanceVectorRegressor(gamma="scale", callback=stop_at_the_third).fit(X, y)
    assert [progress.iteration for progress in seen] == [1, 2, 3]
    assert not model.converged_
    assert model.n_iter_ == 3
    assert np.isfinite(model.predict(X)).all()


def test_verbose_prints_progress(capsys):
    X, y, _ = _problem(8)
    SparseBayesRegressor(verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "log evidence" in captured.err
    assert "active" in captured.err


def test_running_out_of_iterations_is_said():
    X, y, _ = _problem(9)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = SparseBayesRegressor(max_iter=2).fit(X, y)
    assert not model.converged_


def test_noise_collapse_is_said_and_leaves_finite_numbers():
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((20, 60)), rng.standard_normal(20)
    with pytest.warns(NoiseCollapseWarning, match="noise_variance"):
        model = SparseBayesRegressor(prior="uniform").fit(X, y)
    for value in (*model.predict(X, return_std=True), model.coef_, model.alpha_, model.log_evidence_):
        assert np.isfinite(value).all()
    assert model.noise_variance_ > 0
