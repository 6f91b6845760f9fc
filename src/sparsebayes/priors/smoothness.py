"""The smoothness prior [SE07]: c nats for each degree of freedom that a function spends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes.core.prior import Derivatives, Prior
from sparsebayes.priors._cubic import outer_cubic_roots


@dataclass
class Smoothness(Prior):
    """p(α|σ²) ∝ exp(−c/(1+σ²α)) [SE07, eq. 15]: c nats for each degree of freedom that a function spends.

    It is applied to columns of unit norm, which makes it invariant to the scale of a column.

    Parameters
    ----------
    c : float or {"aic", "bic", "ric"}
        Nats per degree of freedom, ≥ 0; "aic" is 1, "bic" ½ log N, "ric" log N for N observations.
    once : float
        The part of c that penalises a function once, however many weights its precision governs: in T outputs, or
        those of a group of columns. The rest penalises each weight. "ric" penalises each weight by the 1 of "aic",
        and the choice of the function by log N − 1, once.
    """

    c: float | str = "bic"
    once: float = 0.0
    depends_on_noise = True

    def resolve(self, n: float) -> Smoothness:
        """The prior with c as a number."""
        named = {"aic": 1.0, "bic": 0.5 * math.log(max(n, 1.0)), "ric": math.log(max(n, 1.0))}
        if not is_number(self.once) or not self.once >= 0:
            raise ValueError(f"once of prior Smoothness must be a number >= 0, got {self.once!r}.")
        if isinstance(self.c, str) and self.c in named:
            choice = max(named[self.c] - named["aic"], 0.0) if self.c == "ric" else self.once
            return Smoothness(named[self.c], min(choice, named[self.c]))
        if is_number(self.c) and float(self.c) >= 0:
            return Smoothness(float(self.c), min(float(self.once), float(self.c)))
        raise ValueError(f"c of prior Smoothness(c) must be a number >= 0 or one of {sorted(named)}, got {self.c!r}.")

    def scaled(self, factor: float) -> Smoothness:
        """The prior with c times `factor`."""
        return Smoothness(factor * float(self.c))

    def multiplicities(self, sizes: Any, outputs: int, unit: Any) -> Any:
        """How often log p(α) counts per output: c − once for each of the columns (M,), and once for the function."""
        c = float(self.c)
        return 1.0 * sizes if c == 0 else ((c - self.once) * sizes + self.once / outputs) / c

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """The turning point of ℓ̂ where ℓ̂ is positive there; else ∞."""
        alpha = self.turning_point(s, q, beta)
        return namespace(s).where(self.gain(alpha, s, q, beta, unit) > 0, alpha, math.inf)

    def turning_point(self, s: Array, q: Array, beta: float) -> Array:
        """The smallest positive root of the cubic [SE07, eqs. 46-49]; ∞ where there is none.

        In x = s/α, u = q²/s, ρ = s/β the cubic is x³ + (1−u+2ρ+2cρ)x² + (ρ²+2ρ(1−u)+4cρ)x + ρ²(1−u) + 2cρ;
        the smallest α is the largest x.
        """
        xp = namespace(s)
        c, rho, u = float(self.c), s / beta, q * q / s
        x, _ = outer_cubic_roots(
            1 - u + 2 * rho + 2 * c * rho,
            rho * rho + 2 * rho * (1 - u) + 4 * c * rho,
            rho * rho * (1 - u) + 2 * c * rho,
        )
        positive = (x > 0) & (u > 1)
        return xp.where(positive, s / xp.where(positive, x, xp.ones_like(x)), math.inf)

    @property
    def threshold(self) -> float:  # type: ignore[override]
        """1 + 2c (see `maximise_orthonormal`)."""
        return 1 + 2 * float(self.c)

    def maximise_orthonormal(self, h: Array, beta: float, unit: Array) -> Array:
        """With s = β the cubic has the double root α = −β, and β/(u − 1 − 2c), u = βh²: in closed form.

        The function is in the model if u > 1 + 2c.
        """
        xp = namespace(h)
        excess = beta * h * h - (1 + 2 * float(self.c))
        inside = excess > 0
        return xp.where(inside, beta / xp.where(inside, excess, xp.ones_like(h)), math.inf)

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """−c/(1+α/β)."""
        return -float(self.c) / (1 + alpha / beta)

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """With g = 1/(1+α/β): ∂g/∂ log α = −g(1−g) = −∂g/∂ log β."""
        g = 1 / (1 + alpha / beta)
        first = float(self.c) * g * (1 - g)
        second = first * (2 * g - 1)
        total = namespace(alpha).sum
        return first, second, -float(total(first)), float(total(second)), -second
