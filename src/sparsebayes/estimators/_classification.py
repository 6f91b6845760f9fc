"""What both classifiers share: targets that are labels, and the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sparsebayes import inference
from sparsebayes.estimators._base import SparseBayesModel
from sparsebayes.estimators._classes import check_labels, check_two_classes, weigh_classes
from sparsebayes.inference import ClassificationResult


class ClassificationModel(ClassifierMixin, SparseBayesModel):
    """p(y|x) = link(Φw + b): logistic with one output for two classes, softmax with K outputs for K."""

    multi_class: str
    class_weight: Any
    moderated: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. What else is accepted is said with the class.
        y : array-like of shape (n_samples,)
            Labels of at least two classes: of any type that can be sorted, save real numbers that are not
            integers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero are left
            out, as candidates too; the classes are those of the rows that are left.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_targets(self, y: Any, n: int) -> np.ndarray:
        return check_labels(y, n, self)

    def _row_weights(self, weights: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        return weigh_classes(self.class_weight, y, weights)

    def _targets_to_model(self, y: np.ndarray) -> np.ndarray:
        check_two_classes(y)
        return y

    def _infer(self, operator: Any, y: np.ndarray | None, weights: np.ndarray | None) -> ClassificationResult:
        return inference.fit_classes(
            operator, y, multi_class=self.multi_class, sample_weight=weights, **self._inference_options()
        )

    def _store(self, result: ClassificationResult) -> None:
        self.classes_ = result.classes
        position = np.searchsorted(np.unique(result.active), result.active)
        self.terms_ = np.column_stack([position, result.output])
        shape = len(result.intercept), len(self.relevance_)
        self.coef_, self.alpha_ = np.zeros(shape), np.full(shape, np.inf)
        self.coef_[result.output, position] = result.mean
        self.alpha_[result.output, position] = result.alpha
        self.intercept_ = result.intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """What the probabilities are made of: they, `predict` and this order the classes alike.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_classes)
            Two classes: the log odds of `classes_[1]`, positive where that is predicted. More: one value a
            class, the logarithm of its probability but for a constant of the row ("multinomial"), or the log
            odds of the class against the rest ("ovr"). With `moderated=False` these are the outputs Φw + b at
            the most probable weights.
        """
        outputs = self._evaluated(X, self._outputs)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; averaged over the posterior of the weights if `moderated`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            In the order of `classes_`. The classes of multi_class="ovr" are each given a probability against
            the rest, and these are divided by their sum.
        """
        return np.exp(self.predict_log_proba(X))

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
        return self._evaluated(X, self._log_probabilities)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

        It is the class of the largest `predict_proba`. For two classes that does not depend on `moderated`;
        for more, moderation may prefer a class with almost the largest output that is better known.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where to predict.

        Returns
        -------
        ndarray of shape (n_queries,)
            Labels out of `classes_`.
        """
        outputs = self._evaluated(X, self._outputs)
        chosen = (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
        return self.classes_[chosen]

    def _outputs(self, terms: np.ndarray) -> np.ndarray:
        return self._result.outputs(terms, bool(self.moderated))

    def _log_probabilities(self, terms: np.ndarray) -> np.ndarray:
        return self._result.log_probabilities(terms, bool(self.moderated))

    def _evaluated(self, X: Any, of_terms: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What `of_terms` makes of the columns of the terms (n, n_terms), a batch of rows at a time."""
        check_is_fitted(self)
        outputs, size = len(self.intercept_), len(self.terms_)
        width = len(self.relevance_) + (1 + outputs) * size + outputs**2
        position = self.terms_[:, 0]
        batches = self._query_batches(X, width)
        return np.concatenate([of_terms(self._fitted_basis(rows)[:, position]) for rows in batches])
