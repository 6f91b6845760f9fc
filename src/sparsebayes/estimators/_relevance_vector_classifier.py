"""Sparse Bayesian classification with kernel functions, as SVC."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags

from sparsebayes._array import to_numpy
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._classification import SparseClassification, fit_labels, publish_classification
from sparsebayes.estimators._dask_kernels import fit_kernel_classifier
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._fitted import (
    Fitted,
    all_or_nothing,
)
from sparsebayes.estimators._moderation import Coverage, Moderation, sparse_process
from sparsebayes.estimators._order import ClassOrder
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._scales import learn_for_labels, scales_of_labels
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    bind_kernel,
    gamma_of,
    identify_rows,
    learns,
    monitor_of,
)
from sparsebayes.rows.sources import is_dask


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class RelevanceVectorClassifier(SparseClassification):
    """Relevance vector machine: kernel classification with few kernel functions and probabilities.

    One candidate function k(·, x_m) is centred at each training point x_m, and the evidence decides which to
    select, for each output on its own unless `groups` says otherwise: f(x) = Σ_m w_m k(x, x_m) + b,
    w_m ~ N(0, 1/α_m), p(y|x) = 1/(1+exp(−f)) for two classes and softmax(f) with one output per class for more.
    The posterior is approximated by a Gaussian at its mode (Laplace), jointly for all outputs [T01, 3; TF03, 2.2].

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {relevance_}
    {relevance_vectors_}
    {dual_coef_=dual_coef_of_outputs_}
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
    {scales_}
    {input_relevance_}
    {probability_vectors_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SparseBayesClassifier : The columns of X themselves are the candidates.
    RelevanceVectorRegressor : The same for targets that are numbers.

    Notes
    -----
    X must be dense. Rows that repeat one another give one candidate, the first of them. For every class against
    the rest use scikit-learn's `OneVsRestClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RelevanceVectorClassifier
    >>> X = np.random.default_rng(0).uniform(-2, 2, (200, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 2, "inside", "outside")
    >>> model = RelevanceVectorClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array(['inside', 'outside'], dtype='<U7')
    >>> len(model.relevance_) < 10
    True
    """

    kernel: Any = field(default="rbf", kw_only=False)
    gamma: Any = None
    degree: int = 3
    coef0: float = 0.0
    centres: Any = None
    calibrated: bool = True

    @reports_to_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Dask array or dataframe
            Training inputs; the kernel matrix for kernel="precomputed". More than 16 000 rows of a Dask collection
            stay where they are.
        y : array-like of shape (n_samples,)
            Labels of at least two classes: of any type that can be sorted, except real numbers that are not
            integers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero do not
            count, nor as candidates; the classes are those of the rows that remain. Weights that sum to less
            than 2 cannot be counts, and are rescaled to a mean of 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        if is_dask(X):
            return fit_kernel_classifier(self, X, y, sample_weight)
        monitor, rows = monitor_of(self), self._training_rows(X, y, sample_weight)
        identify_rows(monitor.journal, rows)
        rows, classes = self._ordered_rows(rows, kernel=True)
        bound, shared = bind_kernel(self, rows), False
        if learns(gamma_of(self)):
            bound, shared = learn_for_labels(self, bound, rows, monitor)
        candidates = Candidates.of(bound, rows)
        fitted = fit_labels(self, candidates, rows, classes, monitor)
        moderation = self._moderation(candidates, fitted, rows, classes)
        fitted = replace(fitted, moderation=moderation)
        more = scales_of_labels(self, bound, fitted, rows, shared)
        if moderation.process is not None:
            more["probability_vectors_"] = np.sort(candidates.numbers[moderation.process.functions])
        publish_classification(self, candidates, fitted, dual_coef_=fitted.of_weights(fitted.result.mean, 0.0), **more)
        return self

    def _moderation(self, candidates: Candidates, fitted: Fitted, rows: Rows, classes: ClassOrder) -> Moderation:
        """What the probabilities rest on: where the data are and, if scales are learned, the Gaussian process."""
        bound, result, process = candidates.bound, fitted.result, None
        shares = np.bincount(to_numpy(rows.y), to_numpy(rows.counts))[np.argsort(classes.places)]
        if get_tags(self).input_tags.pairwise:
            return Moderation()
        if learns(gamma_of(self)) and self.calibrated and result.outputs == 1 and self.centres is None:
            process = sparse_process(bound, rows, bool(self.fit_intercept), result.active)
        if process is not None and classes.places[0]:  # the process has the classes in the order of the fit
            process = process.negated()
        return Moderation(process, Coverage.of(bound, rows.X, shares / shares.sum()))
