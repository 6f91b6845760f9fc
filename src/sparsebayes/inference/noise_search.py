"""Noise p(ε) ∝ exp(−|ε/s|^p) by the Laplace evidence: σ² and p at given α, the weights at their mode.

L-BFGS in (log σ², p), which hardly depend on each other; s and p do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.inference.laplace import LaplaceFit, Mode
from sparsebayes.likelihoods import GAUSSIAN, LARGEST_SHAPE, GeneralizedNormal

REACH = 3.0  # how far log σ² may move in one search
FLATNESS = 1e-6  # nats the last step may gain
DIFFERENCE = 1e-5  # in log σ² and p, of the slopes
AT_FLOOR = 1e-3  # relative: how near its floor an estimated σ² counts as being there
IMPOSSIBLE = 1e20  # what the optimiser is told of noise under which there is no mode

FitUnder = Callable[[GeneralizedNormal], LaplaceFit]


@dataclass(frozen=True)
class NoiseSearch:
    """What is to be estimated of the noise.

    variance, shape : whether σ² and p are to be.  floor, ceiling : the least and the largest σ² that may be
        found, unless the search starts beyond it and finds nothing better. With an intercept, and fewer rows
        than p/2, the Laplace evidence grows with σ² without end.
    """

    variance: bool
    shape: bool
    floor: float
    ceiling: float

    def at_floor(self, noise: GeneralizedNormal) -> bool:
        """Whether an estimated σ² is at its floor."""
        return self.variance and noise.variance <= self.floor * (1 + AT_FLOOR)

    def best(
        self, fit_under: FitUnder, mode: Mode, noise: GeneralizedNormal
    ) -> tuple[GeneralizedNormal, Mode]:
        """The noise of the highest evidence at the α of a mode, from `noise`, and the mode there."""

        def mode_under(noise: GeneralizedNormal) -> Mode:
            return fit_under(noise).find_mode(mode.J, mode.alpha, mode.w, mode.b)

        first = mode_under(noise)
        free, here = np.asarray([self.variance, self.shape]), math.log(noise.variance)
        if not free.any():
            return noise, first

        def noise_at(x: np.ndarray) -> GeneralizedNormal:
            values = np.asarray([here, noise.shape])
            values[free] = x
            log_variance, shape = values.tolist()
            return GeneralizedNormal.of_variance(shape, math.exp(log_variance))

        def downhill(x: np.ndarray) -> float:
            try:
                trial = mode_under(noise_at(x))
            except NotPositiveDefinite:
                return IMPOSSIBLE
            return first.objective - trial.objective if trial.reached else IMPOSSIBLE

        variances = np.clip([here - REACH, here + REACH], math.log(self.floor), math.log(self.ceiling))
        bounds = np.asarray([variances, (GAUSSIAN, LARGEST_SHAPE)])[free]
        start = np.clip(np.asarray([here, noise.shape])[free], bounds[:, 0], bounds[:, 1])
        options = {"ftol": FLATNESS, "eps": DIFFERENCE}
        found = minimize(downhill, start, method="L-BFGS-B", bounds=bounds, options=options)
        if not found.fun < 0:
            return noise, first
        return noise_at(found.x), mode_under(noise_at(found.x))
