"""What the displays ask of the inputs, the targets and the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_columns(X: Any, allowed: tuple[int, ...], words: str) -> np.ndarray:
    """X as float64 rows of as many columns as can be drawn; `words` say how many those are."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] not in allowed or not len(values):
        raise ValueError(f"X must have {words}, got shape {values.shape}.")
    return values


def check_length(y: np.ndarray, n: int) -> np.ndarray:
    """Targets y that are one a row of X."""
    if y.shape != (n,):
        raise ValueError(f"y must have {n} values, one a row of X, got shape {y.shape}.")
    return y


def as_rows(values: np.ndarray, like: Any) -> Any:
    """Rows as a table of the same kind as `like`, so that column names stay known."""
    names = getattr(like, "columns", None)
    return values if names is None else type(like)(dict(zip(names, values.T, strict=True)))


def relevance_vectors(estimator: Any, inputs: int) -> np.ndarray:
    """The relevance vectors (S, inputs); none where the estimator has none that can be drawn."""
    vectors = getattr(estimator, "relevance_vectors_", None)
    if vectors is None or np.ndim(vectors) != 2 or np.shape(vectors)[1] != inputs:
        return np.zeros((0, inputs))
    return np.asarray(vectors, dtype=np.float64)


def matches(vectors: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each vector is a row of X, and the first such row (a repeated input counts once)."""
    same = (X[None, :, :] == vectors[:, None, :]).all(axis=2)
    return same.any(axis=1), same.argmax(axis=1)
