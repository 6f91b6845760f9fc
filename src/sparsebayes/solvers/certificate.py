"""A certificate: what can be said of the point a solver ended at, whatever way it took.

A coordinate-wise optimum need not be a local maximum of the evidence [SE07, 3.2, against FT02, 3.4.2], so
the joint Hessian is looked at as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.posterior import State
from sparsebayes.solvers.newton import gradient_and_hessian, noise_gradient, noise_is_free

GAIN_TOLERANCE = 1e-5  # nats
STEP_TOLERANCE = 1e-4  # in log α
CURVATURE_TOLERANCE = 1e-6
GRADIENT_TOLERANCE = 1e-6  # per row
WORTHLESS = 1e-8  # nats


@dataclass(frozen=True)
class Certificate:
    """Measured at the solution, on columns of unit norm and a target of unit size.

    theta_outside : largest q² − s outside the model (−∞ where no candidate is left). With a prior other than
        the uniform one a function may stay out although this is positive; `gain_outside` says the same in
        nats and counts the prior.
    gain_outside : largest rise of the objective by adding one function.
    log_alpha_step : largest |log α̂ − log α| inside, α̂ being the best value of that α alone.
    noise_gradient : slope of the objective in log(1/σ²); 0 where the noise is given or held at its floor.
    hessian_eigenvalue : largest eigenvalue of the joint Hessian in (log α, log σ²).
    is_local_maximum : whether all of these say so. A step in log α that is worth nothing (flat directions of
        an ill-conditioned basis) does not count against it.
    at_noise_floor : whether the estimated noise sits at its floor, where the evidence has no maximum in it.
    """

    theta_outside: float
    gain_outside: float
    log_alpha_step: float
    noise_gradient: float
    hessian_eigenvalue: float
    is_local_maximum: bool
    at_noise_floor: bool

    def counting(self, theta: float, gain: float) -> Certificate:
        """With candidates counted in that the state knew nothing of: their largest q² − s and gain."""
        gain = max(self.gain_outside, gain)
        return replace(
            self,
            theta_outside=max(self.theta_outside, theta),
            gain_outside=gain,
            is_local_maximum=self.is_local_maximum and gain <= GAIN_TOLERANCE,
        )


def certify(state: State) -> Certificate:
    """Look at the solution from every side."""
    gain = state.scores.best_gain
    step, worth = _inside(state)
    free = noise_is_free(state)
    gradient = noise_gradient(state) if free else 0.0
    hessian = to_numpy(gradient_and_hessian(state, free)[1])
    curvature = float(np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[-1])
    settled = gain <= GAIN_TOLERANCE and (step <= STEP_TOLERANCE or worth <= WORTHLESS)
    settled = settled and abs(gradient) <= GRADIENT_TOLERANCE * state.problem.quadratic.n
    return Certificate(
        theta_outside=float(np.max(to_numpy(state.scores.theta))),
        gain_outside=gain,
        log_alpha_step=step,
        noise_gradient=gradient,
        hessian_eigenvalue=curvature,
        is_local_maximum=bool(settled and curvature <= CURVATURE_TOLERANCE),
        at_noise_floor=bool(state.problem.noise.estimate and not free),
    )


def _inside(state: State) -> tuple[float, float]:
    """The largest step a single log α would take, and the most such a step would gain.

    A function that explains nothing (the one an empty model is left with) counts as being out.
    """
    worth = float(np.max(to_numpy(state.rise)))
    target, alpha = to_numpy(state.best_alpha), to_numpy(state.alpha)
    silent = ~np.isfinite(target) & (to_numpy(state.gamma) < 1e-6)
    if not np.isfinite(target[~silent]).all():
        return math.inf, worth
    step = np.abs(np.log(target[~silent] / alpha[~silent])).max(initial=0.0)
    return float(step), worth
