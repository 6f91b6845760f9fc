"""Kernels of the distance between x and z."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparsebayes._array import Array, is_numpy, namespace
from sparsebayes.bases._distances import (
    absolute_distances,
    absolute_shares,
    squared_distances,
    squared_shares,
)
from sparsebayes.bases._learnable import Learnable
from sparsebayes.bases._scales import Gamma, Width, positive_scale, resolve_gamma
from sparsebayes.bases.kernels import CentredBasis


class RBF(CentredBasis):
    """Gaussian kernel, k(x, z) = exp(−Σ_k η_k (x_k − z_k)²)  [T01, app. C].

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        η. "scale" is 1/(d Var(X)), "auto" is 1/d.
    width : a positive number or one per input, optional
        r in exp(−‖x − z‖²/r²); where given, η = 1/r² and gamma is not looked at  [SE07, eq. 39].
    """

    learnable: ClassVar = (Learnable("gamma", power=-2.0),)

    def __init__(self, gamma: Gamma = "scale", *, width: Width | None = None) -> None:
        self.gamma = gamma
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> RBF:
        """gamma as numbers."""
        if self.width is None:
            return RBF(resolve_gamma(self.gamma, X, sample_weight))
        return RBF(positive_scale(self.width, "width", int(X.shape[1])) ** -2.0)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = exp(−Σ_k η_k (x_nk − z_mk)²)."""
        return _exp_of_minus(squared_distances(X, Z, self.gamma))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log η_k = −k η_k (x_k − z_k)²  [T01, app. C]."""
        q = squared_distances(X, Z, self.gamma)
        return squared_shares(-D * namespace(q).exp(-q), q, X, Z, self.gamma)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Always."""
        return True


class Laplacian(CentredBasis):
    """Laplacian kernel, k(x, z) = exp(−Σ_k γ_k |x_k − z_k|); gamma = γ in the words of `RBF`."""

    learnable: ClassVar = (Learnable("gamma", power=-1.0),)

    def __init__(self, gamma: Gamma = "scale") -> None:
        self.gamma = gamma

    def resolve(self, X: Array, sample_weight: Array | None) -> Laplacian:
        """gamma as numbers."""
        return Laplacian(resolve_gamma(self.gamma, X, sample_weight))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = exp(−Σ_k γ_k |x_nk − z_mk|)."""
        return _exp_of_minus(absolute_distances(X, Z, self.gamma))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log γ_k = −k γ_k |x_k − z_k|."""
        q = absolute_distances(X, Z, self.gamma)
        return absolute_shares(-D * namespace(q).exp(-q), q, X, Z, self.gamma)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Always."""
        return True


def _exp_of_minus(D: Array) -> Array:
    """exp(−D), overwriting D where the library can."""
    D *= -1.0
    return np.exp(D, out=D) if is_numpy(D) else namespace(D).exp(D)
