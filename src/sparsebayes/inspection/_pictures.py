"""Displays as PNG pictures, drawn in the same style whatever style the session has."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes.inspection._letters import all_letters
from sparsebayes.inspection._matplotlib import pyplot_module

DPI, SCREEN = 160, 96  # of the pictures, and of the screen that their width is meant for
PAD = 0.05  # inches around a picture
SINGLE = 5.2  # inches: the width of a figure of one panel, whose text can still be read on a telephone


@dataclass(frozen=True)
class Picture:
    """A picture.

    png : the bytes of the file.  width, height : in pixels of a screen.
    title : what stood above all panels of the figure that the picture is a panel of.
    """

    png: bytes
    width: int
    height: int
    title: str = ""


def pictures_of(draw: Callable[[], Any], by_panel: bool = False) -> list[Picture]:
    """Pictures of the display that `draw` returns; its figure is closed.

    by_panel : whether each of its panels becomes a picture of its own, with its numbers at its left.
    """
    pyplot = pyplot_module()
    with pyplot.style.context("default"), all_letters(), pyplot.ioff():
        display = draw()
        try:
            if by_panel:
                return _panels(display.figure_, np.ravel(display.ax_))
            if np.size(display.ax_) == 1:
                display.figure_.set_figwidth(min(SINGLE, display.figure_.get_figwidth()))
            return [_whole(display.figure_)]
        finally:
            pyplot.close(display.figure_)


def _whole(figure: Any) -> Picture:
    """All of a figure, with what stands beyond its edges, such as a legend."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, bbox_inches="tight", pad_inches=PAD)
    png = file.getvalue()
    width, height = (int.from_bytes(png[k : k + 4], "big") for k in (16, 20))  # in the header of a PNG file
    return Picture(png, round(width * SCREEN / DPI), round(height * SCREEN / DPI))


def _panels(figure: Any, panels: Any) -> list[Picture]:
    """The figure drawn once, and cut into its panels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    title, label = figure.get_suptitle(), figure.get_supylabel()
    for panel in panels:
        panel.tick_params(labelleft=True)
        panel.set_ylabel(label or panel.get_ylabel())
    figure.supylabel("")
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())
    boxes = [panel.get_tightbbox().padded(PAD * DPI).extents for panel in panels]
    rows = [panel.get_subplotspec().rowspan.start for panel in panels]
    for row in set(rows):  # panels beside one another have the same height
        own = [box for box, each in zip(boxes, rows, strict=True) if each == row]
        low, high = min(box[1] for box in own), max(box[3] for box in own)
        for box in own:
            box[1], box[3] = low, high
    return [replace(_cut(pixels, box), title=title) for box in boxes]


def _cut(pixels: np.ndarray, extents: Any) -> Picture:
    """A rectangle of a drawing (height, width, 4), given by its left, bottom, right and top edges, from the bottom."""
    from matplotlib.image import imsave

    left, bottom, right, top = np.rint(extents).astype(int)
    up = len(pixels)
    part = pixels[max(up - top, 0) : up - max(bottom, 0), max(left, 0) : max(right, 0)]
    file = io.BytesIO()
    imsave(file, np.ascontiguousarray(part[:, :, :3]), format="png")
    return Picture(file.getvalue(), round(part.shape[1] * SCREEN / DPI), round(part.shape[0] * SCREEN / DPI))
