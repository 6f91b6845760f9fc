"""The one map between the user's numbers and the solver's.

Solvers see the target (t − t̄)/τ and columns (φ_m − φ̄_m)/ν_m of unit norm, so that no tolerance depends on
units; the means are taken out only with an intercept. With an intercept b of flat prior integrated out,

    ∫ p(t | b1 + Φw) db = √(2π/(βn)) (β/2π)^{n/2} exp(−½β‖t̃ − Φ̃w‖²),      t̃, Φ̃ centred,

n − 1 rows count, and the constant is −½ log n. On the way back,

    w = w̃τ/ν,   α = α̃ν²/τ²,   σ² = τ²/β̃,   b = t̄ − Σ_m w_m φ̄_m,   log p(t) = log p(t/τ) − n′ log τ,

n′ being the rows that count (`rows_counted`: n, or n − 1 with an intercept). Sample weights count rows:
n = Σ weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes import _array as xa
from sparsebayes._array import Array, asfloat64, namespace, row_lengths, submatrix, take, to_numpy

LEAST_SPREAD = 1e-12  # of τ²: variance of t about its mean that is always assumed
SMALLEST_TARGET, LARGEST_TARGET = 1e-120, 1e120  # squares of the target must stay within floating point
CONSTANT = 1e-13  # of the size of a column: what is left of it about its mean is rounding


class NothingToModel(ValueError):
    """The rows are valid, but there is nothing in them to model: the target or all columns are constant."""


@dataclass(frozen=True)
class Units:
    """How the solver's numbers relate to the user's.

    n : Σ weights.  center : whether there is an intercept.
    target_scale, target_mean : τ, and t̄ (0 without an intercept), (T,) for several outputs.
    target_spread : variance of t about its mean, divided by τ².
    kept : numbers of the functions that the solver sees; zero columns and repeated ones are not among them.
    norms, means : ν and φ̄ of those functions.
    flat : weights of a flat prior, besides the intercept, that are integrated out (`joint.unpenalised`).
    """

    n: float
    center: bool
    target_scale: float = 1.0
    target_mean: Any = 0.0
    target_spread: float = 1.0
    kept: Any = ()
    norms: Any = ()
    means: Any = ()
    flat: int = 0

    @classmethod
    def of_target(cls, t: Array, counts: Array, center: bool) -> Units:
        """The units of a target t (N,) or (N, T) whose rows count `counts` (N,) times; no columns yet."""
        n = float(namespace(t).sum(counts))
        mean = _mean(t, counts, n) if center else 0.0
        scale = root_mean_square(row_lengths(t - mean), counts, n)
        return cls(n, center, scale, mean, target_spread(t, counts, n, scale))

    def with_columns(self, kept: np.ndarray, norms: Array, means: Array) -> Units:
        """The same target with functions of these numbers, norms and means."""
        return replace(self, kept=kept, norms=norms, means=means)

    def scaled(self, t: Array) -> Array:
        """(t − t̄)/τ."""
        return (t - self.target_mean) / self.target_scale

    @property
    def unit(self) -> Array:
        """α_user = α·unit with unit = ν²/τ², within the range of floating point, (M,)."""
        xp, norms = namespace(self.norms), self.norms
        alike = xa.is_numpy(norms) and norms.strides == (0,) and len(norms) > 0  # one number, broadcast
        unit = xp.clip((norms[:1] if alike else norms) / self.target_scale, 1e-150, 1e150) ** 2
        return xp.broadcast_to(unit, norms.shape) if alike else unit

    @property
    def rows_counted(self) -> float:
        """n less the weights that are integrated out, the intercept among them."""
        return self.n - self.flat - (1 if self.center else 0)

    @property
    def offset(self) -> float:
        """The constant of the log-likelihood: −½ log n with an intercept, else 0."""
        return -0.5 * math.log(self.n) if self.center else 0.0

    @property
    def log_jacobian(self) -> float:
        """log p(t) − log p(t/τ)."""
        return -self.rows_counted * math.log(self.target_scale)

    def weights_in_user_units(self, state: Any) -> dict[str, Any]:
        """What a `Result` says of the weights and the intercept, from the posterior `state`.

        The columns of the state are the functions `state.active.J` of `kept`. With several outputs mean and intercept
        have a column or an entry for each; all else is that of each of them.
        """
        tau, columns = self.target_scale, getattr(state, "active", state).J
        order = np.argsort(columns)
        J, alpha = columns[order], getattr(state, "column_alpha", state.alpha)
        factor, means = tau / take(self.norms, J), take(self.means, J)
        mean = xa.scaled_rows(take(state.mean, order), factor)
        spread, shift = tau**2 / (state.beta * self.n) if self.center else 0.0, means @ mean
        return {
            "active": self.kept[J],
            "output": np.zeros(len(J), dtype=np.int64),
            "mean": mean,
            "covariance": _scaled(state.covariance, order, factor),
            "alpha": take(alpha, order) * take(self.unit, J),
            "gamma": take(state.gamma if alpha is state.alpha else 1 - alpha * state.variance, order),
            "intercept": self.target_mean - (shift if mean.ndim == 2 else namespace(mean).reshape(shift, (1,))),
            "centre": means[None, :],
            "intercept_covariance": asfloat64([[spread]], like=mean),
        }


def _scaled(covariance: Any, order: np.ndarray, factor: Array) -> Any:
    """Σ of the functions in this order, in units of `factor`; a diagonal one stays diagonal."""
    if hasattr(covariance, "tocsc"):
        return xa.sparse_diagonal(covariance.diagonal()[order] * to_numpy(factor) ** 2)
    return submatrix(covariance, order, order) * factor[:, None] * factor[None, :]


def without_constants(norms: Array, means: Array, n: float) -> Array:
    """Norms (M,) of columns about their means (M,), n the sum of the row weights: 0 for what rounding leaves of a
    constant column.
    """
    xp = namespace(norms)
    return xp.where(norms <= CONSTANT * math.sqrt(n) * xp.abs(means), xp.zeros_like(norms), norms)


def root_mean_square(t: Array, weights: Array | None, n: float) -> float:
    """Root mean square of t, without overflow; None for weights of 1."""
    xp = namespace(t)
    peak = float(xp.max(xp.abs(t) if weights is None else xp.abs(t) * xp.sign(weights)))
    if not peak > 0:
        raise NothingToModel("y must not be zero or, with an intercept, constant: there is nothing to model.")
    if not SMALLEST_TARGET < peak < LARGEST_TARGET:
        raise ValueError(f"y must have values between 1e-120 and 1e120 in size, got {peak:.3g}: rescale it.")
    squares = (t / peak) ** 2
    return peak * math.sqrt(float(xp.sum(squares if weights is None else weights * squares)) / n)


def _mean(t: Array, weights: Array, n: float) -> Any:
    """The weighted mean of t (N,), or of every column of t (N, T)."""
    xp = namespace(t)
    return float(xp.sum(weights * (t / n))) if t.ndim == 1 else xp.sum(weights[:, None] * (t / n), axis=0)


def target_spread(t: Array, weights: Array, n: float, scale: float) -> float:
    """Variance of t/τ about its mean, whether or not the model has an intercept; never quite 0."""
    xp = namespace(t)
    scaled = t / scale
    deviation = row_lengths(scaled - _mean(scaled, weights, n))
    return max(float(xp.sum(weights * deviation * deviation)) / n, LEAST_SPREAD)
