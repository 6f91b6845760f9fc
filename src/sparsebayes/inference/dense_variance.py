"""The variance of f under the dense model, which knows that other functions would have done as well.

A sparse model is certain of the functions it left out: its variance φᵀΣφ is that of the weights it kept. The
Gaussian process its scales were learned from leaves none out,

    Var f(x) = k(x, x) − k(x, X) C⁻¹ k(X, x),    k = Σ_p s_p k_p,    C = k(X, X) + σ²I,

and with an intercept b(x)²/(1ᵀC⁻¹1) more, b(x) = 1 − 1ᵀC⁻¹k(X, x). A part that is no covariance has
k_p(x, z) = φ(x)ᵀφ(z).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sparsebayes.bases import BoundBasis
from sparsebayes.inference.dense import DenseModel, DensePartAt, GaussianEvidence


@dataclass(frozen=True, eq=False)
class CrossCovariance:
    """s k(x, z) of one part between queries and the training rows.

    bound : its functions, centred at the training rows where they have centres.  share : s.
    norms : the functions are divided by these.  columns : Φ at the training rows; None for a covariance.
    """

    bound: BoundBasis
    share: float
    norms: np.ndarray
    columns: np.ndarray | None

    @classmethod
    def of(cls, term: DensePartAt) -> CrossCovariance:
        """What is needed of a term of the dense model."""
        columns = None if term.part.is_covariance else term.columns
        return cls(term.bound, term.share, term.part.norms, columns)

    def __call__(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s k(X, training rows) (q, N) and s k(X, X) (q, q)."""
        functions = self.bound(X) / self.norms
        if self.columns is not None:
            return self.share * (functions @ self.columns.T), self.share * (functions @ functions.T)
        own = self.bound.centred_at(X)
        assert own is not None  # a covariance is a kernel
        return self.share * functions, self.share * own(X)


@dataclass(frozen=True, eq=False)
class DensePosterior:
    """The Gaussian process given the training rows.

    factor : L (N, N), C = LLᵀ.  constant : L⁻¹1 (N,) where there is an intercept, else None.
    """

    parts: tuple[CrossCovariance, ...]
    factor: np.ndarray
    constant: np.ndarray | None

    @classmethod
    def of(cls, model: DenseModel, theta: np.ndarray) -> DensePosterior:
        """Of the dense model at θ; its targets are numbers."""
        terms, evidence = model.terms(theta), model.evidence
        assert isinstance(evidence, GaussianEvidence)
        L = evidence.factor(model.covariance(terms), model.tail(theta))
        ones = scipy.linalg.solve_triangular(L, np.ones(len(L)), lower=True)
        return cls(tuple(map(CrossCovariance.of, terms)), L, ones if evidence.center else None)

    def covariance(self, X: np.ndarray) -> np.ndarray:
        """Of f at the rows of X (q, d) jointly: (q, q)."""
        half, own, free = self._halves(X)
        return own - half.T @ half + np.outer(free, free)

    def variance(self, X: np.ndarray) -> np.ndarray:
        """Its diagonal (q,)."""
        half, own, free = self._halves(X)
        return np.maximum(np.diagonal(own) - np.sum(half**2, axis=0) + free**2, 0.0)

    def _halves(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """L⁻¹k(X_train, X) (N, q), k(X, X) (q, q), and b(x)/√(1ᵀC⁻¹1) (q,), 0 without an intercept."""
        cross, own = self.parts[0](X)
        for part in self.parts[1:]:
            more = part(X)
            cross, own = cross + more[0], own + more[1]
        half = scipy.linalg.solve_triangular(self.factor, cross.T, lower=True)
        if self.constant is None:
            return half, own, np.zeros(len(X))
        return half, own, (1 - self.constant @ half) / np.linalg.norm(self.constant)
