"""Posterior, evidence and scores against their definitions."""

import math
from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
from brute import EVERY_PRIOR, PRIORS, covariance, log_evidence, problem_of, random_problem

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, Scores
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic, Products

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
    s, q = state.factors
    np.testing.assert_allclose(s, state.alpha * S[state.J] / (state.alpha - S[state.J]), rtol=1e-6)
    np.testing.assert_allclose(q, state.alpha * Q[state.J] / (state.alpha - S[state.J]), rtol=1e-6)


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize("seed", range(3))
def test_every_predicted_gain_equals_the_change_of_the_objective(seed, name):
    _, _, state = _state(seed, 30, 20, EVERY_PRIOR[name])
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
        assert state.keep(others).objective - before == pytest.approx(-state.keep_gain[k], rel=1e-7, abs=1e-9)
        target = state.best_alpha[k]
        if np.isfinite(target):
            alpha = state.alpha.copy()
            alpha[k] = target
            s, q = (x[k : k + 1] for x in state.factors)
            best = problem.prior.gain(np.asarray([target]), s, q, state.beta, state.unit[k : k + 1])[0]
            after = state.moved(alpha, state.beta)
            assert after.objective - before == pytest.approx(best - state.keep_gain[k], rel=1e-7, abs=1e-9)
            assert after.objective - before == pytest.approx(state.reestimate_gain[k], rel=1e-7, abs=1e-9)
            assert state.reestimate_gain[k] >= -1e-12
        else:
            assert k in state.useless
            assert state.reestimate_gain[k] == -state.keep_gain[k] > 0


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


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_the_objective_is_the_evidence_and_the_log_priors(name):
    Phi, t, _ = random_problem(0, 30, 12, 4)
    problem = problem_of(Phi, t, EVERY_PRIOR[name], GaussianNoise(3.0, c=0.4, d=0.05))
    J, alpha = [8, 1, 5], np.asarray([0.2, 0.7, 3.0])
    state = problem.start(J, alpha, 7.0)
    assert state.evidence == pytest.approx(log_evidence(Phi[:, J], t, alpha, 7.0), rel=1e-10)
    density = np.sum(problem.prior.log_density(alpha, 7.0, problem.unit[J]))
    assert state.objective == pytest.approx(state.evidence + density + 0.4 * math.log(7.0) - 0.05 * 7.0, rel=1e-12)


def test_an_offset_is_part_of_the_evidence():
    Phi, t, J = random_problem(0, 30, 12, 4)
    problem = problem_of(Phi, t)
    h, G = problem.quadratic.h, problem.quadratic.G
    shifted = replace(problem, quadratic=DenseQuadratic(30.0, problem.quadratic.tt, h, G, offset=-2.25))
    states = [each.start(J, np.ones(4), 5.0) for each in (problem, shifted)]
    assert states[1].evidence - states[0].evidence == pytest.approx(-2.25)


def test_states_are_kept_extended_and_moved_by_position_and_number():
    Phi, t, _ = random_problem(1, 30, 12, 4)
    problem = problem_of(Phi, t)
    state = problem.start([7, 2, 9], np.asarray([0.1, 0.2, 0.3]), 5.0)
    assert (list(state.J), state.size, state.beta) == ([7, 2, 9], 3, 5.0)
    fewer = state.keep([2, 0])
    assert list(fewer.J) == [9, 7]
    np.testing.assert_array_equal(fewer.alpha, [0.3, 0.1])
    more = state.extended([4], [0.9])
    assert list(more.J) == [7, 2, 9, 4]
    np.testing.assert_array_equal(more.alpha, [0.1, 0.2, 0.3, 0.9])
    moved = state.moved(2 * state.alpha, 6.0)
    assert (list(moved.J), moved.beta) == ([7, 2, 9], 6.0)
    for each in (fewer, more, moved):
        expected = log_evidence(Phi[:, each.J], t, each.alpha, each.beta)
        assert each.evidence == pytest.approx(expected, rel=1e-10)


def test_useless_functions_are_those_that_are_better_deleted():
    Phi, t, J = random_problem(2, 40, 15, 4)
    problem = problem_of(Phi, t)
    others = np.setdiff1d(np.arange(15), J)
    state = problem.start([*J, *others], np.full(15, 0.05), 5.0)
    useless = [
        k
        for k in range(15)
        if not np.isfinite(problem.prior.maximise(*(x[[k]] for x in state.factors), 5.0, np.ones(1)))
    ]
    assert useless
    np.testing.assert_array_equal(state.useless, useless)
    for k in useless:
        assert state.keep(np.delete(np.arange(15), k)).objective > state.objective


def _in_two_rows(ratio, products=None):
    """One function that explains all of t but `ratio` of tᵀt, almost without shrinkage; tᵀt = 50."""
    t = np.asarray([math.sqrt(50 * (1 - ratio)), math.sqrt(50 * ratio)])
    quadratic = DenseQuadratic(2.0, 50.0, t[:1], np.ones((1, 1)), products=products)
    return Problem(quadratic, Uniform(), GaussianNoise(10.0), np.ones(1)).start([0], np.asarray([1e-14]), 10.0)


class Exact(Products):
    """Says that every residual is 7."""

    def residual(self, J, weights):
        return 7.0


@pytest.mark.parametrize(("ratio", "from_data"), [(1e-3, False), (1.5e-6, False), (0.5e-6, True), (1e-9, True)])
def test_a_residual_below_a_millionth_of_the_target_is_taken_from_the_data(ratio, from_data):
    assert _in_two_rows(ratio).residual == pytest.approx(50 * ratio, rel=1e-3)
    expected = 7.0 if from_data else pytest.approx(50 * ratio, rel=1e-3)
    assert _in_two_rows(ratio, Exact()).residual == expected


def test_without_the_data_a_small_residual_has_lost_its_digits():
    """The difference of products is rounding: with it the evidence is off by far, with the data it is exact."""
    rng = np.random.default_rng(3)
    Phi = np.linalg.qr(rng.standard_normal((40, 4)))[0]
    t = Phi @ np.asarray([3.0, -2.0, 1.0, 4.0]) + 1e-9 * rng.standard_normal(40)
    problem, alpha, beta = problem_of(Phi, t), np.full(4, 0.1), 1e18
    blind = replace(problem, quadratic=DenseQuadratic(40.0, float(t @ t), Phi.T @ t, Phi.T @ Phi))
    state, lost = (each.start(range(4), alpha, beta) for each in (problem, blind))
    direct = np.sum((t - Phi @ state.mean) ** 2)
    assert state.residual == pytest.approx(direct, rel=1e-9)
    assert abs(lost.residual - direct) > 0.5 * direct
    # in an orthonormal basis the evidence is a sum over directions, each without cancellation
    h, rest = Phi.T @ t, t - Phi @ (Phi.T @ t)
    variance = 1 / alpha + 1 / beta
    exact = -0.5 * (
        40 * math.log(2 * math.pi)
        + np.sum(np.log(variance) + h**2 / variance)
        - 36 * math.log(beta)
        + beta * rest @ rest
    )
    assert state.evidence == pytest.approx(exact, rel=1e-6)
    assert abs(lost.evidence - exact) > 1


@pytest.mark.parametrize(("excess", "jitter"), [(1e-14, 1e-14), (1.5e-12, 1e-12), (1.5e-10, 1e-10)])
def test_a_gram_matrix_that_rounding_made_indefinite_is_mended_by_the_least_jitter(excess, jitter):
    """The smallest eigenvalue of A + βG is −β·excess; each of the two functions gets β·2·jitter."""
    G = np.asarray([[1.0, 1.0 + excess], [1.0 + excess, 1.0]])
    quadratic = DenseQuadratic(5.0, 5.0, np.ones(2), G)
    state = Problem(quadratic, Uniform(), GaussianNoise(3.0), np.ones(2)).start([0, 1], np.full(2, 1e-30), 4.0)
    ridge = (1 / state.inverse_factor[0, 0] ** 2 - 4.0) / 4.0
    assert ridge == pytest.approx(2 * jitter, rel=0.05, abs=0)


def test_a_gram_matrix_beyond_rounding_is_refused():
    G = np.asarray([[1.0, 1.0 + 3e-10], [1.0 + 3e-10, 1.0]])
    problem = Problem(DenseQuadratic(5.0, 5.0, np.ones(2), G), Uniform(), GaussianNoise(3.0), np.ones(2))
    with pytest.raises(NotPositiveDefinite):
        problem.start([0, 1], np.full(2, 1e-30), 4.0)


@pytest.mark.parametrize(("apart", "free"), [(0.5e-10, False), (1.5e-10, True), (1e-3, True)])
def test_a_function_in_the_span_of_the_active_ones_cannot_be_added(apart, free):
    """S/β of a unit column is the square of what is left of it beyond the active ones."""
    cosine = math.sqrt(1 - apart)
    G = np.asarray([[1.0, cosine, 0.0], [cosine, 1.0, 0.0], [0.0, 0.0, 1.0]])
    quadratic = DenseQuadratic(9.0, 9.0, np.asarray([1.0, 2.0, 0.0]), G)
    problem = Problem(quadratic, Uniform(), GaussianNoise(50.0), np.ones(3))
    scores = problem.start([0], np.asarray([1e-14]), 50.0).scores
    np.testing.assert_array_equal(scores.free, [False, free, True])
    assert np.isfinite(scores.alpha[1]) == free
    assert (scores.gain[1] > 0) == free
    np.testing.assert_array_equal(np.isfinite(scores.theta), [False, free, True])
    if free:
        assert scores.S[1] == pytest.approx(50 * apart, rel=1e-4)


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_the_best_addition_and_theta(name):
    _, _, state = _state(2, 30, 20, EVERY_PRIOR[name])
    scores = state.scores
    assert scores is state.scores
    assert scores.best_gain == scores.gain[scores.best] == scores.gain.max()
    outside = np.setdiff1d(np.arange(20), state.J)
    np.testing.assert_allclose(scores.theta[outside], scores.Q[outside] ** 2 - scores.S[outside])
    assert np.isneginf(scores.theta[state.J]).all()
    assert (scores.gain[state.J] == 0).all()
    assert (scores.Q[state.J] == 0).all()
    whitened = state.inverse_factor @ state.problem.quadratic.rows(state.J)
    np.testing.assert_allclose(scores.whitened, whitened, rtol=1e-10, atol=1e-12)


def test_a_precision_beyond_working_accuracy_leaves_a_function_that_explains_nothing():
    Phi, t, _ = random_problem(0, 20, 5, 2)
    state = problem_of(Phi, t).start([0, 1], np.asarray([1e22, 0.5]), 3.0)
    s, _ = state.factors
    assert s[0] > 0
    assert s[0] * state.variance[0] < 1e-14
    assert np.isfinite(state.keep_gain).all()


def test_a_state_says_whether_its_noise_is_at_the_floor():
    Phi, t, J = random_problem(0, 20, 5, 2)
    problem = problem_of(Phi, t, noise=GaussianNoise(1.0, beta_max=1e3))
    assert problem.start(J, np.ones(2), 1e3).at_noise_floor
    assert not problem.start(J, np.ones(2), 900.0).at_noise_floor
