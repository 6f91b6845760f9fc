"""Rows in chunks give the statistics of all rows at once, however they are split."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
import sklearn

from sparsebayes._array import asfloat64, stacked_triangle
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.memory import summarise
from sparsebayes.rows.triangle import Triangle

SIZES = [1, 7, 13, 40, 200]


def _data(seed, N=40, M=12):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M)) * 10 ** rng.uniform(-3, 3, M) + 2.0
    return Phi, Phi[:, 0] / 10 + rng.standard_normal(N) + 1.0, rng.integers(0, 4, N).astype(float)


def _split(Phi, t, weights, size):
    for start in range(0, t.shape[0], size):
        part = slice(start, min(start + size, t.shape[0]))
        yield Chunk(Phi[part, :], t[part], None if weights is None else weights[part])


def _assert_same(one, other, rtol=1e-12):
    (a, a_units), (b, b_units) = one, other
    np.testing.assert_array_equal(a_units.kept, b_units.kept)
    assert (a.n, a.offset, a_units.center) == (b.n, b.offset, b_units.center)
    for name in ("norms", "means", "target_scale", "target_mean", "n", "target_spread"):
        np.testing.assert_allclose(
            np.asarray(getattr(a_units, name)),
            getattr(b_units, name),
            rtol=rtol,
            atol=1e-15,
            err_msg=name,
        )
    everything = np.arange(a.size)
    np.testing.assert_allclose(a.tt, b.tt, rtol=rtol)
    np.testing.assert_allclose(np.asarray(a.h), b.h, atol=rtol * np.sqrt(b.n))
    np.testing.assert_allclose(np.asarray(a.rows(everything)), b.rows(everything), atol=rtol)
    w = asfloat64(np.linspace(-1, 1, a.size), like=a.h)
    np.testing.assert_allclose(
        a.products.residual(everything, w), b.products.residual(everything, np.asarray(w)), rtol=1e3 * rtol
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_statistics_are_those_of_all_rows(size, weighted, center):
    for seed in range(3):
        Phi, t, weights = _data(seed)
        weights = weights if weighted else None
        statistics = Triangle.of(_split(Phi, t, weights, size))
        _assert_same(statistics.summarise(center), summarise(DenseOperator(Phi), t, weights, center))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("M", [60, 300])
def test_more_functions_than_rows(M, center):
    Phi, t, weights = _data(4, M=M)
    statistics = Triangle.of(_split(Phi, t, weights, 7))
    _assert_same(statistics.summarise(center), summarise(DenseOperator(Phi), t, weights, center))


@pytest.mark.parametrize("size", SIZES)
def test_triangle_against_brute_force(size):
    """RᵀR is the Gram matrix of the repeated rows about their means."""
    Phi, t, weights = _data(1)
    statistics = Triangle.of(_split(Phi, t, weights, size))
    table = np.repeat(np.column_stack([Phi, t]), weights.astype(int), axis=0)
    centred = table - table.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    np.testing.assert_allclose(
        statistics.R.T @ statistics.R / np.outer(scale, scale),
        centred.T @ centred / np.outer(scale, scale),
        atol=1e-13,
    )
    assert not np.tril(statistics.R, -1).any()
    assert (statistics.rows, statistics.n) == (np.count_nonzero(weights), weights.sum())
    assert statistics.constant is None


def test_statistics_before_go_on_and_are_left_alone():
    Phi, t, weights = _data(2)
    first = Triangle.of([Chunk(Phi[:11], t[:11], weights[:11])])
    kept = first.R.copy()
    both = Triangle.of([Chunk(Phi[11:], t[11:], weights[11:])], first)
    np.testing.assert_array_equal(first.R, kept)
    _assert_same(both.summarise(True), summarise(DenseOperator(Phi), t, weights, True))


def test_the_callers_arrays_are_left_alone():
    Phi, t, weights = _data(3)
    kept = Phi.copy(), t.copy(), weights.copy()
    Triangle.of(_split(Phi, t, weights, 7))
    for ours, theirs in zip((Phi, t, weights), kept, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_blocks_within_a_chunk_follow_the_working_memory():
    Phi, t, weights = _data(5)
    with sklearn.config_context(working_memory=0.005):  # a dozen rows at a time
        statistics = Triangle.of([Chunk(Phi, t, weights)])
    _assert_same(statistics.summarise(True), summarise(DenseOperator(Phi), t, weights, True))


def test_rows_of_weight_zero_are_no_rows():
    Phi, t, _ = _data(6)
    assert Triangle.of([]) is None
    assert Triangle.of([Chunk(Phi, t, np.zeros(40)), Chunk(Phi[:0], t[:0], None)]) is None


@pytest.mark.parametrize("size", SIZES)
def test_columns_far_from_zero_keep_their_digits(size):
    """A mean a million times the deviation: sums of squares would leave four digits of the norm."""
    rng = np.random.default_rng(0)
    Phi, t = rng.standard_normal((200, 5)) + 1e6, rng.standard_normal(200) + 1e5
    statistics = Triangle.of(_split(Phi, t, None, size))
    _assert_same(statistics.summarise(True), summarise(DenseOperator(Phi), t, None, True), rtol=1e-11)


def test_residuals_far_below_the_target():
    """A residual of 1e-12 of tᵀt, which the Gram matrix could not tell from rounding."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((3000, 5))
    t = Phi @ np.arange(1.0, 6.0) + 1e-6 * rng.standard_normal(3000)
    chunked, units = Triangle.of(_split(Phi, t, None, 100)).summarise(False)
    weights = np.arange(1.0, 6.0) * units.norms / units.target_scale
    expected = np.sum((t - Phi @ np.arange(1.0, 6.0)) ** 2) / units.target_scale**2
    assert chunked.products.residual(np.arange(5), weights) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("center", [False, True])
def test_repeats_negatives_zeros_and_constants_are_not_kept(center):
    Phi, t, weights = _data(7)
    extra = np.column_stack([Phi, Phi[:, 3], -7.5 * Phi[:, 2], np.zeros(40), np.full(40, 0.1), Phi[:, 0] + 1e-6 * t])
    statistics = Triangle.of(_split(extra, t, weights, 7))
    _assert_same(statistics.summarise(center), summarise(DenseOperator(extra), t, weights, center), rtol=1e-11)


def test_huge_and_tiny_columns_neither_overflow_nor_vanish():
    Phi, t, _ = _data(8)
    Phi = Phi * 10.0 ** np.resize([150, -150, 0], 12)
    statistics = Triangle.of(_split(Phi, t, None, 7))
    _assert_same(statistics.summarise(True), summarise(DenseOperator(Phi), t, None, True))


@pytest.mark.parametrize("center", [False, True])
def test_sparse_and_strict_chunks(center):
    rng = np.random.default_rng(9)
    Phi = np.where(rng.random((40, 10)) < 0.3, rng.standard_normal((40, 10)), 0.0)
    t, weights = rng.standard_normal(40), rng.integers(0, 3, 40).astype(float)
    expected = summarise(DenseOperator(Phi), t, weights, center)
    sparse = Triangle.of(_split(scipy.sparse.csr_array(Phi), t, weights, 7))
    _assert_same(sparse.summarise(center), expected)
    strict = [array_api_strict.asarray(x) for x in (Phi, t, weights)]
    _assert_same(Triangle.of(_split(*strict, 7)).summarise(center), expected)


def test_nothing_to_model_is_said():
    statistics = Triangle.of(_split(np.eye(6), np.full(6, 0.1), None, 2))
    assert statistics.constant == 0.1
    with pytest.raises(ValueError, match="y must not be zero or, with an intercept, constant"):
        statistics.summarise(True)
    with pytest.raises(ValueError, match="X has no usable column"):
        Triangle.of([Chunk(0.1 * np.ones((6, 2)), np.arange(6.0), None)]).summarise(True)


@pytest.mark.parametrize("rows", [0, 1, 3, 50])
def test_stacked_triangle(rows):
    rng = np.random.default_rng(rows)
    R, B = np.triu(rng.standard_normal((5, 5))), rng.standard_normal((rows, 5))
    kept = R.copy(), B.copy()
    for convert in (np.asarray, np.asfortranarray, array_api_strict.asarray):
        triangle = np.asarray(stacked_triangle(convert(R), convert(B.copy())))
        np.testing.assert_allclose(triangle.T @ triangle, R.T @ R + B.T @ B, atol=1e-12)
        np.testing.assert_array_equal(R, kept[0])
