"""matplotlib, imported only when something is drawn, and what the displays draw alike."""

from __future__ import annotations

from typing import Any

import numpy as np

# Okabe and Ito's colours, which people with any common colour blindness tell apart
BLUE, ORANGE, VERMILION, GREY = "#0072B2", "#E69F00", "#D55E00", "#7F7F7F"
GREEN, PURPLE, SKY, YELLOW = "#009E73", "#CC79A7", "#56B4E9", "#F0E442"
BLACK = "#222222"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, GREY)


def pyplot_module() -> Any:
    """matplotlib.pyplot; ImportError if matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib, which is not installed: pip install sparsebayes[plot]") from error
    return pyplot


def axes_or_new(ax: Any) -> Any:
    """The axes given, or those of a new figure; ImportError if matplotlib is not installed."""
    pyplot = pyplot_module()
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def row_of_axes(ax: Any, count: int) -> np.ndarray:
    """The axes given, which have to be `count`, or a row of so many in a new figure."""
    pyplot = pyplot_module()
    if ax is None:
        return pyplot.subplots(1, count, layout="constrained", figsize=(3.4 * count, 3.4))[1]
    axes = np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != count:
        raise ValueError(f"ax must be {count} axes to draw an image in, got {len(axes)}.")
    return axes


def circles(ax: Any, places: np.ndarray, colour: str, size: float) -> Any:
    """Circles around the relevance vectors at `places` (S, 2); None if there are none."""
    if not len(places):
        return None
    ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.6, "zorder": 3}
    return ax.scatter(*places.T, s=size, label=f"relevance vectors ({len(places)})", **ring)
