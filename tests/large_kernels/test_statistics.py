"""Statistics of kernels that are never formed, against the kernel matrix itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.bases import RBF, DenseOperator, Kernel, KernelOperator, LowRankSettings
from sparsebayes.bases.low_rank import pivoted_cholesky
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.large_kernels.columns import TrueColumns, norms_of
from sparsebayes.large_kernels.low_rank import LowRankStatistics
from sparsebayes.large_kernels.sampled_curvature import SampledCurvature
from sparsebayes.rows.memory import summarise

NOTHING = np.zeros(0, dtype=np.int64)
ALL_ROWS = 10**6


def _points(seed, N=80, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, (N, d)), rng.standard_normal(N) + 1.0


def _operator(X, kernel=None):
    return KernelOperator((kernel or RBF(0.2)).resolve(X, None), X, X)


def _weights(seed, N, weighted):
    return np.random.default_rng(seed).integers(0, 4, N).astype(float) if weighted else None


def _factor(operator, tol, **settings):
    return pivoted_cholesky(operator, tol, LowRankSettings(rows_per_rank=1, **settings))[0]


def _both(seed, weighted, center, strip=10**6, N=80):
    """True columns, a factor so fine that it must agree with them, and the kernel matrix."""
    X, t = _points(seed, N)
    operator, weights = _operator(X), _weights(seed, len(t), weighted)
    columns = TrueColumns(operator, t, weights, center)
    columns.strip = strip
    low = LowRankStatistics(_factor(operator, 1e-13), columns, strip)
    return columns, low, operator.dense().Phi, t, weights


def _block(statistics, J, weights, block, skipped=NOTHING):
    """The statistics of a single block."""
    found = statistics.problems(J, weights, [block], skipped)(block)
    return found


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("which", ["true columns", "low rank"])
@pytest.mark.parametrize("seed", range(2))
def test_subset_equals_the_summary_of_the_kernel_matrix(which, weighted, center, seed):
    columns, low, K, t, weights = _both(seed, weighted, center, strip=300)
    W = np.sort(np.random.default_rng(seed).choice(len(t), 15, replace=False))
    quadratic, units = (columns if which == "true columns" else low).subset(W)
    expected, reference = summarise(DenseOperator(K[:, W]), t, weights, center)
    assert_array_equal(units.kept, W)
    for name in ("n", "tt", "offset"):
        assert getattr(quadratic, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    for name in ("norms", "means", "target_scale", "target_mean", "target_spread", "n"):
        assert_allclose(getattr(units, name), getattr(reference, name), rtol=1e-7, atol=1e-9, err_msg=name)
    everything = range(len(W))
    assert_allclose(quadratic.h, expected.h, atol=1e-7)
    assert_allclose(quadratic.gram(everything), expected.gram(everything), atol=1e-7)
    assert_allclose(quadratic.rows([3, 1]), expected.rows([3, 1]), atol=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_products_of_true_columns_are_those_of_the_rows(center):
    columns, _, K, t, weights = _both(1, True, center, strip=50)
    W, J, mean = np.arange(0, 60, 5), np.asarray([7, 2, 4]), np.asarray([0.4, -1.0, 2.0])
    quadratic = columns.subset(W)[0]
    expected = summarise(DenseOperator(K[:, W]), t, weights, center)[0].products
    assert quadratic.products.residual(J, mean) == pytest.approx(expected.residual(J, mean), rel=1e-10)
    assert_allclose(quadratic.rows(J), expected.rows(J), atol=1e-10)
    assert_allclose(quadratic.gram(J), expected.block(J), atol=1e-10)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("which", ["sampled curvature", "low rank"])
@pytest.mark.parametrize("block", [np.arange(2, 70, 3), np.random.default_rng(0).permutation(70)[:23]])
def test_block_has_the_products_of_the_active_functions_with_all_its_functions(which, weighted, center, block):
    columns, low, K, t, weights = _both(2, weighted, center)
    J, skipped = np.asarray([40, 3, 21]), np.asarray([block[4], 71, block[9]])
    statistics = SampledCurvature(columns, ALL_ROWS) if which == "sampled curvature" else low
    # the sample being all rows, it does not matter which weights the block is scored at
    quadratic, units = _block(statistics, J, np.asarray([0.3, -1.0, 2.0]), block, skipped)
    expected, reference = summarise(DenseOperator(K), t, weights, center)
    assert_array_equal(units.kept, np.concatenate([J, block]))
    silent = np.concatenate([np.zeros(3, dtype=bool), np.isin(block, [*J, *skipped])])
    assert silent.sum() == 2 + np.isin(np.setdiff1d(J, skipped), block).sum()
    h = np.where(silent, 0.0, expected.h[units.kept])
    G = np.where(silent, 0.0, expected.rows(J)[:, units.kept])
    assert_allclose(quadratic.h, h, atol=1e-7)
    assert_allclose(quadratic.rows([0, 1, 2]), G, atol=1e-7)
    assert_allclose(quadratic.gram([2, 0]), G[[2, 0]][:, [2, 0]], atol=1e-7)
    assert_allclose(units.norms[~silent], reference.norms[units.kept[~silent]], rtol=1e-7)
    assert np.isinf(units.norms[silent]).all()


@pytest.mark.parametrize("which", ["sampled curvature", "low rank"])
def test_several_blocks_are_parts_of_one(which):
    columns, low, _, _, _ = _both(2, True, True)
    statistics = SampledCurvature(columns, 30) if which == "sampled curvature" else low
    J, weights, block = np.asarray([40, 3, 21]), np.asarray([0.3, -1.0, 2.0]), np.arange(2, 70, 3)
    whole, units = _block(statistics, J, weights, block)
    first = 3
    parts = [block[:10], block[10:]]
    for quadratic, own in map(statistics.problems(J, weights, parts, NOTHING), parts):
        where = np.append(np.arange(3), np.arange(first, first + len(own.kept) - 3))
        first += len(own.kept) - 3
        assert_array_equal(own.kept, units.kept[where])
        assert_allclose(own.norms, units.norms[where], rtol=1e-12)
        assert_allclose(quadratic.h, whole.h[where], atol=1e-12)
        assert_allclose(quadratic.rows(range(3)), whole.rows(range(3))[:, where], atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("seed", "N"), [(0, 80), (1, 80), (2, 600)])
def test_slopes_are_of_all_rows_and_curvatures_of_a_sample(seed, N, weighted, center):
    """At the posterior mean Q is exact, and S is what its variational form says of the sample."""
    columns, _, K, t, weights = _both(seed, weighted, center, N=N)
    J, alpha, beta = np.asarray([40, 3, 21]), np.asarray([0.2, 1.0, 3.0]), 4.0
    whole, units = columns.subset(np.sort(J))
    true = Problem(whole, Uniform(), GaussianNoise(beta), units.unit).start(
        np.argsort(np.argsort(J)), alpha / units.unit[np.argsort(np.argsort(J))], beta
    )
    w = true.mean / units.norms[true.J]
    statistics = SampledCurvature(columns, 30)
    sample, every = statistics.counts, np.arange(len(t))
    assert len(sample) == 30
    assert sample.sum() == pytest.approx(columns.units.n)
    quadratic, scored = _block(statistics, J, w, every)
    state = Problem(quadratic, Uniform(), GaussianNoise(beta), scored.unit).start(
        range(3), alpha / scored.unit[:3], beta
    )
    assert_allclose(state.mean / scored.norms[:3], w, rtol=1e-8)

    others = np.setdiff1d(np.arange(len(t)), J) + 3  # after J come all functions
    full = summarise(DenseOperator(K), t, weights, center)
    state_of_all = Problem(full[0], Uniform(), GaussianNoise(beta), full[1].unit).start(
        J, alpha / full[1].unit[J], beta
    )
    Q = state_of_all.scores.Q * full[1].norms
    assert_allclose(state.scores.Q[others] * scored.norms[others], Q[others - 3], rtol=1e-6, atol=1e-7)

    Phi = statistics.sample.dense().Phi
    Phi = Phi - (sample @ Phi / sample.sum() if center else 0.0)
    unit, A = columns.units.target_scale**2, np.diag(alpha)
    for m in others[::9] - 3:
        # min_v β‖φ − Φv‖² + vᵀAv over the sample, β and A in the units of the scaled target
        G = beta * (Phi[:, J].T * sample) @ Phi[:, J] + A * unit
        b = beta * (Phi[:, J].T * sample) @ Phi[:, m]
        S = beta * sample @ Phi[:, m] ** 2 - b @ np.linalg.solve(G, b)
        assert state.scores.S[m + 3] * scored.norms[m + 3] ** 2 == pytest.approx(S, rel=1e-6)


@pytest.mark.parametrize("few", [100, 1100])
@pytest.mark.parametrize("symmetric", [False, True])
def test_products_with_a_vector_are_those_of_the_matrix(symmetric, few):
    """In pieces of 512 rows and functions; with most functions, half of a symmetric matrix is evaluated."""
    X, v = _points(0, N=1200)
    operator = KernelOperator(RBF(0.2), X, X if symmetric else X[::-1])
    assert operator.symmetric == symmetric
    columns, W = TrueColumns(operator, v, None, False), np.random.default_rng(0).permutation(1200)[:few]
    expected = operator.dense().Phi.T @ v
    assert_allclose(columns.adjoint(W, v)[W], expected[W], rtol=1e-10)


@pytest.mark.parametrize("center", [False, True])
def test_functions_that_a_sample_of_rows_misses_are_not_taken_for_nothing(center):
    X, t = _points(0)
    columns = TrueColumns(_operator(X, RBF(1e4)), t, None, center)
    statistics, J = SampledCurvature(columns, 30), np.asarray([3])
    _, scored = _block(statistics, J, np.asarray([0.1]), np.arange(len(t)))
    others = np.setdiff1d(np.arange(len(t)), J)
    true = columns.subset(others)[1].norms  # every function is 1 at its own point, almost 0 elsewhere
    missed = np.setdiff1d(others, np.flatnonzero(np.isin(X[:, 0], statistics.sample.X[:, 0])))
    assert len(missed) > 40
    assert_allclose(scored.norms[missed + 1], true[np.searchsorted(others, missed)], rtol=0.02)


def test_functions_centred_at_pivots_are_exact_however_coarse_the_factor():
    X, t = _points(5)
    operator = _operator(X)
    factor, columns = _factor(operator, 0.05, cheap_rank=0), TrueColumns(operator, t, None, True)
    assert factor.rank < 40
    W = np.sort(factor.pivots)
    (a, b), (c, d) = LowRankStatistics(factor, columns).subset(W), columns.subset(W)
    assert_allclose(a.h, c.h, atol=1e-9)
    assert_allclose(a.gram(range(len(W))), c.gram(range(len(W))), atol=1e-9)
    assert_allclose(b.norms, d.norms, rtol=1e-9)


def test_what_is_no_candidate_gains_nothing():
    X, t = _points(6)
    X[::3] = X[1]  # repeated centres: the first is at 0
    candidates = np.arange(len(t)) % 3 > 0
    candidates[[0, 1]] = True, False
    operator = _operator(X)
    columns, J = TrueColumns(operator, t, None, False), np.asarray([2, 4])
    assert_array_equal(columns.candidates, candidates)
    low = LowRankStatistics(_factor(operator, 1e-12), columns)
    for statistics in (SampledCurvature(columns, ALL_ROWS), low):
        quadratic, units = _block(statistics, J, np.ones(2), np.arange(len(t)))
        assert np.isinf(units.norms[2:][~candidates]).all()
        assert np.isfinite(units.norms[2:][np.setdiff1d(np.flatnonzero(candidates), J)]).all()
        assert not quadratic.h[2:][~candidates].any()
    assert_array_equal(low.subset(np.arange(len(t)))[1].kept, np.flatnonzero(candidates))


def test_constant_functions_are_no_candidates_beside_an_intercept():
    X, t = _points(7)
    constant = Kernel(lambda X, Z: np.ones((len(X), len(Z))) * np.where(Z[:, 0] > 0, 1.0, X[:, :1]))
    _, units = TrueColumns(KernelOperator(constant, X, X), t, None, True).subset(np.arange(len(t)))
    assert_array_equal(units.kept, np.flatnonzero(X[:, 0] <= 0))


def test_values_that_a_kernel_keeps_are_not_changed():
    X, t = _points(8)
    values = np.random.default_rng(0).uniform(size=(len(t), len(t)))
    values.flags.writeable = False
    kernel = Kernel(lambda A, B: values[: len(A), : len(B)])
    columns = TrueColumns(KernelOperator(kernel, X, X), t, _weights(0, len(t), True), True)
    J = np.asarray([0, 1])
    _block(SampledCurvature(columns, 30), J, np.ones(2), np.arange(len(t)))
    assert_array_equal(columns.subset(J)[1].kept, J)


def test_squares_below_zero_by_rounding_are_zero():
    np.testing.assert_array_equal(norms_of(np.asarray([-1e-20, 0.0, 4.0]), np.zeros(3), 9.0), [0.0, 0.0, 2.0])
