"""A regression with Gaussian noise, from the statistics of its rows to the result in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from sparsebayes._checks import is_number, warn
from sparsebayes.core.fit import result_of
from sparsebayes.core.noise import NOISE_FLOOR, Gaussian, GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Monitor, Solution, Solver
from sparsebayes.core.units import Units
from sparsebayes.solvers.candidates import CandidateScores
from sparsebayes.solvers.certificate import certify
from sparsebayes.solvers.monitor import FitMonitor


class NoiseCollapseWarning(UserWarning):
    """The estimated noise variance fell to its floor: the basis can reproduce the target exactly."""


@dataclass(frozen=True)
class NoiseOptions:
    """What a user says of Gaussian noise, in the user's units.

    likelihood : the specification.  variance : σ² if it is known.  guess : a guess at σ² if it is estimated.
    """

    likelihood: Gaussian
    variance: float | None = None
    guess: float | None = None

    def model(self, units: Units) -> GaussianNoise:
        """The noise in the solver's units."""
        return self.likelihood.noise(units, self.variance)

    def guessed_precision(self, units: Units) -> float | None:
        """The guess as a precision in the solver's units; None if there is none."""
        return None if self.guess is None else units.target_scale**2 / self.guess


def checked_variance(value: Any, name: str) -> float | None:
    """A variance that may be given as a number > 0; None stays None."""
    if value is None:
        return None
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number > 0 or None, got {value!r}.")
    return float(value)


def solve_regression(
    quadratic: Quadratic, units: Units, noise: NoiseOptions, prior: Prior, solver: Solver, monitor: FitMonitor
) -> Result:
    """Solve the problem of the statistics (quadratic, units) and return the solution in the user's units.

    With a guess at the noise variance, functions are first selected with the noise held there.
    """
    prior, monitor = prior.resolve(units.n), monitor.in_units(units)
    problem = Problem(quadratic, prior, noise.model(units), prior.units(units.unit, units.kept))
    guess = noise.guessed_precision(units)
    if guess is None or not problem.noise.estimate:
        return report(solver.solve(problem, monitor), units, monitor)
    held = replace(problem, noise=GaussianNoise(min(guess, problem.noise.beta_max), estimate=False))
    solution = Solution(solver.solve(held, monitor).state.under(problem), False)
    if not monitor.stopped:
        solution = solver.solve(problem, monitor, solution.state)
        # so many functions may have come in that they reproduce t, which those added one by one need not do
        solution = solver.solve(problem, monitor) if solution.state.at_noise_floor else solution
    return report(solution, units, monitor)


def report(solution: Solution, units: Units, monitor: Monitor, certificate: Any = None) -> Result:
    """The solution in the user's units, with certificate, trace and the scores of all candidates."""
    state = solution.state
    return result_of(
        solution,
        units,
        monitor,
        certificate=certify(state) if certificate is None else certificate,
        trace=tuple(getattr(monitor, "trace", ())),
        candidates=CandidateScores.of(state, units.unit, units.kept),
    )


def warn_about(result: Result, monitor: FitMonitor) -> None:
    """Warn of a noise estimate that collapsed, and of iterations that did not suffice."""
    if result.certificate.at_noise_floor:
        warn(
            f"The estimated noise variance fell to its floor, {NOISE_FLOOR:g} of the variance of y: the "
            "basis functions reproduce y almost exactly, and the evidence has no maximum. Give noise_variance "
            "a value, or use prior='bic' or likelihood=Gaussian(prior=(c, d)).",
            NoiseCollapseWarning,
        )
    if not result.converged and not monitor.stopped:
        limit = f"The fit stopped at max_iter={monitor.max_iter} iterations before it converged; raise max_iter or tol."
        warn(monitor.failure or limit, ConvergenceWarning)
