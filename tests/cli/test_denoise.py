"""`sparsebayes denoise`: tables, arrays and images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import denoise
from sparsebayes.datasets import make_signal

pd = pytest.importorskip("pandas")
Image = pytest.importorskip("PIL.Image")

SIGNAL = make_signal("doppler", 300, snr=7.0, random_state=0)[1]
PICTURE = np.clip(128 + 60 * np.sin(np.arange(40)) + 9 * np.random.default_rng(0).standard_normal((32, 40)), 0, 255)


def test_the_columns_of_a_table(cli):
    pd.DataFrame({"a": SIGNAL, "name": "u", "b": SIGNAL[::-1]}).to_csv("s.csv", index=False)
    assert cli("denoise", "s.csv", "-o", "d.csv").code == 0
    found = pd.read_csv("d.csv")
    assert list(found) == ["a", "a_std", "b", "b_std"]
    for name, signal in (("a", SIGNAL), ("b", SIGNAL[::-1])):
        mean, std = denoise(signal, return_std=True)
        assert_allclose(found[name], mean, rtol=1e-10, atol=1e-12)
        assert_allclose(found[f"{name}_std"], std, rtol=1e-10)
    assert cli("denoise", "s.csv", "-o", "e.csv", "--column", "b").code == 0
    assert list(pd.read_csv("e.csv")) == ["b", "b_std"]


def test_a_signal_without_a_name_and_with_gaps(cli):
    values = SIGNAL.copy()
    values[50:60] = np.nan
    pd.DataFrame(values).to_csv("s.csv", index=False, header=False, na_rep="NaN")
    assert cli("denoise", "s.csv", "-o", "d.csv").code == 0
    assert_allclose(pd.read_csv("d.csv")["c0"], denoise(values), rtol=1e-10, atol=1e-12)


def test_an_array(cli):
    np.save("a.npy", PICTURE)
    assert cli("denoise", "a.npy", "-o", "d.npy", "--std", "s.npy").code == 0
    mean, std = denoise(PICTURE, return_std=True)
    assert_array_equal(np.load("d.npy"), mean)
    assert_array_equal(np.load("s.npy"), std)


def test_an_array_with_channels(cli):
    colours = np.stack([PICTURE, PICTURE[::-1], PICTURE[:, ::-1]])
    np.save("a.npy", colours)
    assert cli("denoise", "a.npy", "-o", "d.npy", "--channel-axis", "0").code == 0
    assert_array_equal(np.load("d.npy"), denoise(colours, channel_axis=0))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16"])
def test_an_image_keeps_its_mode(cli, mode):
    top = 257 if mode == "I;16" else 1
    channels = np.rint(PICTURE * top).astype(np.uint16 if top > 1 else np.uint8)
    pixels = channels if mode in ("L", "I;16") else np.stack([channels, channels[::-1], channels[:, ::-1]], axis=2)
    if mode == "RGBA":
        pixels = np.dstack([pixels, np.full(PICTURE.shape, 77, dtype=np.uint8)])
    Image.fromarray(pixels).save("i.png")
    assert cli("denoise", "i.png", "-o", "o.png", "--std", "s.png").code == 0
    with Image.open("o.png") as image:
        found = np.asarray(image)
        assert image.mode == mode
    first = denoise(np.atleast_3d(pixels)[:, :, 0].astype(float))
    assert_array_equal(np.atleast_3d(found)[:, :, 0], np.clip(np.rint(first), 0, 255 * top))
    if mode == "RGBA":
        assert (found[:, :, 3] == 77).all()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("s.csv", "-o", "d.png"), "must end in .csv"),
        (("s.csv", "-o", "d.csv", "--column", "q"), "--column must name a column"),
        (("s.csv", "-o", "d.csv", "--std", "e.npy"), "--std is for images and arrays"),
        (("s.csv", "-o", "d.csv", "--wavelet", "bior2.2"), "orthogonal"),
        (("s.csv", "-o", "d.csv", "--noise-variance", "-1"), "--noise-variance must be positive"),
        (("s.csv", "-o", "d.csv", "--channel-axis", "0"), "--channel-axis is for .npy arrays"),
        (("text.csv", "-o", "d.csv"), "must have a column of numbers"),
        (("bad.png", "-o", "d.png"), "cannot be read as an image"),
        (("bad.npy", "-o", "d.npy"), "cannot be read as an .npy file"),
        (("none.png", "-o", "d.png"), "No such file"),
    ],
)
def test_wrong_input_is_one_sentence(cli, tmp_path, words, sentence):
    pd.DataFrame({"a": SIGNAL}).to_csv("s.csv", index=False)
    pd.DataFrame({"a": ["u", "v"]}).to_csv("text.csv", index=False)
    for name in ("bad.png", "bad.npy"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
    before = sorted(tmp_path.iterdir())
    found = cli("denoise", *words)
    assert found.code == 2
    assert sentence in found.err
    assert sorted(tmp_path.iterdir()) == before
