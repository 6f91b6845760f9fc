"""The default solver ends where no addition and no swap gains more than its tolerance."""

import numpy as np
import pytest
from brute import problem_of

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc2d
from sparsebayes.solvers import ActiveSet
from sparsebayes.solvers.active_set.exchange import best_swaps
from sparsebayes.solvers.monitor import FitMonitor

TOLERANCES = (1e-6, 1e-3, 1e-2, 0.3)


def _solved(seed, tol):
    X, y, _ = make_sinc2d(350, 0.1, random_state=seed)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 6.25)
    problem = problem_of(K / np.linalg.norm(K, axis=0), y / np.sqrt(np.mean(y**2)))
    monitor = FitMonitor(max_iter=1000, tol=tol, rng=np.random.default_rng(0))
    return ActiveSet().solve(problem, monitor), monitor


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_gains_tol_is_left_and_no_swap_either(seed):
    objectives, swap_gain = [], ActiveSet().settings.swap_gain
    for tol in TOLERANCES:
        solution, _ = _solved(seed, tol)
        state = solution.state
        assert solution.converged
        assert float(state.scores.gain.max()) <= tol
        assert best_swaps(state).gain.max() <= 2 * max(swap_gain, tol)  # the last Newton steps move it
        objectives.append(state.objective)
    assert min(objectives) > max(objectives) - 5


def test_a_larger_tol_takes_fewer_iterations():
    iterations = np.asarray([[len(_solved(seed, tol)[1].path) for tol in TOLERANCES] for seed in range(6)])
    total = iterations.sum(axis=0)
    assert (np.diff(total) <= 0).all()
    assert total[-1] < total[0]


def test_the_last_swaps_leave_a_certified_maximum():
    for seed in range(4):
        X, y, _ = make_sinc2d(400, 0.1, random_state=100 + seed)
        model = RelevanceVectorRegressor(gamma=0.16).fit(X, y)
        assert model.certificate_.is_local_maximum
