"""Integrals over a Gaussian output of each row, with more points where it is wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sparsebayes._array import Array, is_numpy, namespace, positions, take

Integral = Callable[..., tuple[Array, ...]]


def by_width(
    width: Array, widths: Sequence[float], nodes: Sequence[int], arguments: tuple[Array, ...], integral: Integral
) -> tuple[Array, ...]:
    """Integrals of all rows, each by a number of nodes that depends on its own width alone.

    Parameters
    ----------
    width : array of shape (N,) or (N, 1)
        Standard deviations.
    widths : sequence of float
        Standard deviations beyond which more nodes are needed, ascending.
    nodes : sequence of int
        How many, one more number than there are `widths`.
    arguments : tuple of arrays with N rows
        What `integral` takes besides the number of nodes.
    integral : callable
        (nodes, *arguments of some rows) -> arrays with those rows.

    Returns
    -------
    tuple of arrays with N rows
        The integrals.
    """
    groups = _groups(width if width.ndim == 1 else width[:, 0], widths)
    present = [(rows, count) for rows, count in zip(groups, nodes, strict=True) if rows.shape[0]]
    if len(present) == 1:
        return integral(present[0][1], *arguments)
    if not present:
        return integral(nodes[0], *arguments)
    pieces = [integral(count, *(take(each, rows) for each in arguments)) for rows, count in present]
    xp, order = namespace(width), namespace(present[0][0]).concat([rows for rows, _ in present])
    back = namespace(order).argsort(order)
    return tuple(take(xp.concat(each, axis=0), back) for each in zip(*pieces, strict=True))


def _groups(width: Array, widths: Sequence[float]) -> list[Array]:
    """The rows of each group, as indices in the library of `width`."""
    if is_numpy(width):
        place = np.searchsorted(widths, width)
        return [np.flatnonzero(place == k) for k in range(len(widths) + 1)]
    xp = namespace(width)
    needed: Array = sum(xp.astype(~(width <= bound), xp.int64) for bound in widths)
    return [positions(needed == k) for k in range(len(widths) + 1)]
