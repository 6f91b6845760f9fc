"""The Gaussian process that the scales of a basis are learned from.

With every function in the model and one prior variance for all functions of a part, f is a Gaussian process,

    f ~ N(0, Σ_p s_p K_p(η_p)),      one term for each part p of the basis with scales η_p of its own,

where K_p is the kernel matrix of a part whose kernel is positive semi-definite, so that it is a covariance
itself, and ΦΦᵀ (columns of unit variance) of any other. Both are divided by their mean variance at the scales
that the search starts with, so that the share s_p is a variance of f. For many rows K_p is approximated by a
subset of regressors, the functions at m inducing centres Z:

    K_p ≈ k(X, Z) V⁻¹ k(Z, X) = UUᵀ/s_p,      V = k(Z, Z) = RᵀR,   U = √s_p k(X, Z) R⁻¹ (N, m),

which is exact if all rows are centres. A basis turns ∂L/∂Φ, the D of [T01, eq. 54], into the gradient by its
log scales; with G = ∂L/∂K and D = ∂L/∂U the chain rule gives

    ∂L/∂Φ = s_p G        of a covariance,           2 s_p GΦ = √s_p D   of other functions,
    ∂L/∂Φ = √s_p D R⁻ᵀ   by subset of regressors, and also  ∂L/∂V = ½ R⁻¹(I − E[uuᵀ])R⁻ᵀ.

Parts that live on the samples of a signal (wavelets, cosines, spikes) are never in the Gaussian process: with
one variance for all of them they would add s I to the covariance of the targets, which is what noise does.
Their variance is then part of the σ² that is found here.

Rows of another library than NumPy stay where they are: covariances, U and their gradients are computed there, and
what has the size of the inducing centres, such as R, on the host.

Why not the evidence of the sparse model: with a precision for each function it adapts to whatever scales
there are. It rises slowly from one set of functions to the next [T01, app. C], and what it gains by the
scales is fitted to the noise as much as to the function.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from sparsebayes._array import (
    Array,
    NotPositiveDefinite,
    add_diagonal,
    namespace,
)
from sparsebayes.bases import BoundBasis
from sparsebayes.scale_learning.evidence import Evidence
from sparsebayes.scale_learning.parts import Part, PartAt, mean_diagonal
from sparsebayes.scale_learning.settings import DEFAULT, ScaleSearchSettings


class GaussianProcess:
    """The GP log marginal likelihood as a function of θ = (log η of all parts, log s_p, log β).

    Parts that live on the samples of a signal (wavelets, cosines, spikes) are not in it: their variance is
    part of the noise. log β is there only if the evidence estimates the noise.

    Parameters
    ----------
    bound : BoundBasis
        The functions.
    X : array of shape (N, d)
        The rows.
    evidence : Evidence
        log p(y) of these rows as a function of the covariance of f, beside them.
    Z : array of shape (m, d), optional
        Inducing centres, for a subset of regressors. None for the exact covariance (N, N).
    settings : ScaleSearchSettings
        The jitter is taken from it.

    Attributes
    ----------
    parts : list of Part
        The parts that are in it.
    all_parts : bool
        Whether that is every part of the basis.
    n_scales : int
        How many scales there are; they line up with `bound.log_scales`.
    """

    def __init__(
        self,
        bound: BoundBasis,
        X: Array,
        evidence: Evidence,
        Z: Array | None = None,
        settings: ScaleSearchSettings = DEFAULT,
    ) -> None:
        groups = bound.scale_groups
        ends = np.cumsum([0, *(group.n_functions for group in groups)])
        centres = X if Z is None else Z
        self.parts = [
            Part(group, np.arange(a, b), X, centres, settings.centre_jitter)
            for group, (a, b) in zip(groups, pairwise(ends), strict=True)
            if group.in_gaussian_process
        ]
        if not self.parts:
            raise ValueError("basis must have a kernel to learn scales from, got wavelets, cosines or spikes.")
        self.all_parts = len(self.parts) == len(groups)
        self.evidence, self.exact, self.jitter = evidence, Z is None, settings.jitter
        self.n_scales = sum(part.n_scales for part in self.parts)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The GP log marginal likelihood L and its gradient.

        Parameters
        ----------
        theta : ndarray
            θ.

        Returns
        -------
        value : float
            L; −∞ if a covariance is not positive definite.
        gradient : ndarray
            ∂L/∂θ; zeros in that case.
        """
        try:
            value, gradients, by_noise = (self._exact if self.exact else self._by_centres)(theta)
        except (np.linalg.LinAlgError, NotPositiveDefinite):
            return -math.inf, np.zeros_like(theta)
        by_scales, by_shares = zip(*gradients, strict=True)
        return value, np.concatenate([*by_scales, by_shares, by_noise])

    def value(self, theta: np.ndarray) -> float:
        """The GP log marginal likelihood L at θ without its gradient; −∞ if a covariance is not positive definite."""
        parts, log_beta = self.parts_at(theta), self.log_beta(theta)
        try:
            if self.exact:
                return self.evidence.value(self.covariance(parts), log_beta)
            return self.evidence.value_of_regressors(_beside_one_another(parts), log_beta)
        except (np.linalg.LinAlgError, NotPositiveDefinite):
            return -math.inf

    def _exact(self, theta: np.ndarray) -> tuple[float, list[tuple[np.ndarray, float]], np.ndarray]:
        """L, its gradient by (log η, log s) of each part, and by the noise, with the exact covariance."""
        parts = self.parts_at(theta)
        value, G, by_noise = self.evidence(self.covariance(parts), self.log_beta(theta))
        G = add_diagonal(G, self.jitter * mean_diagonal(G))
        return value, [part.gradient(G) for part in parts], by_noise

    def _by_centres(self, theta: np.ndarray) -> tuple[float, list[tuple[np.ndarray, float]], np.ndarray]:
        """L, its gradient by (log η, log s) of each part, and by the noise, by subset of regressors."""
        parts = self.parts_at(theta)
        U = _beside_one_another(parts)
        value, D, moments, by_noise = self.evidence.subset_of_regressors(U, self.log_beta(theta))
        ends = pairwise(np.cumsum([0, *(part.U.shape[1] for part in parts)]))
        gradients = [part.gradient_by_U(D[:, a:b], moments[a:b, a:b]) for part, (a, b) in zip(parts, ends, strict=True)]
        return value, gradients, by_noise

    def parts_at(self, theta: np.ndarray) -> list[PartAt]:
        """Each part at its scales and with its share."""
        log_scales = np.split(theta[: self.n_scales], np.cumsum([part.n_scales for part in self.parts])[:-1])
        log_shares = theta[self.n_scales : self.n_scales + len(self.parts)]
        return [part.at(*at) for part, *at in zip(self.parts, log_scales, log_shares, strict=True)]

    def factor(self, theta: np.ndarray) -> Array:
        """U (N, m), with UUᵀ the covariance of f by inducing centres."""
        return _beside_one_another(self.parts_at(theta))

    def left_over(self, theta: np.ndarray) -> Array:
        """The variance of f at each row (N,) that the inducing centres do not explain."""
        return sum(part.left_over() for part in self.parts_at(theta))

    def log_beta(self, theta: np.ndarray) -> np.ndarray:
        """The parameters of the noise: log β, or none."""
        return theta[self.n_scales + len(self.parts) :]

    def covariance(self, parts: list[PartAt]) -> Array:
        """The covariance of f (N, N) that these parts add up to, with the jitter."""
        K = namespace(parts[0].K).asarray(parts[0].K, copy=True)
        for part in parts[1:]:
            K += part.K
        return add_diagonal(K, self.jitter * mean_diagonal(K))


def _beside_one_another(parts: list[PartAt]) -> Array:
    """The functions U of all parts, (N, m)."""
    return namespace(parts[0].U).concat([part.U for part in parts], axis=1)
