"""`sparsebayes fit --checkpoint`: an interrupted fit goes on, and the model is that of a fit without it."""

import signal
from contextlib import contextmanager

import numpy as np
import pytest

from sparsebayes import load
from sparsebayes.cli.console import Console

WORDS = ("fit", "data.csv", "--target", "y", "--drop", "label", "--gamma", "0.1")
RESUMED = (*WORDS, "-o", "m.sbm", "--checkpoint", "c.checkpoint")


@contextmanager
def interrupting(self, label):
    """Progress of a fit in which the user presses Ctrl-C at the third step."""
    seen = []

    def step(progress):
        seen.append(progress)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    yield step


def test_an_interrupted_fit_is_resumed(cli, data, frame, tmp_path, monkeypatch):
    assert cli(*WORDS, "-o", "whole.sbm").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(Console, "progress", interrupting)
        assert cli(*RESUMED).code == 130
    assert (tmp_path / "c.checkpoint").exists()
    assert not (tmp_path / "m.sbm").exists()
    assert cli(*RESUMED).code == 0
    resumed, whole = load("m.sbm"), load("whole.sbm")
    np.testing.assert_array_equal(resumed.predict(frame), whole.predict(frame))
    assert str(resumed[-1].get_params()) == str(whole[-1].get_params())


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("data.csv", "--checkpoint must be a file of its own"),
        ("m.sbm", "--checkpoint must be a file of its own"),
        ("other.txt", "checkpoint"),
        ("no/c.checkpoint", "checkpoint"),
    ],
)
def test_other_files_are_refused(cli, data, tmp_path, path, sentence):
    (tmp_path / "other.txt").write_text("not to be lost")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    found = cli(*WORDS, "-o", "m.sbm", "--checkpoint", path)
    assert found.code == 2
    assert sentence in found.err
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_checkpoint_of_another_fit_is_refused(cli, data, tmp_path):
    assert cli(*RESUMED).code == 0
    kept = (tmp_path / "c.checkpoint").read_bytes()
    found = cli(*WORDS, "--prior", "bic", "-o", "n.sbm", "--checkpoint", "c.checkpoint")
    assert found.code == 2
    assert "c.checkpoint" in found.err
    assert (tmp_path / "c.checkpoint").read_bytes() == kept
