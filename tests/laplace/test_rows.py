"""The statistics of rows under a likelihood against their dense definitions."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from brute import LaplaceModel, codes, random_classes
from scipy.linalg import block_diag

from sparsebayes.bases import DenseOperator, SparseOperator, StackedOperator
from sparsebayes.laplace import Bernoulli, Multinomial
from sparsebayes.laplace.rows import LaplaceRows

CLASSES = {"bernoulli": (2, Bernoulli()), "two": (2, Multinomial(2))}
CLASSES |= {"three": (3, Multinomial(3)), "five": (5, Multinomial(5))}
N, M = 25, 7
models = pytest.mark.parametrize("name", CLASSES)
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])


def _data(name, seed, weighted=False):
    """Φ, y, the likelihood, counts and some outputs f to expand around."""
    K, likelihood = CLASSES[name]
    Phi, labels = random_classes(seed, N, M, K)
    rng = np.random.default_rng(seed + 10)
    y = codes(labels, K) if likelihood.outputs == 1 else np.eye(K)[labels]
    counts = rng.uniform(0.2, 3, N) if weighted else None
    return Phi * 10 ** rng.uniform(-3, 3, M), y, likelihood, counts, 1.5 * rng.standard_normal(y.shape)


class Dense:
    """The definitions: D̃ and E, (N·K)×C and (N·K)×K; what B makes of E is projected out of D̃."""

    def __init__(self, Phi, y, counts, f, center):
        K = y.shape[1]
        counts = np.ones(len(y)) if counts is None else counts
        Phi = Phi - (counts @ Phi) / counts.sum() if center else Phi
        Phi = Phi / np.sqrt(counts @ Phi**2)
        nothing = np.zeros(0, dtype=int)
        model = LaplaceModel(Phi, y, nothing, nothing, np.zeros(0), counts, center)
        every = np.arange(K * M)
        D = model.slopes(Phi, every % M, every // M).reshape(-1, K * M)
        E = np.tile(np.eye(K), (len(y), 1))
        B, g = block_diag(*model.curvature(f)), model.residual(f).ravel()
        eta = B @ f.ravel() + g
        inverse = np.linalg.pinv(E.T @ B @ E, rcond=1e-10) if center else np.zeros((K, K))
        self.D, self.E, self.B, self.g, self.f, self.eta, self.inverse = D, E, B, g, f.ravel(), eta, inverse
        self.G = D.T @ B @ D - D.T @ B @ E @ inverse @ E.T @ B @ D
        self.h = D.T @ eta - D.T @ B @ E @ inverse @ E.T @ eta
        self.scale = np.sqrt(self.G.diagonal())
        self.value = model.log_likelihood(f)
        self.center, self.outputs = center, K

    def intercept(self, w):
        return self.inverse @ (self.E.T @ (self.eta - self.B @ (self.D @ w)))

    def quadratic(self, w):
        """log of what is left of the quadratic expansion at weights w with the intercepts integrated out."""
        step = self.D @ w + self.E @ self.intercept(w) - self.f
        there = self.value + self.g @ step - 0.5 * step @ self.B @ step
        if not self.center:
            return there
        total = self.E.T @ self.B @ self.E
        pinned = total if self.outputs == 1 else total[1:, 1:]
        return there + 0.5 * len(pinned) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(pinned)[1]


def _rows(Phi, y, likelihood, counts, center):
    return LaplaceRows(DenseOperator(Phi), y, likelihood, counts, center)


@models
@weighted
@centred
@pytest.mark.parametrize("seed", range(3))
def test_everything_equals_its_dense_definition(name, weighted, center, seed):
    Phi, y, likelihood, counts, f = _data(name, seed, weighted)
    rows = _rows(Phi, y, likelihood, counts, center)
    assert rows.size == M * likelihood.outputs
    linear, dense = rows.linearise(rows.everything(), rows.expand(f)), Dense(Phi, y, counts, f, center)
    np.testing.assert_allclose(linear.scale, dense.scale, rtol=1e-11)
    np.testing.assert_allclose(linear.h, dense.h / dense.scale, rtol=1e-10, atol=1e-11)
    unit = dense.G / np.outer(dense.scale, dense.scale)
    rng = np.random.default_rng(seed)
    J = rng.permutation(rows.size)[: rows.size // 2 + 1]  # in no order
    np.testing.assert_allclose(linear.rows(J), unit[J], atol=1e-12)
    np.testing.assert_allclose(linear.block(J), unit[np.ix_(J, J)], atol=1e-12)
    np.testing.assert_allclose(linear.rows(J).T[J], linear.block(J), atol=1e-12)
    w = rng.standard_normal(rows.size)
    np.testing.assert_allclose(linear.intercept(w), dense.intercept(w), atol=1e-11)


@models
@weighted
@centred
@pytest.mark.parametrize("seed", range(2))
def test_held_candidates_are_those_among_all(name, weighted, center, seed):
    Phi, y, likelihood, counts, f = _data(name, seed, weighted)
    rows = _rows(Phi, y, likelihood, counts, center)
    expansion = rows.expand(f)
    everything = rows.linearise(rows.everything(), expansion)
    rng = np.random.default_rng(seed)
    for J in (np.sort(rng.choice(rows.size, rows.size // 2, replace=False)), [rows.size - 1], [0]):
        held = rows.linearise(rows.held(J), expansion)
        np.testing.assert_allclose(held.scale, everything.scale[J], rtol=1e-12)
        np.testing.assert_allclose(held.h, everything.h[J], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(held.block(np.arange(len(J))), everything.block(J), atol=1e-12)
        np.testing.assert_allclose(held.rows(np.arange(len(J))), everything.block(J), atol=1e-12)
        w, among_all = rng.standard_normal(len(J)), np.zeros(rows.size)
        among_all[J] = w
        np.testing.assert_allclose(held.intercept(w), everything.intercept(among_all), atol=1e-11)
        assert held.constant == pytest.approx(everything.constant, rel=1e-12)
        np.testing.assert_allclose(
            rows.predictor(rows.held(J), w, np.arange(float(rows.outputs))),
            (Dense(Phi, y, counts, f, center).D @ among_all).reshape(f.shape) + np.arange(rows.outputs),
            atol=1e-11,
        )


@models
@weighted
@centred
@pytest.mark.parametrize("held", [False, True])
def test_the_quadratic_is_the_expansion_with_the_intercepts_integrated_out(name, weighted, center, held):
    Phi, y, likelihood, counts, f = _data(name, 4, weighted)
    rows = _rows(Phi, y, likelihood, counts, center)
    every, brute = np.arange(rows.size), Dense(Phi, y, counts, f, center)
    candidates = rows.held(every) if held else rows.everything()
    quadratic = rows.linearise(candidates, rows.expand(f)).quadratic()
    rng = np.random.default_rng(0)
    for size in (0.0, 0.3, 5.0):
        w = size * rng.standard_normal(rows.size)
        misfit = quadratic.tt - 2 * quadratic.h @ w + w @ quadratic.gram(every) @ w
        value = -0.5 * quadratic.n * np.log(2 * np.pi) - 0.5 * misfit + quadratic.offset
        assert value == pytest.approx(brute.quadratic(w / brute.scale), rel=1e-11)
    np.testing.assert_allclose(quadratic.rows(every), quadratic.gram(every), atol=1e-12)


@models
@weighted
def test_the_expansion_is_the_likelihood_weighted(name, weighted):
    Phi, y, likelihood, counts, f = _data(name, 1, weighted)
    rows = _rows(Phi, y, likelihood, counts, True)
    expansion = rows.expand(f)
    each = np.ones(N) if counts is None else counts
    assert expansion.value == pytest.approx(each @ likelihood.log_prob(y, f))
    np.testing.assert_allclose(expansion.g, each[:, None] * likelihood.gradient(y, f), rtol=1e-13)
    B = each[:, None, None] * likelihood.curvature(y, f)
    V = np.random.default_rng(0).standard_normal(f.shape)
    np.testing.assert_allclose(expansion.curved(V), np.einsum("nkl,nl->nk", B, V), atol=1e-13)
    R = np.random.default_rng(1).standard_normal((rows.outputs, 2))
    curved = np.stack([expansion.curved(R[:, j][None, :]) for j in range(2)], axis=2)
    for k in range(rows.outputs):
        np.testing.assert_allclose(curved[:, k, :], B[:, :, k] @ R, atol=1e-13)


@models
@centred
@pytest.mark.parametrize("seed", range(2))
def test_integer_weights_equal_repeated_rows(name, center, seed):
    Phi, y, likelihood, _, f = _data(name, seed)
    counts = np.random.default_rng(seed).integers(0, 4, N)
    rows = _rows(Phi, y, likelihood, counts.astype(float), center)
    again = _rows(np.repeat(Phi, counts, axis=0), np.repeat(y, counts, axis=0), likelihood, None, center)
    assert rows.n == again.n == counts.sum()
    np.testing.assert_allclose(rows.start(), again.start(), rtol=1e-13)
    a = rows.linearise(rows.everything(), rows.expand(f))
    b = again.linearise(again.everything(), again.expand(np.repeat(f, counts, axis=0)))
    every = np.arange(rows.size)
    np.testing.assert_allclose(a.scale, b.scale, rtol=1e-11)
    np.testing.assert_allclose(a.h, b.h, atol=1e-11)
    np.testing.assert_allclose(a.rows(every), b.rows(every), atol=1e-11)
    assert a.constant == pytest.approx(b.constant, rel=1e-11)
    assert rows.value(f) == pytest.approx(again.value(np.repeat(f, counts, axis=0)), rel=1e-12)


@models
@centred
def test_the_start_is_the_mode_without_functions(name, center):
    Phi, y, likelihood, counts, _ = _data(name, 2, True)
    rows = _rows(Phi, y, likelihood, counts, center)
    b = rows.start()
    f = rows.predictor(rows.held([]), np.zeros(0), b)
    slope = rows.expand(f).g.sum(axis=0)
    if center:
        np.testing.assert_allclose(slope, 0, atol=1e-11)
        assert likelihood.outputs == 1 or abs(b.sum()) < 1e-12
    else:
        np.testing.assert_array_equal(b, 0)


@models
@weighted
@centred
def test_any_operator_and_namespace_gives_the_same_numbers(name, weighted, center):
    Phi, y, likelihood, counts, f = _data(name, 3, weighted)
    Phi = np.where(np.random.default_rng(0).random(Phi.shape) < 0.5, Phi, 0.0)
    rows = _rows(Phi, y, likelihood, counts, center)
    plain = rows.linearise(rows.everything(), rows.expand(f))
    J = np.random.default_rng(1).permutation(rows.size)[:5]
    held = np.sort(J)
    strict = array_api_strict.asarray
    cases = [
        (SparseOperator(scipy.sparse.csr_array(Phi)), lambda x: x),
        (
            StackedOperator([DenseOperator(Phi[:, :3]), SparseOperator(scipy.sparse.csc_array(Phi[:, 3:]))]),
            lambda x: x,
        ),
        (DenseOperator(strict(Phi)), strict),
    ]
    for operator, convert in cases:
        own_counts = None if counts is None else convert(counts)
        other = LaplaceRows(operator, convert(y), likelihood, own_counts, center)
        expansion = other.expand(convert(f))
        linear = other.linearise(other.everything(), expansion)
        for attribute in ("scale", "h", "side"):
            mine, theirs = np.asarray(getattr(linear, attribute)), getattr(plain, attribute)
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(np.asarray(linear.rows(J)), plain.rows(J), atol=1e-11)
        np.testing.assert_allclose(np.asarray(linear.block(J)), plain.block(J), atol=1e-11)
        small = other.linearise(other.held(held), expansion)
        # what is said of candidates is on the host
        np.testing.assert_allclose(np.asarray(small.h), plain.h[held], atol=1e-11)
        w = np.arange(5.0)
        mine = np.asarray(other.predictor(other.held(held), w, rows.start()))
        np.testing.assert_allclose(mine, rows.predictor(rows.held(held), w, rows.start()), atol=1e-11)
        np.testing.assert_allclose(np.asarray(small.intercept(w)), _intercept(rows, held, f, w))


def _intercept(rows, held, f, w):
    return rows.linearise(rows.held(held), rows.expand(f)).intercept(w)


@centred
def test_products_of_more_functions_than_a_batch(center):
    K, wide = 3, 200
    Phi, labels = random_classes(0, 40, wide, K)
    rows = LaplaceRows(DenseOperator(Phi), codes(labels, K), Multinomial(K), None, center)
    f = np.random.default_rng(0).standard_normal((40, K))
    linear = rows.linearise(rows.everything(), rows.expand(f))
    J = np.random.default_rng(1).permutation(rows.size)
    np.testing.assert_allclose(linear.rows(J), linear.block(np.arange(rows.size))[J], atol=1e-12)


@models
@centred
def test_repeats_zeros_and_constants_are_no_functions(name, center):
    Phi, y, likelihood, counts, _ = _data(name, 5, True)
    extra = np.column_stack([Phi, -3 * Phi[:, 2], np.zeros(N), Phi[:, 0], np.full(N, 0.1)])
    rows = _rows(extra, y, likelihood, counts, center)
    np.testing.assert_array_equal(rows.design.kept, [*range(M)] if center else [*range(M), M + 3])
    function, output = rows.split(np.arange(rows.size))
    assert (function < rows.design.size).all()
    np.testing.assert_array_equal(output, np.repeat(np.arange(rows.outputs), rows.design.size))


@models
@centred
def test_confident_rows_leave_finite_numbers(name, center):
    """B all but zero in every row: the floors hold, nothing divides by zero."""
    Phi, y, likelihood, _, _ = _data(name, 6)
    rows = _rows(Phi, y, likelihood, None, center)
    for size in (40.0, 300.0, 800.0):
        f = size * (2 * y - 1)
        linear = rows.linearise(rows.everything(), rows.expand(f))
        assert np.isfinite(linear.constant)
        for piece in (linear.h, linear.scale, linear.rows([0, 1]), linear.block([0, 1]), linear.side):
            assert np.isfinite(piece).all()


@models
def test_functions_keep_their_numbers(name):
    """Rows over some of the functions: those of the operator's columns, in the user's numbering."""
    Phi, y, likelihood, counts, _ = _data(name, 7, True)
    Phi[:, 2] = 0.0
    numbers = np.asarray([3, 5, 6, 10, 11, 15, 20])
    rows = LaplaceRows(DenseOperator(Phi), y, likelihood, counts, True, numbers)
    kept = np.delete(np.arange(M), 2)
    np.testing.assert_array_equal(rows.functions, numbers[kept])
    np.testing.assert_array_equal(rows.numbers(np.arange(rows.size)), np.tile(numbers[kept], rows.outputs))
    norms, means, own = rows.scales(np.arange(rows.size))
    np.testing.assert_allclose(means, np.tile(counts @ Phi[:, kept] / counts.sum(), rows.outputs))
    np.testing.assert_allclose(norms, np.tile(rows.design.norms, rows.outputs))
    np.testing.assert_array_equal(own, np.repeat(np.eye(rows.outputs), len(kept), axis=1))


@models
@weighted
@centred
def test_residuals_from_the_rows_equal_those_of_the_statistics(name, weighted, center):
    Phi, y, likelihood, counts, f = _data(name, 8, weighted)
    rows = _rows(Phi, y, likelihood, counts, center)
    linear = rows.linearise(rows.everything(), rows.expand(f))
    rng = np.random.default_rng(0)
    J = rng.permutation(rows.size)[:4]
    w = rng.standard_normal(4)
    expected = linear.tt - 2 * linear.h[J] @ w + w @ linear.block(J) @ w
    assert linear.residual(J, w) == pytest.approx(expected, rel=1e-10)
