"""The posterior variance of a denoised signal at every sample: the diagonal of Φ diag(v) Φᵀ, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsebayes.bases.transforms import Band, WaveletOperator

COLUMNS = 64  # wavelets held at a time where they are taken one by one
FEW = 256  # wavelets of a signal up to which that costs less than to take them all at once


def pointwise_variance(operator: WaveletOperator, variance: np.ndarray) -> np.ndarray:
    """Σ_m variance_m φ_m² as an array of the shape of the signal.

    Each function is a product of functions along the axes, few samples long, so that the sum is a product of
    sparse matrices with the variances: little along the axes of an image, some hundred numbers a sample for a
    signal. Where a signal can be halved evenly the wavelets of a band are shifts of one another instead, and
    the sum is a circular convolution: O(N log N) a band. A few wavelets of another are taken one by one.
    """
    if len(operator.signal_shape) > 1:
        return _separable(operator, variance)
    if operator.signal_shape[0] % 2 ** operator.levels[0] == 0:
        return np.maximum(
            sum(_convolved(operator, band, variance[band.where]) for band in operator.bands), 0.0
        )
    active = np.flatnonzero(variance)
    return _one_by_one(operator, variance, active) if len(active) <= FEW else _separable(operator, variance)


def _separable(operator: WaveletOperator, variance: np.ndarray) -> np.ndarray:
    total = np.zeros(operator.signal_shape)
    for band, along in operator.squared_factors():
        if variance[band.where].any():
            total += _product(along, variance[band.where].reshape(band.shape))
    return total


def _convolved(operator: WaveletOperator, band: Band, variance: np.ndarray) -> np.ndarray:
    (n,) = operator.signal_shape
    if not variance.any():
        return np.zeros(n)
    first = operator.columns([band.where.start])[:, 0] ** 2
    spread = np.zeros(n)
    spread[:: n // len(variance)] = variance
    return np.fft.irfft(np.fft.rfft(first) * np.fft.rfft(spread), n)


def _one_by_one(operator: WaveletOperator, variance: np.ndarray, active: np.ndarray) -> np.ndarray:
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
