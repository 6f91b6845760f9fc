"""Kernel matrices that are never formed, and their factors of low rank, against the kernel matrix itself."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes._array import to_numpy
from sparsebayes.bases import (
    RBF,
    DenseOperator,
    Kernel,
    KernelMemory,
    KernelOperator,
    Laplacian,
    Linear,
    LowRankOperator,
    LowRankSettings,
    Polynomial,
    Sigmoid,
    StackedOperator,
)
from sparsebayes.bases.low_rank import pivoted_cholesky
from sparsebayes.bases.operators import KernelMatrix

WHOLE = LowRankSettings(rows_per_rank=1)  # any rank


def _points(seed, N=80, d=2):
    return np.random.default_rng(seed).uniform(-3, 3, (N, d))


def _operator(X, kernel=None):
    return KernelOperator((kernel or RBF(0.2)).resolve(X, None), X, X)


@pytest.mark.parametrize("kernel", [RBF(0.2), Laplacian(0.3), Linear(), Polynomial(0.2, 3, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_factor_is_within_its_tolerance_and_its_residual_is_what_is_left(kernel, seed):
    # however slowly the spectrum falls
    settings = LowRankSettings(rows_per_rank=1, early_trace=1.0, cheap_rank=0)
    X = _points(seed)
    operator = _operator(X, kernel)
    K = operator.dense().Phi
    for tol in (1e-2, 1e-5):
        factor, complete = pivoted_cholesky(operator, tol, settings)
        rest = K - factor.transposed.T @ factor.transposed
        largest = K.diagonal().max()
        assert complete
        assert factor.rank < len(X) or isinstance(kernel, Laplacian)
        assert_allclose(factor.residual, rest.diagonal(), atol=1e-12 * largest)
        assert rest.diagonal().max() <= tol * largest
        assert np.abs(rest).max() <= tol * largest * (1 + 1e-9)  # a positive semi-definite residual
        assert np.linalg.eigvalsh(rest).min() > -1e-11 * largest
        # no column is further off than the bound says
        bound = np.sqrt(np.maximum(rest.diagonal(), 0) * max(rest.trace(), 0))
        assert (np.linalg.norm(rest, axis=0) <= bound + 1e-10 * largest).all()
        assert_allclose(rest[:, factor.pivots], 0, atol=1e-10 * largest)
        assert_array_equal(operator.low_rank(tol, settings).transposed, factor.transposed)


def test_factor_gives_up_where_the_spectrum_falls_too_slowly():
    X = np.random.default_rng(0).uniform(size=(400, 10))
    operator = _operator(X, RBF(8.0))
    factor, complete = pivoted_cholesky(operator, 1e-4, LowRankSettings(max_rank=100))
    assert not complete
    assert factor.rank < 100  # seen before the end
    assert operator.low_rank(1e-4) is None


def test_factor_of_the_largest_rank_is_not_complete():
    operator, settings = _operator(_points(0), RBF(0.2)), LowRankSettings(max_rank=20)
    factor, complete = pivoted_cholesky(operator, 1e-9, settings)
    assert factor.rank == 20
    assert not complete
    assert operator.low_rank(1e-9, settings) is None
    assert operator.low_rank(1e-9, WHOLE) is not None


def test_a_factor_needs_several_rows_per_rank():
    operator = _operator(_points(0, N=120), RBF(0.2))
    rank = pivoted_cholesky(operator, 1e-3, LowRankSettings(rows_per_rank=1, cheap_rank=0))[0].rank
    assert operator.low_rank(1e-3, LowRankSettings(rows_per_rank=120 // rank, cheap_rank=0)) is not None
    assert operator.low_rank(1e-3, LowRankSettings(rows_per_rank=120 // rank + 1, cheap_rank=0)) is None


@pytest.mark.parametrize("strip", [7, 10**9])
def test_factor_does_not_depend_on_how_the_rows_are_cut(strip):
    operator = _operator(_points(3))
    whole = operator.low_rank(1e-6, WHOLE)
    cut = operator.low_rank(1e-6, LowRankSettings(rows_per_rank=1, strip_elements=strip))
    assert_array_equal(whole.pivots, cut.pivots)
    assert_allclose(whole.transposed, cut.transposed, atol=1e-9)


def test_factor_of_a_small_rank_is_finer_than_its_tolerance():
    X = np.random.default_rng(0).uniform(-3, 3, (300, 1))
    factor = _operator(X).low_rank(1e-2)
    assert factor.rank < 40
    assert factor.residual.max() < 1e-11


def test_functions_centred_at_pivots_are_exact_however_coarse_the_factor():
    operator = _operator(_points(5))
    factor, _ = pivoted_cholesky(operator, 0.05, LowRankSettings(rows_per_rank=1, cheap_rank=0))
    assert factor.rank < 40
    assert factor.residual.max() > 1e-3
    assert_allclose(factor.columns(factor.pivots), operator.columns(factor.pivots), atol=1e-12)


def test_a_kernel_so_wide_that_a_factor_cannot_tell_its_functions_apart_has_none():
    X = _points(0, N=400)
    assert pivoted_cholesky(_operator(X, RBF(3e-14)), 1e-7, WHOLE)[1]
    assert _operator(X, RBF(3e-14)).low_rank(1e-7, WHOLE) is None
    assert _operator(X, RBF(3e-14)).low_rank(1e-7, LowRankSettings(faithful=np.inf)) is not None


@pytest.mark.parametrize("kernel", [Sigmoid(0.2), Polynomial(0.2, 3, -1.0), Kernel(lambda X, Z: X @ Z.T)])
def test_kernels_that_may_be_indefinite_have_no_factor(kernel):
    assert _operator(_points(1), kernel).low_rank(1e-2, WHOLE) is None


def test_matrices_have_no_factor():
    X = _points(1)
    for Phi in (_operator(X).dense(), DenseOperator(X), StackedOperator([X, X])):
        assert Phi.is_formed
        assert Phi.low_rank(1e-2) is None
    assert not _operator(X).is_formed


@pytest.mark.parametrize("center", [False, True])
def test_operator_of_low_rank_is_that_of_its_matrix(center):
    rng = np.random.default_rng(0)
    L = rng.standard_normal((5, 60)) + 1.0
    L[:, 7] = 0.0  # a function that is zero
    low, dense = LowRankOperator(L, np.arange(5), np.zeros(60)), DenseOperator(L.T @ L)
    low.block_elements = 40
    V, weights = rng.standard_normal((60, 3)), rng.uniform(size=60)
    assert low.shape == dense.shape
    assert_allclose(low.columns([4, 1]), dense.columns([4, 1]), atol=1e-12)
    assert_allclose(low.adjoint(V), dense.adjoint(V), atol=1e-10)
    means, norms = low.means_and_norms(weights, center)
    assert_allclose(means, dense.means_and_norms(weights, center)[0], atol=1e-12)
    assert_allclose(norms, dense.means_and_norms(weights, center)[1], atol=1e-10)
    shift, scale, W = rng.standard_normal(60), rng.uniform(1, 2, 60), rng.uniform(size=(60, 2))
    assert_allclose(low.squares(W, shift, scale), dense.squares(W, shift, scale), rtol=1e-10)


def test_repeated_centres_are_found_wherever_they_are():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    X[rng.permutation(500)[:100]] = X[17]
    X[490] = X[3]
    first = _operator(X).distinct()
    expected = np.zeros(500, dtype=bool)
    expected[np.unique(X, axis=0, return_index=True)[1]] = True
    assert_array_equal(first, expected)


@pytest.mark.parametrize("kernel", [RBF(0.2), Sigmoid(0.2), Kernel(lambda X, Z: X @ Z.T + X[:, :1])])
def test_kernel_on_demand_is_the_operator_of_its_matrix(kernel):
    X, Z = _points(0), _points(1, N=50)
    operator = KernelOperator(kernel, X, Z)
    K = kernel.evaluate(X, Z)
    V = np.random.default_rng(0).standard_normal((len(X), 2))
    assert operator.shape == K.shape
    assert not operator.positive
    assert_allclose(operator.columns([4, 1, 9]), K[:, [4, 1, 9]], rtol=1e-13)
    assert_allclose(operator.columns(range(3, 8)), K[:, 3:8], rtol=1e-13)
    assert_allclose(operator.adjoint(V), K.T @ V, atol=1e-10)
    operator.block_elements = 50
    assert_allclose(operator.adjoint(V), K.T @ V, atol=1e-10)
    assert_allclose(operator.dense().Phi, K, rtol=1e-12, atol=1e-15)
    weights = np.random.default_rng(1).uniform(size=len(X))
    for mine, theirs in zip(
        operator.means_and_norms(weights, True), DenseOperator(K).means_and_norms(weights, True), strict=True
    ):
        assert_allclose(mine, theirs, rtol=1e-10)


@pytest.mark.parametrize("kernel", [RBF([0.2, 1.0]), Laplacian(0.3), Linear(), Polynomial(0.2, 2, 0.5)])
def test_positive_kernels_say_so_and_are(kernel):
    X = _points(4)
    kernel = kernel.resolve(X, None)
    operator = KernelOperator(kernel, X, X.copy())
    K = kernel.evaluate(X, X)
    assert operator.positive
    assert np.linalg.eigvalsh(K).min() > -1e-10 * K.diagonal().max()
    assert_allclose(operator.diagonal(), K.diagonal(), rtol=1e-13)
    assert not KernelOperator(kernel, X, X[::-1]).positive


def test_kernels_that_may_be_indefinite_do_not_claim_otherwise():
    X = _points(4)
    assert not KernelOperator(Polynomial(0.2, 3, -1.0).resolve(X, None), X, X).positive
    assert not KernelOperator(Sigmoid(0.2).resolve(X, None), X, X).positive
    assert not KernelOperator(Kernel(lambda X, Z: X @ Z.T), X, X).positive


def test_kernel_values_that_are_not_finite_are_refused():
    X = _points(4)
    operator = KernelOperator(Kernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), X, X)
    for call in (lambda: operator.columns([0]), operator.diagonal, lambda: operator.block(X[:, 0] > 0, [0])):
        with pytest.raises(ValueError, match="not finite"):
            call()


def test_matrix_is_formed_while_it_is_small_and_never_beyond():
    X = np.random.default_rng(0).standard_normal((1501, 1))
    bound = RBF(1.0).bind(X)
    assert isinstance(bound.operator(X), KernelOperator)
    small = X[:1500]
    assert isinstance(RBF(1.0).bind(small).operator(small), DenseOperator)
    other = array_api_strict.asarray(X)
    assert isinstance(RBF(1.0).bind(other[:9, :]).operator(other), DenseOperator)
    assert isinstance(RBF(1.0).bind(other).operator(other), KernelOperator)


@pytest.mark.parametrize("fits", [False, True])
def test_how_large_a_matrix_may_be_can_be_told(fits):
    X = _points(0)
    memory = KernelMemory(held=len(X) ** 2 - 1, fits=len(X) ** 2 - (not fits))
    operator = RBF(1.0).bind(X).operator(X, memory)
    assert isinstance(operator, KernelOperator)
    assert operator.fits == fits
    assert operator.held().is_formed == fits
    assert isinstance(RBF(1.0).bind(X).operator(X, KernelMemory(held=len(X) ** 2)), KernelMatrix)


def _on(backend, X, **memory):
    """The same kernel on NumPy rows and on those of another library."""
    kernel = RBF(0.02).resolve(X, None)
    other = backend.asarray(X)
    return (KernelOperator(kernel, rows, rows, KernelMemory(**memory)) for rows in (X, other))


# JAX compiles every operation anew for every rank, which takes a while on a processor
@pytest.mark.parametrize("backend", ["numpy", "array-api-strict", "torch", "cupy"], indirect=True)
def test_the_factor_is_the_same_for_arrays_of_every_library(backend):
    X = np.random.default_rng(5).uniform(-3, 3, (160, 2))
    X[7] = X[15]
    reference, operator = _on(backend, X, held=1, fits=1)
    settings = LowRankSettings(rows_per_rank=2, cheap_rank=1)
    expected, factor = (each.low_rank(1e-3, settings) for each in (reference, operator))
    assert backend.is_own(factor.transposed)
    assert backend.is_own(factor.residual)
    assert_array_equal(np.sort(factor.pivots), np.sort(expected.pivots))
    K, J = to_numpy(factor.columns(range(160))), [3, 15, 7]
    assert_allclose(K, expected.columns(range(160)), atol=1e-11)
    assert_allclose(to_numpy(factor.residual), expected.residual, atol=1e-11)
    assert_array_equal(operator.distinct(), reference.distinct())
    assert_allclose(to_numpy(operator.columns(J)), reference.columns(J), rtol=1e-12, atol=1e-14)
    V, counts = np.random.default_rng(6).standard_normal((160, 2)), np.arange(160) % 3 + 1.0
    assert_allclose(to_numpy(operator.adjoint(backend.asarray(V))), reference.adjoint(V), atol=1e-11)
    for center in (False, True):
        found = factor.means_and_norms(backend.asarray(counts), center)
        for own, one in zip(found, expected.means_and_norms(counts, center), strict=True):
            assert backend.is_own(own)
            assert_allclose(to_numpy(own), one, rtol=1e-9, atol=1e-9)
    order = np.arange(160)[::-1]
    assert_array_equal(operator.dense().far_apart(order, 30), reference.dense().far_apart(order, 30))
