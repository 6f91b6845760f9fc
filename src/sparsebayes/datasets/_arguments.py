"""What every maker asks of its arguments."""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._checks import is_number


def check_size(n: object, least: int = 1) -> None:
    """Refuse a number of points that is none."""
    if not (isinstance(n, (int, np.integer)) and n >= least):
        raise ValueError(f"n must be an integer >= {least}, got {n!r}.")


def check_scale(scale: float, name: str) -> None:
    """Refuse a size of the noise that is negative or not finite."""
    if not (math.isfinite(scale) and scale >= 0):
        raise ValueError(f"{name} must be a finite number >= 0, got {scale!r}.")


def noise_of(f: np.ndarray, snr: float | None) -> float:
    """σ = std(f)/snr; None stands for no noise."""
    if snr is None:
        return 0.0
    if not is_number(snr) or snr <= 0:
        raise ValueError(f"snr must be a finite number > 0 or None, got {snr!r}.")
    return float(f.std() / snr)
