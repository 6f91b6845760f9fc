"""What the benchmarks of the fields share: results, versions and figures."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import report

DOCS = Path(__file__).resolve().parents[2] / "docs"
BEGIN, END = "<!-- measured -->\n", "<!-- end -->"


def publish(name: str, page: str, title: str, sections: Sequence[str], keep: bool) -> None:
    """Print the sections and, if `keep`, write them to the results, fields_<name>.md, and to docs/fields/<page>.md."""
    report(f"fields_{name}", title, sections, keep)
    if not keep:
        return
    path = DOCS / "fields" / f"{page}.md"
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END, 1)[1]
    path.write_text(before + BEGIN + "\n\n".join(sections) + "\n" + END + after, encoding="utf-8")


def versions(*names: str) -> str:
    """The versions of the packages that were compared."""
    return "Beside: " + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names) + "."


def figure(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, an array."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **options)


def save(fig: Any, name: str) -> None:
    """Write the figure to docs/images/fields/<name>.png."""
    folder = DOCS / "images" / "fields"
    folder.mkdir(parents=True, exist_ok=True)
    fig.savefig(folder / f"{name}.png", dpi=110)
