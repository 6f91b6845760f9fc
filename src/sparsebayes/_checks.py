"""What several rooms ask of an argument."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


class NothingToModel(ValueError):
    """The rows are sound, but there is nothing in them to model: a target or columns that do not vary."""


def is_number(x: Any) -> bool:
    """Whether x is one finite real number, of Python or NumPy; True and False are not."""
    return isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_)) and math.isfinite(x)
