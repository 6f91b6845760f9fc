"""What a fit of several outputs returns: one choice of functions for all of them, or one for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import Result
from sparsebayes.solvers.certificate import Certificate


@dataclass(frozen=True, eq=False)
class JointResult(Result):
    """A fitted model with T outputs that share their functions, f_t = Φw_t + b_t, in the units of the data.

    w_mt ~ N(0, s_t²/α_m) and the noise variance of output t is s_t²σ². With one noise variance for all outputs every
    s_t is 1; with one for each, weights are measured by the noise of their output [Brown, Vannucci & Fearn 1998].

    Attributes
    ----------
    active : ndarray of int, shape (S,)
        The functions, which every output has.
    mean : array of shape (S, T)
        Posterior means of the weights.
    alpha, gamma : array of shape (S,)
        Precisions α, and γ = 1 − αΣ_mm.
    covariance : array of shape (S, S)
        Posterior covariance Σ of the weights of an output with s_t = 1; that of output t is s_t²Σ.
    intercept : array of shape (T,)
        The intercepts.
    centre, intercept_covariance : arrays of shape (1, S) and (1, 1)
        The intercepts' share of the variance, of an output with s_t = 1.
    output_scales : array of shape (T,)
        s, whose geometric mean is 1.
    likelihood : GaussianNoise
        The noise of an output with s_t = 1.
    log_evidence, objective : float
        Sums over the outputs.
    """

    output_scales: Any = None

    @property
    def noise_variances(self) -> Array:
        """σ²s_t² of every output, (T,)."""
        return self.noise_variance * self.output_scales**2

    @property
    def degrees_of_freedom(self) -> float:
        """Effective degrees of freedom of all outputs, TΣγ."""
        return self.outputs * super().degrees_of_freedom

    def f_mean(self, columns: Array) -> Array:
        """The outputs f = Φw + b (n, T) from the functions of the weights (n, S)."""
        return columns @ self.mean + self.intercept[None, :]

    def f_variance(self, columns: Array) -> Array:
        """The variance of f at each row, (n, T)."""
        return super().f_variance(columns)[:, None] * (self.output_scales**2)[None, :]

    def variance(self, columns: Array) -> Array:
        """The variance of new targets at each row, (n, T)."""
        return super().f_variance(columns)[:, None] * (self.output_scales**2)[None, :] + self.noise_variances[None, :]

    def std(self, columns: Array, excess: Any = 0.0) -> Array:
        """√(variance + excess) at each row, (n, T)."""
        return super().std(columns, excess)[:, None] * self.output_scales[None, :]

    def predict(self, Phi: Any, return_std: bool = False) -> Any:
        """Predict at new rows of the design.

        Parameters
        ----------
        Phi : array-like of shape (n, M) or Operator
            All M columns at the new rows.
        return_std : bool
            Whether to return the standard deviation of new targets as well.

        Returns
        -------
        mean : array of shape (n, T)
            E[y].
        std : array of shape (n, T)
            Only with `return_std`.
        """
        blocks = [(self.f_mean(each), self.std(each) if return_std else None) for each in self._blocks(Phi)]
        means, stds = zip(*blocks, strict=True)
        mean = namespace(means[0]).concat(means, axis=0)
        return (mean, namespace(mean).concat(stds, axis=0)) if return_std else mean


@dataclass(frozen=True, eq=False)
class SeparateResults:
    """The models of T outputs that were fitted one by one.

    results : one `Result` for each output.
    """

    results: Sequence[Result]

    @property
    def active(self) -> np.ndarray:
        """The functions that at least one output has, (S,)."""
        return np.unique(np.concatenate([each.active for each in self.results]))

    @property
    def outputs(self) -> int:
        """T."""
        return len(self.results)

    @property
    def mean(self) -> np.ndarray:
        """Posterior means of the weights (S, T), 0 where an output does not have a function."""
        active, kind = self.active, np.result_type(*(to_numpy(each.mean) for each in self.results))
        mean = np.zeros((len(active), self.outputs), dtype=kind)
        for t, each in enumerate(self.results):
            mean[np.searchsorted(active, each.active), t] = to_numpy(each.mean)
        return mean

    @property
    def log_evidence(self) -> float:
        """The sum over the outputs."""
        return float(sum(each.log_evidence for each in self.results))

    @property
    def noise_variances(self) -> np.ndarray:
        """σ² of every output, (T,)."""
        return np.asarray([each.noise_variance for each in self.results])

    @property
    def converged(self) -> bool:
        """Whether every fit ended by its own criterion."""
        return all(each.converged for each in self.results)

    def predict(self, Phi: Any, return_std: bool = False) -> Any:
        """Means (n, T) at new rows of the design, and standard deviations if wanted."""
        each = [result.predict(Phi, return_std) for result in self.results]
        if not return_std:
            return namespace(each[0]).stack(each, axis=1)
        means, stds = zip(*each, strict=True)
        xp = namespace(means[0])
        return xp.stack(means, axis=1), xp.stack(stds, axis=1)


def joint_result(
    result: Result, outputs: int, mean: Array, intercept: Array, scales: Array, shift: float
) -> JointResult:
    """The result of all outputs, from that of the solver's targets, which is per output.

    mean, intercept : of the outputs.  shift : what the log evidence of all outputs has besides.
    """
    known = {field.name: getattr(result, field.name) for field in fields(Result)}
    path = np.append(result.evidence_path[:-1] + shift, outputs * result.objective + shift)
    known |= {
        "mean": mean,
        "intercept": intercept,
        "output_scales": scales,
        "log_evidence": outputs * result.log_evidence + shift,
        "objective": path[-1],
        "evidence_path": path,
    }
    return JointResult(**known)


def constant_outputs(values: np.ndarray, n: float, center: bool, variance: float, like: Array) -> JointResult:
    """The model without functions of outputs that are all constant."""
    none, whole, T = asfloat64(np.zeros(0), like=like), np.zeros(0, dtype=np.int64), len(values)
    return JointResult(
        active=whole,
        output=whole,
        mean=asfloat64(np.zeros((0, T)), like=like),
        alpha=none,
        gamma=none,
        covariance=asfloat64(np.zeros((0, 0)), like=like),
        intercept=asfloat64(values, like=like),
        centre=none[None, :],
        intercept_covariance=asfloat64([[variance / n if center else 0.0]], like=like),
        likelihood=GaussianNoise(1 / variance if variance else math.inf),
        log_evidence=math.inf,
        objective=math.inf,
        evidence_path=np.asarray([math.inf]),
        converged=True,
        certificate=Certificate(-math.inf, 0.0, 0.0, 0.0, -math.inf, is_local_maximum=False, at_noise_floor=False),
        output_scales=asfloat64(np.ones(T), like=like),
    )
