"""The Laplace approximation: mode, evidence, scores and gradients against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from brute import PRIORS, LaplaceModel, codes, random_classes

from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.prior import Uniform
from sparsebayes.laplace import Bernoulli, LaplaceSettings, Multinomial
from sparsebayes.laplace.loop import LaplaceFit
from sparsebayes.laplace.mode import Model, Modes, linear_of
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.solvers import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor

N, M = 40, 8
classes = pytest.mark.parametrize("K", [2, 3, 5])
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])
seeds = pytest.mark.parametrize("seed", range(3))


def _counts(seed, weighted, n=N):
    return np.random.default_rng(seed + 20).uniform(0.3, 2.5, n) if weighted else np.ones(n)


def _engine(Phi, y, counts, center, prior=None, tol=1e-6):
    """The loop over given rows; Bernoulli for one output."""
    likelihood = Bernoulli() if y.shape[1] == 1 else Multinomial(y.shape[1])
    rows = LaplaceRows(DenseOperator(Phi), y, likelihood, counts, center)
    resolved = (prior or Uniform()).resolve(rows.n)
    return LaplaceFit(Modes(rows, resolved), ActiveSet(), FitMonitor(1000, tol))


def _case(K, center, weighted, seed, prior=None):
    """An engine, some candidates with precisions, their mode, and the same model by brute force."""
    Phi, labels = random_classes(seed, N, M, K)
    rng = np.random.default_rng(seed + 30)
    Phi, y, counts = Phi * 10 ** rng.uniform(-2, 2, M), codes(labels, K), _counts(seed, weighted)
    engine = _engine(Phi, y, counts, center, prior)
    rows = engine.rows
    J = np.sort(rng.choice(rows.size, 5, replace=False))
    function, output = rows.split(J)
    alpha = 10 ** rng.uniform(-3, 0.5, len(J))  # on columns of unit norm
    brute = LaplaceModel(Phi, y, function, output, alpha * rows.design.norms[function] ** 2, counts, center)
    mode = engine.modes.find(J, alpha, np.zeros(len(J)), rows.start())
    return engine, mode, brute


def _among_all(engine, mode):
    """The state among all candidates, and the factor that turns its columns into the user's."""
    state = engine.modes.state(mode.expansion, mode.J, mode.alpha)
    norms = engine.rows.design.norms[engine.rows.split(np.arange(engine.rows.size))[0]]
    return state, linear_of(state.problem).scale * norms


@classes
@centred
@weighted
@seeds
def test_mode_and_evidence_equal_brute_force(K, center, weighted, seed):
    engine, mode, brute = _case(K, center, weighted, seed)
    theta = brute.mode()
    rows = engine.rows
    f = brute.design() @ theta
    norms, means = (x[brute.function] for x in (rows.design.norms, rows.design.means))
    np.testing.assert_allclose(mode.w, theta[: len(mode.J)] * norms, rtol=1e-6, atol=1e-6)
    found = rows.predictor(rows.held(mode.J), mode.w, mode.b)
    np.testing.assert_allclose(found, mode.expansion.f, atol=1e-10)
    shift = (f - found).mean(axis=1, keepdims=True) if K > 2 and center else 0.0  # the first was pinned
    np.testing.assert_allclose(found + shift, f, atol=1e-6)
    assert np.std(shift) < 1e-6
    assert mode.state.evidence == pytest.approx(brute.log_evidence(theta), rel=1e-8, abs=1e-8)
    if center and K > 2:
        assert abs(mode.b.sum()) < 1e-9
    if not center:
        np.testing.assert_array_equal(mode.b, 0)
        np.testing.assert_array_equal(means, 0)


@classes
@centred
@weighted
@seeds
def test_scores_of_every_candidate_equal_brute_force(K, center, weighted, seed):
    engine, mode, brute = _case(K, center, weighted, seed)
    state, factor = _among_all(engine, mode)
    assert state.evidence == pytest.approx(mode.state.evidence, rel=1e-9)
    S, Q = brute.scores(brute.mode(), *brute.every())
    outside = np.setdiff1d(np.arange(engine.rows.size), mode.J)
    np.testing.assert_allclose(state.scores.S[outside] * factor[outside] ** 2, S[outside], rtol=1e-7)
    gap = np.abs(state.scores.Q * factor - Q)[outside]
    assert (gap < 1e-7 * np.sqrt(S[outside])).all()
    s, q = state.factors
    own = mode.J
    alpha = brute.alpha
    np.testing.assert_allclose(s * factor[own] ** 2, alpha * S[own] / (alpha - S[own]), rtol=1e-6)
    scale = alpha / (alpha - S[own])
    assert (np.abs(q * factor[own] - scale * Q[own]) < 1e-7 * scale * np.sqrt(alpha)).all()


@pytest.mark.parametrize("name", PRIORS)
@classes
@centred
def test_predicted_gains_equal_the_change_of_the_linearised_objective(name, K, center):
    engine, mode, _ = _case(K, center, True, 1, PRIORS[name])
    state, _ = _among_all(engine, mode)
    scores = state.scores
    wanted = np.flatnonzero(np.isfinite(scores.alpha))
    for c in wanted:
        after = state.extended([c], scores.alpha[c : c + 1])
        assert after.objective - state.objective == pytest.approx(scores.gain[c], rel=1e-7, abs=1e-9)
    assert len(wanted) or name in ("aic", "gamma", "laplace")


@classes
@weighted
@seeds
@centred
def test_gradient_of_the_laplace_evidence_with_the_mode_moving(K, weighted, center, seed):
    """½(1 − αΣ_ii − αw²) plus the term the classical updates drop, against differences of the evidence."""
    _, mode, brute = _case(K, center, weighted, seed)
    theta, h = brute.mode(), 2e-3

    def evidence(step):
        moved = LaplaceModel(
            brute.Phi, brute.y, brute.function, brute.output, brute.alpha * np.exp(step), brute.counts, center
        )
        return moved.log_evidence()

    gradient = brute.evidence_gradient(theta)
    for i, e in enumerate(np.eye(len(mode.J)) * h):
        numerical = (8 * (evidence(e) - evidence(-e)) - (evidence(2 * e) - evidence(-2 * e))) / (12 * h)
        assert gradient[i] == pytest.approx(numerical, abs=1e-8)
    classical = 0.5 * (mode.state.gamma - mode.state.alpha * mode.state.mean**2)
    assert np.abs(gradient - classical).max() > 1e-4  # the term is there
    if K == 2:
        T, w = brute.design()[:, 0, :], theta[: len(mode.J)]
        Sigma = np.linalg.inv(brute.hessian(theta))
        p = brute.mean(T[:, None, :] @ theta)[:, 0]
        slope, h_n = brute.counts * p * (1 - p) * (1 - 2 * p), np.einsum("ni,ij,nj->n", T, Sigma, T)
        dropped = 0.5 * brute.alpha * w * ((h_n * slope) @ (T @ Sigma)[:, : len(w)])
        np.testing.assert_allclose(gradient, classical + dropped, atol=1e-6)


@classes
@centred
@seeds
def test_slope_of_the_laplace_evidence_where_a_candidate_enters(K, center, seed):
    """∂L/∂(1/α) at α = ∞, exact: ½(Q² − S) plus what the moving curvature does."""
    _, mode, brute = _case(K, center, True, seed)
    theta = brute.mode()
    before, unit, v = brute.log_evidence(theta), brute.metric(theta), 1e-3
    for c in np.setdiff1d(np.arange(len(unit)), mode.J)[:3]:
        slope = brute.entry_slope(theta, c) / unit[c]  # of a column of unit norm

        def rise(variance, c=c):
            return (brute.extended(c, unit[c] / variance).log_evidence() - before) / variance

        numerical = (8 * rise(v) - 6 * rise(2 * v) + rise(4 * v)) / 3  # exact to the order of v³
        assert slope == pytest.approx(numerical, abs=2e-5 * (1 + abs(slope)) ** 3)


@seeds
@centred
@weighted
def test_two_classes_of_the_multinomial_with_one_output_pinned_are_the_bernoulli(center, weighted, seed):
    """Weights in the second output only: f₂ − f₁ is then the one output of the Bernoulli."""
    Phi, labels = random_classes(seed, N, M, 2)
    counts = _counts(seed, weighted)
    one = _engine(Phi, codes(labels, 2), counts, center)
    two = _engine(Phi, np.eye(2)[labels], counts, center)
    J, alpha = np.array([0, 2, 5]), np.array([0.01, 0.3, 2.0])
    a = one.modes.find(J, alpha, np.zeros(3), one.rows.start())
    b = two.modes.find(J + M, alpha, np.zeros(3), two.rows.start())
    np.testing.assert_allclose(b.w, a.w, rtol=1e-6)
    np.testing.assert_allclose(b.b[1] - b.b[0], a.b[0], rtol=1e-6, atol=1e-9)
    assert b.state.evidence == pytest.approx(a.state.evidence, rel=1e-9)
    (first, factor), (second, factors) = _among_all(one, a), _among_all(two, b)
    outside = np.setdiff1d(np.arange(M), J)
    for side, sign in ((0, -1), (M, 1)):
        both = outside + side
        np.testing.assert_allclose(
            second.scores.S[both] * factors[both] ** 2,
            first.scores.S[outside] * factor[outside] ** 2,
            rtol=1e-6,
        )
        np.testing.assert_allclose(
            sign * second.scores.Q[both] * factors[both], first.scores.Q[outside] * factor[outside], atol=1e-6
        )
    np.testing.assert_allclose(second.scores.gain[outside + M], first.scores.gain[outside], atol=1e-7)


@classes
@centred
def test_every_start_leads_to_the_same_mode(K, center):
    engine, mode, _ = _case(K, center, True, 4)
    rng = np.random.default_rng(0)
    for size in (0.1, 10.0, 1000.0):
        w = size * rng.standard_normal(len(mode.J))
        b = size * rng.standard_normal(mode.b.shape) if center else mode.b
        again = engine.modes.find(mode.J, mode.alpha, w, b)
        assert again.objective == pytest.approx(mode.objective, rel=1e-8)
        np.testing.assert_allclose(again.w, mode.w, rtol=1e-4, atol=1e-5)


@classes
@centred
@seeds
def test_what_is_not_the_mode_is_no_improvement(K, center, seed):
    """The evidence of the quadratic around other weights can be anything, above zero as well."""
    engine, mode, _ = _case(K, center, False, seed)
    state = engine.modes.state(engine.rows.expand(10 * mode.expansion.f), mode.J, mode.alpha)
    assert mode.reached
    assert engine._better(state, None, -np.inf).reached
    hasty = replace(engine, modes=replace(engine.modes, settings=LaplaceSettings(newton_steps=1)))
    assert not hasty.modes.of_state(state, None).reached
    assert hasty._better(state, None, -np.inf) is None


@classes
@centred
@weighted
def test_a_model_is_carried_to_the_rows_of_other_functions(K, center, weighted):
    """In the units of its columns it does not depend on which other functions there are."""
    engine, mode, brute = _case(K, center, weighted, 2)
    model = Model.of(mode, engine.rows)
    np.testing.assert_allclose(model.alpha, brute.alpha, rtol=1e-12)
    np.testing.assert_allclose(model.w, brute.mode()[: len(mode.J)], rtol=1e-5, atol=1e-6)
    functions = np.unique(model.function)
    rows, counts = engine.rows, engine.rows.counts
    fewer = LaplaceRows(DenseOperator(brute.Phi[:, functions]), rows.y, rows.likelihood, counts, center, functions)
    there = engine.over(fewer).modes.of(model)
    assert there.objective == pytest.approx(mode.objective, rel=1e-10)
    back = Model.of(there, fewer).on(rows)
    for mine, theirs in zip(back, (mode.J, mode.alpha, mode.w, mode.b), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)
    gone = LaplaceRows(DenseOperator(brute.Phi[:, functions[1:]]), rows.y, rows.likelihood, counts, center)
    gone.functions = functions[1:]
    assert len(model.on(gone)[0]) == np.sum(model.function != functions[0])
