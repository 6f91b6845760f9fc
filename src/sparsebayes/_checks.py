"""Checks of single arguments that several packages share."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


def is_number(x: Any) -> bool:
    """Whether x is one finite real number, of Python or NumPy; True and False are not.

    An integer or a fraction beyond the range of a float is not finite.
    """
    if not isinstance(x, numbers.Real) or isinstance(x, (bool, np.bool_)):
        return False
    try:
        return math.isfinite(x)
    except OverflowError:
        return False


def is_whole(x: Any, least: int) -> bool:
    """Whether x is one integer of at least that size, of Python or NumPy; True and False are not."""
    return isinstance(x, numbers.Integral) and is_number(x) and int(x) >= least


def require_whole(x: Any, name: str, least: int) -> None:
    """Raise ValueError unless x is an integer of at least that size."""
    if not is_whole(x, least):
        raise ValueError(f"{name} must be an integer >= {least}, got {x!r}.")
