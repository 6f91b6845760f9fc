"""Statistics of kernels that are never formed, against the kernel matrix itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes._array import to_numpy
from sparsebayes.bases import RBF, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem
from sparsebayes.priors import Uniform
from sparsebayes.rows import Target, summarise
from sparsebayes.rows.around import AroundRows
from sparsebayes.rows.exact import ExactRows
from sparsebayes.rows.low_rank import LowRankRows
from sparsebayes.rows.pivots import pivoted_factor

NOTHING = np.zeros(0, dtype=np.int64)


def _points(seed, N=80, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, (N, d)), rng.standard_normal(N) + 1.0


def _operator(X, kernel=None):
    return KernelOperator((kernel or RBF(0.2)).resolve(X, None), X, X)


def _weights(seed, N, weighted):
    return np.random.default_rng(seed).integers(0, 4, N).astype(float) if weighted else None


def _target(t, weights, center):
    return Target.of(t, weights, center)


def _both(seed, weighted, center, kernel=None, tol=1e-13):
    """True rows and rows of a factor so fine that they must agree, and the kernel matrix."""
    X, t = _points(seed)
    operator, weights = _operator(X, kernel), _weights(seed, len(t), weighted)
    target, every = _target(t, weights, center), np.ones(len(t), dtype=bool)
    low = LowRankRows(pivoted_factor(operator, tol, len(t)), target, every)
    return ExactRows(operator, target, every), low, operator.dense().Phi, t, weights


@pytest.mark.parametrize("kernel", [RBF(0.2), Laplacian(0.3), Linear(), Polynomial(0.2, 3, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_factor_is_within_its_tolerance_and_its_residual_is_what_is_left(monkeypatch, kernel, seed):
    monkeypatch.setattr("sparsebayes.rows.pivots.SLOW", 1.0)  # however slowly the spectrum falls
    monkeypatch.setattr("sparsebayes.rows.pivots.CHEAP", 0)
    X, _ = _points(seed)
    operator = _operator(X, kernel)
    K = operator.dense().Phi
    for tol in (1e-2, 1e-5):
        factor = pivoted_factor(operator, tol, len(X))
        rest = K - factor.transposed.T @ factor.transposed
        largest = K.diagonal().max()
        assert factor.complete
        assert factor.rank < len(X) or isinstance(kernel, Laplacian)
        assert_allclose(factor.residual, rest.diagonal(), atol=1e-12 * largest)
        assert rest.diagonal().max() <= tol * largest
        assert np.abs(rest).max() <= tol * largest * (1 + 1e-9)  # a positive semi-definite residual
        assert np.linalg.eigvalsh(rest).min() > -1e-11 * largest
        # no column is further off than the bound says
        bound = np.sqrt(np.maximum(rest.diagonal(), 0) * max(rest.trace(), 0))
        assert (np.linalg.norm(rest, axis=0) <= bound + 1e-10 * largest).all()
        assert_allclose(rest[:, factor.pivots], 0, atol=1e-10 * largest)


def test_factor_gives_up_where_the_spectrum_falls_too_slowly():
    X = np.random.default_rng(0).uniform(size=(400, 10))
    operator = _operator(X, RBF(8.0))
    factor = pivoted_factor(operator, 1e-4, 100)
    assert not factor.complete
    assert factor.rank < 100  # seen before the end


def test_factor_of_the_largest_rank_is_not_complete():
    X, _ = _points(0)
    factor = pivoted_factor(_operator(X, RBF(0.2)), 1e-9, 20)
    assert factor.rank == 20
    assert not factor.complete


@pytest.mark.parametrize("strip", [7, 10**9])
def test_factor_does_not_depend_on_how_the_rows_are_cut(monkeypatch, strip):
    X, _ = _points(3)
    whole = pivoted_factor(_operator(X), 1e-6, 80)
    monkeypatch.setattr("sparsebayes.rows.pivots.STRIP", strip)
    cut = pivoted_factor(_operator(X), 1e-6, 80)
    assert_array_equal(whole.pivots, cut.pivots)
    assert_allclose(whole.transposed, cut.transposed, atol=1e-9)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("which", ["exact", "low rank"])
@pytest.mark.parametrize("seed", range(2))
def test_subset_equals_the_summary_of_the_kernel_matrix(monkeypatch, which, weighted, center, seed):
    monkeypatch.setattr("sparsebayes.rows.exact.STRIP", 300)
    monkeypatch.setattr("sparsebayes.rows.low_rank.STRIP", 300)
    exact, low, K, t, weights = _both(seed, weighted, center)
    W = np.sort(np.random.default_rng(seed).choice(len(t), 15, replace=False))
    quadratic, scaling = (exact if which == "exact" else low).subset(W)
    expected, reference = summarise(DenseOperator(K[:, W]), t, weights, center)
    assert_array_equal(scaling.kept, W)
    for name in ("n", "tt", "offset"):
        assert getattr(quadratic, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    for name in ("norms", "means", "target_scale", "target_mean", "target_spread", "n"):
        assert_allclose(getattr(scaling, name), getattr(reference, name), rtol=1e-7, atol=1e-9, err_msg=name)
    everything = range(len(W))
    assert_allclose(quadratic.h, expected.h, atol=1e-7)
    assert_allclose(quadratic.gram(everything), expected.gram(everything), atol=1e-7)
    assert_allclose(quadratic.columns([3, 1]), expected.columns([3, 1]), atol=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_residual_of_true_columns_is_that_of_the_rows(monkeypatch, center):
    monkeypatch.setattr("sparsebayes.rows.exact.STRIP", 50)
    exact, _, K, t, weights = _both(1, True, center)
    W, J, mean = np.arange(0, 60, 5), np.asarray([7, 2, 4]), np.asarray([0.4, -1.0, 2.0])
    residual = exact.subset(W)[0].residual_of(J, mean)
    expected = summarise(DenseOperator(K[:, W]), t, weights, center)[0].residual_of(J, mean)
    assert residual == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("which", ["exact", "low rank"])
@pytest.mark.parametrize("others", [slice(2, 70, 3), np.arange(2, 70, 3)])
def test_visit_knows_the_products_of_the_active_functions_with_all_others(which, weighted, center, others):
    exact, low, K, t, weights = _both(2, weighted, center)
    J, skipped = np.asarray([40, 3, 21]), np.asarray([12, 30])
    rows = AroundRows(exact) if which == "exact" else low
    # the rows of the sample being all of them, it does not matter from where the candidates are seen
    quadratic, scaling = rows.seen_from(J, np.asarray([0.3, -1.0, 2.0]), others).visit(J, others, skipped)
    expected, reference = summarise(DenseOperator(K), t, weights, center)
    block = np.arange(2, 70, 3)
    assert_array_equal(scaling.kept, np.concatenate([J, block]))
    silent = np.concatenate([np.zeros(3, dtype=bool), np.isin(block, [*J, *skipped])])
    assert silent.sum() == 5 - 3 + np.isin(J, block).sum() - np.isin(skipped, block, invert=True).sum()
    h = np.where(silent, 0.0, expected.h[scaling.kept])
    G = np.where(silent, 0.0, expected.columns(J)[:, scaling.kept])
    assert_allclose(quadratic.h, h, atol=1e-7)
    assert_allclose(quadratic.columns([0, 1, 2]), G, atol=1e-7)
    assert_allclose(quadratic.gram([2, 0]), G[[2, 0]][:, [2, 0]], atol=1e-7)
    assert_allclose(scaling.norms[~silent], reference.norms[scaling.kept[~silent]], rtol=1e-7)
    assert np.isinf(scaling.norms[silent]).all()


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_of_all_rows_and_curvatures_of_a_sample(monkeypatch, seed, weighted, center):
    """Seen from the posterior mean Q is exact, and S is what its variational form says of the sample."""
    monkeypatch.setattr("sparsebayes.rows.around.ROWS", 30)
    monkeypatch.setattr("sparsebayes.rows.exact.PIECE", 7)
    exact, _, K, t, weights = _both(seed, weighted, center)
    J, alpha, beta = np.asarray([40, 3, 21]), np.asarray([0.2, 1.0, 3.0]), 4.0
    whole, scaling = exact.subset(np.sort(J))
    true = Problem(whole, Uniform(), Gaussian(beta), scaling.unit).start(
        np.argsort(np.argsort(J)), alpha / scaling.unit[np.argsort(np.argsort(J))], beta
    )
    w = true.mean / scaling.norms[true.J]
    rows = AroundRows(exact)
    sample, every = rows.counts, slice(0, len(t), 1)
    assert len(sample) == 30
    assert sample.sum() == pytest.approx(exact.target.n)
    quadratic, seen = rows.seen_from(J, w, every).visit(J, every, NOTHING)
    state = Problem(quadratic, Uniform(), Gaussian(beta), seen.unit).start(
        range(3), alpha / seen.unit[:3], beta
    )
    assert_allclose(state.mean / seen.norms[:3], w, rtol=1e-8)

    others = np.setdiff1d(np.arange(len(t)), J) + 3  # after J come all functions
    full = summarise(DenseOperator(K), t, weights, center)
    state_of_all = Problem(full[0], Uniform(), Gaussian(beta), full[1].unit).start(
        J, alpha / full[1].unit[J], beta
    )
    Q = to_numpy(state_of_all.scores.Q) * full[1].norms
    assert_allclose(state.scores.Q[others] * seen.norms[others], Q[others - 3], rtol=1e-6, atol=1e-7)

    Phi = rows.operator.dense().Phi
    Phi = Phi - (sample @ Phi / sample.sum() if center else 0.0)
    unit, A = exact.target.scale**2, np.diag(alpha)
    for m in others[::9] - 3:
        # min_v β‖φ − Φv‖² + vᵀAv over the sample, β and A in the units of the scaled target
        G = beta * (Phi[:, J].T * sample) @ Phi[:, J] + A * unit
        b = beta * (Phi[:, J].T * sample) @ Phi[:, m]
        S = beta * sample @ Phi[:, m] ** 2 - b @ np.linalg.solve(G, b)
        assert state.scores.S[m + 3] * seen.norms[m + 3] ** 2 == pytest.approx(S, rel=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_functions_that_a_sample_of_rows_misses_are_not_taken_for_nothing(monkeypatch, center):
    monkeypatch.setattr("sparsebayes.rows.around.ROWS", 30)
    X, t = _points(0)
    exact = ExactRows(_operator(X, RBF(1e4)), _target(t, None, center), np.ones(len(t), dtype=bool))
    rows, every, J = AroundRows(exact), slice(0, len(t), 1), np.asarray([3])
    _, seen = rows.seen_from(J, np.asarray([0.1]), every).visit(J, every, NOTHING)
    others = np.setdiff1d(np.arange(len(t)), J)
    true = exact.subset(others)[1].norms  # every function is 1 at its own point, next to nothing elsewhere
    missed = np.setdiff1d(others, np.flatnonzero(np.isin(X[:, 0], rows.operator.X[:, 0])))
    assert len(missed) > 40
    assert_allclose(seen.norms[missed + 1], true[np.searchsorted(others, missed)], rtol=0.02)


def test_factor_of_a_small_rank_is_finer_than_asked_for():
    X = np.random.default_rng(0).uniform(-3, 3, (300, 1))
    factor = pivoted_factor(_operator(X), 1e-2, 300)
    assert factor.rank < 40
    assert factor.residual.max() < 1e-11


def test_functions_centred_at_pivots_are_exact_however_coarse_the_factor(monkeypatch):
    monkeypatch.setattr("sparsebayes.rows.pivots.CHEAP", 0)
    X, t = _points(5)
    operator, target, every = _operator(X), _target(t, None, True), np.ones(len(t), dtype=bool)
    factor = pivoted_factor(operator, 0.05, len(t))
    assert factor.rank < 40
    low, exact = LowRankRows(factor, target, every), ExactRows(operator, target, every)
    W = np.sort(factor.pivots)
    (a, b), (c, d) = low.subset(W), exact.subset(W)
    assert_allclose(a.h, c.h, atol=1e-9)
    assert_allclose(a.gram(range(len(W))), c.gram(range(len(W))), atol=1e-9)
    assert_allclose(b.norms, d.norms, rtol=1e-9)


def test_what_is_no_candidate_is_not_offered():
    X, t = _points(6)
    candidates = np.arange(len(t)) % 3 > 0
    operator, target = _operator(X), _target(t, None, False)
    J = np.asarray([1, 2])
    for rows in (
        AroundRows(ExactRows(operator, target, candidates)),
        LowRankRows(pivoted_factor(operator, 1e-12, len(t)), target, candidates),
    ):
        every = slice(0, len(t), 1)
        quadratic, scaling = rows.seen_from(J, np.ones(2), every).visit(J, every, NOTHING)
        assert np.isinf(scaling.norms[2:][~candidates]).all()
        assert not quadratic.h[2:][~candidates].any()


def test_constant_functions_are_left_out_with_an_intercept():
    X, t = _points(7)
    constant = Kernel(lambda X, Z: np.ones((len(X), len(Z))) * np.where(Z[:, 0] > 0, 1.0, X[:, :1]))
    operator = KernelOperator(constant, X, X)
    rows = ExactRows(operator, _target(t, None, True), np.ones(len(t), dtype=bool))
    _, scaling = rows.subset(np.arange(len(t)))
    assert_array_equal(scaling.kept, np.flatnonzero(X[:, 0] <= 0))


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
    X, Z = _points(0)[0], _points(1, N=50)[0]
    operator = KernelOperator(kernel, X, Z)
    K = kernel.evaluate(X, Z)
    V = np.random.default_rng(0).standard_normal((len(X), 2))
    assert operator.shape == K.shape
    assert not operator.positive
    assert_allclose(operator.columns([4, 1, 9]), K[:, [4, 1, 9]], rtol=1e-13)
    assert_allclose(operator.columns(range(3, 8)), K[:, 3:8], rtol=1e-13)
    assert_allclose(operator.adjoint(V), K.T @ V, atol=1e-10)
    assert_allclose(operator.dense().Phi, K, rtol=1e-12, atol=1e-15)
    weights = np.random.default_rng(1).uniform(size=len(X))
    for mine, theirs in zip(
        operator.means_and_norms(weights, True), DenseOperator(K).means_and_norms(weights, True), strict=True
    ):
        assert_allclose(mine, theirs, rtol=1e-10)


@pytest.mark.parametrize("kernel", [RBF([0.2, 1.0]), Laplacian(0.3), Linear(), Polynomial(0.2, 2, 0.5)])
def test_positive_kernels_say_so_and_are(kernel):
    X = _points(4)[0]
    kernel = kernel.resolve(X, None)
    operator = KernelOperator(kernel, X, X.copy())
    K = kernel.evaluate(X, X)
    assert operator.positive
    assert np.linalg.eigvalsh(K).min() > -1e-10 * K.diagonal().max()
    assert_allclose(operator.diagonal(), K.diagonal(), rtol=1e-13)
    assert not KernelOperator(kernel, X, X[::-1]).positive


def test_kernels_that_may_be_indefinite_do_not_claim_otherwise():
    X = _points(4)[0]
    assert not KernelOperator(Polynomial(0.2, 3, -1.0).resolve(X, None), X, X).positive
    assert not KernelOperator(Sigmoid(0.2).resolve(X, None), X, X).positive
    assert not KernelOperator(Kernel(lambda X, Z: X @ Z.T), X, X).positive


def test_kernel_values_that_are_not_finite_are_refused():
    X = _points(4)[0]
    operator = KernelOperator(Kernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), X, X)
    with pytest.raises(ValueError, match="not finite"):
        operator.columns([0])
