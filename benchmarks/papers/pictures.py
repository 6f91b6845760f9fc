"""How the pictures look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

DPI = 90
BLUE, ORANGE, GREEN, GREY, LIGHT, BLACK = "#0072B2", "#D55E00", "#009E73", "#777777", "#BBBBBB", "#222222"
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.3,
}


@contextmanager
def picture(path: Path, rows: int, columns: int, size: tuple[float, float], **options: Any) -> Iterator[Any]:
    """Axes (rows, columns) of a figure of that size in inches, written to `path` at the end."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **options)
        try:
            yield axes
            figure.savefig(path, dpi=DPI, metadata={"Software": None})
        finally:
            pyplot.close(figure)


def image(name: str, text: str) -> str:
    """A picture in the Markdown of docs/papers.md."""
    return f"![{text}](images/papers/{name}.png)"
