"""Elements, rows and columns of an array: chosen, changed, compared and counted."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np

from sparsebayes._array.kinds import (
    DEVICE_BLOCK,
    Array,
    Indices,
    device,
    is_foreign,
    is_numpy,
    namespace,
    on_accelerator,
)
from sparsebayes._array.transfers import index, to_numpy


def take(x: Array, J: Any, axis: int = 0) -> Array:
    """Elements (rows, columns) J of x along `axis`, in that order."""
    if is_numpy(x):
        return x.take(J, axis=axis)
    return namespace(x).take(x, index(J, x), axis=axis)


def rows_of(x: Any, J: np.ndarray) -> Any:
    """Rows J of x, which may be SciPy-sparse."""
    return take(x, J) if is_foreign(x) else x[J]


def rows_at(X: Array, rows: Any) -> Array:
    """X[rows] for a slice, numbers or a mask of the host."""
    if is_numpy(X):
        return X[rows]
    if isinstance(rows, slice):
        return X[rows, ...]
    rows = np.asarray(rows)
    return take(X, np.flatnonzero(rows) if rows.dtype == bool else rows)


def rows_on_host(X: Array, rows: np.ndarray) -> np.ndarray:
    """X[rows] as a NumPy array."""
    return to_numpy(rows_at(X, rows))


def columns_at(A: Array, J: Any) -> Array:
    """A[:, J] for a slice or numbers of the host; of a NumPy array it is stored by columns."""
    if is_numpy(A) or isinstance(J, slice):
        return A[:, J]
    return take(A, J, axis=1)


def submatrix(A: Array, rows: Indices, columns: Indices) -> Array:
    """A[rows, columns], all pairs of them."""
    return take(take(A, rows), columns, axis=1)


def positions(mask: Array) -> Array:
    """Where a mask (n,) is set, as indices in its own library."""
    return namespace(mask).nonzero(mask)[0]


def scattered(values: Array, positions: np.ndarray, size: int) -> Array:
    """A vector (size,) with these values at these positions, and 0 elsewhere."""
    if is_numpy(values):
        whole = np.zeros(size)
        whole[positions] = values
        return whole
    source = np.full(size, len(positions))
    source[positions] = np.arange(len(positions))
    return take(appended(values, 0.0), source)


def picked(A: Array, J: Array) -> Array:
    """One element of each row of A (n, m), that in column J (n,), whose numbers are where A is."""
    if is_numpy(A):
        return A[np.arange(len(A)), J]
    xp = namespace(A)
    return xp.take_along_axis(A, J[:, None], axis=1)[:, 0]


def without_picked(A: Array, J: Array) -> Array:
    """A (n, m), the caller's own, with 0 in column J (n,) of each row."""
    if is_numpy(A):
        A[np.arange(len(A)), J] = 0.0
        return A
    xp = namespace(A)
    columns = xp.arange(A.shape[1], dtype=J.dtype, device=device(A))
    return xp.where(columns[None, :] == J[:, None], xp.zeros_like(A), A)


def zeroed(x: Array, J: np.ndarray) -> Array:
    """x (n,), the caller's own numbers or mask, with 0 or False at the positions J."""
    if is_numpy(x):
        x[J] = 0
        return x
    mask = np.zeros(x.shape[0], dtype=bool)
    mask[J] = True
    xp = namespace(x)
    return xp.where(xp.asarray(mask, device=device(x)), xp.zeros_like(x), x)


def assigned(A: Array, key: Any, values: Array) -> Array:
    """A with A[key] = values, in place where the library can: A is the caller's own."""
    if array_api_compat.is_jax_array(A):
        return A.at[key].set(values)
    A[key] = values
    return A


def increased(x: Array, part: slice, values: Array) -> Array:
    """x (n,), the caller's own, with x[part] += values."""
    if array_api_compat.is_jax_array(x):
        return x.at[part].add(values)
    x[part] += values
    return x


def appended(x: Array, value: float) -> Array:
    """x (n,) and one more number."""
    if is_numpy(x):
        longer = np.empty(len(x) + 1)
        longer[:-1] = x
        longer[-1] = value
        return longer
    return namespace(x).concat([x, namespace(x).full_like(x[:1], value)])


def equal(A: Array, B: Array) -> bool:
    """Whether two arrays have the same shape and the same elements."""
    return A is B or (tuple(A.shape) == tuple(B.shape) and bool(namespace(A, B).all(A == B)))


def all_finite(x: Array) -> bool:
    """Whether x holds neither NaN nor infinity; an array on a GPU is looked at in blocks of rows, without a copy."""
    xp = namespace(x)
    if not on_accelerator(x) or x.ndim == 0:
        return bool(xp.all(xp.isfinite(x)))
    step, n = max(1, DEVICE_BLOCK * x.shape[0] // max(1, math.prod(x.shape))), x.shape[0]
    finite = [xp.all(xp.isfinite(x[start : min(start + step, n), ...])) for start in range(0, n, step)]
    return bool(xp.all(xp.stack(finite))) if finite else True


def count(mask: Array) -> int:
    """How many elements of a mask are set."""
    xp = namespace(mask)
    return int(np.count_nonzero(mask)) if xp is np else int(xp.sum(xp.astype(mask, xp.int64)))


def at_least(x: Array, smallest: float) -> Array:
    """max(x, smallest), elementwise."""
    return np.maximum(x, smallest) if is_numpy(x) else namespace(x).clip(x, smallest, None)


def within(x: Array, bound: float) -> Array:
    """x, elementwise no further from 0 than the bound."""
    return np.minimum(np.maximum(x, -bound), bound) if is_numpy(x) else namespace(x).clip(x, -bound, bound)
