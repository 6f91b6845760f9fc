"""Raw columns, their products, and the constant."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from sparsebayes.bases import RBF, Bias, Columns, SparseOperator, StackedOperator


def sparse_points(seed, n=12, d=5):
    rng = np.random.default_rng(seed)
    return scipy.sparse.random_array((n, d), density=0.4, random_state=rng, format="csr")


def test_quadratic_terms_in_order():
    """[T01, 4.3]: the inputs, their squares and their product."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    a, b = X.T
    assert_array_equal(Columns(degree=2).bind(X)(X), np.column_stack([a, b, a * a, b * b, a * b]))


@pytest.mark.parametrize(("d", "degree"), list(product([1, 2, 4], [1, 2, 3, 4])))
def test_all_monomials_once(d, degree):
    """At x = distinct primes monomials are distinct integers: all with total degree 1 … p, each once."""
    primes = np.array([[2, 3, 5, 7]])[:, :d]
    values = Columns(degree).bind(primes)(primes)[0]
    exponents = [e for e in product(range(degree + 1), repeat=d) if 1 <= sum(e) <= degree]
    expected = [np.prod(primes[0] ** np.array(e)) for e in exponents]
    assert len(values) == comb(d + degree, degree) - 1
    assert_array_equal(np.sort(values), np.sort(expected))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_lower_degrees_come_first(degree):
    X = np.random.default_rng(degree).normal(size=(5, 3))
    more, fewer = Columns(degree + 1).bind(X)(X), Columns(degree).bind(X)(X)
    assert_array_equal(more[:, : fewer.shape[1]], fewer)


def test_dense_columns_are_not_copied():
    X = np.random.default_rng(1).normal(size=(5, 3))
    assert np.shares_memory(Columns().bind(X)(X), X)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_equals_dense(seed, layout):
    X = sparse_points(seed).asformat(layout)
    dense = X.toarray()
    bound = Columns().bind(X)
    assert bound.n_functions == 5
    assert_array_equal(bound(X), dense)
    operator = bound.operator(X)
    assert isinstance(operator, SparseOperator)
    assert_array_equal(operator.columns(range(5)), dense)
    chosen = bound.select([4, 0, 2])
    assert_array_equal(chosen(X), dense[:, [4, 0, 2]])
    assert_array_equal(chosen(dense), dense[:, [4, 0, 2]])
    assert isinstance(chosen.operator(X), SparseOperator)
    assert_array_equal(chosen.operator(X).columns([1, 2]), dense[:, [0, 2]])


def test_sparse_with_a_bias_stays_sparse():
    X = sparse_points(1)
    bound = (Columns() + Bias()).bind(X)
    operator = bound.operator(X)
    assert isinstance(operator, StackedOperator)
    assert isinstance(operator.parts[0], SparseOperator)
    assert_array_equal(operator.columns(range(6)), np.column_stack([X.toarray(), np.ones(12)]))


def test_what_sparse_points_cannot_do():
    X = sparse_points(2)
    with pytest.raises(TypeError, match="X must be dense"):
        Columns(degree=2).bind(X)
    with pytest.raises(TypeError, match="X must be dense"):
        Columns(degree=2).bind(X.toarray())(X)
    with pytest.raises(TypeError, match="X must be dense"):
        (RBF() + Columns()).bind(X)
    with pytest.raises(ValueError, match="X must have 5 columns as in training, got 4"):
        Columns().bind(X)(X[:, :4])


def test_overflow_is_said_in_words():
    X = np.full((2, 2), 1e200)
    with pytest.raises(ValueError, match="Columns returned values that are not finite"):
        Columns(degree=2).bind(X)(X)


def test_bias_is_one():
    assert_array_equal(Bias().bind(np.zeros((4, 2)))(np.full((3, 2), 9.0)), np.ones((3, 1)))
