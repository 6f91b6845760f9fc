"""The noise of a signal, from its finest wavelets or from its spectrum."""

import math

import numpy as np
import pytest

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.signals.noise import _fit_exponentials, noise_from_spectrum
from sparsebayes.signals.settings import DENOISING, SpectrumSettings


def seasonal(rng, n, period, shape):
    """A trend and a season of unit variance: a sine wave, a few harmonics, or any pattern that repeats."""
    t = np.arange(n)
    trend = 3 * rng.standard_normal() * t / n + 2 * rng.standard_normal() * (t / n) ** 2
    if shape == "pattern":
        season = np.tile(rng.standard_normal(period), n // period + 1)[:n]
    else:
        orders = range(1, 2 if shape == "sine" else 4)
        season = sum(np.sin(2 * np.pi * k * t / period + rng.uniform(0, 2 * np.pi)) / k for k in orders)
    return trend + season / season.std()


@pytest.mark.parametrize("period", [4, 7, 12])
@pytest.mark.parametrize("shape", ["sine", "harmonics", "pattern"])
@pytest.mark.parametrize("sigma", [0.03, 0.1, 0.3])
def test_the_noise_of_a_seasonal_series_is_found(period, shape, sigma):
    for seed in range(5):
        rng = np.random.default_rng(700 + seed)
        y = seasonal(rng, 300, period, shape) + sigma * rng.standard_normal(300)
        found = np.sqrt(WaveletDenoiser().fit(y).noise_variance_)
        assert found == pytest.approx(sigma, rel=0.3)


def test_a_seasonal_series_is_not_flattened():
    rng = np.random.default_rng(1)
    f = seasonal(rng, 300, 4, "sine")
    y = f + 0.1 * rng.standard_normal(300)
    mean, std = denoise(y, return_std=True)
    assert np.mean((mean - f) ** 2) < 1.1 * 0.01
    assert np.mean(np.abs(mean - f) < 1.96 * std) > 0.9


def test_the_noise_of_a_seasonal_series_with_gaps_is_found():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = seasonal(rng, 300, 4, "sine") + 0.1 * rng.standard_normal(300)
        y[rng.random(300) < 0.05] = np.nan
        denoiser = WaveletDenoiser()
        denoiser.fit(y)
        assert np.sqrt(denoiser.noise_variance_) < 0.5  # the finest level alone says 1


@pytest.mark.parametrize("shape", [(300,), (5000,), (60, 70), (200, 5), (20, 18, 22)], ids=str)
@pytest.mark.parametrize("sigma", [1e-140, 2.0, 1e140])
def test_the_spectrum_of_pure_noise(shape, sigma):
    noise = sigma * np.random.default_rng(3).standard_normal(shape)
    assert np.sqrt(noise_from_spectrum(noise)) == pytest.approx(sigma, rel=0.15)


@pytest.mark.parametrize("name", ["heavisine", "doppler"])
def test_the_spectrum_of_smooth_signals(name):
    _, y, f = make_signal(name, 2048, snr=5.0, random_state=4)
    assert np.sqrt(noise_from_spectrum(y)) == pytest.approx(f.std() / 5, rel=0.1)


def test_what_says_nothing_is_not_used():
    assert noise_from_spectrum(np.zeros(200)) == math.inf
    assert noise_from_spectrum(np.random.default_rng(5).standard_normal(20)) == math.inf
    strict = SpectrumSettings(least_share=1.1)
    assert noise_from_spectrum(np.random.default_rng(6).standard_normal(500), strict) == math.inf


def test_a_part_of_the_spectrum_without_noise_does_not_count():
    waves = np.fft.rfft(np.random.default_rng(7).standard_normal(2000))
    waves[-200:] = 0.0  # a recording that was filtered
    y = np.fft.irfft(waves)
    assert np.sqrt(noise_from_spectrum(y)) == pytest.approx(1.0, rel=0.15)


def test_the_mixture_is_the_one_that_was_drawn():
    rng = np.random.default_rng(8)
    q = rng.exponential(size=4000) * np.where(rng.random(4000) < 0.2, 256.0, 1.0)
    scale, share = _fit_exponentials(q, np.full(4000, 1 / 4000), DENOISING.spectrum)
    assert scale == pytest.approx(1.0, rel=0.05)
    assert share == pytest.approx(0.8, abs=0.03)
