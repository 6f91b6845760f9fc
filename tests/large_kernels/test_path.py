"""Fits of kernels that are never formed, against the same fits with the kernel matrix."""

import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes.bases import (
    RBF,
    KernelMemory,
    KernelOperator,
    Laplacian,
    Linear,
    LowRankSettings,
    Polynomial,
    Sigmoid,
)
from sparsebayes.core.noise import Gaussian
from sparsebayes.datasets import make_friedman, make_sinc2d
from sparsebayes.large_kernels import KernelPath, WorkingSetSettings
from sparsebayes.large_kernels.columns import TrueColumns
from sparsebayes.large_kernels.path import _sample
from sparsebayes.priors import as_prior
from sparsebayes.rows.memory import summarise
from sparsebayes.solvers import NAMED, ActiveSet, Search
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, solve_regression, warn_about

GAMMA = 1 / 2.5**2
ANY_RANK = LowRankSettings(rows_per_rank=1)
NO_FACTOR = LowRankSettings(max_rank=2)
FITS, NEVER_FITS = KernelMemory(), KernelMemory(fits=0)
# several blocks in a scoring pass, first of a sample
BY_COLUMNS = {"memory": NEVER_FITS, "low_rank": NO_FACTOR}
IN_BLOCKS = WorkingSetSettings(first=100, sample=100, block_elements=1000)


def _options(variance=None, guess=None, prior="uniform", solver="active-set", **monitor):
    noise = NoiseOptions(Gaussian(), variance, guess)
    return noise, as_prior(prior), NAMED[solver] if isinstance(solver, str) else solver, FitMonitor(**monitor)


def large_fit(
    X,
    y,
    kernel=None,
    weights=None,
    intercept=True,
    memory=FITS,
    settings=None,
    low_rank=ANY_RANK,
    **options,
):
    """The fit without the kernel matrix, however few the points."""
    kernel = (kernel or RBF(GAMMA)).resolve(X, None)
    noise, prior, solver, monitor = _options(**options)
    path = KernelPath(
        KernelOperator(kernel, X, X, memory),
        y,
        weights,
        intercept,
        noise,
        settings or WorkingSetSettings(),
        low_rank,
    )
    return path.fit(prior, solver, monitor)


def matrix_fit(X, y, kernel=None, weights=None, intercept=True, **options):
    """The same fit with the kernel matrix."""
    noise, prior, solver, monitor = _options(**options)
    matrix = KernelOperator((kernel or RBF(GAMMA)).resolve(X, None), X, X).dense()
    return solve_regression(*summarise(matrix, y, weights, intercept), noise, prior, solver, monitor)


def _predict(result, X, rows, gamma=GAMMA):
    return result.predict(KernelOperator(RBF(gamma), rows, X))


def _evidence(result, X, y, weights=None, gamma=GAMMA):
    """Brute force: log N(y | 0, C), and with an intercept of the contrasts of y less ½ log n."""
    centres, alpha, beta = X[result.active], result.alpha, 1 / result.noise_variance
    if weights is not None:
        X, y = np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    Phi = np.exp(-gamma * ((X[:, None, :] - centres) ** 2).sum(-1))
    if not result.has_intercept:
        return log_evidence(Phi, y, alpha, beta)
    n = len(y)
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
    return log_evidence(contrasts.T @ Phi, contrasts.T @ y, alpha, beta) - 0.5 * np.log(n)


def _true_gain(result, X, y, gamma=GAMMA):
    """What the best addition gains, from the kernel matrix and C itself, one candidate after the other."""
    K = np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(-1))
    Phi = K[:, result.active]
    C = result.noise_variance * np.eye(len(y)) + (Phi / result.alpha) @ Phi.T
    S, Q = (K * np.linalg.solve(C, K)).sum(0), K.T @ np.linalg.solve(C, y)
    ratio = np.delete(Q**2 / S, result.active)
    return np.where(ratio > 1, 0.5 * (ratio - 1 - np.log(np.maximum(ratio, 1))), 0.0).max()


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_low_rank_fit_is_not_below_that_of_the_matrix_and_a_maximum_of_the_true_evidence(seed, many):
    X, y, _ = make_sinc2d(500, 0.1, random_state=seed)
    # with many candidates: samples and shortlists, in blocks
    settings = WorkingSetSettings(sample=50, block_elements=2000) if many else None
    low = large_fit(X, y, intercept=False, settings=settings)
    dense = matrix_fit(X, y, intercept=False)
    assert low.log_evidence == pytest.approx(_evidence(low, X, y), abs=1e-6)
    assert low.log_evidence > dense.log_evidence - 5
    assert low.converged
    assert low.certificate.is_local_maximum
    assert _true_gain(low, X, y) < 1e-4
    assert (np.diff(low.evidence_path) >= -1.0).all()  # it may fall only where another problem takes over


@pytest.mark.parametrize("seed", range(3))
def test_the_sample_does_not_depend_on_the_order_of_rows_if_the_matrix_does_not_fit(seed):
    X, y, _ = make_sinc2d(600, 0.1, random_state=seed)
    order = np.random.default_rng(seed).permutation(600)
    kernel, drawn = RBF(GAMMA).resolve(X, None), []
    for rows, targets in ((X, y), (X[order], y[order])):
        operator = KernelOperator(kernel, rows, rows, NEVER_FITS)
        drawn.append(rows[_sample(TrueColumns(operator, targets, None, True), 50)])
    assert_array_equal(drawn[1], drawn[0])


def test_trace_says_how_many_were_scored_and_chosen_from():
    X, y, _ = make_sinc2d(500, 0.1, random_state=0)
    settings = WorkingSetSettings(sample=50)
    result = large_fit(X, y, settings=settings)
    moves = [(move.name, move.count) for move in result.trace]
    names = [name for name, _ in moves]
    assert names[0] == "initialised"
    assert names.index("working set") < names.index("scored")
    assert moves[-1] == ("scored", 500)  # all candidates in the end
    assert ("scored", 50) in moves
    assert all(0 < count < 500 for name, count in moves if name == "working set")
    assert result.trace[-1].n_active == len(result.active)


@pytest.mark.parametrize("tol", [1e-2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_large_tol_is_no_reason_to_give_up_low_rank(seed, tol):
    X, y, _ = make_sinc2d(500, 0.1, random_state=seed)
    result = large_fit(X, y, intercept=False, tol=tol, settings=WorkingSetSettings(tolerances=(1e-1,)))
    assert result.candidates is None  # the matrix was not formed
    assert result.converged
    assert _true_gain(result, X, y) < 1.1 * tol


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_intercept_and_weights(weighted, seed):
    X, y, _ = make_sinc2d(300, 0.1, random_state=seed)
    weights = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float) if weighted else None
    result = large_fit(X, y + 3.0, weights=weights)
    assert result.log_evidence == pytest.approx(_evidence(result, X, y + 3.0, weights), abs=1e-6)
    assert result.certificate.is_local_maximum


def test_a_constant_added_to_the_target_moves_the_intercept_alone():
    X, y, _ = make_sinc2d(300, 0.1, random_state=0)
    one, other = (large_fit(X, y + c) for c in (0.0, 100.0))
    assert_array_equal(one.active, other.active)
    assert_allclose(_predict(other, X, X) - 100.0, _predict(one, X, X), atol=1e-6)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)


def test_repeated_points_are_one_candidate_the_first():
    X, y, _ = make_sinc2d(200, 0.1, random_state=0)
    twice = np.concatenate([X, X])
    result = large_fit(twice, np.concatenate([y, y]))
    weighted = large_fit(X, y, weights=np.full(len(y), 2.0))
    assert result.active.max() < 200
    assert result.log_evidence == pytest.approx(_evidence(result, twice, np.concatenate([y, y])), abs=1e-6)
    assert np.sqrt(np.mean((_predict(result, twice, X) - _predict(weighted, X, X)) ** 2)) < 0.03


@pytest.mark.parametrize("prior", ["bic", "aic"])
def test_other_priors(prior):
    X, y, _ = make_sinc2d(400, 0.1, random_state=1)
    result, uniform = large_fit(X, y, prior=prior), large_fit(X, y)
    assert result.certificate.is_local_maximum
    assert len(result.active) < len(uniform.active)


@pytest.mark.parametrize("solver", ["sequential", "mackay", ActiveSet(effort=Search(annealing=4))])
def test_other_solvers_get_all_candidates(solver):
    X, y, _ = make_sinc2d(120, 0.1, random_state=1)
    result, dense = large_fit(X, y, solver=solver), matrix_fit(X, y, solver=solver)
    assert_array_equal(result.active, dense.active)
    assert_allclose(result.mean, dense.mean)


@pytest.mark.parametrize("solver", ["active-set", "sequential"])
@pytest.mark.parametrize("kernel", [RBF(0.1), Sigmoid(0.1)])
def test_fits_by_columns_score_every_candidate(kernel, solver):
    X, y, _ = make_friedman(n=240, random_state=0)
    result = large_fit(X, y, kernel, intercept=False, solver=solver, settings=IN_BLOCKS, **BY_COLUMNS)
    assert result.converged
    assert result.certificate.gain_outside <= 1.0
    if isinstance(kernel, RBF):
        assert result.log_evidence == pytest.approx(_evidence(result, X, y, gamma=0.1), abs=1e-6)
        assert _true_gain(result, X, y, gamma=0.1) == pytest.approx(max(result.certificate.gain_outside, 0), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_fits_by_columns_with_curvatures_of_a_sample_of_the_rows(seed):
    """The evidence is that of all rows, and no candidate is left that all rows would want much more."""
    # so many candidates that there are shortlists
    settings = WorkingSetSettings(first=100, sample=20, part=60, block_elements=1000, curvature_rows=250)
    X, y, _ = make_friedman(n=500, random_state=seed)
    result = large_fit(X, y, RBF(0.1), intercept=False, settings=settings, **BY_COLUMNS)
    assert result.converged
    assert result.certificate.gain_outside <= 1.0
    assert result.log_evidence == pytest.approx(_evidence(result, X, y, gamma=0.1), abs=1e-6)
    assert _true_gain(result, X, y, gamma=0.1) < 1.5
    dense = matrix_fit(X, y, RBF(0.1), intercept=False, solver=ActiveSet(effort="fast"))
    assert result.log_evidence > dense.log_evidence - 10


def test_factor_that_disagrees_with_the_kernel_gives_way_to_the_matrix():
    X, y, _ = make_sinc2d(150, 0.1, random_state=2)
    result = large_fit(X, y, settings=WorkingSetSettings(agreement=-1.0))
    dense = matrix_fit(X, y)
    assert_array_equal(result.active, dense.active)
    assert result.log_evidence == dense.log_evidence
    assert_array_equal(result.evidence_path, dense.evidence_path)


def test_target_without_noise_is_fitted_as_with_the_matrix():
    X, _, f = make_sinc2d(150, 0.1, random_state=2)
    result, dense = large_fit(X, f, variance=1e-8), matrix_fit(X, f, variance=1e-8)
    assert result.log_evidence > dense.log_evidence - 5
    assert_allclose(_predict(result, X, X), f, atol=1e-3)


def test_limits_and_callbacks_are_heeded():
    X, y, _ = make_sinc2d(300, 0.1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        warn_about(large_fit(X, y, max_iter=2), FitMonitor(max_iter=2))
    seen = []
    large_fit(X, y, callback=seen.append)
    assert seen[-1].noise_variance == pytest.approx(0.01, rel=0.5)
    stopped = large_fit(X, y, callback=lambda progress: True)
    assert not stopped.converged


def test_many_points_of_one_input():
    X = np.linspace(-10, 10, 5000)[:, None]
    rng = np.random.default_rng(0)
    f = np.sinc(X[:, 0] / np.pi)
    result = large_fit(X, f + 0.1 * rng.standard_normal(5000), RBF(1 / 9), low_rank=LowRankSettings())
    assert result.certificate.is_local_maximum
    assert np.sqrt(np.mean((_predict(result, X, X, 1 / 9) - f) ** 2)) < 0.01
    assert result.noise_variance == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("memory", [NEVER_FITS, FITS])
def test_first_guess_at_the_noise(memory):
    X, y, _ = make_sinc2d(200, 0.1, random_state=0)
    result = large_fit(X, y, intercept=False, guess=0.005, memory=memory)
    assert result.certificate.is_local_maximum
    assert result.noise_variance == pytest.approx(0.01, rel=0.5)
    if memory is FITS:
        expected = matrix_fit(X, y, intercept=False, guess=0.005)
        assert result.log_evidence == expected.log_evidence


@pytest.mark.parametrize("memory", [FITS, NEVER_FITS])
@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Laplacian(1.0)])
def test_kernel_without_a_usable_function_is_said_in_words(kernel, memory):
    y = np.random.default_rng(0).standard_normal(100)
    with pytest.raises(ValueError, match="no usable column"):
        large_fit(np.zeros((100, 2)), y, kernel, memory=memory)


def test_kernel_so_wide_that_a_factor_cannot_tell_its_functions_apart():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 2))
    y = 0.5 * X.sum(axis=1) + np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(400)
    found, expected = (fit(X, y, RBF(3e-14)) for fit in (large_fit, matrix_fit))
    assert found.log_evidence > expected.log_evidence - 1


def test_overflow_is_said_in_words_and_once():
    X = np.random.default_rng(0).uniform(-1e3, 1e3, (100, 1))
    with pytest.raises(ValueError, match="not finite"):
        large_fit(X, X[:, 0], Polynomial(1.0, 400, 0.0))
