"""What the rows under a likelihood are made of: functions with outputs, and the expansion around f.

A candidate is a function m together with an output k (one output for two classes, K for K classes): its
weight adds w φ_m to output k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparsebayes._array import Array, Indices, namespace, take


class Design(Protocol):
    """Columns of functions, by passes over the rows: `ScaledColumns`, or a few of them held in memory."""

    def columns(self, J: Indices) -> Array:
        """The columns J, (N, |J|)."""

    def adjoint(self, V: Array) -> Array:
        """Their products with V (N, k)."""

    def squares(self, weights: Array) -> Array:
        """Their weighted sums of squares."""


class HeldColumns:
    """A few columns held in memory."""

    def __init__(self, Phi: Array) -> None:
        self.Phi = Phi

    def columns(self, J: Indices) -> Array:
        """Φ[:, J]."""
        return take(self.Phi, J, axis=1)

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV."""
        return self.Phi.T @ V

    def squares(self, weights: Array) -> Array:
        """Σ_n W_nk φ_nm²."""
        return (self.Phi * self.Phi).T @ weights


@dataclass(frozen=True)
class Candidates:
    """Functions with outputs: candidate c is column `function[c]` of the design in output `output[c]`.

    They are in the order of their outputs.
    """

    design: Design
    function: np.ndarray
    output: np.ndarray

    def of_output(self, k: int) -> slice:
        """The candidates of output k."""
        return slice(*np.searchsorted(self.output, [k, k + 1]).tolist())


@dataclass(frozen=True)
class Expansion:
    """The log-likelihood around f (N, K), rows weighted: value, gradient g, curvature B = diag(d) − uuᵀ."""

    f: Array
    value: float
    g: Array
    d: Array
    u: Array | None

    def curved(self, V: Array) -> Array:
        """B_n V_n for every row of V (N, K)."""
        if self.u is None:
            return self.d * V
        return self.d * V - self.u * namespace(V).sum(self.u * V, axis=1)[:, None]

    def column(self, k: int, R: Array, uR: Array | None) -> Array:
        """Rᵀ B_n[:, k] for every row, (N, r); uR is u @ R."""
        curved = self.d[:, k : k + 1] * R[k : k + 1, :]
        return curved if self.u is None else curved - self.u[:, k : k + 1] * uR
