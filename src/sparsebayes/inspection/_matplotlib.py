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
APART = 0.06  # of the width of a panel, between it and the next
BELOW = 0.52  # inches from the axes to a legend below them
IN_A_ROW, LINE, SYMBOL = 4, 72, 6  # columns of that legend, characters of a row, and those that a symbol takes
FEW_CIRCLES = 30  # circles of full size; more of them are smaller


def pyplot_module() -> Any:
    """matplotlib.pyplot; ImportError if matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib, which is not installed: pip install 'sparsebayes[plot]'."
        ) from error
    return pyplot


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """The axes given, or those of a new figure of this size; ImportError if matplotlib is not installed."""
    pyplot = pyplot_module()
    return pyplot.subplots(layout="constrained", figsize=size)[1] if ax is None else ax


def row_of_axes(
    ax: Any, count: int, least: int | None = None, words: str = "draw in", panel: tuple[float, float] = (3.4, 3.4)
) -> np.ndarray:
    """The axes given, from `least` to `count`, or a row of `count` in a new figure.

    least : None for `count`.  words : what they are for.  panel : width and height of each in a new figure, in inches.
    """
    if ax is not None:
        pyplot_module()
        return given_axes(ax, count, least, words)
    figure, axes = pyplot_module().subplots(1, count, layout="constrained", figsize=(panel[0] * count, panel[1]))
    figure.get_layout_engine().set(wspace=APART)
    return np.atleast_1d(axes)


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


def circles(ax: Any, places: tuple[np.ndarray, np.ndarray], colour: str, size: float) -> Any:
    """Circles around the relevance vectors at x and y (S,), smaller if they are many; None if there are none."""
    x, y = places
    if not len(x):
        return None
    share = float(np.clip(FEW_CIRCLES / len(x), 0.25, 1.0))
    ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 0.8 + 0.8 * share, "zorder": 3}
    return ax.scatter(x, y, s=size * share, label=f"relevance vectors ({len(x)})", **ring)


def counted(count: int, word: str) -> str:
    """A number and what it counts: "1 function", "2 functions"."""
    return f"{count} {word}" + ("" if count == 1 else "s")


def note(ax: Any, text: str) -> None:
    """Words in the middle of axes that have nothing else to show."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=GREY)


def date_axis(ax: Any, x: np.ndarray) -> None:
    """Short dates below the axes, if x are dates."""
    if x.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(maxticks=7)
        ax.xaxis.set(major_locator=locator, major_formatter=ConciseDateFormatter(locator))


def legend_beside(ax: Any, **options: Any) -> Any:
    """A legend to the right of the axes, where it covers nothing."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    return ax.legend(**(place | {"frameon": False, "fontsize": "small"} | options))


def legend_below(ax: Any, handles: list[Any]) -> Any:
    """A legend below the label of the horizontal axis, where it covers nothing and takes no width."""
    from matplotlib.transforms import ScaledTranslation

    place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "borderaxespad": 0.0}
    moved = ax.transAxes + ScaledTranslation(0.0, -BELOW, ax.figure.dpi_scale_trans)
    lengths = sorted((len(each.get_label()) + SYMBOL for each in handles), reverse=True)
    style = {"ncols": max(int(np.sum(np.cumsum(lengths[:IN_A_ROW]) <= LINE)), 1), "frameon": False, "fontsize": "small"}
    return ax.legend(handles=handles, bbox_transform=moved, **place, **style)


def legend_above(ax: Any, handles: list[Any] | None = None, twin: Any = None) -> Any:
    """A legend in one line above the axes, and above the power of ten of their numbers if there is one.

    twin : axes in the same place, with numbers on the right.
    """
    has_power = _has_power(ax) or (twin is not None and _has_power(twin))
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 2.0 if has_power else 0.2}
    shown = ax.get_legend_handles_labels()[0] if handles is None else handles
    return ax.legend(handles=shown, **place, ncols=len(shown), frameon=False, fontsize="small")


def _has_power(ax: Any) -> bool:
    """Whether a power of ten stands above the vertical axis."""
    formatter = ax.yaxis.get_major_formatter()
    formatter.format_ticks(ax.get_yticks())
    return bool(formatter.get_offset())
