"""Cosines and spikes on the samples of a signal, and dictionaries made of several transforms."""

import pickle
import tracemalloc

import array_api_strict
import numpy as np
import pytest
import pywt
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sparsebayes import DCT, Columns, RelevanceVectorRegressor, Spike, ThinPlateSpline, Wavelet, fit
from sparsebayes.bases import DenseOperator, StackedOperator
from sparsebayes.datasets import make_signal
from sparsebayes.signals.transforms import DCTOperator, SpikeOperator, TransformOperator
from sparsebayes.signals.wavelet_transform import WaveletOperator

# a complete orthonormal basis given as a matrix may keep most of its functions
pytestmark = pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")

SHAPES = [(1,), (2,), (7,), (16,), (33,), (2, 3), (8, 5), (1, 4), (3, 4, 5)]
OPERATORS = [DCTOperator, SpikeOperator, WaveletOperator]


def positions(n: int) -> np.ndarray:
    """Where the samples are."""
    return np.linspace(-1.0, 1.0, n)[:, None]


def test_every_transform_is_tested():
    assert set(TransformOperator.__subclasses__()) == set(OPERATORS)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", OPERATORS)
def test_orthonormal_and_each_the_inverse_of_the_other(kind, shape):
    operator = kind(shape)
    N = operator.shape[0]
    Phi = operator.columns(range(N))
    assert_allclose(Phi.T @ Phi, np.eye(N), atol=1e-12)
    rng = np.random.default_rng(N)
    v, w = rng.standard_normal((2, *shape)), rng.standard_normal((2, N))
    assert_allclose(operator.analyze(v), v.reshape(2, N) @ Phi, atol=1e-12)
    assert_allclose(operator.synthesize(w).reshape(2, N), w @ Phi.T, atol=1e-12)
    assert_allclose(operator.synthesize(operator.analyze(v)), v, atol=1e-12)
    assert_allclose(operator.adjoint(v.reshape(2, N).T), Phi.T @ v.reshape(2, N).T, atol=1e-12)


@pytest.mark.parametrize("kind", OPERATORS)
@pytest.mark.parametrize("shape", [(33,), (8, 5)], ids=str)
@pytest.mark.parametrize(("n_samples", "n_functions"), [(0, 3), (3, 0), (4, 20), (50, 7), (100, 33)])
def test_entries_and_combinations_are_those_of_the_columns(kind, shape, n_samples, n_functions):
    operator = kind(shape)
    rng = np.random.default_rng(n_samples)
    N = operator.shape[0]
    samples, J = rng.integers(0, N, n_samples), rng.permutation(N)[:n_functions]
    w = rng.standard_normal(n_functions)
    columns = operator.columns(J)
    assert_allclose(operator.at(samples, J), columns[samples], atol=1e-14)
    assert_allclose(operator.combination(J, w), columns @ w, atol=1e-13)


def test_combinations_of_stacked_operators_are_those_of_their_columns():
    rng = np.random.default_rng(0)
    operator = StackedOperator([WaveletOperator(24), DenseOperator(rng.standard_normal((24, 5))), DCTOperator(24)])
    for J in ([3, 52, 26, 0, 24], [30], [25, 26], []):
        w = rng.standard_normal(len(J))
        assert_allclose(operator.combination(J, w), operator.columns(J) @ w, atol=1e-13)


@pytest.mark.parametrize("basis", [Wavelet("db2"), DCT() + Spike(), Wavelet("haar") + ThinPlateSpline(0.3)])
def test_weighted_sums_are_those_of_the_functions(basis):
    X = positions(40)[np.random.default_rng(1).permutation(40)]
    bound = basis.bind(X).select([5, 2, 39, 17])
    queries = np.random.default_rng(2).uniform(-1.2, 1.2, (300, 1))
    w = np.asarray([1.0, -2.0, 0.5, 3.0])
    for at in (X, X[:7], queries, queries[:0]):
        assert_allclose(bound.weighted(at, w), bound(at) @ w, atol=1e-12)


def test_the_nearest_sample_counts_however_far_it_is():
    rng = np.random.default_rng(3)
    for d in (1, 2):
        X, queries = rng.standard_normal((30, d)), 2 * rng.standard_normal((200, d))
        nearest = np.argmin(((queries[:, None] - X[None]) ** 2).sum(axis=2), axis=1)
        assert_array_equal(Spike().bind(X)(queries).argmax(axis=1), nearest)
        far = Spike().bind(X)(np.asarray([[1e300] * d, [-1e155] * d]))
        assert_array_equal(far.sum(axis=1), 1.0)
    for scale in (1e-200, 1e151, 1e300):  # units do not matter
        line = scale * rng.standard_normal((20, 1))
        assert_array_equal(Spike().bind(line)(line[::-1]), np.eye(20)[::-1])
    ends = Spike().bind(X[:, :1])(np.asarray([[1e300], [-1e300]])).argmax(axis=1)
    assert_array_equal(ends, [X[:, 0].argmax(), X[:, 0].argmin()])


@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_memory_of_a_fit_is_linear_in_the_samples(prior):
    n = 4096
    X, y, f = make_signal("doppler", n, snr=7.0, random_state=0)
    model = RelevanceVectorRegressor(Wavelet(), prior=prior, noise_variance=float(f.var() / 49), fit_intercept=False)
    tracemalloc.start()
    predicted = model.fit(X, y).predict(X)
    few, std = model.predict(X[:3], return_std=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * 100
    assert_allclose(few, predicted[:3], atol=1e-12)
    assert_allclose(std**2, np.diag(model.predict(X[:3], return_cov=True)[1]), rtol=1e-9)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", OPERATORS)
def test_means_and_norms_equal_those_of_the_columns(kind, center):
    operator = kind((6, 5))
    Phi = operator.columns(range(30))
    for weights in (np.full(30, 2.0), np.random.default_rng(0).integers(1, 4, 30).astype(float)):
        means, norms = operator.means_and_norms(weights, center)
        expected = weights @ Phi / weights.sum() if center else np.zeros(30)
        assert_allclose(means, expected, atol=1e-13)
        assert_allclose(norms, np.sqrt(weights @ (Phi - expected) ** 2), atol=1e-8)


def test_cosines_by_their_formula():
    n = 9
    bound = DCT().bind(positions(n))
    for k in range(n):
        for i in range(n):
            expected = np.sqrt((1 if k == 0 else 2) / n) * np.cos(np.pi * k * (i + 0.5) / n)
            assert_allclose(bound(positions(n))[i, k], expected, atol=1e-14)


def test_cosines_of_an_image_are_products():
    one, other = (DCTOperator(n).columns(range(n)) for n in (4, 3))
    both = DCTOperator((4, 3)).columns(range(12)).reshape(4, 3, 4, 3)
    assert_allclose(both, one[:, None, :, None] * other[None, :, None, :], atol=1e-14)


def test_a_spike_is_one_at_its_sample():
    X = positions(6)
    assert_array_equal(Spike().bind(X)(X), np.eye(6))
    assert_array_equal(Spike().bind(X)(X[[2]] + 0.05), np.eye(6)[[2]])


@pytest.mark.parametrize("basis", [DCT((2, 3)), Spike((2, 3)), Wavelet(shape=(2, 3))])
def test_shape_must_have_as_many_samples_as_rows(basis):
    assert basis.bind(positions(6)).operator(positions(6)).signal_shape == (2, 3)
    with pytest.raises(ValueError, match=r"shape must have as many samples as X has rows \(7\)"):
        basis.bind(positions(7))


@pytest.mark.parametrize("kind", [DCT, Spike, Wavelet])
def test_a_number_is_the_shape_of_a_signal(kind):
    X = positions(16)
    assert kind(shape=16).bind(X).operator(X).signal_shape == (16,)
    assert_array_equal(kind(shape=np.int64(16)).bind(X)(X), kind().bind(X)(X))
    with pytest.raises(ValueError, match=r"shape must have as many samples as X has rows \(16\), got 15"):
        kind(shape=15).bind(X)


@pytest.mark.parametrize("shape", [1.5, "ab", "", True, (4, 4.0), (), (1, 1, 4, 4), np.asarray(16), {}], ids=repr)
@pytest.mark.parametrize("kind", [DCT, Spike, Wavelet])
def test_what_is_no_shape_is_refused(kind, shape):
    with pytest.raises(ValueError, match=r"^shape must be one to three integers >= 1, got "):
        kind(shape=shape).bind(positions(16))


@pytest.mark.parametrize("basis", [Wavelet(shape=(8, 8)), Wavelet(shape=(8, 8)) + Spike((8, 8))], ids=str)
def test_rows_of_weight_zero_are_missing_from_an_image(basis):
    X, y = positions(64), np.random.default_rng(0).standard_normal(64)
    weights = np.ones(64)
    model = RelevanceVectorRegressor(basis, noise_variance=1.0)
    assert model.fit(X, y, sample_weight=weights).n_features_in_ == 1
    weights[5] = 0.0
    words = r"as X has rows \(63 without those of sample_weight zero\), got \(8, 8\)"
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("again", [clone, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_wavelet_object_survives_copies_of_the_model(again):
    X = positions(32)
    y = np.where(X[:, 0] > 0.2, 1.0, -1.0) + 0.1 * np.random.default_rng(1).standard_normal(32)
    model = RelevanceVectorRegressor(Wavelet(pywt.Wavelet("db2")), prior="bic")
    expected = RelevanceVectorRegressor(Wavelet("db2"), prior="bic").fit(X, y).predict(X)
    assert_array_equal(again(model).fit(X, y).predict(X), expected)
    assert_array_equal(again(again(model).fit(X, y)).fit(X, y).predict(X), expected)


@pytest.mark.parametrize("shape", [(15, 2), (17, 2), (15, 16), (2, 16), (16,), (16, 2, 1), ()], ids=str)
@pytest.mark.parametrize("kind", OPERATORS)
def test_the_adjoint_refuses_other_rows(kind, shape):
    for operator in (kind(16), kind((4, 4))):
        with pytest.raises(ValueError, match=r"V must have shape \(16, k\), got "):
            operator.adjoint(np.ones(shape))


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray, np.ndarray.tolist])
@pytest.mark.parametrize("kind", OPERATORS)
def test_complex_numbers_are_refused(kind, convert):
    operator, values = kind(8), convert(np.ones(8) + 0j)
    calls = {"v": operator.analyze, "w": operator.synthesize}
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^{name} must hold real numbers, got complex ones"):
            call(values)
    with pytest.raises(ValueError, match=r"^V must hold real numbers"):
        operator.adjoint(np.ones((8, 2)) * 1j)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, array_api_strict.asarray, DenseOperator])
def test_a_stack_takes_matrices(make):
    A = np.random.default_rng(2).standard_normal((8, 3))
    if make is array_api_strict.asarray:
        stack = StackedOperator([make(A), make(A)])
        assert_array_equal(np.asarray(stack.columns(range(6))), np.hstack([A, A]))
        return
    stack = StackedOperator([make(A), DCTOperator(8)])
    assert stack.shape == (8, 11)
    assert_array_equal(stack.columns(range(3)), A)
    V = np.random.default_rng(3).standard_normal((8, 2))
    assert_allclose(stack.adjoint(V), stack.columns(range(11)).T @ V, atol=1e-14)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], r"parts must be a list of at least one operator or matrix, got \[\]\."),
        (3, r"parts must be a list of at least one operator or matrix, got 3\."),
        (None, r"parts must be a list of at least one operator or matrix, got None\."),
        (DCTOperator(8), "parts must be a list of at least one operator or matrix, got <"),
        ([DCTOperator(8), DCTOperator(9)], r"parts must have the same number of rows, got \[8, 9\]\."),
        ([np.ones((8, 2)), DCTOperator(9)], r"parts must have the same number of rows, got \[8, 9\]\."),
        ([DCTOperator(8), "haar"], r"each of parts must be an operator or a matrix, got 'haar'\."),
        ([DCTOperator(8), None], r"each of parts must be an operator or a matrix, got None\."),
        (np.ones((8, 2)), r"each of parts must be an operator or a matrix, got shape \(2,\)\."),
    ],
)
def test_what_cannot_be_stacked_is_refused(parts, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        StackedOperator(parts)


@pytest.mark.parametrize("basis", [DCT(), Spike()])
def test_alone_the_fit_is_in_closed_form(basis):
    rng = np.random.default_rng(3)
    X = positions(64)
    w = np.where(rng.random(64) < 0.1, 5.0, 0.0)
    y = basis.bind(X)(X) @ w + 0.1 * rng.standard_normal(64)
    options = {"prior": "bic", "fit_intercept": False, "noise_variance": 0.01}
    closed = RelevanceVectorRegressor(basis, **options).fit(X, y)
    general = RelevanceVectorRegressor(basis, solver="sequential", **options).fit(X, y)
    assert len(closed.evidence_path_) < len(general.evidence_path_)
    assert_array_equal(closed.relevance_, general.relevance_)
    assert_allclose(closed.predict(X), general.predict(X), atol=1e-6)


DICTIONARIES = [
    Wavelet("haar") + DCT(),
    Wavelet("sym4") + Spike(),
    Wavelet("haar", level=5) + Wavelet("sym8"),
    DCT() + Spike(),
    Wavelet("haar") + ThinPlateSpline(0.3) + Spike(),
]


@pytest.mark.slow
@pytest.mark.parametrize("basis", DICTIONARIES, ids=str)
@pytest.mark.parametrize("center", [False, True])
def test_a_dictionary_on_demand_fits_as_the_matrix_does(basis, center):
    rng = np.random.default_rng(5)
    X = positions(160)
    bound = basis.bind(X)
    Phi = bound(X)
    J = rng.choice(Phi.shape[1], 6, replace=False)
    t = (Phi[:, J] / np.linalg.norm(Phi[:, J], axis=0)) @ rng.normal(0, 3, 6) + 0.1 * rng.standard_normal(160)
    operator = bound.operator(X)
    assert isinstance(operator, StackedOperator)
    found, dense = (fit(A, t, prior="ric", fit_intercept=center) for A in (operator, Phi))
    assert_array_equal(found.active, dense.active)
    assert_allclose(found.objective, dense.objective, rtol=1e-9)
    assert_allclose(found.predict(operator), dense.predict(Phi), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_parts_carry_what_is_theirs(seed):
    """A step, a tone and two outliers: wavelets, cosines and spikes take one each."""
    rng = np.random.default_rng(seed)
    n = 256
    X = positions(n)
    parts = np.zeros((3, n))
    parts[0] = np.where(np.arange(n) < 128, 1.0, -1.0)
    parts[1] = 0.8 * np.cos(np.pi * 41 * (np.arange(n) + 0.5) / n)
    parts[2][rng.choice(n, 2, replace=False)] = 4.0
    y = parts.sum(axis=0) + 0.1 * rng.standard_normal(n)
    model = RelevanceVectorRegressor(Wavelet("haar", level=8) + DCT() + Spike(), prior="ric").fit(X, y)
    truth = parts - parts.mean(axis=1, keepdims=True)
    found = model.components_ - model.components_.mean(axis=1, keepdims=True)
    assert_allclose(found, truth, atol=0.5)
    assert np.mean((found - truth) ** 2) < 0.005


@pytest.mark.parametrize("basis", DICTIONARIES[:2], ids=str)
def test_arrays_of_another_namespace(basis):
    X = positions(48)
    y = np.sin(3 * X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(48)
    strict = array_api_strict.asarray(X)
    result = fit(basis.bind(strict).operator(strict), array_api_strict.asarray(y), prior="bic")
    expected = fit(basis.bind(X).operator(X), y, prior="bic")
    assert_array_equal(result.active, expected.active)
    assert_allclose(np.asarray(result.mean), expected.mean, rtol=1e-6)


@pytest.mark.parametrize("basis", [DCT(), Spike(), Wavelet("haar")])
def test_functions_are_orthonormal_at_the_training_rows_while_all_are_there(basis):
    X = np.arange(16.0)[:, None]
    bound = basis.bind(X)
    assert bound.operator(X).orthonormal
    assert bound.operator(X.copy()).orthonormal
    assert_allclose(bound(X) @ bound(X).T, np.eye(16), atol=1e-12)
    assert not bound.operator(X[:8]).orthonormal
    assert not bound.operator(X + 0.1).orthonormal
    assert not bound.select(range(15)).operator(X).orthonormal
    assert not Columns().bind(X).operator(X).orthonormal


@pytest.mark.parametrize("basis", [DCT(), Spike(), Wavelet("haar")])
def test_the_gaussian_process_does_not_include_them(basis):
    X = np.arange(16.0)[:, None]
    assert not basis.bind(X).in_gaussian_process
    assert not basis.bind(X).select([3, 1]).in_gaussian_process
    groups = (Columns() + basis + ThinPlateSpline()).bind(X).scale_groups
    assert [group.in_gaussian_process for group in groups] == [True, False, True]


@pytest.mark.parametrize("basis", [DCT(), Spike(), Wavelet("haar")])
def test_functions_are_numbered_by_themselves_and_ignore_centres(basis):
    X = np.arange(16.0)[:, None]
    bound = basis.bind(X[3:], centres=X[:2])
    numbers, count = bound.numbers(np.arange(3, 16), 16)
    assert_array_equal(numbers, np.arange(13))
    assert count == bound.n_functions == 13
    assert bound.known_centres(1).shape == (0, 1)
