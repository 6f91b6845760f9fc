"""A quadratic in other units of its columns and outputs, which shares the products of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, scaled_rows, take, to_numpy, total
from sparsebayes.core.quadratic import Products, Quadratic


class Rescaled(Quadratic):
    """The columns r_m φ_m and the outputs f_t t_t: G_ij r_i r_j, h_mt r_m f_t and Σ f_t² t_tᵀt_t.

    base : the quadratic as it was.  columns : r (M,), None for 1.  outputs : f (T,), None for 1.
    squares : t_tᵀt_t (T,) of the outputs as they were; needed if they are rescaled.
    """

    def __init__(
        self, base: Quadratic, columns: Array | None = None, outputs: Array | None = None, squares: Array | None = None
    ) -> None:
        h, tt = base.h, base.tt
        if columns is not None:
            h = scaled_rows(h, columns)
        if outputs is not None:
            h, tt = h * outputs[None, :], total(outputs * outputs * squares)
        products = None if base.products is None else RescaledProducts(base.products, columns, outputs)
        super().__init__(base.n, tt, h, base.offset, products)
        self.base, self.columns = base, columns

    def rows(self, J: Indices) -> Array:
        """G[J, :]."""
        rows = self.base.rows(J)
        return rows if self.columns is None else take(self.columns, J)[:, None] * rows * self.columns[None, :]

    def gram(self, J: Indices) -> Array:
        """G[J, J]."""
        gram = self.base.gram(J)
        if self.columns is None:
            return gram
        own = take(self.columns, J)
        return own[:, None] * gram * own[None, :]


class RescaledProducts(Products):
    """Residuals in other units of the columns and outputs."""

    def __init__(self, base: Products, columns: Array | None, outputs: Array | None) -> None:
        self.base, self.columns, self.outputs = base, columns, outputs

    def posterior(self, J: Indices, alpha: Array, beta: float) -> tuple[Array, Array] | None:
        """μ and diag Σ with the functions J active at α: the weights are those of the base divided by r, times f."""
        own = None if self.columns is None else take(self.columns, J)
        found = self.base.posterior(J, alpha if own is None else alpha / (own * own), beta)
        if found is None:
            return None
        mean, variance = found
        if own is not None:
            mean, variance = scaled_rows(mean, 1 / own), variance / (own * own)
        return mean if self.outputs is None else mean * self.outputs[None, :], variance

    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Φ_J w‖² of every output."""
        if self.columns is not None:
            weights = scaled_rows(weights, take(self.columns, J))
        if self.outputs is None:
            return self.base.residual(J, weights)
        return self.outputs * self.outputs * self.base.residual(J, weights / self.outputs[None, :])


def norms_of_groups(norms: Array, label: np.ndarray) -> Array:
    """One norm for all columns of a group, the root of the mean square of theirs, (M,).

    One precision for all weights of a group means that they have the same prior variance in the user's units.
    """
    peak = float(np.max(to_numpy(norms)))
    _, group = np.unique(label, return_inverse=True)
    squares = np.bincount(group, (to_numpy(norms) / peak) ** 2) / np.bincount(group)
    return asfloat64(peak * np.sqrt(squares)[group], like=norms)
