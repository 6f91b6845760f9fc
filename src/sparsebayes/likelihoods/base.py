"""Likelihoods whose posterior is approximated by a Gaussian around its mode: what the loop asks of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sparsebayes._array import Array, namespace


class LaplaceLikelihood(ABC):
    """A likelihood whose posterior is approximated by a Gaussian around its mode [T01, 3.1].

    y and f : (N, K) with K = `outputs`.  The curvature of each row is diag(d) − uuᵀ, which products with N
    rows can use without N K×K matrices; it has no negative eigenvalue.
    """

    outputs: int

    @abstractmethod
    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n), one value a row: (N,)."""

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """g = ∂ log p/∂f (N, K)."""

    @abstractmethod
    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, Array | None]:
        """(d, u), each (N, K), with B_n = diag(d_n) − u_n u_nᵀ; u is None where it is zero."""

    @abstractmethod
    def start(self, y: Array, counts: Array) -> Array:
        """Intercepts (K,) of the model without functions, for rows that count so often (N,)."""

    def curvature(self, y: Array, f: Array) -> Array:
        """B_n = −∂² log p/∂f² of every row, (N, K, K)."""
        xp = namespace(f)
        d, u = self.curvature_factors(y, f)
        B = d[:, :, None] * xp.eye(self.outputs, dtype=f.dtype)[None, :, :]
        return B if u is None else B - u[:, :, None] * u[:, None, :]
