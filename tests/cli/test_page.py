"""Every command that docs/command-line.md shows runs, and prints what the page says it prints."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from sparsebayes.explorer import Explorer

pytest.importorskip("pandas")
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
PYTHON, CONSOLE = (re.compile(rf"^```{kind}\n(.*?)^```", re.DOTALL | re.MULTILINE) for kind in ("python", "console"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
MACHINE = re.compile(
    r"\(\d+ bytes, fitted in [\d.]+ s\)|\(\d+ kB\)|\d+ bytes|127\.0\.0\.1.*|error at .*| +[\d.]+ +[\d.]+$| +$|[─ ]{2,}"
)
TOLERANCE = 0.02  # of the numbers on the page: other processors round differently


def commands():
    """The commands of the page, and the lines that it shows below each."""
    found = []
    for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            found.append((command, lines))
    return found


def shown_by(cli, command):
    """What the terminal shows of a command."""
    words, _, head = command.partition(" | head -")
    name, *arguments = shlex.split(words)
    assert name == "sparsebayes"
    run = cli(*arguments)
    assert run.code == (2 if "error:" in run.err else 0)
    lines = run.out.splitlines()
    return run.err.splitlines() + (lines[: int(head)] if head else lines)


def compared(line):
    """The words of a line without what depends on the machine, and its numbers."""
    line = MACHINE.sub(" ", line)
    return NUMBER.sub("#", line), [float(number) for number in NUMBER.findall(line)]


def test_the_commands_of_the_page(cli, tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Explorer, "run", interrupted)
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    tables = {}
    exec(PYTHON.search(PAGE.read_text(encoding="utf-8"))[1], tables)  # the first block of the page
    for name in ("trees", "signal"):
        tables[name].to_csv(tmp_path / f"{name}.csv", index=False)
    seen = set()
    for command, expected in commands():
        lines = shown_by(cli, command)
        assert len(lines) == len(expected), command
        for line, shown in zip(lines, expected, strict=True):
            (words, numbers), (words_shown, numbers_shown) = compared(line), compared(shown)
            assert words == words_shown, command
            np.testing.assert_allclose(
                numbers, numbers_shown, rtol=TOLERANCE, atol=TOLERANCE, err_msg=f"{command}: {line}"
            )
        seen.add(command.split()[1])
    assert seen == {"fit", "predict", "denoise", "report", "compare", "export", "explore"}
