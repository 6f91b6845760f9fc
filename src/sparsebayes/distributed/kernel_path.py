"""A kernel machine on Dask: which points become functions is found in passes over all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes.bases.operators import LOW_RANK, LowRankSettings
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Effort, Solution, Solver
from sparsebayes.distributed.kernel_search import RemoteSearch
from sparsebayes.distributed.kernel_statistics import KnownPoints, RemoteColumns, RemoteLowRank
from sparsebayes.distributed.landmarks import Landmarks, enough_landmarks
from sparsebayes.distributed.points import PointRows, distinct_points
from sparsebayes.distributed.remote_laplace import refuse_groups
from sparsebayes.large_kernels.settings import WORKING_SETS, WorkingSetSettings
from sparsebayes.solvers.active_set import ActiveSet, Search
from sparsebayes.solvers.constant import ConstantPath
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, report
from sparsebayes.solvers.sized import Sized, unlimited


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows that stay where they are, with one kernel function centred at each of them as candidates.

    Parameters
    ----------
    points : PointRows
        The rows.
    kernel : CentredBasis
        k, its parameters being numbers.

    Attributes
    ----------
    known : KnownPoints
        The points that the client has heard of: the numbers of functions, also those of a `Result`, are theirs.
    """

    points: PointRows
    kernel: Any

    @cached_property
    def known(self) -> KnownPoints:
        """The points that the client knows, none at first."""
        return KnownPoints(np.zeros((0, len(self.points.overview.low))))

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        return (self.points.overview.rows, self.points.overview.rows)

    def path_of_rows(self, center: bool, likelihood: Any, polish: bool, noise: NoiseOptions, groups: Any = None) -> Any:
        """How a regression with Gaussian noise is fitted to these rows."""
        refuse_groups(groups)
        triangle = self.points.overview.triangle
        assert triangle is not None
        if triangle.constant is not None and (center or triangle.constant == 0):
            return ConstantPath(triangle.constant, triangle.n, center, noise.variance, triangle.origin)
        return RemoteKernelPath(self, center, noise)


@dataclass(frozen=True, eq=False)
class RemoteKernelPath:
    """A regression with Gaussian noise and a kernel of low rank, on rows that stay where they are.

    rows : the rows and the kernel.  fit_intercept : whether there is an intercept.  noise : what is known of it.
    settings, low_rank : what the search and the factor depend on.
    """

    rows: KernelRows
    fit_intercept: bool
    noise: NoiseOptions
    settings: WorkingSetSettings = WORKING_SETS
    low_rank: LowRankSettings = LOW_RANK
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit through landmarks, and end on true columns.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What works on each working set; it must work by rounds, as `ActiveSet` does.
        monitor : FitMonitor
            What the iterations are reported to.

        Returns
        -------
        Result
            The fitted model, under the true kernel; function m is centred at point m of `rows.known`.
        """
        free = _by_rounds(solver)
        points, kernel = self.rows.points, self.rows.kernel
        columns = RemoteColumns(points, kernel, self.rows.known, self.fit_intercept)
        units = columns.units
        resolved, noise, told = prior.resolve(units.n), self.noise.model_from_guess(units), monitor.in_units(units)
        sample = columns.known.numbers_of(distinct_points(points.rows, self.settings.sample, seed=1))
        none, model = Landmarks.none(kernel, len(points.overview.low)), None
        for tolerance in self.settings.tolerances:
            tol = tolerance / math.sqrt(units.n)
            landmarks = enough_landmarks(points.rows, points.overview.rows, none, tol, self.low_rank)
            search = RemoteSearch(
                scored=RemoteLowRank(landmarks, columns),
                columns=columns,
                prior=resolved,
                noise=noise,
                solver=replace(free, effort=Search()),
                monitor=told,
                settings=self.settings,
                pace=self.settings.cheap,
                sample=sample,
            )
            pivots = columns.known.numbers_of(landmarks.Z)
            model = search.initialise(np.unique(pivots), Effort.DRAFT) if model is None else model
            end = search.finish(*search.settle(search.exchange(model)))
            model = end.model
            if end.agreed:
                break
        else:
            monitor.remarks.append(
                "The functions were scored through a kernel of low rank that does not agree with the kernel itself to "
                f"a tenth of a nat, so that better ones among the {len(search.every)} rows may have been missed; use a "
                "narrower kernel (a larger gamma)."
            )
        end = search.limited(end, solver) if isinstance(solver, Sized) else end
        solution = Solution(end.model.state, end.converged)
        return replace(report(solution, end.model.units, monitor, end.certificate), candidates=None)


def _by_rounds(solver: Solver) -> ActiveSet:
    """The solver of a working set, without a limit on the number of functions; ValueError if it needs all functions."""
    free = unlimited(solver)
    if not isinstance(free, ActiveSet):
        raise ValueError(
            f"solver must be 'auto' or 'active-set' for a kernel machine on Dask, got {solver!r}: any other needs "
            "the kernel matrix of all rows; pass arrays, such as X.compute()."
        )
    return free
