"""Probabilities, decisions and attributes say one thing, and the thing the definitions say."""

from copy import copy
from functools import cache

import numpy as np
import pytest
import scipy.sparse
import sklearn
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sparsebayes import (
    RBF,
    Bernoulli,
    Bias,
    Columns,
    Gamma,
    Laplace,
    RelevanceVectorClassifier,
    Smoothness,
    SparseBayesClassifier,
)
from sparsebayes.bases import as_basis
from sparsebayes.laplace import log_probabilities

MODELS = {
    "rbf": RelevanceVectorClassifier(gamma=0.5),
    "rbf without intercept": RelevanceVectorClassifier(gamma=0.5, fit_intercept=False),
    "sum": RelevanceVectorClassifier(RBF(0.3) + Columns(2) + Bias(), fit_intercept=False, prior="bic"),
    "columns": SparseBayesClassifier(),
    "columns, mackay": SparseBayesClassifier(solver="mackay", prior="aic"),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_K = pytest.mark.parametrize("K", [2, 4])


def _problem(seed: int, K: int, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlapping classes around a circle; queries among the data and far away."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    angle = 2 * np.pi * y / K
    X = 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((n, 2))
    return X, y, np.concatenate([rng.uniform(-4, 4, (40, 2)), rng.uniform(-50, 50, (20, 2))])


@cache
def _fitted(name: str, seed: int, K: int) -> tuple:
    X, y, queries = _problem(seed, K)
    return clone(MODELS[name]).fit(X, y), X, y, queries


def _functions(model, X, queries) -> np.ndarray:
    """The retained functions at the queries (n, n_relevant), by the definition of the basis."""
    if isinstance(model, SparseBayesClassifier):
        return queries[:, model.relevance_]
    return as_basis(model.kernel, model.gamma).bind(X)(queries)[:, model.relevance_]


def _covered(model, queries) -> np.ndarray:
    """The queries that are like training rows: at others probabilities tend to the shares of the classes."""
    coverage = model._fitted.moderation and model._fitted.moderation.coverage
    return queries if coverage is None else queries[coverage.doubt(queries) == 0]


def _weights(model) -> np.ndarray:
    return model.dual_coef_ if isinstance(model, RelevanceVectorClassifier) else model.active_coef_


@every_model
@every_K
def test_probabilities_decisions_and_labels_agree(name, K):
    model, _, _, queries = _fitted(name, 0, K)
    for moderated in (True, False):
        model = copy(model).set_params(moderated=moderated)
        p, decision = model.predict_proba(queries), model.decision_function(queries)
        assert p.shape == (60, K)
        assert decision.shape == ((60,) if K == 2 else (60, K))
        assert np.all((p >= 0) & (p <= 1))
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(np.log(p), model.predict_log_proba(queries), rtol=1e-9, atol=1e-15)
        chosen = decision > 0 if K == 2 else decision.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(queries), chosen)
        # far away two probabilities may round to the same
        assert np.all(p[np.arange(60), model.predict(queries)] >= p.max(axis=1) * (1 - 1e-15))
        if K == 2:
            np.testing.assert_allclose(p[:, 1], expit(decision), rtol=1e-9)
        else:
            np.testing.assert_allclose(p, softmax(decision, axis=1), rtol=1e-9)


@every_model
@every_K
@pytest.mark.parametrize("moderated", [True, False])
def test_probabilities_are_those_of_the_result(name, K, moderated):
    model, X, _, queries = _fitted(name, 0, K)
    queries = _covered(model, queries) if moderated else queries
    terms = _functions(model, X, queries)[:, model.terms_[:, 0]]
    expected = np.exp(log_probabilities(model._fitted.result, terms, moderated))
    model = copy(model).set_params(moderated=moderated)
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=1e-9, atol=1e-14)


@every_model
@every_K
def test_plug_in_decision_is_the_weighted_sum_of_the_retained_functions(name, K):
    model, X, _, queries = _fitted(name, 0, K)
    f = _functions(model, X, queries) @ _weights(model).T + model.intercept_
    model = copy(model).set_params(moderated=False)
    expected = f[:, 0] if K == 2 else f
    np.testing.assert_allclose(model.decision_function(queries), expected, rtol=1e-9, atol=1e-9)


@every_model
@every_K
def test_attributes(name, K):
    model, X, _, _ = _fitted(name, 0, K)
    outputs = 1 if K == 2 else K
    size = len(model.relevance_)
    assert model.classes_.tolist() == list(range(K))
    assert _weights(model).shape == model.alpha_.shape == (outputs, size)
    assert model.intercept_.shape == (outputs,)
    assert np.all(np.diff(model.relevance_) > 0)
    position, output = model.terms_.T
    present = np.zeros((outputs, size), dtype=bool)
    present[output, position] = True
    assert len(model.terms_) == present.sum()
    assert present.any(axis=0).all()  # a function in no output would not be there
    np.testing.assert_array_equal(present, np.isfinite(model.alpha_))
    np.testing.assert_array_equal(present, _weights(model) != 0)
    assert model.covariance_.shape == (len(model.terms_),) * 2
    np.testing.assert_allclose(model.covariance_, model.covariance_.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(model.covariance_).min() > 0
    if not model.fit_intercept:
        np.testing.assert_array_equal(model.intercept_, 0.0)
    assert model.converged_
    assert np.isfinite(model.log_evidence_)
    assert len(model.evidence_path_) >= model.n_iter_ >= 1
    if isinstance(model, SparseBayesClassifier):
        assert model.relevance_vectors_.shape == (0, 2)
    elif name != "sum":
        np.testing.assert_array_equal(model.relevance_vectors_, X[model.relevance_])


@every_model
@pytest.mark.parametrize("seed", range(3))
def test_moderation_moves_two_classes_towards_even_odds(name, seed):
    """Seen from the mean of the Gaussian that is averaged over, which for a skew posterior is not at its mode."""
    model, X, _, queries = _fitted(name, seed, 2)
    queries, averaged = _covered(model, queries), model._fitted.result.averaged
    terms = _functions(model, X, queries)[:, model.terms_[:, 0]]
    with_doubt, without = model.predict_proba(queries)[:, 1], Bernoulli().mean(averaged.f_mean(terms))[:, 0]
    assert np.all(np.abs(with_doubt - 0.5) <= np.abs(without - 0.5) + 1e-12)
    assert np.abs(with_doubt - without).max() > 1e-3
    clear = np.abs(without - 0.5) > 1e-9
    np.testing.assert_array_equal(model.predict(queries[clear]), without[clear] > 0.5)


@pytest.mark.parametrize("moderated", [True, False])
@every_K
def test_log_probabilities_are_finite_far_from_the_data(moderated, K):
    X, y, _ = _problem(4, K)
    model = SparseBayesClassifier(moderated=moderated).fit(X, y)
    for distance in (1e2, 1e4, 1e6):
        queries = distance * np.random.default_rng(5).standard_normal((50, 2))
        logs, p = model.predict_log_proba(queries), model.predict_proba(queries)
        assert np.isfinite(logs).all()
        assert logs.max() <= 0
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


def test_small_probabilities_keep_their_digits():
    X, y, _ = _problem(6, 2)
    model = SparseBayesClassifier(moderated=False).fit(X, y)
    f = model.decision_function(1e3 * X)
    assert np.abs(f).max() > 800
    logs = model.predict_log_proba(1e3 * X)
    np.testing.assert_allclose(logs[:, 1] - logs[:, 0], f, rtol=1e-12)
    moderate = np.abs(f) < 700
    p = model.predict_proba(1e3 * X)[moderate]
    np.testing.assert_allclose(np.log(p[:, 1]) - np.log(p[:, 0]), f[moderate], rtol=1e-9)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("moderated", [True, False])
def test_predictions_do_not_depend_on_working_memory(K, moderated):
    X, y, _ = _problem(7, K)
    queries = np.random.default_rng(8).uniform(-4, 4, (900, 2))
    model = RelevanceVectorClassifier(gamma=0.5, moderated=moderated).fit(X, y)
    p = model.predict_proba(queries)
    for memory in (0.05, 1e-9):
        with sklearn.config_context(working_memory=memory):
            np.testing.assert_allclose(model.predict_proba(queries), p, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_sparse_columns_give_the_dense_model(container, fit_intercept, K):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((120, 150)) * (rng.uniform(size=(120, 150)) < 0.3)
    y = (3 * X[:, :K] + rng.gumbel(size=(120, K))).argmax(axis=1)
    dense = SparseBayesClassifier(prior="bic", fit_intercept=fit_intercept).fit(X, y)
    sparse = SparseBayesClassifier(prior="bic", fit_intercept=fit_intercept).fit(container(X), y)
    np.testing.assert_array_equal(sparse.relevance_, dense.relevance_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(sparse.predict_proba(container(X)), dense.predict_proba(X), rtol=1e-6)
    assert sparse.log_evidence_ == pytest.approx(dense.log_evidence_, rel=1e-8)


PRIORS = ["uniform", "aic", "bic", "ric", Gamma(1e-3, 1e-3), Smoothness(0.5), Laplace(), Laplace(2.0)]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, SparseBayesClassifier])
def test_every_prior(prior, K, estimator):
    X, y, queries = _problem(10, K)
    model = estimator(prior=prior).fit(X, y)
    assert np.isfinite(model.predict_log_proba(queries)).all()
    assert model.score(X, y) > 0.8
    assert model.converged_


@pytest.mark.parametrize("solver", ["active-set", "sequential", "mackay", "em"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, SparseBayesClassifier])
def test_every_solver(solver, K, estimator):
    X, y, queries = _problem(11, K, n=45)
    model = estimator(solver=solver, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.8
    assert np.isfinite(model.predict_log_proba(queries)).all()
    reference = estimator().fit(X, y)
    assert model.log_evidence_ > reference.log_evidence_ - 3.0  # another local maximum at worst


def test_callback_sees_progress_and_may_stop_the_fit():
    X, y, queries = _problem(12, 3)
    seen = []

    def stop_at_the_first(progress):
        seen.append(progress)
        return True

    model = RelevanceVectorClassifier(gamma="scale", callback=stop_at_the_first).fit(X, y)
    assert [progress.iteration for progress in seen] == [1]
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.isfinite(model.predict_log_proba(queries)).all()


def test_verbose_prints_progress(capsys):
    X, y, _ = _problem(13, 2)
    SparseBayesClassifier(verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "log evidence" in captured.err


def test_running_out_of_iterations_is_said():
    X, y, _ = _problem(14, 3)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = RelevanceVectorClassifier(max_iter=1).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_nothing_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(RelevanceVectorClassifier(), method)([[0.0]])
