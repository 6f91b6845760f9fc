"""Estimators of scikit-learn, by skops: it makes objects of a list of trusted types, and executes nothing."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from sparsebayes.export._errors import ModelFileError, reason
from sparsebayes.export._members import check_archive

TRUSTED = ["numpy.dtype"]  # beside the types that skops trusts: imputers keep the dtype that they were fitted to
MISSING = "install skops (pip install 'sparsebayes[export]')"


def is_foreign(x: Any) -> bool:
    """Whether x is an estimator of another package."""
    own = type(x).__module__.partition(".")[0] == "sparsebayes"
    return isinstance(x, BaseEstimator) and not own and type(x) is not Pipeline


def to_skops(x: Any, path: str) -> bytes:
    """An estimator of scikit-learn as skops stores it; TypeError if it holds types that skops does not trust."""
    try:
        import skops.io
    except ImportError as error:
        name = type(x).__name__
        raise ImportError(f"{path} is a {name}, which is no part of sparsebayes; to store it, {MISSING}.") from error
    try:
        data: bytes = skops.io.dumps(x)
    except Exception as error:  # skops promises no kind of error
        raise TypeError(f"{path} is a {type(x).__name__} that skops cannot store: {reason(error)}.") from error
    untrusted = set(skops.io.get_untrusted_types(data=data)) - set(TRUSTED)
    if untrusted:
        raise TypeError(f"{path} is a {type(x).__name__} with types that skops does not trust: {sorted(untrusted)}.")
    return data


def from_skops(data: bytes, name: str, most: int) -> Any:
    """The estimator that skops stored; ModelFileError if it holds types that skops does not trust."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(f"The model file holds an estimator of scikit-learn; to read it, {MISSING}.") from error
    try:
        check_archive(data, name, most).close()
        made = skops.io.loads(data, trusted=TRUSTED)
    except ModelFileError:
        raise
    except Exception as error:  # skops promises no kind of error
        raise ModelFileError(
            f"{name} of the model file is nothing that skops can read and trusts: {reason(error)}."
        ) from error
    if not is_foreign(made):
        raise ModelFileError(
            f"{name} of the model file must be an estimator of scikit-learn, got {type(made).__name__}."
        )
    return made
