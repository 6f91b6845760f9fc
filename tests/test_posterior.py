import array_api_strict
import numpy as np
import pytest
from brute import PRIORS, covariance, log_evidence, problem_of, random_problem

from sparsebayes.posterior import Scores

SHAPES = [(30, 12), (12, 30), (40, 40)]


def _state(seed, N, M, prior=None, xp=np):
    Phi, t, _ = random_problem(seed, N, M, 4)
    rng = np.random.default_rng(seed + 100)
    J = np.sort(rng.choice(M, min(6, N, M), replace=False))
    alpha, beta = 10 ** rng.uniform(-2, 1, len(J)), 10 ** rng.uniform(1, 2)
    problem = problem_of(Phi, t, prior, xp=xp)
    return Phi, t, problem.start(J, xp.asarray(alpha), beta)


@pytest.mark.parametrize(("N", "M"), SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_evidence_equals_the_brute_force_density(seed, N, M):
    Phi, t, state = _state(seed, N, M)
    expected = log_evidence(Phi[:, state.J], t, state.alpha, state.beta)
    assert state.evidence == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("N", "M"), SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_mean_covariance_and_scores_equal_brute_force(seed, N, M):
    Phi, t, state = _state(seed, N, M)
    A = Phi[:, state.J]
    Sigma = np.linalg.inv(np.diag(state.alpha) + state.beta * A.T @ A)
    np.testing.assert_allclose(state.covariance, Sigma, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(state.mean, state.beta * Sigma @ A.T @ t, rtol=1e-8)
    assert state.residual == pytest.approx(np.sum((t - A @ state.mean) ** 2), rel=1e-8)
    C = covariance(A, state.alpha, state.beta)
    S, Q = np.einsum("nm,nm->m", Phi, np.linalg.solve(C, Phi)), Phi.T @ np.linalg.solve(C, t)
    outside = np.setdiff1d(np.arange(M), state.J)
    scores = Scores(state)
    np.testing.assert_allclose(scores.S[outside], S[outside], rtol=1e-7)
    np.testing.assert_allclose(scores.Q[outside], Q[outside], rtol=1e-7, atol=1e-10)
    s, q = state.inside
    np.testing.assert_allclose(s, state.alpha * S[state.J] / (state.alpha - S[state.J]), rtol=1e-6)
    np.testing.assert_allclose(q, state.alpha * Q[state.J] / (state.alpha - S[state.J]), rtol=1e-6)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_every_predicted_gain_equals_the_change_of_the_objective(seed, name):
    _, _, state = _state(seed, 30, 20, PRIORS[name])
    problem, before = state.problem, state.objective
    scores = Scores(state)
    added = 0
    for m in np.setdiff1d(np.arange(20), state.J):
        if np.isfinite(scores.alpha[m]):
            alpha = np.append(state.alpha, scores.alpha[m])
            after = problem.start(np.append(state.J, m), alpha, state.beta)
            assert after.objective - before == pytest.approx(scores.gain[m], rel=1e-7, abs=1e-9)
            added += 1
    assert added
    for k in range(state.size):
        others = np.delete(np.arange(state.size), k)
        assert state.keep(others).objective - before == pytest.approx(-state.worth[k], rel=1e-7, abs=1e-9)
        target = state.best_alpha[k]
        if np.isfinite(target):
            alpha = state.alpha.copy()
            alpha[k] = target
            s, q = (x[k : k + 1] for x in state.inside)
            best = problem.prior.gain(np.asarray([target]), s, q, state.beta, np.ones(1))[0]
            after = problem.state(state.active, alpha, state.beta)
            assert after.objective - before == pytest.approx(best - state.worth[k], rel=1e-7, abs=1e-9)


def test_a_small_residual_is_taken_from_the_rows():
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((50, 5))
    Phi /= np.linalg.norm(Phi, axis=0)
    t = Phi @ rng.standard_normal(5)
    t /= np.sqrt(np.mean(t**2))
    noisy = t + 1e-9 * rng.standard_normal(50)
    state = problem_of(Phi, noisy).start(np.arange(5), np.full(5, 1e-8), 1e16)
    direct = np.sum((noisy - Phi @ state.mean) ** 2)
    assert state.residual == pytest.approx(direct, rel=1e-6)
    assert state.residual > 0


@pytest.mark.parametrize("name", PRIORS)
def test_states_and_scores_follow_the_array_standard(name):
    _, _, plain = _state(1, 30, 20, PRIORS[name])
    _, _, strict = _state(1, 30, 20, PRIORS[name], xp=array_api_strict)
    assert strict.objective == pytest.approx(plain.objective, rel=1e-10)
    np.testing.assert_allclose(np.asarray(Scores(strict).gain), Scores(plain).gain, rtol=1e-8, atol=1e-10)
