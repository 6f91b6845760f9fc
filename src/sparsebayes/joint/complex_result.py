"""What a fit of complex data returns, and the path to it through the real embedding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.joint.complex import ComplexData, ComplexMatrix
from sparsebayes.rows.known_noise import KnownNoise
from sparsebayes.solvers.monitor import FitMonitor


@dataclass(frozen=True, eq=False)
class ComplexResult(Result):
    """A fitted model of complex data, f = Φw + b, in the units of the data.

    Weights are circular, E|w_m|² = 1/α_m, and so is the noise, E|ε|² = σ². With T outputs (N, T) a function has one
    precision for all of them; outputs with a noise variance each have w_mt ~ CN(0, s_t²/α_m) and noise s_t²σ².

    Attributes
    ----------
    active : ndarray of int, shape (S,)
        The functions.
    mean : complex ndarray of shape (S,) or (S, T)
        Posterior means of the weights.
    alpha, gamma : ndarray of shape (S,)
        Precisions α, and γ = 1 − αΣ_mm.
    covariance : complex ndarray of shape (S, S)
        Posterior covariance Σ = E[(w−μ)(w−μ)ᴴ], Hermitian, of an output with s_t = 1.
    intercept : complex ndarray of shape (1,) or (T,)
        The intercepts; 0 without.
    centre, intercept_covariance : ndarrays of shape (1, S) and (1, 1)
        The intercepts' share of the variance: the means of the columns, and σ²/n; 0 without an intercept.
    output_scales : ndarray of shape (1,) or (T,)
        s, whose geometric mean is 1.
    log_evidence : float
        log p(y | α, σ²) of the complex density, the sum over the outputs.
    """

    output_scales: Any = None

    @property
    def noise_variances(self) -> np.ndarray:
        """σ²s_t² of every output, (T,)."""
        return self.noise_variance * self.output_scales**2

    @property
    def degrees_of_freedom(self) -> float:
        """Effective degrees of freedom, complex ones, of all outputs: TΣγ."""
        return self.outputs * super().degrees_of_freedom

    def f_mean(self, columns: np.ndarray) -> np.ndarray:
        """f = Φw + b, (n,) or (n, T), from the functions of the weights (n, S)."""
        return columns @ self.mean + (self.intercept if self.mean.ndim == 2 else self.intercept[0])

    def f_variance(self, columns: np.ndarray) -> np.ndarray:
        """E|f − E f|² at each row, (n,) or (n, T)."""
        centred = columns - self.centre
        variance = np.einsum("ij,ij->i", centred @ self.covariance, centred.conj()).real
        variance = np.maximum(variance, 0.0) + self.intercept_covariance[0, 0]
        return variance[:, None] * self.output_scales**2 if self.mean.ndim == 2 else variance

    def variance(self, columns: np.ndarray) -> np.ndarray:
        """E|y − E y|² of new targets at each row, (n,) or (n, T)."""
        return self.f_variance(columns) + (self.noise_variances if self.mean.ndim == 2 else self.noise_variance)

    def std(self, columns: np.ndarray, excess: Any = 0.0) -> np.ndarray:
        """√(variance + excess) at each row, (n,) or (n, T)."""
        return np.sqrt(self.variance(columns) + excess)

    def predict(self, Phi: Any, return_std: bool = False) -> Any:
        """Predict at new rows of the design.

        Parameters
        ----------
        Phi : array of shape (n, M), SciPy sparse matrix, linear operator or Operator
            All M columns at the new rows, complex or real.
        return_std : bool
            Whether to return the standard deviation of new targets, √E|y − E y|², as well.

        Returns
        -------
        mean : complex ndarray of shape (n,) or (n, T)
            E[y].
        std : ndarray of shape (n,) or (n, T)
            Only with `return_std`.
        """
        columns = ComplexMatrix(Phi).columns(self.active)
        return (self.f_mean(columns), self.std(columns)) if return_std else self.f_mean(columns)


@dataclass(frozen=True, eq=False)
class ComplexPath:
    """A regression on complex data: that of the real embedding, and its result in complex numbers.

    real : the path of the embedding.  data : the complex data.
    """

    real: Any
    data: ComplexData

    @property
    def default_solver(self) -> Solver:
        """The solver that suits the embedding."""
        return self.real.default_solver

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> ComplexResult:
        """The fitted model, in the units of the data."""
        return complex_result(self.real.fit(prior, solver, monitor), self.data)


def complex_result(real: Result, data: ComplexData) -> ComplexResult:
    """The result in complex numbers, from that of the real embedding."""
    M, atoms = data.operator.matrix.shape[1], data.operator.atoms
    column = {int(m): k for k, m in enumerate(real.active)}
    number = [int(m) for m in real.active if m < M and int(m) + atoms in column]
    R, Im = np.asarray([column[m] for m in number], int), np.asarray([column[m + atoms] for m in number], int)
    mean, Sigma = real.mean[R] + 1j * real.mean[Im], real.covariance
    # both parts of a weight have the same posterior variance, but for rounding
    covariance = Sigma[np.ix_(R, R)] + Sigma[np.ix_(Im, Im)] + 1j * (Sigma[np.ix_(Im, R)] - Sigma[np.ix_(R, Im)])
    known = {field.name: getattr(real, field.name) for field in fields(Result)}
    known |= {
        "active": np.asarray(number, dtype=np.int64),
        "output": np.zeros(len(number), dtype=np.int64),
        "mean": mean,
        "alpha": 0.5 * real.alpha[R],
        "gamma": 0.5 * (real.gamma[R] + real.gamma[Im]),
        "covariance": 0.5 * (covariance + covariance.conj().T),
        "likelihood": _noise(real, data),
        "candidates": None,
        "output_scales": getattr(real, "output_scales", np.ones(1)),
    }
    return ComplexResult(**known | _intercept(real, data, column, known))


def _noise(real: Result, data: ComplexData) -> Any:
    """The complex noise, of twice the variance."""
    if isinstance(real.likelihood, KnownNoise):
        N = len(data.y)
        return KnownNoise(2 * real.likelihood.variances[:N], real.likelihood.counts[:N])
    return GaussianNoise(real.likelihood.beta / 2, real.likelihood.estimate)


def _intercept(real: Result, data: ComplexData, column: dict[int, int], known: dict[str, Any]) -> dict[str, Any]:
    """What a result says of the intercepts."""
    atoms, outputs = data.operator.atoms, 1 if data.y.ndim == 1 else data.y.shape[1]
    if not data.operator.intercept:
        none = {"intercept": np.zeros(outputs, dtype=np.complex128), "centre": np.zeros((1, len(known["active"])))}
        return none | {"intercept_covariance": np.zeros((1, 1))}
    parts = [real.mean[column[m]] for m in (atoms - 1, 2 * atoms - 1)]
    counts = np.ones(len(data.y)) if data.counts is None else np.broadcast_to(data.counts, len(data.y))
    precision = counts / known["likelihood"].variances if isinstance(known["likelihood"], KnownNoise) else counts
    spread = 1.0 if precision is not counts else known["likelihood"].variance
    centre = precision @ data.operator.matrix.columns(known["active"]) / precision.sum()
    return {
        "intercept": np.atleast_1d(parts[0] + 1j * parts[1]),
        "centre": centre[None, :],
        "intercept_covariance": np.asarray([[spread / precision.sum()]]),
    }
