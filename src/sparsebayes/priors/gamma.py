"""A Gamma distribution on α [T01, eq. 6]."""

from __future__ import annotations

import math

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes._cubic import outer_cubic_roots
from sparsebayes.priors.base import Prior


class Gamma(Prior):
    """Gamma(a, b) on α, as T01 counts it: a log α − bα is added to the objective [T01, eq. 36].

    A function left out counts as one whose α sits where its prior is highest (α = a/b), so that leaving it
    out costs nothing under the prior. b is in the user's units of α. a > 0 needs b > 0: without it the
    density grows for ever with α and every function would be pruned.
    """

    def __init__(self, a: float = 0.0, b: float = 0.0) -> None:
        self.a = a
        self.b = b

    def resolve(self, n: float) -> Gamma:
        """Itself, once a and b are seen to be usable."""
        for name, value in (("a", self.a), ("b", self.b)):
            if not is_number(value) or value < 0:
                raise ValueError(f"{name} of prior Gamma(a, b) must be a finite number >= 0, got {value!r}.")
        if self.a > 0 and self.b == 0:
            raise ValueError(
                f"b of prior Gamma(a, b) must be > 0 when a > 0, got a={self.a!r}, b=0: the density grows "
                "without bound as alpha does, so that every function would be pruned."
            )
        return self

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """Zero of ℓ̂'(α): a cubic in x = s/α, of which the outer roots can be maxima."""
        xp = namespace(s)
        u, e, lead = q * q / s, 2 * self.b * s * unit, 1 + 2 * self.a
        large, small = outer_cubic_roots(
            (1 - u + 4 * self.a - e) / lead, (2 * self.a - 2 * e) / lead, -e / lead
        )
        best, best_gain = xp.full_like(s, math.inf), xp.zeros_like(s)
        for x in (large, small):
            alpha = xp.where(x > 0, s / xp.where(x > 0, x, xp.ones_like(x)), math.inf)
            gain = self.gain(alpha, s, q, beta, unit)
            best = xp.where(gain > best_gain, alpha, best)
            best_gain = xp.where(gain > best_gain, gain, best_gain)
        return best

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """a log(bα/a) − bα + a with α in the user's units: 0 at its highest."""
        scaled = self.b * unit * alpha
        if self.a == 0:
            return -scaled
        return self.a * (namespace(alpha).log(scaled / self.a) + 1) - scaled

    def slopes(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array]:
        """(a, bα): with these the fixed-point updates are T01's (43) and (44) to the letter."""
        return self.a * namespace(alpha).ones_like(alpha), self.b * unit * alpha
