"""Columns whose weights have a flat prior: they are integrated out, as an intercept is.

With Z the columns without a prior and Φ the others, in columns of unit norm,

    ∫ p(t | Zv + Φw) dv = (β/2π)^{(n−k)/2} |ZᵀZ|^{−½} exp(−½β‖t̃ − Φ̃w‖²),      t̃, Φ̃ less their projections on Z,

so that k fewer rows count and the products of Φ̃ and t̃ are those of a Schur complement:

    G̃ = G − BᵀG_Z·,   h̃ = h − Bᵀh_Z,   t̃ᵀt̃ = tᵀt − h_ZᵀG_ZZ⁻¹h_Z,   B = G_ZZ⁻¹G_Z·

On the way back v = G_ZZ⁻¹h_Z − Bw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from sparsebayes import _array as xa
from sparsebayes._array import Array, Indices, NotPositiveDefinite, take, to_numpy
from sparsebayes.core.quadratic import Products, Quadratic
from sparsebayes.core.units import NothingToModel, Units
from sparsebayes.groups.rescaled import Rescaled

IN_SPAN = 1e-10  # squared norm of what is left of a unit column without its projection: it lies in the span


@dataclass(frozen=True, eq=False)
class Projection:
    """The columns Z of a quadratic that have no prior, and what is left of the others.

    base, units : the quadratic of all columns, and its units.  Z, kept : positions of the columns without a prior,
        and of the others that do not lie in their span.
    inverse : G_ZZ⁻¹ (k, k).  rows : G_Z· (k, M).  norms : of the columns kept, less their projections.
    """

    base: Quadratic
    units: Units
    Z: np.ndarray
    kept: np.ndarray
    inverse: Array
    rows: Array
    norms: Array

    @classmethod
    def of(cls, base: Quadratic, units: Units, functions: np.ndarray) -> Projection:
        """The projection that takes out the functions of these numbers; those that are zero have no weight."""
        Z = np.flatnonzero(np.isin(units.kept, functions))
        rows = base.rows(Z)
        try:
            root = xa.triangular_inverse(xa.cholesky(1.0 * base.gram(Z)))
        except NotPositiveDefinite as error:
            raise ValueError(
                f"unpenalised has {len(Z)} columns that depend on each other (or on the intercept): leave one out."
            ) from error
        if len(Z) >= units.rows_counted:
            raise ValueError(f"unpenalised has {len(Z)} columns, but there are no more rows than that: give fewer.")
        explained = to_numpy(xa.column_squares(root @ rows))
        kept = np.setdiff1d(np.flatnonzero(explained < 1 - IN_SPAN), Z)
        if not len(kept):
            raise NothingToModel(
                "X has no column to select: each is one of those that unpenalised names, or a combination of them."
            )
        norms = xa.asfloat64(np.sqrt(1 - explained[kept]), like=rows)
        return cls(base, units, Z, kept, root.T @ root, rows, norms)

    def problem(self) -> tuple[Quadratic, Units]:
        """The quadratic of what is left, in columns of unit norm, and its units."""
        k, units = len(self.Z), self.units
        log_det = float(np.linalg.slogdet(to_numpy(self.inverse))[1])
        offset = self.base.offset + 0.5 * log_det - float(np.sum(np.log(to_numpy(take(units.norms, self.Z)))))
        left = Projected(self, self.base.n - k, offset)
        own = (take(units.norms, self.kept) * self.norms, take(units.means, self.kept))
        units = replace(units.with_columns(units.kept[self.kept], *own), flat=units.flat + k)
        return Rescaled(left, 1 / self.norms), units

    def squares(self, squares: Array) -> Array:
        """t̃ᵀt̃ of every output from tᵀt (T,)."""
        h = take(self.base.h, self.Z)
        return squares - self.base.xp.sum(h * (self.inverse @ h), axis=0)

    def weights(self, J: Indices, weights: Array) -> Array:
        """v = G_ZZ⁻¹h_Z − Bw from weights of the columns at the positions J of the base, (|J|,) or (|J|, T)."""
        return self.inverse @ (take(self.base.h, self.Z) - take(self.rows, J, axis=1) @ weights)

    def scaled(self, factor: Array, squares: Array) -> Projection:
        """The projection of outputs that were scaled by `factor` (T,); tᵀt (T,) is that of the outputs before."""
        units = replace(self.units, target_mean=self.units.target_mean * factor)
        return replace(self, base=Rescaled(self.base, None, factor, squares), units=units)

    def completed(self, state: Any, scale: Array | None = None) -> dict[str, Any]:
        """What a `Result` says of all weights, those without a prior included (α = 0, γ = 1), in the user's units.

        scale : r (M,) of the columns kept, if those of the state were rescaled again.
        """
        xp = self.base.xp
        factor = take(1 / self.norms if scale is None else scale / self.norms, state.active.J)
        J = self.kept[state.active.J]
        mean = xa.scaled_rows(state.mean, factor)
        covariance = factor[:, None] * state.covariance * factor[None, :]
        B = self.inverse @ take(self.rows, J, axis=1)
        side = -B @ covariance
        corner = self.inverse / state.beta - side @ B.T
        flat = xp.zeros_like(corner[:, 0])
        top, bottom = xp.concat([covariance, side.T], axis=1), xp.concat([side, corner], axis=1)
        posterior = SimpleNamespace(
            J=np.concatenate([J, self.Z]),
            mean=xp.concat([mean, self.weights(J, mean)], axis=0),
            covariance=xp.concat([top, bottom], axis=0),
            alpha=xp.concat([state.column_alpha / (factor * factor), flat]),
            gamma=xp.concat([1 - state.column_alpha * state.variance, flat + 1]),
            beta=state.beta,
        )
        return self.units.weights_in_user_units(posterior)


class Projected(Quadratic):
    """The quadratic of the columns kept, less their projections; these columns are shorter than 1."""

    def __init__(self, projection: Projection, n: float, offset: float) -> None:
        self.projection, base = projection, projection.base
        solved = projection.inverse @ take(base.h, projection.Z)
        h = take(base.h - projection.rows.T @ solved, projection.kept)
        tt = base.tt - xa.inner(take(base.h, projection.Z), solved)
        super().__init__(n, tt, h, offset, None if base.products is None else ProjectedProducts(projection))
        self._side = take(projection.rows, projection.kept, axis=1)
        self._solved = projection.inverse @ self._side

    def rows(self, J: Indices) -> Array:
        """G̃[J, :]."""
        rows = take(self.projection.base.rows(self.projection.kept[J]), self.projection.kept, axis=1)
        return rows - take(self._side, J, axis=1).T @ self._solved

    def gram(self, J: Indices) -> Array:
        """G̃[J, J]."""
        side = take(self._side, J, axis=1)
        return self.projection.base.gram(self.projection.kept[J]) - side.T @ take(self._solved, J, axis=1)


class ProjectedProducts(Products):
    """Residuals with the columns without a prior at their best weights."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection

    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Zv − Φ_J w‖², v being best at w."""
        projection, positions = self.projection, self.projection.kept[np.asarray(J)]
        both = projection.base.xp.concat([weights, projection.weights(positions, weights)], axis=0)
        products = projection.base.products
        assert products is not None
        return products.residual(np.concatenate([positions, projection.Z]), both)


def check_unpenalised(unpenalised: Any, M: int) -> np.ndarray | None:
    """The numbers of the columns without a prior, from numbers or a mask; None if there are none."""
    if unpenalised is None:
        return None
    given = np.asarray(unpenalised)
    if given.dtype == bool and given.shape == (M,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"unpenalised must be a list of column numbers or a mask of {M} values, got {unpenalised!r}.")
    if given.size and not (given.min() >= -M and given.max() < M):
        raise ValueError(f"unpenalised has column numbers outside 0 to {M - 1}: {unpenalised!r}.")
    return np.unique(given % M) if given.size else None
