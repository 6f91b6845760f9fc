"""The posterior variance of a denoised signal at every sample: the diagonal of Φ diag(v) Φᵀ, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsebayes.signals.settings import DENOISING, DenoisingSettings
from sparsebayes.signals.wavelet_transform import Band, WaveletOperator

COLUMNS = 64  # wavelets held at a time if they are taken one by one


def pointwise_variance(
    operator: WaveletOperator, variance: np.ndarray, settings: DenoisingSettings = DENOISING
) -> np.ndarray:
    """Σ_m variance_m φ_m² at every sample.

    Each function is a product of functions along the axes, few samples long, so that the sum is a product of
    sparse matrices with the variances: cheap along the axes of an image, some hundred numbers per sample for
    a signal. If a signal can be halved evenly, the wavelets of a band are shifts of one another instead, and
    the sum is a circular convolution: O(N log N) per band. A few wavelets of another signal are taken one by
    one.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets φ_m.
    variance : ndarray of shape (N,)
        The variance of each coefficient.
    settings : DenoisingSettings
        Up to how many wavelets are taken one by one.

    Returns
    -------
    ndarray of the shape of the signal
        The variance of each sample.
    """
    if len(operator.signal_shape) == 1:
        if operator.signal_shape[0] % 2 ** operator.levels[0] == 0:
            parts = (_convolved(operator, band, variance[band.where]) for band in operator.bands)
            return np.maximum(sum(parts), 0.0)
        active = np.flatnonzero(variance)
        if len(active) <= settings.few_wavelets:
            return _one_by_one(operator, variance, active)
    total = np.zeros(operator.signal_shape)
    for band, along in operator.squared_factors():
        if variance[band.where].any():
            total += _product(along, variance[band.where].reshape(band.shape))
    return total


def _convolved(operator: WaveletOperator, band: Band, variance: np.ndarray) -> np.ndarray:
    """Σ variance_m φ_m² over a band of a signal, whose wavelets are shifts of the first one."""
    (n,) = operator.signal_shape
    if not variance.any():
        return np.zeros(n)
    first = operator.columns([band.where.start])[:, 0] ** 2
    spread = np.zeros(n)
    spread[:: n // len(variance)] = variance
    return np.fft.irfft(np.fft.rfft(first) * np.fft.rfft(spread), n)


def _one_by_one(operator: WaveletOperator, variance: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Σ variance_m φ_m² over the active wavelets, each of them synthesised."""
    result = np.zeros(math.prod(operator.signal_shape))
    for start in range(0, len(active), COLUMNS):
        chosen = active[start : start + COLUMNS]
        result += operator.columns(chosen) ** 2 @ variance[chosen]
    return result


def _product(along: tuple[Any, ...], values: np.ndarray) -> np.ndarray:
    """Σ_m values_m ∏_k along_k[x_k, m_k], one axis after the other."""
    for axis, functions in enumerate(along):
        moved = np.moveaxis(values, axis, 0)
        spread = functions @ moved.reshape(len(moved), -1)
        values = np.moveaxis(spread.reshape(-1, *moved.shape[1:]), 0, axis)
    return values
