"""The search for the scales of a basis with the largest GP log marginal likelihood.

L-BFGS in θ = (log η, log shares of the parts, log β). A few starting widths are compared on few rows, and the
search continues from the best with more rows. If there are more rows still, all of them are used by a subset
of regressors with few inducing centres. Few rows cannot show fine structure and few centres cannot follow it;
the two results are compared with more centres. Widths stay between the smallest distance in the data and far
more than the largest: an input along which the kernel is so wide has no effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sparsebayes.bases import BoundBasis
from sparsebayes.core.result import Result
from sparsebayes.scale_learning.evidence import Evidence, spread_rows
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions, excess_variance
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.screening import NONE, irrelevant_functions
from sparsebayes.scale_learning.settings import DEFAULT, ScaleSearchSettings
from sparsebayes.solvers.monitor import FitMonitor

IMPOSSIBLE = 1e20  # value for the optimiser if a covariance is not positive definite

Point = tuple[float, np.ndarray]  # L and θ


@dataclass(frozen=True, eq=False)
class LearnedScales:
    """A basis at the scales that were learned, and the Gaussian process they were learned from.

    Attributes
    ----------
    bound : BoundBasis
        The whole basis at these scales.
    log_evidence : float
        The GP log marginal likelihood of the rows that were used.
    noise_variance : float
        σ² of the Gaussian process; NaN if there is no noise to estimate. The variance of parts that are not
        in the process is in it.
    first_noise_variance : float or None
        Where the noise variance of a sparse fit may start; None if the Gaussian process does not estimate it.
    irrelevant : ndarray of int
        Numbers of the functions that were screened out: they need not be candidates.
    process, theta : GaussianProcess and ndarray
        The Gaussian process with exact covariance on up to `rows` rows, and its parameters θ.
    all_rows : bool
        Whether these are all rows; `process.all_parts` says the same of the parts of the basis.
    """

    bound: BoundBasis
    log_evidence: float
    noise_variance: float
    first_noise_variance: float | None
    irrelevant: np.ndarray
    process: GaussianProcess
    theta: np.ndarray
    all_rows: bool

    def excess_variance(self, result: Result, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None) -> float:
        """What the error bars of a sparse regression at these scales lack, by the Gaussian process.

        Parameters
        ----------
        result : Result
            The sparse model.
        columns : ndarray of shape (N, S)
            Its functions at the training rows.
        y : ndarray of shape (N,)
            Training targets.
        counts : ndarray of shape (N,) or None
            How often each row counts; None for once each.

        Returns
        -------
        float
            A variance to be added to that of every prediction; 0 unless the process has all rows and parts.
        """
        if not (self.all_rows and self.process.all_parts):
            return 0.0
        with np.errstate(all="ignore"):
            process = LeaveOneOutPredictions.of_process(self.process, self.theta)
            sparse = LeaveOneOutPredictions.of_result(result, columns, y, counts)
            excess = excess_variance(process, sparse, counts)
        return excess if math.isfinite(excess) else 0.0  # a kernel beyond floating point says nothing


def learn_scales(
    bound: BoundBasis,
    X: np.ndarray,
    evidence: Evidence,
    settings: ScaleSearchSettings = DEFAULT,
    monitor: FitMonitor | None = None,
) -> LearnedScales:
    """Learn the scales of a basis by the GP log marginal likelihood.

    Parameters
    ----------
    bound : BoundBasis
        Functions that have scales, `bound.log_scales`. Parts that live on the samples of a signal (wavelets,
        cosines, spikes) are not in the Gaussian process: their variance is part of its noise.
    X : ndarray of shape (N, d)
        The rows they were bound to.
    evidence : Evidence
        The targets of these rows: `GaussianEvidence(y, counts, center, noise_variance)` for a regression,
        `LaplaceEvidence(codes, counts, center, likelihood)` for classes.
    settings : ScaleSearchSettings
        What the search depends on.
    monitor : FitMonitor, optional
        What the steps are reported to; it may end the search, which then has the best scales so far.

    Returns
    -------
    LearnedScales
        The basis at the best scales that were found.
    """
    search, irrelevant = _Search(bound, X, evidence, settings, monitor or FitMonitor()), NONE
    process, all_rows = search.process, len(X) <= settings.rows
    best = search.by_few_rows()
    if evidence.low_rank and not all_rows:
        value, theta = search.by_many_rows(best)
    else:
        value, theta = search.unless_noise(process, search.without_irrelevant_inputs(best))
        irrelevant = irrelevant_functions(process, theta)
    noise = math.exp(-theta[-1]) if evidence.n_noise else math.nan
    first = settings.sparse_noise * noise if evidence.n_noise and process.all_parts else None
    bound = bound.with_log_scales(theta[: process.n_scales])
    return LearnedScales(bound, value, noise, first, irrelevant, process, theta, all_rows)


class _Search:
    """The steps of a search.

    trial, process : Gaussian processes with exact covariance, on few rows and on up to `settings.rows` rows.
    unit : log of the expected variance of f.  bounds : least and largest θ (θ, 2).
    widest : log η of functions of the largest width.
    """

    def __init__(
        self, bound: BoundBasis, X: np.ndarray, evidence: Evidence, settings: ScaleSearchSettings, monitor: FitMonitor
    ) -> None:
        self.bound, self.X, self.evidence, self.settings, self.monitor = bound, X, evidence, settings, monitor
        self.steps_taken = 0
        self.process = self._process(settings.rows)
        self.trial = self.process if len(X) <= settings.few_rows else self._process(settings.few_rows)
        self.scales, self.parts = self.process.n_scales, len(self.process.parts)
        self.unit = math.log(evidence.spread)
        shares = np.tile(self.unit + np.asarray(settings.share_range), (self.parts, 1))
        noise = np.tile(-self.unit - np.asarray(settings.noise_range)[::-1], (evidence.n_noise, 1))
        self.bounds = np.concatenate([bound.log_scale_bounds(X, settings.widest), shares, noise])
        self.widest = self._as_wide_as(settings.widest)

    def by_few_rows(self) -> Point:
        """The maximum of the process with exact covariance, from the best of a few starts on fewer rows."""
        settings = self.settings
        share, noise = self.unit - math.log(self.parts), -self.unit - math.log(settings.first_noise)
        starts = [self._theta(self._start(width), share, noise) for width in settings.widths]
        best = self._best(self.trial, starts)
        if self.trial is not self.process:
            best = self._best(self.process, self._restarts(best))
        return self._maximise(self.process, best, settings.steps)

    def by_many_rows(self, best: Point) -> Point:
        """The best θ so far, or that of a search by a subset of regressors on all rows, whichever is higher.

        The two are compared by a subset of regressors with more inducing centres.
        """
        settings = self.settings
        few = self._process(settings.many_rows, settings.centres)
        judge = self._process(settings.many_rows, settings.judge_centres)
        other = self._maximise(few, self._restarts(best[1])[-1], settings.steps)
        best = max(((judge(theta)[0], theta) for _, theta in (best, other)), key=lambda point: point[0])
        return self.unless_noise(judge, best)

    def without_irrelevant_inputs(self, best: Point) -> Point:
        """θ with the widest scale for irrelevant inputs, the other parameters maximised again.

        A scale is a parameter: it has to gain ½ log N nats, its penalty by BIC. For some targets no input is dropped.
        """
        if not self.evidence.drops_inputs:
            return best
        process, (value, theta) = self.process, best
        penalty = 0.5 * math.log(process.evidence.total)
        inputs = np.flatnonzero(self.bound.scale_per_input & (self.widest != self.bound.log_scales)).tolist()
        alone = {k: process(self._widened(theta, k))[0] for k in inputs}
        irrelevant = []
        for k in sorted(inputs, key=lambda k: -alone[k]):
            trial = self._widened(theta, k)
            without = process(trial)[0]
            if without > value - penalty:
                value, theta = without, trial
                irrelevant.append(k)
        if not irrelevant:
            return best
        bounds = self.bounds.copy()
        bounds[irrelevant] = theta[irrelevant, None]
        return self._maximise(process, theta, self.settings.steps, bounds)

    def unless_noise(self, process: GaussianProcess, best: Point) -> Point:
        """θ, unless noise alone does about as well: then the widest start, with the least shares.

        Functions as narrow as rows are apart are noise in effect. The GP log marginal likelihood hardly tells
        the two apart, and the sparse model would select a function for every row. So the scales that have an
        effect must gain ½ log N nats each.
        """
        shares = self.bounds[self.scales : self.scales + self.parts, 0]
        nothing = self._theta(self._start(max(self.settings.widths)), shares, -self.unit)
        effective = int(np.sum(best[1][: self.scales] != self.widest))
        penalty, alone = 0.5 * math.log(process.evidence.total) * max(effective, 1), process(nothing)[0]
        return (alone, nothing) if best[0] < alone + penalty else best

    def _process(self, n: int, m: int | None = None) -> GaussianProcess:
        """The Gaussian process of up to n rows, exact or by a subset of regressors at m centres."""
        rows = spread_rows(self.evidence.order, n)
        Z = None if m is None else self.X[spread_rows(self.evidence.order, m)]
        return GaussianProcess(self.bound, self.X[rows], self.evidence.of_rows(rows), Z, self.settings)

    def _theta(self, log_scales: np.ndarray, log_shares: float | np.ndarray, log_beta: float) -> np.ndarray:
        """θ of these scales, shares and noise precision; the last only if the noise is estimated."""
        shares, noise = np.full(self.parts, log_shares), np.full(self.evidence.n_noise, log_beta)
        return np.concatenate([log_scales, shares, noise])

    def _widened(self, theta: np.ndarray, k: int) -> np.ndarray:
        """θ with scale k at its largest width."""
        changed = theta.copy()
        changed[k] = self.widest[k]
        return changed

    def _start(self, width: float) -> np.ndarray:
        """log η of functions `width` times half the diagonal of the data wide; scales that are no width stay."""
        inputs = max(int(np.count_nonzero(np.ptp(self.X, axis=0))), 1)  # a constant is none
        each = self._as_wide_as(0.5 * width * math.sqrt(inputs))
        return np.where(self.bound.scale_per_input, each, self._as_wide_as(0.5 * width))

    def _as_wide_as(self, reach: float) -> np.ndarray:
        """log η of functions `reach` times the largest distance wide; scales that are no width stay."""
        at, beyond = (self.bound.log_scale_bounds(self.X, each) for each in (reach, 2 * reach))
        moves = np.abs(beyond - at) > 1e-9
        width = np.where(moves[:, 0], at[:, 0], at[:, 1])
        return np.where(moves.any(axis=1), width, self.bound.log_scales)

    def _restarts(self, theta: np.ndarray) -> list[np.ndarray]:
        """θ, and if its scales are too wide to come back, θ with narrower ones."""
        limits = self.bound.log_scale_bounds(self.X, self.settings.widest_start)
        narrowed = theta.copy()
        narrowed[: self.scales] = np.clip(theta[: self.scales], limits[:, 0], limits[:, 1])
        return [theta] if np.array_equal(theta, narrowed) else [theta, narrowed]

    def _best(self, process: GaussianProcess, starts: list[np.ndarray]) -> np.ndarray:
        """θ of the best of several starts after a few steps each."""
        tried = [self._maximise(process, start, self.settings.trial_steps) for start in starts]
        return max(tried, key=lambda point: point[0])[1]

    def _maximise(
        self, process: GaussianProcess, theta: np.ndarray, steps: int, bounds: np.ndarray | None = None
    ) -> Point:
        """L and θ after L-BFGS from θ, within bounds; at once if the monitor has ended the search."""
        bounds, total = self.bounds if bounds is None else bounds, process.evidence.total
        start = np.clip(theta, bounds[:, 0], bounds[:, 1])
        first = process(start)[0]
        if not self.monitor.going:
            return first, start
        level = first if math.isfinite(first) else 0.0

        def downhill(theta: np.ndarray) -> tuple[float, np.ndarray]:
            """Nats per row below the start, which do not depend on the units of the target, and their gradient."""
            value, gradient = process(theta)
            if not math.isfinite(value):
                return IMPOSSIBLE, np.zeros_like(gradient)
            return (level - value) / total, -gradient / total

        def report(intermediate_result: Any) -> None:
            """Ends L-BFGS where the monitor says so."""
            self.steps_taken += 1
            noise = math.exp(-intermediate_result.x[-1]) if self.evidence.n_noise else math.nan
            value = level - float(intermediate_result.fun) * total
            if not self.monitor.search_step(self.steps_taken, value, self.bound.n_functions, noise):
                raise StopIteration

        options = {"maxiter": steps, "ftol": self.settings.tol}
        found = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=report)
        return level - float(found.fun) * total, found.x
