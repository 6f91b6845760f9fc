"""Limits, callbacks and warnings of a fit, and the best model on its way."""

import time
import warnings

import numpy as np
import pytest
from brute import problem_of
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RelevanceVectorRegressor, SlowFitWarning, SparsityWarning, fit
from sparsebayes.core.greedy import Greedy
from sparsebayes.core.solver import Solution
from sparsebayes.datasets import make_sinc
from sparsebayes.solvers.monitor import FitMonitor


def _problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-10, 10, 50))
    return np.exp(-0.1 * (x[:, None] - x[None, :]) ** 2), np.sinc(x / np.pi) + 0.1 * rng.standard_normal(50)


def test_max_time_ends_a_fit_with_what_it_has():
    Phi, t = _problem()

    def slowly(progress):
        time.sleep(0.02)

    with pytest.warns(ConvergenceWarning, match="ran out of max_time"):
        result = fit(Phi, t, solver="greedy", max_time=0.01, callback=slowly)
    assert result.n_iter <= 2
    assert np.isfinite(result.log_evidence)


@pytest.mark.parametrize("limit", [0, -1.0, "soon", np.nan, True])
def test_max_time_is_a_positive_number(limit):
    Phi, t = _problem()
    with pytest.raises(ValueError, match=r"^max_time must be a finite number > 0 or None"):
        fit(Phi, t, max_time=limit)


def test_estimators_have_max_time():
    X, y, _ = make_sinc(60, random_state=0)
    assert RelevanceVectorRegressor(max_time=100.0).fit(X, y).converged_


@pytest.mark.parametrize(
    ("size", "ago", "kind"), [(1001, 3.0, SparsityWarning), (5, 61.0, SlowFitWarning)], ids=["functions", "seconds"]
)
def test_a_fit_that_gets_out_of_hand_says_so_once(size, ago, kind):
    class Large:
        objective, beta = 0.0, 1.0

    Large.size = size
    monitor = FitMonitor()
    monitor.began -= ago
    with pytest.warns(kind, match=f"has {size} functions after .* max_time ends it"):
        monitor.record(Large())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor.record(Large())


def test_a_solution_below_the_path_gives_way_to_the_best_model_on_it():
    problem = problem_of(*_problem())
    monitor = FitMonitor()
    best = Greedy().solve(problem, monitor).state
    lower = Solution(best.moved(best.alpha * 10, best.beta), True)
    chosen = monitor.best_of(lower)
    assert chosen.state.objective == pytest.approx(best.objective, abs=1e-9)
    assert not chosen.converged
    assert monitor.best_of(Solution(best, True)).converged
    other = Greedy().solve(problem_of(*_problem(1)), FitMonitor())
    assert monitor.best_of(other) is other


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_the_search_for_scales_asks_the_callback_and_can_be_stopped(gamma):
    X, y, _ = make_sinc(80, random_state=0)
    seen = []

    def stop_at_three(progress):
        seen.append(progress)
        return len(seen) == 3

    model = RelevanceVectorRegressor(gamma=gamma, callback=stop_at_three).fit(X, y)
    assert [progress.stage for progress in seen] == ["scales"] * 3  # it is not asked again, a first model is fitted
    assert model.n_iter_ == 1
    assert np.isfinite(model.predict(X)).all()


def test_max_time_counts_the_search_for_scales():
    X, y, _ = make_sinc(80, random_state=0)

    def slowly(progress):
        time.sleep(0.05)

    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="ran out of max_time"):
        model = RelevanceVectorRegressor(gamma="ard", max_time=0.02, callback=slowly).fit(X, y)
    assert time.perf_counter() - start < 5
    assert np.isfinite(model.predict(X)).all()
