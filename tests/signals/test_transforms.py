"""The wavelet transform is orthonormal for every shape, and is PyWavelets' own where that is orthonormal."""

import copy
import pickle

import numpy as np
import pytest
import pywt
from numpy.testing import assert_allclose

from sparsebayes.signals.wavelet_transform import WaveletOperator

WAVELETS = ["haar", "db2", "db4", "sym8", "coif2", "db20"]
SHAPES = [
    (1,),
    (2,),
    (3,),
    (5,),
    (8,),
    (13,),
    (16,),
    (31,),
    (64,),
    (97,),
    (100,),
    (128,),
    (2, 3),
    (7, 5),
    (8, 8),
]
SHAPES += [(1, 9), (16, 12), (13, 11), (3, 4, 5), (2, 2, 2), (7, 1, 6), (8, 4, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("wavelet", WAVELETS)
@pytest.mark.parametrize("deep", [False, True])
def test_columns_are_orthonormal(shape, wavelet, deep):
    level = max(shape).bit_length() - 1 if deep else None
    operator = WaveletOperator(shape, wavelet, level)
    N = operator.shape[0]
    Phi = operator.columns(range(N))
    assert_allclose(Phi.T @ Phi, np.eye(N), atol=1e-10)
    assert_allclose(Phi @ Phi.T, np.eye(N), atol=1e-10)


@pytest.mark.parametrize("n", [257, 509, 1000, 1021, 1024, 4095, 7919])
def test_parseval_adjoint_and_inverse_for_long_signals(n):
    rng = np.random.default_rng(n)
    operator = WaveletOperator(n)
    v, w = rng.standard_normal(n), rng.standard_normal(n)
    assert_allclose(operator.analyze(v) @ operator.analyze(v), v @ v, rtol=1e-12)
    assert_allclose(operator.analyze(v) @ w, v @ operator.synthesize(w), rtol=1e-9)
    assert_allclose(operator.synthesize(operator.analyze(v)), v, atol=1e-11)
    assert_allclose(operator.adjoint(v[:, None])[:, 0], operator.analyze(v), atol=1e-14)


@pytest.mark.parametrize("shape", [(97, 64), (512, 33), (20, 17, 9)], ids=str)
def test_parseval_for_images_and_volumes(shape):
    rng = np.random.default_rng(1)
    operator = WaveletOperator(shape, "sym4")
    v = rng.standard_normal(shape)
    w = operator.analyze(v)
    assert_allclose(w @ w, (v * v).sum(), rtol=1e-11)
    assert_allclose(operator.synthesize(w), v, atol=1e-10)


@pytest.mark.parametrize("wavelet", ["haar", "sym8"])
def test_equals_pywavelets_where_lengths_divide(wavelet):
    rng = np.random.default_rng(2)
    v = rng.standard_normal(1024)
    theirs = np.concatenate(pywt.wavedec(v, wavelet, "periodization", level=4))
    assert_allclose(WaveletOperator(1024, wavelet, 4).analyze(v), theirs, atol=1e-12)
    image = rng.standard_normal((128, 64))
    operator = WaveletOperator((128, 64), wavelet, 2)
    w = operator.analyze(image)
    theirs = pywt.wavedecn(image, wavelet, "periodization", level=2)
    for band in operator.bands:
        expected = theirs[0] if not band.kind else theirs[3 - band.level][band.kind]
        assert_allclose(w[band.where].reshape(band.shape), expected, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bands_are_every_coefficient_once_coarse_to_fine(shape):
    operator = WaveletOperator(shape)
    order = [band.where for band in operator.bands]
    assert [w.start for w in order[1:]] == [w.stop for w in order[:-1]]
    assert (order[0].start, order[-1].stop) == (0, operator.shape[0])
    for band in operator.bands:
        assert np.prod(band.shape) == band.where.stop - band.where.start


@pytest.mark.parametrize("shape", [(64,), (12, 10)], ids=str)
def test_batches_are_transformed_one_by_one(shape):
    rng = np.random.default_rng(3)
    operator = WaveletOperator(shape)
    batch = rng.standard_normal((2, 3, *shape))
    w = operator.analyze(batch)
    assert w.shape == (2, 3, operator.shape[0])
    assert_allclose(w[1, 2], operator.analyze(batch[1, 2]), atol=1e-14)
    assert_allclose(operator.synthesize(w), batch, atol=1e-12)


def test_axes_may_be_halved_as_often_as_one_likes():
    operator = WaveletOperator((16, 12), "haar", (3, 1))
    assert operator.levels == (3, 1)
    Phi = operator.columns(range(192))
    assert_allclose(Phi.T @ Phi, np.eye(192), atol=1e-12)


@pytest.mark.parametrize(("n", "level"), [(1, None), (8, 0), (8, 1)])
def test_results_have_memory_of_their_own(n, level):
    operator = WaveletOperator(n, "haar", level)
    values = np.arange(1.0, n + 1)
    assert not np.shares_memory(operator.synthesize(values), values)
    assert not np.shares_memory(operator.analyze(values), values)


def test_default_depth_leaves_eight_coarse_coefficients():
    assert WaveletOperator(1024).levels == (7,)
    assert WaveletOperator((512, 64)).levels == (6, 3)
    assert WaveletOperator(5).levels == (1,)
    assert WaveletOperator(1).levels == (0,)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(24,), (37,), (6, 7)], ids=str)
def test_means_and_norms_by_the_transform_equal_those_of_the_columns(shape, center):
    operator = WaveletOperator(shape, "db3")
    N = operator.shape[0]
    Phi = operator.columns(range(N))
    for weights in (np.ones(N), np.random.default_rng(0).integers(1, 4, N).astype(float)):
        means, norms = operator.means_and_norms(weights, center)
        expected = weights @ Phi / weights.sum() if center else np.zeros(N)
        assert_allclose(means, expected, atol=1e-12)
        assert_allclose(norms, np.sqrt(weights @ (Phi - expected) ** 2), atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WaveletOperator(64, "bior2.2"), "analysis is not the adjoint"),
        (
            lambda: WaveletOperator(64, "dmey"),
            "wavelet must be orthogonal, got 'dmey', .* orthonormal only to some 1e-3",
        ),
        (lambda: WaveletOperator(64, copy.copy(pywt.Wavelet("dmey"))), "orthonormal only to some 1e-3"),
        (lambda: WaveletOperator(64, pywt.Wavelet("bior2.2")), "analysis is not the adjoint"),
        (lambda: WaveletOperator(64, pywt.Wavelet("db2", pywt.Wavelet("bior2.2"))), "is not the adjoint"),
        (lambda: WaveletOperator(64, "morl"), "wavelet must be a discrete wavelet of PyWavelets"),
        (lambda: WaveletOperator(64, 3), "wavelet must be a discrete wavelet of PyWavelets"),
        (lambda: WaveletOperator(64, level=7), "level must be None or an integer from 0 to 6"),
        (lambda: WaveletOperator(64, level=True), "level must be None or an integer from 0 to 6"),
        (lambda: WaveletOperator((8, 8), level=(1,)), "or a tuple of one for each axis, got \\(1,\\)"),
        (lambda: WaveletOperator((8, 8), level=(1, 4)), "or a tuple of one for each axis, got \\(1, 4\\)"),
        (lambda: WaveletOperator((2, 2, 2, 2)), "shape must be one to three integers"),
        (lambda: WaveletOperator(0), "shape must be one to three integers"),
        (lambda: WaveletOperator(1.5), "shape must be one to three integers >= 1, got 1.5"),
        (lambda: WaveletOperator(None), "shape must be one to three integers >= 1, got None"),
        (lambda: WaveletOperator("ab"), "shape must be one to three integers >= 1, got 'ab'"),
        (lambda: WaveletOperator(np.asarray(8)), "shape must be one to three integers"),
        (lambda: WaveletOperator(8).analyze(np.ones(9)), "v must end in the shape"),
        (lambda: WaveletOperator(8).synthesize(np.ones(9)), "w must have 8 coefficients"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("again", [lambda w: w, copy.copy, copy.deepcopy, lambda w: pickle.loads(pickle.dumps(w))])
@pytest.mark.parametrize("name", WAVELETS)
def test_a_wavelet_object_is_the_one_of_its_name(name, again):
    """Copies of PyWavelets' objects no longer know that they are orthogonal."""
    v = np.random.default_rng(4).standard_normal(40)
    found = WaveletOperator(40, again(pywt.Wavelet(name))).analyze(v)
    assert_allclose(found, WaveletOperator(40, name).analyze(v), rtol=0)


@pytest.mark.parametrize("name", ["mine", "db2"])
def test_a_wavelet_of_ones_own_is_judged_by_its_flag(name):
    own = pywt.Wavelet(name, pywt.Wavelet("db4"))
    with pytest.raises(ValueError, match=f"wavelet must be orthogonal, got '{name}'"):
        WaveletOperator(40, own)
    own.orthogonal = True
    v = np.random.default_rng(4).standard_normal(40)
    assert_allclose(WaveletOperator(40, own).analyze(v), WaveletOperator(40, "db4").analyze(v), rtol=0)


def test_the_wavelet_refused_by_name_is_not_orthonormal():
    """PyWavelets calls it orthogonal; to what it is, the message says."""
    dmey, v = pywt.Wavelet("dmey"), np.random.default_rng(5).standard_normal(256)
    assert dmey.orthogonal
    assert 1e-4 < abs(np.dot(dmey.dec_lo, dmey.dec_lo) - 1) < 1e-2
    again = pywt.idwt(*pywt.dwt(v, dmey, "periodization"), dmey, "periodization")
    assert np.abs(again - v).max() > 1e-4
