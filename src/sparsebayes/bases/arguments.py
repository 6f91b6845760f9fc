"""Arguments of bases, checked: scales, numbers of functions, rows of inputs; and values that must be finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, asfloat64, is_numpy, namespace, to_numpy


def split(values: Any, sizes: Sequence[int]) -> list[np.ndarray]:
    """values (P,) in pieces of the given sizes, which add up to P."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (sum(sizes),):
        raise ValueError(f"values must be {sum(sizes)} logarithms of scales, got shape {values.shape}.")
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []


def as_indices(J: Any, M: int) -> np.ndarray:
    """J as an array of integers in 0 … M−1."""
    indices = np.asarray(J)
    if indices.size == 0:
        return np.zeros(0, dtype=np.int64)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise TypeError(f"J must be a sequence of integers, got {J!r}.")
    if indices.min() < 0 or indices.max() >= M:
        raise IndexError(f"J must lie between 0 and {M - 1}, got {indices.min()} to {indices.max()}.")
    return indices.astype(np.int64)


def as_points(X: Any, n_inputs: int | None = None, name: str = "X") -> Array:
    """X as a dense float64 array of rows (n, d), where d = n_inputs if that is given."""
    if scipy.sparse.issparse(X):
        raise TypeError(f"{name} must be dense for this basis, got a SciPy sparse matrix.")
    X = asfloat64(X)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {X.ndim}.")
    if n_inputs is not None and X.shape[1] != n_inputs:
        raise ValueError(f"{name} must have {n_inputs} columns as in training, got {X.shape[1]}.")
    return X


class OutOfRange(ValueError):
    """Functions are not finite at a row of X.

    Parameters
    ----------
    source : object
        The basis, or whatever else the values are of.
    row : int
        The number of the first such row.
    """

    def __init__(self, source: object, row: int) -> None:
        self.source, self.row = " ".join(str(source).split()), row
        super().__init__(
            f"{self.source} returned values that are not finite at row {row} of X: rescale X if it has very large or "
            "very small values, and see that the kernel is defined there if it is a function of yours."
        )


def check_finite(values: Array, source: object) -> Array:
    """The values (n, …) unchanged; OutOfRange, a ValueError, if any is infinite or NaN."""
    xp = namespace(values)
    # a finite sum of squares implies finite values and needs no second array
    if is_numpy(values) and np.isfinite(np.vdot(values, values)):
        return values
    finite = xp.isfinite(values)
    if not bool(xp.all(finite)):
        by_row = to_numpy(finite).reshape(finite.shape[0], -1).all(axis=1)
        raise OutOfRange(source, int(by_row.argmin()))
    return values
