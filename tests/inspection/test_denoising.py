"""The display of a denoised signal or image."""

import sys
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.inspection import DenoisingDisplay, ShrinkageDisplay


def image(shape=(40, 50)):
    return np.outer(np.arange(shape[0]) > 15, np.ones(shape[1])) + 0.3 * np.random.default_rng(0).standard_normal(shape)


@pytest.mark.parametrize("n", [300, 3000])
def test_a_signal_is_drawn_with_its_band(n):
    y = make_signal("doppler", n, random_state=0)[1]
    y[50:60] = np.nan
    display = DenoisingDisplay.from_signal(y, shifts=4)
    mean, std = denoise(y, shifts=4, return_std=True)
    np.testing.assert_array_equal(display.line_.get_ydata(), mean)
    np.testing.assert_array_equal(display.points_.get_ydata(), y)
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((mean + 2 * std).max())
    assert corners[:, 1].min() == pytest.approx((mean - 2 * std).min())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["noisy", "± 2 std", "denoised"]
    assert display.images_ == []


def test_an_image_has_three_panels():
    noisy = image()
    noisy[3:5, 7] = np.nan
    display = DenoisingDisplay.from_signal(noisy)
    mean, std = denoise(noisy, return_std=True)
    for drawn, values in zip(display.images_, (noisy, mean, std), strict=True):
        np.testing.assert_array_equal(np.ma.filled(drawn.get_array(), np.nan), values)
    assert display.images_[0].get_clim() == display.images_[1].get_clim()
    assert [ax.get_title() for ax in display.ax_] == ["noisy", "denoised", "standard deviation"]
    assert display.line_ is None


@pytest.mark.parametrize(("axis", "count"), [(-1, 3), (0, 4)])
def test_an_image_in_colours_is_drawn_in_them(axis, count):
    colours = np.stack([(1 + k) * image() for k in range(count)], axis=axis)
    first = (3, 7, 0) if axis == -1 else (0, 3, 7)
    colours[first] = np.nan
    mean, std = denoise(colours, channel_axis=axis, shifts=0, return_std=True)
    model = WaveletDenoiser(ndim=2, shifts=0, channel_axis=axis).fit(colours)
    for display in (
        DenoisingDisplay.from_signal(colours, channel_axis=axis, shifts=0),
        DenoisingDisplay.from_estimator(model, colours),
    ):
        noisy, denoised, bars = (np.asarray(each.get_array()) for each in display.images_)
        assert noisy.shape == denoised.shape == (40, 50, 4)
        assert noisy[3, 7, 3] == 0
        assert noisy[..., 3].sum() == 40 * 50 - 1
        low, high = np.nanpercentile(np.moveaxis(colours, axis, -1)[..., :3], [0.5, 99.5])
        np.testing.assert_allclose(
            denoised[..., :3], np.clip((np.moveaxis(mean, axis, -1)[..., :3] - low) / (high - low), 0, 1)
        )
        np.testing.assert_allclose(bars, np.moveaxis(std, axis, -1)[..., :3].mean(axis=-1))
        assert len(display.colorbars_) == 1
        display.figure_.canvas.draw()


def test_of_a_volume_the_middle_slice_is_drawn():
    volume = np.stack([image((16, 24)) + k for k in range(9)])
    model = WaveletDenoiser(ndim=3, shifts=0).fit(volume)
    mean, std = model.transform(volume, return_std=True)
    display = DenoisingDisplay.from_estimator(model, volume)
    for drawn, values in zip(display.images_, (volume, mean, std), strict=True):
        np.testing.assert_array_equal(drawn.get_array(), values[4])
    assert display.ax_[0].get_xlabel() == "slice 4 of 0 to 8"


@pytest.mark.parametrize("value", [0.0, 1.0, -3e9])
def test_an_image_that_is_constant_has_one_grey_and_no_negative_error(value):
    display = DenoisingDisplay.from_signal(np.full((16, 16), value), shifts=0)
    noisy, denoised, std = display.images_
    greys = [each.norm(each.get_array()) for each in (noisy, denoised)]
    np.testing.assert_allclose(greys, 0.5, atol=1e-6)
    assert std.get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("shape", [(24, 96), (96, 24), (64, 64)])
def test_the_figure_has_the_shape_of_the_image(shape):
    display = DenoisingDisplay.from_signal(image(shape), shifts=0)
    display.figure_.canvas.draw()
    panel = display.ax_[2]
    room = panel.get_position(original=True)
    drawn = panel.get_position()
    assert drawn.width * drawn.height >= 0.6 * room.width * room.height
    boxes = [ax.title.get_window_extent() for ax in display.ax_]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_the_legend_does_not_lie_on_the_power_of_ten():
    for size in (1e-10, 1.0):
        display = DenoisingDisplay.from_signal(size * image((1, 300))[0], shifts=0)
        display.figure_.canvas.draw()
        offset = display.ax_.yaxis.get_offset_text()
        legend = display.ax_.get_legend().get_window_extent()
        assert bool(offset.get_text()) == (size < 1)
        assert not (offset.get_text() and legend.overlaps(offset.get_window_extent()))


def test_a_fitted_estimator_is_drawn():
    noisy = image()
    for X, ndim in ((noisy[0], 1), (noisy, 2)):
        model = WaveletDenoiser(ndim=ndim, prior="bic").fit(X)
        display = DenoisingDisplay.from_estimator(model, X)
        np.testing.assert_array_equal(display.denoised, model.transform(X))


def test_it_draws_where_it_is_told_to_and_again():
    _, ax = pyplot.subplots()
    display = DenoisingDisplay.from_signal(image()[0], ax=ax)
    assert display.ax_ is ax
    assert display.plot() is display
    assert display.ax_ is not ax
    _, axes = pyplot.subplots(1, 3)
    pictures = DenoisingDisplay.from_signal(image(), ax=axes)
    assert list(pictures.ax_) == list(axes)
    assert pictures.figure_ is axes[0].figure


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"x must be one signal .* got shape \(2, 2, 2, 2\)"):
        DenoisingDisplay.from_signal(np.zeros((2, 2, 2, 2)))
    with pytest.raises(ValueError, match=r"X must be one signal with 1 axes, as the estimator has ndim=1, got 2"):
        DenoisingDisplay.from_estimator(WaveletDenoiser().fit(image()[0]), image())
    colours = np.dstack([image()] * 3)
    for Display, channels, ndim in (
        (ShrinkageDisplay, colours, 2),
        (ShrinkageDisplay, colours[:, 0], 1),
        (DenoisingDisplay, colours[:, 0], 1),
        (DenoisingDisplay, np.dstack([image()] * 5), 2),
    ):
        model = WaveletDenoiser(ndim=ndim, shifts=0, channel_axis=-1).fit(channels)
        for draw in (partial(Display.from_estimator, model), partial(Display.from_signal, channel_axis=-1)):
            with pytest.raises(ValueError, match=r"channel_axis must be None to draw, got -1; draw one channel"):
                draw(channels)
    with pytest.raises(ValueError, match="ax must be 3 axes to draw an image in, got 1"):
        DenoisingDisplay.from_signal(image(), ax=pyplot.subplots()[1])
    with pytest.raises(NotFittedError):
        DenoisingDisplay.from_estimator(WaveletDenoiser(), image()[0])


def test_matplotlib_is_needed_only_to_draw(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[plot\]'"):
        DenoisingDisplay.from_signal(image()[0])
