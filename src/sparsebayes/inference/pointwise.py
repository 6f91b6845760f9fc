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

    Where every axis can be halved evenly, the wavelets of a band are shifts of one another and the sum is a
    circular convolution: O(N log N) a band. Else each is a product of functions along the axes, few samples
    long, so that the sum is a product of sparse matrices with the variances: little along the axes of an
    image, some hundred numbers a sample for a signal. A few wavelets of a signal are taken one by one.
    """
    shape = operator.signal_shape
    if all(n % 2**k == 0 for n, k in zip(shape, operator.levels, strict=True)):
        return np.maximum(
            sum(_convolved(operator, band, variance[band.where]) for band in operator.bands), 0.0
        )
    active = np.flatnonzero(variance)
    if len(shape) == 1 and len(active) <= FEW:
        return _one_by_one(operator, variance, active)
    total = np.zeros(shape)
    for band, along in operator.squared_factors():
        if variance[band.where].any():
            total += _product(along, variance[band.where].reshape(band.shape))
    return total


def _convolved(operator: WaveletOperator, band: Band, variance: np.ndarray) -> Any:
    shape = operator.signal_shape
    if not variance.any():
        return np.zeros(shape)
    axes = tuple(range(len(shape)))
    first = operator.columns([band.where.start]).reshape(shape) ** 2
    spread = np.zeros(shape)
    steps = tuple(slice(None, None, n // m) for n, m in zip(shape, band.shape, strict=True))
    spread[steps] = variance.reshape(band.shape)
    product = np.fft.rfftn(first, axes=axes) * np.fft.rfftn(spread, axes=axes)
    return np.fft.irfftn(product, s=shape, axes=axes)


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
