"""Gaussian noise: the likelihood is a quadratic in the weights, and the rows are read once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy.optimize import brentq

from sparsebayes._array import Array, namespace

AT_FLOOR = 1e-6  # relative: how near its ceiling β counts as being there


@dataclass(frozen=True)
class Gaussian:
    """y = f + ε, ε ~ N(0, 1/β), with an optional Gamma(c, d) prior on the precision β [T01, eq. 6].

    beta : β, the precision the fit starts from, or keeps where `estimate` is False.
    c, d : the prior, as T01 counts it: it adds c log β − dβ to the objective [T01, eq. 36].
    beta_max : the ceiling on β. Once t lies in the span of fewer than N columns the evidence grows without
        bound as 1/β → 0; the ceiling (a floor on the noise variance) keeps the numbers finite.
    """

    beta: float
    estimate: bool = True
    c: float = 0.0
    d: float = 0.0
    beta_max: float = math.inf

    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n), one value a row."""
        return 0.5 * (math.log(self.beta / (2 * math.pi)) - self.beta * (y - f) ** 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """g = ∂ log p / ∂f = β (y − f)."""
        return self.beta * (y - f)

    def curvature(self, y: Array, f: Array) -> Array:
        """b = −∂² log p / ∂f² = β, whatever f is: one pass over the rows is enough."""
        return self.beta * namespace(f).ones_like(f)

    def with_beta(self, beta: float) -> Gaussian:
        """The same noise model at another precision."""
        return replace(self, beta=min(float(beta), self.beta_max))

    def at_floor(self, beta: float) -> bool:
        """Whether an estimated noise with this precision is at the floor that `beta_max` puts under it."""
        return self.estimate and beta >= self.beta_max * (1 - AT_FLOOR)

    def log_prior(self, beta: float) -> float:
        """c log β − dβ; nothing where the noise is given."""
        return self.c * math.log(beta) - self.d * beta if self.estimate else 0.0

    def log_prior_slopes(self, beta: float) -> tuple[float, float]:
        """First and second derivative of `log_prior` by log β."""
        return self.c - self.d * beta, -self.d * beta

    def reestimate(self, n: float, residual: float, shrink: float, prior_slope=None) -> float:
        """The precision β that makes the noise equation zero, 'all at once' [T01, eq. 46; SE07, eq. 36].

            ½ [n − shrink − β·residual] + c − dβ + ∂ log p(α|β)/∂ log β = 0

        MacKay: residual = ‖t−Φμ‖², shrink = Σγ.  EM: residual = ‖t−Φμ‖² + Σγ/β_old, shrink = 0.
        prior_slope : β -> the last term, for priors on α that depend on the noise; then the equation is
        solved numerically around the closed form.
        """
        numerator, denominator = n - shrink + 2 * self.c, residual + 2 * self.d
        if numerator <= 0 or denominator <= numerator / self.beta_max:
            return self.beta_max if numerator > 0 else self.beta
        plain = numerator / denominator
        if prior_slope is None:
            return min(plain, self.beta_max)

        def equation(log_beta: float) -> float:
            beta = math.exp(log_beta)
            return 0.5 * (numerator - beta * denominator) + prior_slope(beta)

        low, high = math.log(plain) - 1.0, math.log(plain) + 1.0
        for _ in range(60):
            if equation(low) > 0:
                break
            low -= 1.0
        while equation(high) > 0 and high < math.log(plain) + 60:
            high += 1.0
        if not equation(low) > 0 > equation(high):
            return min(plain, self.beta_max)
        return min(math.exp(brentq(equation, low, high, xtol=1e-12)), self.beta_max)
