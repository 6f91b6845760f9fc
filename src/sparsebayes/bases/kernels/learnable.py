"""Parameters of kernels that can be learned: positive numbers, handled in their logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from sparsebayes.bases.contract import Scale
from sparsebayes.bases.kernels.scales import FIXED, Bounds, OneOrEach

NARROWEST = 1e-8  # of the largest distance: rows closer than this differ by rounding
SAMPLE = 2000  # rows among which the smallest distance is searched


@dataclass(frozen=True)
class Learnable:
    """A parameter of a kernel that can be learned.

    It says how the parameter grows with the units of X, so that bounds follow from the distances in the data. If
    the kernel has a parameter `{name}_bounds` as well, that may hold the value fixed or give its bounds.

    Parameters
    ----------
    name : str
        The attribute of the kernel.
    power : float
        The parameter is proportional to a width to this power: −2 for γ in exp(−γ‖x − z‖²).
    limits : tuple of float, optional
        Lowest and highest value of a parameter without units; by default the widths are distances in X.
    per_input : bool
        Whether there may be one number per input.
    is_width : bool
        Whether a change of the parameter changes the width of the functions; that of a period does not.
    narrowest : float
        The least width that is tried, as a share of the largest distance.
    from_data : bool
        Whether "scale" and "auto" are accepted: 1/(d Var(X)) and 1/d.
    """

    name: str
    power: float
    limits: tuple[float, float] | None = None
    per_input: bool = True
    is_width: bool = True
    narrowest: float = NARROWEST
    from_data: bool = False

    def bounds(self, kernel: Any) -> Bounds:
        """What the kernel says of the bounds of this parameter: None, "fixed" or two numbers."""
        return getattr(kernel, f"{self.name}_bounds", None)

    def is_free(self, kernel: Any) -> bool:
        """Whether the parameter of this kernel may be changed when scales are learned."""
        bounds = self.bounds(kernel)
        return not (isinstance(bounds, str) and bounds == FIXED)

    def scales(self, kernel: Any) -> list[Scale]:
        """The one number that the kernel has, or one number per input; none if it is held fixed."""
        if not self.is_free(kernel):
            return []
        values = getattr(kernel, self.name)
        shared, logs = np.ndim(values) == 0, self._logs(values).tolist()
        names = [self.name] if shared else [f"{self.name}[{k}]" for k in range(len(logs))]
        kind = (self.per_input and not shared, self.power * self.is_width)
        return [Scale(name, log, *kind, self.name) for name, log in zip(names, logs, strict=True)]

    def log_bounds(self, kernel: Any, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Bounds (1 or d, 2) of the logarithms, none of a fixed parameter.

        They are those that the kernel has been given; else they follow from the distances in X, and both are the
        present value where X does not vary.
        """
        if not self.is_free(kernel):
            return np.zeros((0, 2))
        values, given = getattr(kernel, self.name), self.bounds(kernel)
        now, shared = self._logs(values), np.ndim(values) == 0
        limits = self.limits if given is None else given
        if limits is not None:
            return np.tile(np.log(limits), (len(now), 1))
        smallest, largest = np.asarray([distance_range(X)] if shared else [_range(x) for x in X.T]).T
        varies = largest > 0
        widest = largest * reach if self.is_width else largest  # a period is no longer than the data
        least = np.maximum(smallest, max(self.narrowest, narrowest) * largest)
        widths = np.stack([np.minimum(least, widest), widest], axis=1)
        widths = np.where(varies[:, None], widths, 1.0)
        bounds = np.sort(self.power * np.log(widths), axis=1)
        return np.where(varies[:, None], bounds, now[:, None])

    @staticmethod
    def _logs(values: OneOrEach) -> np.ndarray:
        return np.log(np.atleast_1d(np.asarray(values, dtype=np.float64)))


def exp_like(log_values: np.ndarray, like: OneOrEach) -> OneOrEach:
    """exp of the logarithms: one number if `like` is one, else an array."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(log_values)
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"values must be logarithms of positive finite scales, got {log_values}.")
    return float(values[0]) if np.ndim(like) == 0 else values


def _range(x: np.ndarray) -> tuple[float, float]:
    """The smallest distance but 0, and the largest, among numbers x (n,); 0 and 0 if all are equal."""
    values = np.unique(x)
    if len(values) < 2:
        return 0.0, 0.0
    return float(np.diff(values).min()), float(values[-1] - values[0])


def distance_range(X: np.ndarray) -> tuple[float, float]:
    """The smallest distance among `SAMPLE` of the rows X (n, d), and the diagonal of the box of all rows."""
    points = np.unique(X, axis=0)
    if len(points) < 2:
        return 0.0, 0.0
    largest = float(np.linalg.norm(np.ptp(points, axis=0)))
    sample = points[:: -(-len(points) // SAMPLE)]  # every second row, third, …
    nearest = float(KDTree(sample).query(sample, k=2)[0][:, 1].min())
    return nearest, largest
