"""Candidates, the expansion of a log-likelihood around outputs f, and the quadratic of candidates there.

A candidate is a function m together with an output k (one output for two classes, K for K classes): its
weight adds w φ_m to output k. Around f (N, K) the log-likelihood is approximately quadratic,

    log p(y|f + δ) ≈ value + Σ_n g_nᵀδ_n − ½ Σ_n δ_nᵀB_nδ_n

so with η = Bf + g candidates have h = Σ_n φ_nm η_nk and G = Σ_n φ_nm φ_nm' B_n[k, k'] [T01, 3]. An intercept
b (K,) with a flat prior is integrated out: what B_n makes of it is projected out of G and h,

    G̃ = G − cᵀc,   h̃ = h − cᵀ(Rᵀ Σ_n η_n),   c = Rᵀ Σ_n B_n[:, k] φ_nm,   RRᵀ = (Σ_n B_n)⁺
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import helmert

from sparsebayes._array import (
    Array,
    Indices,
    asfloat64,
    beside,
    column_squares,
    is_foreign,
    namespace,
    take,
    to_numpy,
)
from sparsebayes.rows.lazy import LazyQuadratic, RowProducts
from sparsebayes.rows.scaled import BATCH, ScaledColumns

WIDEST = 512  # columns, functions times outputs, that go through the rows together
LEAST_SQUARE = 1e-14  # floor under diag G̃: the curvature has vanished wherever the function is not zero
LEAST_ROW = 1e-12  # curvature of a row: a smaller one counts as this
LEAST_CURVATURE = 1e-12  # per row, and of the largest: floor under the curvature of an intercept


class HeldColumns:
    """A few columns held in memory, with the methods of `ScaledColumns`."""

    def __init__(self, Phi: Array) -> None:
        self.Phi = Phi

    def columns(self, J: Indices) -> Array:
        """Φ[:, J]; not a copy if those are all columns in their order."""
        every = len(J) == self.Phi.shape[1] and np.array_equal(J, np.arange(len(J)))
        return self.Phi if every else take(self.Phi, J, axis=1)

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV."""
        return self.Phi.T @ V

    def squares(self, weights: Array) -> Array:
        """Σ_n W_nk φ_nm²."""
        return self._squared.T @ weights

    @cached_property
    def _squared(self) -> Array:
        """φ_nm², which every expansion on the way to a mode needs again."""
        return self.Phi * self.Phi


@dataclass(frozen=True)
class Candidates:
    """Functions with outputs: candidate c is column `function[c]` of the design in output `output[c]`.

    They are in the order of their outputs.
    """

    design: ScaledColumns | HeldColumns
    function: np.ndarray
    output: np.ndarray

    def combination(self, J: np.ndarray, w: Array, outputs: int) -> Array:
        """Σ w φ over the candidates J of each output, (N, K)."""
        sums = []
        for k in range(outputs):
            mine = np.flatnonzero(self.output[J] == k)
            columns = self.design.columns(self.function[J[mine]])
            sums.append(columns @ beside(take(w, mine), columns))
        return namespace(*sums).stack(sums, axis=1)


@dataclass(frozen=True)
class Expansion:
    """The log-likelihood around f (N, K), rows weighted: value, gradient g, curvature B = diag(d) − uuᵀ."""

    f: Array
    value: float
    g: Array
    d: Array
    u: Array | None

    def curved(self, V: Array) -> Array:
        """B_n V_n for every row, (N, K), from V (N, K), or (1, K) if it is the same for all rows."""
        if self.u is None:
            return self.d * V
        return self.d * V - self.u * namespace(V).sum(self.u * V, axis=1)[:, None]


class Linearised(RowProducts):
    """Products of candidates in the metric B of an expansion, the intercepts projected out, unit diagonal.

    The rows stay where they are; all that is said of candidates is on the host.

    scale : (C,) √diag G̃: candidates are divided by it, so α here is α/scale² of the scaled columns.
    side : c (C, r); without an intercept r = 0.  root : R (K, r).
    """

    def __init__(self, candidates: Candidates, expansion: Expansion, n: float, center: bool) -> None:
        self.candidates, self.expansion, self.n = candidates, expansion, n
        xp, K = namespace(expansion.f), expansion.f.shape[1]
        self.root: np.ndarray
        self.root, log_det = pseudo_root(_total_curvature(expansion), n) if center else (np.zeros((K, 0)), 0.0)
        eta = expansion.curved(expansion.f) + expansion.g
        raised = to_numpy(xp.sum(eta, axis=0)) @ self.root  # Rᵀ Σ_n η_n
        linear, self.side, diagonal = self._terms(eta)
        squares = diagonal - column_squares(self.side.T)
        self.scale = np.sqrt(np.where(squares > LEAST_SQUARE, squares, LEAST_SQUARE))
        self.h = (linear - self.side @ raised) / self.scale
        self._raised, self._eta = raised, eta
        self._inverse = 1 / xp.where(expansion.d > LEAST_ROW, expansion.d, xp.full_like(expansion.d, LEAST_ROW))
        # what the expansion has at w = 0 and the best b, and how far that is from its maximum over all f
        around = float(xp.sum(expansion.f * (expansion.g + 0.5 * expansion.curved(expansion.f))))
        self.tt = float(xp.sum(eta * eta * self._inverse)) - float(raised @ raised)
        self.constant = expansion.value - around + 0.5 * float(raised @ raised) + 0.5 * self.tt
        self.constant += 0.5 * (self.root.shape[1] * math.log(2 * math.pi) - log_det)

    def _of_candidates(self, of_functions: list[Array]) -> Array:
        """Values of all candidates (C, …) from those of all functions (M, …) in output 0, in output 1, …."""
        candidates, parts = self.candidates, []
        for k, values in enumerate(of_functions):
            function = candidates.function[candidates.output == k]
            # candidates of an output are distinct and ascending: as many as there are functions means all
            parts.append(values if len(function) == values.shape[0] else take(values, function))
        return namespace(parts[0]).concat(parts, axis=0)

    def _terms(self, eta: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Φᵀη, c and Σ_n φ² B_n[k, k] of every candidate, one pass over the rows for each output."""
        adjoint, (K, r) = self.candidates.design.adjoint, self.root.shape
        root = beside(self.root, eta)
        curved = [self.expansion.curved(root[:, j][None, :]) for j in range(r)]
        V = namespace(eta).stack([eta, *curved], axis=2)  # (N, K, 1 + r)
        both = self._of_candidates([adjoint(V[:, k, :]) for k in range(K)])
        d, u = self.expansion.d, self.expansion.u
        squares = self.candidates.design.squares(d if u is None else d - u * u)
        diagonal = self._of_candidates([squares[:, k] for k in range(K)])
        if is_foreign(both):  # to the host together
            both = to_numpy(namespace(both).concat([both, diagonal[:, None]], axis=1))
            both, diagonal = both[:, :-1], both[:, -1]
        return both[:, 0], both[:, 1:], diagonal

    def intercept(self, w: Array, J: Indices | None = None) -> Array:
        """The intercepts (K,) that go with weights w of the scaled columns J; None for all candidates."""
        side = self.side if J is None else take(self.side, J)
        return self.root @ (self._raised - w @ side)

    def quadratic(self) -> LazyQuadratic:
        """What a solver sees: β = 1, and the rest of the log-likelihood of the expansion in `offset`.

        Its tᵀt is ηᵀB⁺η less what the intercept explains, so that ‖t − Φw‖² is positive, as in a regression.
        """
        offset = self.constant + 0.5 * self.n * math.log(2 * math.pi)
        return LazyQuadratic(self.n, self.tt, self.h, self, offset)

    def residual(self, J: Indices, weights: Array) -> float:
        """(η − Bf)ᵀB⁺(η − Bf) of the candidates J at these weights, from the rows themselves.

        diag(1/d) does what B⁺ does to vectors in the range of B = diag(d) − uuᵀ, as both terms are.
        """
        J = np.asarray(J, dtype=np.int64)
        w = weights / take(self.scale, J)
        f = self.candidates.combination(J, w, self.root.shape[0])
        f = f + beside(self.intercept(w, J), f)[None, :]
        error = self._eta - self.expansion.curved(f)
        return float(namespace(error).sum(error * error * self._inverse))

    def rows(self, J: Indices) -> Array:
        """G̃[J, :], a batch of functions of one output at a time."""
        J = np.asarray(J, dtype=np.int64)
        output, order, pieces = self.candidates.output[J], [], []
        size = min(BATCH, max(1, WIDEST // self.expansion.d.shape[1]))
        for k in np.unique(output).tolist():
            mine = np.flatnonzero(output == k)
            for start in range(0, len(mine), size):
                order.append(mine[start : start + size])
                pieces.append(self._rows_of_output(J[order[-1]], k))
        if len(pieces) == 1:
            return pieces[0]
        return take(np.concatenate(pieces, axis=0), np.argsort(np.concatenate(order)))

    def _rows_of_output(self, J: np.ndarray, k: int) -> Array:
        """The functions J of output k under B_n[k, ·] of all outputs, in one pass over the rows."""
        design, d = self.candidates.design, self.expansion.d
        (n, outputs), size = d.shape, len(J)
        columns = design.columns(self.candidates.function[J])
        curvature = self.expansion.curved(asfloat64(np.arange(outputs)[None, :] == k, like=d))
        V = namespace(d).reshape(curvature[:, :, None] * columns[:, None, :], (n, outputs * size))
        products = design.adjoint(V)
        blocks = [products[:, each * size : (each + 1) * size] for each in range(outputs)]
        G = to_numpy(self._of_candidates(blocks)).T - take(self.side, J) @ self.side.T
        return G / (take(self.scale, J)[:, None] * self.scale[None, :])

    def block(self, J: Indices) -> Array:
        """G̃[J, J] = blockdiag_k Φ_kᵀd_kΦ_k − (uΦ)ᵀ(uΦ) − cᵀc, scaled."""
        J = np.asarray(J, dtype=np.int64)
        output = self.candidates.output[J]
        columns = self.candidates.design.columns(self.candidates.function[J])
        side, scale = take(self.side, J), take(self.scale, J)
        if self.expansion.d.shape[1] == 1:
            weighted = namespace(columns).sqrt(self.expansion.d) * columns
            G = weighted.T @ weighted
        else:
            same = asfloat64(output[:, None] == output[None, :], like=columns)
            G = same * (columns.T @ (take(self.expansion.d, output, axis=1) * columns))
        if self.expansion.u is not None:
            coupled = take(self.expansion.u, output, axis=1) * columns
            G = G - coupled.T @ coupled
        return (to_numpy(G) - side @ side.T) / (scale[:, None] * scale[None, :])


def _total_curvature(expansion: Expansion) -> np.ndarray:
    """Σ_n B_n (K, K), on the host."""
    d, u = to_numpy(namespace(expansion.d).sum(expansion.d, axis=0)), expansion.u
    return np.diag(d) - (0.0 if u is None else to_numpy(u.T @ u))


def pseudo_root(total: np.ndarray, n: float) -> tuple[np.ndarray, float]:
    """R with RRᵀ = total⁺, and the log determinant of `total` with one output pinned.

    For K > 1 the null vector is 1 (a constant on all outputs changes nothing), and the product of the other
    eigenvalues is K times the determinant without any one output.
    """
    K = len(total)
    if K == 1:
        value = max(float(total[0, 0]), LEAST_CURVATURE * n)
        return np.full((1, 1), 1 / math.sqrt(value)), math.log(value)
    contrasts = helmert(K).T  # (K, K−1), orthonormal, each summing to zero
    values, vectors = np.linalg.eigh(contrasts.T @ total @ contrasts)
    values = np.maximum(values, LEAST_CURVATURE * max(float(values[-1]), n))
    return contrasts @ (vectors / np.sqrt(values)), float(np.log(values).sum()) - math.log(K)
