"""The search for the scales of a basis with the largest GP log marginal likelihood.

L-BFGS in θ = (log η, log shares of the parts, log β). A few starting widths are compared on few rows, and the
search continues from the best with more rows. If there are more rows still, all of them are used by a subset
of regressors with few inducing centres. Few rows cannot show fine structure and few centres cannot follow it;
the two results are compared with more centres. Widths stay between the smallest distance in the data and far
more than the largest: an input along which the kernel is so wide has no effect.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from sparsebayes._array import Array, is_numpy, on_accelerator, rows_at, take, to_numpy
from sparsebayes._threads import few_threads
from sparsebayes.bases import BoundBasis
from sparsebayes.scale_learning.climb import Climb, Point
from sparsebayes.scale_learning.evidence import Evidence, GaussianEvidence, spread_rows
from sparsebayes.scale_learning.learned import LearnedScales
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.profile import profiled
from sparsebayes.scale_learning.screening import NONE, irrelevant_functions
from sparsebayes.scale_learning.settings import DEFAULT, ScaleSearchSettings
from sparsebayes.scale_learning.space import ScaleSpace
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.stages import VALUES, once


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
        self.distinct = np.arange(len(self.X))
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
        self.climb = Climb(space, self.bounds, settings, monitor)

    def by_few_rows(self) -> Point:
        """The maximum of the process with exact covariance, from the best of a few starts on fewer rows."""
        settings = self.settings
        best = self._best(self.trial, self._first_starts())
        if self.trial is not self.process:
            best = self._best(self.process, self._restarts(best))
        return self.climb.maximise(self.process, best, settings.steps)

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
        other = self.climb.maximise(few, self._restarts(best[1])[-1], settings.steps)
        best = max(((self.climb.value(judge, theta), theta) for _, theta in (best, other)), key=lambda point: point[0])
        return self.unless_noise(judge, best)

    def without_irrelevant_inputs(self, best: Point) -> Point:
        """θ with the widest scale for irrelevant inputs, the other parameters maximised again.

        A scale is a parameter, and one of those of d inputs: it has to gain ½ log N nats, its penalty by BIC, or log d,
        that of the risk inflation criterion for the choice among d, if that is more. The inputs that matter least are
        widened a few at a time, since many irrelevant inputs together explain what none of them explains alone. For
        some targets no input is dropped.
        """
        movable = self.widest != self.bound.log_scales
        own = np.flatnonzero(self.bound.scale_per_input & ~self.space.tied & movable)
        if not self.evidence.drops_inputs or not len(own):
            return best
        penalty = max(0.5 * math.log(self.process.evidence.total), math.log(len(own)))
        doubtful, point, bounds = self._ordered(best[1], own), best, self.bounds.copy()
        highest = best[0] - penalty * len(own)
        while len(doubtful) and point[0] > highest:  # fewer scales explain no more, and may still cost less
            few = max(1, int(self.settings.dropped * len(doubtful)))
            dropped, doubtful = doubtful[:few], doubtful[few:]
            bounds[dropped] = self.widest[dropped, None]
            theta = np.clip(point[1], bounds[:, 0], bounds[:, 1])
            point = self.climb.maximise(self.process, theta, self.settings.steps, bounds)
            if point[0] - penalty * len(doubtful) > highest:
                best, highest = point, point[0] - penalty * len(doubtful)
            near = 2 * few  # inputs that matter far more do not become the least in one round
            doubtful = np.concatenate([self._ordered(point[1], doubtful[:near]), doubtful[near:]])
        return best

    def _ordered(self, theta: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """The inputs, that first whose widest scale in its place costs the least."""
        alone = [self.climb.value(self.process, self._widened(theta, k)) for k in inputs.tolist()]
        return inputs[np.argsort(-np.asarray(alone), kind="stable")]

    def unless_noise(self, process: GaussianProcess, best: Point) -> Point:
        """θ, unless noise alone does about as well: then the widest start, with the least shares.

        Functions as narrow as rows are apart are noise in effect. The GP log marginal likelihood hardly tells
        the two apart, and the sparse model would select a function for every row. So the scales that have an
        effect must gain ½ log N nats each.
        """
        shares = self.bounds[self.scales : self.scales + self.parts, 0]
        nothing = self._theta(self.space.start(max(self.settings.widths)), shares, -self.unit)
        effective = sum(bool(np.any(best[1][group] != self.widest[group])) for group in self.space.groups)
        penalty, alone = 0.5 * math.log(process.evidence.total) * max(effective, 1), self.climb.value(process, nothing)
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
        tried = [self.climb.maximise(process, start, self.settings.trial_steps) for start in starts]
        return max(tried, key=lambda point: point[0])[1]
