"""Sparse Bayesian regression: kernel functions (as SVR) or the columns of X (as ARDRegression)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sparsebayes._checks import warn
from sparsebayes.bases import BoundBasis, Columns
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import Result
from sparsebayes.core.units import NothingToModel
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._error_bars import (
    SMALL_BLOCK,
    AugmentedBars,
    ErrorBars,
    PosteriorBars,
    ProcessBars,
    check_centre,
)
from sparsebayes.estimators._fitted import Fitted, all_or_nothing, finite_at, forget, of_batches, of_columns, publish
from sparsebayes.estimators._model import SparseModel
from sparsebayes.estimators._order import row_order
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._parts import model_of_parts
from sparsebayes.estimators._predictions import drawn_targets, predicted_interval
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    bind_kernel,
    fit_candidates,
    fit_parameters,
    learn,
    learns,
    monitor_of,
    sorted_rows,
    training_rows,
    with_scales,
)
from sparsebayes.estimators._validation import check_inputs, check_noise, is_gaussian, require_rows
from sparsebayes.fit import fit
from sparsebayes.rows.known_noise import KnownNoise
from sparsebayes.rows.sources import RowSource, check_affordable, is_chunked, is_too_large
from sparsebayes.rows.triangle import Triangle
from sparsebayes.rows.validation import (
    LEAST_ROWS,
    ChunkCheck,
    check_targets,
    check_weights,
    constant_of,
    read_chunks,
    sliced_rows,
)
from sparsebayes.scale_learning import (
    GaussianEvidence,
    GaussianProcessPosterior,
    LearnedScales,
    input_relevance,
)
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import checked_variance

VARIANCES = ("auto", "posterior", "augmented", "gp")


@dataclass(eq=False, repr=False, kw_only=True)
class SparseRegression(RegressorMixin, SparseModel):
    """y = Φw + b + ε: the parameters that both regressors have, and their predictions."""

    likelihood: Any = "gaussian"
    noise_variance: float | None = None

    def _training_rows(self, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> Rows:
        """The rows of positive weight, validated."""
        X = check_inputs(self, X, fitting=True, least=LEAST_ROWS)
        y = check_targets(y, X.shape[0])
        noise = check_noise(self, noise_variance, len(y))
        rows = training_rows(self, X, y, check_weights(sample_weight, len(y)), noise)
        require_rows(rows.y)
        return rows

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
        mean : ndarray of shape (n_queries,)
            Predictive mean.
        std : ndarray of shape (n_queries,)
            Only with `return_std`.
        cov : ndarray of shape (n_queries, n_queries)
            Only with `return_cov`.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std and return_cov may be true.")
        check_is_fitted(self)
        fitted, bars = model_of_parts(self, parts, bool(return_std or return_cov))
        weights, intercept = fitted.result.mean, float(fitted.result.intercept[0])
        if return_cov:
            return finite_at(
                fitted.query(check_inputs(self, X, fitting=False)),
                lambda rows: ((columns := fitted.basis(rows)) @ weights + intercept, bars.covariance(rows, columns)),
            )
        if not return_std:
            return of_batches(self, X, len(weights), lambda rows: (fitted.basis.weighted(rows, weights) + intercept,))[
                0
            ]
        return of_batches(
            self,
            X,
            len(weights) + bars.n,
            lambda rows: ((columns := fitted.basis(rows)) @ weights + intercept, bars.std(rows, columns)),
            max(bars.n, SMALL_BLOCK) if bars.n else None,
        )

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
        lower, upper : ndarray of shape (n_queries,)
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
        ndarray of shape (n_queries, n_samples)
            A column is one draw of the targets of all rows; their covariance is that of `return_cov`.
        """
        return drawn_targets(self, X, n_samples, random_state, parts)


def _publish(model: Any, candidates: Candidates, fitted: Fitted, bars: ErrorBars, **more: Any) -> None:
    """Set the fitted attributes of a regressor; `more` are those that not both regressors have."""
    result = fitted.result
    common = {
        "_error_bars": bars,
        "intercept_": float(result.intercept[0]),
        "alpha_": result.alpha,
        "gamma_": result.gamma,
        "noise_variance_": getattr(result.likelihood, "variances", result.noise_variance),
        "noise_shape_": _noise_shape(result.likelihood),
    }
    publish(model, candidates, fitted, **(common | more))


def _noise_shape(likelihood: Any) -> float:
    """The shape p of the noise: 2 if it is Gaussian, NaN for a likelihood that is no noise, such as counts."""
    gaussian = isinstance(likelihood, GaussianNoise | KnownNoise)
    return 2.0 if gaussian else getattr(likelihood, "shape", math.nan)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class RelevanceVectorRegressor(SparseRegression):
    """Relevance vector machine: kernel regression with few kernel functions and error bars.

    One candidate function k(·, x_m) is centred at each training point x_m, and the evidence decides which
    to select: y = Σ_m w_m k(x, x_m) + b + ε, w_m ~ N(0, 1/α_m), ε ~ N(0, σ²) [T01; TF03].

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {relevance_}
    {relevance_vectors_}
    {dual_coef_}
    {intercept_}
    {alpha_}
    {gamma_}
    {degrees_of_freedom_}
    {covariance_}
    {noise_variance_}
    {noise_shape_}
    {excess_variance_}
    {components_}
    {log_evidence_}
    {evidence_path_}
    {trace_}
    {candidates_}
    {n_iter_}
    {converged_}
    {certificate_}
    {scales_}
    {input_relevance_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SparseBayesRegressor : The columns of X themselves are the candidates.

    Notes
    -----
    X must be dense. Rows that repeat one another give one candidate, the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RelevanceVectorRegressor
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> mean, std = RelevanceVectorRegressor().fit(X, y).predict(X, return_std=True)
    """

    kernel: Any = field(default="rbf", kw_only=False)
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    centres: Any = None
    variance: str = "auto"

    @reports_to_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs; the kernel matrix for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Training targets. If all are the same, the model is that constant, with a warning.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero do not
            count, nor as candidates. Weights that sum to less than 2 cannot be counts, and are rescaled to a
            mean of 1. Known noise is not a weight: 1/variance belongs into `noise_variance`, as variance.
        noise_variance : array-like of shape (n_samples,), optional
            The known noise variance σ_n² of each row, such as the squared standard errors of measurements, with
            likelihood="gaussian"; the parameter `noise_variance` is one value for all rows. The standard
            deviation of a prediction is then that of f, without noise, since that of a new row is unknown.
            `set_fit_request(noise_variance=True)` lets a cross-validation divide it like the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        monitor, rows = monitor_of(self), self._training_rows(X, y, sample_weight, noise_variance)
        if rows.columns is None and not get_tags(self).input_tags.pairwise:
            rows = sorted_rows(rows, *row_order(rows.X))
        bound = bind_kernel(self, rows)
        self._check_variance(bound, rows)
        candidates, learned, guess = Candidates.of(bound, rows), None, None
        if learns(self.gamma) and constant_of(rows.y) is None:
            learned = self._learn(bound, rows, monitor)
            candidates = Candidates.of(learned.bound, rows).without(learned.irrelevant)
            guess = learned.first_noise_variance
        result = fit_candidates(self, candidates, rows, monitor, initial_noise_variance=guess)
        fitted = Fitted.of(candidates, result, rows.columns)
        more = self._of_scales(bound, learned, fitted, rows)
        bars = self._bars(fitted, rows, learned, more["excess_variance_"])
        components = fitted.basis.contributions(rows.X, fitted.result.mean)
        components = None if components is None else rows.given(components)
        if rows.noise is not None:
            more["noise_variance_"] = rows.given(rows.noise)
        _publish(self, candidates, fitted, bars, dual_coef_=fitted.result.mean, components_=components, **more)
        return self

    def _learn(self, bound: BoundBasis, rows: Rows, monitor: FitMonitor) -> LearnedScales:
        """The functions at the scales of the largest evidence of the Gaussian process."""
        variance, known = checked_variance(self.noise_variance, "noise_variance"), rows.known_noise
        weights, variance = (rows.counts, variance) if known is None else (known.weights, known.common)
        evidence = GaussianEvidence(rows.y, weights, bool(self.fit_intercept), variance)
        return learn(self, bound, rows, evidence, monitor)

    def _of_scales(
        self, bound: BoundBasis, learned: LearnedScales | None, fitted: Fitted, rows: Rows
    ) -> dict[str, Any]:
        """The fitted attributes that say something of scales; `learned` is None if there was nothing to learn."""
        basis, result, excess = fitted.basis, fitted.result, 0.0
        if learned is None and learns(self.gamma):
            scales = np.exp(with_scales(self, bound).log_scales)
            return {"excess_variance_": 0.0, "scales_": scales, "input_relevance_": np.zeros(self.n_features_in_)}
        if learned is None:
            return {"excess_variance_": 0.0}
        if self.variance == "auto" and result.noise_variance > 0:  # else y and f do not compare
            excess = learned.excess_variance(result, basis(rows.X), rows.y, rows.weights)
        return {
            "scales_": np.exp(learned.bound.log_scales),
            "input_relevance_": input_relevance(basis, result.mean[:, None], rows.X, rows.y, rows.weights),
            "excess_variance_": excess,
        }

    def _check_variance(self, bound: BoundBasis, rows: Rows) -> None:
        if not (isinstance(self.variance, str) and self.variance in VARIANCES):
            raise ValueError(f"variance must be one of {list(VARIANCES)}, got {self.variance!r}.")
        if self.variance == "augmented":
            check_centre(bound, rows.X)
        if self.variance == "gp" and not learns(self.gamma):
            raise ValueError(f"variance='gp' needs gamma='evidence' or 'ard', got gamma={self.gamma!r}.")

    def _bars(self, fitted: Fitted, rows: Rows, learned: LearnedScales | None, excess: float) -> ErrorBars:
        """The error bars that `variance` asks for."""
        if self.variance == "augmented" and constant_of(rows.y) is None:
            return AugmentedBars.of(fitted, rows)
        if self.variance == "gp" and learned is not None:
            posterior = GaussianProcessPosterior.of(learned.process, learned.theta)
            return ProcessBars(posterior, fitted.result.noise_variance)
        return PosteriorBars(fitted.result, excess)


def _takes_statistics(model: SparseBayesRegressor) -> bool:
    """Whether statistics of the rows are enough: AttributeError unless the noise is Gaussian."""
    if not is_gaussian(model.likelihood):
        raise AttributeError(f"partial_fit needs Gaussian noise, got likelihood={model.likelihood!r}.")
    return True


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SparseBayesRegressor(SparseRegression):
    """Sparse Bayesian linear regression: the columns of X are the candidates, the evidence selects a few.

    y = Σ_m w_m x_m + b + ε, w_m ~ N(0, 1/α_m), ε ~ N(0, σ²) [T01; TF03], the model of automatic relevance
    determination.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {relevance_}
    {relevance_vectors_}
    {coef_}
    {active_coef_}
    {intercept_}
    {alpha_}
    {gamma_}
    {degrees_of_freedom_}
    {covariance_}
    {noise_variance_}
    {noise_shape_}
    {log_evidence_}
    {evidence_path_}
    {trace_}
    {candidates_}
    {n_iter_}
    {converged_}
    {certificate_}
    {statistics_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    RelevanceVectorRegressor : Kernel functions centred at the training points are the candidates.

    Notes
    -----
    X may be dense or SciPy-sparse; a sparse X is never densified, even with an intercept. The scale of a column
    does not matter. Columns that repeat an earlier one or its negative, and zero or (with an intercept) constant
    ones, are never selected. Rows may stay on disk, or come in chunks: see `fit` and `partial_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + 0.1 * np.random.default_rng(3).standard_normal(50)
    >>> SparseBayesRegressor(prior="bic").fit(X, y).relevance_
    array([4, 7])
    """

    @reports_to_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterable of chunks
            Training inputs, dense or SciPy-sparse. Arrays on disk (memory maps, HDF5 and zarr datasets:
            whatever has shape, dtype and rows by slicing) larger than a fourth of scikit-learn's
            `working_memory` are read a block of rows at a time. An iterable yields tuples (X, y) or
            (X, y, sample_weight), each with some of the rows or none; an iterator will do.
        y : array-like of shape (n_samples,)
            Training targets. If all are the same, the model is that constant, with a warning. None if X is an
            iterable of chunks.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero do not
            count. Weights that sum to less than 2 cannot be counts, and are rescaled to a mean of 1. Known noise
            is not a weight: 1/variance belongs into `noise_variance`, as variance.
        noise_variance : array-like of shape (n_samples,), optional
            The known noise variance σ_n² of each row, such as the squared standard errors of measurements, with
            likelihood="gaussian" and all rows in memory; the parameter `noise_variance` is one value for all rows.
            The standard deviation of a prediction is then that of f, without noise, since that of a new row is
            unknown.
            `set_fit_request(noise_variance=True)` lets a cross-validation divide it like the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        if is_chunked(X, y) or is_too_large(X):
            if noise_variance is not None:
                raise ValueError("noise_variance of fit must be None for chunks or rows on disk: load X first.")
            self._fit_statistics(self._read(X, y, sample_weight))
            return self
        rows = self._training_rows(X, y, sample_weight, noise_variance)
        candidates = Candidates.of(Columns().bind(rows.X), rows)
        self._publish_columns(candidates, fit_candidates(self, candidates, rows, monitor_of(self)))
        return self

    @available_if(_takes_statistics)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to these rows and all that `partial_fit` has seen before.

        The rows are not kept, only statistics whose size depends on the number of columns. The model is that
        of `fit` on all rows together, however they were divided. It is solved anew at every call: very many
        chunks are better given to `fit`, as an iterable. There is a model as soon as two rows differ in y.
        `fit` forgets the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further training inputs, dense, SciPy-sparse or on disk.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        self
            The estimator, fitted to all rows seen so far.
        """
        check_parameters(self)
        before: Triangle | None = getattr(self, "statistics_", None)
        if before is None and hasattr(self, "_fitted"):
            message = "partial_fit starts anew: fit keeps no statistics of the rows it has seen."
            warn(message)

        def check(X: Any, first: bool) -> Any:
            X = check_inputs(self, X, fitting=first)
            check_affordable(X.shape[1], "raise it for partial_fit.")
            return X

        chunks = sliced_rows(X, y, sample_weight) if is_too_large(X) else [(X, y, sample_weight)]
        checked = ChunkCheck(check, None if before is None else self.n_features_in_)
        rows = Triangle.of(RowSource(chunks, checked, may_be_empty=False), before)
        enough = rows is not None and rows.constant is None and rows.rows >= LEAST_ROWS
        try:
            if enough:
                self._fit_statistics(rows)
        except NothingToModel:  # so far: no column varies yet
            enough = False
        if not enough:
            forget(self)
        self.statistics_ = rows  # last: rows that could not be fitted were not seen
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The statistics of rows in chunks or on disk."""
        check = ChunkCheck(lambda inputs, first: check_inputs(self, inputs, fitting=first))
        rows = read_chunks(X, y, sample_weight, check)
        found = 0 if rows is None else rows.rows
        if rows is None or found < LEAST_ROWS:
            spent = " An iterator that was read before is empty." * (not found and isinstance(X, Iterator))
            raise ValueError(
                f"X has {found} sample(s) of positive weight, but at least {LEAST_ROWS} are required.{spent}"
            )
        return rows

    def _fit_statistics(self, statistics: Any) -> None:
        """Fit the model to rows whose statistics are known."""
        result = fit(statistics, prior=self.prior, **fit_parameters(self))
        bound = Columns().bind(np.empty((1, self.n_features_in_)))
        self._publish_columns(Candidates(bound, np.arange(bound.n_functions)), result)

    def _publish_columns(self, candidates: Candidates, result: Result) -> None:
        """Set the fitted attributes of a model of columns."""
        fitted = Fitted.of(candidates, result)
        result, active = fitted.result, fitted.result.mean
        coef = of_columns(active, candidates.numbers[result.active], self.n_features_in_)
        _publish(self, candidates, fitted, PosteriorBars(result), coef_=coef, active_coef_=active)
