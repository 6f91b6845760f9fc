"""Variances of predictions that are not those of the sparse model.

The variance of the RVM*: one more basis function at the query point [Rasmussen & Quiñonero-Candela 2005]. Far
from its centres every basis function of a relevance vector machine is nearly zero, so that its predictive
variance shrinks to the noise just where it knows least. With one more function k(·, x*) in the model, of prior
precision α*, the variance at x* gains

    e*² / (α* + S*),    e* = k(x*, x*) − φ(x*)ᵀ Σ ΦᵀBφ*,    S* = φ*ᵀBφ* − φ*ᵀBΦ Σ ΦᵀBφ*,

φ* = k(X, x*) on the training rows, B = βI: S* is TF03's sparsity of the new function and e* its residual at
x* [TF03, eq. 24]. With an intercept φ(x*), Φ, φ* and k(x*, x*) lose their weighted training means. B counts
sample weights, and is the curvature of the log-likelihood if the noise is not Gaussian.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, add_diagonal, beside, namespace, to_numpy
from sparsebayes.bases import BoundBasis
from sparsebayes.core.result import Result
from sparsebayes.estimators._fitted import Fitted
from sparsebayes.estimators._training import Rows
from sparsebayes.rows.devices import result_beside
from sparsebayes.rows.kinds import follows
from sparsebayes.scale_learning import GaussianProcessPosterior

SMALL_BLOCK = 256  # queries at a time that are always affordable


class Factor(NamedTuple):
    """The covariance of f at q queries as RRᵀ + vI: root R (q, k), own v."""

    root: np.ndarray
    own: float


class ErrorBars(ABC):
    """The variance of a new target at queries X (q, d); columns (q, S) are the selected functions there.

    n : training rows that a query is compared with; 0 if none.
    """

    n: int = 0

    def for_queries(self, X: Any) -> ErrorBars:
        """The same error bars in the library and on the device that queries X are computed with."""
        return self

    @abstractmethod
    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The variance at each query, (q,)."""

    def std(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The standard deviation at each query, (q,)."""
        return np.sqrt(self.variance(X, columns))

    @abstractmethod
    def covariance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The covariance of all queries jointly, (q, q)."""

    @abstractmethod
    def factor(self, X: np.ndarray, columns: np.ndarray) -> Factor:
        """The covariance without the noise, as a product."""

    def variance_of_average(self, X: np.ndarray, columns: np.ndarray) -> Any:
        """The variance of the average of f over the queries, 1ᵀCov(f)1/q²; of several outputs (T,)."""
        root, own = self.factor(X, columns)
        return float(np.sum(root.mean(axis=0) ** 2)) + own / len(columns)


@dataclass(frozen=True, eq=False)
class PosteriorBars(ErrorBars):
    """σ² + (φ−φ̄)ᵀΣ(φ−φ̄) + Var b of the sparse model, and an excess that is the same at all queries."""

    result: Result
    excess: float = 0.0

    def for_queries(self, X: Any) -> PosteriorBars:
        """The same error bars in the library and on the device that queries X are computed with."""
        return replace(self, result=result_beside(self.result, X)) if follows(X) else self

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The variance at each query, (q,) or (q, T)."""
        if self.result.mean.ndim == 2:
            return self.result.std(columns, self.excess) ** 2
        return self.result.variance(columns) + self.excess

    def std(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The standard deviation at each query, (q,), finite even where the variance is not."""
        return self.result.std(columns, self.excess)

    def covariance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The covariance (q, q), or of every output (q, q, T); noise and excess are on its diagonal."""
        result = self.result
        centred = columns - result.centre
        covariance = centred @ result.covariance @ centred.T + result.intercept_covariance
        covariance = add_diagonal(covariance, result.noise_variance + self.excess)
        scales = getattr(result, "output_scales", None)
        return covariance if scales is None else covariance[:, :, None] * scales**2

    def variance_of_average(self, X: np.ndarray, columns: np.ndarray) -> Any:
        """The variance of f of the average of the functions, and the excess over the number of queries."""
        average = columns.mean(axis=0)[None, :]
        return np.asarray(self.result.f_variance(average))[0] + self._unit() * self.excess / len(columns)

    def _unit(self) -> Any:
        """The variance of each output in that of an output of average noise; 1 of a single output."""
        return getattr(self.result, "output_scales", 1.0) ** 2

    def factor(self, X: np.ndarray, columns: np.ndarray) -> Factor:
        """The root of Σ times the functions at the queries, and the intercept's share."""
        result = self.result
        weights, xp = (columns - result.centre) @ root_of(result.covariance), namespace(columns)
        intercept = xp.broadcast_to(xp.sqrt(result.intercept_covariance), (int(columns.shape[0]), 1))
        return Factor(xp.concat([weights, intercept], axis=1), self.excess)


@dataclass(frozen=True, eq=False)
class HostBars(ErrorBars):
    """Error bars that are computed on the host: queries come there, and the error bars go back beside them."""

    bars: ErrorBars

    @property
    def n(self) -> int:  # type: ignore[override]
        """Rows that each query is compared with."""
        return self.bars.n

    def variance(self, X: Array, columns: Array) -> Array:
        """The variance at each query, (q,)."""
        return beside(self.bars.variance(to_numpy(X), to_numpy(columns)), X)

    def std(self, X: Array, columns: Array) -> Array:
        """The standard deviation at each query, (q,)."""
        return beside(self.bars.std(to_numpy(X), to_numpy(columns)), X)

    def covariance(self, X: Array, columns: Array) -> Array:
        """The covariance of all queries jointly, (q, q)."""
        return beside(self.bars.covariance(to_numpy(X), to_numpy(columns)), X)

    def factor(self, X: Array, columns: Array) -> Factor:
        """The covariance without the noise, as a product."""
        root, own = self.bars.factor(to_numpy(X), to_numpy(columns))
        return Factor(beside(root, X), own)

    def variance_of_average(self, X: Array, columns: Array) -> Any:
        """The variance of the average of f over the queries."""
        return self.bars.variance_of_average(to_numpy(X), to_numpy(columns))


@dataclass(frozen=True, eq=False)
class ProcessBars(ErrorBars):
    """The variance of the Gaussian process that scales were learned from, with the noise σ² of the sparse model."""

    posterior: GaussianProcessPosterior
    noise_variance: float

    def for_queries(self, X: Any) -> ErrorBars:
        """The same error bars for queries X of any library."""
        return HostBars(self) if follows(X) else self

    @property
    def n(self) -> int:  # type: ignore[override]
        """Rows that the process was given."""
        return self.posterior.n

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """σ² + Var f at each query, (q,)."""
        return self.noise_variance + self.posterior.variance(X)

    def covariance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """σ²I + Cov f, (q, q)."""
        return self.posterior.covariance(X) + self.noise_variance * np.eye(len(X))

    def variance_of_average(self, X: np.ndarray, columns: np.ndarray) -> Any:
        """The average of Cov f."""
        return float(self.posterior.covariance(X).mean())

    def factor(self, X: np.ndarray, columns: np.ndarray) -> Factor:
        """The root of Cov f."""
        return Factor(root_of(self.posterior.covariance(X)), 0.0)


@dataclass(frozen=True, eq=False)
class AugmentedBars(ErrorBars):
    """The variance of the RVM*, and what it needs of the training data; it is computed on the host.

    basis : the selected functions; `centred_at` gives the extra one.
    X (N, d), precisions (N,) : training rows, and B.
    Phi : selected functions there (N, S), centred if the model has an intercept.
    target_variance : weighted variance of the training targets, the prior variance of k(x*, x*)w*.
    """

    basis: BoundBasis
    X: np.ndarray
    precisions: np.ndarray
    Phi: np.ndarray
    target_variance: float
    result: Result

    def for_queries(self, X: Any) -> ErrorBars:
        """The same error bars for queries X of any library."""
        return HostBars(self) if follows(X) else self

    @classmethod
    def of(cls, fitted: Fitted, rows: Rows) -> AugmentedBars:
        """The error bars of a model fitted to these rows."""
        basis, result, X, y, counts = fitted.basis, fitted.result, *map(to_numpy, (rows.X, rows.y, rows.counts))
        variance = float(np.average((y - np.average(y, weights=counts)) ** 2, weights=counts))
        columns = basis(X)
        curvature = result.likelihood.curvature_factors(y[:, None], result.f_mean(columns))[0][:, 0]
        return cls(basis, X.copy(), counts * curvature, columns - result.centre, variance, result)

    @property
    def n(self) -> int:  # type: ignore[override]
        """All training rows."""
        return len(self.X)

    def covariance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """ValueError: there is none."""
        raise ValueError(
            "return_cov has no meaning with variance='augmented', where every query has a function of its own: use "
            "return_std, or fit with variance='posterior'."
        )

    def factor(self, X: np.ndarray, columns: np.ndarray) -> Factor:
        """ValueError: there is no covariance."""
        raise ValueError(
            "sample_y has no meaning with variance='augmented', where every query has a function of its own: fit with "
            "variance='posterior'."
        )

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The variance of the sparse model, and e*²/(α* + S*), at each query (q,)."""
        result = self.result
        extra = self.basis.centred_at(X)
        assert extra is not None  # `check_centre` has seen to it
        phi, own = extra(self.X), np.diagonal(extra(X))  # k(X_train, x*) (N, q) and k(x*, x*) (q,)
        alpha = own**2 / self.target_variance  # so that the prior variance of the function at x* is that of y
        if result.has_intercept:
            means = self.precisions @ phi / self.precisions.sum()
            phi, own = phi - means, own - means
        projections = self.Phi.T @ (self.precisions[:, None] * phi)  # ΦᵀBφ* (S, q)
        residual, mixed, gradient = self._fitted_to(phi, result.covariance @ projections)
        refined = result.covariance @ gradient
        e = own - np.sum((columns - result.centre).T * (mixed + refined), axis=0)
        S = np.sum(residual * (self.precisions[:, None] * residual), axis=0)
        S = S + result.alpha @ (mixed * mixed) - np.sum(gradient * refined, axis=0)
        precision = alpha + np.maximum(S, 0.0)
        # a function that is zero at x* and on the training rows adds nothing
        gained = np.where(precision > 0, e**2 / np.where(precision > 0, precision, 1.0), 0.0)
        return result.variance(columns) + gained

    def _fitted_to(self, phi: np.ndarray, mixed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """φ* − Φm (N, q), m = ΣΦᵀBφ* (S, q), and what is left of ΦᵀBφ* = Σ⁻¹m by rounding, (S, q).

        S* = φ*ᵀBφ* − φ*ᵀBΦm is the least value of (φ* − Φm)ᵀB(φ* − Φm) + mᵀAm, a sum of squares, in which nothing
        cancels where the selected functions nearly make up φ*.
        """
        residual = phi - self.Phi @ mixed
        gradient = self.Phi.T @ (self.precisions[:, None] * residual) - np.asarray(self.result.alpha)[:, None] * mixed
        return residual, mixed, gradient


def root_of(covariance: Array) -> Array:
    """R with RRᵀ = covariance, which may be singular and, by rounding, slightly indefinite; diagonal if sparse."""
    if scipy.sparse.issparse(covariance):
        return scipy.sparse.diags_array(np.sqrt(covariance.diagonal()))
    values, vectors = np.linalg.eigh(0.5 * (to_numpy(covariance) + to_numpy(covariance).T))
    return beside(vectors * np.sqrt(np.maximum(values, 0.0)), covariance)


def check_centre(basis: BoundBasis, X: np.ndarray) -> None:
    """Raise ValueError unless a basis has exactly one function to centre at a query point."""
    moved = basis.centred_at(X[:1, ...])
    count = 0 if moved is None else moved.n_functions
    if count != 1:
        raise ValueError(
            "variance='augmented' needs a kernel of which exactly one part is centred at training points, "
            f"got {count} such parts."
        )
