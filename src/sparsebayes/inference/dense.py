"""The evidence of the model with all its functions in: what the scales of a basis are learned from.

With every function in the model and one precision for all of them, the target is a Gaussian process,

    t ~ N(0, σ²I + Σ_p s_p K_p(η_p)),      one term for each part p of the basis,

where K_p is the kernel matrix of a part whose kernel is positive semi-definite at the rows, so that it is a
covariance itself, and ΦΦᵀ (columns of unit norm) of any other. With G = ∂L/∂(covariance of f) the chain rule
gives D = ∂L/∂Φ = s_p G for the former and 2 s_p GΦ for the latter, the D of [T01, eq. 54] for these weights,
and a basis turns D into the gradient by its log scales.

Why not the evidence of the sparse model: a precision for each function adapts to whatever scales there are.
It rises slowly from one set of functions to the next [T01, app. C], and what it gains by the scales is fitted
to the noise as much as to the function.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sparsebayes.bases import BoundBasis

JITTER = 1e-9  # of the mean variance of f, on its diagonal: smooth kernels have more rows than rank
CONSTANT = 1e-10  # of a column is left by rounding at most where an intercept does the same


class DenseEvidence(ABC):
    """log p(y) of the rows as a function of the covariance K (N, N) of f, and of σ² where there is noise."""

    n: int
    tail: int  # how many further parameters there are: log β or nothing
    counts: np.ndarray  # (N,) how often each row counts

    @property
    def total(self) -> float:
        """The rows, each as often as it counts."""
        return float(self.counts.sum())

    @abstractmethod
    def __call__(self, K: np.ndarray, tail: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """L, G = ∂L/∂K (symmetric), and the derivatives of L by the further parameters."""

    def whitened(
        self, K: np.ndarray, tail: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Rt and R times the columns (N, M), RᵀR = C⁻¹ less what an intercept takes; None for classes."""
        return None


@dataclass
class GaussianEvidence(DenseEvidence):
    """t ~ N(b, K + diag(1/(β counts))), the intercept b with a flat prior integrated out where there is one.

    counts : (N,) how often each row counts. A row that counts twice is two rows with the same target.
    beta : noise precision where it is known; None: log β is the further parameter.
    """

    t: np.ndarray
    counts: np.ndarray
    center: bool
    beta: float | None = None

    def __post_init__(self) -> None:
        self.n, self.tail = len(self.t), int(self.beta is None)

    def __call__(self, K: np.ndarray, tail: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """L = −½ [N log 2π + log|C| + tᵀC⁻¹t], G = ½ (C⁻¹ttᵀC⁻¹ − C⁻¹)."""
        beta, total = self._precision(tail), self.total
        C_inverse, log_det, known = self.inverse(K, tail)
        value = -0.5 * (log_det + total * math.log(2 * math.pi))
        # what the copies of a row leave of the likelihood once their mean is known
        copies = total - self.n
        value += 0.5 * (copies * math.log(beta) - float(np.log(self.counts).sum()))
        t = self.t
        if known is not None:
            value += 0.5 * math.log(2 * math.pi / known)
            t = t - float(np.average(t, weights=self.counts))
        a = C_inverse @ t
        G = np.outer(0.5 * a, a)
        G -= np.multiply(C_inverse, 0.5, out=C_inverse)
        by_beta = 0.5 * copies - float(G.diagonal() @ (1 / (beta * self.counts)))
        return value - 0.5 * float(t @ a), G, np.asarray([by_beta] * self.tail)

    def whitened(self, K: np.ndarray, tail: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R = L⁻¹ with C = LLᵀ; where there is an intercept, without the direction of L⁻¹1."""
        L = self.factor(K, tail)
        R = scipy.linalg.solve_triangular(L, np.column_stack([np.ones(self.n), self.t, columns]), lower=True)
        if self.center:
            size, constant = np.linalg.norm(R, axis=0), R[:, 0] / np.linalg.norm(R[:, 0])
            R -= np.outer(constant, constant @ R)
            R[:, np.linalg.norm(R, axis=0) < CONSTANT * size] = 0.0
        return R[:, 1], R[:, 2:]

    def inverse(self, K: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, float, float | None]:
        """C⁻¹, log|C| and None; with an intercept C⁻¹ − C⁻¹11ᵀC⁻¹/(1ᵀC⁻¹1), log|C| and 1ᵀC⁻¹1."""
        C_inverse, log_det = inverse_of(self._of_targets(K, tail))
        if not self.center:
            return C_inverse, log_det, None
        u = C_inverse.sum(axis=0)
        C_inverse -= np.outer(u, u / u.sum())
        return C_inverse, log_det, float(u.sum())

    def factor(self, K: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """L of C = K + diag(1/(β counts)) = LLᵀ."""
        return scipy.linalg.cholesky(self._of_targets(K, tail), lower=True)

    def noise_variance(self, tail: np.ndarray) -> float:
        """σ²."""
        return 1 / self._precision(tail)

    def _of_targets(self, K: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """C = K + diag(1/(β counts))."""
        return plus_diagonal(K.copy(), 1 / (self._precision(tail) * self.counts))

    def _precision(self, tail: np.ndarray) -> float:
        return math.exp(tail[0]) if self.beta is None else self.beta


class DensePart:
    """One part of a basis at N rows, as a covariance of f of mean variance 1 (at the scales it begins with).

    Where the kernel is positive semi-definite at the rows that is K(X, X), else ΦΦᵀ.
    """

    def __init__(self, part: BoundBasis, X: np.ndarray) -> None:
        centred = part.centred_at(X)
        self.has_centres = centred is not None
        self.is_covariance = centred is not None and centred.positive_semidefinite
        self.bound: BoundBasis = centred if centred is not None else part
        self.X, self.size = X, len(self.bound.log_scales)
        columns = self.bound(X)
        if self.is_covariance:
            self.norms = np.ones(1)
            self.unit = max(float(columns.diagonal().mean()), 1e-300)
        else:
            self.norms = spreads(columns)
            self.unit = float(columns.shape[1])

    def at(self, log_scales: np.ndarray, log_share: float) -> DensePartAt:
        """The part at these scales, times exp(log_share)."""
        return DensePartAt(self, self.bound.with_log_scales(log_scales), math.exp(log_share) / self.unit)


class DensePartAt:
    """A part at given scales: its covariance, and the way from G = ∂L/∂K to the gradient."""

    def __init__(self, part: DensePart, bound: BoundBasis, share: float) -> None:
        self.part, self.bound, self.share = part, bound, share
        self.columns = bound(part.X) / part.norms
        self.K = share * (self.columns if part.is_covariance else self.columns @ self.columns.T)

    def gradient(self, G: np.ndarray) -> tuple[np.ndarray, float]:
        """By the log scales and by the log of the share."""
        part = self.part
        by_share = float(np.vdot(G, self.K))
        if not part.size:
            return np.zeros(0), by_share
        D = self.share * G if part.is_covariance else 2 * self.share * (G @ self.columns) / part.norms
        return self.bound.scale_gradient(part.X, D), by_share


class DenseModel:
    """The dense evidence as a function of θ = (log η of all parts, log s_p, further parameters)."""

    def __init__(self, bound: BoundBasis, X: np.ndarray, evidence: DenseEvidence) -> None:
        self.parts = [DensePart(part, X) for part in bound.scaled_apart]
        self.evidence, self.total = evidence, evidence.total
        self.scales = sum(part.size for part in self.parts)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """L and its gradient; −∞ and zeros where the covariance is not positive definite."""
        terms = self.terms(theta)
        try:
            value, G, by_tail = self.evidence(self.covariance(terms), self.tail(theta))
        except np.linalg.LinAlgError:
            return -math.inf, np.zeros_like(theta)
        plus_diagonal(G, JITTER * float(np.trace(G)) / len(G))
        gradients = [term.gradient(G) for term in terms]
        by_scales = np.concatenate([each[0] for each in gradients])
        return value, np.concatenate([by_scales, [each[1] for each in gradients], by_tail])

    def terms(self, theta: np.ndarray) -> list[DensePartAt]:
        """Each part at its scales and with its share."""
        shares = theta[self.scales : self.scales + len(self.parts)]
        log_scales = np.split(theta[: self.scales], np.cumsum([part.size for part in self.parts])[:-1])
        return [part.at(*at) for part, *at in zip(self.parts, log_scales, shares, strict=True)]

    def tail(self, theta: np.ndarray) -> np.ndarray:
        """The further parameters."""
        return theta[self.scales + len(self.parts) :]

    def covariance(self, terms: list[DensePartAt]) -> np.ndarray:
        """The covariance of f that these terms add up to."""
        K = terms[0].K.copy()
        for term in terms[1:]:
            K += term.K
        return plus_diagonal(K, JITTER * float(K.diagonal().mean()))


def spreads(columns: np.ndarray) -> np.ndarray:
    """The standard deviation of each column; the size of what is constant but for rounding; 1 for nothing."""
    means = columns.mean(axis=0)
    spread, level = np.sqrt(np.mean((columns - means) ** 2, axis=0)), np.abs(means)
    return np.where(spread > CONSTANT * level, spread, np.where(level > 0, level, 1.0))


def inverse_of(C: np.ndarray) -> tuple[np.ndarray, float]:
    """C⁻¹ and log|C| of a positive definite matrix; LinAlgError where it is not."""
    # the transpose of a symmetric array is what LAPACK calls that array: nothing is copied
    L, failed = scipy.linalg.lapack.dpotrf(np.array(C).T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise np.linalg.LinAlgError
    log_det = 2 * float(np.log(L.diagonal()).sum())
    inverse, failed = scipy.linalg.lapack.dpotri(L, lower=1, overwrite_c=1)
    if failed:
        raise np.linalg.LinAlgError
    upper = np.triu(inverse.T, 1)
    upper += upper.T.copy()
    return plus_diagonal(upper, inverse.diagonal()), log_det


def plus_diagonal(A: np.ndarray, values: float | np.ndarray) -> np.ndarray:
    """A, with the values added to its diagonal in place."""
    A.reshape(-1)[:: len(A) + 1] += values
    return A
