"""Parameters of kernels that can be learned: positive numbers, handled in their logarithms.

What is learned are widths and what is like them. Each is a `Learnable` of its kernel, which says how the
parameter grows with the units of X, so that bounds can be found from the distances in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from sparsebayes._array import Array, to_numpy

NARROWEST = 1e-8  # of the largest distance: rows closer than this differ by rounding
SAMPLE = 2000  # rows among which the smallest distance is looked for


@dataclass(frozen=True)
class Learnable:
    """A parameter of a kernel that can be learned.

    name : the attribute of the kernel.
    power : the parameter is proportional to a width to this power: −2 for γ in exp(−γ‖x − z‖²).
    limits : (lowest, highest) value of a parameter without units; None for one whose widths are distances.
    per_input : whether there may be one for each input.
    is_width : whether to change it is to change the width of the functions; a period, for one, is not.
    narrowest : the least width that is worth trying, as a share of the largest distance.
    """

    name: str
    power: float
    limits: tuple[float, float] | None = None
    per_input: bool = True
    is_width: bool = True
    narrowest: float = NARROWEST

    def log_values(self, kernel: Any) -> np.ndarray:
        """The logarithms of what the kernel has now, (1,) or (d,)."""
        return np.log(np.atleast_1d(np.asarray(getattr(kernel, self.name), dtype=np.float64)))

    def names(self, kernel: Any) -> list[str]:
        """A name for each of the numbers: gamma, or gamma[0], gamma[1], …"""
        value = getattr(kernel, self.name)
        return [self.name] if np.ndim(value) == 0 else [f"{self.name}[{k}]" for k in range(len(value))]

    def log_bounds(self, kernel: Any, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Bounds (1 or d, 2) of the logarithms; both are the present value where X says nothing of it."""
        now = self.log_values(kernel)
        if self.limits is not None:
            return np.tile(np.log(self.limits), (len(now), 1))
        shared = np.ndim(getattr(kernel, self.name)) == 0
        smallest, largest = np.asarray([_shared_range(X)] if shared else [_range(x) for x in X.T]).T
        varies = largest > 0
        widest = largest * reach if self.is_width else largest  # what repeats itself does so within the data
        least = np.maximum(smallest, max(self.narrowest, narrowest) * largest)
        widths = np.stack([np.minimum(least, widest), widest], axis=1)
        widths = np.where(varies[:, None], widths, 1.0)
        bounds = np.sort(self.power * np.log(widths), axis=1)
        return np.where(varies[:, None], bounds, now[:, None])


def split(values: Any, sizes: Sequence[int]) -> list[np.ndarray]:
    """values (P,) in pieces of the given sizes, which add up to P."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (sum(sizes),):
        raise ValueError(f"values must be {sum(sizes)} logarithms of scales, got shape {values.shape}")
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []


def as_scale(log_values: np.ndarray, like: Any) -> float | np.ndarray:
    """exp of the logarithms, one number where `like` is one."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(log_values)
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"values must be logarithms of positive finite scales, got {log_values}")
    return float(values[0]) if np.ndim(like) == 0 else values


def on_host(X: Array) -> np.ndarray:
    """X on the host, for distances between its rows; ValueError where it has none."""
    points = to_numpy(X)
    if not len(points):
        raise ValueError("X must have at least one row for bounds of scales, got none")
    return points


def _range(x: np.ndarray) -> tuple[float, float]:
    """The smallest distance but 0, and the largest, among numbers x (n,); 0 and 0 where all are equal."""
    values = np.unique(x)
    if len(values) < 2:
        return 0.0, 0.0
    largest = float(values[-1] - values[0])
    return float(np.diff(values).min()), largest


def _shared_range(X: np.ndarray) -> tuple[float, float]:
    """The same among rows X (n, d) or `SAMPLE` of them; the largest is the diagonal of the box of all."""
    points = np.unique(X, axis=0)
    if len(points) < 2:
        return 0.0, 0.0
    largest = float(np.linalg.norm(np.ptp(points, axis=0)))
    sample = points[:: -(-len(points) // SAMPLE)]  # every second row, third, …
    nearest = float(KDTree(sample).query(sample, k=2)[0][:, 1].min())
    return nearest, largest
