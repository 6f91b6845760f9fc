"""Displays as PNG pictures, drawn in the same style whatever style the session has."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.inspection._matplotlib import pyplot_module

DPI, SCREEN = 160, 96  # of the pictures, and of the screen that their width is meant for
PAD = 0.05  # inches around a panel


@dataclass(frozen=True)
class Picture:
    """A picture.  png : the bytes of the file.  width, height : in pixels of a screen."""

    png: bytes
    width: int
    height: int


def pictures_of(draw: Callable[[], Any], by_panel: bool = False) -> list[Picture]:
    """Pictures of the display that `draw` returns; its figure is closed.

    by_panel : whether each of its panels becomes a picture of its own, with its numbers at its left.
    """
    pyplot = pyplot_module()
    with pyplot.style.context("default"), pyplot.ioff():
        display = draw()
        try:
            boxes = _boxes(display) if by_panel else ["tight"]
            return [_saved(display.figure_, box) for box in boxes]
        finally:
            pyplot.close(display.figure_)


def _boxes(display: Any) -> list[Any]:
    """The rectangles that the panels of a display take, in inches."""
    panels, figure = np.ravel(display.ax_), display.figure_
    for panel in panels:
        panel.tick_params(labelleft=True)
    figure.canvas.draw()
    inches = figure.dpi_scale_trans.inverted()
    return [panel.get_tightbbox().transformed(inches).padded(PAD) for panel in panels]


def _saved(figure: Any, box: Any) -> Picture:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, bbox_inches=box, pad_inches=PAD)
    png = file.getvalue()
    width, height = (int.from_bytes(png[k : k + 4], "big") for k in (16, 20))  # of the header of a PNG file
    return Picture(png, round(width * SCREEN / DPI), round(height * SCREEN / DPI))
