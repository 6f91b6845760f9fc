"""Factors of matrices: what the array API standard leaves out, and what LAPACK does better in place.

A Cholesky factorisation with one error for "not positive definite", triangular factors and their products, and
work on diagonals.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import array_api_compat
import numpy as np
import scipy.linalg
import scipy.sparse

from sparsebayes._array.elements import appended
from sparsebayes._array.kinds import Array, device, is_numpy, namespace
from sparsebayes._array.transfers import asfloat64

LEAF, LARGEST_SPLIT = 64, 512  # sizes between which a triangular inverse by halves beats LAPACK's
SMALLEST_TRIANGLE = 256  # size from which a product of triangles is worth more calls than one
PANEL = 32  # columns that a QR works on together
FEW, SMALL_PRODUCT = 32, 500_000  # rows and multiplications below which BLAS need not copy a factor first
NARROWEST = 8  # columns: strips narrower than this are no product of matrices


class NotPositiveDefinite(ArithmeticError):
    """The matrix handed to `cholesky` is not positive definite to working precision."""


def cholesky(A: Array) -> Array:
    """Lower factor L with A = L Lᵀ; `NotPositiveDefinite` where there is none. A may be overwritten."""
    if is_numpy(A):
        # A is symmetric, so its transpose is A in LAPACK's own order and needs no copy
        L, info = scipy.linalg.lapack.dpotrf(A.T, lower=1, clean=1, overwrite_a=1)
        if info != 0 or not math.isfinite(L[-1, -1]):
            raise NotPositiveDefinite
        return L
    xp = namespace(A)
    try:
        L = xp.linalg.cholesky(A)
    except Exception as error:  # every library raises a class of its own here
        raise NotPositiveDefinite from error
    if not bool(xp.all(xp.isfinite(L))):
        raise NotPositiveDefinite
    return L


def triangular_inverse(L: Array) -> Array:
    """The inverse of the lower triangular L, which may be overwritten."""
    if is_numpy(L):
        return _inverse_by_halves(L)
    xp = namespace(L)
    if array_api_compat.is_torch_array(L) or array_api_compat.is_jax_array(L):
        return lower_solved(L, xp.eye(L.shape[0], dtype=L.dtype, device=device(L)))
    return xp.tril(xp.linalg.inv(L))


def _inverse_by_halves(L: np.ndarray) -> np.ndarray:
    """[[A, 0], [B, C]]⁻¹ = [[A⁻¹, 0], [−C⁻¹BA⁻¹, C⁻¹]]: matrix products, where LAPACK's own is slow."""
    size = L.shape[0]
    if size <= LEAF or size > LARGEST_SPLIT:
        inverse, info = scipy.linalg.lapack.dtrtri(L, lower=1, overwrite_c=1)
        if info != 0:
            raise NotPositiveDefinite
        return inverse
    half = size // 2
    A, B, C = L[:half, :half], L[half:, :half], L[half:, half:]
    A[...], C[...] = _inverse_by_halves(A), _inverse_by_halves(C)
    B[...] = C @ (B @ -A)
    return L


def lower_solved(L: Array, B: Array) -> Array:
    """L⁻¹B for a lower triangular L (n, n) and B (n, k)."""
    if is_numpy(L):
        return scipy.linalg.solve_triangular(L, B, lower=True, check_finite=False)
    if array_api_compat.is_torch_array(L):
        return namespace(L).linalg.solve_triangular(L, B, upper=False)
    if array_api_compat.is_jax_array(L):
        import jax.scipy.linalg

        return jax.scipy.linalg.solve_triangular(L, B, lower=True)
    return triangular_inverse(L) @ B


def cholesky_solved(L: Array, b: Array) -> Array:
    """(LLᵀ)⁻¹b for a lower triangular L (n, n) and b (n,) or (n, k)."""
    if is_numpy(L):
        return scipy.linalg.cho_solve((L, True), b, check_finite=False)
    half = triangular_inverse(L)
    return half.T @ (half @ b)


def solver_of_lower(L: np.ndarray, like: Array) -> Callable[[Array], Array]:
    """L⁻¹ as a function of B, which may be overwritten; L is on the host, B in the library of `like`."""
    if is_numpy(like):
        # in LAPACK's own order this is a solve from the right
        return lambda B: scipy.linalg.blas.dtrsm(1.0, L, B.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    inverse = asfloat64(scipy.linalg.lapack.dtrtri(L, lower=1)[0], like=like)
    return lambda B: inverse @ B


def solve_positive(A: Array, b: Array) -> Array:
    """A⁻¹ b for a positive definite A (which may be overwritten); `NotPositiveDefinite` where it is not."""
    if is_numpy(A):
        _, x, info = scipy.linalg.lapack.dposv(A.T, b, lower=1, overwrite_a=1)
        if info != 0:
            raise NotPositiveDefinite
        return x
    return cholesky_solved(cholesky(A), b)


def lower_times(L: Array, X: Array) -> Array:
    """L X for a lower triangular L at half the cost of a full product; X may be overwritten."""
    return _triangular_product(L, X, transposed=False) if is_numpy(X) else L @ X


def lower_transposed_times(L: Array, X: Array) -> Array:
    """LᵀX for a lower triangular L."""
    return _triangular_product(L, X.copy(), transposed=True) if is_numpy(X) else L.T @ X


def _triangular_product(L: np.ndarray, X: np.ndarray, transposed: bool) -> np.ndarray:
    """Computed as (XᵀLᵀ)ᵀ or (XᵀL)ᵀ: the transpose of X is in BLAS's own order."""
    trans = 0 if transposed else 1
    return scipy.linalg.blas.dtrmm(1.0, L, X.T, side=1, lower=1, trans_a=trans, overwrite_b=1).T


def lower_gram(L: Array) -> Array:
    """LᵀL for a lower triangular L; a large one at two fifths of the cost of a symmetric product."""
    if not is_numpy(L) or L.shape[0] < SMALLEST_TRIANGLE:
        return L.T @ L
    gram = scipy.linalg.lapack.dlauum(L, lower=1)[0]  # its lower triangle
    for k in range(0, len(gram), LEAF):  # in blocks, which stay in the cache
        rest = k + LEAF
        corner = np.tril(gram[k:rest, k:rest])
        gram[k:rest, k:rest] = corner + np.tril(corner, -1).T
        gram[k:rest, rest:] = gram[rest:, k:rest].T
    return gram.T  # symmetric, and stored by rows


def stacked_triangle(R: Array, B: Array) -> Array:
    """The upper triangular R̃ with R̃ᵀR̃ = RᵀR + BᵀB: a QR of B (n, K) below the triangle R (K, K)."""
    if is_numpy(B):
        if not B.shape[0]:
            return R
        panel = min(PANEL, R.shape[0])
        # B is copied into LAPACK's order, R because it is the caller's
        triangle, _, _, _ = scipy.linalg.lapack.dtpqrt(0, panel, R, np.asfortranarray(B), overwrite_b=1)
        return triangle
    xp = namespace(R, B)
    return xp.linalg.qr(xp.concat([R, B], axis=0), mode="reduced")[1]


def few_times(A: Array, B: Array) -> Array:
    """A B for few rows A (k, n) and a B (n, m) stored by columns.

    BLAS copies a large B before it multiplies, which takes longer than the product with few rows does. It
    need not copy a small one, so that B is taken in strips of columns.
    """
    (k, n), m = A.shape, B.shape[1]
    width = SMALL_PRODUCT // max(k * n, 1)
    if not is_numpy(B) or not B.flags.f_contiguous or not 1 < k <= FEW or not NARROWEST <= width < m:
        return A @ B
    whole = m - m % width
    product = np.empty((k, m), dtype=np.result_type(A, B))
    strips = B.T[:whole].reshape(-1, width, n).transpose(0, 2, 1)
    np.matmul(A, strips, out=product[:, :whole].reshape(k, -1, width).transpose(1, 0, 2))
    np.matmul(A, B[:, whole:], out=product[:, whole:])
    return product


def products_beside(A: Array, B: Array, C: Array) -> Array:
    """[AB, AC], of NumPy arrays filled in place: new memory costs more than the product."""
    if not is_numpy(A):
        return namespace(A).concat([A @ B, A @ C], axis=1)
    size = B.shape[1]
    both = np.empty((A.shape[0], size + C.shape[1]))
    np.matmul(A, B, out=both[:, :size])
    np.matmul(A, C, out=both[:, size:])
    return both


def diagonal(A: Array) -> Array:
    """The diagonal of a square matrix."""
    return A.diagonal() if is_numpy(A) else namespace(A).linalg.diagonal(A)


def add_diagonal(A: Array, d: Array) -> Array:
    """A + diag(d); A is the caller's own and may be changed in place."""
    if is_numpy(A):
        if A.flags.forc:
            A.ravel(order="K")[:: A.shape[0] + 1] += d  # a view, whichever of the two orders A is stored in
        else:
            np.einsum("ii->i", A)[...] += d
        return A
    xp = namespace(A)
    return A + xp.eye(A.shape[0], dtype=A.dtype, device=device(A)) * d


def sparse_diagonal(d: np.ndarray) -> scipy.sparse.csr_array:
    """diag(d) in memory of the order of d, an empty one included."""
    return scipy.sparse.csr_array((d, np.arange(len(d)), np.arange(len(d) + 1)), shape=(len(d), len(d)))


def bordered(A: Array, side: Array, corner: float) -> Array:
    """[[A, side], [sideᵀ, corner]]."""
    size = A.shape[0]
    if is_numpy(A):
        whole = np.empty((size + 1, size + 1))
        whole[:size, :size] = A
        whole[size, :size] = whole[:size, size] = side
        whole[size, size] = corner
        return whole
    xp = namespace(A)
    return xp.concat([xp.concat([A, side[:, None]], axis=1), appended(side, corner)[None, :]], axis=0)
