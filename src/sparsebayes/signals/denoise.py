"""Denoising of a signal: subtract its mean, transform, shrink the coefficients, transform back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.core.prior import Prior
from sparsebayes.signals.boundary import circular_shifts, crop, pad, padded_shape
from sparsebayes.signals.cycle_spinning import CycleSpinning
from sparsebayes.signals.pointwise import ShiftedVariance, pointwise_variance
from sparsebayes.signals.settings import DENOISING, DenoisingSettings
from sparsebayes.signals.shrinkage import Shrinkage, shrink_by_evidence, shrink_by_risk
from sparsebayes.signals.wavelet_transform import WaveletOperator

ROUNDING = 4 * float(np.finfo(float).eps)  # of the largest sample: variation below it is none
LARGEST = 1e120  # sample: its square is a number
BOUNDARIES = ("periodic", "symmetric")


@dataclass(eq=False)
class SignalDenoiser:
    """Denoises signals of one shape, each on its own.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets on the signal; with boundary="symmetric" replaced by those on the padded signal.
    prior : Prior, optional
        Prior on all coefficients, with the noise estimated by maximising the evidence. None takes a
        smoothness prior with a constant for each band by least expected risk, and the noise from the finest
        level.
    noise_variance : float, optional
        σ² if it is known.
    shifts : int
        Number of circular shifts to average over; 0 and 1 take the signal as it is.
    boundary : {"periodic", "symmetric"}
        Whether the signal continues from its other end or is padded with its mirror image.
    settings : DenoisingSettings
        Tuning constants.
    """

    operator: WaveletOperator
    prior: Prior | None = None
    noise_variance: float | None = None
    shifts: int = 0
    boundary: str = "periodic"
    settings: DenoisingSettings = DENOISING

    def __post_init__(self) -> None:
        if self.boundary == "symmetric":
            wavelet, levels = self.operator.wavelet, self.operator.levels
            shape = padded_shape(self.operator.signal_shape, levels, self.settings.margin)
            self.operator = WaveletOperator(shape, wavelet, levels)

    def shrink(self, signal: np.ndarray) -> Shrinkage:
        """The noise and the shrunk coefficients of a signal.

        Parameters
        ----------
        signal : ndarray
            The samples.

        Returns
        -------
        Shrinkage
            Of the signal as it is, without shifts.
        """
        return self._shrink(pad(signal, self.operator.signal_shape))

    def denoise(self, signal: np.ndarray, return_std: bool = False) -> tuple[np.ndarray, np.ndarray | None, Shrinkage]:
        """The posterior mean of a signal, averaged over shifts.

        Parameters
        ----------
        signal : ndarray
            The samples.
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
        padded = pad(signal, self.operator.signal_shape)
        shrunk = self._shrink(padded)
        if self.shifts > 1:
            total, variance = self._spun(padded, shrunk, return_std)
        else:
            total = self.operator.synthesize(shrunk.coef)
            variance = pointwise_variance(self.operator, shrunk.gamma, self.settings) if return_std else None
        total += shrunk.signal_mean
        std = None if variance is None else crop(self._std(variance, shrunk), signal.shape)
        return crop(total, signal.shape), std, shrunk

    def _spun(self, padded: np.ndarray, shrunk: Shrinkage, return_std: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """The average over shifts, and the average of the variances in units of σ²."""
        moves = [(0,) * padded.ndim, *circular_shifts(self.shifts, padded.shape)]
        variance = ShiftedVariance(self.operator, self.settings) if return_std else None
        total = CycleSpinning(self.operator, shrunk.rule, moves, variance).average(_centred(padded)[0])
        return total, None if variance is None else variance.total()

    def _shrink(self, signal: np.ndarray) -> Shrinkage:
        """The shrinkage of a padded signal."""
        rest, mean = _centred(signal)
        w = self.operator.analyze(rest)
        del rest
        if self.prior is not None:
            shrunk = shrink_by_evidence(w, self.operator, self.prior, self.noise_variance)
        else:
            shrunk = shrink_by_risk(w, self.operator, self.noise_variance, None, self.settings)
        return replace(shrunk, signal_mean=mean)

    def _std(self, variance: np.ndarray, shrunk: Shrinkage) -> np.ndarray:
        """The posterior standard deviation of every sample; that of the mean counts unless flat bands contain it."""
        mean = 0.0 if shrunk.flat else 1 / variance.size
        return math.sqrt(shrunk.noise_variance) * np.sqrt(variance + mean)


def _centred(signal: np.ndarray) -> tuple[np.ndarray, float]:
    """The signal minus its mean, and the mean; all zero if nothing varies by more than rounding."""
    low, high = float(signal.min()), float(signal.max())
    peak, spread = max(high, -low), high - low
    if spread <= ROUNDING * peak:
        return np.zeros_like(signal), low
    if peak > LARGEST or spread < 1 / LARGEST:
        raise ValueError(
            f"X must be neither larger than {LARGEST:g} nor vary by less than {1 / LARGEST:g}, got samples "
            f"from {low:g} to {high:g}, whose squares exceed floating point; give it in other units."
        )
    mean = float(signal.mean())
    return signal - mean, mean
