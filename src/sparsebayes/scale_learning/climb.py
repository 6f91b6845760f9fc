"""The way up from given scales: L-BFGS in θ, within bounds, tied scales together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.settings import ScaleSearchSettings
from sparsebayes.scale_learning.space import ScaleSpace
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.stages import VALUES, staged

IMPOSSIBLE = 1e20  # value for the optimiser if a covariance is not positive definite

Point = tuple[float, np.ndarray]  # L and θ


class Climb:
    """Evaluations of a Gaussian process, and ways up from a θ, as a monitor allows them.

    bounds : the least and the largest θ, (θ, 2).  steps_taken : by all ways up together.
    """

    def __init__(
        self, space: ScaleSpace, bounds: np.ndarray, settings: ScaleSearchSettings, monitor: FitMonitor
    ) -> None:
        self.space, self.bounds, self.settings, self.monitor = space, bounds, settings, monitor
        self.free, self.steps_taken = self._free_directions(), 0

    def maximise(
        self, process: GaussianProcess, theta: np.ndarray, steps: int, bounds: np.ndarray | None = None
    ) -> Point:
        """L and θ after L-BFGS from θ, within bounds; at once if the monitor has ended the search."""
        with staged(self.monitor, "maximise", VALUES) as stage:
            if not stage.finished:
                value, theta = self._maximised(process, theta, steps, bounds)
                stage.finish([value, theta, self.steps_taken, process.evidence.memory])
                return value, theta
        value, theta, self.steps_taken, process.evidence.memory = stage.result
        return value, theta

    def _evaluated(self, process: GaussianProcess, theta: np.ndarray) -> list[Any]:
        """L and its gradient at θ."""
        return self._computed("evaluate", process, lambda: process(theta))

    def value(self, process: GaussianProcess, theta: np.ndarray) -> float:
        """L alone at θ."""
        return self._computed("value", process, lambda: [process.value(theta)])[0]

    def _computed(self, name: str, process: GaussianProcess, compute: Callable[[], Sequence[Any]]) -> list[Any]:
        """The values that are computed, or were before an interruption, with what the evidence remembers since."""
        with staged(self.monitor, name, VALUES) as stage:
            if not stage.finished:
                return stage.finish([*compute(), process.evidence.memory])[:-1]
        *values, process.evidence.memory = stage.result
        return values

    def _free_directions(self) -> np.ndarray:
        """The directions (θ, free) in which θ moves: tied scales move together, everything else by itself."""
        others = [np.asarray([k]) for k in range(len(self.space.now), len(self.bounds))]
        directions = np.zeros((len(self.bounds), len(self.space.groups) + len(others)))
        for column, group in enumerate([*self.space.groups, *others]):
            directions[group, column] = 1.0
        return directions

    def _limits(self, theta: np.ndarray, bounds: np.ndarray) -> np.ndarray:
        """How far θ may move in each free direction, (free, 2)."""
        inside = self.free.T > 0
        low = [float(np.max((bounds[:, 0] - theta)[row])) for row in inside]
        high = [float(np.min((bounds[:, 1] - theta)[row])) for row in inside]
        return np.stack([low, np.maximum(low, high)], axis=1)

    def _maximised(self, process: GaussianProcess, theta: np.ndarray, steps: int, bounds: np.ndarray | None) -> Point:
        """L and θ after L-BFGS, computed now."""
        bounds, total = self.bounds if bounds is None else bounds, process.evidence.total
        limits = self._limits(theta, bounds)
        start = theta + self.free @ np.clip(0.0, limits[:, 0], limits[:, 1])
        limits, (first, first_slope) = self._limits(start, bounds), self._evaluated(process, start)
        if not self.monitor.going:
            return first, start
        level = first if math.isfinite(first) else 0.0

        def downhill(moved: np.ndarray) -> tuple[float, np.ndarray]:
            """Nats per row below the start, which do not depend on the units of the target, and their gradient."""
            at_start = not moved.any()
            value, gradient = (first, first_slope) if at_start else self._evaluated(process, start + self.free @ moved)
            if not math.isfinite(value):
                return IMPOSSIBLE, np.zeros_like(moved)
            return (level - value) / total, -(self.free.T @ gradient) / total

        def report(intermediate_result: Any) -> None:
            """Ends L-BFGS where the monitor says so."""
            self.steps_taken += 1
            noise = math.exp(-(start[-1] + intermediate_result.x[-1])) if process.evidence.n_noise else math.nan
            value = level - float(intermediate_result.fun) * total
            if not self.monitor.search_step(self.steps_taken, value, self.space.bound.n_functions, noise):
                raise StopIteration

        options = {"maxiter": steps, "ftol": self.settings.tol}
        first_move = np.zeros(len(limits))
        found = minimize(
            downhill, first_move, jac=True, method="L-BFGS-B", bounds=limits, options=options, callback=report
        )
        return level - float(found.fun) * total, start + self.free @ found.x
