"""Priors p(α) on the precision of a weight, as plug-ins: a 1-D maximiser and a log density each.

With every other precision fixed, the evidence depends on one α through [FT02; TF03, eq. 18]

    ℓ(α) = ½ [log α − log(α+s) + q²/(α+s)]

and a prior adds its log density to that. Everything is measured against the function being left out
(α = ∞), where both are zero: a positive ℓ̂(α) means the function earns its place.

Writing a prior means writing `maximise` and `log_density`; both work elementwise on arrays of any
namespace. Solvers work on columns of unit norm and a target of unit size. A prior whose parameters carry
units (the b of a Gamma, the scale of a Laplace) finds in `unit` the number that turns the solver's α into
the user's: α_user = α·unit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator

from sparsebayes._array import Array, namespace

STEP = 5e-3  # of the difference stencils in log α, log β: error STEP⁴ along an axis, STEP² mixed


class Prior(BaseEstimator, ABC):
    """A prior on each precision α, given the noise precision β.

    depends_on_noise : whether the log density changes with β.  flat : whether it is constant.
    """

    depends_on_noise = False
    flat = False

    @property
    def threshold(self) -> float:
        """q²/s up to which no orthonormal function is ever kept; 0 where nothing of the kind is known."""
        return 0.0

    @abstractmethod
    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """argmax_α ℓ(α) + log p(α) for every (s, q); ∞ where the function is better left out."""

    @abstractmethod
    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """log p(α), up to a constant that makes leaving the function out count 0."""

    def maximise_orthonormal(self, h: Array, beta: float, unit: Array) -> Array:
        """The same where all functions are orthonormal: s = β and q = βh, whatever the others do."""
        return self.maximise(beta * namespace(h).ones_like(h), beta * h, beta, unit)

    def resolve(self, n: float) -> Prior:
        """The prior with every parameter a number, for n observations."""
        return self

    def gain(self, alpha: Array, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """ℓ(α) + log p(α): what having the function in the model is worth; 0 at α = ∞."""
        xp = namespace(s)
        # α = 0 is what underflow leaves of a function that says nothing (s and q next to 0)
        inside = xp.isfinite(alpha) & (alpha > 0)
        finite = xp.where(inside, alpha, 1.0)
        value = 0.5 * (q * q / (finite + s) - xp.log1p(s / finite))
        if not self.flat:
            value = value + self.log_density(finite, beta, unit)
        return xp.where(inside, value, 0.0)

    def total(self, alpha: Array, beta: float, unit: Array) -> float:
        """Σ log p(α) over the active functions."""
        return float(namespace(alpha).sum(self.log_density(alpha, beta, unit)))

    def slopes(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array]:
        """(u, v) ≥ 0 with ∂ log p/∂ log α = u − v: the part that raises α and the part that lowers it.

        The fixed-point updates put u in the numerator and v/α in the denominator, as T01 does for
        Gamma(a, b), where u = a and v = bα.
        """
        xp = namespace(alpha)
        slope = self.derivatives(alpha, beta, unit)[0]
        zero = xp.zeros_like(slope)
        return xp.where(slope > 0, slope, zero), xp.where(slope < 0, -slope, zero)

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array, float, float, Array]:
        """Derivatives of Σ log p by a = log α and b = log β: (∂a, ∂²a, ∂b, ∂²b, ∂a∂b).

        Central differences of `log_density` (five points), so that a prior need not write them; the sums
        over α are only taken in the derivatives by b alone.
        """
        xp = namespace(alpha)
        f = [[None] * 5 for _ in range(5)]

        def value(i: int, j: int) -> Array:
            if f[i][j] is None:
                shifted = self.log_density(alpha * math.exp(i * STEP), beta * math.exp(j * STEP), unit)
                f[i][j] = shifted
            return f[i][j]

        first, second = _first(lambda k: value(k, 0)), _second(lambda k: value(k, 0))
        if not self.depends_on_noise:
            return first, second, 0.0, 0.0, xp.zeros_like(first)
        by_beta = float(xp.sum(_first(lambda k: value(0, k))))
        by_beta2 = float(xp.sum(_second(lambda k: value(0, k))))
        mixed = (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * STEP**2)
        return first, second, by_beta, by_beta2, mixed


def _first(f: Any) -> Array:
    return (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * STEP)


def _second(f: Any) -> Array:
    return (16 * (f(1) + f(-1)) - (f(2) + f(-2)) - 30 * f(0)) / (12 * STEP**2)
