"""An item of a paper (a table, a figure, an algorithm), its cached results, and the run that measures it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.papers.cells import Cell

Measured = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """An item on the page.

    printed, ours : for its line of the index.
    body : Markdown.
    cells : its printed figures of relevance vector machines beside ours.
    caution : what the scorecard has to say of a choice that was made by agreement with print.
    extra_misses : how many more cells are missed without that choice.
    """

    printed: str
    ours: str
    body: str
    cells: list[Cell] = field(default_factory=list)
    caution: str = ""
    extra_misses: int = 0


@dataclass(frozen=True)
class Item:
    """What a paper shows in one place.

    key : its name on the command line and of its files.
    names : what it is called in the paper, one or more.
    measure : makes its results, which JSON can hold, and draws its pictures.
    show : the results as part of the page.
    """

    key: str
    names: tuple[str, ...]
    measure: Callable[[Run], Measured]
    show: Callable[[Measured], Shown]

    @property
    def paper(self) -> str:
        """The module it belongs to."""
        return self.key.split("-")[0]


@dataclass(frozen=True)
class Run:
    """One run of an item: how much is measured, and where results and pictures are kept.

    folder : parts of results, from which an interrupted run resumes.
    images : folder of the pictures.
    full : the papers' counts, or as few as show that everything works.
    most : at most so many draws, whatever the paper's count.
    """

    folder: Path
    images: Path
    full: bool
    most: int | None = None
    key: str = ""

    def draws(self, quick: int, full: int) -> int:
        """How many draws are made."""
        return min(full, self.most or full) if self.full else quick

    def part(self, name: str, measure: Callable[[], Any]) -> Any:
        """The value of measure(), from its file if it has been made before."""
        path = self.folder / f"{self.key}--{name}.json"
        if not path.exists():
            start = time.process_time()
            value = measure()
            write(path, {"value": value, "seconds": time.process_time() - start})
        return json.loads(path.read_text(encoding="utf-8"))["value"]

    def picture(self, name: str) -> Path:
        """Where the picture of that name is put."""
        self.images.mkdir(parents=True, exist_ok=True)
        return self.images / f"{name}.png"

    def seconds(self) -> float:
        """Processor seconds of all parts of the item."""
        parts = self.folder.glob(f"{self.key}--*.json")
        return sum(json.loads(path.read_text(encoding="utf-8"))["seconds"] for path in parts)


def write(path: Path, value: Any) -> None:
    """Write JSON so that the file is either the old one or the new one, whenever the program is stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(rounded(value), indent=1), encoding="utf-8")
    partial.replace(path)


def rounded(value: Any) -> Any:
    """Numbers to seven digits, whatever holds them, as plain Python."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if hasattr(value, "tolist"):
        return rounded(value.tolist())
    return float(f"{value:.7g}") if isinstance(value, float) else value
