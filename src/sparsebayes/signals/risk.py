"""Which smoothness constant c suits a set of orthonormal coefficients: the one of least expected risk.

Under the smoothness prior a coefficient z (in units of the noise, u = z²) is kept if u > 1 + 2c and becomes
z (1 − 1/(u − 2c)). The rule is continuous and piecewise smooth, so Stein's unbiased estimate of its squared
error applies: in units of the noise variance

    R(u) = u − 1                                          set to zero
    R(u) = 1 + 5u/(u−2c)² − 2/(u−2c)                      kept

The rule rises steeply at its threshold (R jumps there from 2c to 4 + 10c), so that the sum of R over the
coefficients at hand, as a function of c, is a noisy sum of jumps whose minimum overfits. Hence the
distribution of the coefficients is fitted first, a mixture of normal ones,

    z ~ Σ_k p_k N(0, 1 + v_k),   v_0 = 0 (pure noise), v_1 … on a geometric grid, p by maximum likelihood

and c is the minimum of E R under it: Stein's estimate without the noise of the sample. The shares p are those of
highest likelihood once a few coefficients of pure noise are added to each band.

The posterior mean under the mixture has less risk than any other rule if the mixture is right, and more than the
rule above if it is not. Stein's estimate tells: where the coefficients at hand say that it is clearly less, a band
is averaged over shifts by its posterior mean (`prefers_mean`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sparsebayes.signals.mixture import posterior_moments
from sparsebayes.signals.settings import DENOISING, RiskSettings

TINY = float(np.finfo(float).tiny)


def stein_risk(u: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Stein's unbiased estimate R(u) of the squared error of the smoothness prior's rule.

    Parameters
    ----------
    u : ndarray
        Squared coefficients in units of the noise variance.
    c : ndarray that broadcasts with u
        Smoothness constants.

    Returns
    -------
    ndarray
        R, elementwise, in units of the noise variance.
    """
    kept = u > 1 + 2 * c
    excess = np.where(kept, u - 2 * c, 1.0)
    return np.where(kept, 1 + 5 * u / excess**2 - 2 / excess, u - 1)


def histograms(z: np.ndarray, sizes: Sequence[int], settings: RiskSettings = DENOISING.risk) -> np.ndarray:
    """How many coefficients of each of B sets fall into each bin of |z|.

    Parameters
    ----------
    z : ndarray of shape (sum of sizes,)
        The coefficients in units of the noise, one set after the other.
    sizes : sequence of B ints
        Sizes of the sets.
    settings : RiskSettings
        The bins.

    Returns
    -------
    ndarray of int, shape (B, bins)
        The counts.
    """
    bins = settings.bins
    numbers = np.minimum(np.abs(z) * settings.bins_per_sigma, bins - 1).astype(np.int32)
    if len(sizes) > 1:
        numbers += np.repeat(np.arange(0, bins * len(sizes), bins, dtype=np.int32), sizes)
    return np.bincount(numbers, minlength=bins * len(sizes)).reshape(-1, bins)


def constants_of(shares: np.ndarray, settings: RiskSettings = DENOISING.risk) -> np.ndarray:
    """The smoothness constant of least expected risk under each of B mixtures.

    Parameters
    ----------
    shares : ndarray of shape (B, K)
        The shares p of `settings.variances`.
    settings : RiskSettings
        The constants to choose from.

    Returns
    -------
    ndarray of shape (B,)
        c of each set.
    """
    return np.asarray(settings.constants)[np.argmin(shares @ _expected_risks(settings), axis=1)]


def prefers_mean(
    counts: np.ndarray, shares: np.ndarray, constants: np.ndarray, settings: RiskSettings = DENOISING.risk
) -> np.ndarray:
    """Whether Stein's estimate for the posterior mean is clearly lower than for the smoothness prior's rule.

    In units of the noise variance it is (z − δ)² + 2δ' − 1 for the posterior mean δ(z), whose derivative is the
    posterior variance.

    Parameters
    ----------
    counts : ndarray of shape (B, bins)
        Histograms of B sets of coefficients.
    shares : ndarray of shape (B, K)
        The mixtures fitted to them.
    constants : ndarray of shape (B,)
        Their smoothness constants.
    settings : RiskSettings
        How clearly.

    Returns
    -------
    ndarray of bool, shape (B,)
        One value per set.
    """
    z = _middles(settings)
    removed, variance = posterior_moments(shares, z, settings.variances)
    gain = stein_risk(z * z, constants[:, None]) - (removed**2 + 2 * variance - 1)
    error = np.sqrt((counts * gain**2).sum(axis=1))
    return (counts * gain).sum(axis=1) > settings.clearly * error


def fit_mixtures(counts: np.ndarray, settings: RiskSettings = DENOISING.risk) -> np.ndarray:
    """The shares p of `settings.variances` in each of B sets of coefficients, by EM on all at once.

    They maximise Σ log Σ_k p_k N(z; 0, 1 + v_k) + a log p_0, where a is `settings.noise_count`.

    Parameters
    ----------
    counts : ndarray of shape (B, bins)
        Histograms of the sets.
    settings : RiskSettings
        Variances, and steps of EM.

    Returns
    -------
    ndarray of shape (B, K)
        p of each set; rows sum to 1.
    """
    seen = np.flatnonzero(counts.any(axis=0))  # a bin that is empty in every set says nothing
    likelihood = _likelihoods(settings)[:, seen]
    others = len(settings.variances) - 1
    shares = np.full((len(counts), others + 1), (1 - settings.noise_share) / others)
    shares[:, 0] = settings.noise_share
    noise = settings.noise_count / (counts.sum(axis=1) + settings.noise_count)
    weight = counts[:, seen] / (counts.sum(axis=1, keepdims=True) + settings.noise_count)
    transposed, mixture = np.ascontiguousarray(likelihood.T), np.empty_like(weight)
    for _ in range(settings.iterations):
        np.matmul(shares, likelihood, out=mixture)
        np.divide(weight, mixture, out=mixture)
        steps = mixture @ transposed
        steps[:, 0] += noise / np.maximum(shares[:, 0], TINY)
        shares *= steps**settings.relaxation
    return shares / shares.sum(axis=1, keepdims=True)


@lru_cache(maxsize=4)
def _likelihoods(settings: RiskSettings) -> np.ndarray:
    """(K, bins): the density of every component in the middle of every bin, up to a factor common to all."""
    z = _middles(settings)
    precision = 1 / (1 + np.asarray(settings.variances)[:, None])
    return np.exp(-0.5 * z * z * (precision - precision[-1])) * np.sqrt(precision)


def _middles(settings: RiskSettings) -> np.ndarray:
    """The |z| that stands for each bin; the last one half as large again: it is no noise, however large it is."""
    z = (np.arange(settings.bins) + 0.5) / settings.bins_per_sigma
    z[-1] = 1.5 * settings.largest
    return z


@lru_cache(maxsize=4)
def _expected_risks(settings: RiskSettings) -> np.ndarray:
    """E R for every variance (rows) and constant c (columns): the rectangle rule, far into the tail."""
    z = (np.arange(settings.points) + 0.5) * (settings.tail / settings.points)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    c = np.asarray(settings.constants)[:, None]
    return np.stack([stein_risk((1 + v) * z * z, c) @ weight for v in settings.variances])
