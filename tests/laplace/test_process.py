"""The Gaussian process classifier through few functions, against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from sparsebayes.laplace.process import ProcessClassifier, calibrate, pursue


def example(seed=0, n=50, weights=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0).astype(float)
    counts = rng.integers(1, 4, n).astype(float) if weights else np.ones(n)
    return X, K, ProcessClassifier(np.linalg.cholesky(K + 1e-10 * np.eye(n)), y, counts, True)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("share", [0.5, 30.0])
def test_mode_is_that_of_the_process(share, weights):
    _, K, process = example(weights=weights)
    mode = process.mode(share)
    C = share * K + 25.0 + 1e-10 * share * np.eye(len(K))
    # at the mode K⁻¹f is the gradient of the log-likelihood
    np.testing.assert_allclose(C @ (process.counts * (process.y - expit(mode.f))), mode.f, atol=5e-3)


@pytest.mark.parametrize("weights", [False, True])
def test_leaving_a_row_out_is_exact_for_the_quadratic(weights):
    _, _, process = example(weights=weights)
    mode, F = process.mode(10.0), process.features(10.0)
    p = expit(mode.f)
    W = process.counts * p * (1 - p)
    for n in (0, 7, 31):
        one = p[n] * (1 - p[n])
        H = (F * W[:, None]).T @ F + np.eye(F.shape[1]) - one * np.outer(F[n], F[n])
        # the maximum of the quadratic without one copy of the row
        moved = mode.weights - np.linalg.solve(H, F[n] * (process.y[n] - p[n]))
        np.testing.assert_allclose(mode.others[n], F[n] @ moved, rtol=1e-6, atol=1e-6)


def test_leaving_a_row_out_is_near_to_another_fit():
    _, _, process = example(n=40)
    mode, keep = process.mode(3.0), np.arange(40)
    again = []
    for n in range(40):
        rest = keep != n
        other = ProcessClassifier(process.L[rest], process.y[rest], process.counts[rest], True).mode(3.0)
        again.append(process.features(3.0)[n] @ other.weights)
    assert np.abs(mode.others - again).mean() < 0.1 * np.std(again)


@pytest.mark.parametrize("seed", range(3))
def test_calibration_is_the_maximum_and_keeps_the_share(seed):
    rng = np.random.default_rng(seed)
    f, counts = rng.normal(0.5, 3.0, 200), rng.integers(1, 3, 200).astype(float)
    y = (rng.random(200) < expit(0.4 * f - 1)).astype(float)

    def downhill(at):
        g = np.exp(at[0]) * f + at[1]
        return counts @ (np.logaddexp(0, g) - y * g) + 0.5 * (at[0] / 1.5) ** 2

    best = minimize(downhill, [0.0, 0.0], tol=1e-12).x
    found = calibrate(f, y, counts, 1.5)
    np.testing.assert_allclose([np.log(found.slope), found.bias], best, atol=1e-4)
    p = expit(found.slope * f + found.bias)
    np.testing.assert_allclose(counts @ p, counts @ y, rtol=1e-6)
    np.testing.assert_allclose(found.log_loss, -(counts @ np.log(np.where(y > 0, p, 1 - p))) / counts.sum())


def test_separable_predictions_have_a_finite_slope_and_useless_ones_none_to_speak_of():
    f, y = np.linspace(-1, 1, 100), (np.linspace(-1, 1, 100) > 0).astype(float)
    assert 1 < calibrate(f, y, np.ones(100), 1.5).slope < 1e3
    assert 0 < calibrate(-f, y, np.ones(100), 1.5).slope < 0.1  # never negative
    exchanged = calibrate(-f, 1 - y, np.ones(100), 1.5)
    np.testing.assert_allclose(exchanged.slope, calibrate(f, y, np.ones(100), 1.5).slope, rtol=1e-6)


def test_pursuit_takes_the_column_that_helps_most():
    rng = np.random.default_rng(0)
    columns, free, target = rng.standard_normal((20, 12)), rng.standard_normal((20, 1)), rng.standard_normal(20)
    start = np.asarray([3, 5])

    def distance(chosen):
        design = np.concatenate([columns[:, list(chosen)], free], axis=1)
        return np.sum((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2)

    chosen = pursue(columns, free, target, start, 1, 0.0)
    best = min((j for j in range(12) if j not in (3, 5)), key=lambda j: distance([3, 5, j]))
    assert chosen.tolist() == sorted([3, 5, best])
    assert pursue(columns, free, target, start, 5, np.inf).tolist() == [3, 5]
    assert len(pursue(columns, free, target, start, 50, 0.0)) == 12


def test_few_functions_tend_to_the_whole_process():
    _, K, process = example(n=60)
    share, mode, calibration = process.best()
    whole = calibration.slope * mode.f + calibration.bias
    gaps = []
    for most in (2, 8, 60):
        sparse = process.sparse(np.asarray([4]), most)
        assert 4 in sparse.functions
        assert len(sparse.functions) <= most + 1
        assert sparse.share == share
        gaps.append(np.abs(K[:, sparse.functions] @ sparse.weights + sparse.intercept - whole).mean())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.1 * np.std(whole)


def test_weights_equal_repeated_rows():
    _, _, process = example(weights=True)
    again = np.repeat(np.arange(50), process.counts.astype(int))
    repeated = ProcessClassifier(process.L[again], process.y[again], np.ones(len(again)), True)
    one, other = process.best(), repeated.best()
    assert one[0] == other[0]
    np.testing.assert_allclose(one[1].others[again], other[1].others, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one[2], other[2], rtol=1e-4)
