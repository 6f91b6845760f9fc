"""The variance of f under the Gaussian process, which allows for functions that were not selected.

The variance φᵀΣφ of a sparse model is due to the weights of its functions; all other weights are certainly
zero. The Gaussian process that its scales were learned from has all functions,

    Var f(x) = k(x, x) − k(x, X) C⁻¹ k(X, x),    k = Σ_p s_p k_p,    C = k(X, X) + σ²I,

and with an intercept b(x)²/(1ᵀC⁻¹1) more, b(x) = 1 − 1ᵀC⁻¹k(X, x). A part that is no covariance has
k_p(x, z) = φ(x)ᵀφ(z).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from sparsebayes.scale_learning.evidence import GaussianEvidence
from sparsebayes.scale_learning.parts import PartAt
from sparsebayes.scale_learning.process import GaussianProcess


@dataclass(frozen=True, eq=False)
class GaussianProcessPosterior:
    """A Gaussian process given its training rows.

    Attributes
    ----------
    parts : tuple of PartAt
        The terms k_p of its covariance.
    factor : ndarray of shape (N, N)
        The lower factor L of C = LLᵀ.
    constant : ndarray of shape (N,) or None
        L⁻¹1 if there is an intercept.
    """

    parts: tuple[PartAt, ...]
    factor: np.ndarray
    constant: np.ndarray | None

    @classmethod
    def of(cls, process: GaussianProcess, theta: np.ndarray) -> GaussianProcessPosterior:
        """The posterior of a Gaussian process at θ.

        Parameters
        ----------
        process : GaussianProcess
            With an exact covariance and a `GaussianEvidence`.
        theta : ndarray
            Its parameters θ.

        Returns
        -------
        GaussianProcessPosterior
            Given the rows of the process.
        """
        evidence = process.evidence
        assert isinstance(evidence, GaussianEvidence)
        L = evidence.factor(process.covariance(process.parts_at(theta)), process.log_beta(theta))
        ones = solve_triangular(L, np.ones(len(L)), lower=True) if evidence.center else None
        return cls(tuple(process.parts_at(theta)), L, ones)  # made anew: those above hold their covariances

    @property
    def n(self) -> int:
        """N, the number of training rows that a query is compared with."""
        return len(self.factor)

    def covariance(self, X: np.ndarray) -> np.ndarray:
        """The covariance (q, q) of f at all queries X (q, d) jointly."""
        half, own, free = self._halves(X)
        return own - half.T @ half + np.outer(free, free)

    def variance(self, X: np.ndarray) -> np.ndarray:
        """The variance (q,) of f at each of the queries X (q, d)."""
        half, own, free = self._halves(X)
        return np.maximum(np.diagonal(own) - np.sum(half**2, axis=0) + free**2, 0.0)

    def _halves(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """L⁻¹k(rows, X) (N, q), k(X, X) (q, q), and b(x)/√(1ᵀC⁻¹1) (q,), 0 without an intercept."""
        pieces = zip(*(part.between(X) for part in self.parts), strict=True)
        cross, own = (np.sum(piece, axis=0) for piece in pieces)
        half = solve_triangular(self.factor, cross.T, lower=True)
        if self.constant is None:
            return half, own, np.zeros(len(X))
        return half, own, (1 - self.constant @ half) / np.linalg.norm(self.constant)
