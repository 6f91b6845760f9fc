"""A certificate: what is known of the point at which a solver ended, whichever solver it was.

A coordinate-wise optimum need not be a local maximum of the evidence [SE07, 3.2, against FT02, 3.4.2], so
the joint Hessian is tested as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.core.newton import gradient_and_hessian, noise_gradient, noise_is_free
from sparsebayes.core.posterior import State

GAIN_TOLERANCE = 1e-5  # nats
STEP_TOLERANCE = 1e-4  # in log α
CURVATURE_TOLERANCE = 1e-6
GRADIENT_TOLERANCE = 1e-6  # per row
NO_GAIN = 1e-8  # nats
SLOPE_GAIN = 1e-7  # nats, and of a Hessian by differences:
DIFFERENCE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Certificate:
    """What is known of the point a solver ended at, on columns of unit norm and a target of unit size.

    Attributes
    ----------
    theta_outside : float
        Largest q² − s of the functions not in the model (−∞ if no candidate is left). Under a prior other than
        the uniform one a function may rightly not be selected although this is positive; `gain_outside`
        counts the prior.
    gain_outside : float
        Largest rise of the objective by adding one function, in nats.
    log_alpha_step : float
        Largest |log α̂ − log α| of the active functions, α̂ being the best value of that α alone.
    noise_gradient : float
        Slope of the objective in log(1/σ²); 0 if the noise is given or held at its floor.
    hessian_eigenvalue : float
        Largest eigenvalue of the joint Hessian in (log α, log σ²).
    is_local_maximum : bool
        Whether all of these say so. A step in log α that gains nothing (flat directions of an ill-conditioned
        basis) does not count against it. With a likelihood that is not Gaussian α is tested with the curvature held
        fixed, as it is estimated (with it moving if `polish` is set, or if no such α was found), but
        `gain_outside` counts an addition by what the Laplace evidence gains once the mode is found again: 0 if
        it, or the model with α settled, is not higher.
    at_noise_floor : bool
        Whether the estimated noise is at its floor, where the evidence has no maximum in it.
    starts, agreed : int
        Models that the search for a higher maximum ended in, each from another start, and how many of them have
        the same functions as the solution; 0 if there was no search.
    gap : float
        By how many nats the solution is above the best of the others; ∞ if there are none.
    """

    theta_outside: float
    gain_outside: float
    log_alpha_step: float
    noise_gradient: float
    hessian_eigenvalue: float
    is_local_maximum: bool
    at_noise_floor: bool
    starts: int = 0
    agreed: int = 0
    gap: float = math.inf

    def among(self, modes: Sequence[tuple[float, frozenset[int]]], state: Any) -> Certificate:
        """The certificate with what the search for a higher maximum found.

        Parameters
        ----------
        modes : sequence of (objective, functions)
            The models that the search ended in.
        state : State
            The solution.

        Returns
        -------
        Certificate
            The same solution beside the others.
        """
        functions = frozenset(state.J.tolist())
        others = [objective for objective, chosen in modes if chosen != functions]
        gap = state.objective - max(others, default=-math.inf)
        return replace(self, starts=len(modes), agreed=len(modes) - len(others), gap=gap)

    def counting(self, theta: float, gain: float) -> Certificate:
        """The certificate with further candidates counted in.

        Parameters
        ----------
        theta : float
            Their largest q² − s.
        gain : float
            The largest rise of the objective by adding one of them, in nats.

        Returns
        -------
        Certificate
            The same solution among all candidates.
        """
        return replace(
            self,
            theta_outside=max(self.theta_outside, theta),
            gain_outside=max(self.gain_outside, gain),
            is_local_maximum=self.is_local_maximum and gain <= GAIN_TOLERANCE,
        )

    def with_slopes(self, slope: np.ndarray, hessian: np.ndarray) -> Certificate:
        """The certificate with other derivatives of the objective by log α in place of its own.

        Parameters
        ----------
        slope, hessian : ndarray of shape (S,) and (S, S)
            First and second derivatives.

        Returns
        -------
        Certificate
            The same solution, its step in log α being that of Newton's method.
        """
        values, vectors = np.linalg.eigh(hessian)
        along = vectors.T @ slope
        bent = np.maximum(np.abs(values), CURVATURE_TOLERANCE)
        step, gain = float(np.abs(vectors @ (along / bent)).max(initial=0.0)), 0.5 * float(along @ (along / bent))
        curvature = float(values.max(initial=-math.inf))
        settled = self.gain_outside <= GAIN_TOLERANCE and (step <= STEP_TOLERANCE or gain <= SLOPE_GAIN)
        return replace(
            self,
            log_alpha_step=step,
            hessian_eigenvalue=curvature,
            is_local_maximum=bool(settled and curvature <= DIFFERENCE_TOLERANCE),
        )


def certify(state: Any, gain_outside: float | None = None) -> Certificate:
    """Test whether a solution is a local maximum: additions, single α, the noise, and the joint Hessian.

    Parameters
    ----------
    state : State
        The solution; a state that has a method `certificate` of its own (as closed forms do) supplies it itself.
    gain_outside : float, optional
        What an addition gains, in nats, if it is known better than by its score.

    Returns
    -------
    Certificate
        What is known of it.
    """
    if hasattr(state, "certificate"):
        return state.certificate()
    gain = state.scores.best_gain if gain_outside is None else gain_outside
    step, step_gain = _inside(state)
    free = noise_is_free(state)
    gradient = noise_gradient(state) if free else 0.0
    hessian = to_numpy(gradient_and_hessian(state, free)[1])
    curvature = float(np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[-1])
    settled = gain <= GAIN_TOLERANCE and (step <= STEP_TOLERANCE or step_gain <= NO_GAIN)
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
    """The largest step that a single log α would take, and the most that such a step would gain.

    A function that explains nothing (the one that an empty model is left with) counts as not being there.
    """
    gain = float(np.max(to_numpy(state.reestimate_gain)))
    target, alpha = to_numpy(state.best_alpha), to_numpy(state.alpha)
    silent = ~np.isfinite(target) & (to_numpy(state.gamma) < 1e-6)
    if not np.isfinite(target[~silent]).all():
        return math.inf, gain
    step = np.abs(np.log(target[~silent] / alpha[~silent])).max(initial=0.0)
    return float(step), gain
