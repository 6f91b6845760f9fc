"""`sparsebayes denoise`: tables, arrays and images."""

import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal

pd = pytest.importorskip("pandas")
Image = pytest.importorskip("PIL.Image")

SIGNAL = make_signal("doppler", 300, snr=7.0, random_state=0)[1]
PICTURE = np.clip(128 + 60 * np.sin(np.arange(40)) + 9 * np.random.default_rng(0).standard_normal((32, 40)), 0, 255)


def test_the_columns_of_a_table(cli):
    pd.DataFrame({"a": SIGNAL, "name": "u", "b": SIGNAL[::-1]}).to_csv("s.csv", index=False)
    assert cli("denoise", "s.csv", "-o", "d.csv").code == 0
    found = pd.read_csv("d.csv")
    assert list(found) == ["a", "a_std", "name", "b", "b_std"]
    for name, signal in (("a", SIGNAL), ("b", SIGNAL[::-1])):
        mean, std = denoise(signal, return_std=True)
        assert_allclose(found[name], mean, rtol=1e-10, atol=1e-12)
        assert_allclose(found[f"{name}_std"], std, rtol=1e-10)
    assert cli("denoise", "s.csv", "-o", "e.csv", "--column", "b").code == 0
    found = pd.read_csv("e.csv")
    assert list(found) == ["a", "name", "b", "b_std"]
    assert_array_equal(found["a"], pd.read_csv("s.csv")["a"])


def test_columns_that_are_no_signals_stay_as_they_are(cli):
    stamps = pd.date_range("2024-01-01", periods=300).astype(str)
    values = np.where(np.arange(300) % 50 == 9, np.nan, SIGNAL)
    table = pd.DataFrame({"n": np.arange(300), "t": (np.arange(300) / 30).round(3), "when": stamps, "v": values})
    table.to_csv("s.csv", index=False)
    run = cli("denoise", "s.csv", "-o", "d.csv")
    pd.testing.assert_frame_equal(pd.read_csv("d.csv")[["n", "t", "when"]], table[["n", "t", "when"]])
    denoiser = WaveletDenoiser().fit(values)
    assert run.out.splitlines() == [
        "d.csv written",
        "n: left as it is, it increases evenly, as times do",
        "t: left as it is, it increases evenly, as times do",
        "when: left as it is, it holds no numbers",
        f"v: noise std {denoiser.noise_variance_**0.5:.4g}, 6 missing filled",
    ]
    found = cli("denoise", "s.csv", "-o", "e.csv", "--column", "t", "--json").json
    assert (found["columns"], list(found["noise_std"])) == (["t"], ["t"])
    table.assign(v_std=1.0).to_csv("s.csv", index=False)
    assert "s.csv has a column 'v_std'" in cli("denoise", "s.csv", "-o", "f.csv").err


def test_an_image_of_the_error_bars_has_its_scale_printed(cli):
    Image.fromarray(np.rint(PICTURE).astype(np.uint8)).save("i.png")
    run = cli("denoise", "i.png", "-o", "o.png", "--std", "s.png")
    std = denoise(np.rint(PICTURE), return_std=True)[1]
    lines = run.out.splitlines()
    assert lines[0] == "o.png written"
    assert lines[1].startswith("noise std ")
    assert lines[2] == f"s.png written: 0 is 0, 255 is a standard deviation of {std.max():.3f}"


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


def saved(cli, name, output="o.tif"):
    """An image that was denoised, and what was said."""
    run = cli("denoise", name, "-o", output)
    assert run.code == 0, run.err
    with Image.open(output) as image:
        image.load()
    return image, run.err


@pytest.mark.parametrize(
    ("dtype", "mode", "factor"), [("<f4", "F", 1e-3), ("<i4", "I", 1e5), (">u2", "I;16", 257), ("<u2", "I;16", 257)]
)
def test_an_image_keeps_its_depth(cli, dtype, mode, factor):
    pixels = (PICTURE * factor).astype(dtype)
    Image.fromarray(pixels).save("i.tif")
    image, _ = saved(cli, "i.tif")
    assert image.mode == mode
    expected = denoise(pixels.astype(float))
    assert_allclose(np.asarray(image), expected if mode == "F" else np.rint(expected), rtol=1e-6, atol=0)


def test_a_picture_in_black_and_white_becomes_gray(cli):
    Image.fromarray(PICTURE > 128).save("i.png")
    assert saved(cli, "i.png", "o.png")[0].mode == "L"


@pytest.mark.parametrize(("mode", "colour", "found"), [("L", 3, "LA"), ("RGB", (1, 2, 3), "RGBA"), ("P", 3, "RGBA")])
def test_a_transparent_colour_becomes_an_alpha_channel(cli, mode, colour, found):
    image = Image.fromarray(PICTURE.astype(np.uint8)).convert(mode)
    image.putpixel((0, 0), colour)
    image.save("i.png", transparency=colour)
    alpha = np.asarray(saved(cli, "i.png", "o.png")[0].getchannel("A"))
    assert saved(cli, "i.png", "o.png")[0].mode == found
    assert alpha[0, 0] == 0
    assert alpha.max() == 255


def test_how_a_photograph_is_turned_and_its_colours_are_kept(cli):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PICTURE.astype(np.uint8)).convert("RGB").save("i.jpg", exif=exif, icc_profile=b"profile")
    for output in ("o.jpg", "o.png"):
        image, _ = saved(cli, "i.jpg", output)
        assert image.getexif()[0x0112] == 6
        assert image.info["icc_profile"] == b"profile"


def test_further_images_of_a_file_are_warned_of(cli):
    first = Image.fromarray(PICTURE.astype(np.uint8))
    first.save("i.tif", save_all=True, append_images=[first])
    assert "i.tif holds 2 images; the first is denoised." in saved(cli, "i.tif")[1]


def deep_colours(path, layout):
    """A PNG file of 16 bits per channel, which Pillow does not write; layout : 2 for RGB, 4 for gray and alpha."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    channels = {2: 3, 4: 2}[layout]
    lines = b"".join(b"\0" + line.tobytes() for line in np.zeros((8, 9, channels), dtype=">u2"))
    head = struct.pack(">IIBBBBB", 9, 8, 16, layout, 0, 0, 0)
    sections = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in sections))


@pytest.mark.parametrize("layout", [2, 4])
def test_an_image_that_would_lose_its_depth_is_refused(cli, tmp_path, layout):
    deep_colours(tmp_path / "i.png", layout)
    run = cli("denoise", "i.png", "-o", "o.png")
    assert run.code == 2
    assert "must have one channel or 8 bits per channel" in run.err


@pytest.mark.parametrize(
    ("mode", "output", "sentence"),
    [
        ("RGBA", "o.bmp", "BMP would turn the image from RGBA into RGB; write .png."),
        ("RGBA", "o.jpg", "cannot be written as JPEG"),
        ("F", "o.png", "cannot be written as PNG: cannot write mode F as PNG; write .tif."),
        ("I", "o.png", "; write .tif."),
    ],
)
def test_a_kind_of_file_that_cannot_hold_the_image_is_refused(cli, tmp_path, mode, output, sentence):
    Image.fromarray(PICTURE.astype(np.uint8)).convert(mode).save("i.tif")
    run = cli("denoise", "i.tif", "-o", output)
    assert run.code == 2
    assert sentence in run.err
    assert not (tmp_path / output).exists()


def test_an_image_that_is_cut_off_is_named(cli, tmp_path):
    Image.fromarray(PICTURE.astype(np.uint8)).save("i.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "i.png").read_bytes()[:200])
    run = cli("denoise", "cut.png", "-o", "o.png")
    assert run.code == 2
    assert run.err.startswith("sparsebayes: error: cut.png cannot be read as an image")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("s.csv", "-o", "d.png"), "must end in .csv"),
        (("s.csv", "-o", "d.csv", "--column", "q"), "--column must name a column of s.csv, got 'q'; it has 'a'"),
        (("s.csv", "-o", "d.csv", "--std", "e.npy"), "--std is for images and arrays"),
        (("s.csv", "-o", "d.csv", "--wavelet", "bior2.2"), "orthogonal"),
        (("s.csv", "-o", "d.csv", "--noise-variance", "-1"), "--noise-variance must be positive"),
        (("s.csv", "-o", "d.csv", "--channel-axis", "0"), "--channel-axis is for .npy arrays"),
        (("text.csv", "-o", "d.csv"), "must have a column of numbers to denoise, got none: 'a' is left as it is"),
        (("bad.png", "-o", "d.png"), "cannot be read as an image"),
        (("bad.npy", "-o", "d.npy"), "cannot be read as an .npy file"),
        (("none.png", "-o", "d.png"), "none.png does not exist"),
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
