"""What is kept of a wavelet coefficient once noise and priors are known: γ as a function of the coefficient."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sparsebayes.core.prior import Prior
from sparsebayes.signals.mixture import LAST, PER_SIGMA, MixturePosterior, interpolated
from sparsebayes.signals.wavelet_transform import Band

SMALL = 1e-9  # |z|: a smaller coefficient is zero whatever is kept of it


class Rule(ABC):
    """The share γ of a coefficient that is kept, for coefficients of any band, shifted or not."""

    @abstractmethod
    def gamma(self, w: np.ndarray, number: int) -> np.ndarray:
        """γ of coefficients of one band; the posterior mean is γw, the posterior variance γσ².

        Parameters
        ----------
        w : ndarray of shape (k, …)
            The coefficients of that band, of k shifts of the signal.
        number : int
            The number of the band.

        Returns
        -------
        ndarray in the shape of w
            Values from 0 to 1.
        """

    def variance(self, w: np.ndarray, number: int, gamma: np.ndarray) -> np.ndarray:
        """Expected squared error of the estimate γw of each coefficient, in units of σ².

        Parameters
        ----------
        w : ndarray of shape (k, …)
            Coefficients of one band.
        number : int
            The number of the band.
        gamma : ndarray in the shape of w
            The shares that are kept.

        Returns
        -------
        ndarray in the shape of w
            γ itself: the posterior variance at the most probable α, 0 for a coefficient that is not selected.
        """
        return gamma


@dataclass(frozen=True, eq=False)
class SmoothnessRule(Rule):
    """A smoothness prior with a constant for each band: γ = 1 − 1/(u − 2c) if u = w²/σ² > 1 + 2c, else 0.

    Parameters
    ----------
    sigma2 : float
        σ²; it is not used if all bands are kept as they are.
    constants : ndarray of shape (n_bands,)
        c of every band; NaN for a band that is kept as it is.
    """

    sigma2: float
    constants: np.ndarray

    def gamma(self, w: np.ndarray, number: int) -> np.ndarray:
        """1 − 1/max(u − 2c, 1), or 1 for a band that is kept as it is."""
        c = float(self.constants[number])
        if math.isnan(c):
            return np.ones_like(w)
        excess = w * w
        excess /= self.sigma2
        excess -= 2 * c
        np.maximum(excess, 1.0, out=excess)
        return np.subtract(1.0, np.divide(1.0, excess, out=excess), out=excess)


@dataclass(frozen=True, eq=False)
class MixtureRule(Rule):
    """A smoothness prior for each band, or the posterior mean, with errors under a mixture fitted to the band.

    Parameters
    ----------
    sparse : SmoothnessRule
        σ², and the smoothness constants.
    posterior : MixturePosterior
        The posterior of every band.
    averaged : ndarray of bool, shape (n_bands,)
        The bands whose coefficients become their posterior means.
    """

    sparse: SmoothnessRule
    posterior: MixturePosterior
    averaged: np.ndarray

    def gamma(self, w: np.ndarray, number: int) -> np.ndarray:
        """How much of each coefficient is kept: by the smoothness prior, or E(θ|z)/z for posterior means."""
        if not self.averaged[number]:
            return self.sparse.gamma(w, number)
        z = np.abs(w) / math.sqrt(self.sparse.sigma2)
        removed = interpolated(self.posterior.removed[number], z)
        removed /= np.maximum(z, SMALL, out=z)
        return np.subtract(1.0, removed, out=removed)

    def variance(self, w: np.ndarray, number: int, gamma: np.ndarray) -> np.ndarray:
        """Var(θ|z) + (E(θ|z) − γz)², or 1 for a band that is kept as it is."""
        if math.isnan(self.sparse.constants[number]):
            return np.ones_like(w)
        z = np.abs(w) / math.sqrt(self.sparse.sigma2)
        result = interpolated(self.posterior.variance[number], z)
        off = interpolated(self.posterior.removed[number], z)
        off -= z * (1 - gamma)
        off[z >= LAST / PER_SIGMA] = 0.0  # where rounding of γ would count
        off *= off
        result += off
        return result


@dataclass(frozen=True, eq=False)
class EvidenceRule(Rule):
    """One prior on all coefficients: γ = β/(α + β) at the best α of each.

    Parameters
    ----------
    prior : Prior
        The prior, its parameters resolved.
    beta : float
        Noise precision of coefficients that were divided by `scale`.
    scale : float
        The root mean square of the coefficients.
    unit : ndarray of shape (N,)
        The factors that turn α into the units of the prior.
    bands : tuple of Band
        Which of the N coefficients belong to which band.
    """

    prior: Prior
    beta: float
    scale: float
    unit: np.ndarray
    bands: tuple[Band, ...]

    def gamma(self, w: np.ndarray, number: int) -> np.ndarray:
        """β/(α + β), 0 for a coefficient that is not selected."""
        h = (w / self.scale).reshape(-1)
        gamma = np.zeros(h.size)
        chosen = np.flatnonzero(h * h > self.prior.threshold / self.beta)
        unit = self.unit[self.bands[number].where]
        alpha = self.prior.maximise_orthonormal(h[chosen], self.beta, unit[chosen % len(unit)])
        gamma[chosen] = self.beta / (alpha + self.beta)
        return gamma.reshape(w.shape)


class NoSignal(Rule):
    """Nothing is kept: the signal does not vary."""

    def gamma(self, w: np.ndarray, number: int) -> np.ndarray:
        """0."""
        return np.zeros_like(w)
