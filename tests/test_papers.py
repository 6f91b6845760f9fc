"""What the papers print, held: T01 section 4.1, and the agreement of the algorithms."""

import warnings

import numpy as np
import pytest

from sparsebayes import Bias, LinearSpline, NoiseCollapseWarning, RelevanceVectorRegressor, fit
from sparsebayes.bases import RBF
from sparsebayes.datasets import make_sinc

SOLVERS = ["active-set", "sequential", "mackay", "em"]
BASES = {"gaussian": RBF(width=3.0) + Bias(), "linear spline": LinearSpline() + Bias()}


def _figure_1(solver):
    X, y, _ = make_sinc(n=100, noise=None)
    model = RelevanceVectorRegressor(
        LinearSpline() + Bias(), fit_intercept=False, noise_variance=1e-4, solver=solver
    ).fit(X, y)
    vectors = int((model.relevance_ < 100).sum())
    return model, vectors, 100 in model.relevance_, np.abs(model.predict(X) - y).max()


def test_figure_1_by_the_algorithm_that_drew_it():
    # T01 prints 9 relevance vectors and a largest error of 0.0070
    _, vectors, bias, largest = _figure_1("mackay")
    assert vectors == 9
    assert bias
    assert largest <= 0.0075


def test_figure_1_the_default_solver_is_within_a_nat_of_the_best():
    evidence = {solver: _figure_1(solver)[0].log_evidence_ for solver in SOLVERS}
    assert evidence["active-set"] > max(evidence.values()) - 1
    model, vectors, bias, _ = _figure_1("active-set")
    assert vectors == 9
    assert bias
    assert model.certificate_.is_local_maximum


def test_figure_2_few_vectors_and_a_small_error():
    # uniform noise ±0.2; T01 prints 6 vectors and 0.0245 for one draw
    vectors, errors = [], []
    for seed in range(10):
        X, y, f = make_sinc(n=100, noise="uniform", scale=0.2, random_state=seed)
        model = RelevanceVectorRegressor(LinearSpline() + Bias(), fit_intercept=False).fit(X, y)
        vectors.append((model.relevance_ < 100).sum())
        errors.append(np.sqrt(np.mean((model.predict(X) - f) ** 2)))
    assert 5 <= np.mean(vectors) <= 8
    assert np.mean(errors) < 0.045


@pytest.mark.slow
@pytest.mark.parametrize("basis", BASES)
def test_the_algorithms_agree_and_the_default_is_not_below(basis):
    evidence = {solver: [] for solver in SOLVERS}
    for seed in range(20):
        X, y, _ = make_sinc(n=100, noise="gaussian", scale=0.1, random_state=seed)
        operator = BASES[basis].bind(X).operator(X)
        for solver in SOLVERS:
            evidence[solver].append(fit(operator, y, solver=solver).log_evidence)
    table = np.array([evidence[solver] for solver in SOLVERS])
    assert (table[0] > table.max(axis=0) - 1).all()
    assert (table[0].mean() >= table.mean(axis=1)).all()


@pytest.mark.parametrize("prior", ["aic", "bic", "ric"])
def test_smoothness_priors_do_not_get_stuck_on_splines(prior):
    # a prior that punishes every single function must not stop a sum of them from getting in
    for seed in range(4):
        X, y, f = make_sinc(n=100, noise="uniform", scale=0.2, random_state=seed)
        model = RelevanceVectorRegressor(LinearSpline() + Bias(), fit_intercept=False, prior=prior).fit(X, y)
        assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.08


@pytest.mark.parametrize("prior", ["aic", "bic", "ric"])
def test_stricter_priors_are_sparser_on_columns_that_carry_nothing(prior):
    # P(χ²₁ > 1) = 32 % of orthogonal columns stay under the uniform prior, ever fewer under the others
    rng = np.random.default_rng(0)
    share = {"uniform": [], prior: []}
    for _ in range(5):
        Phi = np.linalg.qr(rng.standard_normal((400, 100)))[0]
        t = 5 * Phi[:, 0] + rng.standard_normal(400)
        for name, kept in share.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error", NoiseCollapseWarning)
                kept.append(len(fit(Phi, t, prior=name, noise_variance=1.0).active) / 100)
    expected = {"aic": 0.083, "bic": 0.008, "ric": 0.0003}[prior]
    assert np.mean(share["uniform"]) == pytest.approx(0.32, abs=0.06)
    assert np.mean(share[prior]) - 0.01 == pytest.approx(expected, abs=0.03)
