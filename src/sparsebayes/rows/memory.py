"""Rows held in memory (or behind an operator): scale them, and hand a solver their quadratic.

Solvers work on t/τ and on columns (φ_m − φ̄_m)/ν_m of unit norm, so that no tolerance depends on units. With
an intercept the columns and t are centred (weighted means): a flat prior on the intercept integrated out,

    ∫ p(t | b1 + Φw) db = √(2π/(βn)) (β/2π)^{n/2} exp(−½β‖t̃ − Φ̃w‖²),

leaves n − 1 rows' worth of likelihood and the constant −½ log n. Sample weights count rows: n = Σ weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, is_numpy, namespace, take
from sparsebayes._checks import NothingToModel
from sparsebayes.bases.operators import Operator
from sparsebayes.quadratic import ColumnQuadratic, DenseQuadratic, IdentityQuadratic, Quadratic
from sparsebayes.rows.scaled import BATCH, ScaledColumns, random_vector

DENSE_FUNCTIONS = 256  # up to so many functions all of G is formed at once
LEAST_SPREAD = 1e-12  # of τ²: variance of t about its mean that is always assumed
SMALLEST_TARGET, LARGEST_TARGET = 1e-120, 1e120  # squares of it must stay within floating point


@dataclass(frozen=True)
class Scaling:
    """How the solver's numbers relate to the user's.

    kept : indices of the functions the solver sees (zero columns and repeats are left out).
    norms, means : ν and φ̄ of those.  target_scale τ, target_mean t̄ (0 without an intercept).
    n : Σ weights.  center : intercept?  target_spread : variance of t about its mean, over τ².
    """

    kept: np.ndarray
    norms: Array
    means: Array
    target_scale: float
    target_mean: float
    n: float
    center: bool
    target_spread: float

    @property
    def unit(self) -> Array:
        """α_user = α·unit, with unit = ν²/τ² (within the range of floating point)."""
        xp = namespace(self.norms)
        norms, alike = self.norms, _is_one_number(self.norms)
        ratio = (norms[:1] if alike else norms) / self.target_scale
        unit = xp.clip(ratio, 1e-150, 1e150) ** 2
        return xp.broadcast_to(unit, norms.shape) if alike else unit

    @property
    def rows_counted(self) -> float:
        """n, or n − 1 once an intercept is integrated out."""
        return self.n - 1 if self.center else self.n

    @property
    def log_jacobian(self) -> float:
        """What log p(t) has beside log p(t/τ)."""
        return -self.rows_counted * math.log(self.target_scale)


def _is_one_number(x: Array) -> bool:
    """Whether x is a single number broadcast to a vector, as the norms of orthonormal columns are."""
    return is_numpy(x) and x.strides == (0,) and len(x) > 0


class ScaledRows(ScaledColumns):
    """The scaled columns with the scaled target: products and residuals by passes over the rows."""

    def __init__(self, columns: ScaledColumns, t: Array, weights: Array | None) -> None:
        super().__init__(columns.operator, columns.kept, columns.means, columns.norms, columns.center)
        self.t, self.weights = t, weights

    def weighted(self, V: Array) -> Array:
        """W V."""
        return V if self.weights is None else self.weights[:, None] * V

    def products(self, J: Indices) -> Array:
        """G[J, :]: one pass for the whole batch."""
        return self.adjoint(self.weighted(self.columns(J))).T

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        columns = self.columns(J)
        return columns.T @ self.weighted(columns)

    def gram(self) -> Array:
        """All of G, a batch of columns at a time."""
        parts = [self.products(range(k, min(k + BATCH, self.size))) for k in range(0, self.size, BATCH)]
        return namespace(self.t).concat(parts, axis=0)

    def residual(self, J: Indices, mean: Array) -> float:
        """‖t − Φ_J μ‖² of the scaled problem, from the rows themselves."""
        error = (self.t - self.columns(J) @ mean)[:, None]
        return float(namespace(error).sum(error * self.weighted(error)))


def summarise(
    operator: Operator, t: Array, weights: Array | None = None, center: bool = False
) -> tuple[Quadratic, Scaling]:
    """The quadratic of the scaled problem, and the scaling."""
    if operator.orthonormal and weights is None and not center:
        return _orthonormal(operator, t)
    xp = namespace(t)
    weights = None if weights is None else asfloat64(weights, like=t)
    counts = xp.ones_like(t) if weights is None else weights
    n, mean, scale, spread = target_size(t, counts, center)
    rows = ScaledRows(ScaledColumns.of(operator, counts, center), (t - mean) / scale, weights)
    h, rows = merge_repeats(rows, n)
    scaling = Scaling(rows.kept, rows.norms, rows.means, scale, mean, n, center, spread)
    return quadratic_of(rows, h, float(xp.sum(counts * rows.t * rows.t)), scaling), scaling


def quadratic_of(rows: Any, h: Array, tt: float, scaling: Scaling) -> Quadratic:
    """What a solver sees of scaled rows: all of G where there are few functions, else columns on demand.

    rows : `ScaledRows`, or what has its `gram`, `products`, `block`, `residual`, `far_apart` and `size`.
    """
    shared = {
        "offset": -0.5 * math.log(scaling.n) if scaling.center else 0.0,
        "residual_of": rows.residual,
        "far_apart": rows.far_apart,
    }
    if rows.size <= DENSE_FUNCTIONS:
        return DenseQuadratic(scaling.rows_counted, tt, h, rows.gram(), **shared)
    return ColumnQuadratic(scaling.rows_counted, tt, h, rows.products, rows.block, **shared)


def _orthonormal(operator: Operator, t: Array) -> tuple[Quadratic, Scaling]:
    """Unit columns none of which repeats another: only h is to be computed."""
    xp = namespace(t)
    n, ones = int(t.shape[0]), xp.broadcast_to(xp.ones_like(t[:1]), t.shape)
    scale = root_mean_square(t, None, float(n))
    scaled = t / scale
    h = operator.adjoint(scaled[:, None])[:, 0]
    unseen = 0.0
    if operator.shape[1] < n:
        unseen = max(float(xp.sum(scaled * scaled)) - float(xp.sum(h * h)), 0.0)
    unit, zero = (xp.broadcast_to(x, h.shape) for x in (xp.ones_like(h[:1]), xp.zeros_like(h[:1])))
    mean = float(xp.mean(scaled))  # of numbers whose mean square is 1
    spread = 1 - mean * mean if mean * mean < 0.5 else target_spread(t, ones, float(n), scale)
    scaling = Scaling(np.arange(operator.shape[1]), unit, zero, scale, 0.0, float(n), False, spread)
    return IdentityQuadratic(float(n), h, unseen), scaling


def target_size(t: Array, counts: Array, center: bool) -> tuple[float, float, float, float]:
    """n = Σ counts, and the mean (0 without an intercept), scale and spread of t: see `Scaling`."""
    xp = namespace(t)
    n = float(xp.sum(counts))
    mean = float(xp.sum(counts * (t / n))) if center else 0.0
    scale = root_mean_square(t - mean, counts, n)
    return n, mean, scale, target_spread(t, counts, n, scale)


def root_mean_square(t: Array, weights: Array | None, n: float) -> float:
    """Root mean square of t, without overflow."""
    xp = namespace(t)
    if weights is None:
        peak = max(float(xp.max(t)), -float(xp.min(t)))
    else:
        peak = float(xp.max(xp.abs(t) * xp.sign(weights)))
    if not peak > 0:
        raise NothingToModel(
            "y must not be all zero (or constant, with an intercept): there is nothing to model."
        )
    if not SMALLEST_TARGET < peak < LARGEST_TARGET:
        raise ValueError(f"y must have values between 1e-120 and 1e120 in size, got {peak:.3g}: rescale it.")
    squares = (t / peak) ** 2
    return peak * math.sqrt(float(xp.sum(squares if weights is None else weights * squares)) / n)


def target_spread(t: Array, weights: Array, n: float, scale: float) -> float:
    """Variance of t/τ about its mean, whether or not the model has an intercept; not quite 0."""
    xp = namespace(t)
    scaled = t / scale
    deviation = scaled - float(xp.sum(weights * scaled)) / n
    return max(float(xp.sum(weights * deviation * deviation)) / n, LEAST_SPREAD)


def merge_repeats(rows: ScaledRows, n: float) -> tuple[Array, ScaledRows]:
    """h = Φᵀt, and the rows without functions that repeat an earlier one (or its negative).

    Repeats are found by products with a random vector, taken in the same pass as h, and confirmed.
    """
    xp = namespace(rows.t)
    both = rows.weighted(xp.stack([rows.t, random_vector(rows.t)], axis=1))
    if rows.center:
        both = both - rows.weighted(xp.ones_like(both)) * (xp.sum(both, axis=0) / n)[None, :]
    products = rows.adjoint(both)
    distinct = rows.without_repeats(products[:, 1])
    if len(distinct) == rows.size:
        return products[:, 0], rows
    return take(products[:, 0], distinct), ScaledRows(rows.keep(distinct), rows.t, rows.weights)
