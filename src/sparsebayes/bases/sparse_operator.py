"""A SciPy-sparse design matrix as an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.sparsefuncs import mean_variance_axis

from sparsebayes._array import Array, Indices
from sparsebayes.bases.operators import Operator
from sparsebayes.core.units import without_constants


class SparseOperator(Operator):
    """A SciPy-sparse design matrix, of which only requested columns are ever made dense.

    Parameters
    ----------
    X : SciPy sparse matrix or array of shape (N, M)
        Φ.
    """

    is_sparse = True

    def __init__(self, X: Any) -> None:
        self.X = X.tocsc().astype(np.float64, copy=False)
        self.shape = self.X.shape

    def columns(self, J: Indices) -> Array:
        """Φ[:, J] as a dense array."""
        return self.X[:, np.asarray(J, dtype=np.int64)].toarray()

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV."""
        return np.asarray(self.X.T @ V)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Means and norms from the stored entries, each column divided by its largest entry first."""
        total, scale = float(weights.sum()), abs(self.X).max(axis=0).toarray().ravel()
        scale[scale == 0] = 1.0
        unit = self.X.copy()
        unit.data /= np.repeat(scale, np.diff(unit.indptr))
        means, variances = mean_variance_axis(unit, axis=0, weights=weights)
        if not center:
            return np.zeros(self.shape[1]), scale * np.sqrt(total * (variances + means**2))
        return scale * means, scale * without_constants(np.sqrt(total * variances), means, total)

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """From the stored entries: Σ W (φ² − 2 shift φ)/scale² + shift² Σ W/scale².

        The shifts are means of sparse columns, small beside their norms, so that little cancels; a column
        where much does is made dense.
        """
        unit = self.X.multiply(1 / scale[None, :]).tocsc()
        offset = (shift / scale)[:, None]
        powers = np.asarray(unit.multiply(unit).T @ weights)
        totals = offset**2 * weights.sum(axis=0)[None, :]
        result = powers - 2 * offset * np.asarray(unit.T @ weights) + totals
        for m in np.flatnonzero((result < 1e-6 * (powers + totals)).any(axis=1)).tolist():
            column = (self.columns([m]) - shift[m]) / scale[m]
            result[m] = (column * column)[:, 0] @ weights
        return result
