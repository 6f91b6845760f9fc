"""Inputs, targets and relevance vectors as the displays need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.inspection._matplotlib import shortened


def check_columns(X: Any, allowed: tuple[int, ...], words: str) -> np.ndarray:
    """X as float64 rows; ValueError unless the number of columns is allowed, which `words` describe."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] not in allowed or not len(values):
        raise ValueError(f"X must have {words}, got shape {values.shape}.")
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


def as_rows(values: np.ndarray, like: Any) -> Any:
    """Rows as a table of the same kind as `like`, so that column names stay known."""
    names = getattr(like, "columns", None)
    return values if names is None else type(like)(dict(zip(names, values.T, strict=True)))


def relevance_vectors(estimator: Any, inputs: int) -> np.ndarray:
    """The relevance vectors (S, inputs); S = 0 if the estimator has none that can be drawn."""
    vectors = getattr(estimator, "relevance_vectors_", None)
    if vectors is None or np.ndim(vectors) != 2 or np.shape(vectors)[1] != inputs:
        return np.zeros((0, inputs))
    return np.asarray(vectors, dtype=np.float64)


def circle_heights(
    vectors: np.ndarray, X: np.ndarray | None, of_data: np.ndarray | None, on_curve: np.ndarray
) -> np.ndarray:
    """The height of the first row of X that equals a vector, (S,); that of the curve if there is none.

    X, of_data : (N, d) and (N,) the rows and their heights; None if they are not drawn.
    on_curve : (S,) heights of the curve at the vectors.
    """
    if X is None or of_data is None:
        return on_curve
    same = (X[None, :, :] == vectors[:, None, :]).all(axis=2)
    return np.where(same.any(axis=1), of_data[same.argmax(axis=1)], on_curve)
