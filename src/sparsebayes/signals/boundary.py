"""Boundary padding of a signal, and the circular shifts that a denoised one is averaged over."""

from __future__ import annotations

import itertools
import math

import numpy as np

# of an axis: how far one shift is from the next, about
SPREAD = (
    (0.618033988749895,),
    (0.754877666246693, 0.569840290998053),
    (0.819172513396164, 0.671043606703789, 0.549700477901970),
)


def padded_shape(
    shape: tuple[int, ...], levels: tuple[int, ...], margin: int, short_margin: float = 1.0
) -> tuple[int, ...]:
    """The shape of a signal once it is padded so that each axis can be halved evenly.

    Parameters
    ----------
    shape : tuple of int
        Shape of the signal.
    levels : tuple of int
        How often each axis is halved.
    margin : int
        Least number of samples added at either end of each axis.
    short_margin : float
        The share of the samples of a short axis that is enough.

    Returns
    -------
    tuple of int
        The padded shape.
    """
    sizes = zip(shape, levels, strict=True)
    longer = ((n + 2 * min(margin, math.ceil(short_margin * n)), 2**level) for n, level in sizes)
    return tuple(-(-n // step) * step for n, step in longer)


def pad(signal: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The signal in the middle of its mirror images.

    Parameters
    ----------
    signal : ndarray
        The signal.
    shape : tuple of int
        The shape to pad it to.

    Returns
    -------
    ndarray of that shape
        The signal itself if it has that shape.
    """
    if signal.shape == shape:
        return signal
    places = zip(_middle(signal.shape, shape), shape, strict=True)
    return np.pad(signal, [(place.start, n - place.stop) for place, n in places], "symmetric")


def crop(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The middle of padded values, where `pad` has the signal.

    Parameters
    ----------
    values : ndarray
        Values of the padded shape.
    shape : tuple of int
        Shape of the signal.

    Returns
    -------
    ndarray of that shape
        The values themselves if they have that shape, else a copy.
    """
    return values if values.shape == shape else values[_middle(shape, values.shape)].copy()


def _middle(shape: tuple[int, ...], longer: tuple[int, ...]) -> tuple[slice, ...]:
    """Where an array of a shape lies in the middle of a longer one."""
    starts = [((m - n) // 2, n) for n, m in zip(shape, longer, strict=True)]
    return tuple(slice(start, start + n) for start, n in starts)


def circular_shifts(count: int, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Different circular shifts of a signal, evenly spread over the grids of all levels.

    What matters of a shift is its remainder by 2, 4, 8, …: where it puts the signal on the grid of a level.
    The first 2^(dk) shifts in d axes take every remainder by 2^k once, if the axes can be halved that often:
    the bits of the number of a shift are dealt out to the axes, which an odd step does not change.

    Parameters
    ----------
    count : int
        How many shifts, the shift by nothing included; at most as many as there are.
    shape : tuple of int
        Shape of the signal.

    Returns
    -------
    list of tuple of int
        The shifts along each axis, without the shift by nothing.
    """
    none = (0,) * len(shape)
    if count >= math.prod(shape):
        return [move for move in itertools.product(*map(range, shape)) if move != none]
    steps = [_step(n, f) for n, f in zip(shape, SPREAD[len(shape) - 1], strict=True)]
    moves = {none: None}  # in this order
    for i in itertools.count(1):
        if len(moves) >= count:
            break
        dealt = (int(f"{i:b}"[::-1][k :: len(shape)][::-1] or "0", 2) for k in range(len(shape)))
        moves[tuple(step * u % n for step, u, n in zip(steps, dealt, shape, strict=True))] = None
    return list(moves)[1:]


def _step(n: int, fraction: float) -> int:
    """An odd number near this fraction of n that has no divisor in common with it."""
    near = int(fraction * n) | 1
    return next(step for step in range(near, 0, -2) if math.gcd(step, n) == 1)
