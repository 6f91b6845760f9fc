"""Which way leads from the data to a fitted model: `path_for` chooses, by what the design and the likelihood are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import array_api_compat
import numpy as np

from sparsebayes._array import Array, count, namespace
from sparsebayes.bases.kernel_operator import KernelOperator
from sparsebayes.bases.linear_map import LinearMap, is_linear_operator
from sparsebayes.bases.operators import Operator
from sparsebayes.bases.stacked_operator import as_operator
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.joint.complex import ComplexData, is_complex
from sparsebayes.joint.complex_result import ComplexPath
from sparsebayes.joint.path import SEPARATE, JointRequest, joint_path, statistics_joint_path
from sparsebayes.laplace import ClassLikelihood, LaplacePath, NoisePath, check_label_vector
from sparsebayes.large_kernels import KernelPath
from sparsebayes.rows.devices import on_host, result_beside
from sparsebayes.rows.known_noise import KnownNoise, KnownNoiseRows, SummedNoise
from sparsebayes.rows.memory import summarise
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.sources import is_chunked, is_dask, is_too_large
from sparsebayes.rows.triangle import Triangle
from sparsebayes.rows.validation import (
    ChunkCheck,
    as_counts,
    check_design,
    check_rows,
    check_targets,
    check_variances,
    check_weights,
    constant_of,
    has_outputs,
    read_chunks,
    read_known_noise,
)
from sparsebayes.signals.path import OrthonormalPath
from sparsebayes.solvers import ActiveSet
from sparsebayes.solvers.constant import ConstantPath
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, solve_regression


class Path(Protocol):
    """One way from data to a fitted model.  default_solver : what solver="auto" means on it."""

    @property
    def default_solver(self) -> Solver:
        """A solver that suits the path."""

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """The fitted model, in the units of the data."""


@dataclass(frozen=True, eq=False)
class StatisticsPath:
    """A regression with Gaussian noise: the statistics of the rows are all that is needed of them.

    summarise : reads the rows, and returns the quadratic of the scaled problem and its units.
    """

    summarise: Callable[[], tuple[Quadratic, Units]]
    noise: NoiseOptions
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Read the rows once, then solve on the host."""
        quadratic, units = self.summarise()
        result = solve_regression(*on_host(quadratic, units), self.noise, prior, solver, monitor)
        return result_beside(result, quadratic.h)


@dataclass(frozen=True, eq=False)
class KnownNoisePath:
    """A regression whose noise variance is known at each row: rows that are weighted, under one noise variance.

    weighted : the path of those rows.  noise : what is known of the noise.
    """

    weighted: Path
    noise: KnownNoise | SummedNoise

    @property
    def default_solver(self) -> Solver:
        """The solver that suits the weighted rows."""
        return self.weighted.default_solver

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """The model of the weighted rows, with the evidence and the likelihood of the rows as they are."""
        monitor.shift = self.noise.log_shift  # of every output
        result = self.weighted.fit(prior, solver, monitor)
        shift = result.outputs * monitor.shift
        path = np.append(result.evidence_path[:-1], result.objective + shift)
        evidence = {"log_evidence": result.log_evidence + shift, "objective": path[-1], "evidence_path": path}
        return replace(result, likelihood=self.noise, **evidence)


def path_for(
    Phi: Any,
    y: Any,
    sample_weight: Any,
    center: bool,
    likelihood: Any,
    noise_variance: float | None = None,
    guess: float | None = None,
    polish: bool = False,
    request: JointRequest = SEPARATE,
    monitor: FitMonitor | None = None,
) -> Path:
    """The path for this design and likelihood: the only place that asks what Phi is.

    monitor : what is told of passes over rows on Dask.
    """
    _check_polish(polish, likelihood)
    noise = NoiseOptions(likelihood, noise_variance, guess)
    if hasattr(Phi, "path_of_rows"):  # rows that stay where they are, and know how they are fitted
        return Phi.path_of_rows(center, likelihood, polish, noise, request.groups)
    if is_dask(Phi) and isinstance(likelihood, ClassLikelihood):
        request.refuse_unpenalised(likelihood)
        return _labels_on_dask(Phi, y, sample_weight, monitor).path_of_rows(
            center, likelihood, polish, groups=request.groups
        )
    if y is not None and not is_dask(Phi) and (is_complex(y) or is_complex(Phi)):
        data = ComplexData.of(Phi, y, sample_weight, center, likelihood, noise_variance, guess, request)
        return _complex_path(data)
    read = isinstance(Phi, Triangle | RowPasses | KnownNoiseRows)
    if read or is_dask(Phi) or is_chunked(Phi, y) or is_too_large(Phi):
        return _statistics_path(statistics_of(Phi, y, sample_weight, likelihood, monitor), center, noise, request)
    return _path_in_memory(Phi, y, sample_weight, center, noise, polish, request)


def _check_polish(polish: bool, likelihood: Any) -> None:
    """Raise ValueError for polish=True with a likelihood that has no classes."""
    if polish and not isinstance(likelihood, ClassLikelihood):
        raise ValueError(
            f"polish must be False with likelihood={likelihood!r}, got True: only the curvature of a likelihood of "
            "classes moves with alpha in a way that is known."
        )


def _path_in_memory(
    Phi: Any, y: Any, sample_weight: Any, center: bool, noise: NoiseOptions, polish: bool, request: JointRequest
) -> Path:
    """The path of a design in memory or behind products."""
    likelihood: Any = noise.likelihood
    operator, like = _operator_of(Phi, y)
    weights = as_counts(check_weights(sample_weight, operator.shape[0], like=like))
    if weights is not None:
        check_rows(count(weights > 0), "Phi")
    if isinstance(likelihood, ClassLikelihood):
        request.refuse_unpenalised(likelihood)
        return _labels_path(operator, y, weights, center, noise, polish, request.groups)
    if request.wanted or has_outputs(y):
        request.require_gaussian(likelihood, y)
        return _with_noise(
            lambda weights, noise: joint_path(operator, y, weights, center, noise, request, like),
            operator.shape[0],
            weights,
            noise,
            like,
        )
    return _one_output_path(operator, y, weights, center, noise, like)


def _operator_of(Phi: Any, y: Any) -> tuple[Operator, Array | None]:
    """Phi in memory or behind products as an operator, and an array of the namespace that targets are to have."""
    like = y if array_api_compat.is_array_api_obj(y) else None
    if isinstance(Phi, Operator):
        return Phi, like
    if is_linear_operator(Phi):
        return LinearMap(Phi), like
    design = check_design(Phi)
    return as_operator(design), like if hasattr(design, "tocsc") else design


def _labels_path(
    operator: Operator, y: Any, weights: Array | None, center: bool, noise: NoiseOptions, polish: bool, groups: Any
) -> Path:
    """The path of a likelihood that has no noise, such as one of classes."""
    likelihood: Any = noise.likelihood
    if noise.variance is not None:
        raise ValueError(f"noise_variance must be None: {likelihood!r} has no noise variance.")
    return LaplacePath(operator, y, weights, center, likelihood, polish=polish, groups=groups)


def _one_output_path(
    operator: Operator, y: Any, weights: Array | None, center: bool, noise: NoiseOptions, like: Array | None
) -> Path:
    """The path of one output without groups, for every likelihood that is not one of classes."""
    likelihood: Any = noise.likelihood
    gaussian = isinstance(likelihood, Gaussian)
    if not gaussian and not likelihood.has_noise:
        return _labels_path(operator, y, weights, center, noise, False, None)
    t = check_targets(y, operator.shape[0], like=like)
    known = noise if gaussian else replace(noise, likelihood=Gaussian())
    path = _with_noise(
        lambda weights, noise: _gaussian_path(operator, t, weights, center, noise), operator.shape[0], weights, known, t
    )
    if gaussian or isinstance(path, ConstantPath):
        return path
    return NoisePath(path, operator, t, weights, center, likelihood, noise.variance)


def _labels_on_dask(Phi: Any, y: Any, sample_weight: Any, monitor: FitMonitor | None) -> Any:
    """Labelled rows that are Dask collections, which stay where they are."""
    from sparsebayes.distributed import ColumnRows, LabelRows, PassWatch  # imports Dask

    rows = LabelRows.of(Phi, y, sample_weight, check_design, check_label_vector, PassWatch.of(monitor))
    return ColumnRows(rows.encoded(ascending=True), rows.given.shape[1])


def _complex_path(data: ComplexData) -> Path:
    """The path of a regression on complex data, through their real embedding."""
    guess = None if data.guess is None else data.guess / 2
    noise = (data.real_likelihood, data.real_variance, guess)
    real = path_for(data.operator, data.real_targets, data.real_counts, False, *noise, request=data.real_request)
    return ComplexPath(real, data)


def _with_noise(
    build: Callable[[Array | None, NoiseOptions], Path],
    n: int,
    weights: Array | None,
    noise: NoiseOptions,
    like: Array | None,
) -> Path:
    """The path that `build` makes of weights and noise, or of those that known noise variances of the n rows give."""
    if noise.likelihood.variance is None:
        return build(weights, noise)
    variances = check_variances(noise.likelihood.variance, n, "variance of Gaussian", like)
    counts = namespace(variances).ones_like(variances) if weights is None else weights
    known = KnownNoise(variances, counts)
    return KnownNoisePath(build(known.weights, _common_noise(known, noise)), known)


def _common_noise(known: KnownNoise | SummedNoise, noise: NoiseOptions) -> NoiseOptions:
    """The one noise variance of rows that are weighted by their own; `noise` holds the arguments of the caller."""
    if noise.variance is not None:
        raise ValueError(
            f"noise_variance must be None if every row has a noise variance of its own, got {noise.variance!r}."
        )
    return NoiseOptions(Gaussian(noise.likelihood.prior), known.common)


def _gaussian_path(operator: Operator, t: Array, weights: Array | None, center: bool, noise: NoiseOptions) -> Path:
    """The path of a regression with Gaussian noise and all rows in memory."""
    constant = constant_of(t, weights)
    if constant is not None and (center or constant == 0):
        n = float(t.shape[0]) if weights is None else float(namespace(t).sum(weights))
        return ConstantPath(constant, n, center, noise.variance, t)
    if not operator.is_formed:
        return KernelPath(cast(KernelOperator, operator), t, weights, center, noise)
    if operator.orthonormal and weights is None and not center:
        return OrthonormalPath(operator, t, noise)
    return StatisticsPath(lambda: summarise(operator, t, weights, center), noise)


def _statistics_path(
    rows: Triangle | RowPasses | KnownNoiseRows, center: bool, noise: NoiseOptions, request: JointRequest
) -> Path:
    """The path of a regression with Gaussian noise on rows that were read in chunks."""
    if isinstance(rows, KnownNoiseRows):
        known = rows.noise
        return KnownNoisePath(_statistics_path(rows.weighted, center, _common_noise(known, noise), request), known)
    if request.wanted or rows.outputs > 1:
        return statistics_joint_path(rows, center, noise, request)
    if rows.constant is not None and (center or rows.constant == 0):
        return ConstantPath(rows.constant, rows.n, center, noise.variance, rows.origin)
    return StatisticsPath(lambda: rows.summarise(center), noise)


def statistics_of(
    Phi: Any, y: Any, sample_weight: Any, likelihood: Any, monitor: FitMonitor | None = None
) -> Triangle | RowPasses | KnownNoiseRows:
    """The statistics of rows that come in chunks, or are too large to be held in memory."""
    if not isinstance(likelihood, Gaussian):
        raise ValueError(
            f"likelihood must be Gaussian for chunks or rows on disk, got {likelihood!r}: any other needs "
            "all rows in memory."
        )
    if isinstance(Phi, KnownNoiseRows):
        return Phi
    check = ChunkCheck(lambda design, first: check_design(design))
    rows: Triangle | RowPasses | KnownNoiseRows | None = Phi
    if is_dask(Phi):
        from sparsebayes.distributed import PassWatch, read_triangle  # imports Dask

        rows = read_triangle(Phi, y, sample_weight, check_design, likelihood.variance, PassWatch.of(monitor))
    elif likelihood.variance is not None:
        names = ("Phi", "variance of Gaussian")
        return read_known_noise(Phi, y, sample_weight, likelihood.variance, check, names)
    elif not isinstance(Phi, Triangle | RowPasses):
        rows = read_chunks(Phi, y, sample_weight, check, "Phi")
    if rows is None:
        raise ValueError("Phi has no row of positive weight, but at least two rows are needed.")
    check_rows(rows.rows, "Phi")
    return rows if isinstance(rows, KnownNoiseRows) else rows.as_counts()
