"""Displays as PNG pictures, drawn in the same style whatever style the session has."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.inspection._matplotlib import pyplot_module

DPI, SCREEN = 160, 96  # of the pictures, and of the screen that their width is meant for
PAD = 0.05  # inches around a picture
SINGLE = 5.2  # inches: the width of a figure of one panel, whose text can still be read on a telephone


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
            if np.size(display.ax_) == 1:
                display.figure_.set_figwidth(min(SINGLE, display.figure_.get_figwidth()))
            return _pictures(display.figure_, np.ravel(display.ax_) if by_panel else [])
        finally:
            pyplot.close(display.figure_)


def _pictures(figure: Any, panels: Any) -> list[Picture]:
    """The figure drawn once, and cut into its panels; a single picture of all of it without panels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for panel in panels:
        panel.tick_params(labelleft=True)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())
    whole = [figure.get_tightbbox().transformed(figure.dpi_scale_trans)]
    boxes = [panel.get_tightbbox() for panel in panels] or whole
    return [_cut(pixels, box.padded(PAD * DPI).extents) for box in boxes]


def _cut(pixels: np.ndarray, extents: Any) -> Picture:
    """A rectangle of a drawing (height, width, 4), given by its left, bottom, right and top edges, from the bottom."""
    from matplotlib.image import imsave

    left, bottom, right, top = np.rint(extents).astype(int)
    up = len(pixels)
    part = pixels[max(up - top, 0) : up - max(bottom, 0), max(left, 0) : max(right, 0)]
    file = io.BytesIO()
    imsave(file, np.ascontiguousarray(part[:, :, :3]), format="png")
    return Picture(file.getvalue(), round(part.shape[1] * SCREEN / DPI), round(part.shape[0] * SCREEN / DPI))
