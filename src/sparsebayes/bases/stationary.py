"""Kernels of the distance between x and z, γ scaling the inputs."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from sparsebayes._array import Array, is_numpy, namespace
from sparsebayes._checks import is_number
from sparsebayes.bases._distances import (
    absolute_distances,
    absolute_shares,
    squared_distances,
    squared_shares,
    total,
)
from sparsebayes.bases._learnable import Learnable
from sparsebayes.bases._scales import (
    Gamma,
    Scale,
    Width,
    inverse_square,
    positive_number,
    positive_scale,
    resolve_gamma,
)
from sparsebayes.bases.kernels import CentredBasis

SMOOTHNESS = (1.5, 2.5)
VANISHED = 1e3  # exp(−VANISHED) is 0


class _Radial(CentredBasis):
    """k(x, z) = f(q), q = Σ_k γ_k (x_k − z_k)²: what is f for the subclasses, and gamma = γ, width = γ^−½."""

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("gamma", power=-2.0),)
    gamma: Gamma
    width: Width | None

    @abstractmethod
    def profile(self, q: Array) -> Array:
        """f(q), which may overwrite q."""

    @abstractmethod
    def slope(self, q: Array) -> Array:
        """∂f/∂q, an array of its own."""

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = f(q_nm)."""
        return self.profile(squared_distances(X, Z, self.gamma))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log γ_k = f'(q) γ_k (x_k − z_k)²  [T01, app. C]."""
        q = squared_distances(X, Z, self.gamma)
        weights = self.slope(q)
        weights *= D
        return squared_shares(weights, q, X, Z, self.gamma)

    def diagonal(self, X: Array) -> Array:
        """1."""
        return namespace(X).ones_like(X[:, 0])

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Always."""
        return True

    def _gamma(self, X: Array, sample_weight: Array | None) -> Scale:
        """γ as numbers, from gamma or width."""
        if self.width is None:
            return resolve_gamma(self.gamma, X, sample_weight)
        return inverse_square(positive_scale(self.width, "width", int(X.shape[1])), "width")


class RBF(_Radial):
    """Gaussian kernel, k(x, z) = exp(−Σ_k η_k (x_k − z_k)²)  [T01, app. C].

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        η. "scale" is 1/(d Var(X)), "auto" is 1/d.
    width : a positive number or one per input, optional
        r in exp(−‖x − z‖²/r²); where given, η = 1/r² and gamma is not looked at  [SE07, eq. 39].
    """

    def __init__(self, gamma: Gamma = "scale", *, width: Width | None = None) -> None:
        self.gamma = gamma
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> RBF:
        """gamma as numbers."""
        return RBF(self._gamma(X, sample_weight))

    def profile(self, q: Array) -> Array:
        """exp(−q)."""
        return _exp_of_minus(q)

    def slope(self, q: Array) -> Array:
        """−exp(−q)."""
        slope = _exp_of_minus(q + 0.0)
        slope *= -1.0
        return slope


class Matern(_Radial):
    """Matérn kernel: functions that are once (ν = 3/2) or twice (ν = 5/2) differentiable.

        k(x, z) = (1 + s) exp(−s),  s² = 6 q,    or    (1 + s + s²/3) exp(−s),  s² = 10 q,

    with q = Σ_k γ_k (x_k − z_k)². It is exp(−q), the Gaussian kernel of the same γ, for ν → ∞; in terms of a
    length ℓ with s² = 2ν ‖x − z‖²/ℓ², γ = 1/(2ℓ²).

    Parameters
    ----------
    gamma, width
        γ, as for `RBF`.
    nu : 1.5 or 2.5
        ν.
    """

    def __init__(self, gamma: Gamma = "scale", *, nu: float = 2.5, width: Width | None = None) -> None:
        self.gamma = gamma
        self.nu = nu
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> Matern:
        """gamma as numbers."""
        if not is_number(self.nu) or self.nu not in SMOOTHNESS:
            raise ValueError(f"nu must be 1.5 or 2.5, got {self.nu!r}")
        return Matern(self._gamma(X, sample_weight), nu=self.nu)

    def profile(self, q: Array) -> Array:
        """(1 + s) exp(−s), or (1 + s + s²/3) exp(−s)."""
        s = self._argument(q)
        shape = 1.0 + s if self.nu == 1.5 else 1.0 + s * (1.0 + s / 3.0)
        shape *= _exp_of_minus(s)
        return shape

    def slope(self, q: Array) -> Array:
        """−3 exp(−s), or −5/3 (1 + s) exp(−s): finite where q = 0."""
        s = self._argument(q)
        slope = (-5.0 / 3.0) * (1.0 + s) if self.nu == 2.5 else -3.0
        return _exp_of_minus(s) * slope

    def _argument(self, q: Array) -> Array:
        """s = √(4ν q), no larger than what exp(−s) can tell from infinity."""
        return namespace(q).clip(namespace(q).sqrt(4.0 * self.nu * q), 0.0, VANISHED)


class RationalQuadratic(_Radial):
    """Rational quadratic kernel, k(x, z) = (1 + q/α)^−α with q = Σ_k γ_k (x_k − z_k)².

    A mixture of Gaussian kernels of all widths, the fewer of them far from γ^−½ the larger α is; the Gaussian
    kernel exp(−q) for α → ∞.

    Parameters
    ----------
    gamma, width
        γ, as for `RBF`.
    alpha : a positive number
        α.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (
        Learnable("gamma", power=-2.0),
        Learnable("alpha", power=0.0, limits=(0.05, 1e3), per_input=False, is_width=False),
    )

    def __init__(self, gamma: Gamma = "scale", *, alpha: float = 1.0, width: Width | None = None) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.width = width

    def resolve(self, X: Array, sample_weight: Array | None) -> RationalQuadratic:
        """gamma and alpha as numbers."""
        alpha = positive_number(self.alpha, "alpha")
        return RationalQuadratic(self._gamma(X, sample_weight), alpha=alpha)

    def profile(self, q: Array) -> Array:
        """exp(−α log(1 + q/α))."""
        return _exp_of_minus(self.alpha * namespace(q).log1p(q / self.alpha))

    def slope(self, q: Array) -> Array:
        """−(1 + q/α)^(−α−1)."""
        xp = namespace(q)
        return -xp.exp((-self.alpha - 1.0) * xp.log1p(q / self.alpha))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """As of any radial kernel; ∂k/∂ log α = α k [v/(1 + v) − log(1 + v)] with v = q/α."""
        v = squared_distances(X, Z, self.gamma)
        v /= self.alpha
        xp = namespace(v)
        log = xp.log1p(v)
        weights = (D * self.alpha) * xp.exp(-self.alpha * log)
        by_alpha = total(weights, v / (1.0 + v) - log)
        return np.append(super().scale_gradient(X, Z, D), by_alpha)


class Laplacian(CentredBasis):
    """Laplacian kernel, k(x, z) = exp(−Σ_k γ_k |x_k − z_k|); gamma = γ in the words of `RBF`."""

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("gamma", power=-1.0),)

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
        weights = _exp_of_minus(q + 0.0)
        weights *= -1.0 * D
        return absolute_shares(weights, q, X, Z, self.gamma)

    def diagonal(self, X: Array) -> Array:
        """1."""
        return namespace(X).ones_like(X[:, 0])

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Always."""
        return True


def _exp_of_minus(D: Array) -> Array:
    """exp(−D), overwriting D where the library can."""
    D *= -1.0
    return np.exp(D, out=D) if is_numpy(D) else namespace(D).exp(D)
