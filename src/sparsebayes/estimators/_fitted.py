"""A fitted model: its functions, its result, and what both are published as."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, are_together, beside, described, is_foreign, is_numpy, namespace, take, to_numpy
from sparsebayes._threads import threads_for
from sparsebayes.bases import BoundBasis, OutOfRange
from sparsebayes.bases.arguments import check_finite
from sparsebayes.core.result import Result
from sparsebayes.estimators._order import in_order
from sparsebayes.estimators._range import TrainingRange
from sparsebayes.estimators._training import HOST, Candidates
from sparsebayes.estimators._validation import check_inputs, check_values
from sparsebayes.rows.chunks import affordable
from sparsebayes.rows.devices import result_beside
from sparsebayes.rows.kinds import dispatches, follows
from sparsebayes.rows.sources import is_too_large, release

LARGEST_BATCH = 1 << 19  # numbers in the columns of the queries predicted together: they stay in the cache
KEPT = ("n_features_in_", "feature_names_in_")  # what validation sets


@dataclass(frozen=True, eq=False)
class Fitted:
    """The selected functions and the model of their weights, on the host.

    basis : the selected functions.  result : the model; its weights belong to functions of the candidates.
    position : the place among the selected functions of each weight, (S,).
    columns : the columns of a query that are used, if X is a kernel matrix and rows had weight zero.
    n_candidates : how many functions there were to select from.
    n_rows : how many rows of positive weight the model was fitted to; None if that was not kept.
    moderation : of a classifier, what its probabilities rest on beside the posterior of the weights.
    kind : an empty array of the library and on the device of the training rows, which attributes have; None if that
        is the host.
    """

    basis: BoundBasis
    result: Result
    position: np.ndarray
    columns: np.ndarray | None
    n_candidates: int
    moderation: Any = None
    n_rows: int | None = None
    kind: Array | None = None

    @classmethod
    def of(
        cls, candidates: Candidates, result: Result, n_rows: int | None, columns: np.ndarray | None = None
    ) -> Fitted:
        """The model that was fitted to these candidates, its functions in the order of their numbers."""
        result = in_order(result, candidates.numbers)
        selected = np.unique(result.active)
        numbers = candidates.numbers[selected]
        basis = candidates.bound.select(selected[np.argsort(numbers)].tolist())
        position = np.searchsorted(np.sort(numbers), candidates.numbers[result.active])
        count, kind = len(candidates.numbers), candidates.kind
        return cls(basis.beside(HOST), result, position, columns, count, n_rows=n_rows, kind=kind)

    def for_queries(self, X: Any) -> Fitted:
        """The same model in the library and on the device that queries X are computed with."""
        if not follows(X):
            return self
        moderation = None if self.moderation is None else self.moderation.beside(X)
        return replace(self, basis=self.basis.beside(X), result=result_beside(self.result, X), moderation=moderation)

    def published(self, value: Any) -> Any:
        """An array as a fitted attribute: in the library and on the device of the training rows."""
        numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biufc"  # labels may be strings
        return beside(value, self.kind) if numbers and self.kind is not None else value

    def query(self, X: Any) -> Any:
        """Validated inputs as the basis takes them."""
        return X if self.columns is None else X[:, self.columns] if is_numpy(X) else take(X, self.columns, axis=1)

    def of_weights(self, values: np.ndarray, other: float) -> np.ndarray:
        """Values of the weights as (outputs, functions), `other` where a function has no weight."""
        table = np.full((self.result.outputs, self.basis.n_functions), other)
        table[self.result.output, self.position] = values
        return table


def of_columns(active: np.ndarray, relevance: np.ndarray, n: int) -> np.ndarray:
    """Weights (…, S) of the selected columns as weights (…, n) of all n columns, 0 for those not selected."""
    weights = np.zeros((*active.shape[:-1], n))
    weights[..., relevance] = active
    return weights


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that fits, and leaves the estimator as it was if it fails or is interrupted.

    Few rows are fitted with one thread of BLAS.
    """

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with threads_for(_rows_of(args[0] if args else kwargs.get("X"))):
                return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit


def _rows_of(X: Any) -> int | None:
    """How many rows an argument X seems to have; None if that is not known."""
    shape = getattr(X, "shape", None)
    rows = shape[0] if isinstance(shape, tuple) and shape else len(X) if isinstance(X, list) else None
    return rows if isinstance(rows, int) else None


def publish(estimator: Any, candidates: Candidates, fitted: Fitted, **attributes: Any) -> None:
    """Set the fitted attributes of an estimator, in place of those of an earlier fit.

    attributes : those that not all estimators have; one that is None is not set.
    """
    result, scores = fitted.result, fitted.result.candidates
    forget(estimator)
    attributes |= {
        "_fitted": fitted,
        "relevance_": np.sort(candidates.numbers[np.unique(result.active)]),
        "relevance_vectors_": fitted.basis.known_centres(estimator.n_features_in_),
        "degrees_of_freedom_": result.degrees_of_freedom,
        "log_evidence_": result.log_evidence,
        "evidence_path_": result.evidence_path,
        "trace_": result.trace,
        "n_iter_": result.n_iter,
        "converged_": result.converged,
        "certificate_": result.certificate,
    }
    if scores is not None:
        attributes["candidates_"] = replace(scores, function=candidates.numbers[scores.function])
    for name, value in attributes.items():
        if value is not None:
            setattr(estimator, name, fitted.published(value))


def forget(estimator: Any) -> None:
    """Remove the fitted attributes of an earlier fit."""
    for name in [name for name in vars(estimator) if name.endswith("_") and name not in KEPT]:
        delattr(estimator, name)
    for name in ("_fitted", "_range", "_shared_scale", "_output_names"):
        vars(estimator).pop(name, None)


def require_same_kind(estimator: Any, X: Any, method: str) -> None:
    """Under array API dispatch, raise ValueError for queries of another library or device than those of `fit`."""
    kind = getattr(getattr(estimator, "_fitted", None), "kind", None)
    kind = kind if is_foreign(kind) else None  # a model that was stored is on the host
    if (kind is None and not is_foreign(X)) or not dispatches() or not hasattr(estimator, "_fitted"):
        return
    if kind is not None and is_foreign(X) and are_together(X, kind):
        return
    name, known = type(estimator).__name__, "a NumPy array on the host" if kind is None else described(kind)
    raise ValueError(
        f"X of {name}.{method}() must use the same namespace and device as in fit with array_api_dispatch=True: got "
        f"{described(X)}, and {known} in fit; convert X, or fit again."
    )


def model_on_host(estimator: Any) -> Any:
    """A fitted estimator whose attributes are NumPy arrays, and which predicts rows on the host.

    That is itself, or a copy of one that was fitted to arrays of another library.
    """
    fitted = getattr(estimator, "_fitted", None)
    if not isinstance(fitted, Fitted) or fitted.kind is None:
        return estimator
    own = copy.copy(estimator)
    own._fitted = replace(fitted, kind=None)
    if hasattr(own, "estimators_"):  # a model for each group of outputs
        own.estimators_ = [model_on_host(each) for each in own.estimators_]
    vars(own).update({name: to_numpy(value) for name, value in vars(own).items() if is_foreign(value)})
    return own


def beside_inputs(results: Any, X: Any) -> Any:
    """A result on the host, or a pair of results, in the library and on the device that inputs X are computed with."""
    if not follows(X):
        return results
    return tuple(beside(each, X) for each in results) if isinstance(results, tuple) else beside(results, X)


def on_host(values: Any) -> Any:
    """An array of any library as a NumPy array, everything else as it is."""
    return to_numpy(values) if is_foreign(values) else values


def query_batches(estimator: Any, X: Any, width: int, most: int | None = None) -> Iterator[Any]:
    """The rows of X as the fitted basis takes them, in batches bounded by the working memory.

    width : numbers that are needed for a row, besides its own.  most : rows in a batch at most.
    """
    fitted, on_disk = estimator._fitted, is_too_large(X)
    whole = check_inputs(estimator, X[:1] if on_disk else X, fitting=False)
    n, d = X.shape if on_disk else whole.shape
    # every batch of sparse rows costs a look at all columns, so that fewer of them are better
    few = scipy.sparse.issparse(whole) or is_foreign(whole) or fitted.basis.few_batches
    numbers = affordable() if few else min(affordable(), LARGEST_BATCH)
    step = max(1, numbers // max(width + (d if on_disk else 0), 1))
    step = step if most is None else min(step, most)
    if not on_disk:
        check_range(estimator, whole)
    for batch in (slice(a, min(a + step, n)) for a in range(0, n, step)):
        rows = check_values(estimator, X[batch], fitting=False, first=batch.start) if on_disk else _rows(whole, batch)
        yield fitted.query(rows)
        release(X)


def check_range(estimator: Any, X: Any) -> None:
    """Warn of validated queries outside the range of the training rows, where the functions have widths."""
    known: TrainingRange | None = getattr(estimator, "_range", None)
    if known is not None:
        known.check(to_numpy(X))


def _rows(X: Any, batch: slice) -> Any:
    """A batch of the rows of X, which may be SciPy-sparse."""
    return X[batch, ...] if is_foreign(X) else X[batch]


def of_batches(
    estimator: Any, X: Any, width: int, evaluate: Callable[[Any], tuple[Array, ...]], most: int | None = None
) -> tuple[Array, ...]:
    """What `evaluate` makes of the rows of X: arrays with one entry per row, a batch of `query_batches` at a time."""
    results, start = [], 0
    for rows in query_batches(estimator, X, width, most):
        results.append(finite_at(rows, evaluate, start))
        start += rows.shape[0]
    return tuple(namespace(pieces[0]).concat(pieces, axis=0) for pieces in zip(*results, strict=True))


def finite_at(rows: Any, evaluate: Callable[[Any], tuple[Array, ...]], start: int = 0) -> tuple[Array, ...]:
    """What `evaluate` makes of queries, all finite: ValueError that names the first row where it is not.

    start : the number of the first of the rows.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the error names the row
            results = evaluate(rows)
        for values in results:
            check_finite(values, "The prediction")
    except OutOfRange as error:
        raise ValueError(
            f"X has a row too far from the training rows: {error.source} is not finite at row {start + error.row}. "
            "Predict nearer to the training rows, or use a kernel whose functions are bounded, such as 'rbf'."
        ) from error
    return results
