"""Kernels of products and minima, and which kernels are positive semi-definite."""

from __future__ import annotations

import numpy as np
import pytest
from basis_examples import every_basis, random_problem, seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import cosine_similarity

from sparsebayes.bases import (
    Cosine,
    CubicSpline,
    HistogramIntersection,
    LinearSpline,
    Polynomial,
    Sigmoid,
    ThinPlateSpline,
)


@seeds
@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_cosine_is_that_of_scikit_learn_whatever_the_units(seed, unit):
    _, train, test = random_problem(Cosine(), seed)
    assert_allclose(Cosine().bind(train * unit)(test * unit), cosine_similarity(test, train), atol=1e-13)


def test_cosine_of_nothing_is_0():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert_allclose(Cosine().bind(X)(X), [[0.0, 0.0], [0.0, 1.0]])


@seeds
def test_intersection_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.poisson(3.0, size=(6, 20)), rng.poisson(2.0, size=(8, 20))
    expected = np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)
    assert_allclose(HistogramIntersection().bind(Z)(X), expected, rtol=1e-13)


@every_basis
@seeds
def test_what_says_it_is_positive_semidefinite_is(basis, seed):
    basis, train, _ = random_problem(basis, seed)
    for points in (train, abs(train)):
        bound = basis.bind(points)
        for functions in (
            bound,
            bound.select([bound.n_functions - 1]),
            bound.with_log_scales(bound.log_scales + 1.0),
        ):
            if functions.positive_semidefinite:
                K = functions(functions.vectors)
                assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
                assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.linalg.norm(K)


def test_some_kernels_are_positive_semidefinite_for_some_inputs_or_parameters():
    X = np.random.default_rng(0).normal(size=(9, 2))
    for basis in (LinearSpline(), CubicSpline(), HistogramIntersection()):
        assert basis.bind(abs(X)).positive_semidefinite
        assert not basis.bind(X).positive_semidefinite
    assert Polynomial().bind(X).positive_semidefinite
    assert not Polynomial(coef0=-0.1).bind(X).positive_semidefinite
    assert not Sigmoid().bind(X).positive_semidefinite
    assert not ThinPlateSpline().bind(X).positive_semidefinite
    assert_array_equal(Cosine().bind(X).log_scales, [])
