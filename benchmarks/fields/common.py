"""What the benchmarks of the fields share: tables, versions and figures."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import table

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images" / "fields"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return table(head, rows)


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
    IMAGES.mkdir(parents=True, exist_ok=True)
    fig.savefig(IMAGES / f"{name}.png", dpi=110)
