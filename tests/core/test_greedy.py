"""The reference solver: each addition is the best one, and it ends where no addition gains."""

from dataclasses import dataclass, field
from dataclasses import replace as changed

import numpy as np
import pytest
from brute import EVERY_PRIOR, problem_of, random_problem

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.core.greedy import Greedy
from sparsebayes.core.newton import gradient_and_hessian, noise_is_free, polish
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import State
from sparsebayes.core.solver import Effort, Monitor, first_state


@dataclass
class Spy(Monitor):
    """Keeps the states that a solver reports, and its notes."""

    states: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def record(self, state):
        self.states.append(state)
        return super().record(state)

    def note(self, name, count, state):
        self.notes.append((name, count, state))


def _problem(seed=0, prior=None, noise=None):
    Phi, t, J = random_problem(seed, 50, 30, 5)
    return problem_of(Phi, t, prior, noise), J


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_it_ends_at_a_local_maximum_where_no_addition_gains(name):
    for seed in range(2):
        problem, J = _problem(seed, EVERY_PRIOR[name])
        monitor = Spy()
        solution = Greedy().solve(problem, monitor)
        state = solution.state
        assert solution.converged
        assert set(J) <= set(state.J)
        assert state.scores.best_gain <= monitor.tol
        assert not len(state.useless)
        gradient, hessian = gradient_and_hessian(state, noise_is_free(state))
        assert np.abs(gradient).max() < 1e-5
        assert np.linalg.eigvalsh(hessian).max() < 1e-6
        assert (np.diff(monitor.path) > 0).all()
        assert monitor.path[-1] == state.objective


def test_every_step_adds_the_best_function_at_its_best_precision():
    problem, _ = _problem()
    monitor = Spy()
    Greedy().solve(problem, monitor)
    first = polish(first_state(problem))
    assert monitor.states[0].objective == first.objective
    assert len(monitor.states) > 4
    for before, after in zip(monitor.states[:-1], monitor.states[1:], strict=True):
        scores = before.scores
        larger = before.extended([scores.best], scores.alpha[[scores.best]])
        assert larger.objective - before.objective == pytest.approx(scores.best_gain, rel=1e-6)
        assert after.objective == pytest.approx(polish(larger).objective, rel=1e-12)
    assert [(name, count) for name, count, _ in monitor.notes] == [("added", 1)] * (len(monitor.states) - 1)
    assert [state for _, _, state in monitor.notes] == monitor.states[1:]


def test_it_stops_when_the_monitor_says_so():
    problem, _ = _problem()
    whole = Spy()
    Greedy().solve(problem, whole)
    for most in (1, 3):
        monitor = Spy(max_iter=most)
        solution = Greedy().solve(problem, monitor)
        assert not solution.converged
        assert monitor.path == whole.path[:most]
        assert solution.state is monitor.states[-1]


def test_a_larger_tolerance_ends_sooner():
    problem, _ = _problem()
    sizes = []
    for tol in (1e-6, 5.0, 1e9):
        solution = Greedy().solve(problem, Monitor(tol=tol))
        assert solution.converged
        assert solution.state.scores.best_gain <= tol
        sizes.append(solution.state.size)
    assert sizes[0] > sizes[1] > sizes[2] == 1


def test_it_goes_on_from_a_start():
    problem, J = _problem()
    start = problem.start(J, np.full(5, 0.1), 5.0)
    monitor = Spy()
    solution = Greedy().solve(problem, monitor, start, Effort.ROUND)
    assert monitor.states[0].objective == polish(start).objective
    assert solution.converged
    assert solution.state.objective >= polish(start).objective


def test_given_noise_is_kept():
    problem, _ = _problem(noise=GaussianNoise(20.0, estimate=False))
    assert Greedy().solve(problem, Monitor()).state.beta == 20.0


def test_it_ends_where_a_function_cannot_be_told_from_the_active_ones(monkeypatch):
    def fail(self, J, alpha):
        raise NotPositiveDefinite

    problem, _ = _problem()
    monkeypatch.setattr(State, "extended", fail)
    solution = Greedy().solve(problem, Monitor())
    assert solution.converged
    assert solution.state.size == 1


def test_it_ends_where_what_is_left_to_gain_is_below_rounding(monkeypatch):
    """An addition that ends no higher is taken back."""
    problem, _ = _problem()
    held = changed(problem, noise=GaussianNoise(problem.noise.beta, estimate=False))
    extended, seen = State.extended, []

    def harmful(self, J, alpha):
        seen.append(self)
        return extended(self, J, alpha) if len(seen) == 1 else self

    monkeypatch.setattr(State, "extended", harmful)
    solution = Greedy().solve(held, Monitor())
    assert len(seen) == 2
    assert solution.converged
    assert solution.state is seen[1]


def test_pure_noise_leaves_a_model_that_is_empty_in_effect():
    Phi = np.eye(12)[:, :3]
    t = np.append(np.full(3, 0.1), np.random.default_rng(0).standard_normal(9))
    solution = Greedy().solve(problem_of(Phi, t), Monitor())
    assert solution.converged
    assert solution.state.size == 1
    assert solution.state.gamma[0] < 1e-6
    assert 1 / solution.state.beta == pytest.approx(np.mean(t**2), rel=1e-6)
