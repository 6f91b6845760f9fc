"""Risk, the choice of c, shrinkage of bands, and the pointwise variance, against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import Smoothness
from sparsebayes.signals.noise import noise_from_finest
from sparsebayes.signals.pointwise import pointwise_variance
from sparsebayes.signals.risk import _likelihoods, constants_of, fit_mixtures, histograms, stein_risk
from sparsebayes.signals.settings import DENOISING, DenoisingSettings, RiskSettings
from sparsebayes.signals.shrinkage import (
    BLOCK,
    _blocks,
    shrink_by_evidence,
    shrink_by_risk,
    shrink_with,
)
from sparsebayes.signals.wavelet_transform import WaveletOperator

RISK = DENOISING.risk


def rule(z, c):
    """μ(z), by the formula."""
    u = z * z
    kept = u > 1 + 2 * c
    return np.where(kept, z * (1 - 1 / np.where(kept, u - 2 * c, 1.0)), 0.0)


def histogram(z):
    return histograms(np.array(z), [len(z)])[0]


def fit_mixture(z):
    return fit_mixtures(histogram(z)[None])[0]


def best_constant(z):
    return constants_of(fit_mixtures(histogram(z)[None]))[0]


@pytest.mark.parametrize("c", [0.0, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("theta", [0.0, 1.0, 2.5, 6.0])
def test_steins_estimate_is_unbiased(c, theta):
    z = theta + np.random.default_rng(1).standard_normal(2_000_000)
    error = (rule(z, c) - theta) ** 2
    gap = stein_risk(z * z, c) - error
    assert abs(gap.mean()) < 5 * gap.std() / np.sqrt(len(z))


@pytest.mark.parametrize(("share", "variance"), [(0.0, 4.0), (0.05, 64.0), (0.5, 4.0), (1.0, 16.0)])
def test_chosen_constant_is_nearly_the_best_there_is(share, variance):
    rng = np.random.default_rng(2)
    theta = np.where(rng.random(20000) < share, np.sqrt(variance) * rng.standard_normal(20000), 0.0)
    z = theta + rng.standard_normal(20000)
    errors = [np.mean((rule(z, c) - theta) ** 2) for c in RISK.constants]
    chosen = np.mean((rule(z, best_constant(z)) - theta) ** 2)
    assert chosen <= 1.03 * min(errors) + 1e-3


def test_mixture_is_a_distribution_and_knows_noise_from_signal():
    rng = np.random.default_rng(3)
    for scale in (0.0, 8.0):
        z = np.hypot(1.0, scale) * rng.standard_normal(5000)
        shares = fit_mixture(z)
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)
        assert (shares * (1 + np.asarray(RISK.variances))).sum() == pytest.approx(np.mean(z * z), rel=0.05)
    assert shares[0] < 0.05


def test_mixture_of_extreme_coefficients_is_finite():
    for z in (np.zeros(10), np.full(4, 1e8), np.asarray([1e-300, 1e150]), np.asarray([0.5])):
        assert np.isfinite(fit_mixture(z)).all()
        assert best_constant(z) in RISK.constants


def plain_em(counts, steps, noise_count):
    """Shares by EM as it is in the books, with coefficients of pure noise added."""
    likelihood = _likelihoods(RISK)
    shares = np.full(len(RISK.variances), 0.5 / (len(RISK.variances) - 1))
    shares[0] = 0.5
    added = np.zeros(len(shares))
    added[0] = noise_count
    for _ in range(steps):
        belong = shares * (likelihood @ (counts / (shares @ likelihood)))
        shares = (belong + added) / (counts.sum() + noise_count)
    return shares


@pytest.mark.parametrize("scale", [0.0, 0.7, 3.0, 20.0])
@pytest.mark.parametrize("size", [8, 100, 5000])
@pytest.mark.parametrize("noise_count", [0.0, RISK.noise_count])
def test_mixture_is_fitted_as_well_as_by_many_more_plain_steps(scale, size, noise_count):
    rng = np.random.default_rng(size)
    z = rng.standard_normal(size) + scale * rng.standard_normal(size) * (rng.random(size) < 0.3)
    counts = histogram(z)

    def log_likelihood(shares):
        log_share = np.log(shares[0]) if noise_count else 0.0
        return (counts @ np.log(shares @ _likelihoods(RISK)) + noise_count * log_share) / size

    reached = log_likelihood(fit_mixtures(counts[None], replace(RISK, noise_count=noise_count))[0])
    assert reached >= log_likelihood(plain_em(counts, 300, noise_count)) - 1e-9
    assert reached <= log_likelihood(plain_em(counts, 3000, noise_count)) + 1e-6


def test_histograms_of_sets_in_a_row_are_those_of_each():
    rng = np.random.default_rng(0)
    sizes = [1, 7, 40, 300]
    z = 5 * rng.standard_normal(sum(sizes))
    found = histograms(np.array(z), sizes)
    for each, part in zip(found, np.split(z, np.cumsum(sizes)[:-1]), strict=True):
        assert_array_equal(each, histogram(part))


@pytest.mark.parametrize("shape", [(1 << 17,), (61,), (1001,), (300, 200), (15, 9), (8, 6, 10)], ids=str)
def test_blocks_are_every_band_once_in_order(shape):
    bands = WaveletOperator(shape).bands
    blocks = list(_blocks(bands))
    counted = np.zeros(len(bands), dtype=int)
    for _, inside, sizes in blocks:
        assert min(sizes) > 0
        counted[inside] += sizes
    assert counted.tolist() == [b.where.stop - b.where.start for b in bands]
    assert [where.start for where, _, _ in blocks[1:]] == [where.stop for where, _, _ in blocks[:-1]]
    assert all(sum(sizes) == where.stop - where.start <= BLOCK for where, _, sizes in blocks)
    assert blocks[0][0].start == 0
    assert blocks[-1][0].stop == bands[-1].where.stop
    for where, inside, _ in blocks:
        assert bands[inside][0].where.start <= where.start
        assert where.stop <= bands[inside][-1].where.stop


SHAPES = [(64,), (100,), (61,), (16, 24), (15, 9), (1, 13), (3, 2), (8, 6, 10), (7, 5, 9), (11, 1, 6)]


@pytest.mark.parametrize("shape", [*SHAPES, (DENOISING.few_wavelets + 45,)], ids=str)
@pytest.mark.parametrize("wavelet", ["haar", "db3", "sym8"])
@pytest.mark.parametrize("level", [None, 1, "most"])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_pointwise_variance_is_the_diagonal(shape, wavelet, level, share):
    level = max(shape).bit_length() - 1 if level == "most" else level
    operator = WaveletOperator(shape, wavelet, level)
    N = operator.shape[0]
    rng = np.random.default_rng(4)
    variance = rng.random(N) * (rng.random(N) < share)
    Phi = operator.columns(range(N))
    expected = np.diag(Phi @ np.diag(variance) @ Phi.T).reshape(shape)
    assert_allclose(pointwise_variance(operator, variance), expected, atol=1e-12)


def test_shrinkage_of_bands_is_the_rule():
    operator = WaveletOperator(256)
    w = 3 * np.random.default_rng(5).standard_normal(256)
    constants = np.linspace(0, 4, len(operator.bands))
    constants[0] = np.nan
    shrunk = shrink_with(w, operator, 2.0, constants)
    for band, c in zip(operator.bands, constants, strict=True):
        z = w[band.where] / np.sqrt(2.0)
        expected = z if np.isnan(c) else rule(z, c)
        assert_allclose(shrunk.coef[band.where], np.sqrt(2.0) * expected, atol=1e-12)
    assert shrunk.n_active == np.count_nonzero(shrunk.coef)


def test_one_constant_for_all_bands_is_the_solver_with_that_prior():
    operator = WaveletOperator(300, "haar")
    w = 2 * np.random.default_rng(6).standard_normal(300)
    by_bands = shrink_with(w, operator, 0.7, np.full(len(operator.bands), 1.5))
    at_once = shrink_by_evidence(w, operator, Smoothness(1.5), 0.7)
    assert_allclose(by_bands.coef, at_once.coef, atol=1e-12)
    assert_allclose(by_bands.gamma, at_once.gamma, atol=1e-12)


@pytest.mark.parametrize("shape", [(4096,), (64, 65), (16, 17, 18)], ids=str)
def test_noise_of_pure_noise(shape):
    noise = 3 * np.random.default_rng(7).standard_normal(shape)
    operator = WaveletOperator(shape)
    w = operator.analyze(noise)
    assert noise_from_finest(w, operator) == pytest.approx(9.0, rel=0.15)
    shrunk = shrink_by_risk(w, operator, None)
    details = np.concatenate([shrunk.coef[b.where] for b in operator.bands if b.kind])
    assert np.mean(details**2) < 0.05 * 9.0


@pytest.mark.parametrize("wavelet", ["haar", "db4", "sym8", "coif3"])
@pytest.mark.parametrize("offset", [0.0, 5.0, -1e6])
def test_noise_of_a_signal_that_is_mostly_flat(wavelet, offset):
    rng = np.random.default_rng(8)
    signal = np.zeros(1024)
    signal[400:800] = 3 + rng.standard_normal(400)
    operator = WaveletOperator(1024, wavelet)
    signal += offset
    assert noise_from_finest(operator.analyze(signal - signal.mean()), operator) == pytest.approx(1.0, rel=0.4)


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-9])
def test_small_noise_beside_a_large_trend_is_seen(noise):
    rng = np.random.default_rng(9)
    signal = np.cos(np.linspace(0, 2 * np.pi, 2**16, endpoint=False)) + noise * rng.standard_normal(2**16)
    operator = WaveletOperator(2**16)
    assert noise_from_finest(operator.analyze(signal), operator) == pytest.approx(noise**2, rel=0.1)


def test_settings_are_passed_down():
    operator = WaveletOperator(256, "haar")
    signal = np.where(np.arange(256) < 20, 5 * np.random.default_rng(10).standard_normal(256), 0.0)
    w = operator.analyze(signal - signal.mean())
    assert noise_from_finest(w, operator) == 0
    assert noise_from_finest(w, operator, DenoisingSettings(least_noisy=0.01)) > 0
    settings = DenoisingSettings(risk=RiskSettings(constants=(0.0, 3.0, 4.0)))
    noise = np.random.default_rng(11).standard_normal(256)
    constants = shrink_by_risk(operator.analyze(noise), operator, 1.0, settings=settings).constants
    assert set(constants[~np.isnan(constants)]) <= {0.0, 3.0, 4.0}
    operator = WaveletOperator(61)
    variance = np.random.default_rng(12).random(61)
    one_by_one, together = (
        pointwise_variance(operator, variance, DenoisingSettings(few_wavelets=few)) for few in (61, 60)
    )
    assert_allclose(one_by_one, together, atol=1e-12)
