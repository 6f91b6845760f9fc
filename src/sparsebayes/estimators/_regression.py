"""What both regressors share: targets that are numbers, and predictions with their uncertainty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sparsebayes import inference
from sparsebayes.estimators._base import SparseBayesModel
from sparsebayes.estimators._validation import check_something_to_model, check_targets
from sparsebayes.estimators._variances import QueryVariance
from sparsebayes.inference import Result


class RegressionModel(RegressorMixin, SparseBayesModel):
    """t = Φw + b + ε, ε ~ N(0, σ²)."""

    noise_variance: float | None
    noise_prior: tuple[float, float] | None
    noise_shape: float | str
    _own_variance: QueryVariance | None = None  # where it is not that of the sparse model
    _first_noise: float | None = None  # where the noise starts, where something is known of it

    @property
    def _excess(self) -> float:
        """Variance of a new target beyond that of the sparse model, at all queries alike."""
        return 0.0

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
        return self._fit(X, y, sample_weight)

    def _check_targets(self, y: Any, n: int) -> np.ndarray:
        return check_targets(y, n, self)

    def _targets_to_model(self, y: np.ndarray) -> np.ndarray:
        check_something_to_model(y)
        return y

    def _infer(self, operator: Any, y: np.ndarray | None, weights: np.ndarray | None) -> Result:
        return inference.fit(
            operator,
            y,
            noise_variance=self.noise_variance,
            noise_prior=self.noise_prior,
            noise_shape=self.noise_shape,
            first_noise_variance=self._first_noise,
            sample_weight=weights,
            **self._inference_options(),
        )

    def _store(self, result: Result) -> None:
        self.coef_ = result.mean
        self.intercept_ = result.intercept
        self.alpha_ = result.alpha
        self.noise_variance_ = result.noise_variance
        self.noise_shape_ = result.noise_shape

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        self.__dict__.pop("components_", None)
        contributions = self._fitted_basis.contributions(X, self.coef_)
        if contributions is not None:
            self.components_ = contributions

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the targets, with the uncertainty of the prediction where asked for.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        return_std : bool, default=False
            Whether to return the standard deviation of a new target at each row of X: the noise, the weights'
            and the intercept's share, √(σ² + φᵀΣφ) and with an intercept √(σ² + σ²/n + (φ−φ̄)ᵀΣ(φ−φ̄)), where
            rows count by their curvature if the noise is not Gaussian. A kernel that learned its scales has a
            share for the functions it left out as well (`variance`).
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
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std and return_cov may be true.")
        if return_cov:
            return self._mean_and_covariance(self._queries(X))
        check_is_fitted(self)
        means, variances = [], []
        for rows in self._query_batches(X, *self._needs(return_std)):
            if not return_std:
                means.append(self._fitted_basis.weighted(rows, self.coef_) + self.intercept_)
                continue
            columns = self._fitted_basis(rows)
            means.append(columns @ self.coef_ + self.intercept_)
            variances.append(self._variance(rows, columns))
        mean = np.concatenate(means)
        return (mean, np.sqrt(np.concatenate(variances))) if return_std else mean

    def _needs(self, with_variance: bool) -> tuple[int, int | None]:
        """Numbers a query needs, and how many queries may be taken at a time (None: any)."""
        width = len(self.coef_)
        if with_variance and self._own_variance is not None:
            return width + self._own_variance.n, self._own_variance.rows_at_once
        return width, None

    def _variance(self, X: Any, columns: np.ndarray) -> np.ndarray:
        if self._own_variance is not None:
            return self._own_variance.variance(X, columns)
        return self._result.variance(columns) + self._excess

    def _mean_and_covariance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Joint mean and covariance σ²I + σ²/n + (Φ−φ̄)Σ(Φ−φ̄)ᵀ (the middle term with an intercept only).

        The excess over the variance of the sparse model, where there is one, is on the diagonal.
        """
        result, columns = self._result, self._fitted_basis(X)
        if self._own_variance is not None:
            return columns @ self.coef_ + self.intercept_, self._own_variance.covariance(X)
        centred = columns - result.column_means
        covariance = centred @ result.covariance @ centred.T
        covariance += result.intercept_variance
        covariance[np.diag_indices_from(covariance)] += result.noise_variance + self._excess
        return columns @ self.coef_ + self.intercept_, covariance
