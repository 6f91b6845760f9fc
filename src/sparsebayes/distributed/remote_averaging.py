"""The Gaussian that probabilities of two classes are averaged over, on Dask: `laplace.averaging` by passes.

The variances of f that the search needs at each row follow from precision matrices, which travel to the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from sparsebayes.core.result import Result
from sparsebayes.distributed.expansion import added
from sparsebayes.distributed.labels import Labelled
from sparsebayes.laplace.averaging import (
    Expected,
    GaussianSearch,
    change_of,
    expectations,
    in_units,
    inverse_of,
    spread_of,
)
from sparsebayes.laplace.mode import Mode
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings
from sparsebayes.rows.chunks import slices


@dataclass(frozen=True)
class _Columns:
    """The functions of a model and a column of ones if there is an intercept.

    design : of all functions.  function : positions of those of the model.  center : whether there is an intercept.
    """

    design: Any
    function: np.ndarray
    center: bool

    def __call__(self, X: Any) -> np.ndarray:
        Phi = self.design.at(X, self.function)
        return np.column_stack([Phi, np.ones(len(Phi))]) if self.center else Phi


def _spread(Phi: np.ndarray, precision: np.ndarray | None) -> np.ndarray:
    """√(φᵀVφ) at each row, V⁻¹ = precision; 0 for None."""
    return np.zeros(len(Phi)) if precision is None else spread_of(Phi, scipy.linalg.cholesky(precision, lower=True))


def _expected(rows: Labelled, columns: _Columns, mean: np.ndarray, precision: np.ndarray | None) -> dict[str, Any]:
    """Σ E log p, its slope, and Φᵀ diag(E p(1−p)) Φ over the rows of a part."""
    found = []
    for part in slices(len(rows.counts), 2 * len(mean)):
        Phi, y, counts = columns(rows.X[part]), rows.y[part][:, 0], rows.counts[part]
        at = expectations(y, Phi @ mean, _spread(Phi, precision) ** 2)
        H = (Phi * (counts * at.slope)[:, None]).T @ Phi
        found.append({"height": float(counts @ at.log_prob), "slope": Phi.T @ (counts * (y - at.p)), "H": H})
    return added(found)


def _changes(rows: Labelled, columns: _Columns, precisions: tuple[Any, Any, Any]) -> tuple[float, float]:
    """The largest relative change of a standard deviation of f, and its product with the change before."""
    found = [(0.0, 0.0)]  # of no rows
    for part in slices(len(rows.counts), 2 * len(columns.function) + 2):
        Phi = columns(rows.X[part])
        found.append(change_of(*(_spread(Phi, each) for each in precisions)))
    return _joined(found)


def _joined(results: list[tuple[float, float]]) -> tuple[float, float]:
    """The largest of the first numbers, and the sum of the second."""
    return max(each[0] for each in results), sum(each[1] for each in results)


@dataclass(frozen=True, eq=False)
class RemoteNearestGaussian(GaussianSearch):
    """The search on rows that stay where they are: a spread is the precision matrix that it follows from.

    rows : of the data.  columns : the functions.  alpha : (D,) precisions, 0 of an intercept.
    """

    rows: Any
    columns: _Columns
    alpha: np.ndarray
    settings: LaplaceSettings = LAPLACE

    @property
    def n_rows(self) -> int:
        """N, the number of rows."""
        return self.rows.encoded.total

    def spread(self, precision: np.ndarray | None) -> np.ndarray | None:
        """The precision matrix itself, which travels to the rows."""
        return precision

    def expected(self, mean: np.ndarray, spread: np.ndarray | None) -> Expected:
        """What is expected of all rows: one pass."""
        found = self.rows.encoded.rows.reduce("average", _expected, added, self.columns, mean, spread)
        return Expected(found["height"], lambda: found["slope"], lambda: found["H"])

    def change(self, now: Any, before: Any, first: Any) -> tuple[float, float]:
        """How the standard deviations of f changed: one pass."""
        return self.rows.encoded.rows.reduce("spread", _changes, _joined, self.columns, (now, before, first))


def with_remote_average(result: Result, mode: Mode, rows: Any, settings: LaplaceSettings) -> Result:
    """A result of one output with the Gaussian that its probabilities are averaged over, as `Result.averaged`.

    Parameters
    ----------
    result : Result
        The fitted model, in the user's units.
    mode : Mode
        Where its fit ended.
    rows : RemoteLaplaceRows
        The rows it was fitted to.
    settings : LaplaceSettings
        What the search depends on.

    Returns
    -------
    Result
        As it was, and the same model with another Gaussian as `averaged`; without it if the model is so large
        that the search would take long, or if a precision is singular to rounding.
    """
    if len(mode.J) ** 2 * rows.encoded.total > settings.averaging_work:
        return result
    alpha, w = (np.append(mode.alpha, 0.0), np.append(mode.w, mode.b)) if rows.center else (mode.alpha, mode.w)
    columns = _Columns(rows.design, rows.split(mode.J)[0], rows.center)
    try:
        mean, precision = RemoteNearestGaussian(rows, columns, alpha, settings).run(w)
        covariance = inverse_of(precision)
    except np.linalg.LinAlgError:
        return result
    return replace(result, averaged=in_units(result, mean, precision, covariance, mode, rows))
