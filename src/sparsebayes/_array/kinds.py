"""What an array is: its library, its device, whether that computes with many rows at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

Array = Any  # an array of any namespace that follows the array API standard
Indices = Sequence[int] | np.ndarray  # which functions (or positions): bookkeeping, always on the host

DEVICE_BLOCK = 1 << 25  # elements that a GPU works on together: few enough for its memory, many enough to be busy


def namespace(*arrays: Array) -> Any:
    """The array namespace the arguments share. NumPy 2 follows the standard itself and needs no wrapper."""
    if all(isinstance(x, np.ndarray) for x in arrays):
        return np
    return array_api_compat.array_namespace(*arrays)


def is_numpy(x: Array) -> bool:
    """Whether x is a NumPy array: the one that can be worked on in place by SciPy's LAPACK."""
    return isinstance(x, np.ndarray)


def is_foreign(x: Any) -> bool:
    """Whether x is an array in memory, or on a device, of another library than NumPy that follows the standard."""
    if isinstance(x, np.ndarray | np.generic) or not array_api_compat.is_array_api_obj(x):
        return False
    return not array_api_compat.is_dask_array(x)


def is_strict(x: Any) -> bool:
    """Whether x is an array of array-api-strict, which stands for any other library in tests."""
    return array_api_compat.is_array_api_obj(x) and array_api_compat.is_array_api_strict_namespace(namespace(x))


def device(x: Array) -> Any:
    """The device x lives on."""
    return array_api_compat.device(x)


def on_accelerator(x: Array) -> bool:
    """Whether x is on a GPU or the like, where many small operations cost more than few large ones."""
    if is_numpy(x):
        return False
    if array_api_compat.is_torch_array(x):
        return x.device.type != "cpu"
    if array_api_compat.is_jax_array(x):
        return any(place.platform != "cpu" for place in x.devices())
    if is_strict(x):
        return device(x) != namespace(x).Device("CPU_DEVICE")
    return array_api_compat.is_cupy_array(x)


def together(elements: int, like: Array) -> int:
    """How many elements are worked on together: those given for the cache of a host, many more on a GPU."""
    return max(elements, DEVICE_BLOCK) if on_accelerator(like) else elements


def are_together(x: Array, like: Array) -> bool:
    """Whether two arrays belong to one library and lie on one device."""
    if is_numpy(x) or is_numpy(like):
        return is_numpy(x) and is_numpy(like)
    return namespace(x) is namespace(like) and device(x) == device(like)


def converts_silently(x: Any) -> bool:
    """Whether NumPy can read x, an array of any library, without being told to: not from most devices."""
    try:
        np.asarray(x[(slice(0, 0),) * x.ndim])
    except (TypeError, RuntimeError, ValueError):  # every library raises a class of its own here
        return False
    return True


def has_float64(x: Array) -> bool:
    """Whether the library and the device of x have float64: JAX has it if told so, some devices never."""
    xp = namespace(x)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return xp.zeros((1,), dtype=xp.float64, device=device(x)).dtype == xp.float64
    except (TypeError, RuntimeError, ValueError):
        return False


def described(x: Any) -> str:
    """The library and the device of an array, for errors."""
    if not is_foreign(x):
        return "a NumPy array on the host"
    library = "JAX" if array_api_compat.is_jax_array(x) else namespace(x).__name__.rpartition(".")[2]
    return f"an array of {library} on {device(x)}"


def has_elements(x: Array) -> bool:
    """Whether the elements of x can be read: not those of sparse tensors of torch, nor of those on its device meta."""
    return not array_api_compat.is_torch_array(x) or (str(x.layout) == "torch.strided" and not x.is_meta)


def is_complex(x: Any) -> bool:
    """Whether x, an array or a sequence of numbers, is complex."""
    if array_api_compat.is_array_api_obj(x):
        return bool(namespace(x).isdtype(x.dtype, "complex floating"))
    return np.asarray(x).dtype.kind == "c"


def require_real(x: Any, name: str) -> None:
    """Refuse complex values, whose imaginary part would be dropped."""
    if is_complex(x):
        raise ValueError(f"{name} must hold real numbers, got complex ones.")
