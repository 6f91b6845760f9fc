"""Every basis names its functions: one string each, the same whatever else is selected."""

import numpy as np
import pytest
from basis_examples import every_basis, random_problem, seeds
from numpy.testing import assert_array_equal

from sparsebayes import (
    DCT,
    RBF,
    Bias,
    Columns,
    Kernel,
    KernelSum,
    Linear,
    MultiScale,
    Periodic,
    Precomputed,
    Spike,
    Wavelet,
)
from sparsebayes.bases import BoundBasis
from sparsebayes.bases.names import coordinates, numbered


@every_basis
@seeds
def test_one_name_per_function(basis, seed):
    basis, train, _ = random_problem(basis, seed)
    bound = basis.bind(train)
    names = bound.get_feature_names_out()
    assert names.dtype == object
    assert len(names) == bound.n_functions
    assert all(isinstance(name, str) and name.strip() for name in names)
    assert len(set(names)) == len(names)


@every_basis
@seeds
def test_a_selected_function_keeps_its_name(basis, seed):
    basis, train, _ = random_problem(basis, seed)
    bound = basis.bind(train)
    J = np.random.default_rng(seed).permutation(bound.n_functions)[: 1 + bound.n_functions // 2]
    assert_array_equal(bound.select(J).get_feature_names_out(), bound.get_feature_names_out()[J])
    assert bound.select([]).get_feature_names_out().shape == (0,)


@every_basis
def test_names_of_rows(basis):
    """Functions centred at training rows are named by the numbers that the rows are given."""
    basis, train, _ = random_problem(basis, 0)
    bound, rows = basis.bind(train), 100 + np.arange(len(train))
    plain, told = bound.get_feature_names_out(), bound.at_rows(rows).get_feature_names_out()
    by_row = np.asarray([" at row " in name for name in plain])
    assert_array_equal(plain[~by_row], told[~by_row])
    for before, after in zip(plain[by_row], told[by_row], strict=True):
        number = before.split(" at row ")[1].split(",")[0].split(" ")[0]
        assert after == before.replace(f" at row {number}", f" at row {100 + int(number)}")


def test_a_basis_without_names_cannot_be_made():
    class Nameless(BoundBasis):
        n_functions = 1

        def __call__(self, X):
            return X[:, :1]

        def select(self, J):
            return self

    with pytest.raises(TypeError, match="names"):
        Nameless()


X = np.random.default_rng(0).standard_normal((4, 2))


@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        (Columns(degree=2), ["x0", "x1", "x0²", "x1²", "x0·x1"]),
        (Columns(degree=3, origin=[0, 2.5]), None),
        (Bias(), ["bias"]),
        (RBF(1.0), [f"RBF at row {n}" for n in range(4)]),
        (RBF(1.0) * Periodic(2.0), [f"(RBF × Periodic) at row {n}" for n in range(4)]),
        (KernelSum([RBF(), Linear()]), [f"(RBF + Linear) at row {n}" for n in range(4)]),
        (Kernel(np.dot), [f"dot at row {n}" for n in range(4)]),
        (Kernel(lambda X, Z: X @ Z.T), [f"kernel at row {n}" for n in range(4)]),
        (DCT(), [f"cos {n}" for n in range(4)]),
        (DCT(shape=(2, 2)), ["cos (0, 0)", "cos (0, 1)", "cos (1, 0)", "cos (1, 1)"]),
        (Bias() + Bias(), ["bias (part0)", "bias (part1)"]),
        (Bias() + Columns(), ["bias", "x0", "x1"]),
        (
            MultiScale(RBF(1.0), widths=(2, 0.5)),
            [f"RBF at row {n}, width × {w}" for w in (2, 0.5) for n in range(4)],
        ),
    ],
)
def test_examples(basis, expected):
    if expected is None:
        expected = ["x0", "x1", "x0²", "(x1 − 2.5)²", "x0·(x1 − 2.5)", "x0³", "(x1 − 2.5)³", "x0²·(x1 − 2.5)"]
        expected += ["x0·(x1 − 2.5)²"]
    assert basis.bind(X).get_feature_names_out().tolist() == expected


def test_names_of_inputs():
    names = Columns(degree=2).bind(X).get_feature_names_out(["age", "body mass"])
    assert names.tolist() == ["age", "body mass", "age²", "[body mass]²", "age·[body mass]"]
    with pytest.raises(ValueError, match="input_features must have one name for each of 2 inputs, got 3"):
        Columns().bind(X).get_feature_names_out(["a", "b", "c"])


def test_centres_that_are_no_rows():
    bound = RBF(1.0).bind(X, centres=X[:2] + 1)
    assert bound.at_rows(np.arange(4)).get_feature_names_out().tolist() == ["RBF at centre 0", "RBF at centre 1"]


def test_kernel_matrix():
    bound = Precomputed().bind(X @ X.T)
    assert bound.at_rows(np.asarray([3, 5, 7, 9])).select([2, 0]).names() == ["kernel at row 7", "kernel at row 3"]


@pytest.mark.parametrize("wavelet", ["haar", "db4", "sym8"])
@pytest.mark.parametrize("shape", [(64,), (61,), (16, 24), (13, 9), (8, 8, 8)])
def test_places_of_wavelets(wavelet, shape):
    """The place of a wavelet is that of its energy, counted around the circle."""
    N = int(np.prod(shape))
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(N, -1).astype(float)
    bound = Wavelet(wavelet, shape=shape).bind(grid)
    names = bound.get_feature_names_out()
    assert len(set(names)) == N
    assert all(name.startswith(f"{wavelet} level") or name.startswith(f"{wavelet} scaling level") for name in names)
    if wavelet == "haar" and shape == (64,):
        energy = bound.transform.columns(np.arange(N)) ** 2
        places = [float(name.split(" at ")[1]) for name in names]
        spread = np.asarray([np.ptp(np.flatnonzero(column)) for column in energy.T])
        np.testing.assert_allclose(places, np.arange(N) @ energy, atol=0.5 + 1e-9)
        assert spread.max() < N - 1


def test_place_in_units_of_x():
    t = np.linspace(0, 1, 128)[:, None]
    names = Wavelet("sym8").bind(t).get_feature_names_out()
    level = [name for name in names if name.startswith("sym8 level 3 at ")]
    places = np.sort([float(name.split(" at ")[1]) for name in level])
    assert len(level) == 16
    np.testing.assert_allclose(np.diff(places), 8 / 127, atol=1.5 / 127)
    assert Spike().bind(t).names()[64] == "spike at 0.5039"


def test_coordinates_tell_points_apart():
    stamps = 1.7e9 + np.arange(5)[:, None]
    assert coordinates(stamps, np.asarray([0, 3])) == ["1700000000", "1700000003"]
    close = np.asarray([[1.0], [1.0 + 1e-9], [-0.0]])
    assert len(set(coordinates(close, np.arange(3)))) == 3
    assert coordinates(np.zeros((2, 2)), np.asarray([1])) == ["(0, 0)"]


def test_numbered():
    assert numbered(["a", "b"]) == ["a", "b"]
    assert numbered(["a", "a", "a (2)", "a", "b"]) == ["a", "a (3)", "a (2)", "a (4)", "b"]
