"""What counters greed: the noise lowered in stages, groups of functions rebuilt."""

import warnings

import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import ActiveSet, NoiseCollapseWarning, Sequential, ThinPlateSpline, Wavelet, fit
from sparsebayes.datasets import make_signal
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem
from sparsebayes.priors import Uniform
from sparsebayes.quadratic import DenseQuadratic
from sparsebayes.solvers.base import Solution
from sparsebayes.solvers.rebuild import rebuilt, related
from sparsebayes.solvers.stages import HIGHEST, LOWEST, better, lowered

STAGED = [(Sequential(), Sequential(stages=10)), (ActiveSet(), ActiveSet(stages=10))]
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
    problem = Problem(quadratic, Uniform(), Gaussian(beta, estimate, beta_max=1e10), np.ones(90))
    return problem.start(range(6), np.full(6, 0.5), beta)


@pytest.mark.parametrize(("plain", "staged"), STAGED, ids=["sequential", "active-set"])
@pytest.mark.parametrize(("M", "options"), CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_stages_never_end_lower_and_report_what_they_have(plain, staged, M, options, seed):
    Phi, t = _random(seed, M=M)
    before, after = (fit(Phi, t, solver=solver, **options) for solver in (plain, staged))
    assert after.objective >= before.objective - 1e-6 * abs(before.objective)
    brute = log_evidence(Phi[:, after.active], t, after.alpha, 1 / after.noise_variance)
    assert after.log_evidence == pytest.approx(brute, rel=1e-9)
    assert (np.diff(after.evidence_path) > -1e-7 * np.abs(after.evidence_path[1:])).all()
    assert after.converged
    assert after.certificate.is_local_maximum


@pytest.mark.parametrize(("plain", "staged"), STAGED, ids=["sequential", "active-set"])
def test_stages_find_vectors_that_greed_misses(plain, staged):
    found = {plain: 0, staged: 0}
    for seed in range(6):
        Phi, t, w = _recovery(seed, 45)
        for solver in found:
            result = fit(Phi, t, noise_variance=1e-6, solver=solver)
            guess = np.zeros(200)
            guess[result.active] = result.mean
            found[solver] += bool(np.linalg.norm(guess - w) < 0.05 * np.linalg.norm(w))
    assert found[staged] >= 5
    assert found[staged] >= found[plain] + 2


@pytest.mark.parametrize("estimate", [False, True])
def test_the_noise_goes_down_from_its_highest_to_where_it_stands(estimate):
    standing = _state(0, 50.0, estimate)
    power = standing.problem.quadratic.tt / standing.problem.quadratic.n
    seen = []

    def advance(state):
        assert not state.problem.noise.estimate
        seen.append(1 / state.beta)
        return Solution(state, True)

    end = lowered(standing, 4, advance)
    assert_allclose(seen, np.geomspace(HIGHEST * power, 1 / 50, 5)[:-1])
    assert end.problem is standing.problem
    assert end.beta == 50.0


def test_no_stages_under_a_high_noise_or_once_out_of_iterations():
    assert lowered(_state(0, 2.0), 4, lambda state: Solution(state, True)) is None
    assert lowered(_state(0), 4, lambda state: Solution(state, False)) is None


def test_stages_below_a_collapsed_estimate_end_above_its_floor():
    standing = _state(0, 1e10)
    assert standing.at_noise_floor
    end = lowered(standing, 3, lambda state: Solution(state, True))
    assert 1 / end.beta == pytest.approx(LOWEST)
    assert better(end, standing)
    assert not better(standing, end)


def test_collapse_is_still_said_aloud():
    rng = np.random.default_rng(0)
    Phi, t = rng.standard_normal((30, 60)), rng.standard_normal(30)
    with pytest.warns(NoiseCollapseWarning):
        result = fit(Phi, t, solver=ActiveSet(stages=5, rebuilds=2))
    assert np.isfinite(result.mean).all()


@pytest.mark.parametrize("solver", [Sequential(stages=10), ActiveSet(stages=10, rebuilds=3)])
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
    problem = Problem(quadratic, Uniform(), Gaussian(100.0, False), np.ones(6))
    state = problem.start(range(6), np.ones(6), 100.0)
    Sigma = np.linalg.inv(np.eye(6) + 100.0 * Phi.T @ Phi)
    spread = np.sqrt(np.diag(Sigma))
    expected = np.argsort(-np.abs(Sigma / np.outer(spread, spread))[0])[:3]
    assert_array_equal(related(state, 0, 3), expected)
    assert set(expected) == {0, 3, 5}


def test_a_sweep_keeps_only_what_is_better():
    state = _state(1)
    asked = []

    def regrow(rest, standing):
        asked.append(rest.size)
        assert standing == state.objective
        return rest, True

    worse, going = rebuilt(state, 2, regrow)
    if worse is state:
        assert len(asked) >= 3
    else:
        assert worse.objective > state.objective
    assert going
    same, going = rebuilt(state, 6, regrow)
    assert same is state
    assert going


@pytest.mark.parametrize("seed", [0, 1])
def test_rebuilding_separates_blocks_from_sinc(seed):
    """[SE07, figure 8], where exchanges of single functions leave the splines a share in the steps."""
    X, y, f = make_signal("blocks-sinc", 512, snr=7.0, random_state=seed)
    bound = (Wavelet("haar") + ThinPlateSpline(3.0)).bind(X)
    operator, t, truth = bound.operator(X), y - y.mean(), f - y.mean()
    plain, rebuilding = (fit(operator, t, prior="ric", solver=s) for s in ("active-set", "thorough"))
    assert rebuilding.objective > plain.objective + 5
    haar, spline = bound.select(rebuilding.active).contributions(X, rebuilding.mean)
    assert np.corrcoef(haar[:256], truth[:256])[0, 1] > 0.85
    assert np.corrcoef(spline[256:], truth[256:])[0, 1] > 0.95
