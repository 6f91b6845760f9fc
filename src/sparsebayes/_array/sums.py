"""Sums of products along rows, along columns, or over all elements."""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._array.elements import take
from sparsebayes._array.kinds import Array, is_numpy, namespace

BLOCK = 1 << 15  # elements looked at together: small enough to stay in the cache


def row_products(A: Array, B: Array) -> Array:
    """Σ_m a_nm b_nm for every row n."""
    return np.einsum("ij,ij->i", A, B) if is_numpy(A) else namespace(A).sum(A * B, axis=1)


def column_products(A: Array, B: Array) -> Array:
    """Σ_n a_nm b_nm for every column m."""
    return np.einsum("ij,ij->j", A, B) if is_numpy(A) else namespace(A).sum(A * B, axis=0)


def column_squares(A: Array) -> Array:
    """Sums of squares down the columns of A."""
    if is_numpy(A):
        # one inner product a column, where columns are stored as such
        return np.vecdot(A.T, A.T) if A.flags.f_contiguous else np.einsum("ij,ij->j", A, A)
    return namespace(A).sum(A * A, axis=0)


def weighted_squares(A: Array, weights: Array) -> Array:
    """Σ_n w_n a_nm² for every column m."""
    if is_numpy(A) and (weights == 1).all():
        return column_squares(A)
    return weights @ (A * A)


def row_squares(X: Array) -> Array:
    """Σ_k x_mk² of every row of X (m, k); the squares of X (m,)."""
    return row_inner(X, X)


def row_inner(X: Array, Y: Array) -> Array:
    """Σ_k x_mk y_mk of every row of X and Y (m, k); the products of X and Y (m,)."""
    return X * Y if X.ndim == 1 else row_products(X, Y)


def row_lengths(X: Array) -> Array:
    """The length of every row of X (m, k); X (m,) itself, which has a sign."""
    return X if X.ndim == 1 else namespace(X).sqrt(row_squares(X))


def scaled_rows(X: Array, scale: Array) -> Array:
    """X (m,) or (m, k), every row times its scale (m,)."""
    return scale * X if X.ndim == 1 else scale[:, None] * X


def combined_rows(weights: Array, X: Array) -> Array:
    """Σ_s w_s x_s of the rows of X (s, m), (m,); for weights (s, k) one such sum each, (m, k)."""
    return weights @ X if weights.ndim == 1 else X.T @ weights


def outer(X: Array) -> Array:
    """XXᵀ (m, m) of X (m, k) or (m,): the products of its rows with each other."""
    return X[:, None] * X[None, :] if X.ndim == 1 else X @ X.T


def inner(X: Array, Y: Array) -> float:
    """Σ x y over all elements of two arrays of the same shape."""
    return float(X @ Y) if X.ndim == 1 else total(X * Y)


def flat_inner(X: Array, Y: Array) -> float:
    """Σ x y over all elements of two arrays of the same shape, without an array of the products."""
    if is_numpy(X):
        return float(np.vdot(X, Y))
    xp = namespace(X)
    return float(xp.vecdot(xp.reshape(X, (-1,)), xp.reshape(Y, (-1,))))


def total(x: Array) -> float:
    """Σ of all elements; a number as it is."""
    if isinstance(x, float):
        return x
    return float(np.add.reduce(x, axis=None) if is_numpy(x) else namespace(x).sum(x))


def masked_sum(x: Array, mask: np.ndarray) -> float:
    """Σ of the x (n,) where the mask is set; a block at a time, without a copy of either."""
    if not is_numpy(x):
        return float(namespace(x).sum(take(x, np.flatnonzero(mask))))
    starts = range(0, len(x), BLOCK)
    return math.fsum(x[k : k + BLOCK] @ mask[k : k + BLOCK].astype(np.float64) for k in starts)


def roots_of_squares(A: Array, C: Array, constant: float) -> Array:
    """√(aᵀCa + c) for every row a of A (n, m), with C (m, m) and c = constant.

    Rows whose square overflows are divided by their largest entry first.
    """
    xp = namespace(A)
    with np.errstate(over="ignore", invalid="ignore"):
        roots = xp.sqrt(row_products(A @ C, A) + constant)
        far = ~xp.isfinite(roots)
        if not bool(xp.any(far)):
            return roots
        largest = xp.max(xp.abs(A), axis=1)
        unit = xp.where(far, largest, xp.ones_like(largest))
        A = A / unit[:, None]
        return unit * xp.sqrt(row_products(A @ C, A) + constant / unit / unit)
