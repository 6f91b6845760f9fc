"""Targets that are all the same: the model is that constant, and has no functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, asfloat64
from sparsebayes._checks import warn
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.certificate import Certificate
from sparsebayes.solvers.monitor import FitMonitor


@dataclass(frozen=True, eq=False)
class ConstantPath:
    """A regression on targets that an intercept (or zero, without one) reproduces exactly.

    value : what every target is.  n : the sum of the row weights.  fit_intercept : whether there is an intercept.
    noise_variance : σ² if it is known. If it is not, it is 0, and the log evidence is infinite.
    like : an array of the namespace that the result is to have.
    """

    value: float
    n: float
    fit_intercept: bool
    noise_variance: float | None
    like: Array
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """The model without functions, with a warning; nothing is solved."""
        known, units = self.noise_variance is not None, Units(self.n, self.fit_intercept)
        sigma2 = self.noise_variance if self.noise_variance is not None else 0.0
        warn(
            f"y is constant (every value is {self.value:g}): the model is that constant and has no functions"
            + ("." if known else ", its noise variance is 0 and its log evidence infinite.")
        )
        evidence = units.offset - 0.5 * units.rows_counted * math.log(2 * math.pi * sigma2) if known else math.inf
        none, whole = asfloat64(np.zeros(0), like=self.like), np.zeros(0, dtype=np.int64)
        spread = sigma2 / self.n if self.fit_intercept else 0.0
        return Result(
            active=whole,
            output=whole,
            mean=none,
            alpha=none,
            gamma=none,
            covariance=asfloat64(np.zeros((0, 0)), like=self.like),
            intercept=asfloat64([self.value], like=self.like),
            centre=none[None, :],
            intercept_covariance=asfloat64([[spread]], like=self.like),
            likelihood=GaussianNoise(1 / sigma2 if known else math.inf, estimate=not known),
            log_evidence=evidence,
            objective=evidence,
            evidence_path=np.asarray([evidence]),
            converged=True,
            certificate=Certificate(-math.inf, 0.0, 0.0, 0.0, -math.inf, is_local_maximum=known, at_noise_floor=False),
        )
