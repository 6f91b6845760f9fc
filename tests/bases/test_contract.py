"""What every basis promises, checked for every subclass of Basis there is."""

from __future__ import annotations

import inspect
import pickle

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from basis_examples import ALL, EXAMPLES, every_basis, problem, random_problem, seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sparsebayes.bases import (
    RBF,
    Basis,
    Bias,
    BoundBasis,
    DenseOperator,
    Fixed,
    Operator,
    Precomputed,
    SparseOperator,
    StackedOperator,
)
from sparsebayes.signals.sampled import SampledBasis

CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def concrete_bases(root: type[Basis] = Basis) -> set[type[Basis]]:
    """Every subclass in the package that can be made."""
    found = set()
    for child in root.__subclasses__():
        found |= concrete_bases(child)
        if child.__module__.startswith("sparsebayes.") and not inspect.isabstract(child):
            found.add(child)
    return found


def test_every_basis_has_an_example():
    assert concrete_bases() == set(EXAMPLES)


@every_basis
@seeds
def test_shape_at_training_and_new_points(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    assert bound(train).shape == (len(train), bound.n_functions)
    assert bound(test).shape == (len(test), bound.n_functions)
    assert bound(test[:0]).shape == (0, bound.n_functions)
    assert np.isfinite(bound(test)).all()


@every_basis
@seeds
def test_selection_equals_the_columns(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    rng = np.random.default_rng(seed)
    J = rng.permutation(bound.n_functions)[: 1 + bound.n_functions // 2]
    chosen = bound.select(J)
    assert chosen.n_functions == len(J)
    assert_allclose(chosen(train), bound(train)[:, J], **CLOSE)
    assert_allclose(chosen(test), bound(test)[:, J], **CLOSE)
    again = rng.permutation(len(J))[: 1 + len(J) // 2]
    assert_allclose(chosen.select(list(again))(test), bound(test)[:, J[again]], **CLOSE)


@every_basis
def test_selection_of_nothing(basis):
    basis, train, test = random_problem(basis, 0)
    empty = basis.bind(train).select([])
    assert empty.n_functions == 0
    assert empty(test).shape == (len(test), 0)
    assert empty.operator(test).shape == (len(test), 0)


@every_basis
def test_selection_refuses_what_is_not_there(basis):
    basis, train, _ = random_problem(basis, 0)
    bound = basis.bind(train)
    with pytest.raises(IndexError, match="J must lie between"):
        bound.select([0, bound.n_functions])
    with pytest.raises(IndexError, match="J must lie between"):
        bound.select([-1])
    with pytest.raises(TypeError, match="J must be a sequence of integers"):
        bound.select([True])


@every_basis
@seeds
def test_clone_and_pickle_give_equal_results(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    assert repr(clone(basis)) == repr(basis)
    assert_array_equal(clone(basis).bind(train)(test), bound(test))
    assert_array_equal(pickle.loads(pickle.dumps(bound))(test), bound(test))


@every_basis
@seeds
def test_column_m_is_a_function_of_x_alone(basis, seed):
    """Row n of Φ depends on row n of X only: rows split, reordered or repeated give the same values."""
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    Phi = bound(test)
    assert_allclose(np.concatenate([bound(test[:3]), bound(test[3:])]), Phi, **CLOSE)
    rows = np.random.default_rng(seed).integers(len(test), size=9)
    assert_allclose(bound(test[rows]), Phi[rows], **CLOSE)


@every_basis
@pytest.mark.parametrize("d", [1, 2])
def test_finite_on_degenerate_inputs(basis, d):
    rng = np.random.default_rng(d)
    for points in (
        np.zeros((6, d)),
        np.full((6, d), 0.1),
        np.repeat(rng.normal(size=(3, d)), 2, axis=0),
        rng.normal(size=(6, d)) + 1e6,
        rng.normal(size=(1, d)),
    ):
        case = problem(basis, points, points)
        assert np.isfinite(case.basis.bind(case.train)(case.test)).all()


@every_basis
@seeds
def test_operator_is_the_matrix_and_its_adjoint(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=bound.n_functions), rng.normal(size=len(test))
    operator = bound.operator(test)
    M = bound.n_functions
    assert operator.shape == (len(test), M)
    assert_allclose(operator.columns(range(M)), bound(test), **CLOSE)
    forward = operator.columns(range(M)) @ w
    assert_allclose(forward @ v, w @ operator.adjoint(v[:, None])[:, 0], rtol=1e-10, atol=1e-10)


@every_basis
@seeds
def test_operator_of_a_selection(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    J = np.random.default_rng(seed).permutation(bound.n_functions)
    operator = bound.select(J).operator(test)
    assert_allclose(operator.columns(range(len(J))), bound(test)[:, J], **CLOSE)


@every_basis
def test_inputs_are_never_modified(basis):
    basis, train, test = random_problem(basis, 4)
    weights = np.arange(1.0, len(train) + 1)
    kept = [a.copy() for a in (train, test, weights)]
    before = repr(basis)
    for array in (train, test, weights):
        array.setflags(write=False)
    bound = basis.bind(train, weights)
    bound(test), bound(train), bound.operator(test), bound.select([0])(test)
    for array, copy in zip((train, test, weights), kept, strict=True):
        assert_array_equal(array, copy)
    assert repr(basis) == before


@pytest.mark.parametrize(
    "basis",
    # a kernel matrix cannot be repeated by rows alone, and repeated samples are another signal
    [b for b in ALL if not isinstance(b, Precomputed | SampledBasis)],
    ids=lambda basis: repr(basis).split(" at 0x")[0],
)
@seeds
def test_integer_weights_equal_repeated_rows(basis, seed):
    """Functions bound with weights agree with those bound to repeated rows, one copy of each row kept."""
    weights = np.random.default_rng(seed).integers(1, 4, size=13)
    basis, train, test = random_problem(basis, seed)
    repeated = basis.bind(np.repeat(train, weights, axis=0))
    weighted = basis.bind(train, weights)
    for column in np.asarray(weighted(test)).T:
        gaps = np.abs(np.asarray(repeated(test)) - column[:, None]).max(axis=0)
        assert gaps.min() <= 1e-12 * (1 + np.abs(column).max())


@every_basis
@seeds
def test_centres(basis, seed):
    """Where functions have centres, `centred_at` the same rows gives the same functions back."""
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(train)
    moved = bound.centred_at(test)
    if bound.vectors is None:
        assert moved is None or moved.n_functions % len(test) == 0
        return
    assert bound.vectors.shape == (bound.n_functions, train.shape[1])
    J = np.random.default_rng(seed).permutation(bound.n_functions)[:4]
    assert_array_equal(bound.select(J).vectors, bound.vectors[J])
    assert_allclose(bound.centred_at(train)(test), bound(test), **CLOSE)
    assert_array_equal(moved.vectors[: len(test)], test)


@every_basis
@seeds
def test_array_api_arrays_give_the_same_numbers(basis, seed):
    basis, train, test = random_problem(basis, seed)
    bound = basis.bind(array_api_strict.asarray(train))
    strict = bound(array_api_strict.asarray(test))
    assert strict.dtype == array_api_strict.float64
    assert_allclose(np.asarray(strict), basis.bind(train)(test), rtol=1e-10, atol=1e-12)
    J = [bound.n_functions - 1, 0]
    chosen = bound.select(J)(array_api_strict.asarray(test))
    assert_allclose(np.asarray(chosen), basis.bind(train)(test)[:, J], rtol=1e-10, atol=1e-12)


@every_basis
def test_lists_and_integers_are_points_too(basis):
    basis, train, test = random_problem(basis, 1)
    train, test = np.round(3 * train), np.round(3 * test)
    expected = basis.bind(train)(test)
    assert_array_equal(basis.bind(train.tolist())(test.tolist()), expected)
    assert_array_equal(basis.bind(train.astype(int))(test.astype(int)), expected)


@every_basis
def test_wrong_width_is_refused(basis):
    basis, train, test = random_problem(basis, 2)
    bound = basis.bind(train)
    if isinstance(basis, Bias | Fixed) or repr(basis).count("Bias") == 2:
        assert bound(test[:, :-1]).shape == (len(test), bound.n_functions)
        return
    with pytest.raises(ValueError, match="X must have"):
        bound(test[:, :-1])
    with pytest.raises(ValueError, match="X must have two dimensions, got 1"):
        bound(test[0])


def _operators(Phi: np.ndarray) -> dict[str, Operator]:
    """The same matrix behind every kind of operator."""
    half = Phi.shape[1] // 2
    left, right = Phi[:, :half], Phi[:, half:]
    return {
        "dense": DenseOperator(Phi),
        "fortran": DenseOperator(np.asfortranarray(Phi)),
        "sparse": SparseOperator(scipy.sparse.csr_array(Phi)),
        "stacked": StackedOperator([DenseOperator(left), SparseOperator(scipy.sparse.csc_array(right))]),
        "nested": StackedOperator([StackedOperator([DenseOperator(left)]), DenseOperator(right)]),
    }


KINDS = ["dense", "fortran", "sparse", "stacked", "nested"]


def _squares(Phi: np.ndarray, weights: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The definition, with digits to spare."""
    unit = (Phi.astype(np.longdouble) - shift) / scale
    return np.einsum("nm,nk->mk", unit**2, weights.astype(np.longdouble)).astype(float)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shifted", [0.0, 1.0, 1e3, 1e8])
@seeds
def test_squares_equal_their_definition(kind, shifted, seed):
    rng = np.random.default_rng(seed)
    Phi = np.where(rng.random((40, 11)) < 0.3, rng.standard_normal((40, 11)), 0.0)
    Phi[:, 3], Phi[:, 8] = 0.0, Phi[:, 8] + shifted  # an empty column and a full one far away
    kept = Phi.copy()
    weights = rng.random((40, 3)) * (rng.random((40, 3)) < 0.7)
    scale = 10 ** rng.uniform(-3, 3, 11)
    for shift in (shifted * rng.standard_normal(11), Phi.mean(axis=0)):
        squares = _operators(Phi)[kind].squares(weights, shift, scale)
        assert squares.shape == (11, 3)
        # deviations are what can be known to the rounding of the shift
        slack = 1e-15 * len(Phi) * weights.max() * (np.abs(shift) / scale)[:, None]
        deviation = np.abs(Phi - shift).max(axis=0) / scale
        expected = _squares(Phi, weights, shift, scale)
        gap = np.abs(squares - expected)
        assert (gap <= 1e-9 * expected + slack * deviation[:, None]).all()
        assert (squares >= 0).all()
    assert_array_equal(Phi, kept)


@pytest.mark.parametrize("kind", KINDS)
def test_squares_of_nearly_constant_columns_do_not_cancel(kind):
    """Columns whose spread is a millionth of their mean, about their mean and in units of their norm."""
    rng = np.random.default_rng(5)
    Phi = 1e3 + 1e-3 * rng.standard_normal((60, 8))
    counts = rng.integers(1, 4, 60).astype(float)
    means, norms = DenseOperator(Phi).means_and_norms(counts, True)
    weights = np.stack([counts, counts * rng.random(60) / 4], axis=1)
    squares = _operators(Phi)[kind].squares(weights, means, norms)
    assert_allclose(squares, _squares(Phi, weights, means, norms), rtol=1e-8)
    assert_allclose(squares[:, 0], 1.0, rtol=1e-8)


@pytest.mark.parametrize("size", [1e150, 1e-150])
@pytest.mark.parametrize("kind", KINDS)
def test_squares_in_units_of_the_norms_neither_overflow_nor_vanish(kind, size):
    rng = np.random.default_rng(6)
    Phi, counts = size * rng.standard_normal((30, 6)), np.ones(30)
    for center in (False, True):
        operator = _operators(Phi)[kind]
        means, norms = operator.means_and_norms(counts, center)
        assert_allclose(operator.squares(counts[:, None], means, norms), 1.0, rtol=1e-12)


@pytest.mark.parametrize("blocks", [1, 7, 1 << 19])
def test_squares_do_not_depend_on_the_blocks(blocks):
    rng = np.random.default_rng(7)
    Phi, weights, shift = rng.standard_normal((9, 13)), rng.random((9, 2)), rng.standard_normal(13)
    scale = rng.uniform(0.5, 2, 13)
    expected = _squares(Phi, weights, shift, scale)
    for convert in (np.asarray, array_api_strict.asarray):
        operator = DenseOperator(convert(Phi))
        operator.block_elements = blocks
        squares = operator.squares(*(convert(x) for x in (weights, shift, scale)))
        assert_allclose(np.asarray(squares), expected, rtol=1e-12)


@every_basis
def test_every_basis_has_squares(basis):
    basis, train, test = random_problem(basis, 5)
    bound = basis.bind(train)
    rng = np.random.default_rng(5)
    M = bound.n_functions
    weights, shift, scale = rng.random((len(test), 2)), rng.standard_normal(M), rng.uniform(0.5, 2, M)
    squares = bound.operator(test).squares(weights, shift, scale)
    assert_allclose(squares, _squares(bound(test), weights, shift, scale), rtol=1e-10)


@every_basis
@seeds
def test_numbers_are_those_among_the_functions_of_all_rows(basis, seed):
    """Function m bound to some rows is function numbers[m] bound to all of them, its scales held."""
    basis, train, test = random_problem(basis, seed)
    rows = np.sort(np.random.default_rng(seed).choice(len(train), 8, replace=False))
    if isinstance(basis, Precomputed):
        train, test = train[rows], test
        assert_array_equal(basis.bind(train[:, rows]).numbers(rows, 13)[0], rows)
        return
    some = basis.bind(train[rows])
    numbers, count = some.numbers(rows, len(train))
    assert numbers.shape == (some.n_functions,)
    if some.in_gaussian_process:  # a part of a signal is another signal
        every = basis.bind(train).with_log_scales(some.log_scales)
        assert count == every.n_functions
        assert_allclose(some(test), every(test)[:, numbers], **CLOSE)
    alone, own = some.detached().numbers(rows, len(train))
    assert_array_equal(alone, np.arange(some.n_functions))
    assert own == some.n_functions


@every_basis
@seeds
def test_known_centres_are_those_of_the_functions_that_have_one(basis, seed):
    basis, train, _ = random_problem(basis, seed)
    bound = basis.bind(train)
    centres = bound.known_centres(train.shape[1])
    assert centres.shape[1] == train.shape[1]
    if bound.vectors is not None:
        assert_array_equal(centres, bound.vectors)
    moved = bound.centred_at(train)
    assert len(centres) == (0 if moved is None else moved.n_functions)


@every_basis
@seeds
def test_functions_at_given_centres(basis, seed):
    """They are those of the rows, moved there: scales come from the rows, centres count by themselves."""
    basis, train, test = random_problem(basis, seed)
    Z = train[:5] + 0.1
    if isinstance(basis, Precomputed):
        assert_array_equal(basis.bind(train, centres=Z)(test), basis.bind(train)(test))
        return
    rows, bound = basis.bind(train), basis.bind(train, None, Z)
    assert_array_equal(bound.log_scales, rows.log_scales)
    numbers, count = bound.numbers(np.arange(len(train)), len(train))
    assert_array_equal(numbers, np.arange(bound.n_functions))
    assert count == bound.n_functions
    moved = rows.centred_at(Z)
    if moved is None:
        assert_array_equal(bound(test), rows(test))
        return
    assert_array_equal(bound.known_centres(3), moved.vectors)
    assert bound.centred_at(Z).n_functions == moved.n_functions
    assert_allclose(bound.centred_at(Z)(test), moved(test), **CLOSE)
    if rows.vectors is not None:
        assert_allclose(bound(test), moved(test), **CLOSE)
    strict = basis.bind(array_api_strict.asarray(train), None, array_api_strict.asarray(Z))
    assert_allclose(np.asarray(strict(array_api_strict.asarray(test))), bound(test), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("centres", "message"),
    [
        (np.ones((4, 2)), "centres must have 3 columns as in training, got 2"),
        (np.ones(3), "centres must have two dimensions, got 1"),
        (np.ones((0, 3)), "centres must have at least one row, got none"),
    ],
)
def test_centres_that_are_refused(centres, message):
    with pytest.raises(ValueError, match=message):
        RBF().bind(np.ones((6, 3)), centres=centres)


@every_basis
@seeds
def test_scales_of_single_inputs_are_known(basis, seed):
    basis, train, _ = random_problem(basis, seed)
    train = train / train.std(axis=0)  # inputs of different spreads have scales of their own at once
    bound = basis.bind(train)
    split = bound.with_scale_per_input()
    for functions in (bound, split):
        assert functions.scale_per_input.shape == functions.log_scales.shape
        assert functions.scale_per_input.dtype == bool
    assert not bound.scale_per_input.any()
    # every scale of single inputs is there once for each of them
    assert split.scale_per_input.sum() == 3 * (len(split.log_scales) - len(bound.log_scales)) / 2


@every_basis
def test_only_kernel_matrices_are_pairwise(basis):
    assert basis.pairwise == isinstance(basis, Precomputed)
    assert (basis + Precomputed()).pairwise


def concrete_bound_bases(root: type[BoundBasis] = BoundBasis) -> set[type[BoundBasis]]:
    """Every kind of bound basis in the package."""
    found = set()
    for child in root.__subclasses__():
        found |= concrete_bound_bases(child)
        if child.__module__.startswith("sparsebayes.") and not inspect.isabstract(child):
            found.add(child)
    return found


def test_every_kind_of_bound_basis_occurs():
    occurring = {type(random_problem(b, 0).basis.bind(random_problem(b, 0).train)) for b in ALL}
    assert concrete_bound_bases() == occurring
