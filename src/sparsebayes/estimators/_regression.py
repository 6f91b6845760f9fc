"""What the two regressors share: parameters, predictions and fitted attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from sparsebayes.core.noise import GaussianNoise
from sparsebayes.estimators._dask import predicts_lazily, refuse_dask
from sparsebayes.estimators._error_bars import (
    SMALL_BLOCK,
    ErrorBars,
)
from sparsebayes.estimators._fitted import (
    Fitted,
    check_range,
    finite_at,
    of_batches,
    on_host,
    publish,
)
from sparsebayes.estimators._model import SparseModel
from sparsebayes.estimators._outputs import intercept_of, noise_of, predict_each
from sparsebayes.estimators._parts import model_of_parts
from sparsebayes.estimators._predictions import drawn_targets, predicted_interval
from sparsebayes.estimators._sparsity_path import SparsityPath, sparsity_path
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    training_rows,
)
from sparsebayes.estimators._validation import check_inputs, check_noise, is_gaussian, like_of, require_rows
from sparsebayes.rows.kinds import follows
from sparsebayes.rows.known_noise import NoiseOfRows
from sparsebayes.rows.validation import (
    LEAST_ROWS,
    check_outputs,
    check_targets,
    check_weights,
    has_outputs,
)


@dataclass(eq=False, repr=False, kw_only=True)
class SparseRegression(RegressorMixin, SparseModel):
    """y = Φw + b + ε: the parameters that both regressors have, and their predictions."""

    effort: Any = "default"
    likelihood: Any = "gaussian"
    noise_variance: float | None = None
    max_vectors: int | None = None
    groups: Any = None
    joint: bool = True
    shared_noise: bool = False

    def _training_rows(self, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> Rows:
        """The rows of positive weight, validated."""
        X = check_inputs(self, X, fitting=True, least=LEAST_ROWS)
        n, like = int(X.shape[0]), like_of(X)
        y = check_outputs(y, n, like) if has_outputs(y) else check_targets(y, n, like=like)
        noise = check_noise(self, noise_variance, n, like)
        rows = training_rows(self, X, y, check_weights(sample_weight, n, like=like), noise)
        require_rows(rows.y)
        return rows

    @predicts_lazily
    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, parts: Any = None) -> Any:
        """Predict the targets, with the uncertainty of the prediction if wanted.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        return_std : bool, default=False
            Whether to return the standard deviation of a new target at each row of X: the noise, the weights'
            and the intercept's share, √(σ² + φᵀΣφ) and with an intercept √(σ² + σ²/n + (φ−φ̄)ᵀΣ(φ−φ̄)), where
            rows count by their curvature if the noise is not Gaussian; a kernel machine's parameter `variance`
            says what else is in it. If `fit` was given the noise variance of each row, that of a new one is
            unknown: the standard deviation is that of f, without noise.
        return_cov : bool, default=False
            Whether to return the covariance of new targets at all rows jointly; its diagonal is the square
            of the standard deviation.
        parts : list of int, str or Basis, optional
            If the kernel is a concatenation of bases, the parts that predict, with the intercept: their numbers
            from 0 on, their names "part0", "part1", …, or the bases themselves. `predict(X, parts=[0, 1])` of
            `Wavelet() + DCT() + Spike()` has no outliers in it. The variance is that of these parts, the
            intercept and the noise. None for all parts.

        Returns
        -------
        mean : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Predictive mean.
        std : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Only with `return_std`.
        cov : ndarray of shape (n_queries, n_queries) or (n_queries, n_queries, n_outputs)
            Only with `return_cov`.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std and return_cov may be true.")
        check_is_fitted(self)
        if hasattr(self, "estimators_"):
            return predict_each(self, X, return_std, return_cov, parts)
        fitted, bars = model_of_parts(self, parts, X, bool(return_std or return_cov))
        weights, intercept = fitted.result.mean, intercept_of(fitted.result)
        if return_cov:
            whole = check_inputs(self, X, fitting=False)
            check_range(self, whole)
            return finite_at(
                fitted.query(whole),
                lambda rows: ((columns := fitted.basis(rows)) @ weights + intercept, bars.covariance(rows, columns)),
            )
        if not return_std:
            together = fitted.basis.weighted if weights.ndim == 1 else lambda rows, w: fitted.basis(rows) @ w
            return of_batches(self, X, weights.shape[0], lambda rows: (together(rows, weights) + intercept,))[0]
        return of_batches(
            self,
            X,
            weights.shape[0] + bars.n,
            lambda rows: ((columns := fitted.basis(rows)) @ weights + intercept, bars.std(rows, columns)),
            max(bars.n, SMALL_BLOCK) if bars.n else None,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            The targets there.
        sample_weight : array-like of shape (n_queries,), optional
            How often each row counts.

        Returns
        -------
        float
            1 less the mean square error, divided by the variance of y.
        """
        if not follows(X):
            return super().score(X, y, sample_weight)
        targets, predicted, weights = map(on_host, (y, self.predict(X), sample_weight))
        return float(r2_score(targets, predicted, sample_weight=weights))

    @predicts_lazily
    def predict_interval(self, X: Any, level: float = 0.95, parts: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The interval that contains a new target with a given probability, with equal tails on both sides.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        level : float, default=0.95
            The probability, between 0 and 1.
        parts : list of int, str or Basis, optional
            The parts of a concatenation of bases that predict, as in `predict`; None for all parts.

        Returns
        -------
        lower, upper : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            The bounds of the interval of each row: quantiles of the predictive distribution, which is Gaussian
            for Gaussian noise, and the noise averaged over the posterior of f for `GeneralizedNormal` noise.
        """
        return predicted_interval(self, X, level, parts)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None, parts: Any = None) -> np.ndarray:
        """Draw new targets at all rows of X jointly from the predictive distribution, noise included.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to draw.
        n_samples : int, default=1
            Samples at each row.
        random_state : int, RandomState instance or None, default=None
            Seed; an integer for the same samples at every call.
        parts : list of int, str or Basis, optional
            The parts of a concatenation of bases that predict, as in `predict`; None for all parts.

        Returns
        -------
        ndarray of shape (n_queries, n_samples) or (n_queries, n_outputs, n_samples)
            A column is one draw of the targets of all rows; their covariance is that of `return_cov`.
        """
        refuse_dask(X, "sample_y draws all rows of X jointly, and X is a Dask collection")
        return drawn_targets(self, X, n_samples, random_state, parts)

    def path(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> SparsityPath:
        """The nested models from one function to all that were selected: what a smaller model would cost.

        A model of one of these sizes is fitted by `max_vectors`; it has functions of its own, and is better than the
        one on the path. `sparsebayes.inspection.SparsityPathDisplay` draws the path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs of `fit`; the kernel matrix for kernel="precomputed".
        y : array-like of shape (n_samples,)
            The targets of `fit`.
        sample_weight, noise_variance : array-like of shape (n_samples,), optional
            Those of `fit`.

        Returns
        -------
        SparsityPath
            Size, log evidence, leave-one-out error and noise variance of each model, and the order of the functions.
        """
        refuse_dask(X, "path needs all rows of X in memory, and X is a Dask collection")
        return sparsity_path(self, X, y, sample_weight, noise_variance)

    def __sklearn_tags__(self) -> Any:
        """y may have several outputs; those that share their functions need Gaussian noise and its own error bars."""
        tags = super().__sklearn_tags__()
        plain = is_gaussian(self.likelihood) and getattr(self, "variance", "auto") in ("auto", "posterior")
        tags.target_tags.multi_output = plain or not self.joint
        return tags


def publish_regression(model: Any, candidates: Candidates, fitted: Fitted, bars: ErrorBars, **more: Any) -> None:
    """Set the fitted attributes of a regressor; `more` are those that not both regressors have."""
    result = fitted.result
    common = {
        "_error_bars": bars,
        "_range": None,
        "intercept_": intercept_of(result),
        "alpha_": result.alpha,
        "gamma_": result.gamma,
        "noise_variance_": getattr(result.likelihood, "variances", noise_of(result)),
        "noise_shape_": _noise_shape(result.likelihood),
    }
    publish(model, candidates, fitted, **(common | more))


def _noise_shape(likelihood: Any) -> float:
    """The shape p of the noise: 2 if it is Gaussian, NaN for a likelihood that is no noise, such as counts."""
    gaussian = isinstance(likelihood, GaussianNoise | NoiseOfRows)
    return 2.0 if gaussian else getattr(likelihood, "shape", math.nan)
