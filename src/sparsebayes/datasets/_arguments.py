"""What every maker asks of its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sparsebayes._checks import is_number, require_whole

LARGEST_NOISE = 1e300  # a standard deviation whose multiples are still finite


def check_size(n: Any, least: int = 1) -> None:
    """Refuse a number of points that is none."""
    require_whole(n, "n", least)


def check_scale(scale: Any, name: str) -> None:
    """Refuse a size of the noise that is negative or not finite."""
    if not is_number(scale) or scale < 0:
        raise ValueError(f"{name} must be a finite number >= 0, got {scale!r}.")


def noise_of(f: np.ndarray, snr: float | None) -> float:
    """σ = std(f)/snr; None stands for no noise."""
    if snr is None:
        return 0.0
    if not is_number(snr) or snr <= 0:
        raise ValueError(f"snr must be a finite number > 0 or None, got {snr!r}.")
    spread = float(f.std())
    if spread > LARGEST_NOISE * float(snr):
        raise ValueError(f"snr must be large enough for the noise to be finite, got {snr!r}.")
    return spread / float(snr)


def generator(random_state: Any) -> np.random.RandomState:
    """What to draw from; a NumPy Generator is advanced by what is drawn."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)
