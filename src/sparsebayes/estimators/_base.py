"""What all estimators share: the way from validated data to a fitted model, and the rows of a prediction."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from sparsebayes.bases import Basis, BoundBasis
from sparsebayes.estimators._candidates import candidate_numbers, centres
from sparsebayes.estimators._validation import LEAST_SAMPLES, check_inputs, check_values, check_weights
from sparsebayes.rows.chunks import affordable
from sparsebayes.rows.sources import is_too_large, release
from sparsebayes.solvers import Progress

NONE = np.zeros(0, dtype=np.int64)
LARGEST_BATCH = 1 << 19  # numbers in the columns of the queries predicted together: they stay in the cache


class SparseBayesModel(BaseEstimator, metaclass=ABCMeta):
    """A model in f = Φw + b with Φ given by `_basis`.

    A subclass for a kind of target says what y may be, how the model is inferred and what it predicts; a
    subclass of that states its parameters and its basis.
    """

    prior: Any
    solver: Any
    fit_intercept: bool
    max_iter: int
    tol: float
    random_state: Any
    verbose: int
    callback: Callable[[Progress], Any] | None
    _columns_kept: np.ndarray | None

    @abstractmethod
    def _basis(self) -> Basis:
        """The basis the parameters ask for."""

    @abstractmethod
    def _check_targets(self, y: Any, n: int) -> np.ndarray:
        """y as n valid targets (n,)."""

    @abstractmethod
    def _targets_to_model(self, y: np.ndarray) -> np.ndarray:
        """The targets of the rows that count, as `_infer` takes them; refuses those without a model."""

    @abstractmethod
    def _infer(self, operator: Any, y: np.ndarray | None, weights: np.ndarray | None) -> Any:
        """The fitted model of what `_targets_to_model` returned."""

    @abstractmethod
    def _store(self, result: Any) -> None:
        """The fitted attributes of this kind of model."""

    def _row_weights(self, weights: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        """How often each row counts, from the sample weights; None for once each."""
        return weights

    def _check_bound(self, bound: BoundBasis, X: Any) -> None:
        """Refuse, before the work starts, what a subclass could not use afterwards."""

    def _learn(
        self, bound: BoundBasis, X: Any, y: np.ndarray, weights: np.ndarray | None
    ) -> tuple[BoundBasis, np.ndarray]:
        """The basis with what is to be learned of it learned, and which functions are then no candidates."""
        return bound, NONE

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Keep what a subclass needs of the training data."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X = check_inputs(self, X, fitting=True, least=LEAST_SAMPLES)
        n = X.shape[0]
        y = self._check_targets(y, n)
        weights = self._row_weights(check_weights(sample_weight, n), y)
        rows = np.arange(n) if weights is None else np.flatnonzero(weights)
        self._columns_kept = None
        if weights is not None and len(rows) < n:
            X, y, weights = self._rows_of(X, rows), y[rows], weights[rows]
        y = self._targets_to_model(y)
        bound = self._basis().bind(X, weights)
        self._check_bound(bound, X)
        bound, idle = self._learn(bound, X, y, weights)
        numbers = candidate_numbers(bound, rows, n)
        if len(idle):  # a selection of all functions might be stored in another way
            bound = bound.select(np.delete(np.arange(bound.n_functions), idle).tolist())
            numbers = np.delete(numbers, idle)
        result = self._infer(bound.operator(X), y, weights)
        self._store_common(result, bound, numbers)
        self._store(result)
        self._keep(X, y, weights)
        return self

    def _inference_options(self) -> dict[str, Any]:
        """What every inference is told."""
        return {
            "prior": self.prior,
            "solver": self.solver,
            "fit_intercept": self.fit_intercept,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "random_state": self.random_state,
            "verbose": self.verbose,
            "callback": self.callback,
        }

    def _store_common(self, result: Any, bound: BoundBasis, numbers: np.ndarray) -> None:
        """The fitted attributes that all models have, and what predictions need."""
        retained = np.unique(result.active)
        self._result, self._fitted_basis = result, bound.select(retained.tolist())
        self.relevance_ = numbers[retained]
        self.relevance_vectors_ = centres(self._fitted_basis, self.n_features_in_)
        self.log_evidence_ = result.log_evidence
        self.evidence_path_ = result.evidence_path
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.certificate_ = result.certificate

    @property
    def covariance_(self) -> np.ndarray:
        """Posterior covariance Σ of the weights, made dense only when asked for."""
        if not hasattr(self, "_result"):
            raise AttributeError(f"{type(self).__name__} has no covariance_ before it is fitted.")
        covariance = self._result.covariance
        return covariance.toarray() if scipy.sparse.issparse(covariance) else covariance

    def _rows_of(self, X: Any, rows: np.ndarray) -> Any:
        """The training data `rows` alone: of a kernel matrix the columns as well, now and in predictions."""
        if not get_tags(self).input_tags.pairwise:
            return X[rows]
        self._columns_kept = rows
        return X[np.ix_(rows, rows)]

    def _queries(self, X: Any) -> Any:
        """X as the fitted basis takes it."""
        check_is_fitted(self)
        return self._query(check_inputs(self, X, fitting=False))

    def _query_batches(self, X: Any, width: int, most: int | None = None) -> Iterator[Any]:
        """The rows of X as the fitted basis takes them, `most` at a time, bounded by the working memory.

        width : numbers that are needed for a row, besides its own.
        """
        check_is_fitted(self)
        on_disk = is_too_large(X)
        whole = check_inputs(self, X[:1] if on_disk else X, fitting=False)
        n, d = X.shape if on_disk else whole.shape
        # every batch of sparse rows costs a look at all columns, so that fewer of them are better
        few = scipy.sparse.issparse(whole) or self._fitted_basis.few_batches
        numbers = affordable() if few else min(affordable(), LARGEST_BATCH)
        step = max(1, numbers // max(width + (d if on_disk else 0), 1))
        for batch in gen_batches(n, min(n, step if most is None else min(step, most))):
            yield self._query(check_values(self, X[batch], fitting=False) if on_disk else whole[batch])
            release(X)

    def _query(self, X: Any) -> Any:
        return X if self._columns_kept is None else X[:, self._columns_kept]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_result")
