"""The dense evidence of many rows through few centres: subset of regressors.

Where there are too many rows for an (N, N) covariance, the functions of a kernel are those at m of the rows,
with the prior their covariance gives them, w ~ N(0, sV⁻¹), V = k(Z, Z); with all rows as centres this is the
Gaussian process of `dense`. With V = RᵀR the functions U = √s ΦR⁻¹ have weights u ~ N(0, I),

    Σ = (I + βUᵀU)⁻¹,   μ = βΣUᵀt,   L as in `posterior` with A = I,
    ∂L/∂U = D = β[(t − Uμ)μᵀ − UΣ]                                                     [T01, eq. 54]
    ∂L/∂Φ = √s D R⁻ᵀ,     ∂L/∂V = ½ R⁻¹(I − Σ − μμᵀ)R⁻ᵀ,     ∂L/∂ log s = ½ Σ D∘U.

Parts that are no covariance have V = I and all their functions. O(Nm²) an evaluation, O(Nm) memory.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sparsebayes.bases import BoundBasis
from sparsebayes.inference.dense import inverse_of, plus_diagonal, spreads

JITTER = 1e-8  # of the mean of diag V


class CentredPart:
    """One part of a basis at N rows, its functions at the centres Z (m, d) where it has centres."""

    def __init__(self, part: BoundBasis, X: np.ndarray, Z: np.ndarray) -> None:
        moved = part.centred_at(Z)
        self.is_covariance = moved is not None and moved.positive_semidefinite
        self.bound: BoundBasis = part if moved is None else moved
        self.X, self.Z, self.size = X, Z, len(self.bound.log_scales)
        columns = self.bound(Z)
        if self.is_covariance:
            self.norms = np.full(1, math.sqrt(max(float(columns.diagonal().mean()), 1e-300)))
        else:
            self.norms = spreads(columns) * math.sqrt(columns.shape[1])

    def at(self, log_scales: np.ndarray, log_share: float) -> CentredPartAt:
        """The part at these scales, times exp(log_share)."""
        return CentredPartAt(self, self.bound.with_log_scales(log_scales), math.exp(0.5 * log_share))


class CentredPartAt:
    """A part at given scales: U (N, m), and the way from ∂L/∂U to the gradient."""

    def __init__(self, part: CentredPart, bound: BoundBasis, root_share: float) -> None:
        self.part, self.bound = part, bound
        self.U = bound(part.X) * (root_share / part.norms)
        self.root_share = root_share
        if part.is_covariance:
            V = bound(part.Z)
            V = plus_diagonal(np.array(V), JITTER * float(V.diagonal().mean()))
            self.R = cholesky(V, lower=False, check_finite=False)
            self.root_share = root_share / float(part.norms[0])
            self.U = solve_triangular(self.R, self.U.T, trans="T", check_finite=False).T

    def gradient(self, D: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, float]:
        """By the log scales and by the log share. posterior : Σ + μμᵀ of the functions of this part."""
        part = self.part
        by_share = 0.5 * float(np.vdot(D, self.U))
        if not part.size:
            return np.zeros(0), by_share
        if not part.is_covariance:
            return self.bound.scale_gradient(part.X, D * (self.root_share / part.norms)), by_share
        by_functions = self.root_share * solve_triangular(self.R, D.T, check_finite=False).T
        half = solve_triangular(self.R, np.eye(len(posterior)) - posterior, check_finite=False)
        by_prior = 0.5 * solve_triangular(self.R, half.T, check_finite=False)
        # the jitter on the diagonal of V moves with the mean of it
        plus_diagonal(by_prior, JITTER * float(np.trace(by_prior)) / len(by_prior))
        by_scales = self.bound.scale_gradient(part.X, by_functions)
        return by_scales + self.bound.scale_gradient(part.Z, by_prior), by_share


class CentredModel:
    """The evidence of rows (X, t) through the centres Z, as a function of the θ of a `DenseModel`.

    counts : (N,) how often each row counts.  center : whether an intercept is integrated out (flat prior).
    beta : noise precision where it is known; None: log β is the last parameter.
    """

    def __init__(
        self,
        bound: BoundBasis,
        X: np.ndarray,
        Z: np.ndarray,
        t: np.ndarray,
        counts: np.ndarray,
        center: bool,
        beta: float | None,
    ) -> None:
        self.parts = [CentredPart(part, X, Z) for part in bound.scaled_apart]
        self.scales = sum(part.size for part in self.parts)
        self.counts, self.center, self.beta = counts, center, beta
        self.n, self.total = len(t), float(counts.sum())
        self.t = t - float(counts @ t) / self.total if center else t

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """L and its gradient; −∞ and zeros where the prior is not positive definite."""
        shares = theta[self.scales : self.scales + len(self.parts)]
        log_scales = np.split(theta[: self.scales], np.cumsum([part.size for part in self.parts])[:-1])
        try:
            terms = [part.at(*at) for part, *at in zip(self.parts, log_scales, shares, strict=True)]
            return self._evidence(terms, math.exp(theta[-1]) if self.beta is None else self.beta)
        except np.linalg.LinAlgError:
            return -math.inf, np.zeros_like(theta)

    def _evidence(self, terms: list[CentredPartAt], beta: float) -> tuple[float, np.ndarray]:
        U = np.concatenate([term.U for term in terms], axis=1)
        n = self.total - 1 if self.center else self.total
        if self.center:
            U -= self.counts @ U / self.total
        weighted = self.counts[:, None] * U
        Sigma, log_det = inverse_of(np.eye(U.shape[1]) + beta * (weighted.T @ U))
        mean = beta * (Sigma @ (weighted.T @ self.t))
        residual = self.t - U @ mean
        misfit = beta * float(self.counts @ residual**2)
        value = 0.5 * (n * math.log(beta / (2 * math.pi)) - misfit - float(mean @ mean) - log_det)
        value -= 0.5 * math.log(self.total) if self.center else 0.0
        D = beta * (np.outer(self.counts * residual, mean) - weighted @ Sigma)
        edges = np.cumsum([0, *(term.U.shape[1] for term in terms)])
        gradients = []
        for term, a, b in zip(terms, edges, edges[1:], strict=False):
            gradients.append(term.gradient(D[:, a:b], Sigma[a:b, a:b] + np.outer(mean[a:b], mean[a:b])))
        by_beta = 0.5 * (n - misfit - (len(mean) - float(np.trace(Sigma))))
        by_scales = np.concatenate([each[0] for each in gradients])
        tail = [by_beta] if self.beta is None else []
        return value, np.concatenate([by_scales, [each[1] for each in gradients], tail])
