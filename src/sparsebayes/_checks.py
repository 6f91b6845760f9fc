"""What several rooms ask of an argument."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


def is_number(x: Any) -> bool:
    """Whether x is one finite real number, of Python or NumPy; True and False are not."""
    return isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_)) and math.isfinite(x)
