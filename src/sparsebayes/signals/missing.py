"""Missing samples of a signal, filled in by EM with the posterior mean: first guess, noise and error bars.

Given a signal without gaps, coefficients are shrunk as ever; given the coefficients, the expectation of a missing
sample is the denoised signal there. The two steps alternate until the missing samples stay where they are.

A wavelet that has the share ρ of its energy on missing samples is seen with the precision (1 − ρ)/σ², to the
diagonal of ΦᵀMΦ. With prior variance p the posterior variance of its coefficient is

    v = 1/(1/p + (1 − ρ)/σ²),    p = (1 − ρ)/α + ρτ²

where τ² is the mean square of the coefficients of its band: a wavelet whose samples are missing is not known to be
absent because it was not selected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.ndimage

from sparsebayes.signals.boundary import crop, pad
from sparsebayes.signals.noise import noise_from_finest, noise_from_spectrum
from sparsebayes.signals.pointwise import energies, pointwise_variance
from sparsebayes.signals.settings import DENOISING, DenoisingSettings
from sparsebayes.signals.shrinkage import Shrinkage, usable_variance
from sparsebayes.signals.wavelet_transform import WaveletOperator

TINY = float(np.finfo(float).tiny)
LEAST = 1e-100  # variance or precision in units of the noise, for which no wavelet matters


def first_guess(signal: np.ndarray) -> np.ndarray:
    """The signal with its missing samples interpolated.

    Parameters
    ----------
    signal : ndarray
        NaN where samples are missing, which not all of them are.

    Returns
    -------
    ndarray of the same shape
        A signal interpolated linearly, and constant beyond its first and last sample; an image or a volume the
        mean of that along each axis, or the nearest such value for lines without a sample.
    """
    missing = np.isnan(signal)
    total, count = np.zeros(signal.shape), np.zeros(signal.shape)
    for axis in range(signal.ndim):
        guess = _interpolated(signal, axis)
        known = ~np.isnan(guess)
        total[known] += guess[known] / signal.ndim
        count += known
    nearest = scipy.ndimage.distance_transform_edt(count == 0, return_distances=False, return_indices=True)
    filled = total * (signal.ndim / np.maximum(count, 1))
    return np.where(missing, filled[tuple(nearest)], signal)


def _interpolated(signal: np.ndarray, axis: int) -> np.ndarray:
    """Every line along an axis interpolated linearly; NaN where a line has no sample."""
    moved = np.moveaxis(signal, axis, -1)
    lines = moved.reshape(-1, signal.shape[axis]).copy()
    places, seen = np.arange(lines.shape[1]), ~np.isnan(lines)
    for k in np.flatnonzero(seen.any(axis=1) & ~seen.all(axis=1)):
        own = seen[k]
        lines[k, ~own] = np.interp(places[~own], places[own], lines[k, own])
    return np.moveaxis(lines.reshape(moved.shape), -1, axis)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Where the samples of a signal are missing.

    Parameters
    ----------
    missing : ndarray of bool
        Which samples are missing.
    operator : WaveletOperator
        The wavelets on the padded signal.
    share : ndarray of shape (N,)
        ρ, the share of the energy of each wavelet on missing samples.
    settings : DenoisingSettings
        How the noise is estimated.
    """

    missing: np.ndarray
    operator: WaveletOperator
    share: np.ndarray
    settings: DenoisingSettings = DENOISING

    @classmethod
    def of(cls, missing: np.ndarray, operator: WaveletOperator, settings: DenoisingSettings) -> Gaps:
        """The gaps of a signal, with the share ρ of each wavelet.

        Parameters
        ----------
        missing : ndarray of bool
            Which samples are missing.
        operator : WaveletOperator
            The wavelets on the padded signal.
        settings : DenoisingSettings
            How the noise is estimated.

        Returns
        -------
        Gaps
            The gaps.
        """
        share = energies(operator, pad(missing, operator.signal_shape).astype(float))
        return cls(missing, operator, np.clip(share, 0.0, 1.0), settings)

    def noise_variance(self, rest: np.ndarray) -> float:
        """σ² from the finest wavelets that lie on observed samples, or from the spectrum if that is less.

        Samples that were filled in have no noise, which the spectrum has the less of.

        Parameters
        ----------
        rest : ndarray
            The signal without gaps, minus its mean.

        Returns
        -------
        float
            At least a small part of the variance of the signal, since without noise nothing could be filled in.
        """
        w = self.operator.analyze(pad(rest, self.operator.signal_shape))
        least = self.settings.least_filled_noise * float(np.mean(rest * rest))
        observed = 1 - float(self.missing.mean())
        most = noise_from_spectrum(rest, self.settings.spectrum) / observed
        return max(min(noise_from_finest(w, self.operator, self.settings, self.share), most), least)

    def held(self, mean: np.ndarray, guess: np.ndarray, shrunk: Shrinkage) -> np.ndarray:
        """The posterior mean with coefficients that nothing determines held at the first guess.

        A coefficient without a prior whose wavelet lies in a gap is determined neither by samples nor by a
        prior, and would drift.

        Parameters
        ----------
        mean, guess : ndarray
            The posterior mean, and the first guess.
        shrunk : Shrinkage
            Which bands have no prior.

        Returns
        -------
        ndarray of the same shape
            The mean, with the share ρ of the first guess in those coefficients.
        """
        difference = self.operator.analyze(pad(guess - mean, self.operator.signal_shape))
        back = np.zeros_like(difference)
        for band in shrunk.flat:
            back[band.where] = difference[band.where] * self.share[band.where]
        return mean + crop(self.operator.synthesize(back), mean.shape)

    def widened(self, std: np.ndarray, shrunk: Shrinkage) -> np.ndarray:
        """The standard deviation of every sample once the gaps are counted as unknown.

        Parameters
        ----------
        std : ndarray
            The standard deviation as if no sample were missing.
        shrunk : Shrinkage
            The coefficients of the signal without gaps.

        Returns
        -------
        ndarray of the same shape
            No observed sample has more than the noise unless it had before.
        """
        if not shrunk.noise_variance > 0:
            return std
        sigma2 = usable_variance(shrunk.noise_variance, shrunk.w)
        gamma, flat = shrunk.gamma, {band.where.start for band in shrunk.flat}
        known = shrunk.variance(self.operator.bands)
        z = shrunk.coef / math.sqrt(sigma2)
        more = np.empty_like(gamma)
        for band in self.operator.bands:
            where = band.where
            v = _unobserved(gamma[where], self.share[where], z[where], where.start in flat)
            more[where] = np.maximum(v - known[where], 0.0)
        extra = crop(pointwise_variance(self.operator, more, self.settings), std.shape)
        wider = np.hypot(std, math.sqrt(sigma2) * np.sqrt(extra))
        observed = np.minimum(wider, np.maximum(std, math.sqrt(shrunk.noise_variance)))
        return np.where(self.missing, wider, observed)


def _unobserved(gamma: np.ndarray, rho: np.ndarray, z: np.ndarray, flat: bool) -> np.ndarray:
    """v of the coefficients z of a band, all in units of the noise; `flat` if the band has no prior."""
    tau2 = float((1 - rho) @ (z * z)) / max(float((1 - rho).sum()), TINY)
    if flat:
        precision = rho / (tau2 + 1)
    else:
        precision = 1 / np.maximum((1 - rho) * gamma / np.maximum(1 - gamma, LEAST) + rho * tau2, LEAST)
    return 1 / (precision + 1 - rho)
