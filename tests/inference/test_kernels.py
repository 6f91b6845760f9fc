"""Fits of kernels that are never formed, against the same fits with the kernel matrix."""

import array_api_strict
import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, fit
from sparsebayes.bases import RBF
from sparsebayes.bases.low_rank import LowRankOperator
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.datasets import make_friedman, make_ripley, make_sinc2d

GAMMA = 1 / 2.5**2


@pytest.fixture
def on_demand(monkeypatch):
    """No kernel matrix, however small."""
    monkeypatch.setattr("sparsebayes.bases.kernels.HELD_ELEMENTS", 0)
    monkeypatch.setattr("sparsebayes.inference.kernels.ROWS_PER_RANK", 1)


@pytest.fixture
def by_columns(monkeypatch, on_demand):
    """Nor a factor of low rank, nor the matrix after all; visits of several blocks, first of a sample."""
    monkeypatch.setattr("sparsebayes.inference.kernels.LARGEST_RANK", 2)
    monkeypatch.setattr("sparsebayes.bases.on_demand.HELD_AFTER_ALL", 0)
    monkeypatch.setattr("sparsebayes.inference.kernels.FIRST", 100)
    monkeypatch.setattr("sparsebayes.inference.working_set.SAMPLE", 100)
    monkeypatch.setattr("sparsebayes.inference.working_set.BLOCK_ELEMENTS", 1000)


def _evidence(model, X, y, weights=None, gamma=GAMMA):
    """Brute force: log N(y | 0, C), and with an intercept of the contrasts of y less ½ log n."""
    if weights is not None:
        X, y = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    Phi = np.exp(-gamma * ((X[:, None, :] - model.relevance_vectors_) ** 2).sum(-1))
    if not model.fit_intercept:
        return log_evidence(Phi, y, model.alpha_, 1 / model.noise_variance_)
    n = len(y)
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
    contrasted = log_evidence(contrasts.T @ Phi, contrasts.T @ y, model.alpha_, 1 / model.noise_variance_)
    return contrasted - 0.5 * np.log(n)


def _true_gain(model, X, y, gamma=GAMMA):
    """What the best addition gains, from the kernel matrix and C itself, one candidate after the other."""
    K = np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(-1))
    Phi = K[:, model.relevance_]
    C = model.noise_variance_ * np.eye(len(y)) + (Phi / model.alpha_) @ Phi.T
    S, Q = (K * np.linalg.solve(C, K)).sum(0), K.T @ np.linalg.solve(C, y)
    ratio = np.delete(Q**2 / S, model.relevance_)
    return np.where(ratio > 1, 0.5 * (ratio - 1 - np.log(np.maximum(ratio, 1))), 0.0).max()


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_low_rank_fit_is_as_good_as_the_dense_one_and_a_maximum_of_the_true_evidence(
    on_demand, monkeypatch, seed, many
):
    X, y, _ = make_sinc2d(500, 0.1, random_state=seed)
    if many:  # samples and shortlists, in blocks
        monkeypatch.setattr("sparsebayes.inference.working_set.SAMPLE", 50)
        monkeypatch.setattr("sparsebayes.inference.working_set.BLOCK_ELEMENTS", 2000)
    low = RelevanceVectorRegressor(gamma=GAMMA, fit_intercept=False).fit(X, y)
    monkeypatch.undo()
    dense = RelevanceVectorRegressor(gamma=GAMMA, fit_intercept=False).fit(X, y)
    assert low.log_evidence_ == pytest.approx(_evidence(low, X, y), abs=1e-6)
    assert low.log_evidence_ > dense.log_evidence_ - 5
    assert low.converged_
    assert low.certificate_.is_local_maximum
    assert _true_gain(low, X, y) < 1e-4
    assert_array_equal(low.relevance_vectors_, X[low.relevance_])
    assert (np.diff(low.evidence_path_) >= -1.0).all()  # it may fall only where another problem takes over


@pytest.mark.parametrize("tol", [1e-2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_large_tol_is_no_reason_to_give_up_low_rank(on_demand, monkeypatch, seed, tol):
    monkeypatch.setattr(KernelOperator, "fits", True)
    monkeypatch.setattr("sparsebayes.inference.kernels.KernelSearch.solve_by_columns", None)
    monkeypatch.setattr("sparsebayes.inference.kernels.TOLERANCES", (1e-1,))
    monkeypatch.setattr("sparsebayes.bases.operators.DenseOperator.__init__", None)  # the matrix after all
    X, y, _ = make_sinc2d(500, 0.1, random_state=seed)
    model = RelevanceVectorRegressor(gamma=GAMMA, fit_intercept=False, tol=tol).fit(X, y)
    assert model.converged_
    assert _true_gain(model, X, y) < 1.1 * tol


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_intercept_and_weights(on_demand, weighted, seed):
    X, y, _ = make_sinc2d(300, 0.1, random_state=seed)
    weights = np.random.default_rng(seed).integers(0, 3, len(y)) if weighted else None
    model = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y + 3.0, sample_weight=weights)
    assert model.log_evidence_ == pytest.approx(_evidence(model, X, y + 3.0, weights), abs=1e-6)
    assert model.certificate_.is_local_maximum
    if weighted:
        assert weights[model.relevance_].all()


def test_a_constant_added_to_the_target_moves_the_intercept_alone(on_demand):
    X, y, _ = make_sinc2d(300, 0.1, random_state=0)
    one, other = (RelevanceVectorRegressor(gamma=GAMMA).fit(X, y + c) for c in (0.0, 100.0))
    assert_array_equal(one.relevance_, other.relevance_)
    assert_allclose(other.predict(X) - 100.0, one.predict(X), atol=1e-6)
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, abs=1e-6)


def test_repeated_points_are_one_candidate_the_first(on_demand):
    X, y, _ = make_sinc2d(200, 0.1, random_state=0)
    twice = np.concatenate([X, X])
    model = RelevanceVectorRegressor(gamma=GAMMA).fit(twice, np.concatenate([y, y]))
    weighted = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y, sample_weight=np.full(len(y), 2))
    assert model.relevance_.max() < 200
    assert model.log_evidence_ == pytest.approx(_evidence(model, twice, np.concatenate([y, y])), abs=1e-6)
    assert np.sqrt(np.mean((model.predict(X) - weighted.predict(X)) ** 2)) < 0.03


@pytest.mark.parametrize("prior", ["bic", "aic"])
def test_other_priors(on_demand, prior):
    X, y, _ = make_sinc2d(400, 0.1, random_state=1)
    model = RelevanceVectorRegressor(gamma=GAMMA, prior=prior).fit(X, y)
    uniform = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y)
    assert model.certificate_.is_local_maximum
    assert len(model.relevance_) < len(uniform.relevance_)


@pytest.mark.parametrize("solver", ["sequential", "mackay"])
def test_other_solvers_get_all_candidates(on_demand, monkeypatch, solver):
    X, y, _ = make_sinc2d(120, 0.1, random_state=1)
    model = RelevanceVectorRegressor(gamma=GAMMA, solver=solver).fit(X, y)
    monkeypatch.undo()
    dense = RelevanceVectorRegressor(gamma=GAMMA, solver=solver).fit(X, y)
    assert_array_equal(model.relevance_, dense.relevance_)
    assert_allclose(model.coef_, dense.coef_)


@pytest.mark.parametrize("solver", ["active-set", "sequential"])
@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
def test_fits_by_columns_visit_every_candidate(by_columns, kernel, solver):
    X, y, _ = make_friedman(n=240, random_state=0)
    model = RelevanceVectorRegressor(kernel, gamma=0.1, fit_intercept=False, solver=solver).fit(X, y)
    assert model.converged_
    assert model.certificate_.gain_outside <= 1.0
    if kernel == "rbf":
        assert model.log_evidence_ == pytest.approx(_evidence(model, X, y, gamma=0.1), abs=1e-6)
        assert _true_gain(model, X, y, gamma=0.1) == pytest.approx(
            max(model.certificate_.gain_outside, 0), abs=1e-6
        )


@pytest.mark.parametrize("seed", range(3))
def test_fits_by_columns_with_curvatures_of_a_sample_of_the_rows(by_columns, monkeypatch, seed):
    """The evidence is that of all rows, and no candidate is left that all rows would want much more."""
    monkeypatch.setattr("sparsebayes.rows.around.ROWS", 250)
    monkeypatch.setattr("sparsebayes.inference.working_set.SAMPLE", 20)  # so many candidates: shortlists
    monkeypatch.setattr("sparsebayes.inference.working_set.PART", 60)
    X, y, _ = make_friedman(n=500, random_state=seed)
    model = RelevanceVectorRegressor(gamma=0.1, fit_intercept=False).fit(X, y)
    assert model.converged_
    assert model.certificate_.gain_outside <= 1.0
    assert model.log_evidence_ == pytest.approx(_evidence(model, X, y, gamma=0.1), abs=1e-6)
    assert _true_gain(model, X, y, gamma=0.1) < 1.5
    monkeypatch.undo()
    dense = RelevanceVectorRegressor(gamma=0.1, fit_intercept=False).fit(X, y)
    assert model.log_evidence_ > dense.log_evidence_ - 10


def test_factor_that_disagrees_with_the_kernel_gives_way_to_the_matrix(on_demand, monkeypatch):
    X, y, _ = make_sinc2d(150, 0.1, random_state=2)
    monkeypatch.setattr("sparsebayes.inference.working_set.AGREEMENT", -1.0)
    model = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y)
    monkeypatch.undo()
    dense = RelevanceVectorRegressor(gamma=GAMMA).fit(X, y)
    assert_array_equal(model.relevance_, dense.relevance_)
    assert model.log_evidence_ == dense.log_evidence_


def test_target_without_noise_is_fitted_as_with_the_matrix(on_demand, monkeypatch):
    X, _, f = make_sinc2d(150, 0.1, random_state=2)
    model = RelevanceVectorRegressor(gamma=GAMMA, noise_variance=1e-8).fit(X, f)
    monkeypatch.undo()
    dense = RelevanceVectorRegressor(gamma=GAMMA, noise_variance=1e-8).fit(X, f)
    assert model.log_evidence_ > dense.log_evidence_ - 5
    assert_allclose(model.predict(X), f, atol=1e-3)


def test_limits_and_callbacks_are_heeded(on_demand):
    X, y, _ = make_sinc2d(300, 0.1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        RelevanceVectorRegressor(gamma=GAMMA, max_iter=2).fit(X, y)
    seen = []
    RelevanceVectorRegressor(gamma=GAMMA, callback=seen.append).fit(X, y)
    assert seen[-1].noise_variance == pytest.approx(0.01, rel=0.5)
    stopped = RelevanceVectorRegressor(gamma=GAMMA, callback=lambda progress: True).fit(X, y)
    assert not stopped.converged_


def test_matrix_is_formed_while_it_is_small_and_never_beyond():
    X = np.random.default_rng(0).standard_normal((1501, 1))
    bound = RBF(1.0).bind(X)
    assert isinstance(bound.operator(X), KernelOperator)
    small = X[:1500]
    assert isinstance(RBF(1.0).bind(small).operator(small), DenseOperator)
    other = array_api_strict.asarray(X)  # only NumPy has what the factor needs
    assert isinstance(RBF(1.0).bind(other[:9, :]).operator(other), DenseOperator)


def test_many_points_of_one_input():
    X = np.linspace(-10, 10, 5000)[:, None]
    rng = np.random.default_rng(0)
    f = np.sinc(X[:, 0] / np.pi)
    model = RelevanceVectorRegressor(gamma=1 / 9).fit(X, f + 0.1 * rng.standard_normal(5000))
    assert model.certificate_.is_local_maximum
    assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.01
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_low_rank_classifier_equals_the_dense_one(on_demand, monkeypatch, classes, weighted):
    X, y = make_ripley(250, random_state=0)[:2]
    y = np.where((classes == 3) & (X[:, 0] > 0.3), 2, y)
    weights = np.random.default_rng(0).integers(1, 3, len(y)) if weighted else None
    low = RelevanceVectorClassifier(gamma=1.0).fit(X, y, weights)
    monkeypatch.undo()
    dense = RelevanceVectorClassifier(gamma=1.0).fit(X, y, weights)
    assert low.log_evidence_ > dense.log_evidence_ - 0.5
    assert low.certificate_.gain_outside < max(dense.certificate_.gain_outside, 1e-5) + 0.05
    assert_array_equal(low.relevance_vectors_, X[low.relevance_])
    assert_allclose(low.predict_proba(X), dense.predict_proba(X), atol=0.05)


@pytest.mark.parametrize("center", [False, True])
def test_operator_of_low_rank_is_that_of_its_matrix(monkeypatch, center):
    monkeypatch.setattr("sparsebayes.bases.low_rank.STRIP", 40)
    rng = np.random.default_rng(0)
    L = rng.standard_normal((5, 60)) + 1.0
    L[:, 7] = 0.0  # a function that is zero
    low, dense = LowRankOperator(L), DenseOperator(L.T @ L)
    V, weights = rng.standard_normal((60, 3)), rng.uniform(size=60)
    assert low.shape == dense.shape
    assert_allclose(low.columns([4, 1]), dense.columns([4, 1]), atol=1e-12)
    assert_allclose(low.adjoint(V), dense.adjoint(V), atol=1e-10)
    means, norms = low.means_and_norms(weights, center)
    assert_allclose(means, dense.means_and_norms(weights, center)[0], atol=1e-12)
    assert_allclose(norms, dense.means_and_norms(weights, center)[1], atol=1e-10)
    shift, scale, W = rng.standard_normal(60), rng.uniform(1, 2, 60), rng.uniform(size=(60, 2))
    assert_allclose(low.squares(W, shift, scale), dense.squares(W, shift, scale), rtol=1e-10)


@pytest.mark.parametrize("fits", [False, True])
def test_first_guess_at_the_noise(on_demand, monkeypatch, fits):
    monkeypatch.setattr("sparsebayes.bases.on_demand.HELD_AFTER_ALL", 10**9 if fits else 0)
    X, y, _ = make_sinc2d(200, 0.1, random_state=0)
    operator = RBF(GAMMA).bind(X).operator(X)
    result = fit(operator, y, first_noise_variance=0.005)
    assert result.certificate.is_local_maximum
    assert result.noise_variance == pytest.approx(0.01, rel=0.5)
    if fits:
        expected = fit(operator.dense(), y, first_noise_variance=0.005)
        assert result.log_evidence == expected.log_evidence


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_kernel_without_a_usable_function_is_said_in_words(on_demand, monkeypatch, kernel, fits):
    if not fits:
        monkeypatch.setattr("sparsebayes.bases.on_demand.HELD_AFTER_ALL", 0)
    y = np.random.default_rng(0).standard_normal(100)
    with pytest.raises(ValueError, match="no usable column"):
        RelevanceVectorRegressor(kernel, gamma=1.0).fit(np.zeros((100, 2)), y)


def test_kernel_so_wide_that_a_factor_cannot_tell_its_functions_apart(on_demand, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 2))
    y = 0.5 * X.sum(axis=1) + np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(400)
    found = RelevanceVectorRegressor(gamma=3e-14).fit(X, y)
    monkeypatch.setattr("sparsebayes.bases.kernels.HELD_ELEMENTS", 10**6)
    expected = RelevanceVectorRegressor(gamma=3e-14).fit(X, y)
    assert found.log_evidence_ > expected.log_evidence_ - 1


def test_overflow_is_said_in_words_and_once(on_demand):
    X = np.random.default_rng(0).uniform(-1e3, 1e3, (100, 1))
    with pytest.raises(ValueError, match="not finite"):
        RelevanceVectorRegressor("poly", gamma=1.0, degree=400).fit(X, X[:, 0])
