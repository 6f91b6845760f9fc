"""The search for the scales of a basis with the largest GP log marginal likelihood.

L-BFGS in θ = (log η, log shares of the parts, log β). A few starting widths are compared on few rows, and the
search continues from the best with more rows. If there are more rows still, all of them are used by a subset
of regressors with few inducing centres. Few rows cannot show fine structure and few centres cannot follow it;
the two results are compared with more centres. Widths stay between the smallest distance in the data and far
more than the largest: an input along which the kernel is so wide has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sparsebayes._array import Array, is_numpy, on_accelerator, rows_at, rows_on_host, take, to_numpy
from sparsebayes._threads import few_threads
from sparsebayes.bases import BoundBasis
from sparsebayes.scale_learning.evidence import Evidence, GaussianEvidence, spread_rows
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions, excess_of_outputs, excess_variance
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.profile import profiled
from sparsebayes.scale_learning.screening import NONE, irrelevant_functions
from sparsebayes.scale_learning.settings import DEFAULT, ScaleSearchSettings
from sparsebayes.scale_learning.space import ScaleSpace
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.stages import VALUES, once, staged

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
        The Gaussian process with exact covariance on up to `rows` rows, on the host, and its parameters θ.
    most : GaussianProcess
        The Gaussian process on up to `many_rows` rows: `process` if these are all rows, else by inducing centres,
        on the device of the rows.
    rows : ndarray of int
        The rows that `most` is given.
    """

    bound: BoundBasis
    log_evidence: float
    noise_variance: float
    first_noise_variance: float | None
    irrelevant: np.ndarray
    process: GaussianProcess
    theta: np.ndarray
    most: GaussianProcess
    rows: np.ndarray

    def excess_variance(
        self, result: Any, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None, scales: Any = None
    ) -> float:
        """What the error bars of a sparse regression at these scales lack, by the Gaussian process.

        Parameters
        ----------
        result : Result
            The sparse model.
        columns : array of shape (N, S)
            Its functions at the training rows.
        y : array of shape (N,) or (N, T)
            Training targets; T outputs that share their functions as the process was given them.
        counts : ndarray of shape (N,) or None
            How often each row counts; None for once each.
        scales : ndarray of shape (T,), optional
            What T outputs were divided by for the process, besides √T.

        Returns
        -------
        float
            A variance to be added to that of every prediction; 0 unless the process has all parts.
        """
        if not self.most.all_parts:
            return 0.0
        counts = None if counts is None else counts[self.rows]
        with np.errstate(all="ignore"):
            process = LeaveOneOutPredictions.of_process(self.most, self.theta)
            y, columns = (rows_on_host(each, self.rows) for each in (y, columns))
            if y.ndim == 1:
                sparse = LeaveOneOutPredictions.of_result(result, columns, y, counts)
                excess = excess_variance(process, sparse, counts)
            else:
                known = (result.alpha, result.noise_variance, counts, result.has_intercept)
                sparse = LeaveOneOutPredictions.of_weights(columns, y, *known)
                excess = excess_of_outputs(process, sparse, counts, scales / result.output_scales)
        return excess if math.isfinite(excess) else 0.0  # a kernel beyond floating point says nothing


def learn_scales(
    bound: BoundBasis,
    X: Array,
    evidence: Evidence,
    settings: ScaleSearchSettings = DEFAULT,
    monitor: FitMonitor | None = None,
    tied: bool = False,
) -> LearnedScales:
    """Learn the scales of a basis by the GP log marginal likelihood.

    Parameters
    ----------
    bound : BoundBasis
        Functions that have scales, `bound.log_scales`. Parts that live on the samples of a signal (wavelets,
        cosines, spikes) are not in the Gaussian process: their variance is part of its noise.
    X : array of shape (N, d)
        The rows they were bound to. Of rows on a device, the Gaussian processes of more than `settings.few_rows` rows
        are computed there; up to `settings.many_rows` rows come to the host, where the search is made.
    evidence : Evidence
        The targets of these rows: `GaussianEvidence(y, counts, center, noise_variance)` for a regression,
        `LaplaceEvidence(codes, counts, center, likelihood)` for classes.
    settings : ScaleSearchSettings
        What the search depends on.
    monitor : FitMonitor, optional
        What the steps are reported to; it may end the search, which then has the best scales so far.
    tied : bool
        Whether the scales of the inputs that belong to one parameter keep their ratios: one width for all inputs.

    Returns
    -------
    LearnedScales
        The basis at the best scales that were found.
    """
    monitor = monitor or FitMonitor()
    if is_numpy(X):
        return _learned(bound, X, evidence, settings, monitor, tied, None)
    known = spread_rows(evidence.order, settings.many_rows)
    X = take(X, known)
    there = X if on_accelerator(X) else None
    with nullcontext() if there is None else few_threads():  # what is large is computed on the device
        learned = _learned(bound, to_numpy(X), evidence.of_rows(known), settings, monitor, tied, there)
    return replace(learned, rows=known[learned.rows])


def _learned(
    bound: BoundBasis,
    X: np.ndarray,
    evidence: Evidence,
    settings: ScaleSearchSettings,
    monitor: FitMonitor,
    tied: bool,
    there: Array | None,
) -> LearnedScales:
    """`learn_scales` of rows X on the host, of which `there` is a copy on a device if that computes."""
    search, irrelevant = _Search(ScaleSpace(bound, X, tied), evidence, settings, monitor, there), NONE
    process = most = search.process
    rows, best = search.spread(settings.rows), search.by_few_rows()
    if evidence.low_rank and len(search.distinct) > settings.rows:
        most, rows = search.by_centres(settings.judge_centres), search.spread(settings.many_rows)
        value, theta = search.by_many_rows(best, most)
    else:
        value, theta = search.unless_noise(process, search.without_irrelevant_inputs(best))
        most = search.process_on_host()
        irrelevant = irrelevant_functions(most, theta)
    noise = math.exp(-theta[-1]) if evidence.n_noise else math.nan
    first = settings.sparse_noise * noise if evidence.n_noise and process.all_parts else None
    bound = bound.with_log_scales(theta[: process.n_scales])
    return LearnedScales(bound, value, noise, first, irrelevant, search.process_on_host(), theta, most, rows)


class _Search:
    """The steps of a search.

    there : the rows on a device that computes what has more than `settings.few_rows` rows; None if there is none.
    trial, process : Gaussian processes with exact covariance, on few rows and on up to `settings.rows` rows.
    unit : log of the expected variance of f.  bounds : least and largest θ (θ, 2).
    widest : log η of functions of the largest width.
    """

    def __init__(
        self,
        space: ScaleSpace,
        evidence: Evidence,
        settings: ScaleSearchSettings,
        monitor: FitMonitor,
        there: Array | None,
    ) -> None:
        self.space, self.bound, self.X = space, space.bound, space.X
        self.evidence, self.settings, self.monitor, self.there = evidence, settings, monitor, there
        self.steps_taken, self.distinct = 0, np.arange(len(self.X))
        if isinstance(evidence, GaussianEvidence):  # copies of a row would be taken for rows without noise
            rows = np.column_stack([self.X, evidence.y])
            self.distinct = np.sort(np.unique(rows, axis=0, return_index=True)[1])
        self.process = self._process(settings.rows)
        self.trial = self.process if len(self.distinct) <= settings.few_rows else self._process(settings.few_rows)
        self.scales, self.parts = self.process.n_scales, len(self.process.parts)
        self.unit = math.log(evidence.spread)
        shares = np.tile(self.unit + np.asarray(settings.share_range), (self.parts, 1))
        noise = np.tile(-self.unit - np.asarray(settings.noise_range)[::-1], (evidence.n_noise, 1))
        self.bounds = np.concatenate([space.bounds(settings.widest), shares, noise])
        self.widest = space.as_wide_as(settings.widest)
        self.free = self._free_directions()

    def by_few_rows(self) -> Point:
        """The maximum of the process with exact covariance, from the best of a few starts on fewer rows."""
        settings = self.settings
        best = self._best(self.trial, self._first_starts())
        if self.trial is not self.process:
            best = self._best(self.process, self._restarts(best))
        return self._maximise(self.process, best, settings.steps)

    def _first_starts(self) -> list[np.ndarray]:
        """θ to begin with: of widths from the smallest distance to more than the largest, the most likely ones.

        Amplitude and noise are those of the largest likelihood at each width where an eigendecomposition gives them.
        """
        settings, evidence = self.settings, self.evidence
        if self.parts > 1 or not isinstance(evidence, GaussianEvidence):
            share, noise = self.unit - math.log(self.parts), -self.unit - math.log(settings.first_noise)
            return [self._theta(self.space.start(width), share, noise) for width in settings.widths]
        tried: list[Point] = []
        width = settings.first_width
        while width > settings.connecting * self.space.narrowest() or len(tried) < settings.least_widths:
            start = self.space.start(width)
            value, theta = once(self.monitor, "profile", VALUES, lambda start=start: list(self._profiled(start)))
            tried.append((value, theta))
            width /= settings.width_step
            if not self.monitor.going:
                break
        values = np.asarray([-math.inf, *(value for value, _ in tried), -math.inf])
        peaks = [k for k in range(len(tried)) if values[k + 1] > max(values[k], values[k + 2])]
        peaks = sorted(peaks, key=lambda k: -tried[k][0])[: settings.first_starts]
        return [tried[k][1] for k in peaks] or [tried[0][1]]

    def _profiled(self, log_scales: np.ndarray) -> Point:
        """L and θ at these scales, amplitude and noise where the likelihood of the trial rows is largest."""
        process, low = self.trial, self._theta(log_scales, 0.0, 0.0)
        assert isinstance(process.evidence, GaussianEvidence)
        K = process.covariance(process.parts_at(low))
        value, log_share, log_noise = profiled(process.evidence, K, self.settings.ratio_range)
        theta = self._theta(log_scales, log_share, -log_noise)
        return value, np.clip(theta, self.bounds[:, 0], self.bounds[:, 1])

    def spread(self, n: int) -> np.ndarray:
        """The numbers of up to n rows that represent all; of rows that agree in everything, the first."""
        return self.distinct[spread_rows(self.evidence.order[self.distinct], n)]

    def by_centres(self, m: int) -> GaussianProcess:
        """The Gaussian process of all rows, or of many, by a subset of regressors at m inducing centres."""
        return self._process(self.settings.many_rows, m)

    def by_many_rows(self, best: Point, judge: GaussianProcess) -> Point:
        """The best θ so far, or that of a search by a subset of regressors on all rows, whichever is higher.

        The two are compared by `judge`, a subset of regressors with more inducing centres.
        """
        settings = self.settings
        few = self.by_centres(settings.centres)
        other = self._maximise(few, self._restarts(best[1])[-1], settings.steps)
        best = max(((self._value(judge, theta), theta) for _, theta in (best, other)), key=lambda point: point[0])
        return self.unless_noise(judge, best)

    def without_irrelevant_inputs(self, best: Point) -> Point:
        """θ with the widest scale for irrelevant inputs, the other parameters maximised again.

        A scale is a parameter: it has to gain ½ log N nats, its penalty by BIC. For some targets no input is dropped.
        """
        if not self.evidence.drops_inputs:
            return best
        process, (value, theta) = self.process, best
        penalty = 0.5 * math.log(process.evidence.total)
        movable = self.widest != self.bound.log_scales
        inputs = np.flatnonzero(self.bound.scale_per_input & ~self.space.tied & movable).tolist()
        alone = {k: self._value(process, self._widened(theta, k)) for k in inputs}
        irrelevant = []
        for k in sorted(inputs, key=lambda k: -alone[k]):
            trial = self._widened(theta, k)
            without = self._value(process, trial)
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
        nothing = self._theta(self.space.start(max(self.settings.widths)), shares, -self.unit)
        effective = sum(bool(np.any(best[1][group] != self.widest[group])) for group in self.space.groups)
        penalty, alone = 0.5 * math.log(process.evidence.total) * max(effective, 1), self._value(process, nothing)
        return (alone, nothing) if best[0] < alone + penalty else best

    def _process(self, n: int, m: int | None = None) -> GaussianProcess:
        """The Gaussian process of up to n rows, exact or by a subset of regressors at m centres."""
        rows = self.spread(n)
        if self.there is None or len(rows) <= self.settings.few_rows:
            return self._process_of(self.X, rows, m)
        return self._process_of(self.there, rows, m)

    def process_on_host(self) -> GaussianProcess:
        """`process` with its rows on the host."""
        return self.process if self.there is None else self._process_of(self.X, self.spread(self.settings.rows), None)

    def _process_of(self, X: Array, rows: np.ndarray, m: int | None) -> GaussianProcess:
        """The Gaussian process of these rows of X, where X is."""
        Z, evidence = None if m is None else rows_at(X, self.spread(m)), self.evidence.of_rows(rows).beside(X)
        return GaussianProcess(self.bound, rows_at(X, rows), evidence, Z, self.settings)

    def _theta(self, log_scales: np.ndarray, log_shares: float | np.ndarray, log_beta: float) -> np.ndarray:
        """θ of these scales, shares and noise precision; the last only if the noise is estimated."""
        shares, noise = np.full(self.parts, log_shares), np.full(self.evidence.n_noise, log_beta)
        return np.concatenate([log_scales, shares, noise])

    def _widened(self, theta: np.ndarray, k: int) -> np.ndarray:
        """θ with scale k at its largest width."""
        changed = theta.copy()
        changed[k] = self.widest[k]
        return changed

    def _restarts(self, theta: np.ndarray) -> list[np.ndarray]:
        """θ, and if its scales are too wide to come back, θ with narrower ones."""
        limits = self.space.bounds(self.settings.widest_start)
        narrowed = theta.copy()
        narrowed[: self.scales] = np.clip(theta[: self.scales], limits[:, 0], limits[:, 1])
        return [theta] if np.array_equal(theta, narrowed) else [theta, narrowed]

    def _best(self, process: GaussianProcess, starts: list[np.ndarray]) -> np.ndarray:
        """θ of the best of several starts after a few steps each."""
        tried = [self._maximise(process, start, self.settings.trial_steps) for start in starts]
        return max(tried, key=lambda point: point[0])[1]

    def _free_directions(self) -> np.ndarray:
        """The directions (θ, free) in which θ moves: tied scales move together, everything else by itself."""
        others = [np.asarray([k]) for k in range(self.scales, len(self.bounds))]
        directions = np.zeros((len(self.bounds), len(self.space.groups) + len(others)))
        for column, group in enumerate([*self.space.groups, *others]):
            directions[group, column] = 1.0
        return directions

    def _limits(self, theta: np.ndarray, bounds: np.ndarray) -> np.ndarray:
        """How far θ may move in each free direction, (free, 2)."""
        inside = self.free.T > 0
        low = [float(np.max((bounds[:, 0] - theta)[row])) for row in inside]
        high = [float(np.min((bounds[:, 1] - theta)[row])) for row in inside]
        return np.stack([low, np.maximum(low, high)], axis=1)

    def _maximise(
        self, process: GaussianProcess, theta: np.ndarray, steps: int, bounds: np.ndarray | None = None
    ) -> Point:
        """L and θ after L-BFGS from θ, within bounds; at once if the monitor has ended the search."""
        with staged(self.monitor, "maximise", VALUES) as stage:
            if not stage.finished:
                value, theta = self._maximised(process, theta, steps, bounds)
                stage.finish([value, theta, self.steps_taken, process.evidence.memory])
                return value, theta
        value, theta, self.steps_taken, process.evidence.memory = stage.result
        return value, theta

    def _evaluated(self, process: GaussianProcess, theta: np.ndarray) -> list[Any]:
        """L and its gradient at θ."""
        return self._computed("evaluate", process, lambda: process(theta))

    def _value(self, process: GaussianProcess, theta: np.ndarray) -> float:
        """L alone at θ."""
        return self._computed("value", process, lambda: [process.value(theta)])[0]

    def _computed(self, name: str, process: GaussianProcess, compute: Callable[[], Sequence[Any]]) -> list[Any]:
        """The values that are computed, or were before an interruption, with what the evidence remembers since."""
        with staged(self.monitor, name, VALUES) as stage:
            if not stage.finished:
                return stage.finish([*compute(), process.evidence.memory])[:-1]
        *values, process.evidence.memory = stage.result
        return values

    def _maximised(self, process: GaussianProcess, theta: np.ndarray, steps: int, bounds: np.ndarray | None) -> Point:
        bounds, total = self.bounds if bounds is None else bounds, process.evidence.total
        limits = self._limits(theta, bounds)
        start = theta + self.free @ np.clip(0.0, limits[:, 0], limits[:, 1])
        limits, (first, first_slope) = self._limits(start, bounds), self._evaluated(process, start)
        if not self.monitor.going:
            return first, start
        level = first if math.isfinite(first) else 0.0

        def downhill(moved: np.ndarray) -> tuple[float, np.ndarray]:
            """Nats per row below the start, which do not depend on the units of the target, and their gradient."""
            at_start = not moved.any()
            value, gradient = (first, first_slope) if at_start else self._evaluated(process, start + self.free @ moved)
            if not math.isfinite(value):
                return IMPOSSIBLE, np.zeros_like(moved)
            return (level - value) / total, -(self.free.T @ gradient) / total

        def report(intermediate_result: Any) -> None:
            """Ends L-BFGS where the monitor says so."""
            self.steps_taken += 1
            noise = math.exp(-(start[-1] + intermediate_result.x[-1])) if self.evidence.n_noise else math.nan
            value = level - float(intermediate_result.fun) * total
            if not self.monitor.search_step(self.steps_taken, value, self.bound.n_functions, noise):
                raise StopIteration

        options = {"maxiter": steps, "ftol": self.settings.tol}
        first_move = np.zeros(len(limits))
        found = minimize(
            downhill, first_move, jac=True, method="L-BFGS-B", bounds=limits, options=options, callback=report
        )
        return level - float(found.fun) * total, start + self.free @ found.x
