"""The average over shifts at once is the average over shifts one by one, means and variances, for every shape."""

import tracemalloc

import numpy as np
import pytest
import pywt
from numpy.testing import assert_allclose

from sparsebayes import Gamma, Laplace, Smoothness, Uniform, WaveletDenoiser
from sparsebayes.datasets import make_signal
from sparsebayes.signals.boundary import circular_shifts
from sparsebayes.signals.cycle_spinning import CycleSpinning
from sparsebayes.signals.pointwise import ShiftedVariance, pointwise_variance
from sparsebayes.signals.rules import SmoothnessRule
from sparsebayes.signals.settings import DenoisingSettings
from sparsebayes.signals.shrinkage import shrink_by_evidence, shrink_by_risk
from sparsebayes.signals.wavelet_transform import WaveletOperator

SHAPES = [
    (64,),
    (96,),
    (100,),
    (61,),
    (368,),
    (2,),
    (1,),
    (3,),
    (16, 24),
    (15, 12),
    (9, 7),
    (1, 13),
    (8, 6, 10),
    (7, 4, 5),
]


def one_by_one(operator, rule, signal, moves):
    """Every shift transformed, shrunk and transformed back on its own."""
    axes, mean, variance = range(signal.ndim), 0.0, 0.0
    for move in moves:
        w = operator.analyze(np.roll(signal, move, axes))
        parts = [band.where for band in operator.bands]
        gamma = np.concatenate([rule.gamma(w[part], k) for k, part in enumerate(parts)])
        each = np.concatenate([rule.variance(w[part], k, gamma[part]) for k, part in enumerate(parts)])
        back = [-m for m in move]
        mean = mean + np.roll(operator.synthesize(gamma * w), back, axes) / len(moves)
        variance = variance + np.roll(pointwise_variance(operator, each), back, axes) / len(moves)
    return mean, variance


def at_once(operator, rule, signal, moves, **settings):
    variance = ShiftedVariance(operator, DenoisingSettings(**settings))
    return CycleSpinning(operator, rule, moves, variance).average(signal), variance.total()


def moves_of(count, shape):
    return [(0,) * len(shape), *circular_shifts(count, shape)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("wavelet", ["haar", "sym8"])
@pytest.mark.parametrize("level", [None, "most"])
@pytest.mark.parametrize("count", [5, 16])
def test_the_average_at_once_is_the_average_one_by_one(shape, wavelet, level, count):
    level = max(shape).bit_length() - 1 if level == "most" else level
    operator = WaveletOperator(shape, wavelet, level)
    signal = 3 * np.random.default_rng(1).standard_normal(shape)
    shrunk = shrink_by_risk(operator.analyze(signal), operator, 2.0)
    moves = moves_of(count, shape)
    expected = one_by_one(operator, shrunk.rule, signal, moves)
    for found, value in zip(at_once(operator, shrunk.rule, signal, moves), expected, strict=True):
        assert_allclose(found, value, atol=1e-11)


@pytest.mark.parametrize("n", [96, 97, 50, 36, 1008])
@pytest.mark.parametrize("lagged_from", [1, 2, 8, 10**6])
def test_covariances_of_coarse_samples_are_the_squares_of_wavelets(n, lagged_from):
    operator = WaveletOperator(n, "sym8", n.bit_length() - 1)
    signal = 2 * np.random.default_rng(n).standard_normal(n)
    rule = SmoothnessRule(1.0, np.linspace(0, 1, len(operator.bands)))
    expected = one_by_one(operator, rule, signal, moves_of(12, (n,)))
    found = at_once(operator, rule, signal, moves_of(12, (n,)), lagged_from=lagged_from)
    assert_allclose(found[1], expected[1], atol=1e-12)


@pytest.mark.parametrize("prior", [Uniform(), Smoothness(1.5), Gamma(0.1, 0.1), Laplace(2.0)], ids=str)
@pytest.mark.parametrize("shape", [(96,), (75,), (12, 18)], ids=str)
def test_any_prior_shrinks_shifted_coefficients_as_its_solver_does(prior, shape):
    operator = WaveletOperator(shape, "db2")
    signal = 3 * np.random.default_rng(2).standard_normal(shape)
    rule = shrink_by_evidence(operator.analyze(signal), operator, prior, 2.0).rule
    for move in moves_of(4, shape):
        w = operator.analyze(np.roll(signal, move, range(len(shape))))
        gamma = np.concatenate([rule.gamma(w[band.where], k) for k, band in enumerate(operator.bands)])
        assert_allclose(gamma * w, shrink_by_evidence(w, operator, prior, 2.0).coef, atol=1e-10)


@pytest.mark.parametrize("wavelet", ["haar", "db4"])
def test_all_shifts_are_the_undecimated_transform(wavelet):
    n, level = 64, 3
    signal = 2 * np.random.default_rng(3).standard_normal(n)
    operator = WaveletOperator(n, wavelet, level)
    constants = np.asarray([np.nan, 2.0, 1.0, 0.5])  # coarse to fine
    rule = SmoothnessRule(1.0, constants)
    spun = CycleSpinning(operator, rule, moves_of(n, (n,))).average(signal)
    coarse, *details = pywt.swt(signal, wavelet, level, trim_approx=True)
    shrunk = [w * rule.gamma(w, k) for k, w in enumerate(details, start=1)]
    assert_allclose(spun, pywt.iswt([coarse, *shrunk], wavelet), atol=1e-10)


@pytest.mark.parametrize("n", [2**16, 2**12 * 15, 50_001])
def test_memory_of_shifts_is_samples_times_levels(n):
    _, y, _ = make_signal("doppler", n, random_state=0)
    for shifts in (16, 64):
        denoiser = WaveletDenoiser(shifts=shifts, boundary="symmetric")
        denoiser.fit_transform(y, return_std=True)
        tracemalloc.start()
        denoiser.fit_transform(y, return_std=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * n * 3 * np.log2(n)
