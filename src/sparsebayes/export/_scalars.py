"""Single values as JSON: numbers of Python and NumPy that keep their type and every bit, text, slices."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from sparsebayes.export._errors import ModelFileError

LARGEST = 1 << 63  # integers of JSON have 64 bits
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|<U\d{1,9}")


def is_plain(x: Any) -> bool:
    """Whether x is one value that an array of objects may hold."""
    return x is None or type(x) in (bool, int, float, complex, str) or isinstance(x, np.generic)


def scalar(x: Any, path: str) -> Any:
    """A single value as JSON; ValueError or TypeError that names its path if it is none."""
    if isinstance(x, np.generic):
        return _numpy_scalar(x, path)
    if type(x) is int and not -LARGEST <= x < 2 * LARGEST:
        raise ValueError(f"{path} must be an integer of at most 64 bits in a model file, got {x}.")
    if type(x) is str:
        _check_text(x, path)
    if type(x) is float:
        return x if math.isfinite(x) else {"float": "nan" if math.isnan(x) else str(x)}
    if type(x) is complex:
        return {"complex": [scalar(x.real, path), scalar(x.imag, path)]}
    if type(x) is slice:
        return {"slice": [scalar(each, path) for each in (x.start, x.stop, x.step)]}
    if x is None or type(x) in (bool, int, str):
        return x
    raise TypeError(f"{path} must be text or a number in a model file, got {x!r}.")


def from_scalar(tag: str, inner: Any) -> Any:
    """The value of a tagged scalar; ModelFileError if it is none."""
    try:
        if tag == "float":
            return WORDS[inner]
        if tag == "complex":
            return complex(*(_real(each) for each in _sized(inner, 2)))
        if tag == "slice":
            return slice(*(_whole(each) for each in _sized(inner, 3)))
        if tag == "scalar":
            return _from_numpy(*_sized(inner, 2))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"The model file has a {tag} that is none: {str(inner)[:60]}.") from error
    raise ModelFileError(f"The model file has a value of an unknown kind, {tag[:60]!r}.")


def _numpy_scalar(x: Any, path: str) -> Any:
    name = x.dtype.newbyteorder("<").str
    if not DTYPE.fullmatch(name):
        raise TypeError(f"{path} must be a number or text in a model file, got {x!r} of dtype {x.dtype}.")
    return {"scalar": [name, scalar(x.item(), path)]}


def _from_numpy(name: str, inner: Any) -> Any:
    if not DTYPE.fullmatch(name):
        raise ValueError(name)
    value = from_scalar(*next(iter(inner.items()))) if isinstance(inner, dict) and len(inner) == 1 else inner
    dtype = np.dtype(name).newbyteorder("=")
    expected = {"b": bool, "i": int, "u": int, "f": float, "c": complex, "U": str}[dtype.kind]
    made = dtype.type(value)
    if type(value) is not expected or made.dtype.itemsize > max(dtype.itemsize, 4):
        raise ValueError(name)
    return made


def _check_text(x: str, path: str) -> None:
    try:
        x.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{path} must be text that UTF-8 can express in a model file, got {x!r}.") from error


def _sized(x: Any, n: int) -> list[Any]:
    if not isinstance(x, list) or len(x) != n:
        raise ValueError(n)
    return x


def _real(x: Any) -> float:
    if isinstance(x, dict) and x.keys() == {"float"}:
        return WORDS[x["float"]]
    if type(x) is not float:
        raise TypeError(x)
    return x


def _whole(x: Any) -> int | None:
    if x is not None and type(x) is not int:
        raise TypeError(x)
    return x
