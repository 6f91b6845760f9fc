"""True columns of a kernel that is never formed: statistics of any few functions, a strip of rows at a time.

    means φ̄, norms ν, h = Φᵀt, and G[J, W] = Φ_JᵀΦ_W for functions W of which J are the first,

with the columns centred about a guess c at their means, and the guess put right afterwards:

    Σ w (a − ā)(b − b̄) = Σ w (a − c_a)(b − c_b) − n (ā − c_a)(b̄ − c_b).

A guess from a sample of the rows is good enough for nothing to cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import Indices
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.quadratic import DenseQuadratic, Quadratic
from sparsebayes.rows.memory import Scaling
from sparsebayes.rows.scaled import usable
from sparsebayes.rows.targets import Target

STRIP = 1 << 21  # elements of Φ evaluated together
PIECE = 512  # rows, and functions, evaluated together where they are not kept
SYMMETRIC = 0.5  # of the functions: for more of them it takes less to evaluate half of all
SAMPLE = 2048  # rows that the guess at the means is made from


@dataclass(frozen=True)
class Statistics:
    """Of functions W: means φ̄, norms ν and products with the target, (|W|,) each, and G[J, W]; not scaled."""

    means: np.ndarray
    norms: np.ndarray
    h: np.ndarray
    G: np.ndarray


class ExactRows:
    """Passes over the rows for the functions asked for.

    candidates : (M,) which functions may be chosen.
    """

    def __init__(self, operator: KernelOperator, target: Target, candidates: np.ndarray) -> None:
        self.operator, self.target, self.candidates = operator, target, candidates

    def subset(self, W: np.ndarray) -> tuple[Quadratic, Scaling]:
        """The problem of the functions W alone, as for `summarise`."""
        statistics = self.statistics(W, len(W))
        kept = usable(statistics.norms)
        norms, means, W = statistics.norms[kept], statistics.means[kept], W[kept]
        G = statistics.G[np.ix_(kept, kept)] / (norms[:, None] * norms[None, :])
        np.fill_diagonal(G, 1.0)
        columns = _ScaledFunctions(self, W, means, norms)
        h = statistics.h[kept] / norms
        quadratic = DenseQuadratic(h=h, G=G, residual_of=columns.residual, **self.target.shared)
        return quadratic, self.target.scaling(W, norms, means)

    def products(self, W: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Φ_Wᵀv for v (N,), in pieces of the kernel that stay in the cache."""
        products = np.zeros(len(W))
        for few in gen_batches(len(W), PIECE):
            for rows in gen_batches(len(v), PIECE):
                products[few] += v[rows] @ self.operator.block(rows, W[few])
        return products

    def slopes(self, W: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Φᵀv of the functions W among all of them, (M,): a symmetric Φ is evaluated by halves."""
        N, M = self.operator.shape
        slopes = np.zeros(M)
        if not self.operator.symmetric or len(W) < SYMMETRIC * M:
            slopes[W] = self.products(W, v)
            return slopes
        for rows in gen_batches(N, PIECE):
            for few in gen_batches(N - rows.start, PIECE):
                few = slice(few.start + rows.start, few.stop + rows.start)
                block = self.operator.block(rows, few)
                slopes[few] += v[rows] @ block
                if few != rows:
                    slopes[rows] += block @ v[few]
        return slopes

    def residual(self, J: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """W(t − Φ_J w), (N,), of the scaled target; with an intercept about its mean."""
        target, N = self.target, self.operator.shape[0]
        batches = gen_batches(N, max(1, STRIP // len(J)))
        error = target.values - np.concatenate([self.operator.block(rows, J) @ weights for rows in batches])
        counts = np.ones(N) if target.weights is None else target.weights
        if target.center:
            error -= counts @ error / target.n
        return counts * error

    def statistics(self, W: np.ndarray, first: int) -> Statistics:
        """Everything about W in one pass, and the products of the first so many with all of them."""
        target, N = self.target, self.operator.shape[0]
        guess = self._guess(W)
        step = max(1, STRIP // len(W))
        totals, squares, h = np.zeros(len(W)), np.zeros(len(W)), np.zeros(len(W))
        G = np.zeros((first, len(W)))
        for rows in gen_batches(N, step):
            block = self.operator.block(rows, W)
            if target.center:
                block -= guess
            weighted = target.weighted(rows, block)
            totals += weighted.sum(axis=0)
            squares += np.einsum("ij,ij->j", block, weighted)
            h += target.values[rows] @ weighted
            G += block[:, :first].T @ weighted
        drift = totals / target.n if target.center else np.zeros(len(W))
        squares -= target.n * drift * drift
        G -= target.n * drift[:first, None] * drift[None, :]
        means = guess + drift  # Σ w t = 0 with an intercept, so h needs nothing
        return Statistics(means, target.norms(squares, means), h, G)

    def _guess(self, W: np.ndarray) -> np.ndarray:
        """Means of the functions over a sample of the rows; 0 without an intercept."""
        if not self.target.center:
            return np.zeros(len(W))
        N = self.operator.shape[0]
        rows = np.arange(0, N, max(1, N // SAMPLE))
        block = self.operator.block(rows, W)
        if self.target.weights is None:
            return block.mean(axis=0)
        weights = self.target.weights[rows]
        return weights @ block / weights.sum() if weights.any() else block.mean(axis=0)


@dataclass(frozen=True)
class _ScaledFunctions:
    """The functions W, (φ − φ̄)/ν, for residuals."""

    rows: ExactRows
    W: np.ndarray
    means: np.ndarray
    norms: np.ndarray

    def residual(self, J: Indices, mean: np.ndarray) -> float:
        """‖t − Φ_J μ‖² of the scaled problem, from the rows themselves."""
        J = np.asarray(J, dtype=np.int64)
        operator, target = self.rows.operator, self.rows.target
        weights = mean / self.norms[J]
        shift = float(self.means[J] @ weights)
        step = max(1, STRIP // len(J))
        total = 0.0
        for rows in gen_batches(operator.shape[0], step):
            error = target.values[rows] - (operator.block(rows, self.W[J]) @ weights - shift)
            total += float(target.sum(rows, (error * error)[:, None])[0])
        return total
