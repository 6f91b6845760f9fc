"""Leave-one-out predictions of the training rows, and what the error bars of a sparse model lack.

By a sparse model the mean square of y − m, for a new target y predicted by m, is σ² + V; V is the variance due
to the weights of its functions. That is too small if other functions would have done as well. By the Gaussian
process with all functions, from which the scales were learned, y ~ N(m_g, V_g + σ_g²), and the same mean
square is σ_g² + V_g + (m_g − m)². The mean of

    [σ_g² + V_g + (m_g − m)²] − [σ² + V]

over the training rows, each given the others, is what the error bars of the sparse model lack: one number in
closed form. Of several outputs that share their functions each has the noise of the sparse model in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import (
    Array,
    cholesky,
    column_squares,
    diagonal,
    gathered,
    namespace,
    scaled_rows,
    solver_of_lower,
    to_numpy,
)
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import Result
from sparsebayes.scale_learning.evidence import GaussianEvidence
from sparsebayes.scale_learning.process import GaussianProcess

LARGEST_LEVERAGE = 1 - 1e-12  # ceiling for a row that determines a weight alone


@dataclass(frozen=True, eq=False)
class LeaveOneOutPredictions:
    """Leave-one-out predictions: f ~ N(mean, variance) at each training row, given the other rows.

    The parameters of the model stay what they are; only the weights are as if the row had not been there. A
    row that counts more than once is given its other copies: integer counts equal repeated rows.

    Attributes
    ----------
    mean, variance : ndarray of shape (N,)
        Mean and variance of f; the mean is (N, T) for several outputs.
    noise : float
        σ², the variance of a target at given f.
    """

    mean: np.ndarray
    variance: np.ndarray
    noise: float

    @classmethod
    def of_result(
        cls, result: Result, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None
    ) -> LeaveOneOutPredictions:
        """Leave-one-out predictions of a sparse model of a regression.

        Parameters
        ----------
        result : Result
            The model, with one output.
        columns : ndarray of shape (N, S)
            Its functions at the training rows.
        y : ndarray of shape (N,)
            Training targets.
        counts : ndarray of shape (N,) or None
            How often each row counts; None for once each.

        Returns
        -------
        LeaveOneOutPredictions
            Exact for Gaussian noise. Else the log-likelihood of a row is expanded to gradient g and curvature
            B: V₋ = V/(1 − BV), m₋ = m − V₋g.
        """
        if isinstance(result.likelihood, GaussianNoise):
            alpha, noise, center = result.alpha, result.noise_variance, result.has_intercept
            return cls.of_weights(columns, y, alpha, noise, counts, center)
        m, V = result.f_mean(columns), result.f_variance(columns)
        likelihood, once = result.likelihood, 1.0 if counts is None else np.minimum(counts, 1.0)
        g = once * likelihood.gradient(y[:, None], m)[:, 0]
        B = once * likelihood.curvature_factors(y[:, None], m)[0][:, 0]
        variance = V / (1 - np.minimum(B * V, LARGEST_LEVERAGE))
        return cls(m[:, 0] - variance * g, variance, result.noise_variance)

    @classmethod
    def of_weights(
        cls, columns: np.ndarray, y: np.ndarray, alpha: np.ndarray, noise: float, counts: Any, center: bool
    ) -> LeaveOneOutPredictions:
        """The predictions of y = Φw + ε with Φ = columns (N, S), w ~ N(0, 1/α) and noise variance σ² = noise.

        With the leverage h = V/σ² the residual becomes (y − m)/(1 − h), the variance V/(1 − h). A row that
        counts c < 1 times is removed entirely, h = cV/σ². Leverages and residuals come from an orthonormal
        basis of the rows √c φ with √(σ²α) below them: from the Σ of functions that are nearly dependent V/σ²
        may come out above 1, here it cannot.
        """
        counts = np.ones(len(y)) if counts is None else counts
        root, constant = np.sqrt(counts), np.zeros(len(y))
        rows, target = columns * root[:, None], scaled_rows(y, root)
        if center:
            constant = root / np.linalg.norm(root)
            rows, target = (
                rows - np.outer(constant, constant @ rows),
                target - np.multiply.outer(constant, constant @ target),
            )
        ridge = np.sqrt(alpha) * np.sqrt(noise)
        # columns may be so large, or so small beside their ridge, that squares of their entries are not numbers
        peak = np.maximum(np.abs(rows).max(axis=0), ridge)
        peak = np.where(peak > 0, peak, 1.0)
        together = np.concatenate([rows / peak, np.diag(ridge / peak)])
        Q = np.linalg.qr(together / np.linalg.norm(together, axis=0))[0][: len(y)]
        leverage = (np.sum(Q**2, axis=1) + constant**2) / counts
        rest = 1 - np.minimum(np.minimum(counts, 1.0) * leverage, LARGEST_LEVERAGE)
        residual = scaled_rows(target - Q @ (Q.T @ target), 1 / (root * rest))
        return cls(y - residual, noise * leverage / rest, noise)

    @classmethod
    def of_process(
        cls, process: GaussianProcess, theta: np.ndarray, evidence: GaussianEvidence | None = None
    ) -> LeaveOneOutPredictions:
        """The predictions of a Gaussian process with Gaussian noise, at θ = theta, of its targets.

        evidence : with other targets, or another noise variance, than its own.

        With P = C⁻¹ less what an intercept explains, f at row n without all its copies is
        N(y_n − (Py)_n/P_nn, 1/P_nn − σ²/c_n); then c_n − 1 copies are added again. By inducing centres C is
        UUᵀ + diag(k(x_n, x_n) − ‖u_n‖² + σ²/c_n): what the centres leave of the variance of f is not lost
        [Snelson & Ghahramani 2006].
        """
        log_beta = process.log_beta(theta)
        if evidence is None:
            assert isinstance(process.evidence, GaussianEvidence)
            evidence = process.evidence
        noise, y, counts = 1 / evidence.precision(log_beta), evidence.y, evidence.counts
        level = namespace(y).mean(y, axis=0) if evidence.center else 0.0  # P1 = 0, but for rounding
        if process.exact:
            P = evidence.inverse(process.covariance(process.parts_at(theta)), log_beta)[0]
            precision, residual = diagonal(P), P @ (y - level)
        else:
            own = process.left_over(theta) + noise / counts
            precision, residual = _low_rank_inverse(process.factor(theta), own, y - level, evidence.center)
        precision, residual, y, counts = gathered(precision, residual, y, counts)
        variance = np.maximum(1 / precision - noise / counts, 0.0)
        back = np.maximum(counts - 1, 0.0) / noise
        kept = 1 / (1 + variance * back)  # of the residual, and of the variance
        return cls(y - scaled_rows(residual, kept / precision), kept * variance, noise)


def _low_rank_inverse(U: Array, own: Array, y: Array, center: bool) -> tuple[Array, Array]:
    """diag P and Py, P = C⁻¹ less what an intercept explains, for C = UUᵀ + diag(own): O(N m²) for U (N, m)."""
    xp, scaled = namespace(U), U / own[:, None]
    factor = cholesky(to_numpy(scaled.T @ U) + np.eye(U.shape[1]))
    half = solver_of_lower(factor, like=U)(scaled.T)  # C⁻¹ = diag(1/own) − halfᵀ half
    precision, residual = 1 / own - column_squares(half), scaled_rows(y, 1 / own) - half.T @ (half @ y)
    if center:
        # C⁻¹1; half = L⁻¹ Uᵀ diag(1/own), so that half @ 1 is its row sums
        ones = 1 / own - half.T @ xp.sum(half, axis=1)
        across = ones @ y / xp.sum(ones)
        precision = precision - ones**2 / xp.sum(ones)
        residual = residual - (ones * across if y.ndim == 1 else ones[:, None] * across[None, :])
    return precision, residual


def excess_variance(
    process: LeaveOneOutPredictions, sparse: LeaveOneOutPredictions, counts: np.ndarray | None
) -> float:
    """The mean square error of a sparse model by a Gaussian process, less that by the sparse model itself.

    Parameters
    ----------
    process, sparse : LeaveOneOutPredictions
        The predictions of both at the same training rows.
    counts : ndarray of shape (N,) or None
        How often each row counts; None for once each.

    Returns
    -------
    float
        The mean over the rows; 0 if that is negative.
    """
    expected = process.noise + process.variance + (process.mean - sparse.mean) ** 2
    return max(float(np.average(expected - sparse.noise - sparse.variance, weights=counts)), 0.0)


def excess_of_outputs(
    process: GaussianProcess,
    theta: np.ndarray,
    sparse: LeaveOneOutPredictions,
    counts: np.ndarray | None,
    ratio: np.ndarray,
) -> float:
    """`excess_variance` of T outputs that share their functions: the mean over rows and outputs, in sparse model units.

    The scales were learned with one noise variance for all outputs in units of their spread, which is far from that of
    most of them if they are not explained equally well. So each output has the noise of the sparse model here, which
    then cancels; outputs whose noise differs by less than a factor of two or so share an average of it.

    ratio : (T,) the unit of each output in the process, over that in the sparse model; means are divided by √T.
    """
    evidence, T, apart = process.evidence, len(ratio), []
    assert isinstance(evidence, GaussianEvidence)
    varies = np.flatnonzero(np.isfinite(ratio))  # constant outputs have no noise
    levels = np.round(np.log2(sparse.noise / ratio[varies] ** 2))
    for level in np.unique(levels):
        outputs = varies[levels == level]
        noise = sparse.noise / float(np.exp(np.mean(np.log(ratio[outputs] ** 2))))
        found = LeaveOneOutPredictions.of_process(process, theta, evidence.of_outputs(outputs, noise))
        differ = T * (found.mean - sparse.mean[:, outputs]) ** 2
        apart.append(ratio[outputs] ** 2 * (found.variance[:, None] + differ) - sparse.variance[:, None])
    return max(float(np.average(np.concatenate(apart, axis=1).mean(axis=1), weights=counts)), 0.0)
