"""Missing samples: filled in better than by interpolation, with error bars that say how well."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.signals.missing import first_guess
from sparsebayes.signals.pointwise import energies
from sparsebayes.signals.wavelet_transform import WaveletOperator


def without(y, share, seed, gap=1):
    """y without about this share of its samples, in gaps of the same length."""
    starts = np.random.default_rng(seed).random(y.shape) < share / gap
    missing = np.zeros(y.shape, bool)
    for k in range(gap):
        missing |= np.roll(starts, k, axis=-1)
    return np.where(missing, np.nan, y), missing


def rms(values):
    return np.sqrt(np.mean(values**2))


@pytest.mark.parametrize("name", ["heavisine", "doppler"])
@pytest.mark.parametrize(("share", "gap"), [(0.05, 1), (0.3, 1), (0.5, 1), (0.05, 8)])
def test_filled_in_samples_are_better_than_interpolated_ones_and_covered(name, share, gap):
    errors, interpolated, covered, sigma = [], [], [], []
    for seed in range(4):
        _, y, f = make_signal(name, 1024, snr=7.0, random_state=seed)
        gappy, missing = without(y, share, seed + 50, gap)
        denoiser = WaveletDenoiser(shifts=8)
        mean, std = denoiser.fit_transform(gappy, return_std=True)
        places = np.arange(1024)
        line = np.interp(places[missing], places[~missing], y[~missing])
        errors.append(rms((mean - f)[missing]))
        interpolated.append(rms(line - f[missing]))
        covered.append([np.mean(np.abs(mean - f)[k] < 2 * std[k]) for k in (missing, ~missing)])
        sigma.append(np.sqrt(denoiser.noise_variance_) / (f.std() / 7))
        assert np.median(std[missing]) > 1.03 * np.median(std[~missing])
    assert np.mean(errors) < 0.75 * np.mean(interpolated)
    assert np.mean(covered, axis=0).min() > 0.88
    assert np.mean(sigma) == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize("prior", ["auto", "bic", "uniform"])
@pytest.mark.parametrize("boundary", ["symmetric", "periodic"])
@pytest.mark.parametrize("n", [512, 499])
def test_every_prior_and_boundary_fills_in_a_smooth_signal(prior, boundary, n):
    x = np.linspace(0, 4 * np.pi, n, endpoint=False)
    f = np.sin(x)
    gappy, missing = without(f + 0.1 * np.random.default_rng(1).standard_normal(n), 0.1, 2, 4)
    denoiser = WaveletDenoiser(prior=prior, boundary=boundary)
    mean = denoiser.fit_transform(gappy)
    assert rms((mean - f)[missing]) < (0.2 if prior == "uniform" else 0.1)
    assert denoiser.noise_variance_ == pytest.approx(0.01, rel=0.35)
    assert_array_equal(WaveletDenoiser(prior=prior, boundary=boundary).fit(gappy).coef_, denoiser.coef_)
    assert_array_equal(denoiser.transform(gappy), mean)
    given = WaveletDenoiser(prior=prior, boundary=boundary, noise_variance=0.02)
    given.fit(gappy)
    assert given.noise_variance_ == 0.02


def test_bars_grow_with_the_gap_and_nothing_changes_far_from_it():
    _, y, _ = make_signal("heavisine", 1024, snr=7.0, random_state=0)
    whole, bars = denoise(y, return_std=True)
    widest, added = [], []
    for gap in (1, 4, 16, 64):
        gappy = y.copy()
        gappy[400 : 400 + gap] = np.nan
        mean, std = denoise(gappy, return_std=True)
        widest.append(std[400 : 400 + gap].max())
        added.append((std**2 - bars**2)[400 : 400 + gap].max())
        far = np.r_[0:200, 700:1024]
        assert_allclose(mean[far], whole[far], atol=0.5 * bars.max())
        assert_allclose(std[far], bars[far], rtol=0.25)
    assert np.all(np.diff(widest) > 0)
    assert added[-1] > 9 * added[0]  # without a gap the bars are not zero either: wavelets set to zero count


@pytest.mark.parametrize("shape", [(64, 80), (61, 50), (16, 18, 20)], ids=str)
@pytest.mark.parametrize("boundary", ["symmetric", "periodic"])
def test_images_and_volumes_with_missing_pixels(shape, boundary):
    axes = np.meshgrid(*(np.linspace(0, 2 * np.pi, n) for n in shape), indexing="ij")
    f = sum(np.sin(a) for a in axes)
    gappy, missing = without(f + 0.3 * np.random.default_rng(3).standard_normal(shape), 0.2, 4)
    gappy[:3, :4], missing[:3, :4] = np.nan, False  # a corner can only be continued
    mean, std = denoise(gappy, return_std=True, boundary=boundary, wavelet="sym4", shifts=4)
    assert rms((mean - f)[missing]) < 0.2
    assert np.mean(np.abs(mean - f)[missing] < 2 * std[missing]) > 0.85
    assert np.isfinite(mean).all()


def test_a_signal_without_noise_is_filled_in():
    x = np.linspace(0, 1, 400)
    f = np.exp(-x) * np.sin(9 * x)
    gappy, _ = without(f, 0.1, 5)
    mean, std = denoise(gappy, return_std=True)
    assert_allclose(mean, f, atol=5e-3)
    assert (std >= 0).all()


@pytest.mark.parametrize("value", [0.0, -3.5, 1e9])
def test_constants_and_lonely_samples(value):
    gappy = np.full(50, value)
    gappy[[3, 17, 18, 49]] = np.nan
    mean, std = denoise(gappy, return_std=True)
    assert_allclose(mean, value)
    assert_array_equal(std, 0.0)
    lonely = np.full((20, 30), np.nan)
    lonely[7, 5] = value
    assert_allclose(denoise(lonely), value)


def test_a_batch_with_gaps_is_its_signals_one_by_one():
    rows = np.stack([make_signal(name, 200, random_state=1)[1] for name in ("bumps", "sinc", "doppler")])
    rows[0, 5:9], rows[2, ::7] = np.nan, np.nan
    kept = rows.copy()
    together, std = WaveletDenoiser().fit_transform(rows, return_std=True)
    assert_array_equal(rows, kept)
    for row, mean, bars in zip(rows, together, std, strict=True):
        one = WaveletDenoiser().fit_transform(row, return_std=True)
        assert_array_equal(one[0], mean)
        assert_array_equal(one[1], bars)


def test_the_first_guess_is_interpolated_along_every_axis():
    x = np.arange(12.0)
    signal = np.where(np.isin(x, [0, 4, 5, 11]), np.nan, 2 * x)
    assert_allclose(first_guess(signal), [2, *(2 * x[1:-1]), 20])
    image = x[:, None] + 10 * np.arange(7.0)
    gappy = image.copy()
    gappy[5, 3] = np.nan
    assert_allclose(first_guess(gappy), image)
    gappy[2], gappy[:, 4] = np.nan, np.nan
    guess = first_guess(gappy)
    assert np.isfinite(guess).all()
    seen = ~np.isnan(gappy)
    assert_array_equal(guess[seen], gappy[seen])
    assert_allclose(guess, image, atol=1e-12 + np.ptp(image))


@pytest.mark.parametrize("shape", [(64,), (61,), (16, 24), (15, 9), (8, 6, 10)], ids=str)
def test_energies_are_sums_of_squares(shape):
    operator = WaveletOperator(shape, "db3")
    weights = np.random.default_rng(6).random(shape)
    Phi = operator.columns(range(operator.shape[0]))
    assert_allclose(energies(operator, weights), weights.reshape(-1) @ Phi**2, atol=1e-12)
