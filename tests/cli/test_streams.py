"""Standard streams that are closed, full or not read to the end, interruptions, and packages that are missing."""

import errno
import io
import json
import os
import signal
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from sparsebayes import load
from sparsebayes.cli import main
from sparsebayes.cli.console import Console
from sparsebayes.explorer import Explorer

pd = pytest.importorskip("pandas")
FIT = ("fit", "data.csv", "--target", "y", "--drop", "label", "--kernel", "none", "-o", "m.sbm")
PREDICT = ("predict", "m.sbm", "data.csv")
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@pytest.fixture
def model(cli, data):
    """A model file."""
    assert cli(*FIT).code == 0
    return "m.sbm"


@full
@pytest.mark.parametrize("words", [PREDICT, (*PREDICT, "--json"), (*FIT[:-1], "n.sbm")])
def test_a_full_disk_at_standard_output_is_one_sentence(model, capsys, monkeypatch, words):
    capsys.readouterr()
    with open("/dev/full", "w", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        assert main(words) == 2
        print("and nothing fails at the end of the process")
    assert without_gaps(capsys.readouterr().err) == "sparsebayes: error: standard output: No space left on device\n"


def without_gaps(err):
    """What was printed, without the warning of sizes that are missing."""
    gaps = "sparsebayes: warning: column 'size' has no value in "
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith(gaps))


class Full(io.StringIO):
    """A stream that takes nothing."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_at_standard_error_does_not_matter(model, capsys, monkeypatch):
    capsys.readouterr()
    monkeypatch.setattr(sys, "stderr", Full())
    assert main(PREDICT) == 0  # although there is a warning
    assert main(("predict", "m.sbm", "none.csv")) == 2
    assert capsys.readouterr().out.startswith("prediction,std")


def test_whoever_reads_standard_output_may_stop(model, capsys, monkeypatch):
    capsys.readouterr()
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        assert main(PREDICT) == 0
    assert without_gaps(capsys.readouterr().err) == ""


def test_closed_streams_are_one_sentence(model, capsys, monkeypatch):
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", None)
    assert main(("predict", "m.sbm", "-")) == 2
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    assert main(PREDICT) == 2
    assert main(FIT) == 0
    assert "standard output is closed" in capsys.readouterr().err


@pytest.mark.parametrize("words", [(*PREDICT[:-1], "none.csv"), ("fit", "--fly"), PREDICT, FIT])
def test_what_is_for_a_closed_standard_error_is_not_on_standard_output(model, cli, monkeypatch, words):
    expected = cli(*words)
    monkeypatch.setattr(sys, "stderr", None)
    found = cli(*words)
    assert found.code == expected.code
    assert found.out.split("(")[0] == expected.out.split("(")[0]  # seconds follow
    assert found.err == ""


def test_every_character_reaches_a_stream_of_another_encoding(cli, frame, monkeypatch):
    frame["größe 日本"] = frame["x"]
    frame[["größe 日本", "y"]].to_csv("t.csv", index=False)
    assert cli("fit", "t.csv", "--target", "y", "-o", "m.sbm", "--kernel", "none").code == 0
    content = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(content, encoding="ascii"))
    assert main(("predict", "m.sbm", "t.csv", "--with-inputs")) == 0
    assert content.getvalue().decode("utf-8").startswith("größe 日本,y,prediction")


def test_a_name_that_is_no_text_is_refused_in_json_too(cli):
    found = cli("predict", os.fsdecode(b"\xff.sbm"), "data.csv", "--json")
    assert found.code == 2
    assert "does not exist" in json.loads(found.out)["error"]


def test_standard_input_may_have_a_byte_order_mark_but_no_other_encoding(model, capsys, monkeypatch):
    with open("data.csv", encoding="utf-8") as file:
        text = file.read()
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8-sig"))))
    assert main(("predict", "m.sbm", "-")) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-16"))))
    assert main(("predict", "m.sbm", "-")) == 2
    assert "standard input must be text in UTF-8, got other bytes at position 0" in capsys.readouterr().err


@contextmanager
def interrupting(self, label):
    """Progress of a fit in which the user presses Ctrl-C at the first step."""
    yield lambda progress: signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("kernel", ["none", "rbf"])
def test_an_interrupted_fit_leaves_nothing(cli, data, tmp_path, monkeypatch, kernel):
    monkeypatch.setattr(Console, "progress", interrupting)
    found = cli("fit", data, "--target", "y", "--drop", "label", "--kernel", kernel, "-o", "m.sbm")
    assert found.code == 130
    assert found.err == "sparsebayes: error: interrupted; every file is complete or as it was.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    "words", [(*FIT[:-1], "n.sbm"), (*PREDICT, "-o", "p.csv"), ("denoise", "data.csv", "-o", "d.csv")]
)
def test_an_interruption_of_the_writing_leaves_nothing(model, cli, tmp_path, monkeypatch, words):
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", lambda descriptor: signal.raise_signal(signal.SIGINT))
    assert cli(*words, *(["--column", "x"] if words[0] == "denoise" else [])).code == 130
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("module", "package", "words"),
    [
        ("pandas", "pandas", PREDICT),
        ("pandas", "pandas", FIT),
        ("pandas", "pandas", ("explore", "data.csv", "--no-browser")),
        ("PIL", "pillow", ("denoise", "image.png", "-o", "d.png")),
        ("pyarrow", "pyarrow", (*PREDICT, "-o", "p.parquet")),
    ],
)
def test_a_missing_package_is_one_sentence_that_names_the_extra(model, cli, monkeypatch, module, package, words):
    with open("image.png", "wb") as file:
        file.write(b"no image")
    for name in [module, *(name for name in sys.modules if name.partition(".")[0] == module)]:
        monkeypatch.setitem(sys.modules, name, None)
    found = cli(*words)
    assert found.code == 2
    assert package in found.err
    assert 'pip install "sparsebayes[cli]"' in found.err
    assert found.err.count("\n") == 1


def test_a_missing_package_for_the_progress_bar(model, cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(Console, "warnings", terminal(Console.warnings))
    found = cli(*FIT)
    assert found.code == 2
    assert "the package tqdm is needed" in found.err


def terminal(warnings):
    """Console.warnings with a standard error that is a terminal."""

    def wrapped(self):
        sys.stderr.isatty = lambda: True
        return warnings(self)

    return wrapped


def test_error_bars_are_not_written_when_the_image_cannot_be(cli, tmp_path):
    from PIL import Image

    Image.new("RGBA", (9, 9)).save("s.png")
    found = cli("denoise", "s.png", "-o", "d.jpg", "--std", "e.npy")
    assert found.code == 2
    assert "cannot be written as JPEG" in found.err
    assert [path.name for path in tmp_path.iterdir()] == ["s.png"]
    assert "must be different files" in cli("denoise", "s.png", "-o", "d.png", "--std", "d.png").err


def test_the_decimal_mark_of_a_spreadsheet_is_seen(cli, frame):
    frame = frame[["x", "size", "y"]].round(6)
    frame.to_csv("points.csv", index=False)
    frame.to_csv("commas.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    for name in ("points", "commas"):
        words = ("fit", f"{name}.csv", "--target", "y", "--kernel", "none", "-o", f"{name}.sbm")
        assert cli(*words).code == 0
    predictions = [load(f"{name}.sbm").predict(frame) for name in ("points", "commas")]
    np.testing.assert_array_equal(*predictions)


def test_the_address_of_the_page_is_json_before_the_page_ends(cli, data, monkeypatch):
    seen = []

    def interrupted(self):
        seen.append(json.loads(sys.stdout.getvalue())["address"])
        raise KeyboardInterrupt

    monkeypatch.setattr(Explorer, "run", interrupted)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(("explore", data, "--no-browser", "--json")) == 0
    assert seen == [json.loads(sys.stdout.getvalue())["address"]]
    assert seen[0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("words", [("fit", "--json"), ("fit", "a.csv", "--json", "--folds", "3"), ("none", "--json")])
def test_wrong_words_are_an_object_of_json_too(cli, words):
    found = cli(*words)
    assert found.code == 2
    assert found.err.startswith("usage: sparsebayes")
    assert f"sparsebayes: error: {found.json['error']}\n" in found.err
