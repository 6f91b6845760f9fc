import math

import array_api_strict
import numpy as np
import pytest
import scipy.sparse

from sparsebayes.bases import DenseOperator, SparseOperator, StackedOperator
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.rows.lazy import LazyQuadratic
from sparsebayes.rows.memory import summarise


def _data(seed, N=30, M=12):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, M)) * 10 ** rng.uniform(-3, 3, M) + 2.0, rng.standard_normal(N) + 1.0


def _scaled(Phi, t, weights, center):
    """The statistics the slow way: repeat rows, centre, scale."""
    Phi, t = np.repeat(Phi, weights, axis=0), np.repeat(t, weights)
    if center:
        Phi, t = Phi - Phi.mean(0), t - t.mean()
    scale, norms = np.sqrt(np.mean(t**2)), np.linalg.norm(Phi, axis=0)
    return Phi / norms, t / scale, norms, scale


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wide", [False, True])
def test_statistics_equal_those_of_repeated_scaled_rows(seed, center, wide):
    Phi, t = _data(seed, M=300 if wide else 12)
    weights = np.random.default_rng(seed).integers(0, 4, len(t))
    quadratic, units = summarise(DenseOperator(Phi), t, weights.astype(float), center)
    assert isinstance(quadratic, LazyQuadratic if wide else DenseQuadratic)
    A, u, norms, scale = _scaled(Phi, t, weights, center)
    np.testing.assert_allclose(units.norms, norms, rtol=1e-12)
    assert units.target_scale == pytest.approx(scale)
    assert quadratic.n == weights.sum() - center
    assert quadratic.tt == pytest.approx(u @ u)
    np.testing.assert_allclose(quadratic.h, A.T @ u, atol=1e-10)
    J = [5, 0, 7, 2]
    np.testing.assert_allclose(quadratic.rows(J), (A.T @ A)[J], atol=1e-10)
    np.testing.assert_allclose(quadratic.gram(J), (A.T @ A)[np.ix_(J, J)], atol=1e-10)
    w = np.array([0.3, -1.0, 0.2, 0.5])
    assert quadratic.products.residual(J, w) == pytest.approx(np.sum((u - A[:, J] @ w) ** 2))


@pytest.mark.parametrize("center", [False, True])
def test_statistics_do_not_depend_on_the_order_of_rows(center):
    Phi, t = _data(0)
    p = np.random.default_rng(1).permutation(len(t))
    a, _ = summarise(DenseOperator(Phi), t, None, center)
    b, _ = summarise(DenseOperator(Phi[p]), t[p], None, center)
    np.testing.assert_allclose(a.h, b.h, atol=1e-12)
    np.testing.assert_allclose(a.rows(range(12)), b.rows(range(12)), atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_sparse_stacked_and_strict_operators_give_the_same_statistics(center):
    rng = np.random.default_rng(3)
    Phi = np.where(rng.random((40, 10)) < 0.3, rng.standard_normal((40, 10)), 0.0)
    Phi[:, 4] = 1e3 + 1e-3 * rng.standard_normal(40)  # nearly constant: centring by sums would cancel
    t, weights = rng.standard_normal(40), rng.random(40) + 0.1
    dense, units = summarise(DenseOperator(Phi), t, weights, center)
    others = [
        SparseOperator(scipy.sparse.csr_array(Phi)),
        StackedOperator([DenseOperator(Phi[:, :4]), SparseOperator(scipy.sparse.csc_array(Phi[:, 4:]))]),
        DenseOperator(np.asfortranarray(Phi)),
    ]
    for operator in others:
        other, other_units = summarise(operator, t, weights, center)
        np.testing.assert_allclose(other_units.norms, units.norms, rtol=1e-9)
        np.testing.assert_allclose(other.h, dense.h, atol=1e-9)
        np.testing.assert_allclose(other.rows(range(10)), dense.rows(range(10)), atol=1e-9)
    strict, _ = summarise(DenseOperator(array_api_strict.asarray(Phi)), array_api_strict.asarray(t), weights, center)
    np.testing.assert_allclose(np.asarray(strict.h), dense.h, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_repeats_negatives_zeros_and_constants_are_not_kept(center):
    Phi, t = _data(5)
    extra = np.column_stack(
        [Phi, Phi[:, 3], -7.5 * Phi[:, 2], np.zeros(len(t)), 1e-160 * Phi[:, 1], Phi[:, 0] + 1e-6 * t]
    )
    _, units = summarise(DenseOperator(extra), t, None, center)
    np.testing.assert_array_equal(units.kept, [*range(12), 16])
    constant = np.column_stack([Phi, np.full(len(t), 0.1)])
    _, units = summarise(DenseOperator(constant), t, None, center)
    assert (12 in units.kept) == (not center)


def test_huge_and_tiny_columns_neither_overflow_nor_vanish():
    Phi, t = _data(6)
    scale = 10.0 ** np.resize([150, -150, 0], 12)
    plain, a = summarise(DenseOperator(Phi), t)
    scaled, b = summarise(DenseOperator(Phi * scale), t)
    np.testing.assert_allclose(b.norms, a.norms * scale, rtol=1e-12)
    np.testing.assert_allclose(scaled.rows(range(12)), plain.rows(range(12)), atol=1e-12)
    np.testing.assert_allclose(scaled.h, plain.h, atol=1e-12)


def test_log_jacobian_counts_the_rows_and_the_intercept():
    Phi, t = _data(7)
    quadratic, units = summarise(DenseOperator(Phi), t, None, True)
    assert units.rows_counted == 29
    assert units.log_jacobian == pytest.approx(-29 * math.log(units.target_scale))
    assert quadratic.offset == pytest.approx(-0.5 * math.log(30))


def test_nothing_to_model_is_said():
    with pytest.raises(ValueError, match="y must not be zero or, with an intercept, constant"):
        summarise(DenseOperator(np.ones((3, 2))), np.zeros(3))
    with pytest.raises(ValueError, match="X has no usable column"):
        summarise(DenseOperator(np.zeros((3, 2))), np.arange(3.0))
