"""Checks of arguments that several data sets share, and the generator that they draw from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sparsebayes._checks import is_number

LARGEST_NOISE = 1e300  # a standard deviation whose multiples are still finite


def check_scale(scale: Any, name: str) -> None:
    """Raise ValueError for a size of the noise that is negative or not finite."""
    if not is_number(scale) or scale < 0:
        raise ValueError(f"{name} must be a finite number >= 0, got {scale!r}.")


def noise_of(f: np.ndarray, snr: float | None) -> float:
    """The standard deviation σ = std(f)/snr of the noise; 0 if snr is None."""
    if snr is None:
        return 0.0
    if not is_number(snr) or snr <= 0:
        raise ValueError(f"snr must be a finite number > 0 or None, got {snr!r}.")
    spread = float(f.std())
    if spread > LARGEST_NOISE * float(snr):
        raise ValueError(f"snr must be large enough for the noise to be finite, got {snr!r}.")
    return spread / float(snr)


def generator(random_state: Any) -> np.random.RandomState:
    """The random numbers that a seed stands for; a NumPy Generator is advanced by what is drawn."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)
