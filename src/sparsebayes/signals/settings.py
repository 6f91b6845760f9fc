"""What the denoising of signals depends on: all its tuning constants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RiskSettings:
    """What the choice of smoothness constants by least expected risk depends on.

    Parameters
    ----------
    constants : tuple of float
        The constants c to choose from, for thresholds from 1 to 5.7 standard deviations of the noise.
    variances : tuple of float
        Variances v of the true coefficients in units of the noise variance: 0 for pure noise, then standard
        deviations from that of the noise to 128 times the noise.
    noise_share : float
        Share of the coefficients that are taken for pure noise at the start of EM.
    noise_count : float
        Coefficients of pure noise that are added to those of every band, as a prior on the shares: without them
        a band of pure noise is taken for a weak signal half of the time.
    iterations, relaxation : int, float
        EM steps, and the factor by which each exceeds its own length in log p; 200 steps of 1.8 reach almost
        exactly the same point as 360 plain steps.
    bins_per_sigma, largest : int, int
        Bins of |z| per standard deviation of the noise, and the |z| beyond which one bin holds all.
    points, tail : int, float
        Points of the integral over |z|, and where it ends, in standard deviations.
    clearly : float
        Standard errors by which Stein's estimate of the risk of the posterior mean must be lower than that of
        the sparse rule for a band to be averaged over shifts by its posterior mean.
    """

    constants: tuple[float, ...] = (0.0, *np.geomspace(0.05, 16.0, 48).tolist())
    variances: tuple[float, ...] = (0.0, *(4.0**k for k in range(8)))
    noise_share: float = 0.5
    noise_count: float = 2.0
    iterations: int = 200
    relaxation: float = 1.8
    bins_per_sigma: int = 16
    largest: int = 10
    points: int = 4000
    tail: float = 8.0
    clearly: float = 1.0

    @property
    def bins(self) -> int:
        """Number of bins of |z|."""
        return self.largest * self.bins_per_sigma + 1


@dataclass(frozen=True)
class SpectrumSettings:
    """What the estimate of the noise from the spectrum of a signal depends on.

    Parameters
    ----------
    least_frequencies : int
        Number of frequencies that are enough for an estimate.
    least_share : float
        Share of the frequencies that must hold nothing but noise.
    components, ratio : int, float
        Number of exponential distributions in the mixture, and the ratio of the mean of one to the next.
    iterations : int
        Steps of EM.
    bins_per_unit, farthest : int, float
        Bins of the logarithm of the power, per unit, and how far from that of its median it counts as it is.
    """

    least_frequencies: int = 24
    least_share: float = 0.45
    components: int = 7
    ratio: float = 16.0
    iterations: int = 60
    bins_per_unit: int = 20
    farthest: float = 60.0


@dataclass(frozen=True)
class DenoisingSettings:
    """What the denoising of a signal depends on.

    Parameters
    ----------
    least_noisy : float
        Share of the finest coefficients that must exceed rounding for a signal to have noise at all.
    dust : float
        A finest coefficient counts as zero up to this multiple of what the filter leaves of a constant.
    margin : int
        Least number of samples that a signal is padded by at either end, for boundary="symmetric".
    short_margin : float
        The share of the samples of a short axis that is enough: the wavelets of its few levels are short.
    few_wavelets : int
        Active wavelets of a signal up to which their squares are added up one by one.
    lagged_from : int
        Spacing of coarse samples from which on the variance of a signal of odd coarse length is added up from
        their covariances, instead of from the squares of all wavelets.
    clear, enough_clear : float, int
        Share of the energy of a wavelet on missing samples up to which it counts as observed, and how many
        finest wavelets must be for the noise to be estimated from them alone.
    least_filled_noise : float
        Least noise variance that is estimated if samples are missing, as a part of the variance of the signal.
    fillings, filled_to : int, float
        Steps of EM for missing samples, at most, and how far they may still move in the last one, in standard
        deviations of the noise.
    risk : RiskSettings
        How smoothness constants are chosen.
    spectrum : SpectrumSettings
        How the noise is estimated from the spectrum.
    """

    least_noisy: float = 1 / 8
    dust: float = 16.0
    margin: int = 32
    short_margin: float = 2 / 3
    few_wavelets: int = 256
    lagged_from: int = 16
    clear: float = 1e-3
    enough_clear: int = 64
    least_filled_noise: float = 1e-6
    fillings: int = 30
    filled_to: float = 0.02
    risk: RiskSettings = RiskSettings()
    spectrum: SpectrumSettings = SpectrumSettings()


DENOISING = DenoisingSettings()
