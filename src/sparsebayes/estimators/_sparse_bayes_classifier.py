"""Sparse Bayesian classification with the columns of X, as LogisticRegression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes.bases import Columns
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._classification import SparseClassification, fit_labels, publish_classification
from sparsebayes.estimators._dask import fit_labels_on_dask
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._fitted import (
    Fitted,
    all_or_nothing,
    of_columns,
)
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._training import (
    Candidates,
    identify_rows,
    monitor_of,
)
from sparsebayes.rows.sources import is_dask


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SparseBayesClassifier(SparseClassification):
    """Sparse Bayesian logistic regression: the columns of X are the candidates, the evidence selects a few.

    f(x) = Σ_m w_m x_m + b, w_m ~ N(0, 1/α_m), with columns of its own for each output unless `groups` says
    otherwise; p(y|x) = 1/(1+exp(−f)) for two classes and softmax(f) with one output per class for more. The
    posterior is approximated by a Gaussian at its mode (Laplace), jointly for all outputs [T01, 3; TF03, 2.2].

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {relevance_}
    {relevance_vectors_}
    {coef_=coef_of_outputs_}
    {active_coef_=active_coef_of_outputs_}
    {intercept_=intercepts_}
    {alpha_}
    {gamma_}
    {degrees_of_freedom_}
    {terms_}
    {covariance_}
    {log_evidence_}
    {evidence_path_}
    {trace_}
    {candidates_}
    {n_iter_}
    {converged_}
    {certificate_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    RelevanceVectorClassifier : Kernel functions centred at the training points are the candidates.
    SparseBayesRegressor : The same for targets that are numbers.

    Notes
    -----
    X may be dense or SciPy-sparse; a sparse X is never densified, even with an intercept. The scale of a column
    does not matter. Columns that repeat an earlier one or its negative, and zero or (with an intercept) constant
    ones, are never selected. For every class against the rest use scikit-learn's `OneVsRestClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.standard_normal(200) > 0
    >>> SparseBayesClassifier(prior="bic").fit(X, y).relevance_
    array([4, 7])
    """

    @reports_to_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or SciPy-sparse matrix of shape (n_samples, n_features), or Dask array or dataframe
            Training inputs. The rows of a Dask collection stay where they are.
        y : array-like of shape (n_samples,)
            Labels of at least two classes: of any type that can be sorted, except real numbers that are not
            integers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero do not
            count; the classes are those of the rows that remain. Weights that sum to less than 2 cannot be
            counts, and are rescaled to a mean of 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        if is_dask(X):
            candidates, fitted = fit_labels_on_dask(self, X, y, sample_weight)
            self._publish_columns(candidates, fitted)
            return self
        monitor, rows = monitor_of(self), self._training_rows(X, y, sample_weight)
        identify_rows(monitor.journal, rows)
        rows, classes = self._ordered_rows(rows, kernel=False)
        candidates = Candidates.of(Columns().bind(rows.X), rows)
        self._publish_columns(candidates, fit_labels(self, candidates, rows, classes, monitor))
        return self

    def _publish_columns(self, candidates: Candidates, fitted: Fitted) -> None:
        """Set the fitted attributes of a model of columns."""
        active = fitted.of_weights(fitted.result.mean, 0.0)
        selected = candidates.numbers[np.unique(fitted.result.active)]
        coef = of_columns(active, selected, self.n_features_in_)
        publish_classification(self, candidates, fitted, coef_=coef, active_coef_=active)
