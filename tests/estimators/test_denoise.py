"""The function `denoise`: one array, whose number of axes says what it is."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sparsebayes
from sparsebayes import Laplace, NoiseCollapseWarning, WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal


@pytest.mark.parametrize("shape", [(100,), (40, 50), (10, 12, 14)], ids=str)
def test_the_number_of_axes_says_what_it_is(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    expected = WaveletDenoiser(ndim=len(shape), shifts=64).fit_transform(x, return_std=True)
    for found, value in zip(denoise(x, return_std=True), expected, strict=True):
        assert_array_equal(found, value)
    assert_array_equal(denoise(x), expected[0])
    assert_array_equal(denoise(x.tolist(), shifts=0), WaveletDenoiser(ndim=len(shape), shifts=0).fit_transform(x))


def test_options_are_those_of_the_transformer():
    y = make_signal("bumps", 300, random_state=1)[1]
    options = {"wavelet": "db4", "prior": "bic", "level": 3, "noise_variance": 0.1, "shifts": 3, "boundary": "periodic"}
    assert_array_equal(denoise(y, **options), WaveletDenoiser(**options).fit_transform(y))
    assert "denoise" in sparsebayes.__all__


@pytest.mark.parametrize("x", [3.0, np.zeros((2, 2, 2, 2))], ids=["number", "four axes"])
def test_other_numbers_of_axes_are_refused(x):
    with pytest.raises(ValueError, match=r"x must have one axis .*, got shape .* use WaveletDenoiser"):
        denoise(x)


def test_what_cannot_be_denoised_is_refused():
    for x, message in [
        (np.full(9, np.nan), r"at least one sample that is not NaN, got NaN alone\.$"),
        ([1.0, -np.inf, np.nan], r"got infinity at index \(1,\)"),
        (np.ma.masked_invalid([1.0, np.nan, 2.0]), r"must not be a masked array; give X.filled\(numpy.nan\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            denoise(x)


def test_files_and_tables_are_refused_in_one_sentence():
    pandas = pytest.importorskip("pandas", reason="pandas is an extra")
    x = np.random.default_rng(0).standard_normal((500, 2))
    for given, message in [
        ("photo.jpg", "array of samples, got the file name 'photo.jpg'; read it first, or use the command sparsebayes"),
        (Path("photo.jpg"), "got the file name 'photo.jpg'"),
        (pandas.DataFrame(x), r"got a table; for one of its columns pass x\['NAME'\], for each of them x.to_numpy\(\)"),
    ]:
        with pytest.raises(TypeError, match=message):
            denoise(given)
    series = denoise(pandas.Series(x[:, 0]), shifts=0)
    np.testing.assert_array_equal(denoise(x, channel_axis=1, shifts=0)[:, 0], series)


@pytest.mark.parametrize(("shape", "axis"), [((500, 2), 1), ((8, 72), 0)], ids=str)
def test_signals_that_are_taken_for_an_image_are_warned_of(shape, axis):
    x = np.random.default_rng(0).standard_normal(shape)
    words = (
        rf"denoised as one image; if it holds {shape[axis]} signals of {max(shape)} samples, use channel_axis={axis}"
    )
    for use in (lambda: denoise(x, shifts=0), lambda: WaveletDenoiser(ndim=2, shifts=0).fit(x)):
        with pytest.warns(UserWarning, match=words) as caught:
            use()
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        denoise(x, channel_axis=axis, shifts=0)
        denoise(np.tile(x, (1, 5) if axis else (5, 1)), shifts=0)
        WaveletDenoiser(shifts=0).fit(x.reshape(min(shape), -1))


@pytest.mark.parametrize("shape", [(32, 64), (64, 33), (50, 50)], ids=str)
def test_a_batch_that_looks_like_an_image_is_warned_of_once(shape):
    x = np.random.default_rng(2).standard_normal(shape)
    words = r"denoised as \d+ separate signals .* use sparsebayes.denoise\(X\) or WaveletDenoiser\(ndim=2\)"
    for method in (WaveletDenoiser().fit, WaveletDenoiser().fit_transform):
        with pytest.warns(UserWarning, match=words) as caught:
            method(x)
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        denoise(x)
        WaveletDenoiser(ndim=2).fit_transform(x)


def test_tables_and_recordings_are_not_warned_of():
    pandas = pytest.importorskip("pandas", reason="pandas is an extra")
    x = np.random.default_rng(3).standard_normal((50, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WaveletDenoiser().fit(pandas.DataFrame(x))
        WaveletDenoiser().fit(x[:20])
        WaveletDenoiser().fit(np.vstack([x, x, x]))


UNITS = [1e-150, 1.0, 1e150]
VARIANCES = [None, 1e-320, 1e-200, 1.0, 1e200, 1.7e308]


@pytest.mark.parametrize("prior", ["auto", "bic", "uniform"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
@pytest.mark.parametrize("boundary", ["symmetric", "periodic"])
def test_extremes_have_a_finite_answer(prior, n, boundary):
    y = np.random.default_rng(n).standard_normal(n)
    gappy = y.copy()
    gappy[n // 2 : n // 2 + (n > 1)] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NoiseCollapseWarning)
        for unit, variance, shifts, x in itertools.product(UNITS, VARIANCES, (0, 3), (y, gappy, y + 1e9)):
            if (n == 1 and variance is None) or (unit > 1 and x[0] > 1e8):
                continue
            found = denoise(
                unit * x, noise_variance=variance, prior=prior, boundary=boundary, shifts=shifts, return_std=True
            )
            assert np.isfinite(found).all()


def test_noise_far_below_rounding_keeps_the_signal_and_noise_far_above_its_mean():
    y = make_signal("doppler", 256, random_state=0)[1]
    for prior in ("auto", "bic", "uniform"):
        denoiser = WaveletDenoiser(prior=prior, noise_variance=1e-200)
        np.testing.assert_allclose(denoiser.fit_transform(y), y, atol=1e-12)
        assert denoiser.noise_variance_ == 1e-200
    np.testing.assert_allclose(denoise(y, prior="bic", noise_variance=1e200), y.mean(), atol=0.2)


def test_priors_with_units_say_that_they_cannot():
    y = 1e150 * make_signal("doppler", 256, random_state=0)[1]
    with pytest.raises(ValueError, match=r"prior=Laplace\(scale=2.0\) has units in which .* use prior='auto'"):
        denoise(y, prior=Laplace(2.0), noise_variance=1.0)
