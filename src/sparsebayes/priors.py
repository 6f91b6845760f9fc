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
from sparsebayes._checks import is_number
from sparsebayes._cubic import outer_cubic_roots

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


class Smoothness(Prior):
    """p(α|σ²) ∝ exp(−c/(1+σ²α)) [SE07, eq. 15]: c nats for each degree of freedom spent.

    c : a number ≥ 0, or "aic" (1), "bic" (½ log N), "ric" (log N). On columns of unit norm, which makes the
    rule invariant to the scale of a column.
    """

    depends_on_noise = True

    def __init__(self, c: float | str = "bic") -> None:
        self.c = c

    def resolve(self, n: float) -> Smoothness:
        """The prior with c as a number."""
        named = {"aic": 1.0, "bic": 0.5 * math.log(max(n, 1.0)), "ric": math.log(max(n, 1.0))}
        if isinstance(self.c, str) and self.c in named:
            return Smoothness(named[self.c])
        if is_number(self.c) and float(self.c) >= 0:
            return Smoothness(float(self.c))
        raise ValueError(
            f"c of prior Smoothness(c) must be a number >= 0 or one of {sorted(named)}, got {self.c!r}."
        )

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
    def threshold(self) -> float:
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

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array, float, float, Array]:
        """With g = 1/(1+α/β): ∂g/∂ log α = −g(1−g) = −∂g/∂ log β."""
        g = 1 / (1 + alpha / beta)
        first = float(self.c) * g * (1 - g)
        second = first * (2 * g - 1)
        total = namespace(alpha).sum
        return first, second, -float(total(first)), float(total(second)), -second


class Laplace(Prior):
    """Each weight Laplace distributed, p(w) = exp(−|w|/λ)/(2λ), as a scale mixture of Gaussians.

    The variance 1/α is exponential with mean 2λ² [SE07 5.1, with its erratum: on the variance, not on the
    precision]. scale : λ > 0, in the units of the weights; smaller is sparser.
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def resolve(self, n: float) -> Laplace:
        """Itself, once the scale is seen to be usable."""
        if not is_number(self.scale) or self.scale <= 0:
            raise ValueError(
                f"scale of prior Laplace(scale) must be a finite number > 0, got {self.scale!r}."
            )
        return self

    @property
    def threshold(self) -> float:
        """1: a function is kept if q² > s + ω, ω > 0."""
        return 1.0

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


NAMED = {
    "uniform": Uniform(),
    "aic": Smoothness("aic"),
    "bic": Smoothness("bic"),
    "ric": Smoothness("ric"),
}


def as_prior(prior: Any, also: tuple[str, ...] = ()) -> Prior:
    """A prior object as it is, or the one a name stands for.

    also : further names the caller has seen to; an error mentions them.
    """
    if isinstance(prior, Prior):
        return prior
    if prior is None:
        return NAMED["uniform"]
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    raise ValueError(f"prior must be one of {[*also, *NAMED]} or a Prior object, got {prior!r}.")
