import array_api_strict
import numpy as np
import pytest

from sparsebayes import _array
from sparsebayes._array import NotPositiveDefinite, sums, to_numpy


def _positive(seed, size):
    A = np.random.default_rng(seed).standard_normal((size + 3, size))
    return A.T @ A


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1, 3, 40, 90, 200])
def test_linear_algebra_equals_numpys_in_either_order_and_namespace(order, size):
    A, b = np.array(_positive(0, size), order=order), np.arange(1.0, size + 1)
    for convert in (np.copy, lambda x: np.array(x, order=order), array_api_strict.asarray):
        L = _array.cholesky(convert(A))
        np.testing.assert_allclose(np.asarray(L), np.linalg.cholesky(A), atol=1e-10)
        inverse = np.asarray(_array.triangular_inverse(L))
        np.testing.assert_allclose(inverse, np.linalg.inv(np.linalg.cholesky(A)), rtol=1e-6, atol=1e-8)
        lower, wide = np.tril(A), np.arange(3.0 * size).reshape(size, 3)
        product = np.asarray(_array.lower_times(convert(lower), convert(wide)))
        np.testing.assert_allclose(product, lower @ wide, rtol=1e-9, atol=1e-6)
        untouched = convert(wide)
        product = np.asarray(_array.lower_transposed_times(convert(lower), untouched))
        np.testing.assert_allclose(product, lower.T @ wide, rtol=1e-9, atol=1e-6)
        np.testing.assert_array_equal(np.asarray(untouched), wide)
        gram = np.asarray(_array.lower_gram(convert(lower)))
        np.testing.assert_allclose(gram, lower.T @ lower, rtol=1e-9, atol=1e-6)
        x = np.asarray(_array.solve_positive(convert(A), convert(b)))
        np.testing.assert_allclose(A @ x, b, rtol=1e-6, atol=1e-6)
        shifted = _array.add_diagonal(convert(A), convert(b))
        np.testing.assert_array_equal(np.asarray(shifted), A + np.diag(b))
        np.testing.assert_array_equal(np.asarray(_array.diagonal(convert(A))), A.diagonal())
        squares = np.asarray(_array.column_squares(convert(A)))
        np.testing.assert_allclose(squares, (A**2).sum(axis=0))
        weighted = np.asarray(_array.weighted_squares(convert(A), convert(b)))
        np.testing.assert_allclose(weighted, b @ A**2)
        whole = np.asarray(_array.bordered(convert(A), convert(b), 7.0))
        np.testing.assert_array_equal(whole, np.block([[A, b[:, None]], [b[None, :], np.full((1, 1), 7.0)]]))


@pytest.mark.parametrize("size", [1, 40, 90])
def test_triangles_are_solved_in_every_library(size, backend):
    L, B = np.linalg.cholesky(_positive(1, size)), np.random.default_rng(2).standard_normal((size, 3))
    expected = np.linalg.solve(L, B)
    np.testing.assert_allclose(
        to_numpy(_array.lower_solved(backend.asarray(L), backend.asarray(B))), expected, rtol=1e-8
    )
    solved = _array.cholesky_solved(backend.asarray(L), backend.asarray(B))
    assert backend.is_own(solved)
    np.testing.assert_allclose(to_numpy(solved), np.linalg.solve(L @ L.T, B), rtol=1e-6)
    inverse = to_numpy(_array.triangular_inverse(backend.asarray(L.copy())))
    np.testing.assert_allclose(inverse @ L, np.eye(size), atol=1e-9)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0)


@pytest.mark.parametrize("size", [255, 256, 257, 320, 331])
def test_products_of_large_triangles_are_symmetric(size):
    lower = np.asfortranarray(np.tril(np.random.default_rng(size).standard_normal((size, size))))
    before = lower.copy()
    gram = _array.lower_gram(lower)
    np.testing.assert_allclose(gram, before.T @ before, atol=1e-11)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(lower, before)


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_one_error_for_what_is_not_positive_definite(xp):
    A = xp.asarray(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(NotPositiveDefinite):
        _array.cholesky(xp.asarray(A, copy=True))
    with pytest.raises(NotPositiveDefinite):
        _array.solve_positive(xp.asarray(A, copy=True), xp.asarray(np.ones(2)))


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_take_and_conversions(xp):
    A = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(np.asarray(_array.take(xp.asarray(A), [2, 0])), A[[2, 0]])
    np.testing.assert_array_equal(np.asarray(_array.take(xp.asarray(A), [3, 1], axis=1)), A[:, [3, 1]])
    rows, columns = np.asarray([2, 0]), np.asarray([3, 1, 2])
    corner = _array.submatrix(xp.asarray(A), rows, columns)
    np.testing.assert_array_equal(np.asarray(corner), A[np.ix_(rows, columns)])
    longer = _array.appended(xp.asarray(A[0].astype(float)), 9.0)
    np.testing.assert_array_equal(np.asarray(longer), [0, 1, 2, 3, 9])
    assert _array.asfloat64(xp.asarray(A)).dtype == xp.float64
    assert _array.asfloat64([1, 2], like=xp.asarray(np.ones(1))).dtype == xp.float64
    assert isinstance(_array.to_numpy(xp.asarray(A)), np.ndarray)


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_sums_and_bounds(xp):
    x = np.random.default_rng(0).standard_normal((5, 7))
    assert _array.total(xp.asarray(x)) == pytest.approx(x.sum(), rel=1e-12)
    np.testing.assert_array_equal(np.asarray(_array.at_least(xp.asarray(x), 0.3)), np.maximum(x, 0.3))
    np.testing.assert_array_equal(np.asarray(_array.within(xp.asarray(x), 0.3)), np.clip(x, -0.3, 0.3))


@pytest.mark.parametrize("size", [1, 100, sums.BLOCK, 3 * sums.BLOCK + 5])
def test_masked_sums_in_every_namespace(size):
    rng = np.random.default_rng(size)
    x, mask = rng.standard_normal(size) ** 2, rng.random(size) < 0.4
    for convert in (np.asarray, array_api_strict.asarray):
        assert _array.masked_sum(convert(x), mask) == pytest.approx(x[mask].sum(), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 32, 33])
@pytest.mark.parametrize(("n", "m"), [(40, 30), (900, 700), (1100, 601), (600_000, 3)])
def test_few_rows_times_many_columns_is_the_product(k, n, m):
    rng = np.random.default_rng(k)
    A, B = rng.standard_normal((k, n)), np.asfortranarray(rng.standard_normal((n, m)))
    for left, right in (
        (A, B),
        (np.asfortranarray(A), B),
        (A, np.ascontiguousarray(B)),
        (A[:, ::-1], B[::-1]),
    ):
        np.testing.assert_allclose(_array.few_times(left, right), A @ B, atol=1e-9 * n**0.5)
    strict = _array.few_times(array_api_strict.asarray(A[:, :40]), array_api_strict.asarray(B[:40]))
    np.testing.assert_allclose(np.asarray(strict), A[:, :40] @ B[:40])


@pytest.mark.parametrize("view", [lambda A: A, lambda A: A.T, lambda A: A[::2, ::2]])
def test_diagonals_are_added_in_place_however_an_array_is_stored(view):
    A = view(np.random.default_rng(0).standard_normal((8, 8)))
    expected = A + np.diag(np.arange(float(len(A))))
    np.testing.assert_array_equal(_array.add_diagonal(A, np.arange(float(len(A)))), expected)
    np.testing.assert_array_equal(A, expected)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray, np.ndarray.tolist])
def test_what_is_complex(convert):
    assert _array.is_complex(convert(np.ones(3) + 0j))
    assert not any(_array.is_complex(convert(np.ones(3).astype(kind))) for kind in (float, int, bool))
    assert not _array.is_complex(None)


def test_errors_name_the_library(backend):
    names = {"numpy": "NumPy", "jax": "JAX"}
    assert names.get(backend.name, backend.name.replace("-", "_")) in _array.described(backend.asarray([1.0]))
