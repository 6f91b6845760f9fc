"""The GP log marginal likelihood at given scales, at its maximum over amplitude and noise.

For K = V diag(ω) Vᵀ and z = Vᵀy the likelihood of y ~ N(0, sK + σ²I) is

    L = −½ Σ_i [log(sω_i + σ²) + z_i²/(sω_i + σ²)] − ½ n log 2π,

so that after one eigendecomposition its maximum over (s, σ²) costs almost nothing. With ρ = σ²/s the best s is
(1/n) Σ z_i²/(ω_i + ρ), and one search along log ρ is left. Copies of a row, which agree with it, add −½ log 2πσ² each
to L and 1 to n.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from sparsebayes._array import row_lengths, scaled_rows
from sparsebayes.scale_learning.evidence import GaussianEvidence

STEPS = 60  # values of log ρ, or of log s, among which the search begins
NEGLIGIBLE = 1e-12  # of the largest eigenvalue: less is rounding


def profiled(evidence: GaussianEvidence, K: np.ndarray, span: tuple[float, float]) -> tuple[float, float, float]:
    """The maximum of the likelihood of y ~ N(b, sK + diag(σ²/counts)) over s > 0 and, if unknown, σ².

    Parameters
    ----------
    evidence : GaussianEvidence
        The targets y, their counts, whether there is an intercept b, and σ² if it is known.
    K : ndarray of shape (N, N)
        A covariance.
    span : tuple of float
        Least and largest log(σ²/s) or, if σ² is known, log s, in units of the mean of the diagonal of K.

    Returns
    -------
    value : float
        The largest log likelihood, up to a constant that depends on the counts alone.
    log_s, log_noise : float
        Where it is: log s and log σ².
    """
    (omega, z), copies = _spectrum(evidence, K), evidence.total - len(evidence.y)
    unit = math.log(max(float(K.diagonal().mean()), 1e-300))
    grid = np.linspace(*span, STEPS)
    if evidence.noise_variance is None:
        grid, log_noise = grid + unit, None
    else:
        grid, log_noise = grid - unit, math.log(evidence.noise_variance)

    def downhill(log_ratio: float) -> float:
        return -_at(omega, z, copies, log_ratio, log_noise)[0]

    values = [downhill(each) for each in grid]
    k = int(np.argmin(values))
    bracket = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
    best = float(minimize_scalar(downhill, bounds=bracket, method="bounded", options={"xatol": 1e-3}).x)
    return _at(omega, z, copies, best if downhill(best) < values[k] else float(grid[k]), log_noise)


def _spectrum(evidence: GaussianEvidence, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ω and z of rows times √counts, which have equal noise; without their constant if there is an intercept."""
    root = np.sqrt(evidence.counts)
    scaled, y = K * np.outer(root, root), scaled_rows(evidence.y, root)
    if evidence.center:
        constant = root / np.linalg.norm(root)
        y = y - np.multiply.outer(constant, constant @ y)
        across = scaled @ constant
        scaled = scaled - np.outer(constant, across) - np.outer(across - constant * (constant @ across), constant)
    omega, V = np.linalg.eigh(scaled)
    z = np.abs(row_lengths(V.T @ y))
    if evidence.center:  # the constant itself is an eigenvector of eigenvalue 0 that says nothing
        gone = int(np.argmax(np.abs(V.T @ constant)))
        omega, z = np.delete(omega, gone), np.delete(z, gone)
    return np.maximum(omega, NEGLIGIBLE * max(float(omega[-1]), 1e-300)), z


def _at(
    omega: np.ndarray, z: np.ndarray, copies: float, x: float, log_noise: float | None
) -> tuple[float, float, float]:
    """L, log s and log σ² at log ρ = x or, if σ² is known, at log s = x."""
    if log_noise is None:
        variance = omega + math.exp(x)
        s = max(float(np.sum(z * z / variance)) / max(len(z) + copies, 1.0), 1e-300)
        log_s, noise = math.log(s), x + math.log(s)
    else:
        log_s, noise = x, log_noise
    total = np.exp(log_s) * omega + np.exp(noise)
    value = -0.5 * float(np.sum(np.log(2 * math.pi * total) + z * z / total))
    return value - 0.5 * copies * (math.log(2 * math.pi) + noise), log_s, noise
