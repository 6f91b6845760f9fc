"""A Gamma distribution on α [T01, eq. 6]."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes.core.prior import Derivatives, Prior
from sparsebayes.priors._cubic import outer_cubic_roots


@dataclass
class Gamma(Prior):
    """Gamma(a, b) on the precision α of each weight: a log α − bα is added to the objective [T01, eq. 36].

    A function that is not in the model counts as one whose α sits where its prior is highest (α = a/b), so that
    it costs nothing under the prior.

    Parameters
    ----------
    a : float
        Shape, ≥ 0. a > 0 needs b > 0: without it the density grows with α without bound, and every function
        would be pruned.
    b : float
        Rate, ≥ 0, in the user's units of α.
    """

    a: float = 0.0
    b: float = 0.0

    def resolve(self, n: float) -> Gamma:
        """This prior, a and b checked."""
        for name, value in (("a", self.a), ("b", self.b)):
            if not is_number(value) or value < 0:
                raise ValueError(f"{name} of prior Gamma(a, b) must be a finite number >= 0, got {value!r}.")
        if self.a > 0 and self.b == 0:
            raise ValueError(
                f"b of prior Gamma(a, b) must be > 0 when a > 0, got a={self.a!r}, b=0: the density grows "
                "without bound as alpha does, so that every function would be pruned."
            )
        return self

    def scaled(self, factor: float) -> Gamma:
        """The prior with a and b times `factor`."""
        return Gamma(factor * self.a, factor * self.b)

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """Zero of ℓ̂'(α): a cubic in x = s/α, of which the outer roots can be maxima."""
        xp = namespace(s)
        u, e, lead = q * q / s, 2 * self.b * s * unit, 1 + 2 * self.a
        large, small = outer_cubic_roots((1 - u + 4 * self.a - e) / lead, (2 * self.a - 2 * e) / lead, -e / lead)
        best, best_gain = xp.full_like(s, math.inf), xp.zeros_like(s)
        for x in (large, small):
            alpha = xp.where(x > 0, s / xp.where(x > 0, x, xp.ones_like(x)), math.inf)
            gain = self.gain(alpha, s, q, beta, unit)
            best = xp.where(gain > best_gain, alpha, best)
            best_gain = xp.where(gain > best_gain, gain, best_gain)
        return best

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """a log(bα/a) − bα + a with α in the user's units, 0 where it is highest."""
        scaled = self.b * unit * alpha
        if self.a == 0:
            return -scaled
        return self.a * (namespace(alpha).log(scaled / self.a) + 1) - scaled

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """∂/∂ log α of a log α − bα is a − bα, its derivative −bα."""
        scaled = self.b * unit * alpha
        return self.a - scaled, -scaled, 0.0, 0.0, 0 * scaled

    def slopes(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array]:
        """(a, bα), with which the fixed-point updates are exactly those of [T01, eqs. 43-44]."""
        return self.a * namespace(alpha).ones_like(alpha), self.b * unit * alpha
