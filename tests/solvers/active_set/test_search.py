"""The search for higher maxima: noise annealing, and removing groups of functions and regrowing the model."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import (
    RBF,
    ActiveSet,
    NoiseCollapseWarning,
    RelevanceVectorRegressor,
    Sequential,
    ThinPlateSpline,
    Wavelet,
    fit,
)
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.core.solver import Solution
from sparsebayes.datasets import make_signal
from sparsebayes.solvers import ActiveSetSettings, Search, Sweep
from sparsebayes.solvers.active_set.search import EFFORTS, LargeNeighbourhoods, as_search, related
from sparsebayes.solvers.annealing import HIGHEST_NOISE, LOWEST_NOISE, annealed, better
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.walk import Walk

SETTINGS = ActiveSetSettings()
FAST, ANNEALING = ActiveSet(effort="fast"), ActiveSet(effort=Search(annealing=10))
REGROWING = ActiveSet(effort=Search(annealing=5, last=(Sweep(4), Sweep(2))))
ANNEALED = [(Sequential(), Sequential(annealing=10)), (FAST, ANNEALING)]
CASES = [(90, {"noise_variance": 0.04}), (30, {}), (90, {"prior": "bic"})]


def _recovery(seed, active, noise=1e-3):
    rng = np.random.default_rng([seed, active])
    Phi = rng.standard_normal((100, 200)) / 10
    w = np.zeros(200)
    w[rng.choice(200, active, replace=False)] = rng.standard_normal(active)
    return Phi, Phi @ w + noise * rng.standard_normal(100), w


def _random(seed, N=60, M=90):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M))
    return Phi, Phi[:, :8] @ rng.normal(0, 1, 8) + 0.2 * rng.standard_normal(N)


def _state(seed, beta=20.0, estimate=True):
    Phi, t = _random(seed)
    Phi = Phi / np.linalg.norm(Phi, axis=0)
    t = t / np.sqrt(np.mean(t * t))
    quadratic = DenseQuadratic(60.0, t @ t, Phi.T @ t, Phi.T @ Phi)
    problem = Problem(quadratic, Uniform(), GaussianNoise(beta, estimate, beta_max=1e10), np.ones(90))
    return problem.start(range(6), np.full(6, 0.5), beta)


@pytest.mark.parametrize(("plain", "annealing"), ANNEALED, ids=["sequential", "active-set"])
@pytest.mark.parametrize(("M", "options"), CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_annealing_never_ends_lower_and_reports_what_it_has(plain, annealing, M, options, seed):
    Phi, t = _random(seed, M=M)
    before, after = (fit(Phi, t, solver=solver, **options) for solver in (plain, annealing))
    assert after.objective >= before.objective - 1e-6 * abs(before.objective)
    brute = log_evidence(Phi[:, after.active], t, after.alpha, 1 / after.noise_variance)
    assert after.log_evidence == pytest.approx(brute, rel=1e-9)
    assert (np.diff(after.evidence_path) > -1e-7 * np.abs(after.evidence_path[1:])).all()
    assert after.converged
    assert after.certificate.is_local_maximum


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # greed selects almost a function per row
@pytest.mark.parametrize(("plain", "annealing"), ANNEALED, ids=["sequential", "active-set"])
def test_annealing_finds_vectors_that_greed_misses(plain, annealing):
    found = {"plain": 0, "annealing": 0}
    for seed in range(6):
        Phi, t, w = _recovery(seed, 45)
        for name, solver in (("plain", plain), ("annealing", annealing)):
            result = fit(Phi, t, noise_variance=1e-6, solver=solver)
            guess = np.zeros(200)
            guess[result.active] = result.mean
            found[name] += bool(np.linalg.norm(guess - w) < 0.05 * np.linalg.norm(w))
    assert found["annealing"] >= 5
    assert found["annealing"] >= found["plain"] + 2


@pytest.mark.parametrize("estimate", [False, True])
def test_the_noise_goes_down_from_its_highest_to_that_of_the_incumbent(estimate):
    incumbent = _state(0, 50.0, estimate)
    power = incumbent.problem.quadratic.tt / incumbent.problem.quadratic.n
    seen = []

    def advance(state):
        assert not state.problem.noise.estimate
        seen.append(1 / state.beta)
        return Solution(state, True)

    end = annealed(incumbent, 4, advance)
    assert_allclose(seen, np.geomspace(HIGHEST_NOISE * power, 1 / 50, 5)[:-1])
    assert end.problem is incumbent.problem
    assert end.beta == 50.0


def test_no_annealing_under_a_high_noise_or_if_a_step_does_not_converge():
    assert annealed(_state(0, 2.0), 4, lambda state: Solution(state, True)) is None
    assert annealed(_state(0), 4, lambda state: Solution(state, False)) is None


def test_annealing_of_a_collapsed_estimate_ends_above_its_floor():
    incumbent = _state(0, 1e10)
    assert incumbent.at_noise_floor
    end = annealed(incumbent, 3, lambda state: Solution(state, True))
    assert 1 / end.beta == pytest.approx(LOWEST_NOISE)
    assert better(end, incumbent, SETTINGS.swap_gain)
    assert not better(incumbent, end, SETTINGS.swap_gain)


def test_collapse_is_still_warned_of():
    rng = np.random.default_rng(0)
    Phi, t = rng.standard_normal((30, 60)), rng.standard_normal(30)
    with pytest.warns(NoiseCollapseWarning):
        result = fit(Phi, t, solver=REGROWING)
    assert np.isfinite(result.mean).all()


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # greed selects almost a function per row
@pytest.mark.parametrize("solver", [Sequential(annealing=10), REGROWING])
def test_iterations_run_out_in_time(solver):
    Phi, t, _ = _recovery(0, 45)
    for most in (1, 5, 40, 100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = fit(Phi, t, noise_variance=1e-6, solver=solver, max_iter=most)
        assert result.n_iter <= most + 1
        assert np.isfinite(result.objective)


def test_related_functions_are_those_whose_weights_trade_off():
    rng = np.random.default_rng(2)
    Phi = rng.standard_normal((50, 6))
    Phi[:, 3] = Phi[:, 0] + 0.1 * rng.standard_normal(50)
    Phi[:, 5] = Phi[:, 0] - 0.2 * rng.standard_normal(50)
    Phi /= np.linalg.norm(Phi, axis=0)
    t = Phi.sum(axis=1)
    quadratic = DenseQuadratic(50.0, t @ t, Phi.T @ t, Phi.T @ Phi)
    problem = Problem(quadratic, Uniform(), GaussianNoise(100.0, False), np.ones(6))
    state = problem.start(range(6), np.ones(6), 100.0)
    Sigma = np.linalg.inv(np.eye(6) + 100.0 * Phi.T @ Phi)
    spread = np.sqrt(np.diag(Sigma))
    expected = np.argsort(-np.abs(Sigma / np.outer(spread, spread))[0])[:3]
    assert_array_equal(related(state, 0, 3), expected)
    assert set(expected) == {0, 3, 5}


def _neighbourhoods(**search):
    return LargeNeighbourhoods(Search(**search), ActiveSet(), Walk(FitMonitor()), time.perf_counter())


def _smooth(seed, n=120):
    """A problem whose evidence has many maxima: a smooth kernel in three inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    t = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] + 0.2 * rng.standard_normal(n)
    return RBF(0.3).bind(X)(X), t


def test_a_sweep_removes_every_function_once_and_goes_on_from_what_is_better(monkeypatch):
    state, removed = _state(1), []
    search = _neighbourhoods()

    def regrown(model, group, noise, swapped=False):
        assert noise == 2.0
        removed.extend(model.J[group].tolist())
        return maximise_jointly(model, 1e-8) if len(removed) == 2 else model.keep(np.delete(range(model.size), group))

    monkeypatch.setattr(search, "_regrown", regrown)
    better_state = search._swept(state, Sweep(2, 2.0))
    assert better_state.objective > state.objective
    assert set(removed) >= set(better_state.J.tolist())
    assert search._swept(better_state, Sweep(better_state.size, 2.0)) is better_state  # nothing would be left


def test_sweeps_end_after_their_tries_when_models_agree_and_when_time_is_over(monkeypatch):
    state, count = _state(1), []

    def regrown(model, group, noise, swapped=False):
        count.append(len(group))
        return model

    for search, sweep, tries in (
        (_neighbourhoods(), Sweep(1, 1.0, tries=3), 3),
        (_neighbourhoods(agreement=2), Sweep(1), 2),
        (_neighbourhoods(seconds=-1.0), Sweep(1), 0),
        (_neighbourhoods(), Sweep(0.5), 2),
    ):
        count.clear()
        monkeypatch.setattr(search, "_regrown", regrown)
        assert search._swept(state, sweep) is state
        assert len(count) == tries if sweep.group == 1 else len(count) >= tries
        assert all(size == sweep.size(state) for size in count)


@pytest.mark.parametrize("seed", range(3))
def test_a_regrown_model_is_a_model_of_the_same_problem(seed):
    Phi, t = _smooth(seed)
    result = fit(Phi, t, effort=Search(starts=(1.7,), sweeps=(Sweep(0.2, 2.5, tries=4),)), fit_intercept=True)
    assert result.converged
    assert result.certificate.is_local_maximum
    centred = t - t.mean()
    brute = log_evidence(
        Phi[:, result.active] - Phi[:, result.active].mean(axis=0), centred, result.alpha, 1 / result.noise_variance
    )
    # one row less counts, and the intercept is integrated out
    n, beta = len(t), 1 / result.noise_variance
    assert result.log_evidence == pytest.approx(brute - 0.5 * np.log(beta / (2 * np.pi)) - 0.5 * np.log(n), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"noise_variance": 0.04}, {"prior": "bic"}, {"sample_weight": True}], ids=str)
def test_more_effort_ends_higher_on_average_and_never_far_below(options):
    gains = {"default": [], "high": []}
    for seed in range(4):
        Phi, t = _smooth(seed)
        if "sample_weight" in options:
            options = {"sample_weight": np.random.default_rng(seed).integers(1, 3, len(t))}
        fast = fit(Phi, t, effort="fast", fit_intercept=True, **options)
        for effort, gain in gains.items():
            quick = replace(EFFORTS[effort], draws=min(EFFORTS[effort].draws, 20), last=EFFORTS[effort].last[-1:])
            gain.append(fit(Phi, t, effort=quick, fit_intercept=True, **options).objective - fast.objective)
    assert np.mean(gains["default"]) > -0.2
    assert np.mean(gains["high"]) >= np.mean(gains["default"]) - 0.1
    assert min(gains["default"]) > -2


def test_the_search_draws_nothing_by_default_and_the_same_with_the_same_seed():
    Phi, t = _smooth(5)
    one, other = (fit(Phi, t, fit_intercept=True, random_state=seed) for seed in (0, 1))
    assert_array_equal(one.active, other.active)
    drawn = Search(starts=(1.7,), draws=12)
    same, again = (fit(Phi, t, effort=drawn, fit_intercept=True, random_state=0) for _ in range(2))
    assert_array_equal(same.active, again.active)
    assert same.objective == again.objective


def test_the_certificate_says_how_many_starts_agreed():
    Phi, t = _smooth(2)
    assert fit(Phi, t, effort="fast", fit_intercept=True).certificate.starts <= 1
    certificate = fit(Phi, t, fit_intercept=True).certificate
    assert certificate.starts >= certificate.agreed >= 0
    assert certificate.starts > 1
    assert certificate.gap > -0.1


def test_seconds_are_kept():
    Phi, t = _smooth(0)
    began = time.perf_counter()
    result = fit(Phi, t, effort=0.5, fit_intercept=True)
    assert result.converged
    assert result.objective >= fit(Phi, t, effort="fast", fit_intercept=True).objective - 1
    assert time.perf_counter() - began > 0.5


@pytest.mark.parametrize("effort", ["slow", 0, -1.0, np.nan, None, True])
def test_an_effort_that_is_none_is_refused(effort):
    with pytest.raises(ValueError, match=r"effort must be one of .*got"):
        as_search(effort)
    with pytest.raises(ValueError, match="effort must be one of"):
        RelevanceVectorRegressor(effort=effort).fit(np.arange(6.0)[:, None], np.arange(6.0))


def test_effort_belongs_to_the_default_solver():
    with pytest.raises(ValueError, match="effort must be 'default' with solver='em', got 'high'"):
        fit(*_smooth(0), solver="em", effort="high")
    assert fit(*_smooth(0), solver=ActiveSet(effort="fast")).converged


@pytest.mark.slow
def test_regrowth_separates_blocks_from_sinc():
    """[SE07, figure 8], where exchanges of single functions leave the splines a share in the steps."""
    X, y, f = make_signal("blocks-sinc", 512, snr=7.0, random_state=0)
    bound = (Wavelet("haar") + ThinPlateSpline(3.0)).bind(X)
    operator, t, truth = bound.operator(X), y - y.mean(), f - y.mean()
    plain, regrown = (fit(operator, t, prior="ric", effort=effort) for effort in ("fast", "high"))
    assert regrown.objective > plain.objective + 5
    haar, spline = bound.select(regrown.active).contributions(X, regrown.mean)
    assert np.corrcoef(haar[:256], truth[:256])[0, 1] > 0.85
    assert np.corrcoef(spline[256:], truth[256:])[0, 1] > 0.95
