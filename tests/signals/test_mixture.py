"""The posterior of a coefficient under a mixture, against integrals, and the bars that it gives, against simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.signals.mixture import LAST, PER_SIGMA, MixturePosterior, interpolated, posterior_moments
from sparsebayes.signals.risk import fit_mixtures, histograms, prefers_mean, stein_risk
from sparsebayes.signals.settings import DENOISING
from sparsebayes.signals.shrinkage import shrink_by_risk
from sparsebayes.signals.wavelet_transform import WaveletOperator

RISK = DENOISING.risk
VARIANCES = (0.0, 1.0, 9.0, 100.0)
SHARES = np.asarray([[0.7, 0.1, 0.1, 0.1], [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]])


def integrated(z, shares, variances):
    """Mean and variance of θ given z: the continuous part on a grid of θ, and the part at zero."""
    theta = np.linspace(-80, 80, 400_001)
    slab = sum(
        p * np.exp(-0.5 * theta**2 / v) / np.sqrt(2 * np.pi * v) for p, v in zip(shares, variances, strict=True) if v
    )
    density = slab * np.exp(-0.5 * (z - theta) ** 2) * (theta[1] - theta[0])
    total = density.sum() + shares[0] * np.exp(-0.5 * z * z)
    mean = (density @ theta) / total
    return mean, (density @ theta**2) / total - mean**2


@pytest.mark.parametrize("row", range(len(SHARES)))
@pytest.mark.parametrize("z", [0.0, 0.7, 2.0, 4.5, 12.0])
def test_moments_are_integrals_over_the_true_coefficient(row, z):
    removed, variance = posterior_moments(SHARES, np.asarray([z]), VARIANCES)
    expected = integrated(z, SHARES[row], VARIANCES) if SHARES[row, 0] < 1 else (0.0, 0.0)
    assert z - removed[row, 0] == pytest.approx(expected[0], abs=1e-6)
    assert variance[row, 0] == pytest.approx(expected[1], abs=1e-6)


def test_the_posterior_variance_is_the_slope_of_the_posterior_mean():
    z, h = np.linspace(0.1, 10, 50), 1e-5
    above, below = (x - posterior_moments(SHARES, x, VARIANCES)[0] for x in (z + h, z - h))
    assert_allclose((above - below) / (2 * h), posterior_moments(SHARES, z, VARIANCES)[1], atol=1e-5)


def test_tables_are_interpolated_and_end_flat():
    posterior = MixturePosterior.of(SHARES, VARIANCES)
    z = np.random.default_rng(0).random(1000) * LAST / PER_SIGMA
    exact = posterior_moments(SHARES, z, VARIANCES)
    for row in range(len(SHARES)):
        assert_allclose(interpolated(posterior.removed[row], z), exact[0][row], atol=2e-3)
        assert_allclose(interpolated(posterior.variance[row], z), exact[1][row], atol=1e-2)
        assert interpolated(posterior.removed[row], np.asarray([1e9]))[0] == posterior.removed[row, -1]


@pytest.mark.parametrize(("share", "variance"), [(0.05, 64.0), (0.3, 4.0), (1.0, 16.0)])
def test_expected_errors_are_those_of_simulated_coefficients(share, variance):
    rng = np.random.default_rng(1)
    operator = WaveletOperator(2**16, "haar", 1)
    theta = np.where(rng.random(2**16) < share, np.sqrt(variance) * rng.standard_normal(2**16), 0.0)
    w = theta + rng.standard_normal(2**16)
    shrunk = shrink_by_risk(w, operator, 1.0)
    detail = operator.bands[-1].where
    error = (shrunk.coef - theta)[detail] ** 2
    expected = shrunk.variance(operator.bands)[detail]
    assert expected.mean() == pytest.approx(error.mean(), rel=0.2)
    for chosen in (shrunk.coef[detail] == 0, shrunk.coef[detail] != 0):  # set to zero, and selected
        assert expected[chosen].mean() == pytest.approx(error[chosen].mean(), rel=0.2, abs=0.02)


def test_coefficients_added_as_noise_keep_bands_of_noise_at_zero():
    noise = np.random.default_rng(2).standard_normal((200, 64))
    shares = fit_mixtures(histograms(noise.reshape(-1), [64] * 200))
    assert np.mean(shares[:, 1:] @ np.asarray(RISK.variances[1:])) < 0.05


def test_the_posterior_mean_is_preferred_where_signal_is_dense_and_weak():
    rng = np.random.default_rng(3)
    dense = rng.standard_normal(4000) * np.sqrt(1 + 2.0)
    sparse = rng.standard_normal(4000) + np.where(rng.random(4000) < 0.01, 30.0, 0.0)
    counts = histograms(np.concatenate([dense, sparse]), [4000, 4000])
    constants = np.asarray([0.0, 4.0])
    assert prefers_mean(counts, fit_mixtures(counts), constants).tolist() == [True, False]
    z = np.abs(dense)
    removed, variance = (each[0] for each in posterior_moments(fit_mixtures(counts), z, RISK.variances))
    assert np.mean(removed**2 + 2 * variance - 1) < np.mean(stein_risk(z * z, 0.0))


def test_error_bars_without_shifts_are_the_errors_of_the_coefficients():
    _, y, _ = make_signal("bumps", 100, snr=4.0, random_state=5)
    denoiser = WaveletDenoiser("db2", shifts=0, boundary="periodic")
    _, std = denoiser.fit_transform(y, return_std=True)
    operator = WaveletOperator(100, "db2")
    sigma = np.sqrt(denoiser.noise_variance_)
    w = operator.analyze(y - y.mean())
    expected = np.ones(100)
    for band in (band for band in operator.bands if band.kind):
        z = w[band.where] / sigma
        shares = fit_mixtures(histograms(z, [len(z)]))
        removed, variance = (each[0] for each in posterior_moments(shares, np.abs(z), RISK.variances))
        mean = np.sign(z) * (np.abs(z) - removed)
        expected[band.where] = variance + (mean - denoiser.coef_[band.where] / sigma) ** 2
    Phi = operator.columns(range(100))
    assert_allclose(std**2, sigma**2 * (Phi**2 @ expected), rtol=0.01)


@pytest.mark.parametrize("name", ["blocks", "bumps", "heavisine", "doppler"])
@pytest.mark.parametrize(("n", "snr"), [(500, 3.0), (2048, 1.5), (2048, 10.0)])
def test_bars_cover_the_signal_by_default(name, n, snr):
    covered, ratio = [], []
    for seed in range(10):
        _, y, f = make_signal(name, n, snr=snr, random_state=200 + seed)
        mean, std = denoise(y, return_std=True)
        covered.append(np.mean(np.abs(mean - f) < 1.96 * std))
        ratio.append(np.mean(std**2) / np.mean((mean - f) ** 2))
    assert np.mean(covered) >= 0.9
    assert np.mean(ratio) < 6
