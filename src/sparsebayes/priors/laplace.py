"""Laplace-distributed weights, as a prior on their precisions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes.core.prior import Derivatives, Prior


@dataclass
class Laplace(Prior):
    """Each weight Laplace-distributed, p(w) = exp(−|w|/λ)/(2λ), as a scale mixture of Gaussians.

    The variance 1/α is exponential with mean 2λ² [SE07, 5.1; erratum: on the variance, not on the precision].

    Parameters
    ----------
    scale : float
        λ > 0, in the units of the weights; smaller is sparser.
    """

    scale: float = 1.0
    threshold = 1.0  # a function is selected if q² > s + ω with ω > 0

    def resolve(self, n: float) -> Laplace:
        """This prior, its scale checked."""
        if not is_number(self.scale) or self.scale <= 0:
            raise ValueError(f"scale of prior Laplace(scale) must be a finite number > 0, got {self.scale!r}.")
        return self

    def scaled(self, factor: float) -> Laplace:
        """−factor/(2λ²α) is the prior with λ/√factor."""
        return Laplace(self.scale / math.sqrt(factor))

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """With v = 1/α, y = 1+sv and ω = 1/λ²: ωy² + sy − q² = 0, in the model if y > 1, i.e. q² > s + ω."""
        xp = namespace(s)
        omega = 1 / (self.scale**2 * unit)
        y = 2 * q * q / (s + xp.sqrt(s * s + 4 * omega * q * q))
        inside = y > 1
        return xp.where(inside, s / xp.where(inside, y - 1, xp.ones_like(y)), math.inf)

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """−1/(2λ²α) with α in the user's units."""
        return -0.5 / (self.scale**2 * unit * alpha)

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """∂/∂ log α of −1/(2λ²α) is 1/(2λ²α), its derivative the negative of that."""
        slope = -self.log_density(alpha, beta, unit)
        return slope, -slope, 0.0, 0.0, 0 * slope
