"""One precision for several weights, T outputs and groups of columns, against brute force."""

import math
from dataclasses import dataclass, replace

import array_api_strict
import numpy as np
import pytest
from brute import EVERY_PRIOR, PRIORS, covariance

from sparsebayes.core.greedy import Greedy
from sparsebayes.core.groups import GroupedProblem
from sparsebayes.core.newton import gradient_and_hessian
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic, Products
from sparsebayes.core.solver import Monitor
from sparsebayes.groups.prior import Multiplied, share
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.active_set.exchange import GroupRemovals, best_swaps, swapped
from sparsebayes.solvers.active_set.search import HIGH
from sparsebayes.solvers.certificate import certify
from sparsebayes.solvers.fixed_point import FixedPoint
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.sequential import Sequential
from sparsebayes.solvers.sized import Sized
from sparsebayes.solvers.tables import Table

LABELS = np.array([0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 5, 6, 6, 1, 7, 8])  # not all in a row, sizes 1 to 3


@dataclass(frozen=True)
class Rows(Products):
    Phi: np.ndarray
    Y: np.ndarray

    def residual(self, J, weights):
        return float(np.sum((self.Y - self.Phi[:, J] @ np.asarray(weights)) ** 2))


def data(seed, N=25, M=16, T=3):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M))
    Phi[:, 2] = Phi[:, 1] + 0.3 * Phi[:, 2]  # columns of a group that are far from orthogonal
    Phi /= np.linalg.norm(Phi, axis=0)
    W = np.zeros((M, T))
    W[[0, 1, 2, 6, 10]] = 3 * rng.standard_normal((5, T))
    Y = Phi @ W + 0.3 * rng.standard_normal((N, T))
    return Phi, Y / np.sqrt(np.mean(Y**2))


def problem_of(Phi, Y, prior=None, label=None, xp=np):
    T = Y.shape[1] if Y.ndim == 2 else 1
    scaled = Y / math.sqrt(T)
    quadratic = DenseQuadratic(
        float(len(Y)),
        float(np.sum(scaled**2)),
        xp.asarray(Phi.T @ scaled),
        xp.asarray(Phi.T @ Phi),
        products=Rows(Phi, scaled),
    )
    prior = (prior or Uniform()).resolve(len(Y))
    unit = prior.units(xp.ones(Phi.shape[1]), np.arange(Phi.shape[1]))
    return share(Problem(quadratic, prior, GaussianNoise(10.0, beta_max=1e10), unit), T, label)


def brute_evidence(Phi, Y, alpha, beta):
    """Σ_t log N(y_t | 0, C)."""
    C = covariance(Phi, alpha, beta)
    Y = Y if Y.ndim == 2 else Y[:, None]
    quadratic = np.sum(Y * np.linalg.solve(C, Y))
    return -0.5 * (Y.size * np.log(2 * np.pi) + Y.shape[1] * np.linalg.slogdet(C)[1] + quadratic)


def some_state(problem, seed, size=4):
    rng = np.random.default_rng(seed + 50)
    J = rng.choice(problem.size, size, replace=False)
    return problem.start(J, 10 ** rng.uniform(-1, 1, size), 10 ** rng.uniform(1, 1.7))


CASES = [(1, None), (3, None), (1, LABELS), (3, LABELS), (40, LABELS)]


@pytest.mark.parametrize(("T", "label"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_evidence_and_posterior_equal_brute_force(seed, T, label):
    Phi, Y = data(seed, T=T)
    state = some_state(problem_of(Phi, Y, label=label), seed)
    A, alpha = Phi[:, state.active.J], state.column_alpha
    assert T * state.evidence == pytest.approx(brute_evidence(A, Y, alpha, state.beta), rel=1e-9)
    Sigma = np.linalg.inv(np.diag(alpha) + state.beta * A.T @ A)
    np.testing.assert_allclose(state.covariance, Sigma, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(math.sqrt(T) * state.mean, state.beta * Sigma @ A.T @ Y, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize(("T", "label"), CASES)
def test_every_predicted_gain_equals_the_change_of_the_objective(name, T, label):
    Phi, Y = data(7, T=T)
    problem = problem_of(Phi, Y, EVERY_PRIOR[name], label)
    state = some_state(problem, 7)
    before, scores, added = state.objective, state.scores, 0
    for m in np.setdiff1d(np.arange(problem.size), state.J):
        if np.isfinite(scores.alpha[m]):
            after = state.extended([m], scores.alpha[m : m + 1])
            assert after.objective - before == pytest.approx(scores.gain[m], rel=1e-7, abs=1e-9)
            for factor in (0.9, 1.1):  # the best α is a maximum
                near = state.extended([m], factor * scores.alpha[m : m + 1])
                assert near.objective <= after.objective + 1e-10
            added += 1
    assert added
    for k in range(state.size):
        fewer = state.keep(np.delete(np.arange(state.size), k))
        assert before - fewer.objective == pytest.approx(state.keep_gain[k], rel=1e-7, abs=1e-9)
        if np.isfinite(state.best_alpha[k]):
            alpha = state.alpha.copy()
            alpha[k] = state.best_alpha[k]
            after = state.moved(alpha, state.beta)
            assert after.objective - before == pytest.approx(state.reestimate_gain[k], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize(("T", "label"), CASES)
def test_gradient_and_hessian_equal_differences(name, T, label):
    Phi, Y = data(3, T=T)
    state = some_state(problem_of(Phi, Y, EVERY_PRIOR[name], label), 3)
    gradient, hessian = gradient_and_hessian(state, True)

    def at(theta):
        return state.moved(np.exp(theta[:-1]), math.exp(theta[-1]))

    theta, h = np.append(np.log(state.alpha), math.log(state.beta)), 1e-4
    for i in range(len(theta)):
        step = h * (np.arange(len(theta)) == i)
        far, near = (at(theta + k * step) for k in (2, 1))
        back, behind = (at(theta - k * step) for k in (1, 2))
        slope = (8 * (near.objective - back.objective) - (far.objective - behind.objective)) / (12 * h)
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-8)
        ahead, after = (gradient_and_hessian(each, True)[0] for each in (near, back))
        np.testing.assert_allclose(hessian[i], (ahead - after) / (2 * h), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("label", [None, LABELS])
@pytest.mark.parametrize("T", [2, 5])
def test_identical_outputs_are_one_output(T, label):
    Phi, Y = data(1, T=1)
    one = Greedy().solve(problem_of(Phi, Y, label=label), Monitor()).state
    many = Greedy().solve(problem_of(Phi, np.repeat(Y, T, axis=1), label=label), Monitor()).state
    np.testing.assert_array_equal(np.sort(many.J), np.sort(one.J))
    np.testing.assert_allclose(many.alpha, one.alpha, rtol=1e-6)
    assert many.beta == pytest.approx(one.beta, rel=1e-8)
    np.testing.assert_allclose(math.sqrt(T) * many.mean[:, 0], np.ravel(one.mean), rtol=1e-6)
    assert many.evidence == pytest.approx(one.evidence, rel=1e-9)


def test_groups_of_one_column_are_no_groups():
    Phi, Y = data(2)
    assert not isinstance(problem_of(Phi, Y, label=np.arange(16)[::-1]), GroupedProblem)


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize("seed", range(3))
def test_the_best_precision_of_one_column_is_the_closed_form(seed, name):
    Phi, Y = data(seed, T=1)
    problem = problem_of(Phi, Y[:, 0], EVERY_PRIOR[name])
    state = some_state(problem, seed)
    scores = state.scores
    own = problem.unit if problem.unit.ndim == 2 else problem.unit[:, None]
    multiplied, unit = Multiplied(problem.prior), np.concatenate([own, np.ones((problem.size, 1))], axis=1)
    found = multiplied.maximise(scores.S, scores.q, state.beta, unit)
    inside = np.isfinite(scores.alpha) & scores.free
    np.testing.assert_allclose(found[inside], scores.alpha[inside], rtol=1e-5)
    gain = multiplied.gain(found, scores.S, scores.q, state.beta, unit)
    np.testing.assert_allclose(gain[scores.free], scores.gain[scores.free], atol=1e-8)


SOLVERS = {
    "greedy": Greedy(),
    "active-set": ActiveSet(),
    "drawn": ActiveSet(effort=replace(HIGH, draws=5, last=HIGH.last[2:])),
    "sequential": Sequential(),
    "mackay": FixedPoint("mackay"),
    "em": FixedPoint("em"),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize(("T", "label"), CASES)
def test_the_gain_of_every_swap_equals_the_change_of_the_objective(name, T, label):
    Phi, Y = data(5, T=T)
    state = some_state(problem_of(Phi, Y, PRIORS[name], label), 5)
    swaps, made = best_swaps(state), 0
    for j in np.flatnonzero(np.isfinite(swaps.alpha)):
        change = swapped(state, np.asarray([j]), swaps).objective - state.objective
        assert change == pytest.approx(swaps.gain[j], rel=1e-6, abs=1e-7)
        made += 1
    assert made
    assert not np.isin(swaps.into[swaps.gain > 0], state.J).any()


@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_scores_without_each_group_are_those_of_the_state_without_it(seed, T):
    Phi, Y = data(seed, T=T)
    state = some_state(problem_of(Phi, Y, label=LABELS), seed)
    without = GroupRemovals(state)
    outside = np.setdiff1d(np.arange(state.problem.size), state.J)
    for m in outside:
        s, q = without.factors(np.full(state.size, m))
        for j in range(state.size):
            scores = state.keep(np.delete(np.arange(state.size), j)).scores
            np.testing.assert_allclose(s[j], scores.S[m], rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(q[j], scores.q[m], rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("T", "label"), CASES)
@pytest.mark.parametrize("prior", ["uniform", "aic", "gamma"])
def test_every_solver_ends_in_a_local_maximum(solver, T, label, prior):
    Phi, Y = data(11, T=T)
    problem = problem_of(Phi, Y, EVERY_PRIOR[prior], label)
    solution = SOLVERS[solver].solve(problem, FitMonitor())
    assert solution.converged
    certificate = certify(solution.state)
    assert certificate.is_local_maximum, certificate
    greedy = Greedy().solve(problem, Monitor()).state
    assert solution.state.objective > greedy.objective - (1e-4 if solver in ("active-set", "drawn") else 2.0)


@pytest.mark.parametrize("size", [1, 2])
def test_a_limit_on_the_number_of_groups_is_kept(size):
    Phi, Y = data(11)
    solution = Sized(ActiveSet(), size).solve(problem_of(Phi, Y, label=LABELS), FitMonitor())
    assert solution.state.size == size


def test_sequential_updates_of_several_outputs_are_exact():
    Phi, Y = data(4)
    table, rng = Table(some_state(problem_of(Phi, Y), 4)), np.random.default_rng(0)
    for _ in range(30):
        target = table.target()
        gains = table.gains(target)
        table.act(int(rng.choice(np.flatnonzero(gains > -np.inf))), float(10 ** rng.uniform(-1, 1)))
        exact = Table(table.exact())
        np.testing.assert_allclose(table.S, exact.S, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(table.Q, exact.Q, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(table.mean, exact.mean, rtol=1e-7, atol=1e-8)
        assert table.objective == pytest.approx(exact.objective, rel=1e-9)


@pytest.mark.parametrize("label", [None, LABELS])
def test_the_array_standard_suffices(label):
    Phi, Y = data(2)
    plain, strict = (
        ActiveSet().solve(problem_of(Phi, Y, PRIORS["aic"], label, xp), FitMonitor()).state
        for xp in (np, array_api_strict)
    )
    np.testing.assert_array_equal(plain.J, strict.J)
    assert plain.objective == pytest.approx(strict.objective, rel=1e-9)
