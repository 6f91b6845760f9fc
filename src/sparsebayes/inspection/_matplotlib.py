"""matplotlib, imported only when something is drawn, and what the displays draw alike."""

from __future__ import annotations

from typing import Any

import numpy as np

# Okabe and Ito's colours, which people with any common colour blindness tell apart
BLUE, ORANGE, VERMILION, GREY = "#0072B2", "#E69F00", "#D55E00", "#7F7F7F"
GREEN, PURPLE, SKY, YELLOW = "#009E73", "#CC79A7", "#56B4E9", "#F0E442"
BLACK, LIGHT_GREY = "#222222", "#DADADA"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # with eight colours: 56 kinds have a pair of their own
BAND = 2.0  # standard deviations on either side of the mean
LONGEST = 36  # characters of a name


def pyplot_module() -> Any:
    """matplotlib.pyplot; ImportError if matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib, which is not installed: pip install sparsebayes[plot]") from error
    return pyplot


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """The axes given, or those of a new figure of this size; ImportError if matplotlib is not installed."""
    pyplot = pyplot_module()
    return pyplot.subplots(layout="constrained", figsize=size)[1] if ax is None else ax


def row_of_axes(ax: Any, count: int, least: int | None = None, words: str = "draw in") -> np.ndarray:
    """The axes given, from `least` to `count`, or a row of `count` in a new figure.

    least : None for `count`.  words : what they are for.
    """
    pyplot = pyplot_module()
    if ax is None:
        return np.atleast_1d(pyplot.subplots(1, count, layout="constrained", figsize=(3.4 * count, 3.4))[1])
    return given_axes(ax, count, least, words)


def given_axes(ax: Any, count: int, least: int | None = None, words: str = "draw in") -> np.ndarray:
    """The axes given as an array; ValueError unless they are from `least` (None for `count`) to `count`."""
    axes = np.ravel(np.asarray(ax, dtype=object))
    if not (count if least is None else least) <= len(axes) <= count:
        number = f"{count}" if least in (None, count) else f"{least} to {count}"
        raise ValueError(f"ax must be {number} axes to {words}, got {len(axes)}.")
    return axes


def shortened(name: Any) -> str:
    """A name that fits beside an axis: the middle of a long one becomes an ellipsis; no sign has a meaning."""
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 + 1 :]}"
    return text.replace("$", r"\$")


def circles(ax: Any, places: np.ndarray, colour: str, size: float) -> Any:
    """Circles around the relevance vectors at `places` (S, 2); None if there are none."""
    if not len(places):
        return None
    ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.6, "zorder": 3}
    return ax.scatter(*places.T, s=size, label=f"relevance vectors ({len(places)})", **ring)


def legend_beside(ax: Any, **options: Any) -> Any:
    """A legend to the right of the axes, where it covers nothing."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    return ax.legend(**(place | {"frameon": False, "fontsize": "small"} | options))


def legend_above(ax: Any, handles: list[Any] | None = None) -> Any:
    """A legend in one line above the axes, where it covers nothing."""
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    shown = ax.get_legend_handles_labels()[0] if handles is None else handles
    return ax.legend(handles=shown, **place, ncols=len(shown), frameon=False, fontsize="small")
