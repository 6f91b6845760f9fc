"""What the `kernel` argument of an estimator may be."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from basis_examples import every_basis, random_problem
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sparsebayes import bases
from sparsebayes.bases import KERNEL_NAMES, RBF, Basis, Bias, BoundBasis, Fixed, Kernel, as_basis

NAMED = [
    ("rbf", "RBF(gamma=0.5)"),
    ("laplacian", "Laplacian(gamma=0.5)"),
    ("matern", "Matern(gamma=0.5)"),
    ("rational-quadratic", "RationalQuadratic(gamma=0.5)"),
    ("poly", "Polynomial(coef0=2.0, degree=4, gamma=0.5)"),
    ("linear", "Linear()"),
    ("cosine", "Cosine()"),
    ("histogram-intersection", "HistogramIntersection()"),
    ("sigmoid", "Sigmoid(coef0=2.0, gamma=0.5)"),
    ("linear-spline", "LinearSpline()"),
    ("cubic-spline", "CubicSpline()"),
    ("thin-plate-spline", "ThinPlateSpline()"),
    ("precomputed", "Precomputed()"),
]


@pytest.mark.parametrize(("name", "expected"), NAMED)
def test_names(name, expected):
    assert repr(as_basis(name, gamma=0.5, degree=4, coef0=2.0)) == expected


def test_every_name_is_tested():
    assert set(KERNEL_NAMES) == {name for name, _ in NAMED}


@pytest.mark.parametrize("basis", [RBF(3.0), RBF() + Bias()])
def test_bases_pass_through(basis):
    assert as_basis(basis, gamma=0.1) is basis


def test_callable():
    basis = as_basis(np.dot)
    assert isinstance(basis, Kernel)
    assert basis.function is np.dot


@pytest.mark.parametrize("name", ["gauss", "RBF", ""])
def test_unknown_name_lists_the_known(name):
    with pytest.raises(ValueError, match=r"kernel must be one of 'rbf', .*'precomputed'.*got"):
        as_basis(name)


@pytest.mark.parametrize("kernel", [None, 3, 1.0, ["rbf"], RBF, Basis])
def test_wrong_type(kernel):
    with pytest.raises(TypeError, match="kernel must be a name, a callable"):
        as_basis(kernel)


@every_basis
@pytest.mark.parametrize(
    "again", [lambda basis: basis, clone, copy.deepcopy, lambda basis: pickle.loads(pickle.dumps(basis))]
)
def test_a_bound_basis_is_a_basis_whose_functions_are_given(basis, again):
    basis, train, test = random_problem(basis, 0)
    bound = basis.bind(train)
    given = again(as_basis(bound, gamma=0.1))
    assert isinstance(given, Fixed)
    assert not given.pairwise
    same = given.bind(test, np.ones(len(test)), test[:1])
    assert type(same) is type(bound)
    assert_array_equal(same(test), bound(test))
    # the rows of this X are not its centres
    numbers, count = same.numbers(np.arange(len(test)), len(test))
    assert_array_equal(numbers, np.arange(bound.n_functions))
    assert count == bound.n_functions


def test_a_bound_basis_in_a_sum():
    X = np.random.default_rng(0).normal(size=(6, 2))
    bound = RBF(0.5).bind(X[:3])
    both = (as_basis(bound) + RBF(2.0)).bind(X)
    assert_array_equal(both(X), np.concatenate([bound(X), RBF(2.0).bind(X)(X)], axis=1))
    assert_array_equal(both.numbers(np.array([1, 4]), 9)[0][:3], [0, 1, 2])


def test_every_basis_there_is_is_exported():
    for root in (Basis, BoundBasis):
        for kind in _subclasses(root):
            if kind.__module__.startswith("sparsebayes.bases.") and not kind.__name__.startswith("_"):
                assert getattr(bases, kind.__name__) is kind


def _subclasses(root):
    return [found for child in root.__subclasses__() for found in (child, *_subclasses(child))]
