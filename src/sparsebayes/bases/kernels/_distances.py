"""Weighted distances between rows, which the kernels of x − z are functions of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.spatial.distance import cdist

from sparsebayes._array import Array, asfloat64, column_squares, device, gathered, is_numpy, namespace, to_numpy
from sparsebayes.bases.kernels.scales import OneOrEach

# With up to DIRECT_INPUTS inputs differences of coordinates cost little more than a matrix product, and they
# are exact. With up to CAREFUL_INPUTS they are used for rows further than √NEAR from the middle, where a
# product would lose digits
DIRECT_INPUTS, CAREFUL_INPUTS, NEAR = 4, 16, 8.0
ROUNDING = 16 * float(np.finfo(float).eps)
# Sums of squared differences are computed as matrix products for rows less than this number of widths apart
FAR = 1e3
# Rows further than FARTHEST from the middle are put there, and beyond SQUARABLE squares are never expanded:
# differences of two infinite numbers would not be numbers
FARTHEST, SQUARABLE = 1e300, 1e150
FEW = 1 << 14  # differences of coordinates, such as those of one query, that take less time than preparing a product


def squared_distances(X: Array, Z: Array, eta: OneOrEach) -> Array:
    """D (n, m), D_nm = Σ_k η_k (x_nk − z_mk)², for X (n, d), Z (m, d) and eta = η, one or d numbers."""
    X, Z = about_centres(X, Z, np.sqrt(eta))
    xp, d = namespace(X, Z), int(X.shape[1])
    if is_numpy(X) and X.size * len(Z) <= FEW:
        return cdist(X, Z, "sqeuclidean")
    if d > CAREFUL_INPUTS and not (is_numpy(X) and (_is_far(X) or _is_far(Z))):
        return _expanded_squares(X, Z, *(xp.sum(A * A, axis=1, keepdims=True) for A in (X, Z)))
    if d > DIRECT_INPUTS and min(X.shape[0], Z.shape[0]) > 0:
        squares_X, squares_Z = (column_squares(A.T)[:, None] for A in (X, Z))
        largest = float(xp.max(xp.concat([squares_X, squares_Z])))
        if largest <= NEAR:
            # A bound of the rounding error, about 1e-13 for d + 2 products of numbers no larger than 4·NEAR,
            # is subtracted so that equal rows have distance 0. Only rows 1e-6 widths apart are affected
            return _expanded_squares(X, Z, squares_X - ROUNDING * d * largest, squares_Z)
    if is_numpy(X):
        return cdist(X, Z, "sqeuclidean")
    return _sum_of((gap * gap for gap in _gaps(X, Z)), X, Z)


def absolute_distances(X: Array, Z: Array, eta: OneOrEach) -> Array:
    """D (n, m), D_nm = Σ_k η_k |x_nk − z_mk|, arguments as for `squared_distances`."""
    X, Z = about_centres(X, Z, eta)
    return cdist(X, Z, "cityblock") if is_numpy(X) else _sum_of(_gaps(X, Z), X, Z)


def squared_shares(W: Array, D: Array, X: Array, Z: Array, eta: OneOrEach) -> np.ndarray:
    """Σ_nm W_nm η_k (x_nk − z_mk)² for each input k, (d,), or over all inputs, (1,), if η is one number.

    W (n, m) and D = squared_distances(X, Z, eta).
    """
    if np.ndim(eta) == 0:
        return np.asarray([total(W, D)])
    X, Z = about_centres(X, Z, np.sqrt(eta))
    xp = namespace(W, X, Z)
    products = xp.sum(W, axis=1) @ (X * X) + xp.sum(W, axis=0) @ (Z * Z) - 2.0 * xp.sum((W @ Z) * X, axis=0)
    shares, farthest = gathered(products, xp.max(xp.abs(xp.concat([X, Z])), axis=0))
    far = np.flatnonzero(farthest > FAR)
    if len(far):
        gaps = (X[:, k][:, None] - Z[:, k][None, :] for k in far.tolist())
        shares[far] = totals((W, gap * gap) for gap in gaps)
    return shares


def absolute_shares(W: Array, D: Array, X: Array, Z: Array, eta: OneOrEach) -> np.ndarray:
    """Σ_nm W_nm η_k |x_nk − z_mk|, for D = absolute_distances(X, Z, eta), as `squared_shares`."""
    if np.ndim(eta) == 0:
        return np.asarray([total(W, D)])
    return totals((W, gap) for gap in _gaps(*about_centres(X, Z, eta)))


def _sum_of(terms: Iterator[Array], X: Array, Z: Array) -> Array:
    """The sum of arrays (n, m)."""
    D = namespace(X).zeros((X.shape[0], Z.shape[0]), dtype=X.dtype, device=device(X))
    for term in terms:
        D += term
    return D


def _gaps(X: Array, Z: Array) -> Iterator[Array]:
    """|x_nk − z_mk| (n, m) for one input k after the other."""
    return (namespace(X, Z).abs(X[:, k][:, None] - Z[:, k][None, :]) for k in range(X.shape[1]))


def total(W: Array, A: Array) -> float:
    """Σ_nm W_nm A_nm, where 0 times infinity is 0."""
    xp = namespace(W, A)
    summed = float(np.vdot(W, A) if is_numpy(W) and is_numpy(A) else xp.sum(W * A))
    if np.isfinite(summed):
        return summed
    return float(xp.sum(xp.where(W == 0, xp.zeros_like(W), W * A)))


def totals(pairs: Iterable[tuple[Array, Array]]) -> np.ndarray:
    """Σ_nm W_nm A_nm for each pair (W, A), where 0 times infinity is 0; the sums leave a device together."""
    sums = []
    for W, A in pairs:
        if is_numpy(W):
            sums.append(total(W, A))
        else:
            xp = namespace(W, A)
            sums.append(xp.sum(xp.where(W == 0, xp.zeros_like(W), W * A)))
    return np.asarray(sums) if is_numpy(W) else to_numpy(xp.stack(sums))


def about_centres(X: Array, Z: Array, scale: OneOrEach) -> tuple[Array, Array]:
    """Both sets of rows less the mean of Z, times scale; shifted first, to keep digits far from 0."""
    middle = namespace(X, Z).mean(Z, axis=0)[None, :]
    factor = asfloat64(np.atleast_1d(scale), like=X)[None, :]
    return _within_range((X - middle) * factor), _within_range((Z - middle) * factor)


def _within_range(X: Array) -> Array:
    """X with its entries between ±FARTHEST, in place if it is a NumPy array."""
    if not is_numpy(X):
        return namespace(X).clip(X, -FARTHEST, FARTHEST)
    return np.clip(X, -FARTHEST, FARTHEST, out=X) if _is_far(X, FARTHEST) else X


def _is_far(X: np.ndarray, limit: float = SQUARABLE) -> bool:
    """Whether some entry of X is larger than the limit."""
    return bool(X.size) and not (X.max() <= limit and X.min() >= -limit)


def _expanded_squares(X: Array, Z: Array, squares_X: Array, squares_Z: Array) -> Array:
    """‖x‖² − 2 x·z + ‖z‖² as one product [−2x, ‖x‖², 1] · [z, 1, ‖z‖²], with no second (n, m) array."""
    xp = namespace(X, Z)
    left = xp.concat([-2.0 * X, squares_X, xp.ones_like(squares_X)], axis=1)
    right = xp.concat([Z, xp.ones_like(squares_Z), squares_Z], axis=1)
    D = left @ right.T
    if is_numpy(D):
        return np.maximum(D, 0.0, out=D)
    return xp.where(xp.isnan(D), xp.full_like(D, np.inf), xp.clip(D, 0.0, None))
