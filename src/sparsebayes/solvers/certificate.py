"""A certificate: what can be said of the point a solver ended at, whatever way it took.

A coordinate-wise optimum need not be a local maximum of the evidence [SE07, 3.2, against FT02, 3.4.2], so
the joint Hessian is looked at as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.posterior import State
from sparsebayes.solvers.newton import gradient_and_hessian, noise_is_free

GAIN_TOLERANCE = 1e-5  # nats
STEP_TOLERANCE = 1e-4  # in log α
CURVATURE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Certificate:
    """Measured at the solution, on columns of unit norm and a target of unit size.

    theta_outside : largest q² − s outside the model (−∞ where no candidate is left). With a prior other than
        the uniform one a function may stay out although this is positive; `gain_outside` says the same in
        nats and counts the prior.
    gain_outside : largest rise of the objective by adding one function.
    log_alpha_step : largest |log α̂ − log α| inside, α̂ being the best value of that α alone.
    hessian_eigenvalue : largest eigenvalue of the joint Hessian in (log α, log σ²).
    is_local_maximum : whether all three say so, to within rounding.
    """

    theta_outside: float
    gain_outside: float
    log_alpha_step: float
    hessian_eigenvalue: float
    is_local_maximum: bool


def certify(state: State) -> Certificate:
    """Look at the solution from every side."""
    scores = state.scores
    gain = float(np.max(to_numpy(scores.gain)))
    target = to_numpy(state.best_alpha)
    finite = np.isfinite(target)
    step = np.abs(np.log(target[finite] / to_numpy(state.alpha)[finite])).max(initial=0.0)
    step = float(step) if finite.all() else math.inf
    hessian = to_numpy(gradient_and_hessian(state, noise_is_free(state))[1])
    curvature = float(np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[-1])
    settled = gain <= GAIN_TOLERANCE and step <= STEP_TOLERANCE and curvature <= CURVATURE_TOLERANCE
    return Certificate(float(np.max(to_numpy(scores.theta))), gain, step, curvature, bool(settled))
