"""Sparse Bayesian regression with the columns of X, as ARDRegression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from sparsebayes._array import is_foreign
from sparsebayes._checks import warn
from sparsebayes.bases import Columns
from sparsebayes.core.result import Result
from sparsebayes.core.units import NothingToModel
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._dask import read_dask, remaining_options
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._error_bars import (
    PosteriorBars,
)
from sparsebayes.estimators._fitted import KEPT, Fitted, all_or_nothing, forget, of_columns, require_same_kind
from sparsebayes.estimators._outputs import fit_each, fit_members, groups_of_outputs, names_outputs, of_outputs
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._regression import SparseRegression, publish_regression
from sparsebayes.estimators._training import (
    HOST,
    Candidates,
    fit_candidates,
    identify_rows,
    monitor_of,
    prior_of,
)
from sparsebayes.estimators._validation import check_inputs, check_noise, is_gaussian
from sparsebayes.fit import fit
from sparsebayes.rows.devices import result_beside
from sparsebayes.rows.sources import RowSource, check_affordable, is_chunked, is_dask, is_too_large
from sparsebayes.rows.triangle import Triangle
from sparsebayes.rows.validation import (
    LEAST_ROWS,
    ChunkCheck,
    has_outputs,
    read_chunks,
    read_known_noise,
    require_targets,
    sliced_rows,
)
from sparsebayes.solvers.monitor import FitMonitor


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

    prior: Any = "auto"
    unpenalised: Any = None

    @reports_to_callbacks
    @all_or_nothing
    @names_outputs
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), iterable of chunks, or Dask array or dataframe
            Training inputs, dense or SciPy-sparse. Arrays on disk (memory maps, HDF5 and zarr datasets:
            whatever has shape, dtype and rows by slicing) larger than a fourth of scikit-learn's
            `working_memory` are read a block of rows at a time. An iterable yields tuples (X, y) or
            (X, y, sample_weight), each with some of the rows or none; an iterator will do. The rows of a Dask
            collection stay where they are, and only their statistics are fetched.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets. If all are the same, the model is that constant, with a warning. None if X is an
            iterable of chunks. Several outputs share their columns unless `joint=False`.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero do not
            count. Weights that sum to less than 2 cannot be counts, and are rescaled to a mean of 1. Known noise
            is not a weight: 1/variance belongs into `noise_variance`, as variance.
        noise_variance : array-like of shape (n_samples,), optional
            The known noise variance σ_n² of each row, such as the squared standard errors of measurements, with
            likelihood="gaussian"; for arrays and Dask collections, not for an iterable of chunks. The parameter
            `noise_variance` is one value for all rows. The standard deviation of a prediction is then that of f,
            without noise, since that of a new row is unknown.
            `set_fit_request(noise_variance=True)` lets a cross-validation divide it like the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        members = groups_of_outputs(self, y)
        if members is not None and is_dask(X):  # one pass for all outputs
            monitor = monitor_of(self)
            rows = self._read(X, y, sample_weight, noise_variance, monitor)
            return fit_members(
                self, members, lambda own, outputs: own._of_read_rows(self, rows.of_outputs(outputs), monitor)
            )
        if members is not None:
            return fit_each(self, X, y, members, sample_weight=sample_weight, noise_variance=noise_variance)
        monitor = monitor_of(self)
        if is_dask(X) or is_chunked(X, y) or is_too_large(X):
            self._fit_statistics(self._read(X, y, sample_weight, noise_variance, monitor), monitor)
            return self
        rows = self._training_rows(X, y, sample_weight, noise_variance)
        identify_rows(monitor.journal, rows)
        candidates = Candidates.of(Columns().bind(rows.X), rows)
        result = fit_candidates(self, candidates, rows, monitor)
        self._publish_columns(candidates, result, int(rows.y.shape[0]))
        return self

    @available_if(_takes_statistics)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to these rows and all that `partial_fit` has seen before.

        The rows are not kept, only statistics whose size depends on the number of columns. The model is that
        of `fit` on all rows together, however they were divided. It is solved anew at every call: very many
        chunks are better given to `fit`, as an iterable. There is a model as soon as two rows differ in y.
        `fit` forgets the rows. The parameter `checkpoint` is not used here.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Dask array or dataframe
            Further training inputs, dense, SciPy-sparse, on disk or on Dask.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets, of as many outputs at every call.
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

        monitor = monitor_of(self, kept=False)
        rows = self._joined(before, X, y, sample_weight, monitor)
        enough = rows is not None and rows.constant is None and rows.rows >= LEAST_ROWS
        try:
            if enough:
                self._fit_statistics(rows, monitor)
        except NothingToModel:  # so far: no column varies yet
            enough = False
        if not enough:
            forget(self)
        self.statistics_ = rows  # last: rows that could not be fitted were not seen
        return self

    def _joined(
        self, before: Triangle | None, X: Any, y: Any, sample_weight: Any, monitor: FitMonitor
    ) -> Triangle | None:
        """The statistics of the rows seen before and of further ones."""
        outputs = int(np.shape(y)[1]) if has_outputs(y) else 1
        if before is not None:
            require_same_kind(self, X, "partial_fit")
        if before is not None and before.outputs != outputs:
            raise ValueError(f"y must have {before.outputs} output(s) as in earlier calls, got {outputs}.")
        if is_dask(X):
            require_targets(y)
            rows = read_dask(self, X, y, sample_weight, monitor, reset=before is None)
            return before if rows is None else rows if before is None else before + rows

        def check(X: Any, first: bool) -> Any:
            X = check_inputs(self, X, fitting=first)
            check_affordable(X.shape[1], "raise it for partial_fit.")
            return X

        chunks = sliced_rows(X, y, sample_weight) if is_too_large(X) else [(X, y, sample_weight)]
        checked = ChunkCheck(check, None if before is None else self.n_features_in_)
        return Triangle.of(RowSource(chunks, checked, may_be_empty=False), before, outputs)

    def _read(self, X: Any, y: Any, sample_weight: Any, noise_variance: Any, monitor: FitMonitor) -> Any:
        """The statistics of rows in chunks, on disk or on Dask."""
        if is_dask(X):
            require_targets(y)
            rows = read_dask(self, X, y, sample_weight, monitor, noise_variance)
        else:
            check = ChunkCheck(lambda inputs, first: check_inputs(self, inputs, fitting=first))
            noise = check_noise(self, noise_variance, X.shape[0]) if is_too_large(X) else noise_variance
            if noise is not None:
                return read_known_noise(X, y, sample_weight, noise, check, ("X", "noise_variance of fit"))
            rows = read_chunks(X, y, sample_weight, check)
        found = 0 if rows is None else rows.rows
        if rows is None or found < LEAST_ROWS:
            spent = " An iterator that was read before is empty." * (not found and isinstance(X, Iterator))
            raise ValueError(
                f"X has {found} sample(s) of positive weight, but at least {LEAST_ROWS} are required.{spent}"
            )
        return rows

    def _of_read_rows(self, reader: Any, statistics: Any, monitor: FitMonitor) -> Self:
        """Itself, fitted to rows that another estimator has read."""
        for name in [name for name in KEPT if hasattr(reader, name)]:
            setattr(self, name, getattr(reader, name))
        self._fit_statistics(statistics, monitor)
        return self

    def _fit_statistics(self, statistics: Any, monitor: FitMonitor) -> None:
        """Fit the model to rows whose statistics are known, in the time that is left."""
        bound = Columns().bind(np.empty((1, self.n_features_in_)))
        result = fit(statistics, prior=prior_of(self, bound), **remaining_options(self, monitor))
        kind = result.mean[:0, ...] if is_foreign(result.mean) else None  # that of the chunks
        candidates = Candidates(bound, np.arange(bound.n_functions), kind)
        self._publish_columns(candidates, result_beside(result, HOST), statistics.rows)

    def _publish_columns(self, candidates: Candidates, result: Result, n_rows: int) -> None:
        """Set the fitted attributes of a model of columns."""
        fitted = Fitted.of(candidates, result, n_rows)
        result, active = fitted.result, fitted.result.mean
        active = of_outputs(active)
        coef = of_columns(active, candidates.numbers[result.active], self.n_features_in_)
        publish_regression(self, candidates, fitted, PosteriorBars(result), coef_=coef, active_coef_=active)
