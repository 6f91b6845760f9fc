"""The ways between libraries and devices, and between types of numbers.

`to_numpy` is the only way to the host, `beside` (with `asfloat64(…, like=…)`) the only way anywhere else. Single
numbers also leave by `float` and `bool`.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np

from sparsebayes._array.kinds import (
    Array,
    are_together,
    converts_silently,
    device,
    is_foreign,
    is_numpy,
    is_strict,
    namespace,
)


def to_numpy(x: Array) -> np.ndarray:
    """A NumPy copy or view of x on the host; a NumPy array as it is."""
    return x if isinstance(x, np.ndarray) else fetched(x)


def fetched(x: Array) -> np.ndarray:
    """An array of any other library as a NumPy array on the host: the one place where data leave a device."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
        return (x if converts_silently(x) else x.to(namespace(x).float32)).numpy()  # NumPy has no bfloat16
    if array_api_compat.is_cupy_array(x):
        return x.get()
    if is_strict(x):  # whose devices only pretend not to be the host
        return np.asarray(x.to_device(namespace(x).Device("CPU_DEVICE")))
    return np.asarray(x)


def beside(x: Any, like: Array) -> Array:
    """x, an array of any library, in the library and on the device of `like`; as it is if it is there."""
    if type(x) is type(like) is np.ndarray:
        return x
    if not is_foreign(like):
        return to_numpy(x) if is_foreign(x) else np.asarray(x)
    if is_foreign(x):
        if are_together(x, like):
            return x
        if namespace(x) is namespace(like):
            return array_api_compat.to_device(x, device(like))
        x = to_numpy(x)
    return namespace(like).asarray(_own_copy(x), device=device(like))


def asfloat64(x: Array, like: Array | None = None) -> Array:
    """x as float64 in the namespace (and on the device) of `like`, of x itself where that is not given."""
    if like is None:
        if not array_api_compat.is_array_api_obj(x):
            return np.asarray(x, dtype=np.float64)
        xp = namespace(x)
        return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)
    if is_foreign(x):
        x = beside(x, like)
        return x if x.dtype == namespace(x).float64 else namespace(x).astype(x, namespace(x).float64)
    xp = namespace(like)
    if xp is not np:
        x = _own_copy(x)
    return xp.asarray(x, dtype=xp.float64, device=device(like))


def _own_copy(x: Any) -> np.ndarray:
    """x as a NumPy array that nobody else changes: torch shares its memory, and takes no strides below zero."""
    return np.array(x)


def index(J: Any, like: Array) -> Array:
    """The integer indices J as an array in the namespace and on the device of `like`."""
    if is_foreign(J):
        return J
    xp = namespace(like)
    return xp.asarray(np.asarray(J, dtype=np.int64), device=device(like))


def gathered(*arrays: Array) -> list[np.ndarray]:
    """Arrays of one library on the host as float64, by one transfer: each transfer waits for all work before it."""
    if all(is_numpy(x) for x in arrays):
        return list(arrays)
    xp = namespace(*arrays)
    flat = to_numpy(xp.concat([xp.astype(xp.reshape(x, (-1,)), xp.float64) for x in arrays]))
    ends = np.cumsum([math.prod(x.shape) for x in arrays])[:-1]
    return [piece.reshape(x.shape) for piece, x in zip(np.split(flat, ends), arrays, strict=True)]


def float_bits(X: Array) -> Array:
    """The 64 bits of every float64 as an integer: unsigned of a NumPy array, signed of another, on its device."""
    if is_numpy(X):
        return np.ascontiguousarray(X, dtype=np.float64).view(np.uint64)
    X, xp = asfloat64(X), namespace(X)
    if array_api_compat.is_torch_array(X) or array_api_compat.is_cupy_array(X) or array_api_compat.is_jax_array(X):
        return (X if array_api_compat.is_jax_array(X) else xp.asarray(X, copy=True)).view(xp.int64)
    # the standard has no way to look at bits: through the host
    return xp.asarray(to_numpy(X).view(np.int64), device=device(X))


def detached(x: Array) -> Array:
    """x without the record of how it was computed, which torch keeps for derivatives."""
    return x.detach() if array_api_compat.is_torch_array(x) else x
