"""Which smoothness constant c suits a set of orthonormal coefficients: the one of least expected risk.

Under the smoothness prior a coefficient z (in units of the noise, u = z²) is kept if u > 1 + 2c and becomes
z (1 − 1/(u − 2c)). The rule is continuous and piecewise smooth, so Stein's unbiased estimate of its squared
error applies: in units of the noise variance

    R(u) = u − 1                                          left out
    R(u) = 1 + 5u/(u−2c)² − 2/(u−2c)                      kept

The rule rises steeply at its threshold (R jumps there from 2c to 4 + 10c), so that the sum of R over the
coefficients at hand, as a function of c, is a noisy sum of jumps whose minimum overfits. Hence the law of the
coefficients is fitted first, a mixture of normal ones,

    z ~ Σ_k p_k N(0, 1 + v_k),   v_0 = 0 (pure noise), v_1 … on a geometric grid, p by maximum likelihood

and c is the minimum of E R under that law: Stein's estimate with the noise of the sample taken out of it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

CANDIDATES = np.concatenate([[0.0], np.geomspace(0.05, 16.0, 48)])  # c: thresholds from 1 to 5.7 σ
VARIANCES = np.concatenate([[0.0], 0.25 * 4.0 ** np.arange(9)])  # v: from half the noise to 128 times it
FIRST_NOISE_SHARE = 0.5
ITERATIONS, OVER = (
    20,
    1.8,
)  # of EM, and how far beyond its own step (1) each goes in log p: as good as 36 steps
BINS_PER_SIGMA, LARGEST = 16, 10  # of |z|, for the fit of the law; beyond it one bin for all
BINS = LARGEST * BINS_PER_SIGMA + 1
POINTS, TAIL = 4000, 8.0  # of the integral over |z|, in standard deviations


def stein_risk(u: np.ndarray, c: np.ndarray) -> np.ndarray:
    """R(u), elementwise."""
    kept = u > 1 + 2 * c
    excess = np.where(kept, u - 2 * c, 1.0)
    return np.where(kept, 1 + 5 * u / excess**2 - 2 / excess, u - 1)


def histogram(z: np.ndarray) -> np.ndarray:
    """How many of the coefficients z, in units of the noise, fall into each bin of |z|; z is overwritten."""
    return np.bincount(_bins(z), minlength=BINS)


def histograms(z: np.ndarray, sizes: list[int]) -> np.ndarray:
    """(B, bins): the same for B sets of these sizes that lie one after the other in z."""
    numbers = _bins(z)
    numbers += np.repeat(np.arange(0, BINS * len(sizes), BINS, dtype=np.int32), sizes)
    return np.bincount(numbers, minlength=BINS * len(sizes)).reshape(-1, BINS)


def _bins(z: np.ndarray) -> np.ndarray:
    np.abs(z, out=z)
    z *= BINS_PER_SIGMA
    np.minimum(z, BINS - 1, out=z)
    return z.astype(np.int32)


def best_constants(counts: np.ndarray) -> np.ndarray:
    """c (B,) for B sets of coefficients, given by their histograms (B, bins)."""
    return CANDIDATES[np.argmin(fit_laws(counts) @ _expected_risks(), axis=1)]


def fit_laws(counts: np.ndarray) -> np.ndarray:
    """The shares p (B, K) of `VARIANCES`, by EM on all histograms at once."""
    seen = np.flatnonzero(counts.any(axis=0))  # bins that are empty in every set say nothing
    likelihood = _likelihoods()[:, seen]
    shares = np.full((len(counts), len(VARIANCES)), (1 - FIRST_NOISE_SHARE) / (len(VARIANCES) - 1))
    shares[:, 0] = FIRST_NOISE_SHARE
    weight = counts[:, seen] / counts.sum(axis=1, keepdims=True)
    transposed, mixture = np.ascontiguousarray(likelihood.T), np.empty_like(weight)
    for _ in range(ITERATIONS):
        np.matmul(shares, likelihood, out=mixture)
        np.divide(weight, mixture, out=mixture)
        shares *= (mixture @ transposed) ** OVER
    return shares / shares.sum(axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _likelihoods() -> np.ndarray:
    """(K, bins): the density of every law in the middle of every bin, up to a factor common to all laws.

    All that lies beyond the last bin counts as half as large again: it is no noise, however large it is.
    """
    z = (np.arange(BINS) + 0.5) / BINS_PER_SIGMA
    z[-1] = 1.5 * LARGEST
    precision = (1 / (1 + VARIANCES))[:, None]
    return np.exp(-0.5 * z * z * (precision - precision[-1])) * np.sqrt(precision)


@lru_cache(maxsize=1)
def _expected_risks() -> np.ndarray:
    """E R for every variance (rows) and candidate c (columns): the rectangle rule, far into the tail."""
    z = (np.arange(POINTS) + 0.5) * (TAIL / POINTS)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    laws = ((1 + v) * z * z for v in VARIANCES)
    return np.stack([stein_risk(u[None, :], CANDIDATES[:, None]) @ weight for u in laws])
