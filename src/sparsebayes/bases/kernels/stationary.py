"""Kernels of the distance between x and z, with a scale γ of the inputs."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from sparsebayes._array import Array, is_numpy, namespace
from sparsebayes._checks import is_number
from sparsebayes.bases.kernels import _distances
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.scales import Bounds, Gamma, Width, inverse_square, positive_scale

SMOOTHNESS = (1.5, 2.5)
VANISHED = 1e3  # exp(−VANISHED) is 0


class Stationary(CentredBasis):
    """A positive semi-definite kernel of x − z whose value at x = z is 1."""

    always_positive = True

    def diagonal(self, X: Array) -> Array:
        """1 for every row of X."""
        return namespace(X).ones_like(X[:, 0])


class _Radial(Stationary):
    """k(x, z) = f(q), q = Σ_k γ_k (x_k − z_k)²; here f(q) = exp(−q). gamma = γ, width = γ^−½."""

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("gamma", power=-2.0, from_data=True),)
    is_local = True
    gamma: Gamma
    width: Width | None = None
    distances = staticmethod(_distances.squared_distances)
    shares = staticmethod(_distances.squared_shares)

    @abstractmethod
    def __init__(self) -> None:
        """Every kernel states its parameters."""

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """gamma as numbers, computed from width if that is given."""
        if self.width is None:
            return super().resolve(X, sample_weight)
        gamma = inverse_square(positive_scale(self.width, "width", int(X.shape[1])), "width")
        return self.with_params(gamma=gamma, width=None).resolve(X, sample_weight)

    def profile(self, q: Array) -> Array:
        """f(q), which may overwrite q."""
        return _exp_of_minus(q)

    def slope(self, q: Array) -> Array:
        """∂f/∂q as a new array."""
        slope = _exp_of_minus(q + 0.0)
        slope *= -1.0
        return slope

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = f(q_nm)."""
        return self.profile(self.distances(X, Z, self.gamma))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log γ_k = f'(q) times the term k of q  [T01, app. C]."""
        q = self.distances(X, Z, self.gamma)
        weights = self.slope(q)
        weights *= D
        return self.shares(weights, q, X, Z, self.gamma)


class RBF(_Radial):
    """Gaussian kernel, k(x, z) = exp(−Σ_k η_k (x_k − z_k)²)  [T01, app. C].

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        η. "scale" is 1/(d Var(x_k)) for input k, "auto" is 1/d.
    width : a positive number or one per input, optional
        r in exp(−‖x − z‖²/r²). If it is given, η = 1/r² and gamma is ignored  [SE07, eq. 39].
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds η when scales are learned; a pair bounds it. By default the distances in X bound it.
    """

    def __init__(self, gamma: Gamma = "scale", *, width: Width | None = None, gamma_bounds: Bounds = None) -> None:
        self.gamma = gamma
        self.width = width
        self.gamma_bounds = gamma_bounds


class Laplacian(_Radial):
    """Laplacian kernel, k(x, z) = exp(−Σ_k γ_k |x_k − z_k|).

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        γ. "scale" is 1/(d s_k) for input k of standard deviation s_k, "auto" is 1/d.
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds γ when scales are learned; a pair bounds it. By default the distances in X bound it.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (Learnable("gamma", power=-1.0, from_data=True),)
    distances = staticmethod(_distances.absolute_distances)
    shares = staticmethod(_distances.absolute_shares)

    def __init__(self, gamma: Gamma = "scale", *, gamma_bounds: Bounds = None) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds


class Matern(_Radial):
    """Matérn kernel: functions that are once (ν = 3/2) or twice (ν = 5/2) differentiable.

        k(x, z) = (1 + s) exp(−s),  s² = 6 q,    or    (1 + s + s²/3) exp(−s),  s² = 10 q,

    with q = Σ_k γ_k (x_k − z_k)². It is exp(−q), the Gaussian kernel of the same γ, for ν → ∞; in terms of a
    length ℓ with s² = 2ν ‖x − z‖²/ℓ², γ = 1/(2ℓ²).

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        γ. "scale" is 1/(d Var(x_k)) for input k, "auto" is 1/d.
    nu : 1.5 or 2.5
        ν.
    width : a positive number or one per input, optional
        r. If it is given, γ = 1/r² and gamma is ignored.
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds γ when scales are learned; a pair bounds it. By default the distances in X bound it.
    """

    def __init__(
        self, gamma: Gamma = "scale", *, nu: float = 2.5, width: Width | None = None, gamma_bounds: Bounds = None
    ) -> None:
        self.gamma = gamma
        self.nu = nu
        self.width = width
        self.gamma_bounds = gamma_bounds

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """gamma as numbers, nu checked."""
        if not is_number(self.nu) or self.nu not in SMOOTHNESS:
            raise ValueError(f"nu must be 1.5 or 2.5, got {self.nu!r}.")
        return super().resolve(X, sample_weight)

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
        """s = √(4ν q), or `VANISHED` if that is less."""
        return namespace(q).clip(namespace(q).sqrt(4.0 * self.nu * q), 0.0, VANISHED)


class RationalQuadratic(_Radial):
    """Rational quadratic kernel, k(x, z) = (1 + q/α)^−α with q = Σ_k γ_k (x_k − z_k)².

    A mixture of Gaussian kernels of all widths, concentrated the more about γ^−½ the larger α is; the
    Gaussian kernel exp(−q) for α → ∞.

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        γ. "scale" is 1/(d Var(x_k)) for input k, "auto" is 1/d.
    alpha : a positive number
        α.
    width : a positive number or one per input, optional
        r. If it is given, γ = 1/r² and gamma is ignored.
    gamma_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds γ when scales are learned; a pair bounds it. By default the distances in X bound it.
    alpha_bounds : "fixed" or a pair of positive numbers, optional
        The same for α, by default 0.05 to 1000.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (
        *_Radial.learnable,
        Learnable("alpha", power=0.0, limits=(0.05, 1e3), per_input=False, is_width=False),
    )

    def __init__(
        self,
        gamma: Gamma = "scale",
        *,
        alpha: float = 1.0,
        width: Width | None = None,
        gamma_bounds: Bounds = None,
        alpha_bounds: Bounds = None,
    ) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.width = width
        self.gamma_bounds = gamma_bounds
        self.alpha_bounds = alpha_bounds

    def profile(self, q: Array) -> Array:
        """exp(−α log(1 + q/α))."""
        return _exp_of_minus(self.alpha * namespace(q).log1p(q / self.alpha))

    def slope(self, q: Array) -> Array:
        """−(1 + q/α)^(−α−1)."""
        xp = namespace(q)
        return -xp.exp((-self.alpha - 1.0) * xp.log1p(q / self.alpha))

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """By γ as for any radial kernel; ∂k/∂ log α = α k [v/(1 + v) − log(1 + v)] with v = q/α."""
        v = self.distances(X, Z, self.gamma)
        v /= self.alpha
        xp = namespace(v)
        log = xp.log1p(v)
        weights = (D * self.alpha) * xp.exp(-self.alpha * log)
        by_alpha = _distances.total(weights, v / (1.0 + v) - log)
        return np.append(super().scale_gradient(X, Z, D), by_alpha)


def _exp_of_minus(D: Array) -> Array:
    """exp(−D), overwriting D where the library can."""
    D *= -1.0
    return np.exp(D, out=D) if is_numpy(D) else namespace(D).exp(D)
