"""Brute force: every formula of the model the slow way, O(N³), straight from its definition."""

from __future__ import annotations

import numpy as np

from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem
from sparsebayes.priors import Gamma, Laplace, Prior, Smoothness, Uniform
from sparsebayes.quadratic import DenseQuadratic


def covariance(Phi: np.ndarray, alpha: np.ndarray, beta: float) -> np.ndarray:
    """C = I/β + ΦA⁻¹Φᵀ."""
    return np.eye(len(Phi)) / beta + (Phi / alpha) @ Phi.T


def log_evidence(Phi: np.ndarray, t: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """log N(t | 0, C)."""
    C = covariance(Phi, alpha, beta)
    sign, logdet = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * (len(t) * np.log(2 * np.pi) + logdet + t @ np.linalg.solve(C, t))


def random_problem(seed: int, N: int, M: int, active: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit-norm columns, a target made of `active` of them plus noise, scaled to unit mean square."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M))
    Phi /= np.linalg.norm(Phi, axis=0)
    J = np.sort(rng.choice(M, active, replace=False))
    t = Phi[:, J] @ (5 * rng.standard_normal(active)) + 0.3 * rng.standard_normal(N)
    return Phi, t / np.sqrt(np.mean(t**2)), J


def problem_of(
    Phi: np.ndarray, t: np.ndarray, prior: Prior | None = None, noise: Gaussian | None = None, xp=np
) -> Problem:
    """The problem a solver would be handed for unit-norm Φ and t, in any array namespace."""
    quadratic = DenseQuadratic(
        float(len(t)),
        float(t @ t),
        xp.asarray(Phi.T @ t),
        xp.asarray(Phi.T @ Phi),
        residual_of=lambda J, mean: float(np.sum((t - Phi[:, J] @ np.asarray(mean)) ** 2)),
    )
    prior = (prior or Uniform()).resolve(len(t))
    return Problem(quadratic, prior, noise or Gaussian(10.0, beta_max=1e10), xp.ones(Phi.shape[1]))


PRIORS = {
    "uniform": Uniform(),
    "gamma": Gamma(0.2, 0.1),
    "gamma-flat": Gamma(0.0, 0.05),
    "aic": Smoothness("aic"),
    "smoothness": Smoothness(0.3),
    "laplace": Laplace(2.0),
}
