"""Denoising by shrinkage of orthonormal wavelet coefficients: the closed form, band by band or all alike."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.bases.orthonormal import SpikeOperator
from sparsebayes.bases.transforms import Band, WaveletOperator
from sparsebayes.inference.regression import NoiseCollapseWarning, fit
from sparsebayes.inference.risk import best_constants, histogram, histograms

AUTOMATIC = "auto"
MEDIAN = 0.6744897501960817  # of |z|, z standard normal
BLOCK = 1 << 15  # coefficients worked on at a time
LEAST = 1 / 8  # of the finest coefficients that are to be more than dust where there is noise at all
DUST = 16  # times what a filter leaves of a constant, up to which a coefficient counts as zero


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """What became of the coefficients w (N,) of one signal.

    coef : posterior means (N,).  noise_variance : σ².  constants : c of every band, NaN where it has none.
    flat : the bands whose coefficients are kept as they are, having no prior.
    """

    w: np.ndarray
    coef: np.ndarray
    noise_variance: float
    constants: np.ndarray
    flat: tuple[Band, ...] = ()

    @property
    def n_active(self) -> int:
        """Coefficients that were not set to zero."""
        return int(np.count_nonzero(self.coef))

    @property
    def gamma(self) -> np.ndarray:
        """Share of each coefficient that was kept: its posterior variance over σ²."""
        gamma = np.divide(self.coef, self.w, out=np.zeros_like(self.w), where=self.w != 0)
        for band in self.flat:
            gamma[band.where] = 1.0
        return gamma


def is_automatic(prior: Any) -> bool:
    """Whether the constants are to be chosen from the data."""
    return isinstance(prior, str) and prior == AUTOMATIC


def noise_from_finest(w: np.ndarray, operator: WaveletOperator) -> float:
    """σ² by the median absolute coefficient of the finest level, differences along all axes halved there.

    Where more than half of them are zero, rounding aside, by that of the others; a signal of which less than
    an eighth are not is smooth or steps, and without noise: 0.
    """
    band = max(
        (b for b in operator.bands if b.level == 1 and set(b.kind) <= {"d", "n"} and b.kind), key=_size
    )
    finest = np.abs(w[band.where])
    middle = _lower_median(finest)
    dust = _dust_above(middle, w, operator)
    if middle <= dust:
        others = finest[finest > dust]
        middle = _lower_median(others) if len(others) >= LEAST * len(finest) else 0.0
    return (middle / MEDIAN) ** 2


def _lower_median(values: np.ndarray) -> float:
    """Puts the values into another order."""
    place = (len(values) - 1) // 2
    values.partition(place)
    return float(values[place])


def _dust_above(value: float, w: np.ndarray, operator: WaveletOperator) -> float:
    """How large a coefficient of the finest level may be that is left of samples that do not vary.

    0 where the value is larger in any case.

    The differences of a wavelet add up to zero only as far as its tables go. A function of level j that adds
    a to the samples has a coefficient of about a 2^(j/2), for every axis.
    """
    uneven = DUST * (abs(math.fsum(operator.wavelet.dec_hi)) + float(np.finfo(float).eps))
    if value > uneven * math.sqrt(w @ w):  # no coefficient is larger
        return 0.0
    halvings = (sum(min(band.level, k) for k in operator.levels) for band in operator.bands)
    sizes = (_largest(w[b.where]) / 2 ** (k / 2) for b, k in zip(operator.bands, halvings, strict=True))
    return uneven * max(sizes)


def _largest(values: np.ndarray) -> float:
    """Of the absolute values, without an array of them."""
    return float(max(values.max(), -values.min()))


def _size(band: Band) -> int:
    return band.where.stop - band.where.start


def shrink_by_risk(w: np.ndarray, operator: WaveletOperator, noise_variance: float | None) -> Shrinkage:
    """The smoothness prior with c of its own for every band, by least expected risk; coarse ones are kept.

    The noise, where it is not given, comes from the finest level.
    """
    sigma2 = noise_from_finest(w, operator) if noise_variance is None else noise_variance
    if not sigma2 > 0:
        return untouched(w, operator)
    shrunk = [k for k, band in enumerate(operator.bands) if band.kind]
    constants = np.full(len(operator.bands), math.nan)
    if shrunk:
        runs = _runs([operator.bands[k] for k in shrunk])
        counts = [_histograms(w[place], 1 / math.sqrt(sigma2), sizes) for place, sizes in runs]
        constants[shrunk] = best_constants(np.concatenate(counts))
    return shrink_with(w, operator, sigma2, constants)


def _runs(bands: Sequence[Band]) -> list[tuple[slice, list[int]]]:
    """The bands in runs that are worked on together: where each run is, and the sizes of its bands.

    Small bands that follow one another make one run, so that each does not cost calls of its own.
    """
    runs: list[tuple[slice, list[int]]] = []
    for band in bands:
        where, sizes = runs[-1] if runs else (slice(0, -1), [])
        if where.stop == band.where.start and band.where.stop - where.start <= BLOCK:
            runs[-1] = slice(where.start, band.where.stop), [*sizes, _size(band)]
        else:
            runs.append((band.where, [_size(band)]))
    return runs


def _histograms(w: np.ndarray, scale: float, sizes: list[int]) -> np.ndarray:
    """Of each band of a run."""
    if len(sizes) > 1:
        return histograms(w * scale, sizes)
    counts = histogram(w[:BLOCK] * scale)
    for start in range(BLOCK, len(w), BLOCK):
        counts += histogram(w[start : start + BLOCK] * scale)
    return counts[None]


def shrink_with(w: np.ndarray, operator: WaveletOperator, sigma2: float, constants: np.ndarray) -> Shrinkage:
    """Every band under the smoothness prior with its c: γ = 1 − 1/(u − 2c) where u > 1 + 2c, else 0."""
    coef = np.empty_like(w)
    free = np.isnan(constants)
    each = np.where(free, -math.inf, constants)  # c = −∞ keeps a coefficient as it is
    first = 0
    for place, sizes in _runs(operator.bands):
        some = each[first : first + len(sizes)]
        first += len(sizes)
        c = np.repeat(some, sizes) if len(sizes) > 1 else float(some[0])
        for start in range(place.start, place.stop, BLOCK):  # a run of several bands is one block
            part = slice(start, min(start + BLOCK, place.stop))
            _shrink(w[part], sigma2, c, coef[part])
    flat = tuple(operator.bands[k] for k in np.flatnonzero(free))
    return Shrinkage(w, coef, sigma2, constants, flat)


def _shrink(w: np.ndarray, sigma2: float, c: Any, coef: np.ndarray) -> None:
    """coef = γw, a block at a time that stays in the cache."""
    excess = w * w
    excess /= sigma2
    excess -= 2 * c
    np.maximum(excess, 1.0, out=excess)
    np.divide(-1.0, excess, out=excess)
    excess += 1.0
    np.multiply(excess, w, out=coef)


def shrink_by_evidence(
    w: np.ndarray, operator: WaveletOperator, prior: Any, noise_variance: float | None
) -> Shrinkage:
    """All coefficients under one prior, the noise by the evidence where it is not given [SE07]."""
    constants = np.full(len(operator.bands), math.nan)
    if not w.any():  # nothing to find, and no noise but that given
        return Shrinkage(w, w, noise_variance or 0.0, constants)
    # of the coefficients as a signal, spikes are the orthonormal functions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseCollapseWarning)  # it speaks of what a denoiser does not have
        result = fit(SpikeOperator(len(w)), w, prior=prior, noise_variance=noise_variance)
    if result.certificate.at_noise_floor:
        warnings.warn(
            f"The noise variance of X was estimated as next to nothing ({result.noise_variance:.3g}), with "
            f"{len(result.active)} of {len(w)} wavelets kept: under this prior the evidence has no maximum. "
            "Give noise_variance a value, or use prior='auto'.",
            NoiseCollapseWarning,
            stacklevel=2,
        )
    coef = np.zeros(len(w))
    coef[result.active] = result.mean
    return Shrinkage(w, coef, result.noise_variance, constants)


def like(shrunk: Shrinkage, w: np.ndarray, operator: WaveletOperator, prior: Any) -> Shrinkage:
    """Other coefficients of the same signal, shrunk with the noise and the constants found before."""
    if not shrunk.noise_variance:
        return untouched(w, operator)
    if is_automatic(prior):
        return shrink_with(w, operator, shrunk.noise_variance, shrunk.constants)
    return shrink_by_evidence(w, operator, prior, shrunk.noise_variance)


def untouched(w: np.ndarray, operator: WaveletOperator) -> Shrinkage:
    """All coefficients as they are: of a signal without noise."""
    return Shrinkage(w, w, 0.0, np.full(len(operator.bands), math.nan), operator.bands)
