"""Array namespaces: the only file that knows NumPy, torch, CuPy and array-api-strict differ.

Everything in the core asks `namespace` for the functions that belong to its input and calls nothing else.
What the array API standard leaves out is supplied here: a Cholesky factorisation with one error for "not
positive definite", triangular inverses, work on diagonals, and the two ways between libraries and devices:
`to_numpy` is the only way to the host, and `beside` (with `asfloat64(…, like=…)`) the only way anywhere else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import array_api_compat
import numpy as np
import scipy.linalg
import scipy.sparse

Array = Any  # an array of any namespace that follows the array API standard
Indices = Sequence[int] | np.ndarray  # which functions (or positions): bookkeeping, always on the host

BLOCK = 1 << 15  # elements looked at together: small enough to stay in the cache
LEAF, LARGEST_SPLIT = 64, 512  # sizes between which a triangular inverse by halves beats LAPACK's
SMALLEST_TRIANGLE = 256  # size from which a product of triangles is worth more calls than one
PANEL = 32  # columns that a QR works on together
FEW, SMALL_PRODUCT = 32, 500_000  # rows and multiplications below which BLAS need not copy a factor first
NARROWEST = 8  # columns: strips narrower than this are no product of matrices
DEVICE_BLOCK = 1 << 25  # elements that a GPU works on together: few enough for its memory, many enough to be busy


class NotPositiveDefinite(ArithmeticError):
    """The matrix handed to `cholesky` is not positive definite to working precision."""


def namespace(*arrays: Array) -> Any:
    """The array namespace the arguments share. NumPy 2 follows the standard itself and needs no wrapper."""
    if all(isinstance(x, np.ndarray) for x in arrays):
        return np
    return array_api_compat.array_namespace(*arrays)


def is_numpy(x: Array) -> bool:
    """Whether x is a NumPy array: the one that can be worked on in place by SciPy's LAPACK."""
    return isinstance(x, np.ndarray)


def device(x: Array) -> Any:
    """The device x lives on."""
    return array_api_compat.device(x)


def asfloat64(x: Array, like: Array | None = None) -> Array:
    """x as float64 in the namespace (and on the device) of `like`, of x itself where that is not given."""
    if like is None:
        if not array_api_compat.is_array_api_obj(x):
            return np.asarray(x, dtype=np.float64)
        xp = namespace(x)
        return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)
    if is_foreign(x):
        x = beside(x, like)
        return x if x.dtype == namespace(x).float64 else namespace(x).astype(x, namespace(x).float64)
    xp = namespace(like)
    if xp is not np:
        x = _own_copy(x)
    return xp.asarray(x, dtype=xp.float64, device=device(like))


def is_complex(x: Any) -> bool:
    """Whether x, an array or a sequence of numbers, is complex."""
    if array_api_compat.is_array_api_obj(x):
        return bool(namespace(x).isdtype(x.dtype, "complex floating"))
    return np.asarray(x).dtype.kind == "c"


def require_real(x: Any, name: str) -> None:
    """Refuse complex values, whose imaginary part would be dropped."""
    if is_complex(x):
        raise ValueError(f"{name} must hold real numbers, got complex ones.")


def index(J: Any, like: Array) -> Array:
    """The integer indices J as an array in the namespace and on the device of `like`."""
    if is_foreign(J):
        return J
    xp = namespace(like)
    return xp.asarray(np.asarray(J, dtype=np.int64), device=device(like))


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


def equal(A: Array, B: Array) -> bool:
    """Whether two arrays have the same shape and the same elements."""
    return A is B or (tuple(A.shape) == tuple(B.shape) and bool(namespace(A, B).all(A == B)))


def together(elements: int, like: Array) -> int:
    """How many elements are worked on together: those given for the cache of a host, many more on a GPU."""
    return max(elements, DEVICE_BLOCK) if on_accelerator(like) else elements


def on_accelerator(x: Array) -> bool:
    """Whether x is on a GPU or the like, where many small operations cost more than few large ones."""
    if is_numpy(x):
        return False
    if array_api_compat.is_torch_array(x):
        return x.device.type != "cpu"
    if array_api_compat.is_jax_array(x):
        return any(place.platform != "cpu" for place in x.devices())
    if is_strict(x):
        return device(x) != namespace(x).Device("CPU_DEVICE")
    return array_api_compat.is_cupy_array(x)


def gathered(*arrays: Array) -> list[np.ndarray]:
    """Arrays of one library on the host as float64, by one transfer: each transfer waits for all work before it."""
    if all(is_numpy(x) for x in arrays):
        return list(arrays)
    xp = namespace(*arrays)
    flat = to_numpy(xp.concat([xp.astype(xp.reshape(x, (-1,)), xp.float64) for x in arrays]))
    ends = np.cumsum([math.prod(x.shape) for x in arrays])[:-1]
    return [piece.reshape(x.shape) for piece, x in zip(np.split(flat, ends), arrays, strict=True)]


def float_bits(X: Array) -> Array:
    """The 64 bits of every float64 as an integer: unsigned of a NumPy array, signed of another, on its device."""
    if is_numpy(X):
        return np.ascontiguousarray(X, dtype=np.float64).view(np.uint64)
    X, xp = asfloat64(X), namespace(X)
    if array_api_compat.is_torch_array(X) or array_api_compat.is_cupy_array(X) or array_api_compat.is_jax_array(X):
        return (X if array_api_compat.is_jax_array(X) else xp.asarray(X, copy=True)).view(xp.int64)
    # the standard has no way to look at bits: through the host
    return xp.asarray(to_numpy(X).view(np.int64), device=device(X))


def positions(mask: Array) -> Array:
    """Where a mask (n,) is set, as indices in its own library."""
    return namespace(mask).nonzero(mask)[0]


def submatrix(A: Array, rows: Indices, columns: Indices) -> Array:
    """A[rows, columns], all pairs of them."""
    return take(take(A, rows), columns, axis=1)


def to_numpy(x: Array) -> np.ndarray:
    """A NumPy copy or view of x on the host; a NumPy array as it is."""
    return x if isinstance(x, np.ndarray) else fetched(x)


def fetched(x: Array) -> np.ndarray:
    """An array of any other library as a NumPy array on the host: the one place where data leave a device."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
        return (x if converts_silently(x) else x.to(namespace(x).float32)).numpy()  # NumPy has no bfloat16
    if array_api_compat.is_cupy_array(x):
        return x.get()
    if is_strict(x):  # whose devices only pretend not to be the host
        return np.asarray(x.to_device(namespace(x).Device("CPU_DEVICE")))
    return np.asarray(x)


def is_foreign(x: Any) -> bool:
    """Whether x is an array in memory, or on a device, of another library than NumPy that follows the standard."""
    if isinstance(x, np.ndarray | np.generic) or not array_api_compat.is_array_api_obj(x):
        return False
    return not array_api_compat.is_dask_array(x)


def converts_silently(x: Any) -> bool:
    """Whether NumPy can read x, an array of any library, without being told to: not from most devices."""
    try:
        np.asarray(x[(slice(0, 0),) * x.ndim])
    except (TypeError, RuntimeError, ValueError):  # every library raises a class of its own here
        return False
    return True


def are_together(x: Array, like: Array) -> bool:
    """Whether two arrays belong to one library and lie on one device."""
    if is_numpy(x) or is_numpy(like):
        return is_numpy(x) and is_numpy(like)
    return namespace(x) is namespace(like) and device(x) == device(like)


def beside(x: Any, like: Array) -> Array:
    """x, an array of any library, in the library and on the device of `like`; as it is if it is there."""
    if type(x) is type(like) is np.ndarray:
        return x
    if not is_foreign(like):
        return to_numpy(x) if is_foreign(x) else np.asarray(x)
    if is_foreign(x):
        if are_together(x, like):
            return x
        if namespace(x) is namespace(like):
            return array_api_compat.to_device(x, device(like))
        x = to_numpy(x)
    return namespace(like).asarray(_own_copy(x), device=device(like))


def _own_copy(x: Any) -> np.ndarray:
    """x as a NumPy array that nobody else changes: torch shares its memory, and takes no strides below zero."""
    return np.array(x)


def described(x: Any) -> str:
    """The library and the device of an array, for errors."""
    if not is_foreign(x):
        return "a NumPy array on the host"
    library = "JAX" if array_api_compat.is_jax_array(x) else namespace(x).__name__.rpartition(".")[2]
    return f"an array of {library} on {device(x)}"


def has_float64(x: Array) -> bool:
    """Whether the library and the device of x have float64: JAX has it if told so, some devices never."""
    xp = namespace(x)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return xp.zeros((1,), dtype=xp.float64, device=device(x)).dtype == xp.float64
    except (TypeError, RuntimeError, ValueError):
        return False


def has_elements(x: Array) -> bool:
    """Whether the elements of x can be read: not those of sparse tensors of torch, nor of those on its device meta."""
    return not array_api_compat.is_torch_array(x) or (str(x.layout) == "torch.strided" and not x.is_meta)


def detached(x: Array) -> Array:
    """x without the record of how it was computed, which torch keeps for derivatives."""
    return x.detach() if array_api_compat.is_torch_array(x) else x


def is_strict(x: Any) -> bool:
    """Whether x is an array of array-api-strict, which stands for any other library in tests."""
    return array_api_compat.is_array_api_obj(x) and array_api_compat.is_array_api_strict_namespace(namespace(x))


def all_finite(x: Array) -> bool:
    """Whether x holds neither NaN nor infinity; an array on a GPU is looked at in blocks of rows, without a copy."""
    xp = namespace(x)
    if not on_accelerator(x) or x.ndim == 0:
        return bool(xp.all(xp.isfinite(x)))
    step, n = max(1, DEVICE_BLOCK * x.shape[0] // max(1, math.prod(x.shape))), x.shape[0]
    finite = [xp.all(xp.isfinite(x[start : min(start + step, n), ...])) for start in range(0, n, step)]
    return bool(xp.all(xp.stack(finite))) if finite else True


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


def lower_times(L: Array, X: Array) -> Array:
    """L X for a lower triangular L at half the cost of a full product; X may be overwritten."""
    return _triangular_product(L, X, transposed=False) if is_numpy(X) else L @ X


def lower_transposed_times(L: Array, X: Array) -> Array:
    """LᵀX for a lower triangular L."""
    return _triangular_product(L, X.copy(), transposed=True) if is_numpy(X) else L.T @ X


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


def _triangular_product(L: np.ndarray, X: np.ndarray, transposed: bool) -> np.ndarray:
    """Computed as (XᵀLᵀ)ᵀ or (XᵀL)ᵀ: the transpose of X is in BLAS's own order."""
    trans = 0 if transposed else 1
    return scipy.linalg.blas.dtrmm(1.0, L, X.T, side=1, lower=1, trans_a=trans, overwrite_b=1).T


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


def diagonal(A: Array) -> Array:
    """The diagonal of a square matrix."""
    return A.diagonal() if is_numpy(A) else namespace(A).linalg.diagonal(A)


def sparse_diagonal(d: np.ndarray) -> scipy.sparse.csr_array:
    """diag(d) in memory of the order of d, an empty one included."""
    return scipy.sparse.csr_array((d, np.arange(len(d)), np.arange(len(d) + 1)), shape=(len(d), len(d)))


def appended(x: Array, value: float) -> Array:
    """x (n,) and one more number."""
    if is_numpy(x):
        longer = np.empty(len(x) + 1)
        longer[:-1] = x
        longer[-1] = value
        return longer
    return namespace(x).concat([x, namespace(x).full_like(x[:1], value)])


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


def column_squares(A: Array) -> Array:
    """Sums of squares down the columns of A."""
    if is_numpy(A):
        # one inner product a column, where columns are stored as such
        return np.vecdot(A.T, A.T) if A.flags.f_contiguous else np.einsum("ij,ij->j", A, A)
    return namespace(A).sum(A * A, axis=0)


def row_products(A: Array, B: Array) -> Array:
    """Σ_m a_nm b_nm for every row n."""
    return np.einsum("ij,ij->i", A, B) if is_numpy(A) else namespace(A).sum(A * B, axis=1)


def column_products(A: Array, B: Array) -> Array:
    """Σ_n a_nm b_nm for every column m."""
    return np.einsum("ij,ij->j", A, B) if is_numpy(A) else namespace(A).sum(A * B, axis=0)


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


def row_squares(X: Array) -> Array:
    """Σ_k x_mk² of every row of X (m, k); the squares of X (m,)."""
    return row_inner(X, X)


def row_inner(X: Array, Y: Array) -> Array:
    """Σ_k x_mk y_mk of every row of X and Y (m, k); the products of X and Y (m,)."""
    return X * Y if X.ndim == 1 else row_products(X, Y)


def combined_rows(weights: Array, X: Array) -> Array:
    """Σ_s w_s x_s of the rows of X (s, m), (m,); for weights (s, k) one such sum each, (m, k)."""
    return weights @ X if weights.ndim == 1 else X.T @ weights


def row_lengths(X: Array) -> Array:
    """The length of every row of X (m, k); X (m,) itself, which has a sign."""
    return X if X.ndim == 1 else namespace(X).sqrt(row_squares(X))


def scaled_rows(X: Array, scale: Array) -> Array:
    """X (m,) or (m, k), every row times its scale (m,)."""
    return scale * X if X.ndim == 1 else scale[:, None] * X


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


def masked_sum(x: Array, mask: np.ndarray) -> float:
    """Σ of the x (n,) where the mask is set; a block at a time, without a copy of either."""
    if not is_numpy(x):
        return float(namespace(x).sum(take(x, np.flatnonzero(mask))))
    starts = range(0, len(x), BLOCK)
    return math.fsum(x[k : k + BLOCK] @ mask[k : k + BLOCK].astype(np.float64) for k in starts)


def weighted_squares(A: Array, weights: Array) -> Array:
    """Σ_n w_n a_nm² for every column m."""
    if is_numpy(A) and (weights == 1).all():
        return column_squares(A)
    return weights @ (A * A)


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


def solve_positive(A: Array, b: Array) -> Array:
    """A⁻¹ b for a positive definite A (which may be overwritten); `NotPositiveDefinite` where it is not."""
    if is_numpy(A):
        _, x, info = scipy.linalg.lapack.dposv(A.T, b, lower=1, overwrite_a=1)
        if info != 0:
            raise NotPositiveDefinite
        return x
    return cholesky_solved(cholesky(A), b)
