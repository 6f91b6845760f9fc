"""No prior on α: the classical relevance vector machine."""

from __future__ import annotations

import math

from sparsebayes._array import Array, namespace
from sparsebayes.priors.base import Prior


class Uniform(Prior):
    """No prior: the classical relevance vector machine. α* = s²/(q²−s) if q² > s, else ∞ [TF03, eq. 20]."""

    flat = True

    @property
    def threshold(self) -> float:
        """1: a function is kept if q² > s."""
        return 1.0

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """s²/(q²−s), or ∞."""
        xp = namespace(s)
        theta = q * q - s
        inside = theta > 0
        return xp.where(inside, s * s / xp.where(inside, theta, 1.0), math.inf)

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """0."""
        return namespace(alpha).zeros_like(alpha)

    def total(self, alpha: Array, beta: float, unit: Array) -> float:
        """0."""
        return 0.0

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array, float, float, Array]:
        """All zero."""
        zero = namespace(alpha).zeros_like(alpha)
        return zero, zero, 0.0, 0.0, zero
