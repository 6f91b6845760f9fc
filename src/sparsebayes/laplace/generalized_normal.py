"""Noise with lighter tails than the Gaussian, up to noise with sharp bounds [Box & Tiao 1973, 3.2].

    p(y|f) = exp(−|(y−f)/s|^p) / (2 s Γ(1 + 1/p)),    Var y = s² Γ(3/p)/Γ(1/p)

p = 2 is Gaussian, p → ∞ uniform on f ± s. For p ≥ 2 the log density is concave in f and its curvature is
continuous, so there is one mode and Newton's steps find it. With N rows of uniform noise the weights come out
with 3/(2p − 1) of the variance they have by least squares: that of an L_p estimate,
E[ψ²]/E[ψ']² with ψ(r) = r^(p−1), is 1/(2p − 1) of s².
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes.laplace.likelihood import LaplaceLikelihood

NODES = 257  # of the trapezium rule
DROP = 40.0  # nats below its peak at which an integrand counts as zero
HALVINGS = 60
NARROWEST = 1e-9  # in units of s: a smaller standard deviation of f counts as none
FARTHEST = 1e30  # residual, in units of s, beyond which powers of it would not be numbers


@dataclass
class GeneralizedNormal(LaplaceLikelihood):
    """Noise with lighter tails than the Gaussian: y = f + ε, p(ε) ∝ exp(−|ε/s|^p); one output.

    Parameters
    ----------
    shape : float or "evidence"
        p, from 2 (Gaussian noise) to 8 (noise with sharp bounds). "evidence" estimates it: Gaussian noise
        unless another shape gains ½ log n nats and there are ten rows for each weight.
    scale : float, optional
        s > 0. A fit finds it: leave it None, and give `noise_variance` if the variance is known.

    Notes
    -----
    Beyond p = 8 only rows close to the bounds matter, and the posterior is no longer close to a Gaussian.
    """

    shape: Any = "evidence"
    scale: Any = None

    shapes = (2.0, 8.0)  # the shape of Gaussian noise, and the largest
    has_noise = True

    def check(self) -> None:
        """Raise ValueError unless the shape is "evidence" or a number from 2 to 8, and there is no scale."""
        least, most = self.shapes
        if self.shape != "evidence" and not (is_number(self.shape) and least <= self.shape <= most):
            raise ValueError(
                f"shape of GeneralizedNormal must be 'evidence' or a number from {least:g} (Gaussian noise) "
                f"to {most:g} (noise with sharp bounds), got {self.shape!r}."
            )
        if self.scale is not None:
            raise ValueError(
                f"scale of GeneralizedNormal must be None in a fit, got {self.scale!r}; give noise_variance "
                "if the noise is known."
            )

    @classmethod
    def of_variance(cls, shape: float, variance: float) -> GeneralizedNormal:
        """Noise with a given variance.

        Parameters
        ----------
        shape : float
            p.
        variance : float
            Var ε.

        Returns
        -------
        GeneralizedNormal
            The noise with the scale s that gives this variance.
        """
        return cls(shape, math.sqrt(variance / _unit_variance(shape)))

    @property
    def variance(self) -> float:
        """Var ε."""
        return self.scale**2 * _unit_variance(self.shape)

    def log_prob(self, y: Array, f: Array) -> Array:
        """−|r/s|^p − log(2 s Γ(1 + 1/p)), (N,)."""
        return self._log_density((y - f)[:, 0])

    def gradient(self, y: Array, f: Array) -> Array:
        """p/s · |r/s|^(p−1) sign r."""
        size = self._far(y - f) ** (self.shape - 1)
        return self.shape / self.scale * size * namespace(f).sign(y - f)

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """p(p−1)/s² · |r/s|^(p−2)."""
        return self.shape * (self.shape - 1) / self.scale**2 * self._far(y - f) ** (self.shape - 2), None

    def start(self, y: Array, counts: Array) -> Array:
        """The mean of the targets, (1,)."""
        return (counts @ y) / namespace(y).sum(counts)

    def log_predictive(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """The log density of new targets, averaged over the posterior of f.

        Parameters
        ----------
        y, mean, variance : ndarray of shape (N,)
            Targets, and the mean and the variance of f at their rows.

        Returns
        -------
        ndarray of shape (N,)
            log ∫ p(y|f) N(f|mean, variance) df.

        Notes
        -----
        The integrand has one peak, between the mean and y, and falls by at least z²/2 nats within z standard
        deviations of it: the trapezium rule from where it has fallen by DROP on one side to the other.
        """
        floor = NARROWEST * self.scale
        y, mean, wide = y[:, None], mean[:, None], np.maximum(np.sqrt(variance), floor)[:, None]

        def log_integrand(f: np.ndarray) -> np.ndarray:
            return self._log_density(y - f) - 0.5 * ((f - mean) / wide) ** 2

        low, high = np.minimum(mean, y), np.maximum(mean, y)
        peak = _bisected(low, high, lambda f: self.gradient(y, f) > (f - mean) / wide**2)
        top, reach = log_integrand(peak), math.sqrt(2 * DROP) * wide
        first = _bisected(peak - reach, peak, lambda f: log_integrand(f) < top - DROP)
        last = _bisected(peak, peak + reach, lambda f: log_integrand(f) >= top - DROP)
        width = np.maximum(last - first, np.finfo(float).tiny)
        f = first + width * np.linspace(0.0, 1.0, NODES)
        log_step = np.log(width) - np.log((NODES - 1) * wide * math.sqrt(2 * math.pi))
        integral = logsumexp(log_integrand(f), axis=1, keepdims=True) + log_step
        return np.where(wide > floor, integral, self._log_density(y - mean))[:, 0]

    def _log_density(self, error: Array) -> Array:
        """log p(ε) of errors ε, an array of any shape."""
        log_size = math.log(2 * self.scale) + math.lgamma(1 + 1 / self.shape)
        return -(self._far(error) ** self.shape) - log_size

    def _far(self, error: Array) -> Array:
        """|ε/s| within the range of floating point."""
        xp = namespace(error)
        return xp.clip(xp.abs(error / self.scale), None, FARTHEST)


def _unit_variance(shape: float) -> float:
    """Γ(3/p)/Γ(1/p): the variance at s = 1."""
    return math.exp(math.lgamma(3 / shape) - math.lgamma(1 / shape))


def _bisected(low: np.ndarray, high: np.ndarray, goes_on: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The point up to which a condition holds that holds from `low` on, by bisection."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        further = goes_on(middle)
        low, high = np.where(further, middle, low), np.where(further, high, middle)
    return 0.5 * (low + high)
