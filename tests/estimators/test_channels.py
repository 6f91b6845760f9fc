"""Channels of signals and colours of images: each is denoised as if it were alone."""

import warnings

import numpy as np
import pytest
from backends import backend_of
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.export import load, save

COLOURS = np.random.default_rng(0).standard_normal((24, 30, 3)) * [0.1, 1.0, 3.0] + np.eye(24, 30)[:, :, None] * 9
GAPS = COLOURS.copy()
GAPS[3:5, 7, 1] = np.nan
OPTIONS = [{}, {"shifts": 0, "prior": "bic"}, {"boundary": "periodic", "wavelet": "haar"}]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("x", [COLOURS, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_channel_is_denoised_as_if_it_were_alone(axis, x, options):
    alone = [denoise(x[:, :, k], return_std=True, **options) for k in range(3)]
    mean, std = (np.stack(each, axis=axis) for each in zip(*alone, strict=True))
    found = denoise(np.moveaxis(x, 2, axis), return_std=True, channel_axis=axis, **options)
    assert_array_equal(found[0], mean)
    assert_array_equal(found[1], std)
    denoiser = WaveletDenoiser(ndim=2, channel_axis=axis, **options)
    assert_array_equal(denoiser.fit_transform(np.moveaxis(x, 2, axis)), mean)
    each = [WaveletDenoiser(ndim=2, **options).fit(x[:, :, k]) for k in range(3)]
    for name in ("noise_variance_", "n_active_", "coef_", "mean_", "c_"):
        assert_array_equal(getattr(denoiser, name), [getattr(model, name) for model in each])


@pytest.mark.parametrize("known", [0.5, [0.01, 1.0, 9.0], np.asarray([0.01, 1.0, 9.0])], ids=["one", "list", "array"])
def test_a_known_noise_variance_is_that_of_all_channels_or_of_each(known):
    alone = [denoise(COLOURS[:, :, k], noise_variance=np.broadcast_to(known, 3)[k]) for k in range(3)]
    assert_array_equal(denoise(COLOURS, noise_variance=known, channel_axis=-1), np.stack(alone, axis=2))
    model = clone(WaveletDenoiser(ndim=2, noise_variance=known, channel_axis=-1)).fit([COLOURS, GAPS])
    assert_array_equal(model.noise_variance_, np.tile(np.broadcast_to(known, 3), 2))


def test_a_batch_has_one_axis_more_and_its_channels_where_a_signal_has_them():
    batch = np.stack([COLOURS, GAPS])
    for axis in (0, 2):
        found = WaveletDenoiser(ndim=2, channel_axis=axis).fit_transform(np.moveaxis(batch, 3, axis + 1))
        alone = [denoise(x, channel_axis=2) for x in batch]
        assert_array_equal(np.moveaxis(found, axis + 1, 3), alone)
    leads = COLOURS[:, :, 0]
    model = WaveletDenoiser(channel_axis=1).fit(leads)
    assert_array_equal(model.transform(leads), np.stack([denoise(lead) for lead in leads.T], axis=1))
    assert not hasattr(model, "n_features_in_")


def test_the_model_is_kept_and_summed_up(tmp_path):
    model = WaveletDenoiser(ndim=2, noise_variance=[0.01, 1.0, 9.0], channel_axis=-1).fit(COLOURS)
    save(model, tmp_path / "model.sbm")
    assert_array_equal(load(tmp_path / "model.sbm").transform(COLOURS), model.transform(COLOURS))
    assert sorted(set(model.to_frame()["signal"])) == [0, 1, 2]


def test_arrays_of_other_libraries_and_of_dask():
    xp = backend_of("torch", "cpu")
    assert_array_equal(np.asarray(denoise(xp.asarray(COLOURS), channel_axis=-1)), denoise(COLOURS, channel_axis=-1))
    da = pytest.importorskip("dask.array", reason="dask is an extra")
    model = WaveletDenoiser(ndim=2, channel_axis=-1).fit(COLOURS)
    batch = np.stack([COLOURS, GAPS])
    mean, std = model.transform(da.from_array(batch, chunks=1), return_std=True)
    for lazy, now in zip((mean, std), model.transform(batch, return_std=True), strict=True):
        assert_array_equal(lazy.compute(scheduler="synchronous"), now)
    with pytest.raises(ValueError, match="X must have 4 axes with ndim=2 and channel_axis=-1"):
        model.transform(da.from_array(COLOURS))


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (COLOURS, {"channel_axis": 3}, "channel_axis must be None or an integer from -3 to 2, .* got 3"),
        (COLOURS, {"channel_axis": 1.0}, "channel_axis must be None or an integer .* got 1.0"),
        (
            COLOURS,
            {"channel_axis": 2, "noise_variance": [1.0, 2.0]},
            r"one for each of the 3 channels, got shape \(2,\)",
        ),
        (COLOURS, {"channel_axis": 2, "noise_variance": [1.0, 2.0, -1.0]}, "noise_variance must be .* got -1.0"),
        (COLOURS[:, :, 0], {"noise_variance": [1.0, 2.0]}, "noise_variance must be a finite number > 0"),
        (COLOURS[0, 0], {"channel_axis": 0}, r"x must have one axis .* beside channel_axis=0, got shape \(3,\)"),
        (np.where(np.arange(3) == 1, np.nan, COLOURS), {"channel_axis": 2}, "got NaN alone in channel 1: leave that c"),
    ],
)
def test_what_cannot_be_is_said(x, options, message):
    with pytest.raises(ValueError, match=message):
        denoise(x, **options)


@pytest.mark.parametrize("colours", [3, 4])
def test_colours_without_an_axis_are_warned_of(colours):
    x = np.random.default_rng(0).standard_normal((20, 18, colours))
    words = r"denoised as {}; if it is a colour image, use channel_axis=-1 of sparsebayes.denoise, or Wavel"
    for use, taken in [
        (lambda: denoise(x, shifts=0), "one volume"),
        (lambda: WaveletDenoiser(ndim=3, shifts=0).fit(x), "one volume"),
        (lambda: WaveletDenoiser(ndim=2, shifts=0).fit_transform(x), "20 separate images"),
        (lambda: WaveletDenoiser(ndim=2, shifts=0).fit(x), "20 separate images"),
    ]:
        with pytest.warns(UserWarning, match=words.format(taken + ".*")) as caught:
            use()
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        denoise(x, channel_axis=-1, shifts=0)
        WaveletDenoiser(ndim=2, shifts=0).fit(x.transpose(2, 0, 1))
