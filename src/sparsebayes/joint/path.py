"""The paths of regressions with several outputs, groups of columns, or columns without a prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy
from sparsebayes._checks import is_number, warn
from sparsebayes.bases.operators import Operator
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.units import Units
from sparsebayes.joint.outputs import Outputs
from sparsebayes.joint.regression import JointPath, Sharing, check_groups, output_squares
from sparsebayes.joint.result import JointResult, SeparateResults, constant_outputs
from sparsebayes.joint.unpenalised import check_unpenalised
from sparsebayes.rows.memory import summarise
from sparsebayes.rows.validation import check_outputs, check_targets, has_outputs
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions, checked_variance


@dataclass(frozen=True, eq=False)
class JointRequest:
    """What a user asks for: groups, columns without a prior, one noise variance for all outputs."""

    groups: Any = None
    unpenalised: Any = None
    shared_noise: bool = False
    joint: bool = True

    @property
    def wanted(self) -> bool:
        """Whether there are groups or columns without a prior."""
        return self.groups is not None or self.unpenalised is not None

    def require_gaussian(self, likelihood: Any, y: Any) -> None:
        """Raise ValueError for groups, columns without a prior or several outputs if the noise is not Gaussian."""
        what = "groups" if self.groups is not None else "unpenalised" if self.unpenalised is not None else "y"
        if not isinstance(likelihood, Gaussian):
            given = f"an array of shape {np.shape(y)}" if what == "y" else "a value"
            raise ValueError(f"{what} needs Gaussian noise, got {given} with likelihood={likelihood!r}.")

    def refuse_unpenalised(self, likelihood: Any) -> None:
        """Raise ValueError for columns without a prior under a likelihood of classes, which may have groups of them."""
        if self.unpenalised is not None:
            raise ValueError(f"unpenalised needs Gaussian noise, got a value with likelihood={likelihood!r}.")

    def sharing(self, M: int, outputs: Outputs | None = None) -> Sharing:
        """Which of M columns share a precision."""
        groups, unpenalised = check_groups(self.groups, M), check_unpenalised(self.unpenalised, M)
        if unpenalised is not None and len(unpenalised) == M:
            raise ValueError(f"unpenalised names all {M} columns: at least one must be left to be selected.")
        return Sharing(groups, unpenalised, outputs, self.shared_noise)


SEPARATE = JointRequest()


def joint_path(
    operator: Operator,
    y: Any,
    weights: Array | None,
    center: bool,
    noise: NoiseOptions,
    request: JointRequest,
    like: Array | None,
) -> Any:
    """The path of a regression with all rows in memory."""
    N, M = operator.shape
    merge = request.groups is None
    if has_outputs(y):
        Y = check_outputs(y, N, like)
        varies = ~_constant(Y, weights, center)
        if varies.all():
            return outputs_path(operator, Y, weights, center, noise, request)
        kept = np.flatnonzero(varies)
        n = float(N) if weights is None else float(namespace(Y).sum(weights))
        return ConstantOutputs(
            lambda noise: outputs_path(operator, take(Y, kept, axis=1), weights, center, noise, request),
            Y[0, :],
            n,
            center,
            noise,
            varies,
        )
    t = check_targets(y, N, like=like)
    return JointPath(lambda: (*summarise(operator, t, weights, center, merge), None), noise, request.sharing(M))


def outputs_path(
    operator: Operator, Y: Array, weights: Array | None, center: bool, noise: NoiseOptions, request: JointRequest
) -> JointPath:
    """The path of outputs (N, T), T ≥ 1, none of which is constant."""
    outputs, noise = outputs_of(Y, weights, center, noise, request.shared_noise)
    t = outputs.targets(Y)

    def read() -> tuple[Quadratic, Units, Array]:
        quadratic, units = summarise(operator, t, weights, center, merge=request.groups is None)
        return quadratic, units, output_squares(units.scaled(t), weights)

    return JointPath(read, noise, request.sharing(operator.shape[1], outputs))


def outputs_of(
    Y: Array, weights: Array | None, center: bool, noise: NoiseOptions, shared: bool
) -> tuple[Outputs, NoiseOptions]:
    """How outputs in memory are scaled for the solver, and what is known of the noise then."""
    return _scaled_outputs(
        int(Y.shape[1]), noise, shared, Y, lambda: Outputs.shared(Y), lambda: _spread(Y, weights, center)
    )


def _scaled_outputs(
    T: int, noise: NoiseOptions, shared: bool, like: Array, common: Callable[[], Outputs], spread: Callable[[], Array]
) -> tuple[Outputs, NoiseOptions]:
    """How T outputs are scaled for the solver, and what is known of the noise then.

    A noise variance for each output that is known scales the outputs by it; then the noise variance is 1.
    common : the outputs under one noise variance.  spread : the root mean square of every output, (T,).
    """
    variance = noise.variance
    if variance is not None and not is_number(variance):
        known = np.asarray(variance, dtype=np.float64)
        if known.shape != (T,) or not (np.isfinite(known) & (known > 0)).all():
            raise ValueError(
                f"noise_variance must be a number > 0 or one for each of {T} outputs, got shape {known.shape}."
            )
        return Outputs(asfloat64(np.sqrt(known), like=like)), replace(noise, variance=1.0)
    noise = replace(noise, variance=checked_variance(variance, "noise_variance"))
    if shared or noise.variance is not None:
        return common(), noise
    return Outputs(spread()), replace(noise, guess=None)


def _spread(Y: Array, weights: Array | None, center: bool) -> Array:
    """The root mean square of every output (T,), about its mean with an intercept."""
    xp = namespace(Y)
    counts = xp.ones_like(Y[:, 0]) if weights is None else weights
    n = float(xp.sum(counts))
    deviation = Y - (counts @ Y / n)[None, :] if center else Y
    peak = xp.max(xp.abs(deviation), axis=0)
    return peak * xp.sqrt(counts @ (deviation / peak[None, :]) ** 2 / n)


def _constant(Y: Array, weights: Array | None, center: bool) -> np.ndarray:
    """Which outputs an intercept (or zero, without one) reproduces exactly, (T,)."""
    rows = to_numpy(Y) if weights is None else to_numpy(Y)[to_numpy(weights) > 0]
    alike = (rows == rows[:1]).all(axis=0)
    return alike if center else alike & (rows[0] == 0)


@dataclass(frozen=True, eq=False)
class ConstantOutputs:
    """Outputs of which some are constant: these are left out, and their models are their constants.

    path_of : what is known of the noise of the outputs that vary -> their path.
    first : (T,) the targets of the first row.  n : Σ weights.  noise : what is known of the noise of all outputs.
    varies : (T,) which outputs are not constant.
    """

    path_of: Callable[[NoiseOptions], JointPath]
    first: Array
    n: float
    center: bool
    noise: NoiseOptions
    varies: np.ndarray
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """The model of the outputs that vary, completed by the constants, with a warning."""
        constant = np.flatnonzero(~self.varies)
        warn(f"y is constant in output(s) {constant.tolist()}: the models of these outputs are their constants.")
        noise, values = self.noise, to_numpy(self.first)
        variance = float(noise.variance) if is_number(noise.variance) else 0.0
        if not self.varies.any():
            return constant_outputs(values, self.n, self.center, variance, self.first)
        if noise.variance is not None and not is_number(noise.variance):
            noise = replace(noise, variance=np.asarray(noise.variance)[self.varies])
        result = self.path_of(noise).fit(prior, solver, monitor)
        return completed(cast(JointResult, result), values, self.varies)


def completed(result: JointResult, values: np.ndarray, varies: np.ndarray) -> JointResult:
    """The result with the outputs that are constant: no weights, and a noise variance of 0."""
    mean, intercept, scales = np.zeros((len(result.active), len(varies))), values.copy(), np.zeros(len(varies))
    mean[:, varies] = to_numpy(result.mean)
    intercept[varies] = to_numpy(result.intercept)
    scales[varies] = to_numpy(result.output_scales)
    like = result.mean
    return replace(
        result,
        mean=asfloat64(mean, like=like),
        intercept=asfloat64(intercept, like=like),
        output_scales=asfloat64(scales, like=like),
        log_evidence=math.inf,
    )


def statistics_joint_path(rows: Any, center: bool, noise: NoiseOptions, request: JointRequest) -> Any:
    """The path of a regression on rows that were read in chunks."""
    merge = request.groups is None
    if rows.outputs == 1:
        return JointPath(lambda: (*rows.summarise(center, None, merge), None), noise, request.sharing(rows.width))
    if not request.joint:
        raise ValueError("joint must be True for outputs in chunks, got False: fit the outputs one by one.")
    constant = rows.alike if center else rows.alike & (rows.first_targets == 0)
    if not constant.any():
        return _statistics_of_outputs(rows, center, noise, request)
    if not hasattr(rows, "of_outputs"):
        outputs = np.flatnonzero(constant).tolist()
        raise ValueError(f"y is constant in output(s) {outputs}: leave them out of the chunks.")
    varying = np.flatnonzero(~constant)
    return ConstantOutputs(
        lambda noise: _statistics_of_outputs(rows.of_outputs(varying), center, noise, request),
        rows.origin[rows.width :],
        rows.n,
        center,
        noise,
        ~constant,
    )


def _statistics_of_outputs(rows: Any, center: bool, noise: NoiseOptions, request: JointRequest) -> JointPath:
    """The path of outputs that were read in chunks, none of which is constant."""
    xp, T = namespace(rows.origin), rows.outputs
    outputs, noise = _scaled_outputs(
        T,
        noise,
        request.shared_noise,
        rows.origin,
        lambda: Outputs(xp.ones_like(rows.origin[rows.width :])),
        lambda: xp.sqrt(rows.target_squares(center) / rows.n),
    )

    def read() -> tuple[Quadratic, Units, Array]:
        quadratic, units = rows.summarise(center, outputs, merge=request.groups is None)
        return quadratic, units, _squares_of_rows(rows, center, outputs, units)

    return JointPath(read, noise, request.sharing(rows.width, outputs))


def _squares_of_rows(rows: Any, center: bool, outputs: Outputs, units: Units) -> Array:
    """tᵀt of every target of the solver, (T,)."""
    factor = outputs.targets(namespace(rows.origin).ones_like(rows.origin[None, rows.width :]))[0, :]
    return rows.target_squares(center) * (factor / units.target_scale) ** 2


def fit_each(Phi: Any, y: Any, fit: Callable[..., Result], options: dict[str, Any]) -> SeparateResults:
    """A model for each column of y (N, T), by the same options.

    y : None if Phi are the statistics of rows with T outputs.
    """
    variance: Any = options.pop("noise_variance")
    if y is None:
        data = [(Phi.of_outputs([t]), None) for t in range(Phi.outputs)]
    else:
        y = check_outputs(y, y.shape[0]) if not hasattr(y, "dtype") else y
        data = [(Phi, y[:, t]) for t in range(int(y.shape[1]))]
    T = len(data)
    variances: Sequence[Any] = [variance] * T if variance is None or is_number(variance) else list(variance)
    if len(variances) != T:
        raise ValueError(
            f"noise_variance must be a number or one for each of {T} outputs, got {len(variances)} values."
        )
    results = [fit(*each, noise_variance=own, **options) for each, own in zip(data, variances, strict=True)]
    return SeparateResults(results)
