"""Inputs, targets and relevance vectors as the displays need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._matplotlib import shortened
from sparsebayes.inspection._models import FittedModel, model_of_output

SAME = 1e-9  # of the range of an input, between values that count as the same


def as_numbers(values: Any) -> np.ndarray:
    """Values of any library, from any device, as an array of float64."""
    return np.asarray(on_host(values), dtype=np.float64)


def check_columns(X: Any, allowed: tuple[int, ...], words: str, displays: str) -> np.ndarray:
    """X as float64 rows; ValueError unless the number of columns is allowed, which `words` describe.

    displays : which draw more columns.
    """
    values = as_numbers(X)
    if values.ndim != 2 or values.shape[1] not in allowed or not len(values):
        advice = f"; use {displays}" if values.ndim == 2 and values.shape[1] > max(allowed) else ""
        raise ValueError(f"X must have {words}, got shape {values.shape}{advice}.")
    return values


def check_length(y: np.ndarray, n: int) -> np.ndarray:
    """The targets y; ValueError unless there is one per row of X."""
    if y.shape != (n,):
        raise ValueError(f"y must have {n} values, one per row of X, got shape {y.shape}.")
    return y


def column_names(X: Any, count: int) -> list[str]:
    """The names of the columns of a table; of an array "x", or "$x_1$", "$x_2$", … if there are several."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return ["x"] if count == 1 else [f"$x_{k + 1}$" for k in range(count)]
    return [shortened(name) for name in names]


def target_name(y: Any) -> str:
    """What the target is called: the name of a column, else "y"."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def target_label(y: Any) -> str:
    """What the target is called beside an axis."""
    return shortened(target_name(y))


def like_dates(values: np.ndarray, X: Any) -> np.ndarray:
    """Values of a single column of X as dates if that is what the column holds."""
    dtype = getattr(X, "dtype", None) or np.asarray(X).dtype
    return np.rint(values).astype(np.int64).astype(dtype) if getattr(dtype, "kind", "") == "M" else values


def as_rows(values: np.ndarray, like: Any) -> Any:
    """Rows as a table of the same kind as `like`, so that column names stay known."""
    names = getattr(like, "columns", None)
    return values if names is None else type(like)(dict(zip(names, values.T, strict=True)))


def relevance_vectors(fitted: FittedModel, inputs: int, output: int | None = None) -> np.ndarray:
    """The relevance vectors in the units of X, (S, inputs); S = 0 if the model has none that can be drawn.

    Those of a pipeline are taken back through the steps before the model, if these have an inverse.
    """
    model = model_of_output(fitted.last, output)[0] if fitted.has("estimators_", "outputs_") else fitted.last
    vectors = on_host(getattr(model, "relevance_vectors_", None))
    if vectors is not None and np.ndim(vectors) == 2 and fitted.before is not None:
        invert = getattr(fitted.before, "inverse_transform", None)
        vectors = None if invert is None else invert(vectors)
    if vectors is None or np.ndim(vectors) != 2 or np.shape(vectors)[1] != inputs:
        return np.zeros((0, inputs))
    return as_numbers(vectors)


def circle_heights(
    vectors: np.ndarray, X: np.ndarray | None, of_data: np.ndarray | None, on_curve: np.ndarray
) -> np.ndarray:
    """The height of the first row of X at a vector, (S,); that of the curve if there is none.

    X, of_data : (N, d) and (N,) the rows and their heights; None if they are not drawn.
    on_curve : (S,) heights of the curve at the vectors.
    """
    if X is None or of_data is None:
        return on_curve
    near = SAME * np.ptp(X, axis=0)  # vectors of a pipeline are rounded
    same = (np.abs(X[None, :, :] - vectors[:, None, :]) <= near).all(axis=2)
    return np.where(same.any(axis=1), of_data[same.argmax(axis=1)], on_curve)


def refuse_channels(channel_axis: int | None) -> None:
    """ValueError if signals have channels, which are drawn one by one."""
    if channel_axis is not None:
        raise ValueError(
            f"channel_axis must be None to draw, got {channel_axis}; draw one channel, such as x[..., 0], denoised "
            "with channel_axis=None."
        )
