"""One part of a Gaussian process: functions with scales of their own, as a covariance or by inducing centres.

The formulas are in `scale_learning.process`.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.linalg import solve_triangular

from sparsebayes._array import (
    Array,
    add_diagonal,
    asfloat64,
    cholesky,
    diagonal,
    flat_inner,
    is_numpy,
    namespace,
    row_squares,
    triangular_inverse,
)
from sparsebayes.bases import BoundBasis
from sparsebayes.scale_learning.evidence import CONSTANT

TOGETHER = 64  # rows whose k(x, x) are computed together


class Part:
    """Functions of a basis that have scales of their own, at N rows, as a covariance of f of mean variance 1.

    Parameters
    ----------
    bound : BoundBasis
        The functions.
    numbers : ndarray of int
        Their numbers among all functions of the basis.
    X : array of shape (N, d)
        The rows.
    Z : array of shape (m, d)
        The centres of the functions that have a centre: X, or few inducing centres.
    jitter : float
        Added to the diagonal of the covariance at few inducing centres, in units of the mean of that diagonal.

    Attributes
    ----------
    has_centres, is_covariance : bool
        Whether the functions have centres, and whether they are a covariance as they are.
    spreads, unit : ndarray and float
        The functions are divided by their spreads, their covariance by the unit.
    """

    def __init__(self, bound: BoundBasis, numbers: np.ndarray, X: Array, Z: Array, jitter: float) -> None:
        centred = bound.centred_at(Z)
        self.bound = bound.beside(X) if centred is None else centred
        self.numbers, self.X, self.Z, self.jitter = numbers, X, Z, jitter
        self.n_scales = len(self.bound.log_scales)
        self.has_centres = centred is not None
        self.is_covariance = self.has_centres and self.bound.positive_semidefinite
        columns = self.bound(Z)
        if self.is_covariance:
            self.spreads = asfloat64(np.ones(1), like=X)
            self.unit = max(mean_diagonal(columns), 1e-300)
        else:
            self.spreads, self.unit = _spreads(columns), float(columns.shape[1])

    def at(self, log_scales: np.ndarray, log_share: float) -> PartAt:
        """The part at these log scales, with the variance exp(log_share)."""
        return PartAt(self, self.bound.with_log_scales(log_scales), math.exp(log_share) / self.unit)


class PartAt:
    """A part at given scales: its covariance, or functions U with the covariance UUᵀ, and its gradient.

    part : the part.  bound : its functions at these scales.  share : s, in units of the part's covariance.
    """

    def __init__(self, part: Part, bound: BoundBasis, share: float) -> None:
        self.part, self.bound, self.share = part, bound, share

    @cached_property
    def columns(self) -> Array:
        """Φ at the rows."""
        return self.bound(self.part.X) / self.part.spreads

    @cached_property
    def K(self) -> Array:
        """The covariance of this part of f at the rows (N, N); the centres are the rows."""
        return self.share * (self.columns if self.part.is_covariance else self.columns @ self.columns.T)

    def gradient(self, G: Array) -> tuple[np.ndarray, float]:
        """∂L/∂ log η and ∂L/∂ log s, from G = ∂L/∂K."""
        part, by_share = self.part, flat_inner(G, self.K)
        if not part.n_scales:
            return np.zeros(0), by_share
        D = self.share * G if part.is_covariance else 2 * self.share * (G @ self.columns) / part.spreads
        return self.bound.scale_gradient(part.X, D), by_share

    @cached_property
    def R(self) -> np.ndarray:
        """The upper factor of V = k(Z, Z) = RᵀR; only of a covariance, on the host."""
        return scipy.linalg.cholesky(self._of_centres(), lower=False, check_finite=False)

    @cached_property
    def R_inverse(self) -> Array:
        """R⁻¹ on a device, for libraries without triangular solves."""
        return triangular_inverse(cholesky(self._of_centres())).T

    def _of_centres(self) -> Array:
        """V = k(Z, Z), with the jitter."""
        V = self.bound(self.part.Z)
        return add_diagonal(namespace(V).asarray(V, copy=True), self.part.jitter * mean_diagonal(V))

    @cached_property
    def U(self) -> Array:
        """Functions (N, m) whose weights are N(0, I)."""
        U = math.sqrt(self.share) * self.columns
        if not self.part.is_covariance:
            return U
        return solve_triangular(self.R, U.T, trans="T", check_finite=False).T if is_numpy(U) else U @ self.R_inverse

    def gradient_by_U(self, D: Array, moments: Array) -> tuple[np.ndarray, float]:
        """∂L/∂ log η and ∂L/∂ log s, from D = ∂L/∂U and moments = E[uuᵀ] of the weights of U."""
        part, by_share, root = self.part, 0.5 * flat_inner(D, self.U), math.sqrt(self.share)
        if not part.n_scales:
            return np.zeros(0), by_share
        if not part.is_covariance:
            return self.bound.scale_gradient(part.X, D * (root / part.spreads)), by_share
        excess = asfloat64(np.eye(int(moments.shape[0])), like=moments) - moments
        if is_numpy(D):
            by_functions = root * solve_triangular(self.R, D.T, check_finite=False).T
            half = solve_triangular(self.R, excess, check_finite=False)
            by_V = 0.5 * solve_triangular(self.R, half.T, check_finite=False)
        else:
            by_functions = root * (D @ self.R_inverse.T)
            by_V = 0.5 * (self.R_inverse @ (self.R_inverse @ excess).T)
        # the jitter on the diagonal of V moves with its mean
        by_V = add_diagonal(by_V, part.jitter * mean_diagonal(by_V))
        by_scales = self.bound.scale_gradient(part.X, by_functions)
        return by_scales + self.bound.scale_gradient(part.Z, by_V), by_share

    def left_over(self) -> Array:
        """s k(x_n, x_n) − ‖u_n‖² at the rows (N,): 0 of functions that are no covariance, which U has all of."""
        X, xp = self.part.X, namespace(self.columns)
        if not self.part.is_covariance:
            return xp.zeros_like(self.columns[:, 0])
        pieces = []
        for start in range(0, X.shape[0], TOGETHER):
            block = X[start : min(start + TOGETHER, X.shape[0]), ...]
            own = self.bound.centred_at(block)
            assert own is not None  # a covariance is a kernel
            pieces.append(diagonal(own(block)))
        return xp.clip(self.share * xp.concat(pieces) - row_squares(self.U), 0.0, None)

    def between(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s k(X, rows) (q, N) and s k(X, X) (q, q) for queries X (q, d); the centres are the rows."""
        functions = self.bound(X) / self.part.spreads
        if not self.part.is_covariance:
            return self.share * (functions @ self.columns.T), self.share * (functions @ functions.T)
        own = self.bound.centred_at(X)
        assert own is not None  # a covariance is a kernel
        return self.share * functions, self.share * own(X)


def mean_diagonal(A: Array) -> float:
    """The mean of the diagonal of a square matrix."""
    return float(namespace(A).mean(diagonal(A)))


def _spreads(columns: Array) -> Array:
    """The standard deviation of each column; the size of a constant one (to rounding); 1 for zeros."""
    xp = namespace(columns)
    means = xp.mean(columns, axis=0)
    spread, level = xp.sqrt(xp.mean((columns - means) ** 2, axis=0)), xp.abs(means)
    return xp.where(spread > CONSTANT * level, spread, xp.where(level > 0, level, xp.ones_like(level)))
