"""The command line in this process: what it returns, prints and writes."""

import json
import signal
from dataclasses import dataclass

import numpy as np
import pytest

from sparsebayes.cli import main

pd = pytest.importorskip("pandas")


@dataclass
class Run:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder: cli("fit", "data.csv", ...) -> Run."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


def table(n=60, seed=0):
    """A table with numbers, text, dates and missing values; y is a number, label one of two texts."""
    rng = np.random.default_rng(seed)
    x, colour = rng.uniform(0, 5, n), rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame({"x": x, "colour": colour, "day": pd.date_range("2024-01-01", periods=n).astype(str)})
    frame["size"] = np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n))
    frame["y"] = 2 * x + 3 * (colour == "red") + 0.1 * rng.standard_normal(n)
    frame["label"] = np.where(frame["y"] > frame["y"].median(), "high", "low")
    return frame


@pytest.fixture
def frame():
    """The table."""
    return table()


@pytest.fixture
def data(cli, frame, tmp_path):
    """The path of a CSV file with the table."""
    frame.to_csv(tmp_path / "data.csv", index=False)
    return "data.csv"
