"""Arrays as the bytes of a .npy file, format version 1.0 of NumPy, and back: numbers, text and times, no objects."""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np
from numpy.lib import format as npy

from sparsebayes.export._errors import ModelFileError, reason

KINDS = "biufcUSmM"  # of dtypes: no objects, no records
FIRST_VERSION = (1, 0)
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '([<|][a-zA-Z]\d{1,9}(?:\[\d{0,6}[a-zA-Z]{1,2}\])?)', 'fortran_order': (True|False), "
    rb"'shape': (\((?:\d{1,19}, )*(?:\d{1,19},?)?\)), \} *\n"
)
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
    """The array of a .npy file, which the bytes must be exactly; ModelFileError if they are none.

    The header is not evaluated, as NumPy does: it must be as `to_npy` writes it, up to spaces at its end.
    """
    start = 10 + int.from_bytes(data[8:10], "little")
    found = HEADER.fullmatch(data[10:start])
    if data[:8] != MAGIC or found is None:
        raise ModelFileError(f"{name} is no .npy file of format version 1.0 that holds numbers or text.")
    shape = tuple(int(n) for n in re.findall(rb"\d+", found[3]))
    try:
        dtype = np.dtype(found[1].decode())
        if not is_storable(dtype) or math.prod(shape) * dtype.itemsize != len(data) - start:
            raise ValueError(f"{len(data) - start} bytes are not {shape} values of the dtype {dtype}")
        flat = np.frombuffer(data, dtype, offset=start) if len(data) > start else np.empty(0, dtype)
        values = flat.reshape(shape, order="F" if found[2] == b"True" else "C")
        values = values.astype(dtype.newbyteorder("="), order="K")
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelFileError(f"{name} is no .npy file of format version 1.0: {reason(error)}.") from error
    _check_values(values, name)
    return values


def _check_values(values: np.ndarray, name: str) -> None:
    """ModelFileError for bytes that are no truth values, or no text."""
    if values.dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError(f"{name} must hold truth values, got bytes other than 0 and 1.")
    codes = np.frombuffer(values.tobytes(), np.uint32) if values.dtype.kind == "U" else np.zeros(0, np.uint32)
    if codes.max(initial=0) > HIGHEST_CODE_POINT:
        raise ModelFileError(f"{name} must hold text, got numbers that are no characters.")
