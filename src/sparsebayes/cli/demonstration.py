"""Show what the package does, on made data that is written beside the results: table, model, predictions, report."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.cli.console import Console, sentence
from sparsebayes.datasets import make_friedman, make_signal
from sparsebayes.export._writing import write_bytes

ROWS = 200
OPTIONAL = ("report", "export")  # commands that may need packages beside those of the command line


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes demo`."""
    command.add_argument("-o", "--output", default="sparsebayes-demo", help="folder to write to (default: %(default)s)")


def run(arguments: Any, console: Console) -> None:
    """Write two data files, then run the commands that a user would."""
    folder = Path(arguments.output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"--output must be a new or empty folder, got {arguments.output!r}: remove it, or give another -o."
        )
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _run_commands(folder, console)
    except BaseException:  # an interruption too: the same command must do afterwards
        for path in folder.iterdir():
            path.unlink()
        if new:
            folder.rmdir()
        raise
    console.put(output=str(folder))


def _run_commands(folder: Path, console: Console) -> None:
    """Write the data, and run the commands; those that need a package that is missing are left out."""
    from sparsebayes.cli.main import parser

    _write_data(folder)
    table, model = folder / "friedman.csv", folder / "model.sbm"
    for words in (
        ["fit", table, "--target", "y", "-o", model],
        ["predict", model, table, "-o", folder / "predictions.csv"],
        ["report", model, table, "-o", folder / "report.html"],
        ["export", model, "-o", folder / "model.onnx"],
        ["export", model, "-o", folder / "model.c"],
        ["denoise", folder / "signal.csv", "-o", folder / "denoised.csv"],
    ):
        line = [str(word) for word in words]
        console.text(f"\n$ sparsebayes {shlex.join(line)}")
        command = parser().parse_args(line)
        try:
            command.run(command, console)
        except ImportError as error:
            if words[0] not in OPTIONAL:
                raise
            console.text(f"left out: {sentence(error)}")


def _write_data(folder: Path) -> None:
    """Friedman's function with five inputs that do not matter, and a noisy signal."""
    X, y, _ = make_friedman(n=ROWS, random_state=0)
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    _write_csv(folder / "friedman.csv", [*names, "y"], np.column_stack([X, y]))
    _, noisy, _ = make_signal("doppler", 1024, snr=7.0, random_state=0)
    _write_csv(folder / "signal.csv", ["signal"], np.asarray(noisy)[:, None])


def _write_csv(path: Path, names: list[str], values: np.ndarray) -> None:
    lines = [",".join(names), *(",".join(map(repr, row)) for row in values.tolist())]
    write_bytes(("\n".join(lines) + "\n").encode(), path)
