"""Searches for dictionaries: noise annealing, and removing groups of functions and regrowing the model."""

import warnings

import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import ActiveSet, NoiseCollapseWarning, Sequential, ThinPlateSpline, Wavelet, fit
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.core.solver import Solution
from sparsebayes.datasets import make_signal
from sparsebayes.solvers import ActiveSetSettings
from sparsebayes.solvers.active_set.thorough import annealed, better, related, sweep_groups
from sparsebayes.solvers.walk import Stopped

SETTINGS = ActiveSetSettings()
ANNEALED = [(Sequential(), Sequential(annealing=10)), (ActiveSet(), ActiveSet(annealing=10))]
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

    end = annealed(incumbent, 4, advance, SETTINGS)
    assert_allclose(seen, np.geomspace(SETTINGS.highest_noise * power, 1 / 50, 5)[:-1])
    assert end.problem is incumbent.problem
    assert end.beta == 50.0


def test_no_annealing_under_a_high_noise_or_if_a_step_does_not_converge():
    assert annealed(_state(0, 2.0), 4, lambda state: Solution(state, True), SETTINGS) is None
    assert annealed(_state(0), 4, lambda state: Solution(state, False), SETTINGS) is None


def test_annealing_of_a_collapsed_estimate_ends_above_its_floor():
    incumbent = _state(0, 1e10)
    assert incumbent.at_noise_floor
    end = annealed(incumbent, 3, lambda state: Solution(state, True), SETTINGS)
    assert 1 / end.beta == pytest.approx(SETTINGS.lowest_noise)
    assert better(end, incumbent, SETTINGS.swap_gain)
    assert not better(incumbent, end, SETTINGS.swap_gain)


def test_collapse_is_still_warned_of():
    rng = np.random.default_rng(0)
    Phi, t = rng.standard_normal((30, 60)), rng.standard_normal(30)
    with pytest.warns(NoiseCollapseWarning):
        result = fit(Phi, t, solver=ActiveSet(annealing=5, regrowth=2))
    assert np.isfinite(result.mean).all()


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # greed selects almost a function per row
@pytest.mark.parametrize("solver", [Sequential(annealing=10), ActiveSet(annealing=10, regrowth=3)])
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


def test_a_sweep_keeps_only_what_is_better():
    state = _state(1)
    seen = []

    def regrow(rest, incumbent):
        seen.append(rest.size)
        assert incumbent is state
        assert incumbent.objective == state.objective
        return rest

    worse = sweep_groups(state, 2, regrow, SETTINGS.swap_gain)
    if worse is state:
        assert len(seen) >= 3
    else:
        assert worse.objective > state.objective
    same = sweep_groups(state, 6, regrow, SETTINGS.swap_gain)
    assert same is state


def test_a_sweep_goes_on_from_what_is_better_and_ends_with_the_fit():
    state = _state(1)
    seen = []

    def regrow(rest, incumbent):
        seen.append(incumbent)
        if len(seen) == 3:
            raise Stopped(incumbent)
        return maximise_jointly(incumbent, 1e-8) if len(seen) == 1 else rest

    with pytest.raises(Stopped) as stopped:
        sweep_groups(state, 2, regrow, SETTINGS.swap_gain)
    assert seen[0] is state
    assert seen[1].objective > state.objective
    assert stopped.value.state is seen[1]


@pytest.mark.parametrize("seed", [0, 1])
def test_regrowth_separates_blocks_from_sinc(seed):
    """[SE07, figure 8], where exchanges of single functions leave the splines a share in the steps."""
    X, y, f = make_signal("blocks-sinc", 512, snr=7.0, random_state=seed)
    bound = (Wavelet("haar") + ThinPlateSpline(3.0)).bind(X)
    operator, t, truth = bound.operator(X), y - y.mean(), f - y.mean()
    plain, regrown = (fit(operator, t, prior="ric", solver=s) for s in ("active-set", "thorough"))
    assert regrown.objective > plain.objective + 5
    haar, spline = bound.select(regrown.active).contributions(X, regrown.mean)
    assert np.corrcoef(haar[:256], truth[:256])[0, 1] > 0.85
    assert np.corrcoef(spline[256:], truth[256:])[0, 1] > 0.95
