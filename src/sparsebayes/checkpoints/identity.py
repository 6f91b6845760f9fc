"""What a fit is of: digests of its data and parameters, the same in every process."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import array_api_compat
import numpy as np
import scipy.sparse

from sparsebayes._array import to_numpy

SIZE = 16  # bytes of a digest
DEEPEST = 12  # objects within objects that are looked into


def digest(value: Any) -> str:
    """A short text that differs if the value differs: of arrays by their elements, of objects by their parameters."""
    found = hashlib.blake2b(digest_size=SIZE)
    _add(found, value, 0)
    return found.hexdigest()


def _add(found: Any, value: Any, depth: int) -> None:
    """Add a value to a digest."""
    value = value.item() if isinstance(value, np.bool_ | np.integer | np.float64) else value
    if depth > DEEPEST:
        found.update(b"deep")
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        found.update(f"{type(value).__name__}:{value!r};".encode())
    elif scipy.sparse.issparse(value):
        rows = scipy.sparse.csr_array(value)
        rows.sum_duplicates()
        _add(found, [str(rows.shape), rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)], depth)
    elif array_api_compat.is_array_api_obj(value) or isinstance(value, np.ndarray):
        _add_array(found, np.asarray(to_numpy(value)), depth)
    elif isinstance(value, dict):
        _add(found, sorted((str(name), digest(each)) for name, each in value.items()), depth + 1)
    elif isinstance(value, list | tuple | range):
        found.update(f"{len(value)}[".encode())
        for each in value:
            _add(found, each, depth + 1)
    elif isinstance(value, set | frozenset):
        _add(found, sorted(map(digest, value)), depth + 1)
    else:
        _add_object(found, value, depth)


def _add_array(found: Any, value: np.ndarray, depth: int) -> None:
    found.update(f"{value.dtype.str}{value.shape}".encode())
    if value.dtype.hasobject:
        _add(found, value.ravel().tolist(), depth + 1)
    else:
        found.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)


def _add_object(found: Any, value: Any, depth: int) -> None:
    """Add an object by its class and its parameters; a function by its name."""
    named = value if hasattr(value, "__qualname__") else type(value)
    found.update(f"{named.__module__}.{named.__qualname__}(".encode())
    if named is value or isinstance(value, np.random.RandomState | np.random.Generator):
        return  # the state of a generator moves on; that of the fit is in its checkpoint
    if hasattr(value, "get_params"):
        _add(found, value.get_params(deep=False), depth + 1)
    elif is_dataclass(value):
        _add(found, {field.name: getattr(value, field.name) for field in fields(value)}, depth + 1)
    elif hasattr(value, "__dict__"):
        _add(found, {name: each for name, each in vars(value).items() if not name.startswith("_")}, depth + 1)
