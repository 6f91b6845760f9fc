"""Variances of predictions that are not those of the sparse model: what a regressor asks of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sparsebayes.inference.dense_variance import DensePosterior

SMALL_BLOCK = 256  # queries at a time that are always affordable


class QueryVariance(ABC):
    """The variance of a new target at queries X (q, d); columns (q, S) are the retained functions there."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Training rows a query is compared with."""

    @property
    def rows_at_once(self) -> int:
        """Most queries for which their own kernel matrix is no larger than that against the training rows."""
        return max(self.n, SMALL_BLOCK)

    @abstractmethod
    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """At each query (q,)."""

    @abstractmethod
    def covariance(self, X: np.ndarray) -> np.ndarray:
        """Of all queries jointly (q, q); ValueError where there is none."""


@dataclass(frozen=True, eq=False)
class DenseVariance(QueryVariance):
    """That of the Gaussian process the scales were learned from, with the noise σ² of the sparse model."""

    posterior: DensePosterior
    noise_variance: float

    @property
    def n(self) -> int:
        """Rows the process has seen."""
        return len(self.posterior.factor)

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """σ² + Var f."""
        return self.noise_variance + self.posterior.variance(X)

    def covariance(self, X: np.ndarray) -> np.ndarray:
        """σ²I + Cov f."""
        return self.posterior.covariance(X) + self.noise_variance * np.eye(len(X))
