"""The target of a regression, centred and scaled once, for whatever set of functions is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._array import Array, namespace
from sparsebayes.rows.memory import Scaling, target_size

CONSTANT = 1e-13  # of the size of a column: what is left of it about its mean is rounding


@dataclass(frozen=True)
class Target:
    """t/τ about its weighted mean (with an intercept).

    values : (N,).  weights : (N,) or None.  n : Σ weights.  mean, scale, spread : see `Scaling`.
    """

    values: Array
    weights: Array | None
    n: float
    mean: float
    scale: float
    spread: float
    center: bool

    @classmethod
    def of(cls, t: Array, weights: Array | None, center: bool) -> Target:
        """The scaled target of t (N,)."""
        counts = namespace(t).ones_like(t) if weights is None else weights
        n, mean, scale, spread = target_size(t, counts, center)
        return cls((t - mean) / scale, weights, n, mean, scale, spread, center)

    def weighted(self, rows: slice, V: np.ndarray) -> np.ndarray:
        """W V of these rows."""
        return V if self.weights is None else self.weights[rows, None] * V

    def sum(self, rows: slice, V: np.ndarray) -> np.ndarray:
        """Σ_n w_n V_n over these rows."""
        return V.sum(axis=0) if self.weights is None else self.weights[rows] @ V

    def scaling(self, kept: np.ndarray, norms: np.ndarray, means: np.ndarray) -> Scaling:
        """How a solver's numbers relate to the user's, for functions `kept` of these norms and means."""
        return Scaling(kept, norms, means, self.scale, self.mean, self.n, self.center, self.spread)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What every quadratic of this target has in common."""
        tt = float(np.sum(self.values * self.values * (1.0 if self.weights is None else self.weights)))
        rows_counted = self.n - 1 if self.center else self.n
        return {"n": rows_counted, "tt": tt, "offset": -0.5 * math.log(self.n) if self.center else 0.0}

    def norms(self, squares: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Norms of columns about their means, from their squares; 0 where that is rounding."""
        norms = np.sqrt(np.maximum(squares, 0.0))
        return np.where(norms <= CONSTANT * np.abs(means) * math.sqrt(self.n), 0.0, norms)


def visited_norms(norms: np.ndarray, J: np.ndarray, others: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    """Norms of J and of `others`, infinite for those of the others that are in J, skipped or have no size."""
    barred = np.zeros(len(norms), dtype=bool)
    barred[J] = barred[skipped] = True
    block = np.where(barred[others] | (norms[others] <= 0), np.inf, norms[others])
    return np.concatenate([norms[J], block])
