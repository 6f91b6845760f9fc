"""What a fit accepts as design, targets and weights; else one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from sparsebayes._array import Array, asfloat64, is_numpy, namespace, require_real
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.sources import RowSource, SlicedRows, in_memory, is_chunked, is_on_disk, parts_of, read_rows
from sparsebayes.rows.triangle import Triangle

LEAST_ROWS = 2  # rows, or the sum of their weights, that a fit needs: one value says nothing of a noise variance


def check_design(Phi: Any) -> Any:
    """Phi as a finite float64 matrix, dense or SciPy-sparse."""
    sparse = hasattr(Phi, "tocsc")
    Phi = Phi.tocsc() if sparse else in_memory(Phi)
    require_real(Phi.data if sparse else Phi, "Phi")
    if not sparse:
        Phi = asfloat64(Phi)
        if Phi.ndim != 2 or 0 in Phi.shape:
            raise ValueError(f"Phi must be a matrix with rows and columns, got shape {tuple(Phi.shape)}.")
    require_finite(Phi.data if sparse else Phi, "Phi")
    return Phi


def check_targets(y: Any, n: int, name: str = "y", like: Array | None = None) -> Array:
    """y as n finite float64 values, in the namespace of `like`; a NumPy column vector is taken with a warning."""
    require_targets(y)
    y = in_memory(y)
    require_real(y, name)
    if like is None or is_numpy(like):
        y = column_or_1d(y, warn=True)
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold real numbers, got an array of dtype {y.dtype}.") from error
    else:
        y = asfloat64(y, like=like)
    check_length(y, n, name)
    require_finite(y, name)
    return y


def require_targets(y: Any) -> None:
    """Raise ValueError for a fit without targets."""
    if y is None:
        raise ValueError("The fit requires y to be passed, but the target y is None.")


def check_length(y: Array, n: int, name: str = "y") -> None:
    """Raise ValueError unless y is a vector with one value per row."""
    if tuple(y.shape) != (n,):
        raise ValueError(
            f"{name} must have one value per row of X: X has {n} rows, but {name} has shape {tuple(y.shape)}."
        )


def check_weights(sample_weight: Any, n: int, some: bool = True, like: Array | None = None) -> Array | None:
    """sample_weight as n float64 values ≥ 0, not all zero if `some`; one number stands for n of them."""
    if sample_weight is None:
        return None
    require_real(in_memory(sample_weight), "sample_weight")
    try:
        weights = asfloat64(in_memory(sample_weight), like=np.zeros(0) if like is None else like)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold real numbers, got {sample_weight!r}.") from error
    xp = namespace(weights)
    weights = xp.full((n,), float(weights)) if weights.ndim == 0 else weights
    check_length(weights, n, "sample_weight")
    require_finite(weights, "sample_weight")
    if n and float(xp.min(weights)) < 0:
        raise ValueError(f"sample_weight must not be negative, got {float(xp.min(weights)):g}.")
    if some and not float(xp.max(weights)) > 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def check_total(total: float) -> None:
    """Raise ValueError for weights that do not add up to the rows that a fit needs."""
    if total < LEAST_ROWS:
        raise ValueError(
            f"sample_weight sums to {total:.3g}, but weights count rows (2: a row that occurs twice) and must "
            f"sum to at least {LEAST_ROWS}: multiply normalised weights by the number of rows."
        )


def require_finite(x: Array, name: str) -> None:
    """Raise ValueError for NaN and infinity."""
    xp = namespace(x)
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} contains NaN or infinity; every value must be finite.")


class ChunkCheck:
    """Turns chunks (X, y) or (X, y, sample_weight) into `Chunk`s, all as wide as the first.

    check : (X, whether it is the first) -> X as a finite float64 matrix.
    width : columns of X; None until the first chunk is seen.
    """

    def __init__(self, check: Callable[[Any, bool], Any], width: int | None = None) -> None:
        self.check, self.width = check, width

    def __call__(self, chunk: Any) -> Chunk:
        """The chunk, all finite float64."""
        X, y, weights = parts_of(chunk)
        X = self.check(X, self.width is None)
        n, width = X.shape
        self.width = width if self.width is None else self.width
        if width != self.width:
            raise ValueError(f"Phi must have {self.width} columns in every chunk, got {width}.")
        sparse = hasattr(X, "tocsr")
        like = None if sparse else X
        targets, weights = check_targets(y, n, like=like), check_weights(weights, n, some=False, like=like)
        return Chunk(X.tocsr() if sparse else X, targets, weights)


def sliced_rows(X: Any, y: Any, sample_weight: Any) -> SlicedRows:
    """X on disk, with targets and weights that may be there too, a block of rows at a time."""
    n = X.shape[0]
    if is_on_disk(y):
        check_length(y, n)
    else:
        y = check_targets(y, n)
    if is_on_disk(sample_weight):
        check_length(sample_weight, n, "sample_weight")
    else:
        sample_weight = check_weights(sample_weight, n)
    return SlicedRows(X, y, sample_weight)


def read_chunks(X: Any, y: Any, sample_weight: Any, check: ChunkCheck, name: str = "X") -> Triangle | RowPasses | None:
    """The statistics of X, an iterable of chunks or an array on disk; None if no row has a positive weight.

    name : what the caller calls X.
    """
    chunks: Iterable[Any] = X
    if not is_chunked(X, y):
        chunks = sliced_rows(X, y, sample_weight)
    elif sample_weight is not None:
        raise ValueError(f"sample_weight must be None if {name} gives chunks: it is the third part of a chunk.")
    return read_rows(RowSource(chunks, check))
