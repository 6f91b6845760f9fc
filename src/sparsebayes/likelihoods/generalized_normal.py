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

import numpy as np
from scipy.special import logsumexp

from sparsebayes._array import Array, namespace
from sparsebayes.likelihoods.base import LaplaceLikelihood

GAUSSIAN = 2.0  # the shape of Gaussian noise
LARGEST_SHAPE = 8.0  # beyond it rows count at the bounds alone, and a Gaussian is no image of the posterior
NODES = 257  # of the trapezium rule
DROP = 40.0  # nats below its peak where an integrand counts as zero
HALVINGS = 60
NARROWEST = 1e-9  # in units of s: a smaller standard deviation of f counts as none
FARTHEST = 1e30  # residual, in units of s, beyond which powers of it would not be numbers


@dataclass(frozen=True)
class GeneralizedNormal(LaplaceLikelihood):
    """y = f + ε, p(ε) ∝ exp(−|ε/s|^p); one output.

    shape : p ≥ 2.  scale : s > 0.
    """

    shape: float
    scale: float
    outputs: int = 1

    @classmethod
    def of_variance(cls, shape: float, variance: float) -> GeneralizedNormal:
        """The noise of this shape that has this variance."""
        return cls(shape, math.sqrt(variance / _unit_variance(shape)))

    @property
    def variance(self) -> float:
        """Var ε."""
        return self.scale**2 * _unit_variance(self.shape)

    def log_prob(self, y: Array, f: Array) -> Array:
        """−|r/s|^p − log(2 s Γ(1 + 1/p)), (N,)."""
        log_size = math.log(2 * self.scale) + math.lgamma(1 + 1 / self.shape)
        return -(self._far(y, f)[:, 0] ** self.shape) - log_size

    def gradient(self, y: Array, f: Array) -> Array:
        """p/s · |r/s|^(p−1) sign r."""
        size = self._far(y, f) ** (self.shape - 1)
        return self.shape / self.scale * size * namespace(f).sign(y - f)

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """p(p−1)/s² · |r/s|^(p−2)."""
        return self.shape * (self.shape - 1) / self.scale**2 * self._far(y, f) ** (self.shape - 2), None

    def start(self, y: Array, counts: Array) -> Array:
        """The mean."""
        return (counts @ y) / namespace(y).sum(counts)

    def log_predictive(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """log ∫ p(y|f) N(f|mean, variance) df, one value a row (N,).

        The integrand has one peak, between the mean and y, and falls by at least z²/2 nats within z standard
        deviations of it: the trapezium rule from where it has fallen by DROP on one side to the other. For
        Gaussian noise there is a closed form.
        """
        if self.shape == GAUSSIAN:
            total = self.variance + variance
            return -0.5 * (np.log(2 * math.pi * total) + (y - mean) ** 2 / total)
        wide = np.maximum(np.sqrt(variance), NARROWEST * self.scale)

        def log_integrand(f: np.ndarray) -> np.ndarray:
            return self._log_density(y[:, None] - f) - 0.5 * ((f - mean[:, None]) / wide[:, None]) ** 2

        def slope(f: np.ndarray) -> np.ndarray:
            return self.gradient(y[:, None], f) - (f - mean[:, None]) / wide[:, None] ** 2

        low, high = np.minimum(mean, y)[:, None], np.maximum(mean, y)[:, None]
        peak = _bisected(low, high, lambda f: slope(f) > 0)
        top, reach = log_integrand(peak), math.sqrt(2 * DROP) * wide[:, None]
        first = _bisected(peak - reach, peak, lambda f: log_integrand(f) < top - DROP)
        last = _bisected(peak, peak + reach, lambda f: log_integrand(f) >= top - DROP)
        width = np.maximum((last - first)[:, 0], np.finfo(float).tiny)
        f = first + width[:, None] * np.linspace(0.0, 1.0, NODES)
        log_step = np.log(width) - np.log((NODES - 1) * wide * math.sqrt(2 * math.pi))
        integral = logsumexp(log_integrand(f), axis=1) + log_step
        return np.where(wide > NARROWEST * self.scale, integral, self._log_density(y - mean))

    def _log_density(self, error: np.ndarray) -> np.ndarray:
        """log p(ε) of errors of any shape."""
        return self.log_prob(error.reshape(-1, 1), np.zeros((error.size, 1))).reshape(error.shape)

    def _far(self, y: Array, f: Array) -> Array:
        """|r/s|, within the range of floating point."""
        xp = namespace(f)
        return xp.clip(xp.abs((y - f) / self.scale), None, FARTHEST)


def _unit_variance(shape: float) -> float:
    """Γ(3/p)/Γ(1/p): the variance at s = 1."""
    return math.exp(math.lgamma(3 / shape) - math.lgamma(1 / shape))


def _bisected(low: np.ndarray, high: np.ndarray, goes_on: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Where a condition that holds from `low` on ceases to hold."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        further = goes_on(middle)
        low, high = np.where(further, middle, low), np.where(further, high, middle)
    return 0.5 * (low + high)
