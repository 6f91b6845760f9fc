"""The default solver ends where no addition and no swap gains more than its tolerance."""

import numpy as np
import pytest
from brute import problem_of

from sparsebayes import RelevanceVectorRegressor, SparsityWarning
from sparsebayes.datasets import make_sinc2d
from sparsebayes.solvers import ActiveSet
from sparsebayes.solvers.active_set.exchange import best_swaps
from sparsebayes.solvers.monitor import FitMonitor

TOLERANCES = (1e-6, 1e-3, 1e-2, 0.3)


def _solved(seed, tol):
    X, y, _ = make_sinc2d(350, 0.1, random_state=seed)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 6.25)
    problem = problem_of(K / np.linalg.norm(K, axis=0), y / np.sqrt(np.mean(y**2)))
    monitor = FitMonitor(max_iter=1000, tol=tol, seed=0)
    return ActiveSet(effort="fast").solve(problem, monitor), monitor


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


def _narrow():
    """Ten inputs, for which a Laplacian kernel is so narrow that a function per row reproduces the targets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((450, 10))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(450)


def test_a_model_with_almost_a_function_per_row_ends_the_fit_before_the_noise_vanishes():
    X, y = _narrow()
    with pytest.warns(SparsityWarning, match="The fit was ended with") as said:
        model = RelevanceVectorRegressor("laplacian", gamma="scale").fit(X, y)
    assert len(said) == 1
    assert not model.converged_
    assert model.trace_[-1].name == "saturated"
    settings = ActiveSet().settings
    assert max(settings.crowded, settings.saturated * 450) < len(model.relevance_vectors_) < 450
    assert model.noise_variance_ > 1e-4 * y.var()


def test_a_noise_that_is_given_cannot_vanish_and_such_a_model_goes_to_the_end():
    X, y = _narrow()
    with pytest.warns(SparsityWarning, match="The model is not sparse"):
        model = RelevanceVectorRegressor("laplacian", gamma="scale", noise_variance=1e-4).fit(X, y)
    assert model.converged_
    assert len(model.relevance_vectors_) > ActiveSet().settings.saturated * 450
