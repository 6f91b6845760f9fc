"""Products of functions with outputs in the metric of an expansion, as a solver of regressions asks for them.

Around f (N, K) the log-likelihood is quadratic,

    log p(y|f + δ) ≈ value + Σ_n g_nᵀδ_n − ½ Σ_n δ_nᵀB_nδ_n

so with η = Bf + g candidates have h = Σ_n φ_nm η_nk and G = Σ_n φ_nm φ_nm' B_n[k, k'] [T01, 3; MATH 4]. An
intercept b (K,) with a flat prior is integrated out: what B_n makes of it is projected out of G and h,

    G̃ = G − cᵀc,   h̃ = h − cᵀ(Rᵀ Σ_n η_n),   c = Rᵀ Σ_n B_n[:, k] φ_nm,   RRᵀ = (Σ_n B_n)⁺
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, column_squares, namespace, take, to_numpy
from sparsebayes.quadratic import ColumnQuadratic, DenseQuadratic, Quadratic
from sparsebayes.rows.expansion import Candidates, Expansion
from sparsebayes.rows.scaled import BATCH

WIDEST = 512  # columns, functions times outputs, that go through the rows together
LEAST_SQUARE = 1e-14  # of the norm the function has when every row counts alike: below it B has silenced it
LEAST_ROW = 1e-12  # curvature of a row below which it counts as this
LEAST_CURVATURE = 1e-12  # a row, and of the largest: floor on what B leaves of an intercept


class Linearised:
    """Products of candidates in the metric B of an expansion, the intercepts projected out, unit diagonal.

    scale : (C,) √diag G̃: candidates are divided by it, so α here is α/scale² of the scaled columns.
    side : c (C, r); without an intercept r = 0.  root : R (K, r).
    """

    def __init__(self, candidates: Candidates, expansion: Expansion, n: float, center: bool) -> None:
        self.candidates, self.expansion, self.n = candidates, expansion, n
        xp = namespace(expansion.f)
        total = _total_curvature(expansion)
        root, log_det = _pseudo_root(total, n) if center else (total[:, :0], 0.0)
        self.root: Array = asfloat64(root, like=expansion.f)
        eta = expansion.curved(expansion.f) + expansion.g
        raised = xp.sum(eta, axis=0) @ self.root  # Rᵀ Σ_n η_n
        linear, self.side = self._linear_terms(eta)
        squares = self._diagonal() - column_squares(self.side.T)
        self.scale = xp.sqrt(xp.where(squares > LEAST_SQUARE, squares, LEAST_SQUARE))
        self.h = (linear - self.side @ raised) / self.scale
        self._raised, self._eta = raised, eta
        self._inverse = 1 / xp.where(expansion.d > LEAST_ROW, expansion.d, LEAST_ROW)
        # what the expansion has at w = 0 and the best b, and how far that is from its maximum over all f
        around = float(xp.sum(expansion.f * (expansion.g + 0.5 * expansion.curved(expansion.f))))
        self.tt = float(xp.sum(eta * eta * self._inverse)) - float(raised @ raised)
        self.constant = expansion.value - around + 0.5 * float(raised @ raised) + 0.5 * self.tt
        self.constant += 0.5 * (self.root.shape[1] * math.log(2 * math.pi) - log_det)

    def _linear_terms(self, eta: Array) -> tuple[Array, Array]:
        """Φᵀη and c of every candidate, one pass over the rows for each output."""
        xp = namespace(eta)
        uR = None if self.expansion.u is None else self.expansion.u @ self.root
        both = []
        for k in range(eta.shape[1]):
            each = self.candidates.of_output(k)
            V = xp.concat([eta[:, k : k + 1], self.expansion.column(k, self.root, uR)], axis=1)
            both.append(take(self.candidates.design.adjoint(V), self.candidates.function[each]))
        products = xp.concat(both, axis=0)
        return products[:, 0], products[:, 1:]

    def _diagonal(self) -> Array:
        """Σ_n φ² B_n[k, k] of every candidate."""
        d, u = self.expansion.d, self.expansion.u
        squares = self.candidates.design.squares(d if u is None else d - u * u)
        parts = [
            take(squares[:, k], self.candidates.function[self.candidates.of_output(k)])
            for k in range(d.shape[1])
        ]
        return namespace(d).concat(parts)

    def intercept(self, w: Array, J: Indices | None = None) -> Array:
        """The intercepts (K,) that go with weights w of the scaled columns J."""
        side = self.side if J is None else take(self.side, J)
        return self.root @ (self._raised - w @ side)

    def quadratic(self, dense: bool) -> Quadratic:
        """What a solver sees: β = 1, and the rest of the log-likelihood of the expansion in `offset`.

        Its tᵀt is ηᵀB⁺η, less what the intercept explains, so that ‖t − Φw‖² is as positive as in regression.
        """
        shared = {
            "offset": self.constant + 0.5 * self.n * math.log(2 * math.pi),
            "residual_of": self.residual,
        }
        if dense:
            everything = np.arange(len(self.candidates.output))
            return DenseQuadratic(self.n, self.tt, self.h, self.block(everything), **shared)
        return ColumnQuadratic(self.n, self.tt, self.h, self.products, self.block, **shared)

    def residual(self, J: Indices, weights: Array) -> float:
        """(η − Bf)ᵀB⁺(η − Bf) of the candidates J at these weights, from the rows themselves.

        diag(1/d) does what B⁺ does to vectors in the range of B = diag(d) − uuᵀ, as both terms are.
        """
        J = np.asarray(J, dtype=np.int64)
        xp = namespace(self.h)
        w = weights / take(self.scale, J)
        terms = self.candidates.design.columns(self.candidates.function[J]) * w[None, :]
        member = np.arange(self.root.shape[0])[None, :] == self.candidates.output[J][:, None]
        f = terms @ asfloat64(member, like=terms) + self.intercept(w, J)[None, :]
        error = self._eta - self.expansion.curved(f)
        return float(xp.sum(error * error * self._inverse))

    def products(self, J: Indices) -> Array:
        """G̃[J, :], a batch of functions of one output at a time."""
        J = np.asarray(J, dtype=np.int64)
        xp = namespace(self.h)
        size = min(BATCH, max(1, WIDEST // self.expansion.d.shape[1]))
        order, pieces = [], []
        for k in np.unique(self.candidates.output[J]):
            mine = np.flatnonzero(self.candidates.output[J] == k)
            for start in range(0, len(mine), size):
                batch = mine[start : start + size]
                order.append(batch)
                pieces.append(self._products_of_output(J[batch], int(k)))
        whole = xp.concat(pieces, axis=0) if len(pieces) > 1 else pieces[0]
        return take(whole, np.argsort(np.concatenate(order))) if len(pieces) > 1 else whole

    def _products_of_output(self, J: np.ndarray, k: int) -> Array:
        """The functions J of output k under B_n[k, ·] of all outputs, in one pass over the rows."""
        xp = namespace(self.h)
        design, d, u = self.candidates.design, self.expansion.d, self.expansion.u
        columns = design.columns(self.candidates.function[J])
        if u is None:
            curvature = d
        else:
            own = asfloat64(np.arange(d.shape[1]) == k, like=d)
            curvature = d * own[None, :] - u[:, k : k + 1] * u
        n, outputs, size = columns.shape[0], d.shape[1], len(J)
        V = xp.reshape(curvature[:, :, None] * columns[:, None, :], (n, outputs * size))
        products = design.adjoint(V)
        pieces = []
        for other in range(outputs):
            function = self.candidates.function[self.candidates.of_output(other)]
            piece = products[:, other * size : (other + 1) * size]
            # candidates of an output are distinct and ascending: as many as there are means all of them
            pieces.append((piece if len(function) == piece.shape[0] else take(piece, function)).T)
        G = xp.concat(pieces, axis=1) - take(self.side, J) @ self.side.T
        return G / (take(self.scale, J)[:, None] * self.scale[None, :])

    def block(self, J: Indices) -> Array:
        """G̃[J, J] = blockdiag_k Φ_kᵀd_kΦ_k − (uΦ)ᵀ(uΦ) − cᵀc, scaled."""
        J = np.asarray(J, dtype=np.int64)
        xp = namespace(self.h)
        output = self.candidates.output[J]
        columns = self.candidates.design.columns(self.candidates.function[J])
        side, scale = take(self.side, J), take(self.scale, J)
        same = xp.asarray(output[:, None] == output[None, :])
        weighted = take(self.expansion.d, output, axis=1) * columns
        G = xp.where(same, columns.T @ weighted, xp.zeros_like(same, dtype=columns.dtype))
        if self.expansion.u is not None:
            coupled = take(self.expansion.u, output, axis=1) * columns
            G = G - coupled.T @ coupled
        return (G - side @ side.T) / (scale[:, None] * scale[None, :])


def _total_curvature(expansion: Expansion) -> np.ndarray:
    """Σ_n B_n (K, K), on the host."""
    d = to_numpy(expansion.d)
    total = np.diag(d.sum(axis=0))
    if expansion.u is not None:
        u = to_numpy(expansion.u)
        total = total - u.T @ u
    return total


def _pseudo_root(total: np.ndarray, n: float) -> tuple[np.ndarray, float]:
    """R with RRᵀ = total⁺, and the log determinant of `total` with one output pinned.

    For K > 1 the null vector is 1 (a constant on all outputs changes nothing), and the product of the other
    eigenvalues is K times the determinant with any one output left out.
    """
    K = len(total)
    contrasts = np.ones((1, 1)) if K == 1 else _contrasts(K)
    values, vectors = np.linalg.eigh(contrasts.T @ total @ contrasts)
    values = np.maximum(values, LEAST_CURVATURE * max(float(values[-1]), n))
    return contrasts @ (vectors / np.sqrt(values)), float(np.log(values).sum()) - math.log(K)


def _contrasts(K: int) -> np.ndarray:
    """An orthonormal basis (K, K−1) of the vectors that sum to zero."""
    basis: Any = np.linalg.qr(np.column_stack([np.ones(K), np.eye(K)[:, 1:]]))[0]
    return basis[:, 1:]
