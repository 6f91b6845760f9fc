"""Noise whose variance is known at each row, as row weights.

With y_n = f_n + ε_n, ε_n ~ N(0, σ_n²), and rows that count c_n times, take

    s² = Σ c_n / Σ (c_n/σ_n²),      p_n = c_n s²/σ_n²,      Σ p_n = Σ c_n = n.

Rows of weights p under the one noise variance s² have the same squares, Σ p r²/s² = Σ c r²/σ_n², and the same
number n of rows; an intercept, whose precision is Σ c/σ_n² = n/s², has the same integral. The log evidence
lacks only

    Σ c_n log N(0 | 0, σ_n²) − n log N(0 | 0, s²) = −½ Σ c_n log(σ_n²/s²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from sparsebayes._array import Array, namespace
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.triangle import Triangle


class NoiseOfRows:
    """Gaussian noise with a known variance at each training row, and an unknown one anywhere else.

    It is the `likelihood` of a `Result`.
    """

    @property
    def variance(self) -> float:
        """0: what is known of a new target is f, since nothing is known of its noise."""
        return 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}(variances of the noise of each row)"


@dataclass(frozen=True, eq=False, repr=False)
class SummedNoise(NoiseOfRows):
    """Known noise variances of rows that are elsewhere, from sums over the rows.

    variances : as they were given.  common : s².
    log_shift : what the log evidence of rows of weights p under the noise variance s² lacks.
    """

    variances: Any
    common: float
    log_shift: float


@dataclass(frozen=True, eq=False, repr=False)
class KnownNoise(NoiseOfRows):
    """Known noise variances of rows in memory; its methods take training rows, all of them and in their order.

    variances : σ_n² (N,).  counts : c_n (N,), how often each row counts.
    """

    variances: Array
    counts: Array

    @cached_property
    def common(self) -> float:
        """s², the harmonic mean of the variances."""
        xp = namespace(self.variances)
        least = float(xp.min(self.variances))
        return least * float(xp.sum(self.counts)) / float(xp.sum(self.counts * (least / self.variances)))

    @cached_property
    def weights(self) -> Array:
        """p_n (N,), whose sum is that of the counts."""
        return self.counts * (self.common / self.variances)

    @cached_property
    def log_shift(self) -> float:
        """What the log evidence of rows of weights p under the noise variance s² lacks."""
        xp = namespace(self.variances)
        return -0.5 * float(xp.sum(self.counts * xp.log(self.variances / self.common)))

    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n) of the training rows, (N,)."""
        return self.log_predictive(y[:, 0], f[:, 0], 0 * self.variances)

    def gradient(self, y: Array, f: Array) -> Array:
        """g = ∂ log p/∂f of the training rows, (N, 1)."""
        return (y - f) / self.variances[:, None]

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """−∂² log p/∂f² = 1/σ_n² of the training rows, (N, 1)."""
        return 1 / self.variances[:, None], None

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """log ∫ p(y|f) N(f|mean, variance) df of the training rows, (N,)."""
        total = self.variances + variance
        return -0.5 * (namespace(total).log(2 * math.pi * total) + (y - mean) ** 2 / total)


@dataclass(frozen=True, eq=False)
class KnownNoiseRows:
    """Rows on disk, or on Dask, whose noise variances are known.

    weighted : the statistics of the rows of weights p_n.  noise : what is known of the noise.
    """

    weighted: Triangle | RowPasses
    noise: KnownNoise | SummedNoise

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return self.weighted.rows

    @property
    def outputs(self) -> int:
        """T."""
        return self.weighted.outputs

    def of_outputs(self, outputs: Any) -> KnownNoiseRows:
        """The same rows with these outputs, by their numbers, as the only ones; for rows as a triangle."""
        return replace(self, weighted=cast(Triangle, self.weighted).of_outputs(outputs))
