"""Estimators and Dask: rows that stay where they are, and predictions that stay lazy.

`sparsebayes.distributed`, which imports Dask, is imported here when a Dask collection comes in, and not before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes.bases import Columns
from sparsebayes.estimators._classes import check_labels, require_two_classes, weigh_classes
from sparsebayes.estimators._fitted import Fitted, require_same_kind
from sparsebayes.estimators._order import ClassOrder
from sparsebayes.estimators._training import Candidates, fit_parameters, monitor_of, prior_of
from sparsebayes.estimators._validation import check_values, is_gaussian, is_noise_known
from sparsebayes.fit import fit
from sparsebayes.laplace import Bernoulli, Multinomial, check_class_groups
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.validation import require_targets
from sparsebayes.solvers.monitor import FitMonitor

Method = TypeVar("Method", bound=Callable[..., Any])


def predicts_lazily(method: Method) -> Method:
    """A decorator of a method that predicts every row by itself: for a Dask collection the result is one too.

    Under scikit-learn's array API dispatch the queries must be arrays of the same library and device as in `fit`.
    """
    parameters = signature(method)

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs.keys() - parameters.parameters.keys():
            known = ", ".join(list(parameters.parameters)[1:])
            raise TypeError(
                f"{type(self).__name__}.{method.__name__} has no argument {name!r}, only {known}"
                + "; the uncertainty of a class is in predict_proba." * hasattr(self, "predict_proba")
            )
        if not is_dask(X):
            require_same_kind(self, X, method.__name__)
            return method(self, X, *args, **kwargs)
        from sparsebayes.distributed import predict_lazily

        check_is_fitted(self)
        if hasattr(X, "columns"):
            check_of(self, X, reset=False)  # names and number of the columns, before anything is computed
        options = dict(parameters.bind(self, X, *args, **kwargs).arguments)
        del options["self"], options["X"]
        return predict_lazily(self, method.__name__, X, options)

    return cast(Method, predict)


def refuse_dask(X: Any, reason: str) -> None:
    """Raise ValueError for a Dask collection.

    reason : why it cannot be used; it ends without a full stop.
    """
    if is_dask(X):
        raise ValueError(f"{reason}; pass arrays, such as those that compute() gives.")


@dataclass(frozen=True)
class ValuesCheck:
    """Checks the values of a block of X as an estimator does.

    model : an estimator without data, which travels to the workers.
    """

    model: Any

    def __call__(self, X: Any) -> Any:
        """X as float64, all finite."""
        return check_values(self.model, X, fitting=True)


def check_of(model: Any, X: Any, reset: bool = True) -> ValuesCheck:
    """The check of the blocks of X; sets `n_features_in_` and `feature_names_in_` of the model, or compares them."""
    if hasattr(X, "columns"):
        head = X._meta
    elif X.ndim == 2 and X.shape[1] == X.shape[1]:
        head = np.empty((1, X.shape[1]))
    else:
        head = None  # the rows say what is wrong
    if head is not None:
        validate_data(model, head, reset=reset, skip_check_array=True)
    return ValuesCheck(bare_of(model))


def bare_of(model: Any) -> Any:
    """An estimator without what it has been fitted to, and without callbacks: its parameters, which can travel."""
    bare = copy.copy(model)
    for name in [name for name in vars(bare) if name.endswith("_") or name.startswith("_")]:
        delattr(bare, name)
    bare.callback, bare.verbose = None, 0
    return bare


def remaining_options(model: Any, monitor: FitMonitor) -> dict[str, Any]:
    """The parameters of an estimator for the part of a fit that is left, its passes being followed by `monitor`."""
    options = fit_parameters(model) | {"max_time": monitor.time_left, "checkpoint": monitor.journal}
    callback = options["callback"]
    if callback is not None:
        options["callback"] = lambda progress: monitor.stopped or callback(progress)
    return options


def read_dask(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    monitor: FitMonitor,
    noise_variance: Any = None,
    reset: bool = True,
) -> Any:
    """The statistics of rows that are Dask collections, for a regression; None if no row has a positive weight.

    monitor : what is told of the pass.
    reset : whether the columns of X are those of the model from now on, rather than compared with those it knows.
    """
    from sparsebayes.distributed import PassWatch, read_triangle

    is_noise_known(model, noise_variance)
    if not is_gaussian(model.likelihood):
        raise ValueError(
            f"likelihood must be 'gaussian' for a Dask collection, got {model.likelihood!r}: noise of another shape "
            "needs all rows in memory; pass arrays, such as X.compute()."
        )
    return read_triangle(X, y, sample_weight, check_of(model, X, reset), noise_variance, PassWatch.of(monitor))


def read_labels(model: Any, X: Any, y: Any, sample_weight: Any, monitor: FitMonitor) -> tuple[Any, Any, ClassOrder]:
    """Labelled rows that are Dask collections: as they came, encoded by the parameters of a classifier; its classes."""
    from sparsebayes.distributed import LabelRows, PassWatch

    require_targets(y)
    rows = LabelRows.of(X, y, sample_weight, check_of(model, X), check_labels, PassWatch.of(monitor))
    encoded = rows.encoded(_class_weights(model.class_weight, rows.classes))
    if len(encoded.classes.labels) < 2:
        require_two_classes(encoded.classes.labels)
    check_class_groups(model.groups, 1 if len(encoded.classes.labels) == 2 else len(encoded.classes.labels))
    return rows.given, encoded, ClassOrder(encoded.classes.labels, encoded.places, encoded.places[:0])


def _class_weights(class_weight: Any, classes: Any) -> np.ndarray:
    """What the rows of each class are weighed by, (K,): see `_classes.weigh_classes`, which has a label per row."""
    if class_weight is None or not len(classes.labels):
        return np.ones(len(classes.labels))
    weights = weigh_classes(class_weight, classes.labels, classes.weights)
    assert weights is not None
    return weights / classes.weights


def fit_labels_on_dask(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Candidates, Fitted]:
    """A classifier of columns fitted to rows that are Dask collections: its candidates, and the fitted model."""
    from sparsebayes.distributed import ColumnRows

    monitor = monitor_of(model)
    _, encoded, classes = read_labels(model, X, y, sample_weight, monitor)
    bound = Columns().bind(np.empty((1, model.n_features_in_)))
    rows = ColumnRows(encoded, model.n_features_in_)
    options = remaining_options(model, monitor) | {
        "likelihood": Bernoulli() if len(classes.labels) == 2 else Multinomial(),
        "groups": classes.ordered(model.groups),
    }
    result = fit(rows, prior=prior_of(model, bound), **options)
    candidates = Candidates(bound, np.arange(bound.n_functions))
    return candidates, Fitted.of(candidates, classes.restored(result), encoded.total)
