"""Where rows in chunks come from: arrays on disk, read a slice at a time, and iterables of chunks.

An array on disk is whatever has `shape`, `dtype` and rows by slicing: HDF5 and zarr datasets, and NumPy arrays
mapped from a file.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import array_api_compat
import numpy as np
from sklearn import get_config

from sparsebayes.rows.chunks import WORKING_COPIES, Chunk, affordable, slices
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.triangle import Triangle

SHARED = {"r", "r+", "w+"}  # modes of memory maps whose pages can be read again; "c" keeps changes in memory


def is_on_disk(X: Any) -> bool:
    """Whether the rows of X have to be fetched."""
    if isinstance(X, np.ndarray):
        return _memmap(X) is not None
    if array_api_compat.is_array_api_obj(X) or any(hasattr(X, name) for name in ("tocsc", "iloc")):
        return False
    return all(hasattr(X, name) for name in ("shape", "dtype", "__getitem__"))


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection of rows: an array, a dataframe or a series. Dask is not imported for that.

    Other collections (a bag, a delayed object) have no rows that are known before they are computed.
    """
    if not hasattr(X, "__dask_graph__"):
        return False
    if not hasattr(X, "_meta"):
        raise TypeError(
            f"X and y must be arrays, dataframes or series if they are on Dask, got a {type(X).__name__}: make one "
            "with dask.array.from_delayed or dask.dataframe.from_delayed, or pass what compute() gives."
        )
    return True


def in_memory(X: Any) -> Any:
    """All of an HDF5 or zarr dataset; anything else as it is."""
    return X[:] if is_on_disk(X) and not isinstance(X, np.ndarray) else X


def is_too_large(X: Any) -> bool:
    """Whether X (n, d) is on disk and needs more than a fourth of `working_memory` as float64."""
    return is_on_disk(X) and len(X.shape) == 2 and X.shape[0] * X.shape[1] > affordable()


def is_chunked(X: Any, y: Any) -> bool:
    """Whether X is an iterable of chunks (X, y) or (X, y, sample_weight), for which y is not given."""
    if y is not None or any(hasattr(X, name) for name in ("shape", "__array__", "keys", "iloc")):
        return False
    if isinstance(X, Sequence):
        first = X[0] if len(X) else None
        return isinstance(first, tuple) and first != () and len(getattr(first[0], "shape", ())) == 2
    return isinstance(X, Iterable)


@dataclass(frozen=True, eq=False)
class SlicedRows:
    """Arrays with rows on request as an iterable of chunks (X, y) or (X, y, sample_weight)."""

    X: Any
    y: Any
    sample_weight: Any = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        arrays = [self.X, self.y] if self.sample_weight is None else [self.X, self.y, self.sample_weight]
        for part in slices(self.X.shape[0], self.X.shape[1] + 1):
            yield tuple(array[part] for array in arrays)


@dataclass(frozen=True, eq=False)
class RowSource:
    """Chunks, each of them checked before it is handed on, and released when the next is fetched.

    chunks : iterable of (X, y) or (X, y, sample_weight).
    check : turns each of them into a `Chunk`.
    may_be_empty : whether chunks without rows are skipped; otherwise `check` refuses them.
    """

    chunks: Iterable[Any]
    check: Callable[[Any], Chunk]
    may_be_empty: bool = True

    def __iter__(self) -> Iterator[Chunk]:
        start, alone = 0, isinstance(self.chunks, list) and len(self.chunks) == 1
        for number, chunk in enumerate(self.chunks):
            if self.may_be_empty and _has_no_rows(chunk):
                continue
            checked = self.check(chunk) if alone else self._numbered(chunk, number, start)
            start += int(checked.Phi.shape[0])
            yield checked
            for array in chunk:
                release(array)

    def _numbered(self, chunk: Any, number: int, start: int) -> Chunk:
        """The chunk, checked; an error about it says which one it is, and how many rows came before it."""
        try:
            return self.check(chunk)
        except ValueError as error:
            raise ValueError(f"{str(error).rstrip('.')} (in chunk {number}, which starts at row {start}).") from error


def parts_of(chunk: Any) -> tuple[Any, Any, Any]:
    """The design, the targets and the weights (None if there are none) of a chunk as it came."""
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        kind = f"{len(chunk)} values" if isinstance(chunk, tuple | list) else type(chunk).__name__
        raise ValueError(f"a chunk must be (X, y) or (X, y, sample_weight), got {kind}.")
    return chunk[0], chunk[1], chunk[2] if len(chunk) == 3 else None


def _has_no_rows(chunk: Any) -> bool:
    """Whether a chunk as it came is a pair or triple of arrays or lists of length zero."""
    given = [part for part in chunk if part is not None] if isinstance(chunk, tuple) else []
    return len(given) > 1 and all(_length(part) == 0 for part in given)


def _length(array: Any) -> int | None:
    shape: tuple[int, ...] | None = getattr(array, "shape", None)
    if shape is None:
        return len(array) if isinstance(array, Sequence) else None
    return shape[0] if shape else None


def read_rows(source: RowSource) -> Triangle | RowPasses | None:
    """The rows as a triangle if that fits in memory, else by passes; None if there is no row."""
    chunks = iter(source)
    first = next(chunks, None)
    if first is None:
        return None
    width, outputs = int(first.Phi.shape[1]), 1 if first.t.ndim == 1 else int(first.t.shape[1])
    if (width + outputs) ** 2 <= affordable():
        return Triangle.of(chain([first], chunks), outputs=outputs)
    if isinstance(source.chunks, Iterator):  # the rows can be read only once
        check_affordable(width, "raise it, or give an iterable that can be read more than once.")
    return RowPasses.of(source, outputs)


def check_affordable(width: int, advice: str) -> None:
    """Raise ValueError for functions whose statistics do not fit the working memory."""
    if (width + 1) ** 2 > affordable():
        memory = 8 * WORKING_COPIES * (width + 1) ** 2 / 2**20
        allowed = f"scikit-learn's working_memory allows {get_config()['working_memory']:g} MiB"
        raise ValueError(f"X has {width} columns, whose statistics need {memory:.3g} MiB; {allowed}: {advice}")


def release(X: Any) -> None:
    """Give back the pages of a memory map that were read, which count as memory of the process until then."""
    memmap = _memmap(X)
    if memmap is not None and memmap.mode in SHARED and hasattr(mmap, "MADV_DONTNEED"):
        mapping: Any = memmap
        while isinstance(mapping, np.ndarray):
            mapping = mapping.base
        if isinstance(mapping, mmap.mmap):
            with suppress(OSError):  # pages that are locked stay
                mapping.madvise(mmap.MADV_DONTNEED)


def _memmap(X: Any) -> np.memmap | None:
    """The memory-mapped array that X is, or is a view of."""
    while isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        X = X.base
    # what NumPy computes from a memory map has its type, but no file behind it
    return X if isinstance(X, np.memmap) and X.filename is not None else None
