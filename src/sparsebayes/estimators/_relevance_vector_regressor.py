"""Sparse Bayesian regression with kernel functions, as SVR."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags

from sparsebayes._array import all_finite, beside
from sparsebayes.bases import BoundBasis
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._dask_kernels import fit_kernel_regressor
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._error_bars import (
    AugmentedBars,
    ErrorBars,
    PosteriorBars,
    ProcessBars,
    check_centre,
)
from sparsebayes.estimators._fitted import Fitted, all_or_nothing
from sparsebayes.estimators._order import row_order
from sparsebayes.estimators._outputs import fit_each, groups_of_outputs, names_outputs, of_outputs
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._range import TrainingRange
from sparsebayes.estimators._regression import SparseRegression, publish_regression
from sparsebayes.estimators._scales import fit_from_guess, learn_for_targets, scales_of_targets
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    bind_kernel,
    fit_candidates,
    gamma_of,
    identify_rows,
    learns,
    monitor_of,
    sorted_rows,
)
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.validation import (
    constant_of,
)
from sparsebayes.scale_learning import (
    GaussianProcessPosterior,
    LearnedScales,
)

VARIANCES = ("auto", "posterior", "augmented", "gp")


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
    gamma: Any = None
    degree: int = 3
    coef0: float = 0.0
    centres: Any = None
    variance: str = "auto"

    @reports_to_callbacks
    @all_or_nothing
    @names_outputs
    def fit(self, X: Any, y: Any, sample_weight: Any = None, noise_variance: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Dask array or dataframe
            Training inputs; the kernel matrix for kernel="precomputed". More than 16 000 rows of a Dask collection
            stay where they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets. If all are the same, the model is that constant, with a warning. Several outputs share
            their functions unless `joint=False`; on Dask there is one.
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
        members = groups_of_outputs(self, y)
        if members is not None:
            return fit_each(self, X, y, members, sample_weight=sample_weight, noise_variance=noise_variance)
        if is_dask(X):
            return fit_kernel_regressor(self, X, y, sample_weight, noise_variance)
        monitor, rows = monitor_of(self), self._training_rows(X, y, sample_weight, noise_variance)
        identify_rows(monitor.journal, rows)
        if rows.columns is None and not get_tags(self).input_tags.pairwise:
            rows = sorted_rows(rows, *row_order(rows.X))
        bound = bind_kernel(self, rows)
        self._check_variance(bound, rows)
        candidates, learned, guess = Candidates.of(bound, rows), None, None
        if learns(gamma_of(self)) and constant_of(rows.y) is None:
            learned = learn_for_targets(self, bound, rows, monitor)
            candidates = Candidates.of(learned.bound, rows).without(learned.irrelevant)
            guess = learned.first_noise_variance
        result = fit_from_guess(partial(fit_candidates, self, candidates, rows, monitor), int(rows.y.shape[0]), guess)
        _require_variances(result.covariance, self.kernel)
        fitted = Fitted.of(candidates, result, int(rows.y.shape[0]), rows.columns)
        more = scales_of_targets(self, bound, learned, fitted, rows)
        bars = self._bars(fitted, rows, learned, more["excess_variance_"])
        self._publish(candidates, fitted, bars, rows, more)
        return self

    def _publish(
        self, candidates: Candidates, fitted: Fitted, bars: ErrorBars, rows: Rows, more: dict[str, Any]
    ) -> None:
        """Set the fitted attributes; `more` are those that say something of scales."""
        weights = fitted.result.mean
        selected = fitted.basis.beside(rows.X)
        components = selected.contributions(rows.X, beside(weights, rows.X)) if weights.ndim == 1 else None
        components = None if components is None else rows.given(components)
        if rows.noise is not None:
            more["noise_variance_"] = rows.given(rows.noise)
        if isinstance(rows.X, np.ndarray):
            relevance, names = more.get("input_relevance_"), getattr(self, "feature_names_in_", None)
            more["_range"] = TrainingRange.of(fitted.basis, rows.X, relevance, names)
        publish_regression(
            self, candidates, fitted, bars, dual_coef_=of_outputs(weights), components_=components, **more
        )

    def _check_variance(self, bound: BoundBasis, rows: Rows) -> None:
        if not (isinstance(self.variance, str) and self.variance in VARIANCES):
            raise ValueError(f"variance must be one of {list(VARIANCES)}, got {self.variance!r}.")
        if rows.y.ndim == 2 and self.variance not in ("auto", "posterior"):
            raise ValueError(
                f"variance must be 'auto' or 'posterior' for outputs that share their functions, got {self.variance!r}."
            )
        if self.variance == "augmented":
            check_centre(bound, rows.X)
        if self.variance == "gp" and not learns(gamma_of(self)):
            raise ValueError(f"variance='gp' needs gamma='evidence' or 'ard', got gamma={self.gamma!r}.")

    def _bars(self, fitted: Fitted, rows: Rows, learned: LearnedScales | None, excess: float) -> ErrorBars:
        """The error bars that `variance` asks for."""
        if self.variance == "augmented" and constant_of(rows.y) is None:
            return AugmentedBars.of(fitted, rows)
        if self.variance == "gp" and learned is not None:
            posterior = GaussianProcessPosterior.of(learned.process, learned.theta)
            return ProcessBars(posterior, fitted.result.noise_variance)
        return PosteriorBars(fitted.result, excess)


def _require_variances(covariance: Any, kernel: Any) -> None:
    """Raise ValueError for weights whose variances are too large to be numbers."""
    if not all_finite(covariance.data if hasattr(covariance, "tocoo") else covariance):
        raise ValueError(
            f"kernel={kernel!r} has functions so small at the rows of X that the variances of their weights leave the "
            "range of floating point: rescale X, and see that no row has a value far larger than all others."
        )
