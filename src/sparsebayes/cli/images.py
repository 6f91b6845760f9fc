"""Image files as arrays of channels, and back: depth, size, transparency, orientation and colour profile are kept."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes._checks import warn

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
KEPT = ("L", "LA", "RGB", "RGBA", "I;16", "I", "F")  # modes that stay as they are; others become L, LA, RGB or RGBA
WITH_ALPHA = ("LA", "RGBA")
METADATA = ("exif", "icc_profile")  # how an image is turned, and what its colours mean
DEEP = ";16"  # in the name of the layout of a file with 16 bits per channel


@dataclass(frozen=True, eq=False)
class Picture:
    """An image.

    pixels : (rows, columns, channels).  colours : how many channels are no alpha channel.
    top : the largest value of a pixel; None for real numbers.  metadata : what is saved with it.
    """

    pixels: np.ndarray
    colours: int
    top: int | None
    metadata: dict[str, Any]

    @classmethod
    def read(cls, path: str) -> Picture:
        """The first image of a file; ValueError for files that hold none, or one that would lose its depth."""
        from PIL import Image

        try:
            with Image.open(path) as file:
                image: Image.Image = file
                layout, frames = _layout(file), getattr(file, "n_frames", 1)
                file.load()
        except (FileNotFoundError, PermissionError, IsADirectoryError, MemoryError):
            raise
        except Exception as error:  # what the parsers of damaged files raise
            raise ValueError(f"{path} cannot be read as an image: {error}") from None
        if DEEP in layout and not image.mode.startswith("I"):
            raise ValueError(
                f"{path} must have one channel or 8 bits per channel, got {layout}; convert it to 8 bits, or give its "
                "pixels as an .npy array with --channel-axis -1."
            )
        if frames > 1:
            warn(f"{path} holds {frames} images; the first is denoised.")
        return cls._of(image, layout)

    @classmethod
    def _of(cls, image: Any, layout: str) -> Picture:
        metadata = {name: image.info[name] for name in METADATA if name in image.info}
        mode = _mode(image)
        if mode != image.mode and not mode.startswith("I"):
            image = image.convert(mode)
            metadata.pop("icc_profile", None)  # of other channels
        pixels = np.atleast_3d(np.asarray(image))
        if mode == "I;16":
            pixels = pixels.astype(np.uint16)
        deep = mode == "I;16" or DEEP in layout
        top = None if pixels.dtype.kind == "f" else int(np.iinfo(np.uint16 if deep else pixels.dtype).max)
        return cls(pixels, pixels.shape[2] - (mode in WITH_ALPHA), top, metadata)

    def with_colours(self, values: np.ndarray) -> Picture:
        """The same image with other colours (rows, columns, colours), rounded to what its pixels can be."""
        if self.top is not None:
            least = min(0, int(self.pixels.min()))
            values = np.clip(np.rint(values), least, self.top)
        colours = values.astype(self.pixels.dtype)
        return replace(self, pixels=np.concatenate([colours, self.pixels[:, :, self.colours :]], axis=2))

    def in_gray(self, values: np.ndarray) -> Picture:
        """Another image of the same size from values (rows, columns), the largest of them white."""
        gray = np.rint(255 * values / max(float(values.max()), float(np.finfo(float).tiny))).astype(np.uint8)
        metadata = {name: value for name, value in self.metadata.items() if name != "icc_profile"}
        return Picture(gray[:, :, None], 1, 255, metadata)

    def file(self, output: Path) -> bytes:
        """The bytes of a file of the kind that the name says; ValueError if that kind cannot hold the image."""
        from PIL import Image

        file, kind = io.BytesIO(), Image.registered_extensions()[output.suffix.lower()]
        image = Image.fromarray(self.pixels.squeeze(axis=2) if self.pixels.shape[2] == 1 else self.pixels)
        try:
            image.save(file, format=kind, **self.metadata)
            with Image.open(file) as written:
                found = written.mode
        except (OSError, KeyError, ValueError) as error:
            raise ValueError(f"the image cannot be written as {kind}: {error}; {_advice(image.mode)}.") from None
        if found != image.mode:
            raise ValueError(f"{kind} would turn the image from {image.mode} into {found}; {_advice(image.mode)}.")
        return file.getvalue()


def _layout(file: Any) -> str:
    """How the pixels of an open image file are laid out, such as RGB;16B."""
    arguments = file.tile[0].args if getattr(file, "tile", None) else ""
    return str(arguments[0] if isinstance(arguments, tuple) else arguments)


def _mode(image: Any) -> str:
    """The mode in which the channels of an image are denoised."""
    gray = image.mode in ("1", "L")
    if "transparency" in image.info and image.mode not in WITH_ALPHA:
        return "LA" if gray else "RGBA"
    if image.mode.startswith("I;16"):
        return "I;16"
    if image.mode in KEPT:
        return str(image.mode)
    return "L" if gray else "RGB"


def _advice(mode: str) -> str:
    """Which kind of file holds the image."""
    return "write .tif" if mode in ("I", "F") else "write .png"
