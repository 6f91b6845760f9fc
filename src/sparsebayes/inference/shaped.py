"""Regression with noise p(ε) ∝ exp(−|ε/s|^p): functions by the Laplace loop, s and p by its evidence.

Gaussian noise comes first, for its functions are nearly the right ones. With those the noise is estimated,
then functions are added, exchanged and removed under that noise, and so on while the evidence rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._array import NotPositiveDefinite
from sparsebayes._checks import is_number
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.inference.candidates import AllCandidates, Exact
from sparsebayes.inference.laplace import LaplaceFit, Mode
from sparsebayes.inference.noise_search import NoiseSearch
from sparsebayes.inference.result import Result
from sparsebayes.inference.terms import Numbered, Terms, check_sizes, unscaled
from sparsebayes.likelihoods import GAUSSIAN, LARGEST_SHAPE, GeneralizedNormal
from sparsebayes.priors import Prior
from sparsebayes.rows import LaplaceRows, Target
from sparsebayes.solvers import Monitor, Solver

FIRST_SHAPE = 4.0  # held while functions are chosen for the first time
BY_EVIDENCE = "evidence"
ROWS_PER_WEIGHT = 10  # with fewer for each weight Laplace's evidence flatters shapes that are not there
ENOUGH = 1e-3  # nats: what noise and functions must gain together for another turn
TURNS = 20


def checked_shape(noise_shape: Any) -> float | None:
    """The shape as a number; None where the evidence is to say it."""
    if isinstance(noise_shape, str) and noise_shape == BY_EVIDENCE:
        return None
    if not is_number(noise_shape) or not GAUSSIAN <= noise_shape <= LARGEST_SHAPE:
        raise ValueError(
            f"noise_shape must be {BY_EVIDENCE!r} or a number from {GAUSSIAN:g} (Gaussian noise) to "
            f"{LARGEST_SHAPE:g} (noise with sharp bounds), got {noise_shape!r}."
        )
    return float(noise_shape)


@dataclass(frozen=True, eq=False)
class ShapedFit:
    """A regression under generalized normal noise.

    shape : p, None to estimate it.  variance : σ² in the user's units, None to estimate it.
    floor : the least share of the variance of the target that σ² may be estimated at.
    """

    operator: Operator
    target: Target
    shape: float | None
    variance: float | None
    floor: float
    prior: Prior
    solver: Solver
    monitor: Monitor

    def run(self, first: Result) -> Result:
        """From the model of Gaussian noise to that of the shaped one.

        The former, as not converged, where the residuals are so large for given noise that there is no mode
        to be had in floating point.
        """
        if self.shape is None and self.target.n < ROWS_PER_WEIGHT * (len(first.active) + self.target.center):
            return first
        try:
            return self._run(first)
        except NotPositiveDefinite:
            return replace(first, converged=False)

    def _run(self, first: Result) -> Result:
        best = self._first_turn(first)
        for _ in range(TURNS):
            if not best.solution.converged:
                break
            before = len(self.monitor.path)
            end = self._turn(best.rows, best.solution.mode, _noise(best), self.search)
            gained = end.solution.mode.objective - best.solution.mode.objective
            if gained > 0:
                best = end
            else:
                del self.monitor.path[before:]
            if gained < ENOUGH:
                break
        found = self._in_user_units(best)
        # p is one parameter more, which has to earn ½ log n [Schwarz 1978]
        worth = first.objective + 0.5 * math.log(self.target.n)
        return first if self.shape is None and found.objective < worth else found

    def _first_turn(self, first: Result) -> Exact:
        """Functions chosen anew under noise of a shape that is held, if only for now."""
        shape = FIRST_SHAPE if self.shape is None else self.shape
        noise = GeneralizedNormal.of_variance(shape, first.noise_variance / self.target.scale**2)
        active = DenseOperator(self.operator.columns(first.active))
        rows = Numbered(self._rows(active, noise), first.active)
        mode = self._fit(rows.rows).find_mode(*self._start(first).on(rows))
        return self._turn(rows, mode, noise, replace(self.search, shape=False))

    def _turn(self, rows: Numbered, mode: Mode, noise: GeneralizedNormal, search: NoiseSearch) -> Exact:
        """The best noise for a model, then the best functions under that noise."""
        noise, mode = search.best(lambda noise: self._fit(rows.rows.under(noise)), mode, noise)
        self.monitor.factor = noise.variance * self.target.scale**2
        return self.candidates.run(
            lambda operator: self._fit(self._rows(operator, noise)), Terms.of(mode, rows)
        )

    @cached_property
    def search(self) -> NoiseSearch:
        """What is to be estimated of the noise of the scaled target."""
        spread = self.target.spread
        return NoiseSearch(self.variance is None, self.shape is None, self.floor * spread, spread)

    @cached_property
    def candidates(self) -> AllCandidates:
        """All functions."""
        return AllCandidates(self.operator)

    def _rows(self, operator: Operator, noise: GeneralizedNormal) -> LaplaceRows:
        target = self.target
        rows = LaplaceRows(operator, target.values[:, None], noise, target.weights, target.center)
        check_sizes(rows.design.norms)
        return rows

    def _fit(self, rows: LaplaceRows) -> LaplaceFit:
        return LaplaceFit(rows, self.prior, self.solver, self.monitor, self.target.scale, climbing=True)

    def _start(self, first: Result) -> Terms:
        """A model in the user's units as one of the scaled target."""
        scale = self.target.scale
        b = 0 * self.target.values[:1] + (first.intercept - self.target.mean) / scale
        nothing = np.zeros(len(first.active), dtype=np.int64)
        return Terms(first.active, nothing, first.alpha * scale**2, first.mean / scale, b)

    def _in_user_units(self, end: Exact) -> Result:
        """w, b and s in the units of t, log p(t) = log p(t/τ) − n log τ (n − 1 with an intercept)."""
        target, scale = self.target, self.target.scale
        mode, noise = end.solution.mode, _noise(end)
        found = unscaled(mode, end.rows)
        return Result(
            active=found["active"],
            mean=found["mean"] * scale,
            covariance=found["covariance"] * scale**2,
            alpha=found["alpha"] / scale**2,
            intercept=target.mean + scale * float(found["intercept"][0]),
            noise_variance=noise.variance * scale**2,
            log_evidence=mode.state.evidence + self.monitor.offset,
            objective=mode.objective + self.monitor.offset,
            evidence_path=np.asarray([*self.monitor.path, mode.objective + self.monitor.offset]),
            n_iter=len(self.monitor.path),
            converged=end.solution.converged and mode.reached,
            certificate=replace(end.certificate, at_noise_floor=self.search.at_floor(noise)),
            column_means=found["centre"][0, :],
            n=target.n,
            has_intercept=target.center,
            # one row alone tells the intercept to within σ²; where residuals are small the curvature does not
            intercept_variance=min(float(found["intercept_covariance"][0, 0]), noise.variance) * scale**2,
            noise_shape=noise.shape,
        )


def _noise(end: Exact) -> GeneralizedNormal:
    """The noise a fit has ended with."""
    noise = end.fit.rows.likelihood
    assert isinstance(noise, GeneralizedNormal)
    return noise


__all__ = ["ShapedFit", "checked_shape"]
