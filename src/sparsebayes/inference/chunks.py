"""Rows that `fit` is given in chunks, or that are too large to be held: what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.inference.arguments import check_data, check_design, check_rows, check_total
from sparsebayes.quadratic import Quadratic
from sparsebayes.rows import (
    Chunk,
    RowPasses,
    RowSource,
    RowStatistics,
    Scaling,
    SlicedRows,
    is_chunked,
    is_too_large,
    read_rows,
    summarise,
)


def summarise_any(Phi: Any, t: Any, sample_weight: Any, center: bool) -> tuple[Quadratic, Scaling]:
    """The quadratic of whatever `fit` takes, and its scaling."""
    if isinstance(Phi, RowStatistics | RowPasses):
        return _summarised(Phi, center)
    source = _chunks_of(Phi, t, sample_weight)
    if source is None:
        return summarise(*check_data(Phi, t, sample_weight), center)
    return _summarised(read_rows(source), center)


def is_in_memory(Phi: Any, t: Any) -> bool:
    """Whether what `fit` was given has all its rows in memory."""
    return not (isinstance(Phi, RowStatistics | RowPasses) or is_chunked(Phi, t) or is_too_large(Phi))


def _summarised(rows: RowStatistics | RowPasses | None, center: bool) -> tuple[Quadratic, Scaling]:
    if rows is None:
        raise ValueError("Phi gave no row of positive weight; at least two are needed.")
    check_total(rows.n)
    return rows.summarise(center)


def _chunks_of(Phi: Any, t: Any, sample_weight: Any) -> RowSource | None:
    """The rows in chunks where they come so, or are too large to be held; None where they are not."""
    if is_chunked(Phi, t):
        if sample_weight is not None:
            raise ValueError("sample_weight must be None where Phi gives chunks: the third part of a chunk.")
        return RowSource(Phi, DesignCheck())
    if not is_too_large(Phi):
        return None
    for values, name in ((t, "t"), (sample_weight, "sample_weight")):
        shape = tuple(values.shape) if hasattr(values, "shape") else np.shape(values)
        if shape != (Phi.shape[0],) and not (values is None and name == "sample_weight"):
            raise ValueError(
                f"{name} must be a vector of {Phi.shape[0]} values, one a row of Phi, got {shape}."
            )
    return RowSource(SlicedRows(Phi, t, sample_weight), DesignCheck())


class DesignCheck:
    """Turns chunks (Phi, t) or (Phi, t, sample_weight) into `Chunk`s, all as wide as the first."""

    def __init__(self) -> None:
        self.width: int | None = None

    def __call__(self, chunk: Any) -> Chunk:
        """The chunk, all finite float64."""
        Phi, t, weights = parts_of(chunk)
        Phi = check_design(Phi)
        if self.width is None:
            self.width = Phi.shape[1]
        if Phi.shape[1] != self.width:
            raise ValueError(f"Phi must have {self.width} columns in every chunk, got {Phi.shape[1]}.")
        return Chunk(Phi.tocsr() if hasattr(Phi, "tocsr") else Phi, *check_rows(Phi, t, weights))


def parts_of(chunk: Any) -> tuple[Any, Any, Any]:
    """The design, the targets and the weights (None where there are none) of a chunk as it came."""
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        kind = f"{len(chunk)} values" if isinstance(chunk, tuple | list) else type(chunk).__name__
        raise ValueError(f"a chunk must be (X, y) or (X, y, sample_weight), got {kind}.")
    return chunk[0], chunk[1], chunk[2] if len(chunk) == 3 else None
