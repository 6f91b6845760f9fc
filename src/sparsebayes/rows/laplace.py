"""Rows under a likelihood that is not Gaussian: its expansion around f, and products in that metric.

A candidate is a function m together with an output k (one output for two classes, K for K classes): its
weight adds w φ_m to output k. Around f (N, K) the log-likelihood is quadratic,

    log p(y|f + δ) ≈ value + Σ_n g_nᵀδ_n − ½ Σ_n δ_nᵀB_nδ_n

so with η = Bf + g candidates have h = Σ_n φ_nm η_nk and G = Σ_n φ_nm φ_nm' B_n[k, k'] [T01, 3; MATH 4]. An
intercept b (K,) with a flat prior is integrated out: what B_n makes of it is projected out of G and h,

    G̃ = G − cᵀc,   h̃ = h − cᵀ(Rᵀ Σ_n η_n),   c = Rᵀ Σ_n B_n[:, k] φ_nm,   RRᵀ = (Σ_n B_n)⁺
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, column_squares, namespace, take, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.likelihoods import LaplaceLikelihood
from sparsebayes.quadratic import ColumnQuadratic, DenseQuadratic, Quadratic
from sparsebayes.rows.scaled import BATCH, ScaledColumns, random_vector

WIDEST = 512  # columns, functions times outputs, that go through the rows together
LEAST_SQUARE = 1e-14  # of the norm the function has when every row counts alike: below it B has silenced it
LEAST_ROW = 1e-12  # curvature of a row below which it counts as this
LEAST_CURVATURE = 1e-12  # a row, and of the largest: floor on what B leaves of an intercept


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


class LaplaceRows:
    """The rows (Φ, y) under a likelihood; candidate c = k·M + m is function m in output k."""

    def __init__(
        self, operator: Operator, y: Array, likelihood: LaplaceLikelihood, weights: Array | None, center: bool
    ) -> None:
        self.y, self.likelihood, self.center = y, likelihood, center
        xp = namespace(y)
        self.counts = xp.ones_like(y[:, 0]) if weights is None else weights
        self.n = float(xp.sum(self.counts))
        design = ScaledColumns.of(operator, self.counts, center)
        signature = design.adjoint((self.counts * random_vector(self.counts))[:, None])[:, 0]
        self.design = design.keep(design.without_repeats(signature))
        self.outputs = likelihood.outputs
        self.size = self.design.size * self.outputs

    def split(self, J: Indices) -> tuple[np.ndarray, np.ndarray]:
        """The functions and the outputs of the candidates J."""
        J = np.asarray(J, dtype=np.int64)
        return J % self.design.size, J // self.design.size

    def everything(self) -> Candidates:
        """All candidates."""
        return Candidates(self.design, *self.split(np.arange(self.size)))

    def held(self, J: Indices) -> Candidates:
        """The candidates J (ascending) alone, their columns in memory."""
        function, output = self.split(J)
        distinct, position = np.unique(function, return_inverse=True)
        return Candidates(HeldColumns(self.design.columns(distinct)), position, output)

    def start(self) -> Array:
        """The intercepts (K,) of the model without functions; zero where there is no intercept."""
        if not self.center:
            return 0 * self.y[0, :]
        xp = namespace(self.y)
        share = (self.counts @ self.y) / self.n
        if self.outputs == 1:
            return xp.log(share / (1 - share))
        return xp.log(share) - xp.mean(xp.log(share))

    def predictor(self, held: Candidates, w: Array, b: Array) -> Array:
        """f = Φw + b (N, K)."""
        xp = namespace(w)
        f = [held.design.columns(held.function[each]) @ w[each] for each in self._outputs_of(held)]
        return xp.stack(f, axis=1) + b[None, :]

    def _outputs_of(self, held: Candidates) -> list[slice]:
        return [held.of_output(k) for k in range(self.outputs)]

    def expand(self, f: Array) -> Expansion:
        """Value, gradient and curvature at f."""
        xp = namespace(f)
        counts = self.counts[:, None]
        d, u = self.likelihood.curvature_factors(f)
        return Expansion(
            f=f,
            value=self.value(f),
            g=counts * self.likelihood.gradient(self.y, f),
            d=counts * d,
            u=None if u is None else xp.sqrt(counts) * u,
        )

    def value(self, f: Array) -> float:
        """log p(y|f)."""
        return float(namespace(f).sum(self.counts * self.likelihood.log_prob(self.y, f)))

    def linearise(self, candidates: Candidates, expansion: Expansion) -> Linearised:
        """The quadratic of these candidates around the expansion."""
        return Linearised(candidates, expansion, self.n, self.center)


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
