"""Denoising of a signal: subtract its mean, transform, shrink the coefficients, transform back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.core.prior import Prior
from sparsebayes.signals.boundary import circular_shifts, crop, pad, padded_shape
from sparsebayes.signals.pointwise import pointwise_variance
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
        operator, axes = self.operator, range(signal.ndim)
        padded = pad(signal, operator.signal_shape)
        shrunk = self._shrink(padded)
        total = operator.synthesize(shrunk.coef)
        variance = self._variance(shrunk) if return_std else None
        shifts = circular_shifts(self.shifts, operator.signal_shape)
        for move in shifts:
            moved, back = self._shrink(np.roll(padded, move, axes), shrunk), tuple(-k for k in move)
            total += np.roll(operator.synthesize(moved.coef), back, axes)
            if variance is not None:
                variance += np.roll(self._variance(moved), back, axes)
        total /= len(shifts) + 1
        total += shrunk.signal_mean
        std = None if variance is None else crop(np.sqrt(variance / (len(shifts) + 1)), signal.shape)
        return crop(total, signal.shape), std, shrunk

    def _shrink(self, signal: np.ndarray, like: Shrinkage | None = None) -> Shrinkage:
        """The shrinkage of a padded signal; a shifted one takes the noise and the constants of `like`."""
        rest, mean = _centred(signal)
        w = self.operator.analyze(rest)
        del rest
        noise_variance = self.noise_variance if like is None else like.noise_variance
        if self.prior is not None:
            shrunk = shrink_by_evidence(w, self.operator, self.prior, noise_variance)
        else:
            constants = None if like is None else like.constants
            shrunk = shrink_by_risk(w, self.operator, noise_variance, constants, self.settings)
        return replace(shrunk, signal_mean=mean)

    def _variance(self, shrunk: Shrinkage) -> np.ndarray:
        """The posterior variance of every sample; that of the mean is added unless flat bands contain it."""
        variance = pointwise_variance(self.operator, shrunk.gamma, self.settings)
        if not shrunk.flat:
            variance += 1 / variance.size
        return shrunk.noise_variance * variance


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
