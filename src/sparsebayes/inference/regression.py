"""Regression: for the Gaussian likelihood the statistics do not depend on w, so the rows are read once.

The solver does the rest. What comes back is in the user's units.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._array import Array, sparse_diagonal, submatrix, take, to_numpy
from sparsebayes._checks import is_number
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.inference.arguments import check_data, make_monitor, warn_unless_converged
from sparsebayes.inference.chunks import is_in_memory, summarise_any
from sparsebayes.inference.kernels import search_kernel
from sparsebayes.inference.result import Result
from sparsebayes.inference.shaped import ShapedFit, checked_shape
from sparsebayes.likelihoods import GAUSSIAN, Gaussian
from sparsebayes.posterior import Problem
from sparsebayes.priors import Prior, as_prior
from sparsebayes.quadratic import Quadratic
from sparsebayes.rows import Scaling, Target
from sparsebayes.solvers import Monitor, Progress, Solution, Solver, as_solver, certify

NOISE_FLOOR = 1e-10  # of the variance of t: below it an estimated noise variance counts as collapsed
FIRST_NOISE = 0.1  # of the variance of t: where the estimate starts [TF03, 4]


class NoiseCollapseWarning(UserWarning):
    """The estimated noise variance fell to its floor: the basis can reproduce the target exactly."""


def fit(
    Phi: Any,
    t: Any = None,
    *,
    prior: Any = "uniform",
    solver: Any = "active-set",
    noise_variance: float | None = None,
    noise_prior: tuple[float, float] | None = None,
    noise_shape: float | str = GAUSSIAN,
    first_noise_variance: float | None = None,
    fit_intercept: bool = False,
    sample_weight: Any = None,
    max_iter: int = 10000,
    tol: float = 1e-6,
    random_state: Any = None,
    verbose: int = 0,
    callback: Callable[[Progress], Any] | None = None,
) -> Result:
    """Fit t ≈ Φw + noise with a sparse Bayesian prior on w; any N×M design, M larger than N included.

    Phi : (N, M) array of any array-API namespace, a SciPy-sparse matrix, or an `Operator`. An array on disk
        (a memory map, or an object with shape, dtype and rows by slicing) beyond a fourth of scikit-learn's
        `working_memory` is read in blocks of rows, and so is an iterable of chunks (Phi, t) or
        (Phi, t, sample_weight). `rows.RowStatistics`, what is left of chunks that were read, will also do.
    t : (N,) targets; None where Phi has them.
    prior : "uniform", "aic", "bic", "ric" or a `Prior`.
    solver : "active-set", "thorough", "sequential", "mackay", "em" or a `Solver`. "thorough" is
        ActiveSet(stages=10, rebuilds=4), for dictionaries whose parts can do each other's work, at three to
        twenty times the cost. Where the functions are known to be orthonormal (a `TransformOperator`, no
        intercept, no weights) the default name "active-set" stands for the closed form, "orthonormal";
        covariance is then a diagonal SciPy-sparse array.
    noise_variance : σ² > 0 where it is known, None to estimate it.
    noise_prior : (c, d) of a Gamma prior on 1/σ², None for none.
    noise_shape : p of the noise density ∝ exp(−|ε/s|^p): 2 for Gaussian noise, up to 8 for noise with sharp
        bounds; "evidence" estimates it: 2 unless another value gains ½ log n nats and there are ten rows for
        each weight. With p > 2 posterior and evidence are Laplace's approximation, and all rows have to be in
        memory. The Gaussian fit comes first: `max_iter` counts for each, the path is that of the last.
    first_noise_variance : a guess at σ² where it is estimated: functions are first chosen with σ² held there.
        Rather too small than too large: a function too many is soon pruned, but one that is missing keeps σ²
        large, and a large σ² keeps it out. Where a kernel matrix cannot be held, σ² starts there but is not
        held. None lets σ² move at once, from a tenth of the variance of t.
    fit_intercept : with True a constant with a flat prior is added and integrated out; the evidence is then
        that of the N−1 contrasts of t, less ½ log N (a flat density of 1 on the intercept). With False the
        model is exactly t = Φw + ε.
    sample_weight : (N,) non-negative counts of each row.
    max_iter, tol : iterations allowed; what a move must gain, in nats, and a log α must move, to go on.
    verbose : 1 prints a progress line every tenth iteration to standard error, 2 one every iteration.
    callback : called with a `Progress` each iteration; a true return value stops the fit.
    """
    center, shape = bool(fit_intercept), checked_shape(noise_shape)

    def prepared(scaling: Scaling) -> tuple[Prior, Gaussian, Monitor]:
        noise = _noise_model(noise_variance, noise_prior, scaling)
        offset, factor = scaling.log_jacobian, scaling.target_scale**2
        monitor = make_monitor(max_iter, tol, random_state, verbose, callback, offset, factor)
        return as_prior(prior).resolve(scaling.n), noise, monitor

    if shape != GAUSSIAN:
        _check_shapeable(Phi, t, noise_prior, noise_shape)
    found = _by_gaussian_noise(Phi, t, sample_weight, center, prepared, solver, first_noise_variance)
    result, monitor = _in_user_units(*found), found[2]
    reached = result.converged
    if shape != GAUSSIAN and not result.certificate.at_noise_floor and not monitor.stopped:
        operator, values, weights = check_data(Phi, t, sample_weight)
        law, _, monitor = prepared(found[1])
        noise, target = (shape, noise_variance, NOISE_FLOOR), Target.of(values, weights, center)
        result = ShapedFit(operator, target, *noise, law, as_solver(solver), monitor).run(result)
    # the iterations sufficed, for Gaussian noise at least, and yet the mode was not found
    lost = shape != GAUSSIAN and reached and not result.converged and monitor.going
    _warn(result, monitor, shape, lost)
    return result


def _check_shapeable(Phi: Any, t: Any, noise_prior: Any, noise_shape: Any) -> None:
    """Refuse what only Gaussian noise can be fitted with."""
    if noise_prior is not None:
        raise ValueError(f"noise_prior is for Gaussian noise: noise_shape must be 2, got {noise_shape!r}.")
    if not is_in_memory(Phi, t):
        raise ValueError(
            "noise_shape must be 2 (Gaussian noise) for chunks or rows on disk: any other needs all rows in "
            f"memory, got {noise_shape!r}."
        )


def _by_gaussian_noise(
    Phi: Any,
    t: Any,
    sample_weight: Any,
    center: bool,
    prepared: Callable[[Scaling], tuple[Prior, Gaussian, Monitor]],
    solver: Any,
    first_noise_variance: Any,
) -> tuple[Solution, Scaling, Monitor]:
    """The solution, however its candidates can be looked at."""
    if isinstance(Phi, KernelOperator):
        target = Target.of(*check_data(Phi, t, sample_weight)[1:], center)
        found = _searched(Phi, target, prepared, solver, first_noise_variance)
        if found:
            return found
        Phi = Phi.dense()
    quadratic, scaling = summarise_any(Phi, t, sample_weight, center)
    law, noise, monitor = prepared(scaling)
    problem = Problem(quadratic, law, noise, scaling.unit)
    guess = _guess(first_noise_variance, scaling)
    return _solve(_solver_for(solver, quadratic), problem, monitor, guess), scaling, monitor


def _searched(
    operator: KernelOperator,
    target: Target,
    prepared: Callable[[Scaling], tuple[Prior, Gaussian, Monitor]],
    solver: Any,
    first_noise_variance: Any,
) -> tuple[Solution, Scaling, Monitor] | None:
    """The fit of a kernel whose matrix is not formed; None where it had better be."""
    if first_noise_variance is not None and operator.fits:
        return None

    def started(scaling: Scaling) -> tuple[Prior, Gaussian, Monitor]:
        law, noise, monitor = prepared(scaling)
        beta = _guess(first_noise_variance, scaling)
        if beta is not None and noise.estimate:
            noise = replace(noise, beta=min(beta, noise.beta_max))
        return law, noise, monitor

    return search_kernel(operator, target, started, solver)


def _solve(solver: Solver, problem: Problem, monitor: Monitor, beta: float | None) -> Solution:
    """The solver's solution; with β, the one it gets to from its solution with the noise held there."""
    if beta is None or not problem.noise.estimate:
        return solver.solve(problem, monitor)
    held = replace(problem, noise=Gaussian(min(beta, problem.noise.beta_max), estimate=False))
    first = solver.solve(held, monitor).state
    state = problem.state(first.active, first.alpha, first.beta)
    if monitor.stopped:
        return Solution(state, False)
    solution = solver.finish(state, monitor)
    # so many functions may have come in that they reproduce t, which those that come in one by one need not
    return solver.solve(problem, monitor) if solution.state.at_noise_floor else solution


def _guess(first_noise_variance: Any, scaling: Scaling) -> float | None:
    """The guess in the solver's units, as a precision."""
    if first_noise_variance is None:
        return None
    return scaling.target_scale**2 / checked_variance(first_noise_variance, "first_noise_variance")


def checked_variance(value: Any, name: str) -> float:
    """A variance that is given as a number; ValueError where it cannot be one."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number > 0 or None, got {value!r}.")
    return float(value)


def _solver_for(solver: Any, quadratic: Quadratic) -> Solver:
    """The solver asked for; the closed form in place of the default one where the functions allow it."""
    default = isinstance(solver, str) and solver == "active-set"
    return as_solver("orthonormal" if default and quadratic.orthonormal else solver)


def _noise_model(noise_variance: Any, noise_prior: Any, scaling: Scaling) -> Gaussian:
    """The noise in the solver's units: β̃ = βτ², and Gamma(c, d) on β becomes Gamma(c, d/τ²) on β̃."""
    scale, ceiling = scaling.target_scale, 1 / (NOISE_FLOOR * scaling.target_spread)
    if noise_variance is not None:
        return Gaussian(scale**2 / checked_variance(noise_variance, "noise_variance"), estimate=False)
    c, d = (0.0, 0.0) if noise_prior is None else _pair(noise_prior)
    return Gaussian(1 / FIRST_NOISE, True, c, d / scale**2, ceiling)


def _pair(noise_prior: Any) -> tuple[float, float]:
    ok = isinstance(noise_prior, Sequence | np.ndarray) and len(noise_prior) == 2
    if not ok or not all(is_number(x) and x >= 0 for x in noise_prior):
        raise ValueError(f"noise_prior must be a pair (c, d) of numbers >= 0 or None, got {noise_prior!r}.")
    return float(noise_prior[0]), float(noise_prior[1])


def _warn(result: Result, monitor: Monitor, shape: float | None, lost: bool) -> None:
    if result.certificate.at_noise_floor:
        warnings.warn(
            f"The estimated noise variance fell to its floor, {NOISE_FLOOR:g} of the variance of y: the "
            "basis functions reproduce y as good as exactly, and the evidence has no maximum. Give "
            f"noise_variance a value, or use prior='bic'{' or a noise_prior' if shape == GAUSSIAN else ''}.",
            NoiseCollapseWarning,
            stacklevel=4,
        )
    if lost:
        warnings.warn(
            f"The most probable weights were not found under noise of variance {result.noise_variance:.3g} "
            f"and shape {result.noise_shape if shape is None else shape:.3g}: the residuals are too large "
            "for it. Give a larger noise_variance or a smaller noise_shape.",
            ConvergenceWarning,
            stacklevel=4,
        )
    else:
        warn_unless_converged(result.converged, monitor)


def _in_user_units(solution: Solution, scaling: Scaling, monitor: Monitor) -> Result:
    """Undo the scaling: w = w̃τ/ν, α = α̃ν²/τ², σ² = τ²/β̃, log p(t) = log p(t/τ) − n log τ."""
    state = solution.state
    order = np.argsort(scaling.kept[state.J])
    J = state.J[order]
    factor = scaling.target_scale / take(scaling.norms, J)
    mean = take(state.mean, order) * factor
    covariance = _scaled(state.covariance, order, factor)
    means = take(scaling.means, J)
    return Result(
        active=scaling.kept[J],
        mean=mean,
        covariance=covariance,
        alpha=take(state.alpha, order) * take(scaling.unit, J),
        intercept=scaling.target_mean - float(means @ mean),
        noise_variance=scaling.target_scale**2 / state.beta,
        log_evidence=state.evidence + scaling.log_jacobian,
        objective=state.objective + scaling.log_jacobian,
        evidence_path=np.asarray([*monitor.path, state.objective + scaling.log_jacobian]),
        n_iter=len(monitor.path),
        converged=solution.converged,
        certificate=certify(state) if solution.certificate is None else solution.certificate,
        column_means=means,
        n=scaling.n,
        has_intercept=scaling.center,
        intercept_variance=scaling.target_scale**2 / (state.beta * scaling.n) if scaling.center else 0.0,
    )


def _scaled(covariance: Any, order: np.ndarray, factor: Array) -> Any:
    """Σ of the functions in this order, in units of `factor`; a diagonal one stays diagonal."""
    if scipy.sparse.issparse(covariance):
        return sparse_diagonal(covariance.diagonal()[order] * to_numpy(factor) ** 2)
    return submatrix(covariance, order, order) * factor[:, None] * factor[None, :]


__all__ = ["NoiseCollapseWarning", "fit"]
