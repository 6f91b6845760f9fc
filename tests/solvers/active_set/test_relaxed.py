"""The start for fewer rows than candidates: rich models of the uniform prior, deleted from under the strict prior."""

from dataclasses import replace

import numpy as np
import pytest

from sparsebayes import ActiveSet, SparseBayesRegressor, fit
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.priors import Smoothness
from sparsebayes.solvers.active_set.relaxed import (
    RelaxedSettings,
    best_of_deletions,
    deletions,
    most_relevant,
    pruned_by_em,
    relaxable,
    relaxed,
)
from sparsebayes.solvers.active_set.search import DEFAULT


def _spikes(seed, N=60, M=120, active=15, noise=0.01):
    rng = np.random.default_rng([seed, N, M])
    Phi = rng.standard_normal((N, M))
    Phi /= np.linalg.norm(Phi, axis=0)
    w = np.zeros(M)
    w[rng.choice(M, active, replace=False)] = rng.choice([-1.0, 1.0], active)
    return Phi, Phi @ w + noise * rng.standard_normal(N), w


def _problem(seed, prior=None, **kwargs):
    Phi, t, _ = _spikes(seed, **kwargs)
    t = t / np.sqrt(np.mean(t * t))
    quadratic = DenseQuadratic(float(len(t)), t @ t, Phi.T @ t, Phi.T @ Phi)
    prior = Smoothness(np.log(len(t))) if prior is None else prior
    return Problem(quadratic, prior, GaussianNoise(10.0, True, beta_max=1e10), np.ones(Phi.shape[1]))


def test_only_for_scarce_rows_a_strict_prior_and_unknown_noise():
    problem = _problem(0)
    assert relaxable(problem)
    assert not relaxable(relaxed(problem))
    assert not relaxable(replace(problem, noise=GaussianNoise(10.0, False)))
    assert not relaxable(_problem(0, N=60, M=61, active=5))
    assert relaxed(problem).prior == Uniform()


@pytest.mark.parametrize("seed", range(3))
def test_em_keeps_what_is_needed_and_no_more_functions_than_rows(seed):
    problem, (_, _, w) = _problem(seed), _spikes(seed)
    rich = pruned_by_em(problem)
    assert rich.size <= problem.quadratic.n
    assert set(np.flatnonzero(w)) <= set(rich.J.tolist())
    assert rich.problem.prior == Uniform()


def test_there_is_no_such_start_with_many_candidates():
    assert relaxable(_problem(0))
    assert not relaxable(_problem(0), RelaxedSettings(candidates=100))


def test_the_most_relevant_functions_have_the_smallest_alpha():
    state = _problem(0).start(range(30), np.random.default_rng(0).permutation(30) + 1.0, 10.0)
    assert most_relevant(state, 1.0) is state
    assert sorted(most_relevant(state, 0.2).alpha) == list(range(1, 13))


def test_deletions_end_with_one_function():
    sizes = [state.size for state in deletions(pruned_by_em(_problem(1)))]
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_deletions_is_under_the_prior_and_leaves_the_low_maximum(seed):
    problem, (_, _, w) = _problem(seed), _spikes(seed)
    best = best_of_deletions(pruned_by_em(problem), problem)
    truth = problem.start(np.flatnonzero(w), np.full(15, 1.0), 1e3)
    assert best.problem is problem
    assert best.objective > truth.objective
    assert set(np.flatnonzero(w)) <= set(best.J.tolist())


@pytest.mark.parametrize("prior", ["bic", "ric"])
@pytest.mark.parametrize("seed", range(3))
def test_never_ends_lower_than_without(seed, prior):
    Phi, t, _ = _spikes(seed, active=22)
    plain = fit(Phi, t, prior=prior, solver=ActiveSet(effort=replace(DEFAULT, relaxed=False)))
    result = fit(Phi, t, prior=prior)
    assert result.objective >= plain.objective - 1e-6
    assert result.converged


def test_the_trace_names_the_start():
    Phi, t, _ = _spikes(0)
    assert "relaxed" in [move.name for move in fit(Phi, t, prior="ric").trace]
    assert "relaxed" not in [move.name for move in fit(Phi, t, prior="ric", effort="fast").trace]


@pytest.mark.parametrize("calls", [1, 5, 30])
def test_a_fit_that_is_stopped_has_a_model_of_the_problem(calls):
    Phi, t, _ = _spikes(2)
    count = iter(range(10_000))
    stopped = fit(Phi, t, prior="ric", callback=lambda progress: next(count) >= calls)
    full = fit(Phi, t, prior="ric")
    assert stopped.objective <= full.objective + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_spikes_are_recovered_with_all_defaults(seed):
    """120 measurements of 512 atoms: every spike is found, and few others."""
    Phi, t, w = _spikes(seed, N=120, M=512, active=20, noise=0.005)
    model = SparseBayesRegressor().fit(Phi, t)
    assert set(np.flatnonzero(w)) <= set(model.relevance_.tolist())
    assert len(model.relevance_) <= 23
    assert np.linalg.norm(model.coef_ - w) < 0.015 * np.linalg.norm(w)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
@pytest.mark.filterwarnings("ignore::sparsebayes.NoiseCollapseWarning")
def test_spikes_without_noise_are_recovered(noise):
    Phi, t, w = _spikes(5, noise=noise)
    model = SparseBayesRegressor().fit(Phi, t)
    assert model.relevance_.tolist() == np.flatnonzero(w).tolist()
    np.testing.assert_allclose(model.coef_, w, atol=1e-3)
