"""Gaussian noise: its precision β = 1/σ², the prior on β, the floor under σ², and the update of β."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sparsebayes._array import Array, namespace
from sparsebayes.core.specification import Specification
from sparsebayes.core.units import Units

NOISE_FLOOR = 1e-10  # of the variance of t: the least noise variance that is estimated
FIRST_NOISE = 0.1  # of the variance of t: where an estimate of the noise variance starts [TF03, 4]
AT_FLOOR = 1e-6  # relative: how near to its ceiling β counts as being there


@dataclass(frozen=True)
class GaussianNoise:
    """y = f + ε, ε ~ N(0, 1/β), with an optional Gamma(c, d) prior on β [T01, eq. 6].

    beta : β, the precision that a fit starts from, or keeps if `estimate` is False.
    c, d : the prior, which adds c log β − dβ to the objective [T01, eq. 36], β in the user's units.
    unit : what turns β into the user's units; d is that of the solver's.
    beta_max : the ceiling on β. Once t lies in the span of fewer than N columns the evidence grows without
        bound as 1/β → 0; the ceiling (a floor under the noise variance) keeps the numbers finite.
    """

    beta: float
    estimate: bool = True
    c: float = 0.0
    d: float = 0.0
    beta_max: float = math.inf
    unit: float = 1.0

    @property
    def variance(self) -> float:
        """σ² = 1/β."""
        return 1 / self.beta

    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n), one value per row, (N,)."""
        return 0.5 * (math.log(self.beta / (2 * math.pi)) - self.beta * (y - f)[:, 0] ** 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """g = ∂ log p/∂f = β (y − f), (N, 1)."""
        return self.beta * (y - f)

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """−∂² log p/∂f² = β, whatever f is, (N, 1): one pass over the rows is enough."""
        return self.beta * namespace(f).ones_like(f), None

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """log ∫ p(y|f) N(f|mean, variance) df, one value per row (N,)."""
        total = self.variance + variance
        return -0.5 * (namespace(total).log(2 * math.pi * total) + (y - mean) ** 2 / total)

    def at_floor(self, beta: float) -> bool:
        """Whether an estimated noise with this precision is at the floor that `beta_max` puts under it."""
        return self.estimate and beta >= self.beta_max * (1 - AT_FLOOR)

    def log_prior(self, beta: float) -> float:
        """c log β − dβ, β in the user's units; 0 if the noise is given."""
        return self.c * math.log(beta * self.unit) - self.d * beta if self.estimate else 0.0

    def log_prior_slopes(self, beta: float) -> tuple[float, float]:
        """First and second derivative of `log_prior` by log β."""
        return self.c - self.d * beta, -self.d * beta

    def reestimate(self, n: float, residual: float, shrink: float) -> float:
        """The precision β at which the noise equation is zero [T01, eq. 46]:

            ½ [n − shrink − β·residual] + c − dβ = 0

        MacKay: residual = ‖t−Φμ‖², shrink = Σγ.  EM: residual = ‖t−Φμ‖² + Σγ/β_old, shrink = 0.
        """
        numerator, denominator = n - shrink + 2 * self.c, residual + 2 * self.d
        if numerator <= 0:
            return min(self.beta, self.beta_max)
        return numerator / denominator if denominator > numerator / self.beta_max else self.beta_max


@dataclass
class Gaussian(Specification):
    """Gaussian noise, y = f + ε with ε ~ N(0, σ²): the likelihood of a regression unless another is given.

    Parameters
    ----------
    prior : tuple (c, d), optional
        Gamma(c, d) prior on the noise precision 1/σ² if that is estimated; it adds c log(1/σ²) − d/σ² to the
        objective [T01, eq. 36]. None for no prior.
    variance : array-like of shape (N,), optional
        The known noise variance σ_n² of each row, ε_n ~ N(0, σ_n²), for `fit`; the regressors take it as the
        argument `noise_variance` of their method `fit`. None if all rows have the same.
    """

    prior: Any = None
    variance: Any = None

    def check(self) -> None:
        """Raise ValueError unless the prior is a pair of finite numbers ≥ 0, or None."""
        pair = (0.0, 0.0) if self.prior is None else self.prior
        try:
            valid = len(pair) == 2 and all(0 <= float(x) < math.inf for x in pair)
        except (TypeError, ValueError, OverflowError):
            valid = False
        if not valid or isinstance(pair, str):
            raise ValueError(f"prior of Gaussian must be a pair (c, d) of finite numbers >= 0, got {self.prior!r}.")

    def noise(self, units: Units, variance: float | None) -> GaussianNoise:
        """The noise in the solver's units: β̃ = βτ², and Gamma(c, d) on β is Gamma(c, d/τ²) on β̃.

        variance : σ² in the user's units, None to estimate it.
        """
        self.check()
        if variance is not None:
            return GaussianNoise(units.target_scale**2 / variance, estimate=False)
        c, d = (0.0, 0.0) if self.prior is None else map(float, self.prior)
        ceiling, unit = 1 / (NOISE_FLOOR * units.target_spread), 1 / units.target_scale**2
        return GaussianNoise(1 / FIRST_NOISE, True, c, d * unit, ceiling, unit)
