"""Checks of single arguments, and warnings, as several packages share them."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _set_output

PACKAGE = str(Path(__file__).parent / "_")[:-1]  # with the separator at the end
OWN = (PACKAGE, _set_output.__file__)  # scikit-learn wraps methods that transform


class MissingValueWarning(UserWarning):
    """Rows to be predicted lack values: medians take their place, and error bars do not count that."""


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


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the line that called the package: the first frame outside it and outside wrappers."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
