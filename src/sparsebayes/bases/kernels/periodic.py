"""Periodic kernels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparsebayes._array import Array, namespace, to_numpy
from sparsebayes.bases.kernels._distances import about_centres, squared_distances, squared_shares
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.scales import FIXED, Bounds, OneOrEach, Width
from sparsebayes.bases.kernels.stationary import Stationary


class Periodic(Stationary):
    """Periodic kernel, k(x, z) = exp(−2 Σ_k sin²(π (x_k − z_k)/p_k)/r_k²).

    The functions repeat with period p along each input. It is the Gaussian kernel of the points
    (cos 2πx/p, sin 2πx/p) on a circle, exp(−‖u − v‖²/(2r²)).

    Parameters
    ----------
    period : a positive number or one per input
        p, in the units of the inputs.
    width : a positive number or one per input
        r, the width of the functions on a circle of radius 1.
    period_bounds : "fixed", a pair of positive numbers, or None
        Whether p is learned with the other scales: "fixed" keeps the period that is given, a pair bounds it, None
        lets it be anything up to the range of the data.
    width_bounds : "fixed" or a pair of positive numbers, optional
        The same for r, by default 0.05 to 20.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (
        Learnable("period", power=1.0, is_width=False),
        Learnable("width", power=1.0, limits=(0.05, 20.0)),
    )

    def __init__(
        self,
        period: Width = 1.0,
        width: Width = 1.0,
        *,
        period_bounds: Bounds = FIXED,
        width_bounds: Bounds = None,
    ) -> None:
        self.period = period
        self.width = width
        self.period_bounds = period_bounds
        self.width_bounds = width_bounds

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm = exp(−½ Σ_k ‖u_nk − v_mk‖²/r_k²), u and v on the circle."""
        U, V = (_on_circle(angles) for angles in self._angles(X, Z))
        q = squared_distances(U, V, self._eta())
        q *= -1.0
        return namespace(q).exp(q)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """With θ = 2π(x − z)/p: ∂k/∂ log p = k θ sin θ/r², ∂k/∂ log r = 2k (1 − cos θ)/r²."""
        angles, centres = self._angles(X, Z)
        U, V = _on_circle(angles), _on_circle(centres)
        q = squared_distances(U, V, self._eta())
        W = D * namespace(q).exp(-q)
        by_width = 2.0 * squared_shares(W, q, U, V, self._eta())
        if np.ndim(self.width):
            by_width = by_width.reshape(2, -1).sum(axis=0)
        by_period = _turning(W, angles, centres) / np.asarray(self.width) ** 2.0
        return np.concatenate([by_period if np.ndim(self.period) else [by_period.sum()], by_width])

    def _angles(self, X: Array, Z: Array) -> tuple[Array, Array]:
        """2πx/p for both sets of rows."""
        return about_centres(X, Z, 2.0 * np.pi / np.asarray(self.period))

    def _eta(self) -> OneOrEach:
        """1/(2r²) for both coordinates on the circle of each input."""
        eta = 0.5 * np.asarray(self.width) ** -2.0
        return np.tile(eta, 2) if eta.ndim else float(eta)


def _on_circle(angles: Array) -> Array:
    """(n, 2d): the cosines, then the sines, of angles (n, d)."""
    xp = namespace(angles)
    return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1)


def _turning(W: Array, a: Array, b: Array) -> np.ndarray:
    """Σ_nm W_nm θ sin θ, θ = a_nk − b_mk, for each input k, from angles a (n, d) and b (m, d).

    As sin(a − b) = sin a cos b − cos a sin b, these are sums of products of functions of a and of b.
    """
    xp = namespace(W, a, b)
    cosines, sines = xp.cos(b), xp.sin(b)
    C, S, bC, bS = (W @ each for each in (cosines, sines, b * cosines, b * sines))
    return to_numpy(xp.sum(xp.sin(a) * (a * C - bC) - xp.cos(a) * (a * S - bS), axis=0))
