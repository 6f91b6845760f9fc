"""The statistics of the data, and that they are all a likelihood needs."""

import math

import array_api_strict
import numpy as np
import pytest
from brute import Rows, random_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from sparsebayes.core.quadratic import DenseQuadratic, Products, Quadratic, Restriction


def _quadratic(seed=0, xp=np, **options):
    Phi, t, _ = random_problem(seed, 20, 9, 3)
    return Phi, t, DenseQuadratic(20.0, float(t @ t), xp.asarray(Phi.T @ t), xp.asarray(Phi.T @ Phi), **options)


def test_the_quadratic_is_the_gaussian_log_likelihood():
    Phi, t, quadratic = _quadratic()
    w, beta = np.random.default_rng(0).standard_normal(9), 3.0
    square = quadratic.tt - 2 * quadratic.h @ w + w @ quadratic.G @ w
    value = 0.5 * quadratic.n * math.log(beta / (2 * math.pi)) - 0.5 * beta * square + quadratic.offset
    assert value == pytest.approx(norm(Phi @ w, beta**-0.5).logpdf(t).sum())


def test_statistics_add_over_rows():
    Phi, t, whole = _quadratic()
    parts = [slice(0, 7), slice(7, 20)]
    h, G, tt = (
        sum(values)
        for values in zip(
            *((Phi[rows].T @ t[rows], Phi[rows].T @ Phi[rows], t[rows] @ t[rows]) for rows in parts), strict=True
        )
    )
    assert_allclose(h, whole.h)
    assert_allclose(G, whole.G)
    assert tt == pytest.approx(whole.tt)


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_rows_blocks_and_restrictions(xp):
    Phi, t, quadratic = _quadratic(1, xp)
    J = [6, 2, 3]
    G, h = Phi.T @ Phi, Phi.T @ t
    assert quadratic.size == 9
    assert_allclose(np.asarray(quadratic.rows(J)), G[J])
    assert_allclose(np.asarray(quadratic.gram(J)), G[np.ix_(J, J)])
    active = quadratic.restrict(J)
    assert isinstance(active, Restriction)
    assert_array_equal(active.J, J)
    assert active.J.dtype == np.int64
    assert_allclose(np.asarray(active.h), h[J])
    assert_allclose(np.asarray(active.G), G[np.ix_(J, J)])
    fewer = active.keep([2, 0])
    assert_array_equal(fewer.J, [3, 6])
    assert_allclose(np.asarray(fewer.h), h[[3, 6]])
    assert_allclose(np.asarray(fewer.G), G[np.ix_([3, 6], [3, 6])])


def test_the_first_rows_of_the_gram_matrix_suffice_if_only_they_are_active():
    Phi, t, whole = _quadratic(2)
    part = DenseQuadratic(20.0, float(t @ t), Phi.T @ t, (Phi.T @ Phi)[:4])
    assert_allclose(part.rows([3, 1]), whole.rows([3, 1]))
    assert_allclose(part.gram([3, 1]), whole.gram([3, 1]))


def test_offset_and_products_are_kept():
    Phi, t, _ = random_problem(0, 20, 9, 3)
    rows = Rows(Phi, t)
    _, _, quadratic = _quadratic(offset=-1.5, products=rows)
    assert quadratic.offset == -1.5
    assert quadratic.products is rows
    assert rows.far_apart(np.arange(9), 3) is None
    plain = _quadratic()[2]
    assert (plain.offset, plain.products) == (0.0, None)


def test_interfaces_name_what_a_subclass_needs():
    for interface, methods in ((Products, {"residual"}), (Quadratic, {"rows", "gram"})):
        assert interface.__abstractmethods__ == methods
