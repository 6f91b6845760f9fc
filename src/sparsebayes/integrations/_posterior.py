"""The posterior of the coefficients of a fitted `SparseBayesRegressor`, as the adapters need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, eq=False)
class CoefficientPosterior:
    """N(μ, Σ) of the S selected coefficients among M; the others are zero.

    Attributes
    ----------
    n_terms : int
        M, the number of candidate terms.
    active : ndarray of int, shape (S,)
        The selected terms.
    mean : ndarray of shape (S,)
        Their posterior means μ.
    covariance : ndarray of shape (S, S)
        Their posterior covariance Σ.
    """

    n_terms: int
    active: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Self:
        """The posterior of a fitted `SparseBayesRegressor`."""
        return cls(len(model.coef_), model.relevance_, model.active_coef_, model.covariance_)

    @property
    def coefficients(self) -> np.ndarray:
        """Posterior means of all M coefficients, (M,)."""
        return self._of_all(self.mean)

    @property
    def standard_errors(self) -> np.ndarray:
        """Posterior standard deviations of all M coefficients, (M,); zero for terms that were not selected."""
        return self._of_all(np.sqrt(np.diagonal(self.covariance)))

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Independent draws of the S selected coefficients, (n_draws, S)."""
        rng = np.random.default_rng(random_state)
        scale = np.sqrt(np.diagonal(self.covariance))  # unit variances first: coefficients may differ by many orders
        values, vectors = np.linalg.eigh(self.covariance / np.outer(scale, scale))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return self.mean + scale * (rng.standard_normal((n_draws, len(scale))) @ root.T)

    def _of_all(self, values: np.ndarray) -> np.ndarray:
        full = np.zeros(self.n_terms)
        full[self.active] = values
        return full
