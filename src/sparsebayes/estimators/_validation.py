"""What the estimators accept, by scikit-learn's conventions; else one sentence that names the argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import validate_data

from sparsebayes._array import Array
from sparsebayes.core.noise import Gaussian
from sparsebayes.rows.kinds import as_floats, follows, own
from sparsebayes.rows.sources import in_memory, is_chunked
from sparsebayes.rows.validation import LEAST_ROWS, canonical, check_variances, refuse_masked, require_finite

DATES = ("datetime", "date", "period")  # how dtypes of dates begin
DATES_FOUND = (
    "X must hold numbers, got dates in column {!r}: sparsebayes.tables.TableEncoder turns them into numbers, as in "
    "make_pipeline(TableEncoder(), ...)."
)


def check_inputs(estimator: BaseEstimator, X: Any, fitting: bool, least: int = 1) -> Any:
    """X (n, d) as float64, dense or (where the estimator's tags allow it) SciPy-sparse, all finite.

    An array of another library that computes itself (`rows.kinds`) stays what it is, float32 included.

    Sets `n_features_in_` and `feature_names_in_` when fitting, and compares X with them otherwise.
    least : rows that are needed.
    """
    X = in_memory(X)
    values = check_values(estimator, X, fitting, least)
    # names and number of the columns, from X as it came
    if fitting or not _has_expected_columns(estimator, X):
        validate_data(estimator, X, reset=fitting, skip_check_array=True)
    return values


def _has_expected_columns(estimator: Any, X: Any) -> bool:
    """Whether X is an array with the columns of `fit`, which had no names; scikit-learn is slow to see that."""
    nameless = type(X) is np.ndarray and getattr(estimator, "feature_names_in_", None) is None
    return nameless and X.shape[1] == getattr(estimator, "n_features_in_", None)


def check_values(estimator: BaseEstimator, X: Any, fitting: bool, least: int = 1, first: int = 0) -> Any:
    """What `check_inputs` asks of the values of X, but not of the names and the number of its columns.

    first : the number of the first row.
    """
    tags = get_tags(estimator).input_tags
    refuse_masked(X, "X")
    _refuse_inputs(estimator, X, tags.sparse)
    values = X
    if follows(X):
        values = as_floats(own(X, "X"), "X")
    elif type(X) is not np.ndarray or X.dtype != np.float64:
        formats = ["csc", "csr"] if fitting else ["csr"]  # a prediction goes through the rows
        _refuse_complex(X)
        _refuse_columns(X)
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
    require_finite(values, "X", first, getattr(X, "columns", None))
    values = canonical(values) if scipy.sparse.issparse(values) else values
    _check_shape(estimator, tuple(values.shape), fitting, least, tags.pairwise)
    return values


def like_of(X: Any) -> Array | None:
    """What the other arguments of `fit` are to be beside: validated inputs; None (the host) for sparse ones."""
    return None if scipy.sparse.issparse(X) else X


def require_rows(y: Array) -> None:
    """Raise ValueError for targets of the rows that count if they are too few."""
    if y.shape[0] < LEAST_ROWS:
        raise ValueError(f"sample_weight leaves {y.shape[0]} sample(s) of X; at least {LEAST_ROWS} are needed.")


def check_noise(estimator: Any, noise_variance: Any, n: int, like: Array | None = None) -> Array | None:
    """The argument `noise_variance` of `fit`, the known noise variance of each of n rows; None if it is not given."""
    known = is_noise_known(estimator, noise_variance)
    return check_variances(noise_variance, n, "noise_variance of fit", like) if known else None


def is_noise_known(estimator: Any, noise_variance: Any) -> bool:
    """Whether the argument `noise_variance` of `fit` is given; ValueError if the parameters contradict it."""
    given = getattr(estimator.likelihood, "variance", None) if isinstance(estimator.likelihood, Gaussian) else None
    if given is not None:
        raise ValueError(
            "variance of likelihood=Gaussian(…) is for the function fit; pass the noise variance of each row as "
            "fit(X, y, noise_variance=…), so that a cross-validation divides it like the rows."
        )
    if noise_variance is None:
        return False
    if not is_gaussian(estimator.likelihood):
        raise ValueError(f"noise_variance of fit needs Gaussian noise, got likelihood={estimator.likelihood!r}.")
    if estimator.noise_variance is not None:
        raise ValueError(
            "noise_variance was given twice: as a parameter it is one σ² for all rows, in fit it has one value per "
            f"row; leave the parameter None, got {estimator.noise_variance!r}."
        )
    return True


def is_gaussian(likelihood: Any) -> bool:
    """Whether a parameter `likelihood` means Gaussian noise."""
    return isinstance(likelihood, Gaussian) or (isinstance(likelihood, str) and likelihood == "gaussian")


def _refuse_inputs(estimator: Any, X: Any, sparse: bool) -> None:
    """Raise an error for inputs that are not of the kind that the estimator takes."""
    if scipy.sparse.issparse(X) and not sparse:
        raise TypeError(f"X is sparse, but {type(estimator).__name__} needs a dense array: pass X.toarray().")
    if isinstance(X, Sequence | Iterator) and is_chunked(X, None):
        raise TypeError(
            f"X is a {type(X).__name__} of chunks (X, y), which only SparseBayesRegressor.fit takes, and "
            "that without y; pass an array."
        )
    dimensions = _dimensions(X)
    if dimensions != 2:
        raise ValueError(
            f"X must have two dimensions (rows, features), got {dimensions}. Reshape your data: "
            "numpy.reshape(X, (-1, 1)) if it is one feature, numpy.reshape(X, (1, -1)) if it is one row."
        )


def _dimensions(X: Any) -> int:
    """The dimensions of an array, a number or a list of either; 2 for anything else."""
    if isinstance(X, list | tuple):
        return 1 + _dimensions(X[0]) if len(X) else 1
    return int(getattr(X, "ndim", 0 if isinstance(X, Number | str) else 2))


def _refuse_complex(X: Any) -> None:
    """Raise ValueError for an array of complex numbers."""
    if str(getattr(X, "dtype", "")).removeprefix("torch.").startswith("complex"):
        raise ValueError(
            "Complex data not supported: X must hold real numbers, got complex ones; give real and imaginary parts as "
            "columns of their own."
        )


def _refuse_columns(X: Any) -> None:
    """Raise ValueError for a table or an array with a column of text or dates, or two of one name, naming it.

    A table that holds nothing but dates is a matrix of one dtype, as an array of dates is; other text is check_array's.
    """
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "OUS" and X.ndim == 2:
            for number in range(X.shape[1]):
                _refuse_text_in(X[:, number], number)
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        repeated = [name for name, count in Counter(X.columns).items() if count > 1]
        if repeated:
            raise ValueError(f"X has several columns named {repeated[0]!r}: rename them.")
        alike = len(set(map(str, X.dtypes))) == 1
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            if str(dtype).lower().startswith(DATES) and not (alike and isinstance(dtype, np.dtype)):
                raise ValueError(DATES_FOUND.format(name))
            if str(dtype) in ("object", "str", "string", "category", "String", "Utf8"):
                _refuse_text_in(X[name], name)


def _refuse_text_in(values: Any, column: Any) -> None:
    """Raise ValueError for text in a column."""
    for each in values:
        if isinstance(each, date):
            raise ValueError(DATES_FOUND.format(column))
        if isinstance(each, str | bytes) and not _is_number(each):
            text = each.item() if isinstance(each, np.generic) else each
            raise ValueError(
                f"X must hold numbers, got {text!r} in column {column!r}: make numbers of text with "
                "sparsebayes.tables.TableEncoder, as in make_pipeline(TableEncoder(), ...)."
            )


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_shape(estimator: Any, shape: tuple[int, int], fitting: bool, least: int, pairwise: bool) -> None:
    """Raise ValueError for too few rows or features, or the wrong shape of a kernel matrix."""
    samples, features = shape
    found = f"X has {samples} sample(s) and {features} feature(s) (shape={shape})"
    if samples < least:
        raise ValueError(f"{found}, but at least {least} sample(s) are required.")
    if not features:
        raise ValueError(f"{found} while a minimum of 1 is required.")
    if pairwise and fitting and samples != features:
        raise ValueError(f"X must be square when kernel='precomputed', got shape {shape}.")
    if pairwise and not fitting and features != estimator.n_features_in_:
        raise ValueError(
            f"X has {features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input: with kernel='precomputed', one per training point."
        )
