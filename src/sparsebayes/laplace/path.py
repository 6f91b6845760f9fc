"""A fit under a likelihood that is not Gaussian, from rows in memory to the result in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, is_foreign, namespace, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.core.fit import result_of
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solution, Solver
from sparsebayes.core.units import Units
from sparsebayes.laplace.averaging import with_average
from sparsebayes.laplace.candidates import AllCandidates
from sparsebayes.laplace.classes import Bernoulli
from sparsebayes.laplace.likelihood import Encoded, LaplaceLikelihood, host
from sparsebayes.laplace.loop import LaplaceFit, LaplaceSolution
from sparsebayes.laplace.mode import Modes
from sparsebayes.laplace.polish import evidence_hessian, evidence_slope
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings
from sparsebayes.laplace.sharing import check_class_groups, linear_of
from sparsebayes.rows.devices import result_beside
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.candidates import CandidateScores
from sparsebayes.solvers.certificate import GAIN_TOLERANCE, Certificate, certify
from sparsebayes.solvers.monitor import FitMonitor

SILENT = 1e-6  # γ of a function that explains nothing


@dataclass(frozen=True, eq=False)
class LaplacePath:
    """A fit under a likelihood whose posterior is approximated by a Gaussian around its mode.

    Parameters
    ----------
    operator : Operator
        Φ, N rows and M functions.
    y : array-like of shape (N,)
        Targets, as the likelihood encodes them: numbers or labels.
    weights : array of shape (N,), optional
        How often each row counts; None for once.
    fit_intercept : bool
        Whether every output has an intercept with a flat prior, which is integrated out.
    likelihood : LaplaceLikelihood
        p(y | f).
    settings : LaplaceSettings
        What the loop depends on.
    polish : bool
        Whether α ends where the Laplace evidence itself is highest, the curvature moving with α.
    groups : array-like of shape (K,), optional
        A label for each of K > 2 classes: those of one label share their functions, each with one precision.
    """

    operator: Operator
    y: Any
    weights: Array | None
    fit_intercept: bool
    likelihood: LaplaceLikelihood
    settings: LaplaceSettings = LAPLACE
    polish: bool = False
    groups: Any = None
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit the model.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What selects functions on the quadratic of each expansion.
        monitor : FitMonitor
            What the rounds of the loop are reported to.

        Returns
        -------
        Result
            The model in the user's units, with one or more outputs.
        """
        likelihood, y, classes = encode_rows(self.operator, self.y, self.weights, self.likelihood)
        groups = check_class_groups(self.groups, likelihood.outputs)

        def fit_of(operator: Operator, functions: np.ndarray | None) -> LaplaceFit:
            rows = LaplaceRows(operator, y, likelihood, self.weights, self.fit_intercept, functions)
            modes = Modes(rows, prior.resolve(rows.n), settings=self.settings, groups=groups)
            return LaplaceFit(modes, solver, monitor, polished=self.polish)

        end = AllCandidates(self.operator, self.settings).run(fit_of)
        units = Units(end.fit.rows.n, self.fit_intercept)
        result = report(end, units, monitor, likelihood=likelihood, classes=classes)
        if isinstance(likelihood, Bernoulli):
            result = with_average(result, end.mode, end.fit.rows, self.settings)
        return result_beside(judged(result, end, monitor), y)


def judged(result: Result, end: LaplaceSolution, monitor: FitMonitor) -> Result:
    """The result, which has not converged if its certificate is none, with a remark that says why.

    A coarser tolerance than that of the certificate certifies nothing.
    """
    certificate = result.certificate
    if not result.converged or certificate.is_local_maximum or monitor.tol > GAIN_TOLERANCE:
        return result
    monitor.remarks.append(
        "The model is not certified as a maximum of the Laplace evidence: "
        f"a log alpha would move by {certificate.log_alpha_step:.2g}, a further function would gain "
        f"{certificate.gain_outside:.2g} nats, and the largest eigenvalue of the Hessian is "
        f"{certificate.hessian_eigenvalue:.2g} (see certificate_); try prior='bic', a wider kernel, or another solver."
    )
    return replace(result, converged=False)


def certificate_of(end: LaplaceSolution) -> Certificate:
    """What is known of the end of a loop.

    The additions count by what they gain with the mode found again (`LaplaceSolution.gain_outside`). α is tested with B
    held fixed, or, where it is at the highest Laplace evidence, with B moving.
    """
    certificate = certify(end.among_all, gain_outside=end.gain_outside)
    if end.mode.highest:
        slope, hessian = evidence_slope(end.fit.modes, end.mode), evidence_hessian(end.fit.modes, end.mode)
        heard = to_numpy(end.mode.state.gamma) > SILENT  # α of a function that explains nothing may be anything
        certificate = certificate.with_slopes(slope[heard], hessian[np.ix_(heard, heard)])
    return certificate.counting(*end.others)


def encode_rows(operator: Operator, y: Any, weights: Array | None, likelihood: LaplaceLikelihood) -> Encoded:
    """The targets of the rows of an operator as the likelihood reads them, in the operator's namespace."""
    likelihood.check()
    y = y if is_foreign(y) else host(y)
    shape = tuple(y.shape)
    if shape[:1] != operator.shape[:1]:
        raise ValueError(f"y must have {operator.shape[0]} values, one per row of Phi, got shape {shape}.")
    encoded = likelihood.encode(y, weights)
    return encoded._replace(codes=asfloat64(encoded.codes, like=operator.columns([0])))


def report(end: LaplaceSolution, units: Units, monitor: FitMonitor, **known: Any) -> Result:
    """The end of a fit in the user's units.

    units : the units of the target.  known : further fields of the `Result`.
    """
    mode, rows, tau, model = end.mode, end.fit.rows, units.target_scale, end.model
    linear, (norms, means, own) = mode.linear, rows.scales(mode.J)
    scale, root = end.fit.modes.scale(linear), tau * linear.root
    units = units.with_columns(model.function, norms * scale, means)
    state, every = end.among_all, np.arange(rows.size)
    unit = end.fit.modes.unit(linear_of(state.problem), every)
    return replace(
        result_of(Solution(mode.state, end.converged), units, monitor),
        output=model.output,
        mean=tau * model.w,
        intercept=units.target_mean + tau * model.b,
        centre=own * means[None, :] + norms[None, :] * (linear.root @ linear.side.T),
        intercept_covariance=root @ namespace(root).matrix_transpose(root),
        prior=end.fit.modes.prior,
        certificate=certificate_of(end),
        trace=tuple(monitor.trace),
        candidates=CandidateScores.of(state, unit, rows.numbers(every), rows.split(every)[1]),
        **known,
    )
