"""matplotlib, asked for only when something is drawn."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, which people with any common colour blindness tell apart
BLUE, ORANGE, VERMILION, GREY = "#0072B2", "#E69F00", "#D55E00", "#7F7F7F"
GREEN, PURPLE, SKY, YELLOW = "#009E73", "#CC79A7", "#56B4E9", "#F0E442"
BLACK = "#222222"


def axes_or_new(ax: Any) -> Any:
    """The axes given, or those of a new figure; a clear error where matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib, which is not installed: pip install sparsebayes[plot]"
        ) from error
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax
