"""The start for fewer rows than candidates: rich models of the uniform prior, deleted from under the strict prior."""

from dataclasses import replace

import numpy as np
import pytest

from sparsebayes import ActiveSet, SparseBayesRegressor, fit
from sparsebayes.bases.stacked_operator import as_operator
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.groups.prior import share
from sparsebayes.groups.rescaled import Rescaled
from sparsebayes.priors import Smoothness
from sparsebayes.rows.memory import summarise
from sparsebayes.solvers.active_set.relaxed import (
    Precisions,
    RelaxedSettings,
    best_of_deletions,
    deletions,
    pruned_by_em,
    relaxable,
    relaxed,
)
from sparsebayes.solvers.active_set.search import DEFAULT
from sparsebayes.solvers.fixed_point import em_step


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


def test_only_for_scarce_rows_and_a_strict_prior():
    problem = _problem(0)
    assert relaxable(problem)
    assert not relaxable(relaxed(problem))
    assert relaxable(replace(problem, noise=GaussianNoise(10.0, False)))
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


def test_the_smallest_precisions_are_kept():
    problem = _problem(0)
    model = Precisions(problem, np.arange(30), np.random.default_rng(0).permutation(30) + 1.0)
    assert len(model.smallest(1.0).J) == 30
    few = model.smallest(12 / problem.quadratic.n)
    assert sorted(few.alpha) == list(range(1, 13))
    assert (np.diff(few.J) > 0).all()


@pytest.mark.parametrize("T", [1, 3])
@pytest.mark.parametrize("label", [None, np.arange(30) // 3])
def test_updates_by_the_rows_are_those_of_the_state(T, label):
    rng = np.random.default_rng(T)
    Phi, Y = rng.standard_normal((12, 30)) * rng.uniform(0.1, 3, 30), rng.standard_normal((12, T))
    weights = rng.uniform(0.5, 2, 12)
    quadratic, units = summarise(as_operator(Phi), Y if T > 1 else Y[:, 0], weights, True, merge=False)
    if label is not None:
        quadratic = Rescaled(quadratic, rng.uniform(0.5, 2, 30))
    problem = share(Problem(quadratic, Uniform(), GaussianNoise(10.0), units.unit), T, label)
    alpha = 10 ** rng.uniform(-1, 1, problem.size)
    model = Precisions(problem, np.arange(problem.size), alpha)
    expected = em_step(replace(problem, noise=GaussianNoise(7.0, estimate=False)).start(model.J, alpha, 7.0))[0]
    np.testing.assert_allclose(model.updated(7.0, 1.0).alpha, expected, rtol=1e-8)
    assert model._by_rows(7.0) is not None


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
