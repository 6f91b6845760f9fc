"""max_vectors, and the path from one function to all that were selected."""

import numpy as np
import pytest
import scipy.sparse
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sparsebayes
from sparsebayes import (
    DCT,
    RBF,
    ActiveSet,
    Bias,
    Gaussian,
    GeneralizedNormal,
    Linear,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    Spike,
)
from sparsebayes.estimators._sparsity_path import _rows_of_fit, _state
from sparsebayes.solvers.sized import nested


def rows(seed=0, n=80, d=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, d))
    return X, np.sin(X[:, 0]) * np.cos(X[:, -1]) + 0.1 * rng.standard_normal(n), rng


def columns(seed=0, n=60, m=30):
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random(n, m, 0.4, random_state=seed).toarray()
    return X, X[:, :8] @ np.arange(1.0, 9.0) + 0.3 * rng.standard_normal(n), rng


def contrasts_evidence(Phi, t, alpha, variance, counts=None):
    """The log evidence with an intercept: the density of the contrasts of t, less ½ log n; rows repeated."""
    counts = np.ones(len(t), dtype=int) if counts is None else counts
    Phi, t = np.repeat(Phi, counts, axis=0), np.repeat(t, counts)
    Q = null_space(np.ones((1, len(t)))).T
    return log_evidence(Q @ Phi, Q @ t, alpha, 1 / variance) - 0.5 * np.log(len(t))


def refitted(Phi, t, alpha, variances, counts, center):
    """The error of each row by a model of the others: α and the noise are held, the weights fitted again."""
    design = np.column_stack([Phi, np.ones(len(t))]) if center else Phi
    penalty = np.diag(np.append(alpha, 0.0) if center else alpha)
    errors = np.empty(len(t))
    for n in range(len(t)):
        precision = counts / variances
        precision[n] *= max(counts[n] - 1, 0) / counts[n]
        weights = np.linalg.solve(penalty + (design.T * precision) @ design, (design.T * precision) @ t)
        errors[n] = t[n] - design[n] @ weights
    return np.sqrt(np.average(errors**2, weights=counts))


CASES = {
    "plain": ({}, {}),
    "no intercept": ({"fit_intercept": False}, {}),
    "bic": ({"prior": "bic"}, {}),
    "noise": ({"noise_variance": 0.01}, {}),
    "weights": ({}, {"sample_weight": np.random.default_rng(5).integers(0, 4, 80)}),
    "noise of rows": ({}, {"noise_variance": np.random.default_rng(6).uniform(0.005, 0.03, 80)}),
    "noise prior": ({"likelihood": Gaussian(prior=(2.0, 0.02))}, {}),
    "concatenation": ({"kernel": RBF(0.5) + Linear() + Bias(), "prior": ["uniform", "aic", "uniform"]}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_path_is_that_of_brute_force(case):
    parameters, given = CASES[case]
    X, y, _ = rows()
    model = RelevanceVectorRegressor(**{"gamma": 0.5, **parameters}).fit(X, y, **given)
    path = model.path(X, y, **given)
    data = _rows_of_fit(model, X, y, given.get("sample_weight"), given.get("noise_variance"))
    Phi = model._fitted.basis(data.X)
    start, units = _state(model, data, Phi)
    states = list(nested(start))[::-1]
    assert path.size.tolist() == [state.size for state in states]
    assert path.size[0] == 1
    assert path.size[-1] == len(model.relevance_)
    counts = data.counts.astype(int)
    for k, state in enumerate(states):
        J, sigma2 = units.kept[state.J], path.noise_variance[k]
        alpha, variances = state.alpha * units.unit[state.J], np.full(len(data.y), sigma2)
        assert_array_equal(path.functions(state.size), np.sort(model.relevance_[J]))
        if data.noise is None:
            arguments = np.repeat(Phi[:, J], counts, axis=0), np.repeat(data.y, counts), alpha
            evidence = contrasts_evidence if model.fit_intercept else lambda P, t, a, v: log_evidence(P, t, a, 1 / v)
            assert_allclose(path.log_evidence[k], evidence(*arguments, sigma2), rtol=1e-8)
        else:
            variances = data.noise
            root = 1 / np.sqrt(variances)
            ones = (root / np.linalg.norm(root))[None, :]
            Q = null_space(ones).T
            level = -0.5 * np.log(np.sum(1 / variances)) + np.log(root).sum()  # ∫ over the intercept, and the units
            expected = log_evidence(Q @ (Phi[:, J] * root[:, None]), Q @ (data.y * root), alpha, 1.0) + level
            assert_allclose(path.log_evidence[k], expected, rtol=1e-8)
        error = refitted(Phi[:, J], data.y, alpha, variances, data.counts, model.fit_intercept)
        assert_allclose(path.leave_one_out_error[k], error, rtol=1e-6)
    assert_allclose(path.log_evidence[-1], model.log_evidence_)
    assert_allclose(path.noise_variance[-1], model.noise_variance_ if data.noise is None else path.noise_variance[0])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_path_of_columns(sparse):
    X, y, _ = columns()
    model = SparseBayesRegressor().fit(scipy.sparse.csr_array(X) if sparse else X, y)
    path = model.path(scipy.sparse.csr_array(X) if sparse else X, y)
    assert_array_equal(np.sort(path.order), model.relevance_)
    assert_allclose(
        path.log_evidence[-1], contrasts_evidence(X[:, model.relevance_], y, model.alpha_, model.noise_variance_)
    )
    for k, size in enumerate(path.size):
        assert set(path.functions(size)) == set(path.order[:size])
        assert k == 0 or path.log_evidence[k] > path.log_evidence[k - 1]


def test_the_path_of_a_kernel_matrix():
    X, y, rng = rows()
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    weights = rng.integers(0, 3, len(y))
    by_matrix = RelevanceVectorRegressor("precomputed").fit(K, y, weights).path(K, y, weights)
    by_kernel = RelevanceVectorRegressor(gamma=0.5).fit(X, y, weights).path(X, y, weights)
    assert_allclose(by_matrix.log_evidence[-1], by_kernel.log_evidence[-1], atol=0.5)
    assert_allclose(by_matrix.leave_one_out_error[0], by_kernel.leave_one_out_error[0], rtol=0.2)


@pytest.mark.parametrize(
    "model",
    [
        RelevanceVectorRegressor(gamma="evidence"),
        RelevanceVectorRegressor(RBF(0.5) + Spike(), prior="bic"),
        RelevanceVectorRegressor(DCT(), prior="bic", fit_intercept=False),
    ],
)
def test_learned_scales_spikes_and_closed_forms_have_a_path(model):
    X = np.arange(64.0)[:, None]
    y = np.cos(np.pi * 3 * (X[:, 0] + 0.5) / 64) + 0.1 * np.random.default_rng(0).standard_normal(64)
    model = clone(model).fit(X, y)
    path = model.path(X, y)
    assert_allclose(path.log_evidence[-1], model.log_evidence_)
    assert set(path.order) == set(model.relevance_)


def test_the_size_within_a_tolerance():
    X, y, _ = rows()
    path = RelevanceVectorRegressor(gamma=0.5).fit(X, y).path(X, y)
    error = path.leave_one_out_error
    assert path.smallest(0.0) == path.size[error.argmin()]
    for tolerance in (0.05, 0.3, 1.0):
        size = path.smallest(tolerance)
        assert error[path.size == size] <= (1 + tolerance) * error.min()
        assert (error[path.size < size] > (1 + tolerance) * error.min()).all()
    assert path.smallest(1e9) == 1
    table = path.as_dict()
    assert list(table) == ["size", "log_evidence", "leave_one_out_error", "noise_variance"]
    assert {len(column) for column in table.values()} == {len(path.size)}


def test_what_has_no_path_says_so():
    X, y, _ = rows()
    model = RelevanceVectorRegressor(gamma=0.5)
    with pytest.raises(NotFittedError):
        model.path(X, y)
    path = model.fit(X, y).path(X, y)
    with pytest.raises(ValueError, match=r"must be those of fit: the log evidence is .* on them"):
        model.path(X, y + 0.1 * X[:, 0])
    with pytest.raises(ValueError, match="must be those of fit"):
        model.path(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="size must be one of the sizes of the path, got 0"):
        path.functions(0)
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0, got -1"):
        path.smallest(-1)
    with pytest.warns(UserWarning, match="y is constant"):
        model.fit(X, np.ones(80))
    with pytest.raises(ValueError, match="path needs a model with functions"):
        model.path(X, np.ones(80))
    robust = RelevanceVectorRegressor(gamma=0.5, likelihood=GeneralizedNormal(4.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"path needs Gaussian noise, got likelihood=GeneralizedNormal"):
        robust.path(X, y)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match=r"X must be the kernel matrix of fit, .* got shape \(5, 80\)"):
        RelevanceVectorRegressor("precomputed").fit(K, y).path(K[:5], y[:5])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("most", [1, 3, 6])
def test_the_limit_holds(case, most):
    parameters, given = CASES[case]
    X, y, _ = rows()
    free = RelevanceVectorRegressor(**{"gamma": 0.5, **parameters}).fit(X, y, **given)
    model = clone(free).set_params(max_vectors=most).fit(X, y, **given)
    assert len(model.relevance_) == min(most, len(free.relevance_))
    assert model.converged_
    path = free.path(X, y, **given)
    if not parameters.get("prior") and most in path.size:
        assert model.log_evidence_ > path.log_evidence[path.size == most] - 1e-6
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_holds_for_columns(seed):
    X, y, rng = columns(seed)
    free = SparseBayesRegressor().fit(X, y)
    for most in (1, 4, len(free.relevance_)):
        dense = SparseBayesRegressor(max_vectors=most).fit(X, y)
        sparse = SparseBayesRegressor(max_vectors=most).fit(scipy.sparse.csr_array(X), y)
        chunks = SparseBayesRegressor(max_vectors=most).fit(iter([(X[:20], y[:20]), (X[20:], y[20:])]))
        seen = SparseBayesRegressor(max_vectors=most).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
        assert np.count_nonzero(dense.coef_) == most
        for other in (sparse, chunks, seen):
            assert_array_equal(other.relevance_, dense.relevance_)
            assert_allclose(other.coef_, dense.coef_, rtol=1e-5, atol=1e-8)
    weights = rng.integers(0, 3, len(y))
    assert len(SparseBayesRegressor(max_vectors=2).fit(X, y, weights).relevance_) == 2


def test_a_limit_that_does_not_bind_changes_nothing():
    X, y, _ = rows()
    free = RelevanceVectorRegressor(gamma=0.5).fit(X, y)
    for most in (len(free.relevance_), 1000):
        model = RelevanceVectorRegressor(gamma=0.5, max_vectors=most).fit(X, y)
        assert_array_equal(model.relevance_, free.relevance_)
        assert_array_equal(model.dual_coef_, free.dual_coef_)
        assert model.log_evidence_ == free.log_evidence_
        assert [move.name for move in model.trace_] == [move.name for move in free.trace_]


def test_repeated_rows_equal_weights_within_a_limit():
    X, y, rng = rows(n=50)
    counts = rng.integers(1, 4, 50)
    weighted = RelevanceVectorRegressor(gamma=0.5, max_vectors=4).fit(X, y, counts)
    repeated = RelevanceVectorRegressor(gamma=0.5, max_vectors=4).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    assert_allclose(weighted.log_evidence_, repeated.log_evidence_)
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-7)


def test_learned_scales_within_a_limit():
    X, y, _ = rows()
    model = RelevanceVectorRegressor(gamma="ard", max_vectors=4).fit(X, y)
    assert len(model.relevance_) == 4
    assert model.predict(X, return_std=True)[1].min() > 0


def test_the_function_fit_has_the_limit():
    X, y, _ = columns()
    result = sparsebayes.fit(X, y, max_vectors=3, fit_intercept=True)
    assert len(result.active) == 3
    assert result.converged
    assert not result.certificate.is_local_maximum
    assert result.certificate.gain_outside > 0
    with pytest.raises(ValueError, match="max_vectors must be an integer >= 1, got 0"):
        sparsebayes.fit(X, y, max_vectors=0)
    with pytest.raises(ValueError, match=r"max_vectors must be None unless the noise is Gaussian, got likelihood="):
        sparsebayes.fit(X, y > 0, likelihood="bernoulli", max_vectors=3)


def test_bad_limits_are_refused_before_any_work():
    X, y, _ = rows()
    for bad in (0, -1, 2.5, "20", True):
        with pytest.raises(ValueError, match="max_vectors must be an integer >= 1, got"):
            RelevanceVectorRegressor(max_vectors=bad).fit(X, y)
    with pytest.raises(ValueError, match="max_vectors must be None unless the noise is Gaussian"):
        RelevanceVectorRegressor(max_vectors=3, likelihood="generalized-normal").fit(X, y)
    signal = np.sin(np.arange(64.0))
    with pytest.raises(ValueError, match="max_vectors must be None for the closed form"):
        RelevanceVectorRegressor(DCT(), fit_intercept=False, max_vectors=3).fit(np.arange(64.0)[:, None], signal)
    limited = RelevanceVectorRegressor(DCT(), fit_intercept=False, max_vectors=3, solver="active-set")
    assert len(limited.fit(np.arange(64.0)[:, None], signal).relevance_) == 3


def test_a_kernel_whose_matrix_is_not_formed():
    rng = np.random.default_rng(0)
    X = rng.uniform(-5, 5, (1700, 2))
    r = np.hypot(*X.T) + 1e-9
    y = np.sin(r) / r + 0.05 * rng.standard_normal(1700)
    solver = ActiveSet(effort="fast")
    free = RelevanceVectorRegressor(gamma=0.16, solver=solver).fit(X, y)
    model = RelevanceVectorRegressor(gamma=0.16, solver=solver, max_vectors=12).fit(X, y)
    assert len(free.relevance_) > 12 == len(model.relevance_)
    assert "working set" in {move.name for move in model.trace_}
    path = free.path(X, y)
    assert_allclose(path.log_evidence[-1], free.log_evidence_)
    assert model.log_evidence_ > path.log_evidence[path.size <= 12][-1]
    kernel = np.exp(-0.16 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    formed = sparsebayes.fit(kernel, y, solver=solver, max_vectors=12, fit_intercept=True)
    assert model.log_evidence_ > formed.log_evidence - 5.0
    assert model.certificate_.gain_outside > 0
