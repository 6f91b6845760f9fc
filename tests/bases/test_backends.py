"""Every basis on arrays of every library: the same numbers as on NumPy arrays, on the device of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from basis_examples import EXAMPLES, random_problem
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes._array import to_numpy
from sparsebayes.bases import Kernel
from sparsebayes.bases.kernels._distances import squared_distances
from sparsebayes.signals.sampled import SampledBasis

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
LAST = [examples[-1] for examples in EXAMPLES.values()]  # of each class the one with most parameters
OF_ROWS = [basis for basis in LAST if not isinstance(basis, SampledBasis)]
every_basis = pytest.mark.parametrize("basis", LAST, ids=lambda basis: repr(basis).split(" at 0x")[0])
every_basis_of_rows = pytest.mark.parametrize("basis", OF_ROWS, ids=lambda basis: repr(basis).split(" at 0x")[0])


@every_basis
def test_values_columns_and_adjoint_agree(basis, backend):
    basis, train, test = random_problem(basis, 0)
    X, Z = backend.asarray(test), backend.asarray(train)
    reference, bound = basis.bind(train), basis.bind(Z)
    Phi, size = reference(test), np.abs(reference(test)).max()
    values = bound(X)
    assert backend.is_own(values)
    assert_allclose(to_numpy(values) / size, Phi / size, **CLOSE)
    operator, V = bound.operator(X), np.random.default_rng(0).standard_normal((len(test), 3))
    J = [bound.n_functions - 1, 0]
    columns, products = operator.columns(J), operator.adjoint(backend.asarray(V))
    assert backend.is_own(columns)
    assert backend.is_own(products)
    assert_allclose(to_numpy(columns) / size, Phi[:, J] / size, **CLOSE)
    assert_allclose(to_numpy(products) / size, Phi.T @ V / size, **CLOSE)
    chosen = bound.select(J)(X)
    assert backend.is_own(chosen)
    assert_allclose(to_numpy(chosen) / size, Phi[:, J] / size, **CLOSE)
    assert bound(X[:0, :]).shape == (0, bound.n_functions)


@every_basis
def test_weighted_rows_bind_to_the_same_functions(basis, backend):
    basis, train, test = random_problem(basis, 1)
    weights = np.arange(1.0, len(train) + 1)
    bound = basis.bind(backend.asarray(train), backend.asarray(weights))
    expected = basis.bind(train, weights)(test)
    assert_allclose(to_numpy(bound(backend.asarray(test))), expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


@every_basis_of_rows
def test_scales_and_their_gradient_agree(basis, backend):
    basis, train, test = random_problem(basis, 2)
    D = np.random.default_rng(2).standard_normal((len(test), basis.bind(train).n_functions))
    for one in (False, True):
        reference, bound = basis.bind(train), basis.bind(backend.asarray(train))
        if one:
            reference, bound = reference.with_scale_per_input(), bound.with_scale_per_input()
        moved = reference.log_scales + 0.1
        reference, bound = reference.with_log_scales(moved), bound.with_log_scales(moved)
        gradient = bound.scale_gradient(backend.asarray(test), backend.asarray(D))
        expected = reference.scale_gradient(test, D)
        size = np.abs(reference(test)).max() * np.abs(D).sum()
        assert isinstance(gradient, np.ndarray)
        assert_allclose(gradient / size, expected / size, rtol=1e-11, atol=1e-12)
        assert_allclose(bound.log_scale_bounds(backend.asarray(train)), reference.log_scale_bounds(train), rtol=1e-12)


@every_basis_of_rows
def test_moments_of_the_columns_agree(basis, backend):
    basis, train, test = random_problem(basis, 3)
    counts = np.random.default_rng(3).integers(1, 4, len(test)).astype(float)
    operator, expected = basis.bind(backend.asarray(train)).operator(backend.asarray(test)), basis.bind(train)
    for center in (False, True):
        found = operator.means_and_norms(backend.asarray(counts), center)
        for own, one in zip(found, expected.operator(test).means_and_norms(counts, center), strict=True):
            assert backend.is_own(own)
            assert_allclose(to_numpy(own), one, rtol=1e-10, atol=1e-11 * np.abs(one).max(initial=1e-300))


@every_basis_of_rows
def test_centres_are_on_the_device(basis, backend):
    basis, train, test = random_problem(basis, 4)
    bound, X = basis.bind(backend.asarray(train)), backend.asarray(test)
    assert_array_equal(to_numpy(bound.known_centres(3)), basis.bind(train).known_centres(3))
    if bound.vectors is not None:
        assert backend.is_own(bound.vectors)
        moved = bound.centred_at(X)
        assert_allclose(to_numpy(moved(X)), basis.bind(train).centred_at(test)(test), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("d", [1, 3, 7, 20])
def test_squared_distances_keep_their_digits(d, scale, backend):
    """Rows that are equal, near each other, and far from the middle."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((9, d)) * scale
    X[4:6] = X[3] + np.asarray([[0.0], [1e-5 * scale]])
    eta = rng.uniform(0.5, 2.0, d)
    exact = (((X[:, None, :].astype(np.longdouble) - X[None, :, :]) ** 2) * eta).sum(axis=2).astype(float)
    found = to_numpy(squared_distances(backend.asarray(X), backend.asarray(X), eta))
    # equal rows lie at distance 0, and beyond 16 inputs digits of near ones are lost
    size = 1e-13 + 1e-15 * scale**2 if d <= 16 else 1e-14 * float(exact.max())
    assert_allclose(found, exact, rtol=1e-12, atol=size)


def test_a_kernel_that_needs_numpy_arrays_is_refused_in_one_sentence(backend):
    def of_numpy(X, Z):
        return np.einsum("ik,jk->ij", np.asarray(X), np.asarray(Z))

    X = backend.asarray(np.eye(3))
    bound = Kernel(of_numpy).bind(X)
    if not backend.is_read_by_numpy:
        with pytest.raises(ValueError, match="kernel must be a function of arrays of the library of X, "):
            bound(X)
    else:  # a library that converts its arrays to NumPy by itself
        assert_array_equal(to_numpy(bound(X)), np.eye(3))
