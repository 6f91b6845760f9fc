"""Rows in chunks: blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils import gen_batches

from sparsebayes._array import Array, namespace, take, to_numpy

WORKING_COPIES = 4  # arrays of the size of a block, or of R, that are held at a time
LARGEST_BLOCK = 1 << 21  # numbers: beyond it a QR gains nothing by more rows at a time


class Chunk(NamedTuple):
    """Some rows: Φ (n, M) dense or SciPy-sparse, t (n,) or (n, T), and how often each counts, (n,) or None for once."""

    Phi: Any
    t: Array
    weights: Array | None


@dataclass(frozen=True, eq=False)
class Reweighted:
    """Chunks whose weights are multiplied by a factor."""

    chunks: Iterable[Chunk]
    factor: float

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self.chunks:
            once = namespace(chunk.t).ones_like(chunk.t)
            yield chunk._replace(weights=self.factor * (once if chunk.weights is None else chunk.weights))


def affordable(copies: int = WORKING_COPIES) -> int:
    """Numbers that an array may have if `copies` of it have to fit scikit-learn's `working_memory`."""
    return int(get_config()["working_memory"] * 2**20) // (8 * copies)


def slices(n: int, width: int) -> Iterator[slice]:
    """Parts of n rows of `width` numbers that are read together; none if n is 0."""
    return gen_batches(n, max(1, min(affordable(), LARGEST_BLOCK) // max(width, 1))) if n else iter(())


def blocks(chunks: Iterable[Chunk]) -> Iterator[tuple[Array, Array]]:
    """The rows [Φ t] (n, M+T) of positive weight and their weights (n,), a block of bounded size at a time."""
    for Phi, t, weights in chunks:
        t = t if t.ndim == 2 else t[:, None]
        for part in slices(Phi.shape[0], Phi.shape[1] + t.shape[1]):
            rows = Phi[part, :]
            rows = rows.toarray() if hasattr(rows, "tocsc") else rows
            table = namespace(rows, t).concat([rows, t[part, :]], axis=1)  # a copy
            counts = namespace(table).ones_like(table[:, 0]) if weights is None else weights[part]
            if weights is not None and not bool(namespace(counts).all(counts > 0)):
                positive = np.flatnonzero(to_numpy(counts) > 0)
                table, counts = take(table, positive), take(counts, positive)
            if counts.shape[0]:
                yield table, counts
