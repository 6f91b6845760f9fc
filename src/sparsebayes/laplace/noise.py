"""Regression with noise p(ε) ∝ exp(−|ε/s|^p): functions by the Laplace loop, s and p by its evidence.

Gaussian noise comes first, because the functions selected under it are nearly the right ones. With those the
noise is estimated, then functions are added, exchanged and deleted under that noise, and so on while the
evidence rises.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sparsebayes._array import Array, NotPositiveDefinite, namespace
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.core.noise import NOISE_FLOOR
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.laplace.candidates import AllCandidates
from sparsebayes.laplace.generalized_normal import GeneralizedNormal
from sparsebayes.laplace.loop import LaplaceFit, LaplaceSolution
from sparsebayes.laplace.mode import Mode, Model, Modes
from sparsebayes.laplace.path import encode_rows, report
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.laplace.settings import NOISE, NoiseSettings
from sparsebayes.rows.devices import result_beside
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor

IMPOSSIBLE = 1e20  # value for the optimiser if there is no mode under a noise


@dataclass(frozen=True)
class NoiseSearch:
    """The noise of the highest Laplace evidence at given α, the weights at their mode.

    L-BFGS in (log σ², p), which hardly depend on each other; s and p do.

    variance, shape : whether σ² and p are to be estimated.
    floor, ceiling : the least and the largest σ² that may be found, unless the search starts beyond them and
        finds nothing better. With an intercept, and fewer rows than p/2, the Laplace evidence grows with σ²
        without end.
    """

    variance: bool
    shape: bool
    floor: float
    ceiling: float
    settings: NoiseSettings = NOISE

    def at_floor(self, noise: GeneralizedNormal) -> bool:
        """Whether an estimated σ² is at its floor."""
        return self.variance and noise.variance <= self.floor * (1 + self.settings.at_floor)

    def best(self, modes: Modes, mode: Mode) -> tuple[GeneralizedNormal, Mode]:
        """The best noise at the α of a mode, from the noise of the rows of `modes`, and the mode there."""

        def mode_under(noise: GeneralizedNormal) -> Mode:
            moved = replace(modes, rows=modes.rows.under(noise))
            return moved.find(mode.J, mode.alpha, mode.w, mode.b)

        noise: Any = modes.rows.likelihood
        first, settings = mode_under(noise), self.settings

        def noise_at(x: np.ndarray) -> GeneralizedNormal:
            log_variance, shape = x.tolist()
            return noise.of_variance(shape, math.exp(log_variance))

        def downhill(x: np.ndarray) -> float:
            try:
                trial = mode_under(noise_at(x))
            except NotPositiveDefinite:
                return IMPOSSIBLE
            return first.objective - trial.objective if trial.reached else IMPOSSIBLE

        here = np.asarray([math.log(noise.variance), noise.shape])
        bounds = np.stack([here, here], axis=1)  # what is not estimated stays
        if self.variance:
            reach = here[0] - settings.reach, here[0] + settings.reach
            bounds[0] = np.clip(reach, math.log(self.floor), math.log(self.ceiling))
        if self.shape:
            bounds[1] = noise.shapes
        start = np.clip(here, bounds[:, 0], bounds[:, 1])
        options = {"ftol": settings.flatness, "eps": settings.difference}
        found = minimize(downhill, start, method="L-BFGS-B", bounds=bounds, options=options)
        if not found.fun < 0:
            return noise, first
        return noise_at(found.x), mode_under(noise_at(found.x))


@dataclass(frozen=True, eq=False)
class NoisePath:
    """A regression under generalized normal noise, from the fit of the same data under Gaussian noise.

    Parameters
    ----------
    gaussian : object
        The path of the same data under Gaussian noise; its `fit(prior, solver, monitor)` is called first.
    operator : Operator
        Φ, N rows and M functions.
    t : array of shape (N,)
        Targets.
    weights : array of shape (N,), optional
        How often each row counts; None for once.
    fit_intercept : bool
        Whether there is an intercept with a flat prior, which is integrated out.
    likelihood : GeneralizedNormal
        The specification of the noise: its shape, or "evidence" to estimate it.
    noise_variance : float, optional
        σ² in the user's units; None to estimate it.
    settings : NoiseSettings
        What the loop and the search for the noise depend on.
    """

    gaussian: Any
    operator: Operator
    t: Any
    weights: Array | None
    fit_intercept: bool
    likelihood: GeneralizedNormal
    noise_variance: float | None = None
    settings: NoiseSettings = NOISE
    default_solver = ActiveSet()

    @cached_property
    def y(self) -> Array:
        """The targets in the namespace of the operator, (N, 1)."""
        return encode_rows(self.operator, self.t, self.weights, self.likelihood).codes

    @cached_property
    def units(self) -> Units:
        """The units of the target."""
        counts = namespace(self.y).ones_like(self.y[:, 0]) if self.weights is None else self.weights
        return Units.of_target(self.y[:, 0], counts, self.fit_intercept)

    @cached_property
    def candidates(self) -> AllCandidates:
        """All functions."""
        return AllCandidates(self.operator, self.settings.laplace)

    @cached_property
    def search(self) -> NoiseSearch:
        """What is to be estimated of the noise of the scaled target."""
        free, spread = self.noise_variance is None, self.units.target_spread
        by_evidence = self.likelihood.shape == "evidence"
        return NoiseSearch(free, by_evidence, NOISE_FLOOR * spread, spread, self.settings)

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit the model under Gaussian noise, and from there under noise of the shape that is given or found.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What chooses functions.
        monitor : FitMonitor
            What iterations are reported to; they are counted anew once the Gaussian fit has ended.

        Returns
        -------
        Result
            The model in the user's units: that of Gaussian noise if the shape is to be estimated and no other
            is better by ½ log n nats, or (not converged) if there is no mode in floating point, because the
            residuals are too large for a given noise.
        """
        return result_beside(self._fit_on_host(prior, solver, monitor), self.y)

    def _fit_on_host(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """The model of `fit`, with NumPy arrays."""
        rng, units = copy.deepcopy(monitor.rng), self.units
        chosen = self.gaussian.default_solver if solver is self.default_solver else solver
        first = result_beside(self.gaussian.fit(prior, chosen, monitor), np.zeros(0))
        few = units.n < self.settings.rows_per_weight * (len(first.active) + units.center)
        settled = few if self.search.shape else self.likelihood.shape == self.likelihood.shapes[0]
        if settled or first.certificate.at_noise_floor or monitor.stopped:
            return first
        monitor.path, monitor.rng = [], rng
        # a shape that is to be estimated is held while functions are selected for the first time
        shape = self.settings.first_shape if self.search.shape else float(self.likelihood.shape)
        noise = self.likelihood.of_variance(shape, first.noise_variance / units.target_scale**2)
        rows = self._rows(DenseOperator(self.operator.columns(first.active)), noise, first.active)
        modes = Modes(rows, prior.resolve(units.n), units.target_scale, self.settings.laplace)
        fit = LaplaceFit(modes, solver, monitor.in_units(units), climbing=True)
        try:
            result = self._in_turns(fit, first)
        except NotPositiveDefinite:
            result = replace(first, converged=False)
        if first.converged and not result.converged and monitor.going:
            shape = getattr(result.likelihood, "shape", shape)
            monitor.remarks.append(
                f"The most probable weights were not found under noise of shape {shape:.3g} and variance "
                f"{result.noise_variance:.3g}: the residuals are too large for it. Give a larger "
                "noise_variance or a smaller shape."
            )
        return result

    def _in_turns(self, fit: LaplaceFit, first: Result) -> Result:
        """Noise and functions in turn, from the model of Gaussian noise, while the evidence rises."""
        tau, path = self.units.target_scale, fit.monitor.path
        b = (first.intercept - self.units.target_mean) / tau
        start = Model(first.active, first.output, first.alpha * tau**2, first.mean / tau, b)
        best = self._turn(fit, fit.modes.of(start), replace(self.search, shape=False))
        for _ in range(self.settings.turns):
            if not best.converged:
                break
            before = len(path)
            end = self._turn(best.fit, best.mode, self.search)
            gained = end.mode.objective - best.mode.objective
            if gained > 0:
                best = end
            else:
                del path[before:]
            if gained < self.settings.turn_gain:
                break
        found = self._report(best)
        # p is an additional parameter, penalised by ½ log n [Schwarz 1978]
        enough = first.objective + 0.5 * math.log(self.units.n)
        return first if self.search.shape and found.objective < enough else found

    def _turn(self, fit: LaplaceFit, mode: Mode, search: NoiseSearch) -> LaplaceSolution:
        """The best noise for a model, then the best functions under that noise."""
        noise, mode = search.best(fit.modes, mode)
        fit.monitor.factor = noise.variance * self.units.target_scale**2
        fit.monitor.note("noise estimated", 0, mode.state)
        return self.candidates.run(
            lambda operator, functions: fit.over(self._rows(operator, noise, functions)),
            Model.of(mode, fit.rows),
        )

    def _rows(self, operator: Operator, noise: GeneralizedNormal, functions: Any) -> LaplaceRows:
        y = self.units.scaled(self.y)
        return LaplaceRows(operator, y, noise, self.weights, self.fit_intercept, functions)

    def _report(self, end: LaplaceSolution) -> Result:
        """The end of a fit in the units of t."""
        noise: Any = end.fit.rows.likelihood
        known = noise.of_variance(noise.shape, noise.variance * self.units.target_scale**2)
        converged = end.converged and end.mode.reached
        result = report(end, self.units, end.fit.monitor, likelihood=known, converged=converged)
        certificate = replace(result.certificate, at_noise_floor=self.search.at_floor(noise))
        # a single row determines the intercept to within σ²; the curvature at small residuals says less
        spread = namespace(result.mean).clip(result.intercept_covariance, None, known.variance)
        return replace(result, certificate=certificate, intercept_covariance=spread)
