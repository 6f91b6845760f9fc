"""What the estimators accept, by scikit-learn's conventions; else one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import column_or_1d, validate_data

from sparsebayes.rows.sources import in_memory, is_chunked

LEAST_SAMPLES = 2  # one value says nothing of a noise variance


def check_inputs(estimator: BaseEstimator, X: Any, fitting: bool, least: int = 1) -> Any:
    """X (n, d) as float64, dense or (where the estimator's tags allow it) SciPy-sparse, all finite.

    Sets `n_features_in_` and `feature_names_in_` when fitting, and compares X with them otherwise.
    least : rows that are needed.
    """
    X = in_memory(X)
    values = check_values(estimator, X, fitting, least)
    # names and number of the columns, from X as it came
    validate_data(estimator, X, reset=fitting, skip_check_array=True)
    return values


def check_values(estimator: BaseEstimator, X: Any, fitting: bool, least: int = 1) -> Any:
    """What `check_inputs` says of the values of X, without a look at the names and the number of columns."""
    tags = get_tags(estimator).input_tags
    if scipy.sparse.issparse(X) and not tags.sparse:
        raise TypeError(f"X is sparse, but {type(estimator).__name__} needs a dense array: pass X.toarray().")
    _refuse_chunks(X)
    _check_dimensions(X)
    formats = ["csc", "csr"] if fitting else ["csr"]  # a prediction goes through the rows
    values = check_array(
        X,
        accept_sparse=formats if tags.sparse else False,
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        estimator=estimator,
        input_name="X",
    )
    _check_size(values, least)
    check_finite(values.data if scipy.sparse.issparse(values) else values, "X")
    if tags.pairwise:
        _check_pairwise(estimator, values, fitting)
    return values


def check_targets(y: Any, n: int, estimator: BaseEstimator) -> np.ndarray:
    """y as n finite float64 values; a column vector is taken with scikit-learn's warning."""
    check_given(y, estimator)
    y = column_or_1d(in_memory(y), warn=True)
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold real numbers, got an array of dtype {y.dtype}.") from error
    check_length(y, n)
    check_finite(y, "y")
    return y


def check_given(y: Any, estimator: BaseEstimator) -> None:
    """Refuse a fit without targets."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")


def check_length(y: np.ndarray, n: int) -> None:
    """Refuse targets y that are not one a row of X."""
    if y.shape[0] != n:
        raise ValueError(f"y has {y.shape[0]} values but X has {n} rows; there must be one value a row.")


def check_finite(values: np.ndarray, name: str) -> None:
    """Refuse NaN and infinity."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; every value must be finite.")


def check_weights(sample_weight: Any, n: int, some: bool = True) -> np.ndarray | None:
    """sample_weight as n float64 values ≥ 0, not all zero if `some`; one number stands for n of them."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(in_memory(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold real numbers, got {sample_weight!r}.") from error
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one value a row of X, got {weights.shape}.")
    check_finite(weights, "sample_weight")
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}.")
    if some and not weights.max() > 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def check_something_to_model(y: np.ndarray) -> None:
    """Refuse what is left of y (rows of weight zero dropped) where no model can be fitted to it."""
    if len(y) < LEAST_SAMPLES:
        raise ValueError(
            f"sample_weight leaves {len(y)} sample(s) of X; at least {LEAST_SAMPLES} are needed."
        )
    refuse_constant(float(y[0]) if np.all(y == y[0]) else None)


def refuse_constant(value: float | None) -> None:
    """Refuse targets that all have this value; None where they differ."""
    if value is not None:
        raise ValueError(f"y is constant (every value is {value:g}): there is nothing to model.")


def _refuse_chunks(X: Any) -> None:
    if isinstance(X, Sequence | Iterator) and is_chunked(X, None):
        raise TypeError(
            f"X is a {type(X).__name__} of chunks (X, y), which only SparseBayesRegressor.fit takes, and "
            "that without y; pass an array."
        )


def _check_dimensions(X: Any) -> None:
    dimensions = getattr(X, "ndim", 2)
    if dimensions != 2:
        raise ValueError(
            f"X must have two dimensions (rows, features), got {dimensions}. Reshape your data: "
            "X.reshape(-1, 1) where it is one feature, X.reshape(1, -1) where it is one row."
        )


def _check_pairwise(estimator: Any, X: np.ndarray, fitting: bool) -> None:
    rows, columns = X.shape
    if fitting and rows != columns:
        raise ValueError(f"X must be square when kernel='precomputed', got shape {(rows, columns)}.")
    if not fitting and columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input: with kernel='precomputed', one a training point."
        )


def _check_size(X: Any, least: int) -> None:
    samples, features = X.shape
    found = f"X has {samples} sample(s) and {features} feature(s) (shape={X.shape})"
    if samples < least:
        raise ValueError(f"{found}, but at least {least} sample(s) are required.")
    if not features:
        raise ValueError(f"{found} while a minimum of 1 is required.")
