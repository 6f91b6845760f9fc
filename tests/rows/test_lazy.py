"""Rows of G on demand are those of all of G."""

import array_api_strict
import numpy as np
import pytest
from brute import random_problem

from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.rows.lazy import LazyQuadratic, RowProducts


class Products(RowProducts):
    """Products from G itself; `passes` are the rows that were fetched."""

    def __init__(self, G, xp=np):
        self.G, self.xp, self.passes = G, xp, []

    def rows(self, J):
        self.passes.append(list(J))
        return self.xp.asarray(self.G[np.asarray(J)])

    def block(self, J):
        return self.xp.asarray(self.G[np.ix_(J, J)])

    def residual(self, J, weights):
        raise AssertionError("no residual is needed")


def _pair(seed, xp=np):
    Phi, t, _ = random_problem(seed, 25, 40, 4)
    G, h = Phi.T @ Phi, xp.asarray(Phi.T @ t)
    products = Products(G, xp)
    dense = DenseQuadratic(25.0, float(t @ t), h, xp.asarray(G))
    return dense, LazyQuadratic(25.0, float(t @ t), h, products), products.passes


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("seed", range(3))
def test_rows_on_demand_equal_the_dense_ones(seed, xp):
    dense, lazy, _ = _pair(seed, xp)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        J = rng.choice(40, rng.integers(1, 12), replace=False)
        np.testing.assert_allclose(np.asarray(lazy.gram(J)), np.asarray(dense.gram(J)))
        if rng.random() < 0.6:
            np.testing.assert_allclose(np.asarray(lazy.rows(J)), np.asarray(dense.rows(J)))
        mine, theirs = lazy.restrict(J), dense.restrict(J)
        np.testing.assert_allclose(np.asarray(mine.G), np.asarray(theirs.G))
        np.testing.assert_allclose(np.asarray(mine.h), np.asarray(theirs.h))
        keep = np.flatnonzero(rng.random(len(J)) < 0.5)
        np.testing.assert_allclose(np.asarray(mine.keep(keep).G), np.asarray(dense.gram(J[keep])))


def test_a_row_is_fetched_once_and_batches_together():
    _, lazy, passes = _pair(0)
    lazy.rows([3, 1])
    lazy.rows([1, 3, 7, 9])
    lazy.rows([9, 7])
    lazy.gram([3, 7, 9])
    assert passes == [[3, 1], [7, 9]]


def test_the_store_grows_past_its_first_size():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 300))
    G = A.T @ A
    lazy = LazyQuadratic(1.0, 1.0, np.ones(300), Products(G))
    for start in range(0, 300, 50):
        lazy.rows(range(start, start + 50))
    np.testing.assert_array_equal(lazy.rows(range(300)), G)
