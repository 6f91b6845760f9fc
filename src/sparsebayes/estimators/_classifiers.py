"""Sparse Bayesian classification: kernel functions (as SVC) or the columns of X (as LogisticRegression)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import asfloat64, beside, columns_at, is_foreign, namespace, take, to_numpy
from sparsebayes.bases import BoundBasis, Columns
from sparsebayes.estimators._callbacks import reports_to_callbacks
from sparsebayes.estimators._classes import check_labels, require_two_classes, weigh_classes
from sparsebayes.estimators._dask import fit_labels_on_dask, predicts_lazily
from sparsebayes.estimators._dask_kernels import fit_kernel_classifier
from sparsebayes.estimators._docs import documented
from sparsebayes.estimators._fitted import (
    Fitted,
    all_or_nothing,
    of_batches,
    of_columns,
    on_host,
    publish,
)
from sparsebayes.estimators._model import SparseModel
from sparsebayes.estimators._moderation import Coverage, Moderation, sparse_process
from sparsebayes.estimators._order import ClassOrder, row_order
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    bind_kernel,
    fit_candidates,
    gamma_of,
    identify_rows,
    learn,
    learns,
    monitor_of,
    sorted_rows,
    training_rows,
)
from sparsebayes.estimators._validation import check_inputs, like_of
from sparsebayes.laplace import Bernoulli, Multinomial, check_class_groups, link_inputs, number_classes
from sparsebayes.rows.kinds import follows
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.validation import LEAST_ROWS, check_weights
from sparsebayes.scale_learning import LaplaceEvidence, input_relevance, learn_scales
from sparsebayes.solvers.monitor import FitMonitor


@dataclass(eq=False, repr=False, kw_only=True)
class SparseClassification(ClassifierMixin, SparseModel):
    """p(y|x) = link(Φw + b): the parameters that both classifiers have, and their predictions."""

    class_weight: Any = None
    groups: Any = None
    moderated: bool = True
    polish: bool = False

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The rows of positive weight, validated, of at least two classes."""
        X = check_inputs(self, X, fitting=True, least=LEAST_ROWS)
        n, like = int(X.shape[0]), like_of(X)
        y = check_labels(y, n, like)
        weights = weigh_classes(self.class_weight, y, check_weights(sample_weight, n, like=like))
        weights = weights if weights is None or like is None else asfloat64(weights, like=like)
        rows = training_rows(self, X, y, weights)
        require_two_classes(rows.y)
        return rows

    def _ordered_rows(self, rows: Rows, kernel: bool) -> tuple[Rows, ClassOrder]:
        """The rows with their classes as numbers, and what these mean; the rows of a kernel are sorted.

        Of a kernel matrix, whose rows are no points, the order stays as it is. So does that of columns, which
        only enter into sums.
        """
        pairwise = get_tags(self).input_tags.pairwise
        if is_foreign(rows.X) and not kernel:
            classes = ClassOrder.on_device(rows.X, rows.y, rows.weights)
            check_class_groups(self.groups, classes.outputs)
            return replace(rows, y=classes.codes), classes
        order, group = (rows.places, rows.places) if pairwise else row_order(rows.X)
        weights = None if rows.weights is None else to_numpy(rows.weights)
        classes = ClassOrder.of(to_numpy(rows.y), weights, order, group)
        check_class_groups(self.groups, classes.outputs)
        rows = replace(rows, y=beside(classes.codes, rows.X) if is_foreign(rows.X) else classes.codes)
        return (sorted_rows(rows, order, group) if kernel and not pairwise else rows), classes

    @predicts_lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """The outputs that the probabilities are made of; they order the classes as those do.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_classes)
            Two classes: the log odds of `classes_[1]`, positive where that is predicted. More: for each class
            the logarithm of its probability, up to a constant of the row. With `moderated=False` these are
            the outputs Φw + b at the most probable weights.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    @predicts_lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; averaged over the posterior of the weights if `moderated`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            In the order of `classes_`.
        """
        log_p = self.predict_log_proba(X)
        return namespace(log_p).exp(log_p)

    @predicts_lazily
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of the classes, finite where a probability rounds to 0 or 1.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            In the order of `classes_`.
        """
        outputs = self._outputs(X)
        return self._fitted.result.likelihood.log_probabilities(outputs)

    @predicts_lazily
    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest `predict_proba`.

        It may depend on `moderated`: moderation may prefer a class with almost the largest output that is better
        known, and far from the training rows it prefers the largest class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries,)
            Labels out of `classes_`.
        """
        outputs = self._outputs(X)
        xp, classes = namespace(outputs), self._fitted.result.classes
        chosen = xp.astype(outputs[:, 0] > 0, xp.int64) if outputs.shape[1] == 1 else xp.argmax(outputs, axis=1)
        if is_foreign(chosen) and classes.dtype.kind in "biuf":
            return take(beside(classes, chosen), chosen)
        return classes[to_numpy(chosen)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels that `predict` gives right.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.
        y : array-like of shape (n_queries,)
            The labels there.
        sample_weight : array-like of shape (n_queries,), optional
            How often each row counts.

        Returns
        -------
        float
            The accuracy.
        """
        if not follows(X):
            return super().score(X, y, sample_weight)
        labels, predicted, weights = map(on_host, (y, self.predict(X), sample_weight))
        return float(accuracy_score(labels, predicted, sample_weight=weights))

    def _outputs(self, X: Any) -> np.ndarray:
        """The outputs that the link turns into probabilities, (n, K), a batch of rows at a time."""
        check_is_fitted(self)
        fitted = self._fitted.for_queries(X)
        result = fitted.result
        size, outputs, moderated = result.mean.shape[0], result.outputs, bool(self.moderated)
        moderation: Moderation = fitted.moderation if moderated and fitted.moderation else Moderation()

        def posterior(rows: Any) -> np.ndarray:
            return link_inputs(result, columns_at(fitted.basis(rows), fitted.position), moderated)

        def evaluate(rows: Any) -> tuple[np.ndarray]:
            return (moderation.outputs(rows, posterior, result.likelihood, getattr(self, "calibrated", False)),)

        return of_batches(self, X, fitted.basis.n_functions + (1 + outputs) * size + outputs**2, evaluate)[0]


def _fit_labels(model: Any, candidates: Candidates, rows: Rows, classes: ClassOrder, monitor: FitMonitor) -> Fitted:
    """The fitted model of labels: one output for two classes, one for each of more."""
    likelihood, groups = Bernoulli() if classes.outputs == 1 else Multinomial(), classes.ordered(model.groups)
    result = fit_candidates(model, candidates, rows, monitor, likelihood=likelihood, groups=groups)
    return Fitted.of(candidates, classes.restored(result), int(rows.y.shape[0]), rows.columns)


def _publish(model: Any, candidates: Candidates, fitted: Fitted, **more: Any) -> None:
    """Set the fitted attributes of a classifier; `more` are those that not both classifiers have."""
    result = fitted.result
    publish(
        model,
        candidates,
        fitted,
        classes_=result.classes,
        intercept_=result.intercept,
        alpha_=fitted.of_weights(result.alpha, np.inf),
        gamma_=fitted.of_weights(result.gamma, 0.0),
        terms_=np.column_stack([fitted.position, result.output]),
        **more,
    )


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
            found = fit_kernel_classifier(self, X, y, sample_weight)
            if found is not None:
                _publish(self, *found[:2], **found[2])
            return self
        monitor, rows = monitor_of(self), self._training_rows(X, y, sample_weight)
        identify_rows(monitor.journal, rows)
        rows, classes = self._ordered_rows(rows, kernel=True)
        bound, more = bind_kernel(self, rows), {}
        if learns(gamma_of(self)):
            bound = self._learned(bound, rows, monitor)
        candidates = Candidates.of(bound, rows)
        fitted = _fit_labels(self, candidates, rows, classes, monitor)
        moderation = self._moderation(candidates, fitted, rows, classes)
        fitted = replace(fitted, moderation=moderation)
        weights = fitted.of_weights(fitted.result.mean, 0.0)
        if moderation.process is not None:
            more["probability_vectors_"] = np.sort(candidates.numbers[moderation.process.functions])
        if learns(gamma_of(self)):
            more["scales_"] = np.exp(bound.log_scales)
            more["input_relevance_"] = input_relevance(fitted.basis, weights.T, rows.X, rows.y, rows.weights)
        _publish(self, candidates, fitted, dual_coef_=weights, **more)
        return self

    def _learned(self, bound: BoundBasis, rows: Rows, monitor: FitMonitor) -> BoundBasis:
        """The functions at their learned scales; one for each input only if each but the first gains a nat (AIC)."""
        learned = learn(self, bound, rows, self._evidence(rows), monitor)
        more = len(learned.bound.log_scales) - len({each.parameter for each in bound.scales})
        if gamma_of(self) != "ard" or not more:
            return learned.bound
        with np.errstate(all="ignore"):  # as in `learn`, which has found these numbers to be in range
            shared = learn_scales(bound, rows.X, self._evidence(rows), monitor=monitor, tied=True)
        gain = learned.log_evidence - shared.log_evidence
        return learned.bound if gain > more else shared.bound.with_scale_per_input()

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

    def _evidence(self, rows: Rows) -> LaplaceEvidence:
        """The labels as the Gaussian process sees them: one column for two classes, else one for each."""
        classes, numbers = number_classes(to_numpy(rows.y))
        codes = np.eye(len(classes))[numbers][:, 1 if len(classes) == 2 else 0 :]
        return LaplaceEvidence(codes, to_numpy(rows.counts), bool(self.fit_intercept), Bernoulli())


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
        self._publish_columns(candidates, _fit_labels(self, candidates, rows, classes, monitor))
        return self

    def _publish_columns(self, candidates: Candidates, fitted: Fitted) -> None:
        """Set the fitted attributes of a model of columns."""
        active = fitted.of_weights(fitted.result.mean, 0.0)
        selected = candidates.numbers[np.unique(fitted.result.active)]
        coef = of_columns(active, selected, self.n_features_in_)
        _publish(self, candidates, fitted, coef_=coef, active_coef_=active)
