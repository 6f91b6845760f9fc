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
from sparsebayes.laplace.averaging import GROWTH, LEAST_SHARE, RIDGE, expectations, in_units, inverse_of
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
    if precision is None:
        return np.zeros(len(Phi))
    L = scipy.linalg.cholesky(precision, lower=True)
    return np.sqrt(np.sum(scipy.linalg.solve_triangular(L, Phi.T, lower=True) ** 2, axis=0))


def _height(rows: Labelled, columns: _Columns, mean: np.ndarray, precision: np.ndarray | None) -> dict[str, Any]:
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
    largest, product = 0.0, 0.0
    for part in slices(len(rows.counts), 2 * len(columns.function) + 2):
        Phi = columns(rows.X[part])
        now, before, first = (_spread(Phi, each) for each in precisions)
        change, last = (now - before) / (1 + now), (before - first) / (1 + before)
        largest, product = max(largest, float(np.abs(change).max())), product + float(change @ last)
    return largest, product


def _joined(results: list[tuple[float, float]]) -> tuple[float, float]:
    return max(each[0] for each in results), sum(each[1] for each in results)


@dataclass(frozen=True, eq=False)
class RemoteNearestGaussian:
    """The search for N(m, V): see `laplace.averaging.NearestGaussian`.

    rows : of the data.  columns : the functions.  alpha : (D,) precisions, 0 of an intercept.
    """

    rows: Any
    columns: _Columns
    alpha: np.ndarray
    settings: LaplaceSettings = LAPLACE

    def run(self, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """m (D,) and V⁻¹ (D, D), from the mode."""
        settings, share, rows = self.settings, 1.0, self.rows.encoded.rows
        past: tuple[Any, Any] = (None, None)
        mean, precision = self.mean_at(mean, None, 2)
        for _ in range(settings.averaging_steps):
            used = precision
            largest, product = rows.reduce("spread", _changes, _joined, self.columns, (precision, *past))
            if largest < settings.averaging_tolerance * share:
                break
            share = max(0.5 * share, LEAST_SHARE) if product < 0 else min(GROWTH * share, 1.0)
            past = (precision, past[0])
            mean, goal = self.mean_at(mean, used, 2)
            precision = precision + share * (goal - precision)
        mean, _ = self.mean_at(mean, used, settings.newton_steps)
        return mean, used

    def mean_at(self, mean: np.ndarray, spread: np.ndarray | None, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean after Newton steps, the variances of f being those of V⁻¹ = spread, and the precision there."""
        here = self._at(mean, spread)
        for _ in range(steps):
            slope = here["slope"] - self.alpha * mean
            step = scipy.linalg.cho_solve(scipy.linalg.cho_factor(self._precision(here)), slope)
            if slope @ step < self.settings.rounding * self.rows.encoded.total:
                break
            share, there = 1.0, self._at(mean + step, spread)
            while not there["height"] > here["height"] and share > 1e-6:
                share *= 0.5
                there = self._at(mean + share * step, spread)
            if not there["height"] > here["height"]:
                break
            mean, here = mean + share * step, there
        return mean, self._precision(here)

    def _at(self, mean: np.ndarray, spread: np.ndarray | None) -> dict[str, Any]:
        """Σ E log p(y|f) − ½ mᵀAm, with slope and curvature: one pass."""
        found = self.rows.encoded.rows.reduce("average", _height, added, self.columns, mean, spread)
        return found | {"height": found["height"] - 0.5 * float(self.alpha @ mean**2)}

    def _precision(self, at: dict[str, Any]) -> np.ndarray:
        H = at["H"].copy()
        H[np.diag_indices_from(H)] += self.alpha + RIDGE * np.mean(H.diagonal())
        return H


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
