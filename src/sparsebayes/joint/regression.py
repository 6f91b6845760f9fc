"""A regression in which one precision governs several weights, from the statistics of its rows to the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.groups.prior import share
from sparsebayes.groups.rescaled import Rescaled, norms_of_groups
from sparsebayes.joint.outputs import Outputs, noise_of_each
from sparsebayes.joint.result import joint_result
from sparsebayes.joint.unpenalised import Projection
from sparsebayes.priors import alternatives
from sparsebayes.rows.devices import on_host, result_beside
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, identify_statistics, report, solve_best


@dataclass(frozen=True, eq=False)
class Sharing:
    """Which weights share a precision, and which have none.

    groups : (M,) a label for each column: columns of one label have one precision; None for one each.
    unpenalised : numbers of the columns whose weights have a flat prior; None if there are none.
    outputs : how several outputs relate to the solver's targets; None for one output.
    shared_noise : whether all outputs have the same noise variance.
    """

    groups: np.ndarray | None = None
    unpenalised: np.ndarray | None = None
    outputs: Outputs | None = None
    shared_noise: bool = True

    def on_host(self) -> Sharing:
        """The same with NumPy arrays."""
        return self if self.outputs is None else replace(self, outputs=self.outputs.on_host())


@dataclass(frozen=True, eq=False)
class JointPath:
    """A regression with Gaussian noise, groups of columns, columns without a prior, or several outputs.

    summarise : reads the rows, and returns the quadratic of the scaled problem, its units, and tᵀt of every output
        (None for one output).
    noise : what is known of the noise.  sharing : which weights share a precision.
    """

    summarise: Callable[[], tuple[Quadratic, Units, Array | None]]
    noise: NoiseOptions
    sharing: Sharing
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Read the rows once, take out what has no prior, solve, and return to the user's units."""
        given, units, squares = self.summarise()
        quadratic, units = on_host(given, units)
        identify_statistics(monitor, quadratic, units)
        squares = None if squares is None else to_numpy(squares)
        sharing, T = self.sharing.on_host(), 1 if self.sharing.outputs is None else self.sharing.outputs.count
        noise, projection = self.noise.per_output(T), None
        if sharing.unpenalised is not None and np.isin(sharing.unpenalised, units.kept).any():
            projection = Projection.of(quadratic, units, sharing.unpenalised)
            quadratic, units = projection.problem()
        label = None if sharing.groups is None else sharing.groups[units.kept]
        quadratic, units, r = _with_group_norms(quadratic, units, label)
        monitor.outputs, known, priors = T, noise.model(units), alternatives(prior, units.n)
        problems = [
            share(Problem(quadratic, each, known, each.units(units.unit, units.kept)), T, label) for each in priors
        ]
        monitor = monitor.in_units(units)
        solution, k = solve_best(problems, units, noise, solver, monitor)
        factor = asfloat64(np.ones(T), like=quadratic.h)
        if squares is not None and T > 1 and not sharing.shared_noise and known.estimate:
            own = squares if projection is None else projection.squares(squares)
            solution, factor = noise_of_each(solution, solver, monitor, own)
            units = replace(units, target_mean=units.target_mean * factor)
        result = replace(report(solution, units, monitor), prior=priors[k])
        if projection is not None:
            projection = projection if squares is None else projection.scaled(factor, squares)
            result = replace(result, **projection.completed(solution.state, r))
        result = result if sharing.outputs is None else _of_outputs(result, units, sharing.outputs, factor)
        return result_beside(result, given.h)


def _with_group_norms(
    quadratic: Quadratic, units: Units, label: np.ndarray | None
) -> tuple[Quadratic, Units, Array | None]:
    """The problem with one norm for the columns of a group, and what scaled them, (M,); as it is without groups."""
    if label is None:
        return quadratic, units, None
    norms = norms_of_groups(units.norms, label)
    scale = units.norms / norms
    return Rescaled(quadratic, scale), units.with_columns(units.kept, norms, units.means), scale


def _of_outputs(result: Result, units: Units, outputs: Outputs, factor: Array) -> Result:
    """The result of every output from that of the solver's targets, which were scaled by `factor` (T,) besides."""
    shift = -units.rows_counted * outputs.log_scale
    if outputs.rotation is None:
        outputs = replace(outputs, scales=outputs.scales / factor)
    mean, intercept = outputs.weights(result.mean), outputs.weights(result.intercept)
    outputs, size = outputs.normalised()
    result = replace(
        result,
        covariance=result.covariance * size**2,
        alpha=result.alpha / size**2,
        intercept_covariance=result.intercept_covariance * size**2,
        likelihood=replace(result.likelihood, beta=result.likelihood.beta / size**2),
    )
    return joint_result(result, outputs.count, mean, intercept, outputs.scales, shift)


def check_groups(groups: Any, M: int) -> np.ndarray | None:
    """A label for each of M columns as whole numbers; None if every column is on its own."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (M,):
        raise ValueError(f"groups must have one label for each of {M} columns, got an array of shape {labels.shape}.")
    try:
        return np.unique(labels, return_inverse=True)[1].reshape(-1)
    except TypeError as error:
        raise ValueError(
            f"groups must have labels of one kind, such as integers or strings, got {groups!r}."
        ) from error


def output_squares(t: Array, weights: Array | None) -> Array:
    """Σ_n w_n t_nt² of every output, (T,)."""
    xp = namespace(t)
    return xp.sum(t * t if weights is None else weights[:, None] * t * t, axis=0)
