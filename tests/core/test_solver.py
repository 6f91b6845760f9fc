"""The monitor, the efforts, and the single function that a solver starts from."""

import inspect
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from brute import log_evidence, problem_of, random_problem

import sparsebayes
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.solver import Effort, Monitor, Solver, first_state
from sparsebayes.core.units import Units


def test_a_monitor_records_in_the_users_units_and_stops_after_max_iter():
    monitor = Monitor(max_iter=3).in_units(Units(10.0, False, target_scale=2.0))
    going = []
    for objective in (1.0, 2.5, 4.0):
        assert monitor.going
        going.append(monitor.record(SimpleNamespace(objective=objective)))
    assert going == [True, True, False]
    assert not monitor.going
    np.testing.assert_allclose(monitor.path, np.asarray([1.0, 2.5, 4.0]) - 10 * np.log(2))
    assert monitor.note("added", 1, None) is None


def test_a_monitor_has_the_limits_that_fit_has_and_a_path_of_its_own():
    defaults = inspect.signature(sparsebayes.fit).parameters
    assert Monitor().max_iter == defaults["max_iter"].default == 10000
    assert Monitor().tol == defaults["tol"].default == 1e-6
    assert Monitor().offset == 0.0
    assert Monitor().path is not Monitor().path


def test_efforts_are_ordered():
    assert Effort.DRAFT < Effort.ROUND < Effort.FULL
    assert len(Effort) == 3


def test_a_solver_is_one_method():
    assert Solver.__abstractmethods__ == {"solve"}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_the_first_function_has_the_largest_projection_and_its_best_alpha(seed, xp):
    Phi, t, _ = random_problem(seed, 30, 12, 3)
    state = first_state(problem_of(Phi, t, noise=GaussianNoise(6.0), xp=xp))
    (best,) = state.J
    assert best == np.argmax(np.abs(Phi.T @ t))
    assert state.beta == 6.0
    evidence = {a: log_evidence(Phi[:, [best]], t, float(state.alpha[0]) * np.asarray([a]), 6.0) for a in (0.9, 1, 1.1)}
    assert evidence[1] > max(evidence[0.9], evidence[1.1])
    single = [log_evidence(Phi[:, [m]], t, np.asarray([float(state.alpha[0])]), 6.0) for m in range(12)]
    assert np.argmax(single) == best


@pytest.mark.parametrize(("ratio", "formula"), [(0.5, False), (1.9, False), (2.1, True), (2.9, True), (50.0, True)])
@pytest.mark.parametrize("beta", [0.25, 1.7])
def test_a_function_that_explains_little_starts_with_its_precision_at_beta(ratio, formula, beta):
    """q²/s = βh² for a single function; near its threshold of 1 the best α would be huge, or infinite."""
    h = np.sqrt(ratio / beta)
    Phi, t = np.eye(3)[:, :2], np.asarray([0.1 * h, -h, 0.2])
    state = first_state(problem_of(Phi, t, noise=GaussianNoise(beta)))
    assert list(state.J) == [1]
    assert float(state.alpha[0]) == pytest.approx(beta / (ratio - 1) if formula else beta)
