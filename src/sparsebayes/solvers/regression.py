"""A regression with Gaussian noise, from the statistics of its rows to the result in the user's units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import _array as xa
from sparsebayes._checks import is_number, warn
from sparsebayes._threads import few_threads
from sparsebayes.core.fit import result_of
from sparsebayes.core.noise import NOISE_FLOOR, Gaussian, GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Monitor, Solution, Solver
from sparsebayes.core.units import Units
from sparsebayes.priors import alternatives, subset_evidence
from sparsebayes.solvers.candidates import CandidateScores
from sparsebayes.solvers.certificate import certify
from sparsebayes.solvers.monitor import FitMonitor, SparsityWarning
from sparsebayes.solvers.sized import unlimited
from sparsebayes.solvers.stages import Models, once

FEW_ROWS, NOT_SPARSE = 20, 0.8  # from so many rows on, a model with more than this share of them is not sparse
LEAST_NOISE = 1e-25  # of the mean square of the target: below it rounding alone is larger
MISFIT = 1000.0  # how many times the given noise variance the residuals may have


class NoiseCollapseWarning(UserWarning):
    """The estimated noise variance fell to its floor: the basis can reproduce the target exactly."""


@dataclass(frozen=True)
class NoiseOptions:
    """What a user says of Gaussian noise, in the user's units.

    likelihood : the specification.  variance : σ² if it is known, of several outputs maybe one each.
    guess : a guess at σ² if it is estimated.
    """

    likelihood: Gaussian
    variance: Any = None
    guess: float | None = None

    def model(self, units: Units) -> GaussianNoise:
        """The noise in the solver's units; ValueError for a noise variance far below the rounding of y."""
        if self.variance is not None and self.variance < LEAST_NOISE * units.target_scale**2:
            raise ValueError(
                f"noise_variance={self.variance:g} is too small beside y, whose mean square about its mean is "
                f"{units.target_scale**2:.3g}: give a value above {LEAST_NOISE * units.target_scale**2:.1g}, or None."
            )
        return self.likelihood.noise(units, self.variance)

    def model_from_guess(self, units: Units) -> GaussianNoise:
        """The noise in the solver's units, an estimate of it starting from the guess if there is one."""
        noise, beta = self.model(units), self.guessed_precision(units)
        return noise if beta is None or not noise.estimate else replace(noise, beta=min(beta, noise.beta_max))

    def per_output(self, outputs: int) -> NoiseOptions:
        """The options of an objective that is divided by the number of outputs: a prior on the noise counts once."""
        if self.likelihood.prior is None or outputs == 1:
            return self
        c, d = self.likelihood.prior
        return replace(self, likelihood=Gaussian((c / outputs, d / outputs), self.likelihood.variance))

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
    """Solve the problem of the statistics (quadratic, units) and return the solution in the user's units."""
    monitor = monitor.in_units(units)
    identify_statistics(monitor, quadratic, units)
    known = noise.model(units)
    problems = [
        Problem(quadratic, each, known, each.units(units.unit, units.kept)) for each in alternatives(prior, units.n)
    ]
    return report(solve_best(problems, units, noise, solver, monitor)[0], units, monitor)


def solve_best(
    problems: list[Problem], units: Units, noise: NoiseOptions, solver: Solver, monitor: FitMonitor
) -> tuple[Solution, int]:
    """The solution of the problem that the data speak for, and the number of that: those under several priors.

    Its model has the highest evidence, less log C(M, k) for the choice of its functions (`priors.Automatic`).
    """
    if len(problems) == 1:
        return solve_problem(problems[0], units, noise, solver, monitor), 0
    trials: list[tuple[Solution, FitMonitor]] = []
    for problem in problems:
        if monitor.stopped:
            break
        own = monitor.trial()
        trials.append((solve_problem(problem, units, noise, solver, own), own))
        monitor.stopped = own.stopped
    heights = [
        subset_evidence(monitor.outputs * solution.state.evidence, solution.state.size, problem.size)
        for (solution, _), problem in zip(trials, problems, strict=False)
    ]
    best = int(np.argmax(heights))
    monitor.follow(trials[best][1])
    return trials[best][0], best


def identify_statistics(monitor: FitMonitor, quadratic: Quadratic, units: Units) -> None:
    """Say to the journal of a fit, if there is one, which data it is of: the only way to know rows read in chunks."""
    if monitor.journal is not None:
        scales = [units.target_scale, units.norms]
        monitor.journal.identify("the data", [quadratic.n, quadratic.tt, quadratic.h, *scales])


def solve_problem(problem: Problem, units: Units, noise: NoiseOptions, solver: Solver, monitor: FitMonitor) -> Solution:
    """The solution of a problem; with a guess at the noise variance, functions are first selected at that."""
    code = Models(problem)
    with few_threads():
        return once(monitor, "solution", code, lambda: _solved(problem, units, noise, solver, monitor))


def _solved(problem: Problem, units: Units, noise: NoiseOptions, solver: Solver, monitor: FitMonitor) -> Solution:
    guess = noise.guessed_precision(units)
    if guess is None or not problem.noise.estimate:
        solution = monitor.best_of(solver.solve(problem, monitor))
        remark_misfit(solution.state, units, monitor)
        return solution
    held = replace(problem, noise=GaussianNoise(min(guess, problem.noise.beta_max), estimate=False))
    solution = Solution(unlimited(solver).solve(held, monitor).state.under(problem), False)
    monitor.modes = []  # those of another problem
    if not monitor.stopped:
        solution = solver.solve(problem, monitor, solution.state)
        # so many functions may have come in that they reproduce t, which those added one by one need not do
        solution = solver.solve(problem, monitor) if solution.state.at_noise_floor else solution
    return monitor.best_of(solution)


def remark_misfit(state: State, units: Units, monitor: FitMonitor) -> None:
    """Remark on a noise variance that was given, if the residuals are far larger than it allows."""
    noise, quadratic = state.problem.noise, state.problem.quadratic
    if noise.estimate:
        return
    free, residual = max(quadratic.n - xa.total(state.gamma), 1.0), state.residual
    if quadratic.products is not None:  # so little noise leaves few digits to a difference of products
        residual = max(residual, xa.total(quadratic.products.residual(state.active.J, state.mean)))
    if state.beta * residual <= MISFIT * free:
        return
    given, found = (units.target_scale**2 * x for x in (1 / state.beta, residual / free))
    monitor.remarks.append(
        f"noise_variance={given:.3g} is far too small: the residuals have a variance of about {found:.3g}, and the "
        "error bars cannot be trusted; give a larger noise_variance, or None to estimate it."
    )


def report(solution: Solution, units: Units, monitor: Monitor, certificate: Any = None) -> Result:
    """The solution in the user's units, with certificate, trace and the scores of all candidates."""
    state = solution.state
    return result_of(
        solution,
        units,
        monitor,
        certificate=certify(state).among(getattr(monitor, "modes", ()), state) if certificate is None else certificate,
        trace=tuple(getattr(monitor, "trace", ())),
        prior=state.problem.prior,
        candidates=CandidateScores.of(state, units.unit, units.kept),
    )


def warn_about(result: Result, monitor: FitMonitor, rows: float = math.inf) -> None:
    """Warn of a noise estimate that collapsed, a model that is not sparse, and a fit that ended too early.

    rows : how many rows there are, infinite if that is unknown.
    """
    kept = len(np.unique(result.active))
    if result.certificate.at_noise_floor:
        warn(
            f"The estimated noise variance fell to its floor, {NOISE_FLOOR:g} of the variance of y: the "
            "basis functions reproduce y almost exactly, and the evidence has no maximum. Give noise_variance "
            "a value, or use prior='bic' or likelihood=Gaussian(prior=(c, d)).",
            NoiseCollapseWarning,
        )
    elif monitor.saturated:
        warn(
            f"The fit was ended with {kept} functions, almost as many as there are rows: with more the estimated noise "
            "would vanish, and the model may follow the noise already; use a wider kernel (a smaller gamma, or "
            "gamma='evidence'), prior='bic', or give noise_variance a value.",
            SparsityWarning,
        )
    elif rows >= FEW_ROWS and kept > NOT_SPARSE * rows:
        warn(
            f"The model is not sparse: it has {kept} functions for {rows:.0f} rows, and may follow the noise; use a "
            "wider kernel (a smaller gamma, or gamma='evidence') or prior='bic'.",
            SparsityWarning,
        )
    for reason in monitor.remarks:
        warn(reason, ConvergenceWarning)
    explained = monitor.remarks or monitor.saturated or (result.certificate.at_noise_floor and monitor.going)
    if not result.converged and not monitor.stopped and not explained:
        warn(_why_it_ended(monitor, result.certificate.gain_outside), ConvergenceWarning)


def _why_it_ended(monitor: FitMonitor, gain: float) -> str:
    """Why a fit ended before it converged, and what could be done.

    gain : nats that the best addition is predicted to gain.
    """
    if monitor.out_of_time:
        return "The fit ran out of max_time before it converged; raise max_time or tol."
    if len(monitor.path) >= monitor.max_iter:
        return f"The fit stopped at max_iter={monitor.max_iter} iterations before it converged; raise max_iter or tol."
    return (
        f"The fit ended where rounding hides what is left to gain (one more function promises {gain:.1g} nats): some "
        "functions are the same to working precision; use gamma='ard' where one width is learned, a larger gamma "
        "where it is given, or fewer columns."
    )
