"""Rows held in memory (or behind an operator): scale them, and hand a solver their quadratic.

Solvers work on t/τ and on columns (φ_m − φ̄_m)/ν_m of unit norm, so that no tolerance depends on units. With
an intercept the columns and t are centred (weighted means): a flat prior on the intercept integrated out,

    ∫ p(t | b1 + Φw) db = √(2π/(βn)) (β/2π)^{n/2} exp(−½β‖t̃ − Φ̃w‖²),

leaves n − 1 rows' worth of likelihood and the constant −½ log n. Sample weights count rows: n = Σ weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, namespace, take, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.quadratic import ColumnQuadratic, DenseQuadratic, Quadratic

DENSE_FUNCTIONS = 256  # up to so many functions all of G is formed at once
BATCH = 64  # columns of Φ scaled at a time
SMALLEST_TARGET, LARGEST_TARGET = 1e-120, 1e120  # squares of it must stay within floating point
SAME = 1e-11  # largest difference between entries of two unit columns that count as one


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
        ratio = self.norms / self.target_scale
        return xp.clip(ratio, 1e-150, 1e150) ** 2

    @property
    def rows_counted(self) -> float:
        """n, or n − 1 once an intercept is integrated out."""
        return self.n - 1 if self.center else self.n

    @property
    def log_jacobian(self) -> float:
        """What log p(t) has beside log p(t/τ)."""
        return -self.rows_counted * math.log(self.target_scale)


class ScaledRows:
    """The scaled columns of an operator: products between them, and residuals, by passes over the rows."""

    def __init__(self, operator: Operator, t: Array, weights: Array | None, scaling: Scaling) -> None:
        self.operator, self.weights, self.scaling = operator, weights, scaling
        self.t = (t - scaling.target_mean) / scaling.target_scale
        self.complete = len(scaling.kept) == operator.shape[1]

    def columns(self, J: Indices) -> Array:
        """(Φ[:, J] − φ̄)/ν, an (N, |J|) array."""
        J = np.asarray(J, dtype=np.int64)
        block = self.operator.columns(self.scaling.kept[J])
        if self.scaling.center:
            block = block - take(self.scaling.means, J)[None, :]
        return block / take(self.scaling.norms, J)[None, :]

    def adjoint(self, V: Array) -> Array:
        """Scaled columns times the weighted V (N, k)."""
        products = self.operator.adjoint(V)
        if not self.complete:
            products = take(products, self.scaling.kept)
        if (
            self.scaling.center
        ):  # V is centred too, but a large mean would multiply what rounding left of its sum
            products = products - self.scaling.means[:, None] * namespace(V).sum(V, axis=0)[None, :]
        return products / self.scaling.norms[:, None]

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
        size = len(self.scaling.kept)
        parts = [self.products(range(k, min(k + BATCH, size))) for k in range(0, size, BATCH)]
        return namespace(self.t).concat(parts, axis=0)

    def residual(self, J: Indices, mean: Array) -> float:
        """‖t − Φ_J μ‖² of the scaled problem, from the rows themselves."""
        error = (self.t - self.columns(J) @ mean)[:, None]
        return float(namespace(error).sum(error * self.weighted(error)))


def summarise(
    operator: Operator, t: Array, weights: Array | None = None, center: bool = False
) -> tuple[Quadratic, Scaling]:
    """The quadratic of the scaled problem, and the scaling."""
    xp = namespace(t)
    weights = None if weights is None else asfloat64(weights, like=t)
    counts = xp.ones_like(t) if weights is None else weights
    n = float(xp.sum(counts))
    mean = float(xp.sum(counts * (t / n))) if center else 0.0
    scale = _size(t - mean, counts, n)
    means, norms = operator.means_and_norms(counts, center)
    kept = np.flatnonzero(to_numpy(norms) > 0)
    if not len(kept):
        raise ValueError(
            "X has no usable column: every basis function is zero (or constant, with an intercept)."
        )
    spread = _spread(t, counts, n, scale)
    scaling = Scaling(kept, take(norms, kept), take(means, kept), scale, mean, n, center, spread)
    h, scaling = _merged(operator, t, weights, scaling)
    rows = ScaledRows(operator, t, weights, scaling)
    offset = -0.5 * math.log(n) if center else 0.0
    shared = {"offset": offset, "residual_of": rows.residual}
    tt = float(xp.sum(counts * rows.t * rows.t))
    if len(scaling.kept) <= DENSE_FUNCTIONS:
        return DenseQuadratic(scaling.rows_counted, tt, h, rows.gram(), **shared), scaling
    return ColumnQuadratic(scaling.rows_counted, tt, h, rows.products, rows.block, **shared), scaling


def _size(t: Array, weights: Array, n: float) -> float:
    """Root mean square of t, without overflow."""
    xp = namespace(t)
    peak = float(xp.max(xp.abs(t) * xp.sign(weights)))
    if not peak > 0:
        raise ValueError(
            "y must not be all zero (or constant, with an intercept): there is nothing to model."
        )
    if not SMALLEST_TARGET < peak < LARGEST_TARGET:
        raise ValueError(f"y must have values between 1e-120 and 1e120 in size, got {peak:.3g}: rescale it.")
    return peak * math.sqrt(float(xp.sum(weights * (t / peak) ** 2)) / n)


def _spread(t: Array, weights: Array, n: float, scale: float) -> float:
    """Variance of t/τ about its mean, whether or not the model has an intercept; not quite 0."""
    xp = namespace(t)
    scaled = t / scale
    deviation = scaled - float(xp.sum(weights * scaled)) / n
    return max(float(xp.sum(weights * deviation * deviation)) / n, 1e-12)


def _merged(operator: Operator, t: Array, weights: Array | None, scaling: Scaling) -> tuple[Array, Scaling]:
    """h = Φᵀt, and the scaling without functions that repeat an earlier one (or its negative).

    Repeats are found by random projections, taken in the same pass as h, and confirmed column by column.
    """
    rows = ScaledRows(operator, t, weights, scaling)
    xp = namespace(t)
    probe = asfloat64(np.random.default_rng(0).standard_normal(int(t.shape[0])), like=t)
    both = rows.weighted(xp.stack([rows.t, probe], axis=1))
    if scaling.center:
        both = both - rows.weighted(xp.ones_like(both)) * (xp.sum(both, axis=0) / scaling.n)[None, :]
    products = rows.adjoint(both)
    h, signature = products[:, 0], np.abs(to_numpy(products[:, 1]))
    repeats = _repeats(rows, signature)
    if not repeats:
        return h, scaling
    keep = np.setdiff1d(np.arange(len(signature)), repeats)
    merged = replace(
        scaling, kept=scaling.kept[keep], norms=take(scaling.norms, keep), means=take(scaling.means, keep)
    )
    return take(h, keep), merged


def _repeats(rows: ScaledRows, signature: np.ndarray) -> list[int]:
    """Functions equal to an earlier one up to sign, among those with the same |projection|."""
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) < 1e-9 * max(float(signature.max()), 1e-300)
    if not close.any():
        return []
    repeats: list[int] = []
    for run in np.split(order, np.flatnonzero(~close) + 1):
        if len(run) > 1:
            repeats.extend(_same_as_first(rows, np.sort(run)))
    return repeats


def _same_as_first(rows: ScaledRows, group: np.ndarray) -> list[int]:
    first = to_numpy(rows.columns(group[:1]))
    found: list[int] = []
    for start in range(1, len(group), BATCH):
        others = group[start : start + BATCH]
        columns = to_numpy(rows.columns(others))
        apart = np.minimum(np.abs(columns - first).max(axis=0), np.abs(columns + first).max(axis=0))
        found.extend(int(m) for m in others[apart < SAME])
    return found
