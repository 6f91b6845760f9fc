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
ITERATIONS = 60  # of EM
BINS_PER_SIGMA, LARGEST = 32, 12  # of |z|, for the fit of the law; beyond it one bin for all
POINTS, TAIL = 4000, 8.0  # of the integral over |z|, in standard deviations


def stein_risk(u: np.ndarray, c: np.ndarray) -> np.ndarray:
    """R(u), elementwise."""
    kept = u > 1 + 2 * c
    excess = np.where(kept, u - 2 * c, 1.0)
    return np.where(kept, 1 + 5 * u / excess**2 - 2 / excess, u - 1)


def best_constant(z: np.ndarray) -> float:
    """c for coefficients z (n,) in units of the noise."""
    return float(CANDIDATES[np.argmin(fit_law(z) @ _expected_risks())])


def fit_law(z: np.ndarray) -> np.ndarray:
    """The shares p of `VARIANCES`, by EM on a histogram of |z|: O(n), and then no more than O(bins)."""
    count, u = _histogram(z)
    precision = 1 / (1 + VARIANCES)
    # relative to the widest law, which keeps the largest of them from vanishing
    likelihood = np.exp(-0.5 * u[:, None] * (precision - precision[-1])) * np.sqrt(precision)
    shares = np.full(len(VARIANCES), (1 - FIRST_NOISE_SHARE) / (len(VARIANCES) - 1))
    shares[0] = FIRST_NOISE_SHARE
    for _ in range(ITERATIONS):
        shares *= (count / (likelihood @ shares)) @ likelihood
        shares /= shares.sum()
    return shares


def _histogram(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many coefficients each bin has, and their mean z²."""
    size = np.abs(z)
    bins = np.minimum(size * BINS_PER_SIGMA, BINS_PER_SIGMA * LARGEST).astype(np.int64)
    count = np.bincount(bins)
    size *= size
    total = np.bincount(bins, weights=size)
    used = count > 0
    return count[used].astype(float), total[used] / count[used]


@lru_cache(maxsize=1)
def _expected_risks() -> np.ndarray:
    """E R for every variance (rows) and candidate c (columns): the rectangle rule, far into the tail."""
    z = (np.arange(POINTS) + 0.5) * (TAIL / POINTS)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    laws = ((1 + v) * z * z for v in VARIANCES)
    return np.stack([stein_risk(u[None, :], CANDIDATES[:, None]) @ weight for u in laws])
