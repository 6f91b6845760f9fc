"""What a solver may know of the data: n, tᵀt, h = Φᵀt and rows of G = ΦᵀΦ.

With noise precision β the Gaussian log-likelihood of the weights w is the quadratic

    log p(t|w, β) = ½ n log(β/2π) − ½ β (tᵀt − 2hᵀw + wᵀGw) + offset

so these statistics, which add over rows, say everything the rows say. The columns of Φ have unit norm here
(whoever reads the rows scales them), so diag G = 1. A small problem holds all of G (`DenseQuadratic`); a wide
one fetches the rows of G that it needs (`rows.lazy.LazyQuadratic`).

With T outputs t is (N, T) and h (M, T). The outputs are divided by √T, so that everything is per output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, namespace, submatrix, take


class Products(ABC):
    """What a solver may ask of the data beyond the statistics; never single rows."""

    @abstractmethod
    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Φ_J w‖² for w = weights (|J|,), or of every output for (|J|, T), from the data: without cancellation."""

    def posterior(self, J: Indices, alpha: Array, beta: float) -> tuple[Array, Array] | None:
        """μ (|J|,) or (|J|, T) and diag Σ (|J|,) with the functions J active at α, in N²|J| steps; None if unknown."""
        return None

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """`size` functions out of `order` that differ much from each other, `order[0]` among them.

        None if it is unknown how much functions differ, or if fewer than `size` of them do.
        """
        return None


@dataclass(frozen=True)
class Restriction:
    """The quadratic on the active functions J alone: h_J (S,) or (S, T), and G_JJ (S, S)."""

    J: np.ndarray
    h: Array
    G: Array

    def keep(self, positions: Indices) -> Restriction:
        """The restriction to the functions at these positions of J."""
        return Restriction(self.J[positions], take(self.h, positions), submatrix(self.G, positions, positions))


class Quadratic(ABC):
    """n rows, tᵀt, h = Φᵀt (M,) or (M, T) and rows of G = ΦᵀΦ (M, M), for columns of unit norm.

    offset : the part of the log-likelihood that does not depend on w (the integral over an intercept).
    products : exact residuals and distances between functions, None if the data can no longer be read.
    """

    def __init__(self, n: float, tt: float, h: Array, offset: float = 0.0, products: Products | None = None) -> None:
        self.n, self.tt, self.h, self.offset, self.products = n, tt, h, offset, products
        self.xp: Any = namespace(h)
        self.size = int(h.shape[0])

    @abstractmethod
    def rows(self, J: Indices) -> Array:
        """G[J, :], an (|J|, M) array: the products of the functions J with all functions."""

    @abstractmethod
    def gram(self, J: Indices) -> Array:
        """G[J, J], an (|J|, |J|) array."""

    def restrict(self, J: Indices) -> Restriction:
        """h and G on the functions J."""
        J = np.asarray(J, dtype=np.int64)
        return Restriction(J, take(self.h, J), self.gram(J))


class DenseQuadratic(Quadratic):
    """All of G (M, M) in memory. Where only the first S functions can be active, its first S rows suffice."""

    def __init__(self, n: float, tt: float, h: Array, G: Array, **kwargs: Any) -> None:
        super().__init__(n, tt, h, **kwargs)
        self.G = G

    def rows(self, J: Indices) -> Array:
        """G[J, :]."""
        return take(self.G, J)

    def gram(self, J: Indices) -> Array:
        """G[J, J]."""
        return submatrix(self.G, J, J)
