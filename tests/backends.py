"""The array libraries that tests run with, on the device of the option --device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

BACKENDS = ["numpy", "array-api-strict", "torch", "jax", "cupy"]


@dataclass(frozen=True)
class Backend:
    """One array library.

    name : its name.  asarray : makes an array of it, on the device of the tests, with the dtype of a NumPy array.
    array_type : the class of its arrays.  device : "cpu" or "cuda".
    """

    name: str
    asarray: Callable[[Any], Any]
    array_type: type
    device: str

    @property
    def is_read_by_numpy(self) -> bool:
        """Whether NumPy reads these arrays without being told to: JAX's from a GPU as well, torch's from the host."""
        return self.name in ("numpy", "jax") or (self.name == "torch" and self.device == "cpu")

    def is_own(self, x: Any) -> bool:
        """Whether x is an array of this library, on the device of the tests."""
        if not isinstance(x, self.array_type):
            return False
        if self.name == "array-api-strict":
            return x.device == self.asarray(0.0).device
        return self.name != "torch" or x.device.type == self.device


def backend_of(name: str, device: str) -> Backend:
    """The array library of that name; the test is skipped if it is not installed or has no such device."""
    if device == "cuda" and name in ("numpy", "array-api-strict"):
        pytest.skip(f"{name} has no arrays on a GPU")
    if device == "cpu" and name == "cupy":
        pytest.skip("CuPy has no arrays on a CPU")
    if name == "numpy":
        return Backend(name, np.asarray, np.ndarray, device)
    if name == "array-api-strict":
        strict = pytest.importorskip("array_api_strict")
        elsewhere = strict.Device("device1")  # as on a GPU: conversions to NumPy raise, as do mixtures with the host
        return Backend(
            name, lambda x: strict.asarray(np.asarray(x), device=elsewhere), type(strict.asarray(0.0)), device
        )
    if name == "torch":
        torch = pytest.importorskip("torch")
        return Backend(name, lambda x: torch.as_tensor(np.asarray(x), device=device), torch.Tensor, device)
    if name == "jax":
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        place = jax.devices(device)[0]
        return Backend(name, lambda x: jax.device_put(np.asarray(x), place), jax.Array, device)
    cupy = pytest.importorskip("cupy")
    return Backend(name, cupy.asarray, cupy.ndarray, device)
