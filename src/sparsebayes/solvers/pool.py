"""The functions that compete for the first model."""

from __future__ import annotations

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.quadratic import Quadratic

ENOUGH = 2 / 3  # of a pool: so many do where they are known to lie far apart


def opening_pool(quadratic: Quadratic, most: int) -> np.ndarray:
    """At most so many functions, and no more than half the rows; neither chance nor their order matters.

    Functions far apart, where the quadratic knows them: none is missed then that no other can stand for. Else
    functions spread over the range of h = φᵀt.
    """
    # rounded: a sum of weights may be a rounding error away from a whole number
    size = int(min(most, quadratic.size, round(quadratic.n, 6) / 2))
    h = to_numpy(quadratic.h)
    if quadratic.far_apart is not None and size:
        # from the largest |h| on, which the sign of t does not change
        chosen = quadratic.far_apart(np.argsort(-np.abs(h), kind="stable"), max(1, round(ENOUGH * size)))
        if chosen is not None:
            return chosen
    order = np.argsort(h, kind="stable")
    places = np.linspace(0, quadratic.size - 1, size)
    # rounded towards the nearer end, so that the sign of t does not matter either
    lower = places < 0.5 * (quadratic.size - 1)
    return order[np.where(lower, np.floor(places), np.ceil(places)).astype(np.int64)]
