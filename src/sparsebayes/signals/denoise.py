"""Denoising of a signal: subtract its mean, transform, shrink the coefficients, transform back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.core.prior import Prior
from sparsebayes.signals.boundary import circular_shifts, crop, pad, padded_shape
from sparsebayes.signals.cycle_spinning import CycleSpinning
from sparsebayes.signals.missing import Gaps, first_guess
from sparsebayes.signals.noise import noise_from_spectrum
from sparsebayes.signals.pointwise import ShiftedVariance, pointwise_variance
from sparsebayes.signals.settings import DENOISING, DenoisingSettings
from sparsebayes.signals.shrinkage import Shrinkage, shrink_by_evidence, shrink_by_risk
from sparsebayes.signals.wavelet_transform import WaveletOperator

ROUNDING = 4 * float(np.finfo(float).eps)  # of the largest sample: variation below it is none
LARGEST = 153  # decimal exponent of a root of a sum of squares: its square is a number
SMALLEST = 1e-152  # variation: its square is a number
BOUNDARIES = ("symmetric", "periodic")

Denoised = tuple[np.ndarray, np.ndarray | None, Shrinkage]


@dataclass(frozen=True, eq=False)
class SignalDenoiser:
    """Denoises signals of one shape, each on its own.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets on the signal, or on the signal padded with its mirror image.
    prior : Prior, optional
        Prior on all coefficients, with the noise estimated by maximising the evidence. None takes a
        smoothness prior with a constant for each band by least expected risk, and the noise from the finest
        level.
    noise_variance : float, optional
        σ² if it is known.
    shifts : int
        Number of circular shifts to average over; 0 and 1 take the signal as it is. Averages over shifts are not
        sparse: without a prior, bands whose posterior mean has clearly less risk than the sparse rule take it.
    settings : DenoisingSettings
        Tuning constants.
    """

    operator: WaveletOperator
    prior: Prior | None = None
    noise_variance: float | None = None
    shifts: int = 0
    settings: DenoisingSettings = DENOISING

    def padded(self) -> SignalDenoiser:
        """The same for signals that are padded with their mirror image.

        Returns
        -------
        SignalDenoiser
            With the wavelets on the padded signal, every axis of which can be halved evenly.
        """
        operator, settings = self.operator, self.settings
        shape = padded_shape(operator.signal_shape, operator.levels, settings.margin, settings.short_margin)
        return replace(self, operator=WaveletOperator(shape, operator.wavelet, operator.levels))

    def shrink(self, signal: np.ndarray) -> Shrinkage:
        """The noise and the shrunk coefficients of a signal.

        Parameters
        ----------
        signal : ndarray
            The samples; NaN if they are missing.

        Returns
        -------
        Shrinkage
            Of the signal as it is, without shifts.
        """
        if np.isnan(signal).any():
            return self._filled(signal, np.isnan(signal), False)[2]
        return self._shrink(signal)

    def denoise(self, signal: np.ndarray, return_std: bool = False) -> Denoised:
        """The posterior mean of a signal, averaged over shifts.

        Parameters
        ----------
        signal : ndarray
            The samples; NaN if they are missing.
        return_std : bool
            Whether to compute the posterior standard deviation. Over shifts, variances are averaged, which
            bounds the variance of the average from above.

        Returns
        -------
        denoised : ndarray of the shape of the signal
            The posterior mean.
        std : ndarray of the shape of the signal, or None
            The posterior standard deviation of each sample, without the noise.
        shrinkage : Shrinkage
            Of the signal as it is, without shifts.
        """
        if np.isnan(signal).any():
            return self._filled(signal, np.isnan(signal), return_std)
        return self._denoised(signal, return_std)

    def _filled(self, signal: np.ndarray, missing: np.ndarray, return_std: bool) -> Denoised:
        """`denoise` with missing samples: EM from an interpolation, with the noise of observed samples."""
        gaps, guess = Gaps.of(missing, self.operator, self.settings), first_guess(signal)
        filled, given = guess.copy(), self.noise_variance
        for _ in range(self.settings.fillings):
            rest = _centred(filled)[0]
            sigma2 = gaps.noise_variance(rest) if given is None else given
            known = replace(self, noise_variance=sigma2)
            mean, _, shrunk = known._denoised(filled, False)
            following = gaps.held(mean, guess, shrunk)[missing]
            moved = float(np.abs(following - filled[missing]).max())
            filled[missing] = following
            if moved <= self.settings.filled_to * math.sqrt(sigma2):
                break
        mean, std, shrunk = known._denoised(filled, return_std)
        mean = gaps.held(mean, guess, shrunk)
        return mean, None if std is None else gaps.widened(std, shrunk), shrunk

    def _denoised(self, signal: np.ndarray, return_std: bool) -> Denoised:
        """`denoise` without missing samples."""
        padded = pad(signal, self.operator.signal_shape)
        shrunk = self._shrink(signal)
        if self.shifts > 1:
            total, variance = self._spun(padded, shrunk, return_std)
        else:
            total = self.operator.synthesize(shrunk.coef)
            variance = self._variance(shrunk) if return_std else None
        total += shrunk.signal_mean
        std = None if variance is None else crop(self._std(variance, shrunk), signal.shape)
        return crop(total, signal.shape), std, shrunk

    def _spun(self, padded: np.ndarray, shrunk: Shrinkage, return_std: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """The average over shifts, and the average of the variances in units of σ²."""
        moves = [(0,) * padded.ndim, *circular_shifts(self.shifts, padded.shape)]
        variance = ShiftedVariance(self.operator, self.settings) if return_std else None
        with _numbers_of(self.prior):
            total = CycleSpinning(self.operator, shrunk.rule, moves, variance).average(_centred(padded)[0])
        return total, None if variance is None else variance.total()

    def _variance(self, shrunk: Shrinkage) -> np.ndarray:
        """The variance of every sample in units of σ², without shifts."""
        return pointwise_variance(self.operator, shrunk.variance(self.operator.bands), self.settings)

    def _shrink(self, signal: np.ndarray) -> Shrinkage:
        """The shrinkage of a signal without gaps, padded."""
        most_noise = math.inf
        if self.prior is None and self.noise_variance is None:
            most_noise = noise_from_spectrum(_centred(signal)[0], self.settings.spectrum)
        rest, mean = _centred(pad(signal, self.operator.signal_shape))
        w = self.operator.analyze(rest)
        del rest
        if self.prior is not None:
            with _numbers_of(self.prior):
                shrunk = shrink_by_evidence(w, self.operator, self.prior, self.noise_variance)
        else:
            shrunk = shrink_by_risk(w, self.operator, self.noise_variance, None, self.settings, most_noise)
        return replace(shrunk, signal_mean=mean)

    def _std(self, variance: np.ndarray, shrunk: Shrinkage) -> np.ndarray:
        """The posterior standard deviation of every sample; that of the mean counts unless flat bands contain it."""
        mean = 0.0 if shrunk.flat else 1 / variance.size
        return math.sqrt(shrunk.noise_variance) * np.sqrt(variance + mean)


@contextmanager
def _numbers_of(prior: Prior | None) -> Iterator[None]:
    """ValueError if what is computed inside exceeds floating point under a prior that has units."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except ArithmeticError as error:
        raise ValueError(
            f"prior={prior!r} has units in which the samples of X, or noise_variance, exceed floating point; give X in "
            "other units, or use prior='auto'."
        ) from error


def _centred(signal: np.ndarray) -> tuple[np.ndarray, float]:
    """The signal minus its mean, and the mean; all zero if nothing varies by more than rounding."""
    low, high = float(signal.min()), float(signal.max())
    peak, spread = max(high, -low), high - low
    if spread <= ROUNDING * peak:
        return np.zeros_like(signal), low
    largest = 10.0 ** math.floor(LARGEST - 0.5 * math.log10(signal.size))
    if peak > largest or spread < SMALLEST:
        raise ValueError(
            f"X must be neither larger than {largest:g} nor vary by less than {SMALLEST:g}, got samples "
            f"from {low:g} to {high:g}, whose squares exceed floating point; give it in other units."
        )
    mean = float(signal.mean())
    return signal - mean, mean
