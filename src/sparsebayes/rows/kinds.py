"""Which library computes, and how the arguments of a fit come together: everything follows X.

An array of another library than NumPy stays what it is with scikit-learn's `array_api_dispatch=True`, and wherever
NumPy could not read it without being told to: on a GPU. Else it becomes a NumPy array, as in scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config

from sparsebayes._array import (
    Array,
    beside,
    converts_silently,
    described,
    detached,
    has_elements,
    has_float64,
    is_foreign,
    namespace,
    on_accelerator,
    to_numpy,
)


def dispatches() -> bool:
    """Whether scikit-learn is set to compute with arrays in their own library."""
    return bool(get_config()["array_api_dispatch"])


def follows(X: Any) -> bool:
    """Whether an estimator computes with X in the library and on the device that X has."""
    if type(X) is np.ndarray or not is_foreign(X):
        return False
    return dispatches() or not converts_silently(X)


def in_its_kind(X: Any) -> Any:
    """X as an estimator computes with it: an array of another library as it is, or as a NumPy array."""
    if not is_foreign(X):
        return X
    return own(X, "X") if follows(X) else to_numpy(X)


def own(X: Array, name: str) -> Array:
    """An array of another library to compute with; TypeError if there is no float64 for the results."""
    _require_elements(X, name)
    if not has_float64(X):
        raise TypeError(
            f"{name} is {described(X)}, which has no float64, but the results are float64: with JAX call "
            'jax.config.update("jax_enable_x64", True), and on other devices pass a NumPy array.'
        )
    return detached(X)


def _require_elements(x: Array, name: str) -> None:
    """Raise TypeError for an array of another library whose elements cannot be read."""
    if not has_elements(x):
        raise TypeError(
            f"{name} must be a dense array that holds its values, got a tensor of torch of layout {x.layout} on "
            f"{x.device}: pass a dense tensor, or a NumPy array."
        )


def following(values: Any, like: Array | None, name: str) -> Any:
    """An argument beside X, which `like` stands for (None on the host); TypeError if it would take a silent copy.

    Whatever is no array of another library comes back as it is.
    """
    if type(values) is np.ndarray or not is_foreign(values):
        return values
    _require_elements(values, name)
    if like is not None and is_foreign(like):
        return beside(detached(values), like)
    if dispatches() or converts_silently(values) or not on_accelerator(values):
        return to_numpy(values)
    raise TypeError(
        f"{name} is {described(values)}, but X is on the host: give both in the same library and on the same device, "
        "or set sklearn.set_config(array_api_dispatch=True), with which everything follows X."
    )


def as_floats(X: Array, name: str) -> Array:
    """An array of another library as real floating point numbers: float32 and float64 as they are, else float64."""
    xp = namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"Complex data not supported: {name} must hold real numbers, got dtype {X.dtype}.")
    return X if X.dtype in (xp.float32, xp.float64) else xp.astype(X, xp.float64)
