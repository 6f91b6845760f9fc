"""Parameters of kernels that can be learned: positive numbers, handled in their logarithms.

What is learned are widths and what is like them. Each is a `Learnable` of its kernel, which says how the
parameter grows with the units of X, so that bounds can be found from the distances in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator

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


class HasScales(BaseEstimator):
    """A specification whose parameters `learnable` can be learned, once they are numbers."""

    learnable: ClassVar[tuple[Learnable, ...]] = ()

    @property
    def log_scales(self) -> np.ndarray:
        """log η (P,), the logarithms of the parameters that can be learned."""
        return np.concatenate([np.zeros(0), *(each.log_values(self) for each in self.learnable)])

    @property
    def scale_names(self) -> tuple[str, ...]:
        """A name for each of them."""
        return tuple(name for each in self.learnable for name in each.names(self))

    @property
    def width_powers(self) -> np.ndarray:
        """ρ (P,): at c times the width of the functions η_p is c^ρ_p times as large."""
        powers = ((each.log_values(self), each.power * each.is_width) for each in self.learnable)
        return np.concatenate([np.zeros(0), *(np.full(len(values), power) for values, power in powers)])

    def with_log_scales(self, values: Any) -> Self:
        """The same with other values = log η (P,)."""
        now = {each.name: getattr(self, each.name) for each in self.learnable}
        pieces = split(values, [np.size(value) for value in now.values()])
        changed = {name: _as_scale(new, now[name]) for name, new in zip(now, pieces, strict=True)}
        return type(self)(**(self.get_params(deep=False) | changed))

    def with_scale_per_input(self, d: int) -> Self:
        """The same with one number for each of d inputs in place of one for all."""
        names = [each.name for each in self.learnable if each.per_input]
        changed = {name: np.full(d, 1.0) * getattr(self, name) for name in names}
        return type(self)(**(self.get_params(deep=False) | changed))

    def log_scale_bounds(self, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Bounds (P, 2) of log η from the distances between the rows of X."""
        bounds = (each.log_bounds(self, X, reach, narrowest) for each in self.learnable)
        return np.concatenate([np.zeros((0, 2)), *bounds])


def split(values: Any, sizes: Sequence[int]) -> list[np.ndarray]:
    """values (P,) in pieces of the given sizes, which add up to P."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (sum(sizes),):
        raise ValueError(f"values must be {sum(sizes)} logarithms of scales, got shape {values.shape}")
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []


def _as_scale(log_values: np.ndarray, like: Any) -> float | np.ndarray:
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
