"""The variance of the RVM*: one more basis function at the query point [Rasmussen & Quiñonero-Candela 2005].

Far from its centres every basis function of a relevance vector machine is nearly zero, so that its predictive
variance shrinks to the noise just where it knows least. With one more function k(·, x*) in the model, of
prior precision α*, the variance at x* gains

    e*² / (α* + S*),    e* = k(x*, x*) − φ(x*)ᵀ Σ ΦᵀBφ*,    S* = φ*ᵀBφ* − φ*ᵀBΦ Σ ΦᵀBφ*,

φ* = k(X, x*) on the training rows, B = βI: S* is TF03's sparsity of the new function and e* its residual at
x* [TF03, eq. 24]. With an intercept φ(x*), Φ, φ* and k(x*, x*) lose their weighted training means. B counts
sample weights, and is the curvature of the log-likelihood where the noise is not Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.bases import BoundBasis
from sparsebayes.estimators._variances import QueryVariance
from sparsebayes.inference import Result


@dataclass(frozen=True, eq=False)
class Augmentation(QueryVariance):
    """What the extra variance needs of the training data.

    basis : the retained functions; `centred_at` gives the extra one.
    X (N, d), precisions (N,) : training rows, and B.
    Phi : retained functions there (N, S), centred where the model has an intercept.
    target_variance : weighted variance of the training targets, the prior variance of k(x*, x*)w*.
    """

    basis: BoundBasis
    X: np.ndarray
    precisions: np.ndarray
    Phi: np.ndarray
    target_variance: float
    result: Result

    @classmethod
    def of(
        cls, basis: BoundBasis, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, result: Result
    ) -> Augmentation:
        """The augmentation of a model fitted to X, y."""
        counts = np.ones(len(y)) if weights is None else weights
        mean = np.average(y, weights=counts)
        variance = float(np.average((y - mean) ** 2, weights=counts))
        columns = basis(X)
        f = (columns @ result.mean + result.intercept)[:, None]
        precisions = counts * result.likelihood.curvature_factors(y[:, None], f)[0][:, 0]
        return cls(basis, X.copy(), precisions, columns - result.column_means, variance, result)

    @property
    def n(self) -> int:
        """All of them."""
        return len(self.X)

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """That of the sparse model, and what one more function adds."""
        return self.result.variance(columns) + self.extra_variance(X, columns)

    def covariance(self, X: np.ndarray) -> np.ndarray:
        """There is none."""
        raise ValueError(
            "return_cov has no meaning with variance='augmented': every query has a function of its own."
        )

    def extra_variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """e*²/(α* + S*) at each row of X (q, d); columns (q, S) are the retained functions there."""
        result = self.result
        extra = self.basis.centred_at(X)
        assert extra is not None  # `check_centre` has seen to it
        phi, own = extra(self.X), np.diagonal(extra(X))  # k(X_train, x*) (N, q) and k(x*, x*) (q,)
        alpha = own**2 / self.target_variance  # so that the prior variance of the function at x* is that of y
        if result.has_intercept:
            means = self.precisions @ phi / self.precisions.sum()
            phi, own = phi - means, own - means
        weighted = self.precisions[:, None] * phi
        projections = self.Phi.T @ weighted  # ΦᵀBφ* (S, q)
        mixed = result.covariance @ projections  # ΣΦᵀBφ*
        e = own - np.sum((columns - result.column_means).T * mixed, axis=0)
        S = np.sum(phi * weighted, axis=0) - np.sum(projections * mixed, axis=0)
        precision = alpha + np.maximum(S, 0.0)
        # a function that is zero at x* and on the training rows adds nothing
        return np.where(precision > 0, e**2 / np.where(precision > 0, precision, 1.0), 0.0)


def check_centre(basis: BoundBasis, X: np.ndarray) -> None:
    """Refuse a basis that has no function to centre at a query point, or more than one."""
    moved = basis.centred_at(X[:1])
    count = 0 if moved is None else moved.n_functions
    if count != 1:
        raise ValueError(
            "variance='augmented' needs a kernel of which exactly one part is centred at training points, "
            f"got {count} such parts."
        )
