"""Predictions of lazy rows: a Dask array of predictions, block by block, not computed."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np

from sparsebayes.distributed.dask_rows import NAME, blocks_of_array

SCORES = {"predict_proba", "predict_log_proba"}  # one column per class


@dataclass(frozen=True)
class _Block:
    """A method of a fitted model at some rows; several results side by side.

    method, options : what to call.  shape, kind : of the result of one row, and its type.
    """

    method: str
    options: dict[str, Any]
    shape: tuple[int, ...]
    kind: Any

    def __call__(self, model: Any, rows: Any) -> np.ndarray:
        if rows.shape[0] == 0:
            return np.empty((0, *self.shape), dtype=self.kind)
        found = getattr(model, self.method)(rows, **self.options)
        return np.stack(found, axis=1) if isinstance(found, tuple) else found


def predict_lazily(model: Any, method: str, X: Any, options: dict[str, Any]) -> Any:
    """What a method of a fitted model gives at the rows of a Dask collection, lazily.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    method : str
        The name of a method that predicts every row by itself.
    X : dask array of shape (N, d) or dask dataframe
        Where to predict.
    options : dict
        Further arguments of the method.

    Returns
    -------
    dask array or tuple of dask arrays
        One entry per row (one row of several outputs), in the chunks of X; two arrays where the method returns two.
    """
    shape, kind = _shape_of(model, method, options)
    tag, block = uuid4().hex, dask.delayed(_Block(method, options, shape, kind), pure=True)
    sent = dask.delayed(_portable(model), name=f"{NAME}-model-{tag}", traverse=False)
    meta = np.empty((0,) * (1 + len(shape)), dtype=kind)
    blocks = [
        da.from_delayed(block(sent, rows, dask_key_name=(f"{NAME}-{method}-{tag}", k)), (size, *shape), meta=meta)
        for k, (rows, size) in enumerate(_as_blocks(model, X))
    ]
    found = da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)
    return (found[:, 0], found[:, 1]) if _has_two(method, options) else found


def _as_blocks(model: Any, X: Any) -> list[tuple[Any, float]]:
    """The blocks of X, lazily, and how many rows each has; ValueError for another number of columns."""
    if hasattr(X, "columns"):
        return [(rows, math.nan) for rows in X.to_delayed()]
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (rows, features), got {X.ndim}.")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features as "
            "input."
        )
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    return list(zip(blocks_of_array(X), X.chunks[0], strict=True))


def _has_two(method: str, options: dict[str, Any]) -> bool:
    """Whether a method returns two arrays."""
    return method == "predict_interval" or bool(options.get("return_std"))


def _shape_of(model: Any, method: str, options: dict[str, Any]) -> tuple[tuple[int, ...], Any]:
    """The shape of what a method gives for a row, and its type."""
    if options.get("return_cov"):
        raise ValueError(
            "return_cov must be False for a Dask collection, got True: the covariance joins all rows; pass the rows "
            "concerned as an array."
        )
    classes = getattr(model, "classes_", None)
    if classes is not None and method == "predict":
        return (), classes.dtype
    if classes is None:
        outputs = np.shape(model.intercept_)
        return (2, *outputs) if _has_two(method, options) else outputs, np.float64
    if method not in SCORES and len(classes) == 2:
        return (), np.float64
    return (len(classes),), np.float64


def _portable(model: Any) -> Any:
    """The model without what predictions of single rows do not need: no candidates, trace or callback."""
    model = copy.copy(model)
    for name in ("candidates_", "trace_", "evidence_path_", "components_", "statistics_"):
        vars(model).pop(name, None)
    # a block knows nothing of the range of the others, and a worker's warnings are seen by nobody
    for name in ("callback", "_range"):
        if name in vars(model):
            setattr(model, name, None)
    if hasattr(model, "estimators_"):  # a model for each group of outputs
        model.estimators_ = [_portable(each) for each in model.estimators_]
    return model


@dataclass(frozen=True)
class _Signals:
    """The transform of some signals; with `return_std` two arrays side by side.  model : a fitted transformer."""

    model: Any
    return_std: bool

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if not len(X):
            return np.empty((0, 2, *X.shape[1:]) if self.return_std else X.shape)
        found = self.model.transform(X, return_std=self.return_std)
        return np.stack(found, axis=1) if self.return_std else found


def transform_lazily(model: Any, X: Any, return_std: bool) -> Any:
    """Many signals, each transformed on its own, lazily.

    Parameters
    ----------
    model : WaveletDenoiser
        A fitted denoiser.
    X : dask array with one axis more than a signal has, or dask dataframe
        A signal in each row.
    return_std : bool
        Whether standard deviations are wanted as well.

    Returns
    -------
    dask array or tuple of dask arrays
        In the chunks of X along its first axis.
    """
    X = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    axes = model.ndim + 1 + (model.channel_axis is not None)
    if X.ndim != axes:
        raise ValueError(
            f"X must have {axes} axes with ndim={model.ndim} and channel_axis={model.channel_axis} for a Dask "
            f"collection, which holds many signals, got {X.ndim}; pass one signal as an array."
        )
    X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    single = copy.copy(model)
    for name in ("coef_", "feature_names_in_"):  # of the signals of `fit`
        vars(single).pop(name, None)
    if not return_std:
        return X.map_blocks(_Signals(single, False), dtype=np.float64, meta=np.empty((0,) * X.ndim))
    chunks = (X.chunks[0], (2,), *X.chunks[1:])
    meta = np.empty((0,) * (X.ndim + 1))
    found = X.map_blocks(_Signals(single, True), chunks=chunks, new_axis=1, dtype=np.float64, meta=meta)
    return found[:, 0], found[:, 1]
