"""log p(y) of the targets of a Gaussian process as a function of the covariance of f, and its derivatives."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.linalg

from sparsebayes._array import (
    Array,
    NotPositiveDefinite,
    add_diagonal,
    beside,
    cholesky,
    cholesky_solved,
    diagonal,
    inner,
    is_numpy,
    lower_solved,
    namespace,
    outer,
    row_squares,
    take,
    total,
    triangular_inverse,
)

CONSTANT = 1e-10  # of the size of a column: what rounding leaves of it at most once its constant is taken out

LEAST_SPREAD = 1e-200  # of the variance of y: less, or more than its inverse, leaves floating point


@dataclass(eq=False)
class Evidence(ABC):
    """log p(y) of N rows whose f ~ N(0, K), with its derivatives.

    Parameters
    ----------
    y : ndarray of shape (N,) or (N, K)
        Targets, or classes as 0s and 1s.
    counts : ndarray of shape (N,)
        How often each row counts. A row that counts twice is two rows with the same target.
    center : bool
        Whether there is an intercept.

    An evidence is made of NumPy arrays; `beside` moves it to where the covariances are computed.

    Attributes
    ----------
    order : ndarray of shape (N,)
        A subset of the rows is chosen evenly spaced in the order of these values.
    spread : float
        The expected size of the variance of f.
    n_noise : int
        How many parameters the noise has: log β if it is estimated, else none.
    low_rank : bool
        Whether K may also be given as UUᵀ, by `subset_of_regressors`.
    drops_inputs : bool
        Whether inputs whose scale gains less than its penalty in nats are to have no effect.
    memory : ndarray, optional
        What the last evaluation has left for the next one to start from, if anything; never changed in place.
    """

    y: np.ndarray
    counts: np.ndarray
    center: bool
    memory: Any = field(default=None, init=False, repr=False)

    order = np.zeros(0)
    spread, n_noise, low_rank, drops_inputs = 1.0, 0, False, True

    @property
    def total(self) -> float:
        """The number of rows, each counted as often as `counts` says."""
        return float(namespace(self.counts).sum(self.counts))

    def of_rows(self, rows: np.ndarray) -> Self:
        """The evidence of these rows alone."""
        return replace(self, y=self.y[rows], counts=self.counts[rows])

    def beside(self, X: Array) -> Self:
        """The same evidence with targets and counts in the library and on the device of X, for covariances there."""
        moved = copy.copy(self)
        moved.y, moved.counts = beside(self.y, X), beside(self.counts, X)
        return moved

    @abstractmethod
    def __call__(self, K: Array, log_beta: np.ndarray) -> tuple[float, Array, np.ndarray]:
        """L = log p(y), ∂L/∂K (N, N), which is symmetric, and the derivative of L by log β.

        K : covariance of f (N, N), beside the targets.  log_beta : the parameters of the noise (n_noise,).
        """

    def value(self, K: Array, log_beta: np.ndarray) -> float:
        """L alone."""
        return self(K, log_beta)[0]

    def subset_of_regressors(self, U: Array, log_beta: np.ndarray) -> Any:
        """log p(y) and its derivatives for K = UUᵀ with U (N, m), at O(Nm²); only if `low_rank`."""
        raise NotImplementedError

    def value_of_regressors(self, U: Array, log_beta: np.ndarray) -> float:
        """log p(y) alone for K = UUᵀ; only if `low_rank`."""
        raise NotImplementedError


@dataclass(eq=False)
class GaussianEvidence(Evidence):
    """y ~ N(b, K + diag(σ²/counts)), the intercept b with a flat prior integrated out if there is one.

    Parameters
    ----------
    y : ndarray of shape (N,) or (N, T)
        Targets; T outputs of one covariance and one noise variance, divided by √T: L is then per output.
    counts : ndarray of shape (N,)
        How often each row counts. A row that counts twice is two rows with the same target.
    center : bool
        Whether there is an intercept.
    noise_variance : float, optional
        σ² if it is known. None: log β = −log σ² is a parameter.
    """

    noise_variance: float | None = None

    low_rank = True

    def __post_init__(self) -> None:
        self.order, self.n_noise = self.y if self.y.ndim == 1 else self.y[:, 0], int(self.noise_variance is None)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            mean = np.average(self.y, axis=0, weights=self.counts)
            self.spread = float(np.average(row_squares(self.y - mean), weights=self.counts))
        if not LEAST_SPREAD < self.spread < 1 / LEAST_SPREAD:
            raise ValueError(
                f"y has a variance of {self.spread:g}, beyond {LEAST_SPREAD:g} to {1 / LEAST_SPREAD:g}, within which "
                "scales can be learned: rescale y."
            )

    def __call__(self, K: Array, log_beta: np.ndarray) -> tuple[float, Array, np.ndarray]:
        """L = −½ [N log 2π + log|C| + yᵀC⁻¹y], ∂L/∂K = ½ (C⁻¹yyᵀC⁻¹ − C⁻¹), C = K + diag(σ²/counts)."""
        C_inverse, log_det, known = self.inverse(K, log_beta)
        y = self._centred()
        a = C_inverse @ y
        value = self._height(log_det, inner(y, a), known, log_beta)
        G = 0.5 * outer(a)
        C_inverse *= 0.5
        G -= C_inverse
        copies = self.total - self.y.shape[0]
        by_beta = 0.5 * copies - float(diagonal(G) @ (1 / (self.precision(log_beta) * self.counts)))
        return value, G, np.asarray([by_beta] * self.n_noise)

    def value(self, K: Array, log_beta: np.ndarray) -> float:
        """L alone, by C = LLᵀ and L⁻¹[1, y], at a third of the cost."""
        L = cholesky(self._of_targets(K, log_beta))
        xp, y = namespace(L), self._centred()
        columns = y[:, None] if y.ndim == 1 else y
        solved = lower_solved(L, xp.concat([xp.ones_like(columns[:, :1]), columns], axis=1))
        misfit, known = total(solved[:, 1:] * solved[:, 1:]), None
        if self.center:
            constant = solved[:, 0]
            known = total(constant * constant)
            misfit -= total((constant @ solved[:, 1:]) ** 2) / known
        return self._height(2 * total(xp.log(diagonal(L))), misfit, known, log_beta)

    def _centred(self) -> Array:
        """The targets; with an intercept less their mean, so that nothing cancels."""
        return self.y - self.counts @ self.y / self.total if self.center else self.y

    def _height(self, log_det: float, misfit: float, known: float | None, log_beta: np.ndarray) -> float:
        """L from log|C|, yᵀC⁻¹y and, with an intercept, 1ᵀC⁻¹1."""
        rows, copies = self.total, self.total - self.y.shape[0]
        value = -0.5 * (log_det + rows * math.log(2 * math.pi) + misfit)
        # the likelihood of the copies of a row about their mean
        value += 0.5 * (copies * math.log(self.precision(log_beta)) - total(namespace(self.counts).log(self.counts)))
        return value if known is None else value + 0.5 * math.log(2 * math.pi / known)

    def subset_of_regressors(self, U: Array, log_beta: np.ndarray) -> tuple[float, Array, Array, np.ndarray]:
        """L for f = Uu with u ~ N(0, I_m), ∂L/∂U, E[uuᵀ] and the derivative of L by log β.

        Σ = (I + βUᵀU)⁻¹, μ = βΣUᵀy, E[uuᵀ] = Σ + μμᵀ, ∂L/∂U = β[(y − Uμ)μᵀ − UΣ] [T01, eq. 54], with every row
        counted as often as `counts` says. With an intercept the mean is taken out of y, and of U in place. All
        arrays stay beside U.
        """
        beta, counts, y = self.precision(log_beta), self.counts, self._centred()
        U, weighted = self._weighted(U)
        Sigma, log_det = inverse_of(add_diagonal(beta * (weighted.T @ U), 1.0))
        mean = beta * (Sigma @ (weighted.T @ y))
        residual = y - U @ mean
        value, misfit = self._height_of_weights(residual, mean, log_det, beta)
        across = (counts * residual)[:, None] * mean[None, :] if y.ndim == 1 else (counts[:, None] * residual) @ mean.T
        by_U = beta * (across - weighted @ Sigma)
        determined = mean.shape[0] - float(namespace(U).sum(diagonal(Sigma)))  # the sum of γ
        by_beta = 0.5 * (self.total - self.center - misfit - determined)
        return value, by_U, Sigma + outer(mean), np.asarray([by_beta] * self.n_noise)

    def value_of_regressors(self, U: Array, log_beta: np.ndarray) -> float:
        """L alone for f = Uu with u ~ N(0, I_m), by I + βUᵀU = RRᵀ; U may be changed."""
        beta, y = self.precision(log_beta), self._centred()
        U, weighted = self._weighted(U)
        R = cholesky(add_diagonal(beta * (weighted.T @ U), 1.0))
        log_det = 2 * total(namespace(R).log(diagonal(R)))
        mean = beta * cholesky_solved(R, weighted.T @ y)
        return self._height_of_weights(y - U @ mean, mean, log_det, beta)[0]

    def _weighted(self, U: Array) -> tuple[Array, Array]:
        """U, with an intercept less its mean, which is taken out in place; and every row as often as it counts."""
        if self.center:
            U -= self.counts @ U / self.total
        return U, self.counts[:, None] * U

    def _height_of_weights(self, residual: Array, mean: Array, log_det: float, beta: float) -> tuple[float, float]:
        """L and the misfit β‖y − Uμ‖² from the residual y − Uμ, μ and −log|Σ|."""
        misfit = beta * float(self.counts @ row_squares(residual))
        n = self.total - 1 if self.center else self.total
        value = 0.5 * (n * math.log(beta / (2 * math.pi)) - misfit - inner(mean, mean) - log_det)
        return (value - 0.5 * math.log(self.total) if self.center else value), misfit

    def whitened(self, K: np.ndarray, log_beta: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ry, as y, and R times the columns (N, M), with RᵀR = C⁻¹ less what an intercept explains; on the host.

        R = L⁻¹ with C = LLᵀ; with an intercept, without the direction of L⁻¹1.
        """
        L = self.factor(K, log_beta)
        columns = np.column_stack([np.ones(len(L)), self.y, columns])
        R = scipy.linalg.solve_triangular(L, columns, lower=True)
        if self.center:
            size, constant = np.linalg.norm(R, axis=0), R[:, 0] / np.linalg.norm(R[:, 0])
            R -= np.outer(constant, constant @ R)
            R[:, np.linalg.norm(R, axis=0) < CONSTANT * size] = 0.0
        T = 1 if self.y.ndim == 1 else self.y.shape[1]
        return R[:, 1] if self.y.ndim == 1 else R[:, 1 : T + 1], R[:, T + 1 :]

    def of_outputs(self, outputs: np.ndarray, noise_variance: float) -> Self:
        """The evidence of some of the outputs alone, whose noise variance is known."""
        chosen = copy.copy(self)
        chosen.y, chosen.noise_variance = take(self.y, outputs, axis=1), noise_variance
        return chosen

    def inverse(self, K: Array, log_beta: np.ndarray) -> tuple[Array, float, float | None]:
        """C⁻¹, log|C| and None; with an intercept C⁻¹ − C⁻¹11ᵀC⁻¹/(1ᵀC⁻¹1), log|C| and 1ᵀC⁻¹1."""
        C_inverse, log_det = inverse_of(self._of_targets(K, log_beta))
        if not self.center:
            return C_inverse, log_det, None
        xp = namespace(C_inverse)
        u = xp.sum(C_inverse, axis=0)
        known = float(xp.sum(u))
        C_inverse -= u[:, None] * (u / known)[None, :]
        return C_inverse, log_det, known

    def factor(self, K: np.ndarray, log_beta: np.ndarray) -> np.ndarray:
        """The lower factor L of C = K + diag(σ²/counts) = LLᵀ; on the host."""
        return scipy.linalg.cholesky(self._of_targets(K, log_beta), lower=True)

    def precision(self, log_beta: np.ndarray) -> float:
        """β = 1/σ²."""
        return math.exp(log_beta[0]) if self.noise_variance is None else 1 / self.noise_variance

    def _of_targets(self, K: Array, log_beta: np.ndarray) -> Array:
        """The covariance C = K + diag(σ²/counts) of the targets, a new array."""
        own = namespace(K).asarray(K, copy=True)
        return add_diagonal(own, 1 / (self.precision(log_beta) * self.counts))


def inverse_of(C: Array) -> tuple[Array, float]:
    """C⁻¹ and log|C| of a positive definite C, which is overwritten; NotPositiveDefinite if it is not."""
    if not is_numpy(C):
        xp, L = namespace(C), cholesky(C)
        half = triangular_inverse(L)
        return half.T @ half, 2 * float(xp.sum(xp.log(diagonal(L))))
    # the transpose of a symmetric array is what LAPACK calls that array: nothing is copied
    L, failed = scipy.linalg.lapack.dpotrf(C.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise NotPositiveDefinite
    log_det = 2 * float(np.log(L.diagonal()).sum())
    inverse, _ = scipy.linalg.lapack.dpotri(L, lower=1, overwrite_c=1)
    upper = np.triu(inverse.T, 1)
    upper += upper.T.copy()
    return add_diagonal(upper, inverse.diagonal()), log_det


def spread_rows(order: np.ndarray, n: int) -> np.ndarray:
    """Choose rows that represent all rows.

    Parameters
    ----------
    order : ndarray of shape (N,)
        Values in whose order the rows are evenly spaced.
    n : int
        How many rows to choose.

    Returns
    -------
    ndarray of int
        Their numbers, ascending; all N rows if n is at least N.
    """
    if n >= len(order):
        return np.arange(len(order))
    places = np.round(np.linspace(0, len(order) - 1, n)).astype(np.int64)
    return np.sort(np.argsort(order, kind="stable")[places])
