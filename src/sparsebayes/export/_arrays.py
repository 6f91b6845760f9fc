"""Arrays as the bytes of a .npy file, format version 1.0 of NumPy, and back: numbers, text and times, no objects."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy

from sparsebayes.export._errors import ModelFileError

KINDS = "biufcUSmM"  # of dtypes: no objects, no records
FIRST_VERSION = (1, 0)
HIGHEST_CODE_POINT = 0x10FFFF


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype have a meaning on every machine."""
    extended = dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16)  # long double is the machine's
    return dtype.kind in KINDS and dtype.itemsize > 0 and not extended


def to_npy(values: np.ndarray) -> bytes:
    """The bytes of a .npy file, little-endian; the order of the axes in memory is kept."""
    buffer = io.BytesIO()
    plain = np.array(values, dtype=values.dtype.newbyteorder("<"), order="K")
    npy.write_array(buffer, plain, version=FIRST_VERSION, allow_pickle=False)
    return buffer.getvalue()


def from_npy(data: bytes, name: str) -> np.ndarray:
    """The array of a .npy file, which the bytes must be exactly; ModelFileError if they are none."""
    buffer = io.BytesIO(data)
    try:
        version = npy.read_magic(buffer)
        if version != FIRST_VERSION:
            raise ValueError(f"format version {version}")
        shape, by_columns, dtype = npy.read_array_header_1_0(buffer)
    except (ValueError, EOFError, MemoryError, RecursionError, SyntaxError, TypeError) as error:
        raise ModelFileError(f"{name} is no .npy file of format version 1.0.") from error
    if dtype.fields is not None or dtype.subdtype is not None or not is_storable(dtype):
        raise ModelFileError(f"{name} must hold numbers, text or times, got the dtype {dtype}.")
    start = buffer.tell()
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ModelFileError(
            f"{name} must hold {shape} values of {dtype.itemsize} bytes, got {len(data) - start} bytes."
        )
    try:
        flat = np.frombuffer(data, dtype, offset=start) if len(data) > start else np.empty(0, dtype)
        values = flat.reshape(shape, order="F" if by_columns else "C").astype(dtype.newbyteorder("="), order="K")
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{name} has the shape {shape}, which NumPy does not accept.") from error
    _check_values(values, name)
    return values


def _check_values(values: np.ndarray, name: str) -> None:
    """ModelFileError for bytes that are no truth values, or no text."""
    if values.dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError(f"{name} must hold truth values, got bytes other than 0 and 1.")
    codes = np.frombuffer(values.tobytes(), np.uint32) if values.dtype.kind == "U" else np.zeros(0, np.uint32)
    if codes.max(initial=0) > HIGHEST_CODE_POINT:
        raise ModelFileError(f"{name} must hold text, got numbers that are no characters.")
