"""What a regression returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, namespace, row_products
from sparsebayes.bases.operators import as_operator
from sparsebayes.likelihoods import GAUSSIAN, GeneralizedNormal
from sparsebayes.rows import pieces
from sparsebayes.solvers import Certificate


@dataclass(frozen=True, eq=False)
class Result:
    """A fitted sparse Bayesian model, in the units of the data.

    active : indices of the retained functions, ascending.      mean, covariance : μ (S,), Σ (S, S).
    alpha : precisions α (S,).                                  intercept : 0 without one.
    noise_variance, noise_shape : σ², and p of a noise density ∝ exp(−|ε/s|^p); p = 2 is Gaussian.
    log_evidence : log p(t | α, σ²), Laplace's approximation to it where p > 2.
    objective : evidence plus log priors; evidence_path : its values, one an iteration.
    certificate : see `Certificate`.
    n : Σ weights.  has_intercept, intercept_variance, column_means : the intercept's share of the predictive
        variance: that of the mean of t, and the mean of each function (p > 2: weighted by the curvature).
    """

    active: np.ndarray
    mean: Array
    covariance: Array
    alpha: Array
    intercept: float
    noise_variance: float
    log_evidence: float
    objective: float
    evidence_path: np.ndarray
    n_iter: int
    converged: bool
    certificate: Certificate
    column_means: Array
    n: float
    has_intercept: bool
    intercept_variance: float
    noise_shape: float = GAUSSIAN

    def predict(self, Phi: Any, return_std: bool = False) -> Any:
        """Mean at new rows of the N×M design (all M columns), and the standard deviation, noise included."""
        parts = [self._predicted(rows, return_std) for rows in pieces(Phi)]
        xp = namespace(parts[0][0])
        mean, *std = (
            values[0] if len(parts) == 1 else xp.concat(values) for values in zip(*parts, strict=True)
        )
        return (mean, std[0]) if return_std else mean

    def _predicted(self, Phi: Any, with_std: bool) -> tuple[Array, ...]:
        operator = as_operator(Phi)
        if not with_std:
            return (operator.combination(self.active, self.mean) + self.intercept,)
        columns = operator.columns(self.active)
        return columns @ self.mean + self.intercept, namespace(columns).sqrt(self.variance(columns))

    def variance(self, columns: Array) -> Array:
        """σ² + φᵀΣφ, and with an intercept σ² + v + (φ−φ̄)ᵀΣ(φ−φ̄); φ the retained functions only.

        v = σ²/n for Gaussian noise.
        """
        return self.noise_variance + self.mean_variance(columns)

    def mean_variance(self, columns: Array) -> Array:
        """The same without the noise: that of Φw + b."""
        centred = columns - self.column_means[None, :]
        return row_products(centred @ self.covariance, centred) + self.intercept_variance

    @property
    def likelihood(self) -> GeneralizedNormal:
        """p(t | f), Gaussian noise being that of shape 2."""
        return GeneralizedNormal.of_variance(self.noise_shape, self.noise_variance)
