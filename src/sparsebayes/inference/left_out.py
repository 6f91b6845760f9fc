"""Every training row as the other rows predict it, and what a sparse model does not know of its errors.

A sparse model expects a new target σ² + V from its mean m, in the mean square; V is the variance of the
weights it kept. That is too little where other functions would have done as well. The Gaussian process with
all functions in, from which the scales were learned, says N(m_d, V_d + σ_d²) of a new target, and so expects
it σ_d² + V_d + (m_d − m)² from m. The mean of

    [σ_d² + V_d + (m_d − m)²] − [σ² + V]

over the training rows, each given the others, is what the error bars of the sparse model lack: one number in
closed form, and no function more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.result import Result
from sparsebayes.likelihoods import GAUSSIAN

LARGEST_LEVERAGE = 1 - 1e-12  # of a row that a function has to itself


@dataclass(frozen=True, eq=False)
class LeftOut:
    """f ~ N(mean, variance) at each training row (N,) given the other rows; noise : σ² of a target there.

    A row that counts more than once is given its other copies: integer counts equal repeated rows.
    """

    mean: np.ndarray
    variance: np.ndarray
    noise: float

    @classmethod
    def of(cls, result: Result, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None) -> LeftOut:
        """Under a sparse model, its functions (N, S) at the training rows, α and the noise as they are."""
        if result.noise_shape == GAUSSIAN:
            alpha, noise, center = result.alpha, result.noise_variance, result.has_intercept
            return cls.of_weights(columns, y, alpha, noise, counts, center)
        return cls.of_expansion(result, columns, y, counts)

    @classmethod
    def of_expansion(
        cls, result: Result, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None
    ) -> LeftOut:
        """The same with the log-likelihood of a row expanded to gradient g and curvature B.

        V₋ = V/(1 − BV), m₋ = m − V₋g; exact where the noise is Gaussian.
        """
        m, V = columns @ result.mean + result.intercept, result.mean_variance(columns)
        likelihood, once = result.likelihood, 1.0 if counts is None else np.minimum(counts, 1.0)
        g = once * likelihood.gradient(y[:, None], m[:, None])[:, 0]
        B = once * likelihood.curvature_factors(y[:, None], m[:, None])[0][:, 0]
        variance = V / (1 - np.minimum(B * V, LARGEST_LEVERAGE))
        return cls(m - variance * g, variance, result.noise_variance)

    @classmethod
    def of_weights(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        alpha: np.ndarray,
        noise: float,
        counts: np.ndarray | None,
        center: bool,
    ) -> LeftOut:
        """Under the sparse model with these functions (N, S), the precisions α staying what they are.

        With the leverage h = V/σ² the residual becomes (y − m)/(1 − h), the variance V/(1 − h). Of a row that
        counts less than once all is taken out, h = cV/σ².
        """
        counts = np.ones(len(y)) if counts is None else counts
        leverage, residual = _leverages(columns, y, alpha * noise, np.sqrt(counts), center)
        rest = 1 - np.minimum(np.minimum(counts, 1.0) * leverage, LARGEST_LEVERAGE)
        return cls(y - residual / rest, noise * leverage / rest, noise)

    @classmethod
    def of_process(cls, model: DenseModel, theta: np.ndarray) -> LeftOut:
        """Under the dense model at θ, with P = C⁻¹ less what an intercept takes.

        Without all copies of it f at row n is N(y_n − (Py)_n/P_nn, 1/P_nn − σ²/c_n); c_n − 1 copies go back.
        """
        evidence, tail = model.evidence, model.tail(theta)
        assert isinstance(evidence, GaussianEvidence)
        P = evidence.inverse(model.covariance(model.terms(theta)), tail)[0]
        noise, y, precision = evidence.noise_variance(tail), evidence.t, P.diagonal()
        variance = np.maximum(1 / precision - noise / evidence.counts, 0.0)
        back = np.maximum(evidence.counts - 1, 0.0) / noise
        kept = 1 / (1 + variance * back)  # of the residual, and of the variance
        level = float(y.mean()) if evidence.center else 0.0  # P1 = 0, but for rounding
        return cls(y - kept * (P @ (y - level)) / precision, kept * variance, noise)


def _leverages(
    columns: np.ndarray, y: np.ndarray, ridge: np.ndarray, root: np.ndarray, center: bool
) -> tuple[np.ndarray, np.ndarray]:
    """h = V/σ² and y − m of every row, from an orthonormal basis of the rows √c φ and of √(σ²α) below them.

    Functions that are nearly dependent have a Σ in which V/σ² comes out above 1; here it cannot.
    root : √c.  ridge : σ²α.
    """
    rows, target, constant = columns * root[:, None], y * root, np.zeros_like(root)
    if center:
        constant = root / np.linalg.norm(root)
        rows, target = rows - np.outer(constant, constant @ rows), target - constant * (constant @ target)
    peak = np.abs(rows).max(axis=0)  # columns may be so large that their squares are not numbers
    peak = np.where(peak > 0, peak, 1.0)
    together = np.concatenate([rows / peak, np.diag(np.sqrt(ridge) / peak)])
    Q = np.linalg.qr(together / np.linalg.norm(together, axis=0))[0][: len(y)]
    return (np.sum(Q**2, axis=1) + constant**2) / root**2, (target - Q @ (Q.T @ target)) / root


def excess_variance(dense: LeftOut, sparse: LeftOut, counts: np.ndarray | None) -> float:
    """The mean over the rows of what the dense model expects beyond the sparse one; 0 where that is less."""
    expected = dense.noise + dense.variance + (dense.mean - sparse.mean) ** 2
    return max(float(np.average(expected - sparse.noise - sparse.variance, weights=counts)), 0.0)
