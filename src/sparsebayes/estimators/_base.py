"""What both estimators share: the way from validated data to a fitted model, and from that to predictions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from sparsebayes import inference
from sparsebayes.bases import Basis, BoundBasis
from sparsebayes.estimators._augmented import Augmentation
from sparsebayes.estimators._candidates import candidate_numbers, centres
from sparsebayes.estimators._validation import (
    check_inputs,
    check_something_to_model,
    check_targets,
    check_weights,
)
from sparsebayes.inference import Result
from sparsebayes.solvers import Progress

WORKING_COPIES = 4  # arrays of the size of Φ that a prediction holds at a time


class SparseBayesModel(RegressorMixin, BaseEstimator, metaclass=ABCMeta):
    """t = Φw + b + ε with Φ given by `_basis`; a subclass states its parameters and that basis."""

    prior: Any
    solver: Any
    noise_variance: float | None
    noise_prior: tuple[float, float] | None
    fit_intercept: bool
    max_iter: int
    tol: float
    random_state: Any
    verbose: int
    callback: Callable[[Progress], Any] | None
    _columns_kept: np.ndarray | None
    _augmentation: Augmentation | None = None

    @abstractmethod
    def _basis(self) -> Basis:
        """The basis the parameters ask for."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. What else is accepted is said with the class.
        y : array-like of shape (n_samples,)
            Training targets; not constant.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero are left
            out, as candidates too.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_inputs(self, X, fitting=True)
        n = X.shape[0]
        y = check_targets(y, n, self)
        weights = check_weights(sample_weight, n)
        rows = np.arange(n) if weights is None else np.flatnonzero(weights)
        self._columns_kept = None
        if weights is not None and len(rows) < n:
            X, y, weights = self._rows_of(X, rows), y[rows], weights[rows]
        check_something_to_model(y)
        bound = self._basis().bind(X, weights)
        self._check_bound(bound, X)
        result = self._infer(bound.operator(X), y, weights)
        self._store(result, bound.select(result.active.tolist()), candidate_numbers(bound, rows, n))
        self._keep(X, y, weights)
        return self

    def _infer(self, operator: Any, y: np.ndarray, weights: np.ndarray | None) -> Result:
        return inference.fit(
            operator,
            y,
            prior=self.prior,
            solver=self.solver,
            noise_variance=self.noise_variance,
            noise_prior=self.noise_prior,
            fit_intercept=self.fit_intercept,
            sample_weight=weights,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            verbose=self.verbose,
            callback=self.callback,
        )

    def _store(self, result: Result, basis: BoundBasis, numbers: np.ndarray) -> None:
        """The fitted attributes, and what predictions need."""
        self._result, self._fitted_basis = result, basis
        self.relevance_ = numbers[result.active]
        self.relevance_vectors_ = centres(basis, self.n_features_in_)
        self.coef_ = result.mean
        self.intercept_ = result.intercept
        self.alpha_ = result.alpha
        self.noise_variance_ = result.noise_variance
        self.covariance_ = result.covariance
        self.log_evidence_ = result.log_evidence
        self.evidence_path_ = result.evidence_path
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.certificate_ = result.certificate

    def _check_bound(self, bound: BoundBasis, X: Any) -> None:
        """Refuse, before the work starts, what a subclass could not use afterwards."""

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Keep what a subclass needs of the training data."""

    def _rows_of(self, X: Any, rows: np.ndarray) -> Any:
        """The training data `rows` alone: of a kernel matrix the columns as well, now and in predictions."""
        if not get_tags(self).input_tags.pairwise:
            return X[rows]
        self._columns_kept = rows
        return X[np.ix_(rows, rows)]

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the targets, with the uncertainty of the prediction where asked for.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        return_std : bool, default=False
            Whether to return the standard deviation of a new target at each row of X: the noise, the weights'
            and the intercept's share, √(σ² + φᵀΣφ) and with an intercept √(σ² + σ²/n + (φ−φ̄)ᵀΣ(φ−φ̄)).
        return_cov : bool, default=False
            Whether to return the covariance of new targets at all rows jointly; its diagonal is the square
            of the standard deviation.

        Returns
        -------
        mean : ndarray of shape (n_queries,)
            Predictive mean.
        std : ndarray of shape (n_queries,)
            Only with `return_std`.
        cov : ndarray of shape (n_queries, n_queries)
            Only with `return_cov`.
        """
        check_is_fitted(self)
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std and return_cov may be true.")
        X = check_inputs(self, X, fitting=False)
        if self._columns_kept is not None:
            X = X[:, self._columns_kept]
        if return_cov:
            return self._mean_and_covariance(X)
        mean, variance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for batch in self._batches(X.shape[0], return_std):
            columns = self._fitted_basis(X[batch])
            mean[batch] = columns @ self.coef_ + self.intercept_
            if return_std:
                variance[batch] = self._variance(X[batch], columns)
        return (mean, np.sqrt(variance)) if return_std else mean

    def _batches(self, n: int, with_variance: bool) -> Iterator[slice]:
        """Slices of rows for which no array outgrows scikit-learn's working memory."""
        width, most = max(len(self.coef_), 1), n
        if with_variance and self._augmentation is not None:
            width += len(self._augmentation.X)
            most = min(n, self._augmentation.rows_at_once)
        affordable = int(get_config()["working_memory"] * 2**20) // (WORKING_COPIES * 8 * width)
        return gen_batches(n, min(most, max(affordable, 1)))

    def _variance(self, X: Any, columns: np.ndarray) -> np.ndarray:
        variance = self._result.variance(columns)
        if self._augmentation is not None:
            variance = variance + self._augmentation.extra_variance(X, columns)
        return variance

    def _mean_and_covariance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Joint mean and covariance σ²I + σ²/n + (Φ−φ̄)Σ(Φ−φ̄)ᵀ (the middle term with an intercept only)."""
        if self._augmentation is not None:
            raise ValueError(
                "return_cov has no meaning with variance='augmented': every query has a function of its own."
            )
        result, columns = self._result, self._fitted_basis(X)
        centred = columns - result.column_means
        covariance = centred @ result.covariance @ centred.T
        if result.has_intercept:
            covariance += result.noise_variance / result.n
        covariance[np.diag_indices_from(covariance)] += result.noise_variance
        return columns @ self.coef_ + self.intercept_, covariance
