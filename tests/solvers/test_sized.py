"""The best model of a size, and nested models, against exhaustive search and brute force."""

from itertools import combinations, pairwise, product

import array_api_strict
import numpy as np
import pytest
from brute import log_evidence, problem_of, random_problem
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import ActiveSet, FixedPoint, Greedy, Sequential
from sparsebayes.core.newton import polish
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.solver import Monitor
from sparsebayes.priors import Smoothness, Uniform
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.sized import Sized, SizedSettings, nested, unlimited, without_least


def wide_problem(seed, prior=None, noise=None):
    """Overlapping Gaussian functions: many ways to do the same work."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-5, 5, 60))
    Phi = np.exp(-((x[:, None] - x[None, ::2]) ** 2))
    Phi /= np.linalg.norm(Phi, axis=0)
    t = np.sin(2 * x) + 0.5 * np.sin(5 * x) + 0.1 * rng.standard_normal(60)
    t /= np.sqrt(np.mean(t**2))
    return Phi, t, problem_of(Phi, t, prior, noise)


def best_of_size(problem, size):
    """The largest objective of all models of `size` functions, each with Newton steps to the end."""
    start = np.ones(size)
    states = (polish(problem.start(J, start, 10.0)) for J in combinations(range(problem.quadratic.size), size))
    return max(state.objective for state in states)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_small_models_are_the_best_of_all_subsets(seed, size):
    problem = problem_of(*random_problem(seed, 40, 12, 6)[:2])
    solution = Sized(ActiveSet(), size).solve(problem, Monitor())
    assert solution.state.size == size
    assert solution.converged
    assert solution.state.objective >= best_of_size(problem, size) - 1e-6


def test_small_models_of_overlapping_functions_are_mostly_the_best_of_all_subsets():
    """No single swap or regrown group leads to a pair that is only useful together: a search is no proof."""
    behind = []
    for seed, size in product(range(4), (2, 3)):
        Phi, t, _ = wide_problem(seed)
        problem = problem_of(Phi[:, ::2], t)
        behind.append(best_of_size(problem, size) - Sized(ActiveSet(), size).solve(problem, Monitor()).state.objective)
    assert np.median(behind) < 1e-6
    assert max(behind) < 0.5


PROBLEMS = {
    "uniform": {},
    "bic": {"prior": Smoothness("bic")},
    "known noise": {"noise": GaussianNoise(100.0, estimate=False)},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", PROBLEMS)
@pytest.mark.parametrize("seed", range(3))
def test_the_limit_holds_and_more_functions_are_better(seed, case):
    _, _, problem = wide_problem(seed, **PROBLEMS[case])
    free = ActiveSet().solve(problem, Monitor()).state
    reached = -np.inf
    for most in range(1, free.size):
        state = Sized(ActiveSet(), most).solve(problem, Monitor()).state
        assert state.size <= most
        assert state.objective > reached - 1e-6
        reached = state.objective


@pytest.mark.parametrize("solver", [ActiveSet(), ActiveSet(effort="fast"), Greedy(), Sequential(), FixedPoint()])
def test_any_solver_can_be_limited(solver):
    _, _, problem = wide_problem(0)
    assert Sized(solver, 4).solve(problem, FitMonitor()).state.size == 4
    assert unlimited(Sized(solver, 4)) is unlimited(solver) is solver


def test_a_model_that_is_small_enough_is_unchanged():
    _, _, problem = wide_problem(0)
    free = ActiveSet().solve(problem, Monitor())
    for most in (free.state.size, free.state.size + 1, 1000):
        same = Sized(ActiveSet(), most).solve(problem, Monitor())
        assert_array_equal(same.state.J, free.state.J)
        assert_array_equal(same.state.alpha, free.state.alpha)
        assert same.state.beta == free.state.beta


def test_the_model_of_a_size_is_better_than_what_deletion_leaves():
    Phi, t, problem = wide_problem(1)
    free = ActiveSet().solve(problem, Monitor()).state
    for state in list(nested(free))[1:]:
        limited = Sized(ActiveSet(), state.size).solve(problem, Monitor()).state
        assert limited.objective >= state.objective - 1e-3
        assert_allclose(limited.evidence, log_evidence(Phi[:, limited.J], t, limited.alpha, limited.beta))


@pytest.mark.parametrize("iterations", [1, 2, 5, 9, 14])
def test_a_fit_that_is_stopped_is_within_the_limit(iterations):
    _, _, problem = wide_problem(0)
    monitor = FitMonitor(max_iter=iterations)
    solution = monitor.best_of(Sized(ActiveSet(), 3).solve(problem, monitor))
    assert solution.state.size <= 3
    assert not solution.converged


def test_regrowing_raises_the_evidence():
    """On problems with many local maxima of a size, sweeps find a higher one somewhere and lose nowhere."""
    gains = []
    for seed in range(5):
        _, _, problem = wide_problem(seed)
        swaps, sweeps = (
            Sized(ActiveSet(), 7, SizedSettings(cycles=cycles)).solve(problem, Monitor()).state.objective
            for cycles in (0, 3)
        )
        gains.append(sweeps - swaps)
    assert min(gains) > -1e-6
    assert max(gains) > 0.1


@pytest.mark.parametrize("prior", [Uniform(), Smoothness("aic")])
@pytest.mark.parametrize("seed", range(3))
def test_nested_models(seed, prior):
    Phi, t, problem = wide_problem(seed, prior)
    free = ActiveSet().solve(problem, Monitor()).state
    states = list(nested(free))
    assert states[0] is free
    assert states[-1].size == 1
    for larger, smaller in pairwise(states):
        assert smaller.size < larger.size
        assert set(smaller.J) < set(larger.J)
        assert smaller.objective < larger.objective + 1e-6
        assert_allclose(smaller.evidence, log_evidence(Phi[:, smaller.J], t, smaller.alpha, smaller.beta))
        again = problem.start(smaller.J, smaller.alpha, smaller.beta)
        assert_allclose(smaller.evidence, again.evidence)
        assert_allclose(polish(again).objective, smaller.objective, atol=1e-4)


def test_the_least_useful_function_is_the_one_whose_deletion_costs_least():
    _, _, problem = wide_problem(2)
    state = ActiveSet().solve(problem, Monitor()).state
    deleted = [state.keep(np.delete(np.arange(state.size), k)).objective for k in range(state.size)]
    assert without_least(state, 1).objective == pytest.approx(max(deleted))
    assert without_least(state, 3).size == state.size - 3


def test_large_models_lose_several_functions_at_a_time():
    _, _, problem = wide_problem(0)
    free = ActiveSet().solve(problem, Monitor()).state
    sizes = [state.size for state in nested(free, SizedSettings(step=0.3))]
    assert max(-np.diff(sizes)) >= int(0.3 * free.size) > 1
    assert sizes[-1] == 1


def test_another_array_library():
    Phi, t, problem = wide_problem(0)
    strict = problem_of(Phi, t, xp=array_api_strict)
    limited, other = (Sized(Greedy(), 5).solve(each, Monitor()).state for each in (problem, strict))
    assert_array_equal(np.sort(other.J), np.sort(limited.J))
    assert_allclose(other.objective, limited.objective)
    assert [state.size for state in nested(other)] == [state.size for state in nested(limited)]
