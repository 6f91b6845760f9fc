"""What an export says of itself: how large it is, and how far its predictions are from those of the model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.utils import check_array

from sparsebayes.estimators._fitted import on_host
from sparsebayes.export.description import Classification, Regressions
from sparsebayes.export.tensor_program import class_probabilities, regression_outputs
from sparsebayes.export.tensors import NumPyBackend, Tensor

DTYPES = {"double": np.float64, "float": np.float32}
TINY = float(np.finfo(float).tiny)  # that nothing is divided by 0
SAMPLE = 1000  # rows that the error of an export is measured at


@dataclass(frozen=True)
class ExportReport:
    """The size of an export and its error.

    Attributes
    ----------
    target : str
        What was written: the path of a file, or "ONNX model".
    size : int
        Its length in bytes.
    functions : int
        The number of functions of the model.
    dtype : str
        "double" or "float".
    rows : int
        How many rows the error was measured at.
    error : float
        The largest difference from `predict`, or from `predict_proba`, in the arithmetic of the export: divided by the
        largest absolute prediction for a regression. NaN if there were no rows.
    std_error : float or None
        The largest relative difference of the standard deviation; None if it is not exported.
    """

    target: str
    size: int
    functions: int
    dtype: str
    rows: int
    error: float
    std_error: float | None = None

    def __str__(self) -> str:
        what = f"{self.target}: {self.functions} functions, {self.size} bytes, numbers of type {self.dtype}"
        if not self.rows:
            return f"{what}; the error was not measured, pass rows as X_sample."
        more = "" if self.std_error is None else f", of the standard deviation {self.std_error:.1e}"
        return f"{what}; largest error at {self.rows} rows {self.error:.1e}{more}."


def checked_dtype(dtype: Any) -> Any:
    """The NumPy type of "double" or "float"; ValueError for anything else."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype must be 'double' or 'float', got {dtype!r}.")
    return DTYPES[dtype]


def report(
    model: Any, description: Regressions | Classification, target: str, size: int, dtype: str, X_sample: Any
) -> ExportReport:
    """Compare an export with its model.

    Parameters
    ----------
    model : estimator
        The fitted model.
    description : Regressions or Classification
        Its description.
    target : str
        What was written.
    size : int
        Its length in bytes.
    dtype : str
        "double" or "float".
    X_sample : array-like of shape (n, d), optional
        Where to compare; by default the relevance vectors, zeros and ones for a model of columns.

    Returns
    -------
    ExportReport
        Size and error.
    """
    X = _sample(model, X_sample)
    x = Tensor(NumPyBackend(DTYPES[dtype]), X.astype(DTYPES[dtype]))
    models = description.models if isinstance(description, Regressions) else (description,)
    functions = sum(each.functions.size for each in models)
    if not len(X):
        return ExportReport(target, size, functions, dtype, 0, float("nan"))
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore")  # rows without names, or far from the training rows, are meant here
        known = _predicted(model, description, X)
    if isinstance(description, Classification):
        p = class_probabilities(description, x, single=dtype == "float").value
        return ExportReport(target, size, functions, dtype, len(X), float(np.abs(p - known[0]).max()))
    found = [each.value for each in regression_outputs(description, x)]
    error = float(np.abs(found[0] - known[0]).max() / max(np.abs(known[0]).max(), TINY))
    std_error = float((np.abs(found[1] - known[1]) / np.maximum(known[1], TINY)).max()) if description.has_std else None
    return ExportReport(target, size, functions, dtype, len(X), error, std_error)


def _predicted(model: Any, description: Regressions | Classification, X: np.ndarray) -> list[np.ndarray]:
    """The probabilities; or the means, and the standard deviations if they are exported: (n, outputs)."""
    if isinstance(description, Classification):
        return [model.predict_proba(X)]
    found = model.predict(X, return_std=True) if description.has_std else (model.predict(X),)
    return [np.asarray(each).reshape(len(X), -1) for each in found]


def _sample(model: Any, X_sample: Any) -> np.ndarray:
    """The rows that the error is measured at, few enough."""
    if X_sample is None:
        models, d = getattr(model, "estimators_", [model]), model.n_features_in_
        X = np.concatenate([np.asarray(on_host(each.relevance_vectors_), dtype=np.float64) for each in models])
        return X[:SAMPLE] if len(X) else np.stack([np.zeros(d), np.ones(d)])
    X = check_array(on_host(X_sample), dtype=np.float64, input_name="X_sample")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X_sample must have {model.n_features_in_} columns as in training, got {X.shape[1]}.")
    return X[:SAMPLE]
