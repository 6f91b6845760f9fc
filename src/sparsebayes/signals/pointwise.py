"""The posterior variance of a denoised signal at every sample: the diagonal of Φ diag(v) Φᵀ, exactly.

The wavelets of a band that was reached by even halvings are circular shifts of one another, whatever the
shift of the signal: Σ_m γ_m φ_m² is the circular convolution of the γ, each put where its wavelet begins, with
the square of the first wavelet. The γ of all shifts are added up before that, so that a band costs two Fourier
transforms however many shifts there are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft

from sparsebayes.signals.settings import DENOISING, DenoisingSettings
from sparsebayes.signals.wavelet_transform import Band, WaveletOperator

COLUMNS = 64  # wavelets held at a time if they are taken one by one

Move = tuple[int, ...]


def pointwise_variance(
    operator: WaveletOperator, variance: np.ndarray, settings: DenoisingSettings = DENOISING
) -> np.ndarray:
    """Σ_m variance_m φ_m² at every sample.

    Each function of an image is a product of functions along the axes, few samples long, so that the sum is a
    product of sparse matrices with the variances. For a signal it is a sum of convolutions (`ShiftedVariance`).
    A few wavelets of a signal that cannot be halved evenly are taken one by one.

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
        active = np.flatnonzero(variance)
        even = operator.signal_shape[0] % 2 ** operator.levels[0] == 0
        few = not even and len(active) <= settings.few_wavelets
        return _one_by_one(operator, variance, active) if few else _convolved(operator, variance, settings)
    total = np.zeros(operator.signal_shape)
    for band, along in operator.factors():
        if variance[band.where].any():
            squares = tuple(functions.power(2) for functions in along)
            total += _product(squares, variance[band.where].reshape(band.shape))
    return total


def energies(operator: WaveletOperator, weights: np.ndarray) -> np.ndarray:
    """Σ_x weights(x) φ_m(x)² of every wavelet: the adjoint of `pointwise_variance`.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets φ_m.
    weights : ndarray of the shape of the signal
        The weight of each sample.

    Returns
    -------
    ndarray of shape (N,)
        One value per wavelet.
    """
    shape, result = operator.signal_shape, np.empty(operator.shape[0])
    if any(n % 2**level for n, level in zip(shape, operator.levels, strict=True)):
        for band, along in operator.factors():
            squares = tuple(functions.power(2).T.tocsr() for functions in along)
            result[band.where] = _product(squares, weights).reshape(-1)
        return result
    spectrum = scipy.fft.rfftn(weights)
    for band in operator.bands:
        first = operator.columns([band.where.start])[:, 0].reshape(shape) ** 2
        everywhere = scipy.fft.irfftn(spectrum * np.conj(scipy.fft.rfftn(first)), shape)
        places = tuple(slice(None, None, n // m) for n, m in zip(shape, band.shape, strict=True))
        result[band.where] = everywhere[places].reshape(-1)
    return result


def _convolved(operator: WaveletOperator, variance: np.ndarray, settings: DenoisingSettings) -> np.ndarray:
    """Σ variance_m φ_m² of a signal: band by band as far as it is halved evenly, then what is left."""
    total, block, unmoved = ShiftedVariance(operator, settings), operator.block, (0,)
    while block.coarser is not None and not block.edges:
        for band in block.details:
            total.add_band(band, variance[None, band.where], [unmoved], [1.0])
        block = block.coarser
    rest = operator.coarse(block)
    if block.coarser is None:
        total.add_band(rest.bands[0], variance[None, : rest.shape[0]], [unmoved], [1.0])
    else:
        total.add_coarse(rest, variance[None, : rest.shape[0]], [(unmoved, unmoved)], 1.0)
    return total.total()


class ShiftedVariance:
    """Adds up γ φ² of all wavelets of several shifts of a signal.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets on the signal.
    settings : DenoisingSettings
        From which spacing on the coarse samples of an odd length are added up by their covariances.
    """

    def __init__(self, operator: WaveletOperator, settings: DenoisingSettings = DENOISING) -> None:
        self.operator, self.settings = operator, settings
        self.shape = operator.signal_shape
        self.spectrum = np.zeros(1, dtype=complex)
        self.direct = np.zeros(1)

    def add_band(self, band: Band, gamma: np.ndarray, offsets: list[Move], weights: list[float]) -> None:
        """Add the wavelets of a band, of some shifts of the signal.

        Parameters
        ----------
        band : Band
            The band, which was reached by even halvings.
        gamma : ndarray of shape (k, *shape of the band)
            γ of its coefficients.
        offsets : list of k tuples of int
            The shifts.
        weights : list of k floats
            The weight of each shift.
        """
        if gamma.any():
            first = self.operator.columns([band.where.start])[:, 0]
            self._convolve(gamma, offsets, weights, first.reshape(self.shape) ** 2)

    def add_coarse(
        self, rest: WaveletOperator, gamma: np.ndarray, places: list[tuple[Move, Move]], weight: float
    ) -> None:
        """Add the wavelets of what is left after even halvings, of some shifts of the signal.

        Parameters
        ----------
        rest : WaveletOperator
            The wavelets on the coarse signal.
        gamma : ndarray of shape (k, size of rest)
            γ of its coefficients.
        places : list of k pairs of tuples of int
            The shift of the signal in samples of its own, and the further shift of the coarse signal.
        weight : float
            The weight of each shift.
        """
        strides = tuple(n // m for n, m in zip(self.shape, rest.signal_shape, strict=True))
        if len(strides) == 1 and strides[0] >= self.settings.lagged_from:
            self._add_lagged(rest, gamma, places, weight)
            return
        axes = tuple(range(len(strides)))
        backs = [tuple(-o - s * m for o, m, s in zip(*place, strides, strict=True)) for place in places]
        for band, along in self.operator.factors():
            if band.where.stop > rest.shape[0] or not gamma[:, band.where].any():
                continue
            squares = tuple(functions.power(2) for functions in along)
            for g, back in zip(gamma[:, band.where], backs, strict=True):
                self.direct = self.direct + weight * np.roll(_product(squares, g.reshape(band.shape)), back, axes)

    def _add_lagged(
        self, rest: WaveletOperator, gamma: np.ndarray, places: list[tuple[Move, Move]], weight: float
    ) -> None:
        """Add the covariances of the samples of a coarse signal that are near enough to overlap.

        A sample of the signal is Σ_k a_k φ(x − sk) with coarse samples a and the scaling function φ, so that
        its variance is Σ_e Σ_k cov(a_k, a_(k+e)) φ(x − sk) φ(x − sk − se).
        """
        covariances = {lag: np.zeros((rest.shape[0], len(gamma))) for lag in self._lags(rest)}
        for band, (functions,) in rest.factors():
            if not gamma[:, band.where].any():
                continue
            values = gamma[:, band.where].T
            for lag, covariance in covariances.items():
                later = functions[np.roll(np.arange(rest.shape[0]), -lag)] if lag else functions
                covariance += functions.multiply(later).tocsr() @ values
        stride = self.shape[0] // rest.shape[0]
        scaling = WaveletOperator(self.shape, self.operator.wavelet, stride.bit_length() - 1).columns([0])[:, 0]
        weights, offsets = [weight] * len(places), [offset for offset, _ in places]
        for lag, covariance in covariances.items():
            moved = np.stack([np.roll(each, -move[0]) for each, (_, move) in zip(covariance.T, places, strict=True)])
            self._convolve(moved, offsets, weights, (2 if lag else 1) * scaling * np.roll(scaling, lag * stride))

    def _convolve(self, values: np.ndarray, offsets: list[Move], weights: list[float], kernel: np.ndarray) -> None:
        """Add the convolution of values, at every s-th sample of each shifted signal, with a function."""
        spread = np.zeros(self.shape)
        for each, offset, weight in zip(values, offsets, weights, strict=True):
            _put(spread, each, offset, weight)
        self.spectrum = self.spectrum + scipy.fft.rfftn(spread) * scipy.fft.rfftn(kernel)

    def _lags(self, rest: WaveletOperator) -> range:
        """Distances of coarse samples whose scaling functions overlap; each stands for both directions."""
        (n,), (m,), length = self.shape, rest.signal_shape, self.operator.wavelet.dec_len
        stride = n // m
        reach = (stride - 1) * (length - 1) // stride
        return range(min(reach, (m - 1) // 2) + 1)

    def total(self) -> np.ndarray:
        """Σ γ φ² at every sample.

        Returns
        -------
        ndarray of the shape of the signal
            The variance in units of σ².
        """
        spectrum = np.broadcast_to(self.spectrum, (*self.shape[:-1], self.shape[-1] // 2 + 1))
        return np.maximum(scipy.fft.irfftn(spectrum, self.shape) + self.direct, 0.0)


def _put(spread: np.ndarray, values: np.ndarray, offset: Move, weight: float) -> None:
    """Add values of every s-th sample of a signal that was shifted by `offset` where they belong in it."""
    strides = [n // m for n, m in zip(spread.shape, values.shape, strict=True)]
    firsts = [-o % s for o, s in zip(offset, strides, strict=True)]
    back = [-((o + f) // s) for o, f, s in zip(offset, firsts, strides, strict=True)]
    places = tuple(slice(f, None, s) for f, s in zip(firsts, strides, strict=True))
    spread[places] += weight * np.roll(values, back, tuple(range(values.ndim)))


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
