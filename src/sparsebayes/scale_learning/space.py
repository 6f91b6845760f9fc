"""The scales that a search moves: their bounds, and what a width means for them.

Scales that belong to single inputs are either free, or tied: then they keep their ratios, and all widths grow together.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import KDTree

from sparsebayes.bases import BoundBasis
from sparsebayes.bases.kernels.learnable import NARROWEST, SAMPLE, distance_range


class ScaleSpace:
    """The log scales log η (P,) of a basis at rows X.

    Parameters
    ----------
    bound : BoundBasis
        The functions. Tied scales keep the ratios that they have in it.
    X : ndarray of shape (N, d)
        The rows, whose distances bound the widths.
    tied : bool
        Whether the scales of the inputs that belong to one parameter move together.

    Attributes
    ----------
    groups : list of ndarray of int
        The scales that move together; each scale is in one group.
    tied : ndarray of bool, shape (P,)
        Whether a scale moves together with others.
    """

    def __init__(self, bound: BoundBasis, X: np.ndarray, tied: bool) -> None:
        self.bound, self.X, self.now, self.scales = bound, X, bound.log_scales, bound.scales
        keys = [each.parameter if tied and each.per_input else each.name for each in self.scales]
        self.groups = [np.flatnonzero([key == each for each in keys]) for key in dict.fromkeys(keys)]
        self.tied = np.asarray([tied and each.per_input for each in self.scales], dtype=bool)
        self._own: dict[float, np.ndarray] = {}  # distances among many rows take time
        self._distances: dict[int, tuple[float, float]] = {}

    def bounds(self, reach: float) -> np.ndarray:
        """The lowest and the highest log η (P, 2): widths from the smallest distance to `reach` times the largest."""
        bounds, further = self._own_bounds(reach).copy(), self._own_bounds(2 * reach)
        for group in self.groups:
            power = self.scales[group[0]].width_power
            if self.tied[group[0]] and power and not np.array_equal(bounds[group], further[group]):
                bounds[group] = self._of_tied(group, power, reach)
        return bounds

    def _own_bounds(self, reach: float) -> np.ndarray:
        """Bounds of scales that move one by one."""
        if reach not in self._own:
            self._own[reach] = self.bound.log_scale_bounds(self.X, reach)
        return self._own[reach]

    def _of_tied(self, group: np.ndarray, power: float, reach: float) -> np.ndarray:
        """Bounds of scales that move together: distances are in units of the widths that the functions have now."""
        first = int(group[0])
        if first not in self._distances:
            self._distances[first] = distance_range(self.X / np.exp(self.now[group] / power))
        smallest, largest = self._distances[first]
        if not largest > 0:
            return np.tile(self.now[group][:, None], 2)
        widths = np.asarray([max(smallest, NARROWEST * largest), reach * largest])
        return self.now[group][:, None] + np.sort(power * np.log(widths))[None, :]

    def as_wide_as(self, reach: float) -> np.ndarray:
        """log η of functions `reach` times the largest distance wide; scales that are no width stay."""
        at, beyond = self.bounds(reach), self.bounds(2 * reach)
        moves = np.abs(beyond - at) > 1e-9
        width = np.where(moves[:, 0], at[:, 0], at[:, 1])
        return np.where(moves.any(axis=1), width, self.now)

    def start(self, width: float) -> np.ndarray:
        """log η of functions `width` times half the diagonal of the data wide; scales that are no width stay."""
        inputs = max(int(np.count_nonzero(np.ptp(self.X, axis=0))), 1)  # a constant is none
        each = self.as_wide_as(0.5 * width * math.sqrt(inputs))
        return np.where(self.bound.scale_per_input & ~self.tied, each, self.as_wide_as(0.5 * width))

    def narrowest(self) -> float:
        """The median distance of a row to its nearest neighbour, in units of half the diagonal of the data.

        Functions that are narrower than that do not connect the rows.
        """
        units = np.where(np.ptp(self.X, axis=0) > 0, self.X.std(axis=0), 1.0)
        points = np.unique(self.X / units, axis=0)
        if len(points) < 2:
            return 1.0
        nearest = KDTree(points).query(points[:: -(-len(points) // SAMPLE)], k=2)[0][:, 1]
        return float(2 * np.median(nearest) / np.linalg.norm(np.ptp(points, axis=0)))
