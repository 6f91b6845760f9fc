"""Sums of bases."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sparsebayes.bases import (
    RBF,
    Bias,
    Columns,
    Concatenation,
    Laplacian,
    Linear,
    Precomputed,
    StackedOperator,
)

X = np.random.default_rng(2).normal(size=(8, 2))
NEW = np.random.default_rng(3).normal(size=(5, 2))


def test_parts_stand_side_by_side():
    """[T01, 4.3]: Gaussians with a scale per input, linear and quadratic terms and a constant."""
    parts = [RBF(gamma=[0.5, 2.0]), Columns(degree=2), Bias()]
    model = parts[0] + parts[1] + parts[2]
    bound = model.bind(X)
    assert bound.n_functions == 8 + 5 + 1
    assert_array_equal(bound(NEW), np.concatenate([part.bind(X)(NEW) for part in parts], axis=1))
    assert isinstance(bound.operator(NEW), StackedOperator)


def test_sums_are_flat():
    a, b, c, d = RBF(), Columns(), Bias(), Linear()
    assert (a + b + c).parts == [a, b, c]
    assert ((a + b) + (c + d)).parts == [a, b, c, d]
    assert (a + (b + c)).parts == [a, b, c]


def test_sum_leaves_its_terms_alone():
    left = RBF() + Bias()
    _ = left + Columns()
    assert len(left.parts) == 2


@pytest.mark.parametrize("other", [1, "rbf", None, np.sin])
def test_sum_with_something_else(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF() + other


@pytest.mark.parametrize("seed", range(5))
def test_selections_of_selections_in_any_order(seed):
    rng = np.random.default_rng(seed)
    bound = (RBF() + Columns(degree=2) + Bias() + Laplacian()).bind(X)
    kept = np.arange(bound.n_functions)
    Phi = bound(NEW)
    for size in (15, 9, 4, 1, 0):
        J = rng.choice(len(kept), size=size, replace=False)
        bound, kept = bound.select(J), kept[J]
        assert bound.n_functions == size
        assert_allclose(bound(NEW), Phi[:, kept], rtol=1e-12, atol=1e-14)
        assert bound.operator(NEW).shape == (5, size)
        assert_allclose(bound.operator(NEW).columns(range(size)), Phi[:, kept], rtol=1e-12, atol=1e-14)


def test_sorted_selection_keeps_the_operators_of_the_parts():
    bound = (RBF() + Columns() + Bias()).bind(X).select([1, 3, 8, 10])
    assert isinstance(bound.operator(NEW), StackedOperator)
    assert_allclose(bound.operator(NEW).columns([3, 0]), bound(NEW)[:, [3, 0]], rtol=1e-14)


def test_vectors_are_those_of_all_parts_or_none():
    both = (RBF() + Laplacian()).bind(X)
    assert_array_equal(both.vectors, np.concatenate([X, X]))
    assert_array_equal(both.select([9, 0, 15]).vectors, X[[1, 0, 7]])
    mixed = (RBF() + Bias()).bind(X)
    assert mixed.vectors is None
    assert_array_equal(mixed.select([5, 2]).vectors, X[[5, 2]])
    assert mixed.select([8]).vectors is None


def test_centred_at_moves_the_kernels_only():
    """Also after a selection that keeps none of a kernel's functions, or keeps them out of order."""
    model = RBF(0.5) + Bias() + Laplacian(0.3)
    for bound in (model.bind(X), model.bind(X).select([8]), model.bind(X).select([10, 8, 0, 9])):
        moved = bound.centred_at(NEW)
        expected = (RBF(0.5) + Laplacian(0.3)).bind(NEW)
        assert_allclose(moved(X), expected(X), rtol=1e-12)
    assert (Bias() + Columns()).bind(X).centred_at(NEW) is None


def test_parameters_of_parts():
    model = RBF(0.5) + Columns(degree=2) + Bias()
    params = model.get_params()
    assert params["part0__gamma"] == 0.5
    assert params["part1__degree"] == 2
    assert params["part2"] is model.parts[2]
    assert set(model.get_params(deep=False)) == {"parts"}
    model.set_params(part0__gamma=3.0, part1=Linear())
    assert repr(model) == "Concatenation(parts=[RBF(gamma=3.0), Linear(), Bias()])"
    model.set_params(part0=RBF(), part0__width=2.0)
    assert repr(model.parts[0]) == "RBF(width=2.0)"
    model.set_params(parts=[Bias(), Columns()], part1__degree=3)
    assert repr(model) == "Concatenation(parts=[Bias(), Columns(degree=3)])"


def test_setting_a_part_leaves_the_list_given_alone():
    parts = [RBF(), Bias()]
    model = Concatenation(parts).set_params(part0=Linear())
    assert repr(parts) == "[RBF(), Bias()]"
    assert repr(model.parts) == "[Linear(), Bias()]"


@pytest.mark.parametrize("name", ["part2", "part9__gamma", "gamma", "part0__nonsense"])
def test_unknown_parameters(name):
    with pytest.raises(ValueError, match=r"does not exist|Invalid parameter"):
        (RBF() + Bias()).set_params(**{name: 1})


def test_clone_shares_nothing():
    model = RBF(0.5) + Bias()
    copy = clone(model)
    copy.set_params(part0__gamma=9.0)
    assert model.parts[0].gamma == 0.5
    assert "RBF" in copy._repr_html_()


@pytest.mark.parametrize("parts", [[], None, RBF(), [RBF(), "rbf"], [RBF]])
def test_parts_must_be_bases(parts):
    with pytest.raises(TypeError, match="parts must be"):
        Concatenation(parts).bind(X)


def test_weights_reach_every_part():
    weights = np.arange(1, 9)
    bound = (RBF() + Columns() + Laplacian()).bind(X, weights)
    alone = Laplacian().bind(X, weights)
    assert_array_equal(bound(NEW)[:, -8:], alone(NEW))


def test_precomputed_with_a_bias():
    K = X @ X.T
    bound = (Precomputed() + Bias()).bind(K)
    assert_array_equal(bound(K[:3]), np.column_stack([K[:3], np.ones(3)]))
