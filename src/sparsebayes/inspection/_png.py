"""Pictures of displays as bytes, for pages."""

from __future__ import annotations

import io
from typing import Any

DPI = 110


def png_of(display: Any) -> bytes:
    """The figure of a drawn display as a PNG file; it is closed, so that many pictures need no more memory than one."""
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    file, figure = io.BytesIO(), display.figure_
    figure.set_dpi(DPI)
    FigureCanvasAgg(figure).print_png(file)
    pyplot.close(figure)
    return file.getvalue()
