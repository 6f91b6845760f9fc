"""Rows that are read again and again give the statistics of rows in memory."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse

from sparsebayes.bases.operators import DenseOperator
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.memory import summarise
from sparsebayes.rows.passes import RowPasses


class Split:
    """Chunks of some rows each that can be read more than once, counted."""

    def __init__(self, Phi, t, weights, size):
        self.arrays, self.size, self.passes = (Phi, t, weights), size, 0

    def __iter__(self):
        self.passes += 1
        Phi, t, weights = self.arrays
        for start in range(0, t.shape[0], self.size):
            part = slice(start, min(start + self.size, t.shape[0]))
            yield Chunk(Phi[part, :], t[part], None if weights is None else weights[part])


def _data(seed, N=40, M=12):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M)) * 10 ** rng.uniform(-3, 3, M) + 2.0
    return Phi, Phi[:, 0] / 10 + rng.standard_normal(N) + 1.0, rng.integers(0, 4, N).astype(float)


def _assert_same(one, other):
    (a, a_units), (b, b_units) = one, other
    np.testing.assert_array_equal(a_units.kept, b_units.kept)
    assert (a.n, a.offset, a_units.center) == (b.n, b.offset, b_units.center)
    for name in ("norms", "means", "target_scale", "target_mean", "n", "target_spread"):
        ours, theirs = np.asarray(getattr(a_units, name)), getattr(b_units, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=name)
    assert a.tt == pytest.approx(b.tt, rel=1e-13)
    np.testing.assert_allclose(np.asarray(a.h), b.h, atol=1e-11)
    J = [5, 0, 7]
    np.testing.assert_allclose(np.asarray(a.rows(J)), b.rows(J), atol=1e-12)
    np.testing.assert_allclose(np.asarray(a.gram([1, 2])), b.gram([1, 2]), atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("size", "M"), [(1, 12), (7, 12), (13, 300), (40, 300)])
def test_statistics_are_those_of_all_rows(size, M, weighted, center):
    for seed in range(3):
        Phi, t, weights = _data(seed, M=M)
        weights = weights if weighted else None
        passes = RowPasses.of(Split(Phi, t, weights, size))
        ours = passes.summarise(center)
        theirs = summarise(DenseOperator(Phi), t, weights, center)
        _assert_same(ours, theirs)
        J, w = [3, 1, 0], np.array([0.3, -1.0, 0.2])
        assert ours[0].products.residual(J, w) == pytest.approx(theirs[0].products.residual(J, w), rel=1e-11)
        assert (passes.rows, passes.n, passes.constant) == (
            40 if weights is None else np.count_nonzero(weights),
            40 if weights is None else weights.sum(),
            None,
        )


def test_rows_are_read_once_for_moments_once_for_products_and_once_per_batch_of_rows_of_G():
    source = Split(*_data(0, M=300), 7)
    quadratic, _ = RowPasses.of(source).summarise(True)
    assert source.passes == 2
    quadratic.rows([3, 4, 5])
    assert source.passes == 3
    quadratic.rows([4, 3])
    assert source.passes == 3


@pytest.mark.parametrize("center", [False, True])
def test_repeats_negatives_zeros_and_constants_are_not_kept(center):
    Phi, t, weights = _data(7)
    extra = np.column_stack(
        [Phi, Phi[:, 3], -7.5 * Phi[:, 2], np.zeros(40), np.full(40, 0.1), Phi[:, 3], Phi[:, 0] + 1e-6 * t]
    )
    ours = RowPasses.of(Split(extra, t, weights, 7)).summarise(center)
    _assert_same(ours, summarise(DenseOperator(extra), t, weights, center))


@pytest.mark.parametrize("center", [False, True])
def test_huge_and_tiny_columns_neither_overflow_nor_vanish(center):
    Phi, t, _ = _data(8)
    Phi = Phi * 10.0 ** np.resize([150, -150, 0], 12)
    ours = RowPasses.of(Split(Phi, t, None, 7)).summarise(center)
    _assert_same(ours, summarise(DenseOperator(Phi), t, None, center))


@pytest.mark.parametrize("convert", [scipy.sparse.csr_array, array_api_strict.asarray])
def test_sparse_and_strict_chunks(convert):
    Phi, t, weights = _data(9)
    expected = summarise(DenseOperator(Phi), t, weights, True)
    if convert is array_api_strict.asarray:
        t, weights = convert(t), convert(weights)
    _assert_same(RowPasses.of(Split(convert(Phi), t, weights, 7)).summarise(True), expected)


def test_nothing_to_model_is_said():
    assert RowPasses.of([]) is None
    passes = RowPasses.of(Split(np.eye(6), np.full(6, 0.1), None, 4))
    assert passes.constant == 0.1
    with pytest.raises(ValueError, match="y must not be zero or, with an intercept, constant"):
        passes.summarise(True)
    with pytest.raises(ValueError, match="X has no usable column"):
        RowPasses.of(Split(np.ones((6, 2)), np.arange(6.0), None, 4)).summarise(True)
