"""What a fit accepts as design, targets and weights; else one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from sparsebayes._array import (
    Array,
    all_finite,
    asfloat64,
    count,
    device,
    is_foreign,
    namespace,
    require_real,
    to_numpy,
)
from sparsebayes._checks import warn
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.kinds import as_floats, following, own
from sparsebayes.rows.known_noise import KnownNoise, KnownNoiseRows
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.sources import (
    RowSource,
    SlicedRows,
    in_memory,
    is_chunked,
    is_on_disk,
    is_too_large,
    parts_of,
    read_rows,
)
from sparsebayes.rows.triangle import Triangle

LEAST_ROWS = 2  # rows, or the sum of their weights, that a fit needs: one value says nothing of a noise variance


def check_design(Phi: Any) -> Any:
    """Phi as a finite float64 matrix, dense or SciPy-sparse; float32 of another library than NumPy stays float32."""
    refuse_masked(Phi, "Phi")
    sparse = hasattr(Phi, "tocsc")
    Phi = canonical(Phi.tocsc()) if sparse else in_memory(Phi)
    require_real(Phi.data if sparse else Phi, "Phi")
    if not sparse:
        Phi = as_floats(own(Phi, "Phi"), "Phi") if is_foreign(Phi) else asfloat64(Phi)
        if Phi.ndim != 2 or 0 in Phi.shape:
            raise ValueError(f"Phi must be a matrix with rows and columns, got shape {tuple(Phi.shape)}.")
    require_finite(Phi, "Phi")
    return Phi


def check_targets(y: Any, n: int, name: str = "y", like: Array | None = None) -> Array:
    """y as n finite float64 values, in the namespace of `like`; a NumPy column vector is taken with a warning."""
    require_targets(y)
    refuse_masked(y, name)
    y = following(in_memory(y), like, name)
    require_real(y, name)
    y = as_vector(y)
    y = asfloat64(y) if is_foreign(y) else _as_numbers(y, name)
    y = y if like is None else asfloat64(y, like=like)
    check_length(y, n, name)
    require_finite(y, name)
    return y


def _as_numbers(y: np.ndarray, name: str) -> np.ndarray:
    """y as float64; ValueError for values that are no numbers."""
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        advice = "; for classes use RelevanceVectorClassifier or SparseBayesClassifier" if name == "y" else ""
        raise ValueError(f"{name} must hold real numbers, got an array of dtype {y.dtype}{advice}.") from error


def _warn_of_column(shape: tuple[int, ...]) -> None:
    """Warn of a column vector that is taken as a vector."""
    warn(
        f"A column-vector y was passed when a 1d array was expected: y has shape {shape}; pass y.ravel().",
        DataConversionWarning,
    )


def has_outputs(y: Any) -> bool:
    """Whether y has two dimensions and more than one column: several outputs."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple):
        shape = np.shape(y)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def check_outputs(y: Any, n: int, like: Array | None = None) -> Array:
    """y as n rows of T > 1 finite float64 values, in the namespace of `like`."""
    refuse_masked(y, "y")
    y = following(in_memory(y), like, "y")
    require_real(y, "y")
    try:
        y = asfloat64(y, like=np.zeros(0) if like is None else like)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold real numbers, got {type(y).__name__} of other values.") from error
    if y.shape[0] != n:
        raise ValueError(f"y must have one row per row of X: X has {n} rows, but y has shape {tuple(y.shape)}.")
    require_finite(y, "y")
    return y


def as_vector(y: Any) -> Array:
    """y as a vector, of NumPy unless it is one of another library; a column vector is taken with a warning."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "fiub":
        return y
    shape = tuple(getattr(y, "shape", ()))
    if len(shape) > 2:
        raise ValueError(f"y should be a 1d array, got an array of shape {shape} instead.")
    if len(shape) == 2 and shape[1] == 1:
        _warn_of_column(shape)
    if is_foreign(y):
        return y[:, 0] if len(shape) == 2 and shape[1] == 1 else y
    # scikit-learn's dispatch asks what has __array__ for its library, which a Categorical of pandas has not
    return column_or_1d(np.asarray(y) if hasattr(y, "__array__") and not hasattr(y, "iloc") else y)


def refuse_masked(x: Any, name: str) -> None:
    """Raise ValueError for masked values."""
    if np.ma.isMaskedArray(x) and np.ma.getmaskarray(x).any():
        masked = int(np.ma.getmaskarray(x).sum())
        raise ValueError(
            f"{name} is a masked array with {masked} masked value(s), but every value is needed: leave out the rows "
            "concerned, or fill them."
        )


def canonical(X: Any) -> Any:
    """A SciPy-sparse matrix without repeated entries and in order; the caller's own is left as it is."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


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
    refuse_masked(sample_weight, "sample_weight")
    given = following(in_memory(sample_weight), like, "sample_weight")
    require_real(given, "sample_weight")
    try:
        weights = asfloat64(given, like=np.zeros(0) if like is None else like)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold real numbers, got {sample_weight!r}.") from error
    xp = namespace(weights)
    weights = xp.full((n,), float(weights), dtype=xp.float64, device=device(weights)) if weights.ndim == 0 else weights
    check_length(weights, n, "sample_weight")
    require_finite(weights, "sample_weight")
    if n and float(xp.min(weights)) < 0:
        raise ValueError(f"sample_weight must not be negative, got {float(xp.min(weights)):g}.")
    if some and not float(xp.max(weights)) > 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def as_counts(weights: Array | None) -> Array | None:
    """Weights as the numbers of times that rows count.

    Weights that sum to less than two rows cannot be counts. They are taken as relative weights, and rescaled so
    that the mean of the positive ones is 1.
    """
    if weights is None:
        return None
    xp = namespace(weights)
    if float(xp.sum(weights)) >= LEAST_ROWS or not float(xp.max(weights)) > 0:
        return weights
    relative = weights / xp.max(weights)
    return relative * (count(relative > 0) / float(xp.sum(relative)))


def check_rows(rows: int, name: str = "X") -> None:
    """Raise ValueError for fewer rows of positive weight than a fit needs."""
    if rows < LEAST_ROWS:
        raise ValueError(f"{name} has {rows} row(s) of positive weight, but at least {LEAST_ROWS} are needed.")


def check_variances(variances: Any, n: int, name: str, like: Array | None = None) -> Array:
    """The known noise variance of each row as n finite float64 values > 0."""
    refuse_masked(variances, name)
    if np.ndim(variances) == 0:
        raise ValueError(
            f"{name} must have one value per row, the known variance of its noise, got {variances!r}; one σ² for "
            "all rows is the parameter noise_variance."
        )
    values = check_targets(variances, n, name, like)
    xp = namespace(values)
    if n and not float(xp.min(values)) > 0:
        row = int(xp.argmin(values))
        raise ValueError(f"{name} must hold variances > 0, got {float(values[row]):g} in row {row}.")
    return values


def constant_of(t: Array, weights: Array | None = None) -> float | None:
    """The value that all targets of positive weight have (of the first output); None if they differ in some output."""
    xp = namespace(t)
    if weights is not None and not bool(xp.all(weights > 0)):
        t = t[weights > 0]
    first = t[:1, ...]
    return float(xp.reshape(first, (-1,))[0]) if bool(xp.all(t == first)) else None


def require_finite(x: Any, name: str, first: int = 0, columns: Any = None) -> None:
    """Raise ValueError for NaN and infinity in an array or a SciPy-sparse matrix, naming the first such value.

    first : the number of the first row.  columns : the names of the columns, if they have any.
    """
    sparse = hasattr(x, "tocoo")
    if all_finite(x.data if sparse else x):
        return
    x = x.tocoo() if sparse else x
    values = x.data if sparse else x
    bad = ~to_numpy(namespace(values).isfinite(values))
    places = np.stack([x.row[bad], x.col[bad]], axis=1) if sparse else np.argwhere(bad)
    order = np.lexsort(places.T[::-1])
    place, value = places[order[0]], to_numpy(values)[bad][order[0]]
    where, found = f"row {first + place[0]}", "NaN" if np.isnan(value) else "infinity"
    if len(place) > 1:
        where += f", column {int(place[1]) if columns is None else str(columns[int(place[1])])!r}"
    fill = name == "X" and found == "NaN"
    advice = ": fill it with sklearn.impute.SimpleImputer or sparsebayes.tables.TableEncoder" if fill else ""
    raise ValueError(f"{name} contains {found} in {where}; every value must be finite{advice}.")


class ChunkCheck:
    """Turns chunks (X, y) or (X, y, sample_weight) into `Chunk`s, all as wide as the first.

    check : (X, whether it is the first) -> X as a finite float64 matrix.
    width : columns of X; None until the first chunk is seen.
    """

    def __init__(self, check: Callable[[Any, bool], Any], width: int | None = None) -> None:
        self.check, self.width = check, width
        self.outputs: int | None = None

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
        targets = check_outputs(y, n, like=like) if has_outputs(y) else check_targets(y, n, like=like)
        self._check_outputs(1 if targets.ndim == 1 else int(targets.shape[1]))
        return Chunk(X.tocsr() if sparse else X, targets, check_weights(weights, n, some=False, like=like))

    def _check_outputs(self, outputs: int) -> None:
        """Raise ValueError unless all chunks have the same number of outputs."""
        self.outputs = outputs if self.outputs is None else self.outputs
        if outputs != self.outputs:
            raise ValueError(f"y must have {self.outputs} columns in every chunk, got {outputs}.")


def sliced_rows(X: Any, y: Any, sample_weight: Any) -> SlicedRows:
    """X on disk, with targets and weights that may be there too, a block of rows at a time."""
    n = X.shape[0]
    if is_on_disk(y):
        if len(y.shape) != 2 or y.shape[0] != n:
            check_length(y, n)
    else:
        y = check_outputs(y, n) if has_outputs(y) else check_targets(y, n)
    if is_on_disk(sample_weight):
        check_length(sample_weight, n, "sample_weight")
    else:
        sample_weight = as_counts(check_weights(sample_weight, n))
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


def read_known_noise(
    X: Any, y: Any, sample_weight: Any, variances: Any, check: ChunkCheck, names: tuple[str, str] = ("X", "variance")
) -> KnownNoiseRows:
    """The statistics of X, an array on disk whose rows have known noise variances.

    names : what the caller calls X and the variances.
    """
    name, which = names
    if not is_too_large(X):
        raise ValueError(
            f"{which} must be None if {name} gives chunks: give {name} as one array, in memory or on disk."
        )
    n = X.shape[0]
    counts = as_counts(check_weights(sample_weight, n))
    counts = np.ones(n) if counts is None else counts
    noise = KnownNoise(check_variances(variances, n, which), counts)
    check_rows(int(np.count_nonzero(counts)), name)
    return KnownNoiseRows(cast(Triangle | RowPasses, read_chunks(X, y, noise.weights, check, name)), noise)
