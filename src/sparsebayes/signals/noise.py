"""The variance of the noise of a signal, from two representations in which white noise is white.

The finest wavelets hold the noise and the few sharp features of the signal: the median of their absolute values
is hardly moved by them. A signal that fills the finest level, such as a season of few samples, is counted as noise,
but it has few frequencies. So the noise is also estimated from the spectrum of the tapered signal,

    P_k = |Σ_x h_x t_x e^(−2πikx/N)|²,    Σ h² = 1,    P_k ~ Σ_j p_j Exp(σ² v_j),    v_0 = 1 < v_1 < v_2 …

whose noise is exponential with mean σ² at every frequency; σ² and the shares p maximise the likelihood. Both
estimates count as noise what is not sparse in their functions, so that the smaller one is taken.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.fft

from sparsebayes.signals.settings import DENOISING, DenoisingSettings, SpectrumSettings
from sparsebayes.signals.wavelet_transform import WaveletOperator

MEDIAN = 0.6744897501960817  # of |z|, z standard normal
EMPTY = 1e-300  # density that no power reaches


def noise_from_finest(
    w: np.ndarray,
    operator: WaveletOperator,
    settings: DenoisingSettings = DENOISING,
    missing: np.ndarray | None = None,
) -> float:
    """σ² from the median absolute coefficient of the finest level.

    If more than half of those coefficients are zero, to rounding, it is the median of the others; if hardly
    any of them is not, the signal is smooth or consists of steps, and has no noise.

    Parameters
    ----------
    w : ndarray of shape (N,)
        Coefficients of a signal.
    operator : WaveletOperator
        The transform they come from.
    settings : DenoisingSettings
        What counts as zero, and as hardly any.
    missing : ndarray of shape (N,), optional
        The share of the energy of each wavelet on samples that were filled in.

    Returns
    -------
    float
        σ², or 0.
    """
    # differences along all axes that are halved at this level
    finest_bands = (b for b in operator.bands if b.level == 1 and b.kind and set(b.kind) <= {"d", "n"})
    where = max(finest_bands, key=lambda band: math.prod(band.shape)).where
    finest = np.abs(w[where])
    if missing is not None:
        finest = _of_observed(finest, missing[where], settings)
    middle = _lower_median(finest)
    dust = _dust_above(middle, w, operator, settings)
    if middle <= dust:
        others = finest[finest > dust]
        middle = _lower_median(others) if len(others) >= settings.least_noisy * len(finest) else 0.0
    return (middle / MEDIAN) ** 2


def _of_observed(finest: np.ndarray, missing: np.ndarray, settings: DenoisingSettings) -> np.ndarray:
    """The coefficients on observed samples; if they are few, those that are half observed, with as much noise."""
    clear = missing <= settings.clear
    if np.count_nonzero(clear) >= settings.enough_clear or clear.all():
        return finest[clear]
    half = missing <= max(0.5, float(np.median(missing)))
    return finest[half] / np.sqrt(np.maximum(1 - missing[half], settings.clear))


def _lower_median(values: np.ndarray) -> float:
    """The lower median; the values are put into another order."""
    place = (len(values) - 1) // 2
    values.partition(place)
    return float(values[place])


def _dust_above(value: float, w: np.ndarray, operator: WaveletOperator, settings: DenoisingSettings) -> float:
    """How large a coefficient of the finest level may be if the samples do not vary; 0 if `value` is larger.

    The differences of a wavelet add up to zero only to the precision of its tables. A function of level j
    that adds a to the samples has a coefficient of about a 2^(j/2) for every axis.
    """
    uneven = settings.dust * (abs(math.fsum(operator.wavelet.dec_hi)) + float(np.finfo(float).eps))
    if value > uneven * math.sqrt(w @ w):  # no coefficient is larger
        return 0.0
    halvings = (sum(min(band.level, k) for k in operator.levels) for band in operator.bands)
    parts = ((w[band.where], 2 ** (k / 2)) for band, k in zip(operator.bands, halvings, strict=True))
    return uneven * max(float(max(part.max(), -part.min())) / size for part, size in parts)


def noise_from_spectrum(signal: np.ndarray, settings: SpectrumSettings = DENOISING.spectrum) -> float:
    """σ² from the power at the frequencies that hold nothing but noise.

    Parameters
    ----------
    signal : ndarray
        The samples, without gaps.
    settings : SpectrumSettings
        The mixture of exponential distributions.

    Returns
    -------
    float
        σ², or infinity if the frequencies are too few, or too few of them hold nothing but noise.
    """
    power = _spectrum(signal)
    if len(power) < settings.least_frequencies:
        return math.inf
    middle = float(np.median(power)) / math.log(2)
    if not middle > 0:
        return math.inf
    ratios, weight = _log_histogram(power / middle, settings)
    scale, share = _fit_exponentials(ratios, weight, settings)
    return scale * middle if share >= settings.least_share else math.inf


def _spectrum(signal: np.ndarray) -> np.ndarray:
    """The power of the tapered signal at frequencies that are neither zero nor another's mirror image."""
    longest = int(np.argmax(signal.shape))
    values = np.moveaxis(signal - signal.mean(), longest, -1)
    for axis, n in enumerate(values.shape):
        taper = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2
        taper /= math.sqrt(float(taper @ taper))
        values = values * taper.reshape(-1, *(1,) * (values.ndim - 1 - axis))
    n = values.shape[-1]
    waves = scipy.fft.rfftn(values)[..., 1 : (n + 1) // 2]
    return (waves.real**2 + waves.imag**2).reshape(-1)


def _log_histogram(ratios: np.ndarray, settings: SpectrumSettings) -> tuple[np.ndarray, np.ndarray]:
    """The middles of bins of equal width in the logarithm, and the share of the values in each."""
    logs = np.log(np.maximum(ratios, math.exp(-settings.farthest)))
    numbers = np.minimum(logs, settings.farthest) * settings.bins_per_unit
    numbers = np.rint(numbers + settings.farthest * settings.bins_per_unit).astype(np.intp)
    counts = np.bincount(numbers)
    seen = np.flatnonzero(counts)
    return np.exp(seen / settings.bins_per_unit - settings.farthest), counts[seen] / len(ratios)


def _fit_exponentials(q: np.ndarray, weight: np.ndarray, settings: SpectrumSettings) -> tuple[float, float]:
    """The scale of the smallest of the exponential distributions, and its share, by EM."""
    factors = settings.ratio ** np.arange(settings.components)[:, None]
    shares = np.full((settings.components, 1), 0.5 / (settings.components - 1))
    shares[0], scale = 0.5, 1.0
    for _ in range(settings.iterations):
        rate = 1 / (scale * factors)
        density = shares * rate * np.exp(-q * rate) + EMPTY
        belongs = weight * density / density.sum(axis=0)
        shares = belongs.sum(axis=1, keepdims=True)
        scale = float((belongs * (q / factors)).sum())
    return scale, float(shares[0, 0])
