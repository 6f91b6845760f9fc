"""What both classifiers share: parameters, training rows, predictions and published attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import asfloat64, beside, columns_at, is_foreign, namespace, take, to_numpy
from sparsebayes.estimators._classes import check_labels, require_two_classes, weigh_classes
from sparsebayes.estimators._dask import predicts_lazily
from sparsebayes.estimators._fitted import (
    Fitted,
    of_batches,
    on_host,
    publish,
)
from sparsebayes.estimators._model import SparseModel
from sparsebayes.estimators._moderation import Moderation
from sparsebayes.estimators._order import ClassOrder, row_order
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    fit_candidates,
    sorted_rows,
    training_rows,
)
from sparsebayes.estimators._validation import check_inputs, like_of
from sparsebayes.laplace import Bernoulli, Multinomial, check_class_groups, link_inputs
from sparsebayes.rows.kinds import follows
from sparsebayes.rows.validation import LEAST_ROWS, check_weights
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


def fit_labels(model: Any, candidates: Candidates, rows: Rows, classes: ClassOrder, monitor: FitMonitor) -> Fitted:
    """The fitted model of labels: one output for two classes, one for each of more."""
    likelihood, groups = Bernoulli() if classes.outputs == 1 else Multinomial(), classes.ordered(model.groups)
    result = fit_candidates(model, candidates, rows, monitor, likelihood=likelihood, groups=groups)
    return Fitted.of(candidates, classes.restored(result), int(rows.y.shape[0]), rows.columns)


def publish_classification(model: Any, candidates: Candidates, fitted: Fitted, **more: Any) -> None:
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
