"""Priors p(α) on the precision of a weight: a maximiser in one dimension and a log density each.

With every other precision fixed, the evidence depends on one α through [FT02; TF03, eq. 18]

    ℓ(α) = ½ [log α − log(α+s) + q²/(α+s)]

and a prior adds its log density. Both are measured against the function not being in the model (α = ∞),
where they are zero: a function is selected if ℓ̂(α) = ℓ(α) + log p(α) is positive at its best α.

Solvers work on columns of unit norm and a target of unit size. A prior whose parameters carry units (the b of
a Gamma, the scale of a Laplace) finds in `unit` the factor that turns the solver's α into the user's:
α_user = α·unit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sparsebayes._array import Array, namespace
from sparsebayes.core.specification import Specification

Derivatives = tuple[Array, Array, float, float, Array]


@dataclass
class Prior(Specification, ABC):
    """A prior on each precision α, given the noise precision β.

    Its methods work elementwise on arrays of any namespace. Attributes of a class of priors:

    depends_on_noise : whether the log density changes with β.
    flat : whether the log density is constant.
    threshold : q²/s up to which no function of an orthonormal set is selected; 0 if that is unknown.
    """

    depends_on_noise = False
    flat = False
    threshold = 0.0

    @abstractmethod
    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """argmax_α ℓ(α) + log p(α) for every (s, q); ∞ where the function is better not in the model."""

    @abstractmethod
    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """log p(α), up to the constant that makes it 0 for a function that is not in the model."""

    @abstractmethod
    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """Derivatives of Σ log p by a = log α and b = log β: (∂a, ∂²a, ∂b, ∂²b, ∂a∂b).

        Those by a are arrays, one value per function; those by b alone are sums over the functions.
        """

    def maximise_orthonormal(self, h: Array, beta: float, unit: Array) -> Array:
        """`maximise` for an orthonormal set of functions: s = β and q = βh, whatever else is active."""
        return self.maximise(beta * namespace(h).ones_like(h), beta * h, beta, unit)

    def resolve(self, n: float) -> Prior:
        """The prior with every parameter a number, for n observations."""
        return self

    def relaxed(self) -> Prior:
        """The uniform prior on the same functions, which penalises none."""
        return Uniform()

    def scaled(self, factor: float) -> Prior | None:
        """A prior of the same kind whose log density is `factor` times this one's; None if there is none."""
        return self if self.flat else None

    def multiplicities(self, sizes: Any, outputs: int, unit: Any) -> Any:
        """How often log p(α) counts per output, (M,), if one α governs `sizes` (M,) columns in so many outputs."""
        return 0.0 * sizes + 1 / outputs

    def units(self, unit: Array, function: Any) -> Array:
        """What the prior is given as `unit`: the factors (M,) of the functions with these numbers."""
        return unit

    def gain(self, alpha: Array, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """ℓ(α) + log p(α): the gain of having the function in the model; 0 at α = ∞."""
        xp = namespace(s)
        # underflow leaves α = 0 of a function that explains nothing (s and q nearly 0)
        inside = xp.isfinite(alpha) & (alpha > 0)
        finite = xp.where(inside, alpha, 1.0)
        value = 0.5 * (q * q / (finite + s) - xp.log1p(s / finite))
        if not self.flat:
            value = value + self.log_density(finite, beta, unit)
        return xp.where(inside, value, 0.0)

    def total(self, alpha: Array, beta: float, unit: Array) -> float:
        """Σ log p(α) over the active functions."""
        return 0.0 if self.flat else float(namespace(alpha).sum(self.log_density(alpha, beta, unit)))

    def slopes(self, alpha: Array, beta: float, unit: Array) -> tuple[Array, Array]:
        """(u, v) ≥ 0 with ∂ log p/∂ log α = u − v: the part that raises α and the part that lowers it.

        The fixed-point updates have u in the numerator and v/α in the denominator, as in [T01, eqs. 43-44]
        for Gamma(a, b), where u = a and v = bα.
        """
        xp = namespace(alpha)
        slope = self.derivatives(alpha, beta, unit)[0]
        zero = xp.zeros_like(slope)
        return xp.where(slope > 0, slope, zero), xp.where(slope < 0, -slope, zero)


@dataclass
class Uniform(Prior):
    """No prior on α, as in the classical relevance vector machine: α = s²/(q²−s) if q² > s, else ∞.

    [TF03, eq. 20]
    """

    flat = True
    threshold = 1.0

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """s²/(q²−s), or ∞."""
        xp = namespace(s)
        theta = q * q - s
        inside = theta > 0
        return xp.where(inside, s * s / xp.where(inside, theta, 1.0), math.inf)

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """0."""
        return namespace(alpha).zeros_like(alpha)

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """All zero."""
        zero = namespace(alpha).zeros_like(alpha)
        return zero, zero, 0.0, 0.0, zero
