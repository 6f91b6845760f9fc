"""The posterior of a wavelet coefficient whose true value has a mixture of normal distributions.

In units of the noise, z = θ + ε with θ ~ Σ_k p_k N(0, v_k). Component k has the posterior mean f_k z and the
posterior variance f_k = v_k/(1 + v_k), and the posterior weight r_k ∝ p_k N(z; 0, 1 + v_k), so that

    E(θ|z) = z Σ r_k f_k,    Var(θ|z) = Σ r_k f_k + z² [Σ r_k f_k² − (Σ r_k f_k)²]

Any estimate μ of θ has the expected squared error Var(θ|z) + (E(θ|z) − μ)², that of a coefficient that was set to
zero included. What is tabulated is the part of |z| that the mean removes, which hardly changes for large z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PER_SIGMA = 16  # points of the table per standard deviation of the noise
LAST = 16 * PER_SIGMA  # number of the last point; a larger |z| counts as this one


def posterior_moments(shares: np.ndarray, z: np.ndarray, variances: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """What the posterior mean removes of |z|, and the posterior variance, in units of the noise.

    Parameters
    ----------
    shares : ndarray of shape (B, K)
        The shares p of B mixtures.
    z : ndarray of shape (G,)
        Absolute coefficients.
    variances : sequence of K floats
        v of every component.

    Returns
    -------
    removed, variance : ndarray of shape (B, G)
        |z| − E(θ | |z|), and Var(θ|z).
    """
    v = np.asarray(variances)[:, None]
    factor = (v / (1 + v))[:, 0]
    logs = -0.5 * (z * z / (1 + v) + np.log1p(v))
    density = shares[:, :, None] * np.exp(logs - logs.max(axis=0))
    weight = density / density.sum(axis=1, keepdims=True)
    kept = np.einsum("k,bkg->bg", factor, weight)
    spread = np.einsum("bkg,bkg->bg", weight, (factor[:, None] - kept[:, None, :]) ** 2)
    return z * (1 - kept), kept + z * z * spread


@dataclass(frozen=True, eq=False)
class MixturePosterior:
    """The posteriors of the coefficients of several bands, tabulated.

    Parameters
    ----------
    removed, variance : ndarray of shape (n_bands, LAST + 1)
        What the posterior mean removes of |z|, and the posterior variance, at |z| = 0, 1/PER_SIGMA, …
    """

    removed: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, shares: np.ndarray, variances: Sequence[float]) -> MixturePosterior:
        """The posteriors under mixtures with the given shares.

        Parameters
        ----------
        shares : ndarray of shape (n_bands, K)
            The shares of every band.
        variances : sequence of K floats
            Variances of the components, in units of the noise variance.

        Returns
        -------
        MixturePosterior
            The tables.
        """
        return cls(*posterior_moments(shares, np.arange(LAST + 1) / PER_SIGMA, variances))


def interpolated(table: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A row of a table at absolute coefficients, by linear interpolation.

    Parameters
    ----------
    table : ndarray of shape (LAST + 1,)
        A row of a `MixturePosterior`.
    z : ndarray
        Absolute coefficients in units of the noise.

    Returns
    -------
    ndarray in the shape of z
        The values.
    """
    place = np.minimum(z * PER_SIGMA, LAST)
    below = np.minimum(place, LAST - 1).astype(np.int32)
    place -= below
    place *= np.diff(table)[below]
    place += table[below]
    return place
