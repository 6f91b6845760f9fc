"""Denoising by shrinkage of orthonormal wavelet coefficients: the closed form, band by band or all alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.bases.orthonormal import SpikeOperator
from sparsebayes.bases.transforms import Band, WaveletOperator
from sparsebayes.inference.regression import fit
from sparsebayes.inference.risk import best_constants, histogram, histograms

AUTOMATIC = "auto"
MEDIAN = 0.6744897501960817  # of |z|, z standard normal
BLOCK = 1 << 15  # coefficients worked on at a time
COLUMNS = 64  # wavelets held at a time where the error bars need them one by one


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

    Where more than half of them are zero, by their mean square.
    """
    band = max(
        (b for b in operator.bands if b.level == 1 and set(b.kind) <= {"d", "n"} and b.kind), key=_size
    )
    finest = np.abs(w[band.where])
    finest.partition((len(finest) - 1) // 2)  # in place: the lower median
    middle = float(finest[(len(finest) - 1) // 2])
    return (middle / MEDIAN) ** 2 if middle > 0 else float(np.mean(finest**2))


def _size(band: Band) -> int:
    return band.where.stop - band.where.start


def shrink_by_risk(w: np.ndarray, operator: WaveletOperator, noise_variance: float | None) -> Shrinkage:
    """The smoothness prior with c of its own for every band, by least expected risk; coarse ones are kept.

    The noise, where it is not given, comes from the finest level.
    """
    sigma2 = noise_from_finest(w, operator) if noise_variance is None else noise_variance
    if not sigma2 > 0:
        return untouched(w, operator, None)
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
    # of the coefficients as a signal, spikes are the orthonormal functions
    result = fit(SpikeOperator(len(w)), w, prior=prior, noise_variance=noise_variance)
    coef = np.zeros(len(w))
    coef[result.active] = result.mean
    return Shrinkage(w, coef, result.noise_variance, np.full(len(operator.bands), math.nan))


def like(shrunk: Shrinkage, w: np.ndarray, operator: WaveletOperator, prior: Any) -> Shrinkage:
    """Other coefficients of the same signal, shrunk with the noise and the constants found before."""
    if not shrunk.noise_variance:
        return untouched(w, operator, None)
    if is_automatic(prior):
        return shrink_with(w, operator, shrunk.noise_variance, shrunk.constants)
    return shrink_by_evidence(w, operator, prior, shrunk.noise_variance)


def untouched(w: np.ndarray, operator: WaveletOperator, noise_variance: float | None) -> Shrinkage:
    """All coefficients as they are: of a signal that does not vary, the noise is none unless it is given."""
    constants = np.full(len(operator.bands), math.nan)
    return Shrinkage(w, w, noise_variance or 0.0, constants, operator.bands)


def pointwise_variance(operator: WaveletOperator, variance: np.ndarray) -> np.ndarray:
    """diag(Φ diag(variance) Φᵀ) = Σ_m variance_m φ_m², exactly, as an array of the shape of the signal.

    Where every axis can be halved evenly, the wavelets of a band are shifts of one another and the sum is a
    circular convolution: O(N log N) a band. Else wavelet by wavelet over those with a variance: O(SN).
    """
    shape = operator.signal_shape
    if all(n % 2**k == 0 for n, k in zip(shape, operator.levels, strict=True)):
        total = np.zeros(shape)
        for band in operator.bands:
            total += _convolved(operator, band, variance[band.where])
        return np.maximum(total, 0.0)
    result, active = np.zeros(math.prod(shape)), np.flatnonzero(variance)
    for start in range(0, len(active), COLUMNS):
        chosen = active[start : start + COLUMNS]
        result += operator.columns(chosen) ** 2 @ variance[chosen]
    return result.reshape(shape)


def _convolved(operator: WaveletOperator, band: Band, variance: np.ndarray) -> Any:
    if not variance.any():
        return 0.0
    shape = operator.signal_shape
    axes = tuple(range(len(shape)))
    first = operator.columns([band.where.start]).reshape(shape) ** 2
    spread = np.zeros(shape)
    steps = tuple(slice(None, None, n // m) for n, m in zip(shape, band.shape, strict=True))
    spread[steps] = variance.reshape(band.shape)
    product = np.fft.rfftn(first, axes=axes) * np.fft.rfftn(spread, axes=axes)
    return np.fft.irfftn(product, s=shape, axes=axes)
