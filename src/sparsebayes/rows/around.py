"""Any candidates seen from given weights, with true columns at a fraction of their cost.

Around weights w of the functions J the log-likelihood is a quadratic: its slope along function m is

    β φ_mᵀr,     r = t − Φ_J w,

from all the rows, and its curvature G_Jm from a sample of them, each counted for several. A score Q is then
what it is with all the rows, if w is the posterior mean. A score

    S_m = min_v β‖φ_m − Φ_J v‖² + vᵀAv

comes out rather too small than too large (the mean of a minimum over samples is no larger than the minimum of
the mean), so that a gain is rather promised than overlooked.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import column_squares
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.quadratic import DenseQuadratic, Quadratic
from sparsebayes.rows.exact import ExactRows
from sparsebayes.rows.memory import Scaling
from sparsebayes.rows.targets import visited_norms

ROWS = 4096  # in the sample
STRIP = 1 << 21  # elements of Φ evaluated together


class AroundRows:
    """True columns of all rows for the slopes, of a sample of them for the curvatures.

    exact : the true columns.  Up to ROWS rows the sample is all of them.
    operator, counts : the functions on the sample, and how often each of its rows counts.
    """

    def __init__(self, exact: ExactRows) -> None:
        self.exact = exact
        operator, target = exact.operator, exact.target
        weights = np.ones(operator.shape[0]) if target.weights is None else target.weights
        chosen = np.flatnonzero(weights > 0)
        if len(chosen) > ROWS:
            chosen = np.sort(np.random.default_rng(0).choice(chosen, ROWS, replace=False))
        # what functions are at their own centres, which the sample may miss
        self.values = operator.diagonal() if operator.symmetric else np.zeros(operator.shape[1])
        self.weights = weights if operator.symmetric else np.zeros(operator.shape[1])
        self.operator = KernelOperator(operator.kernel, operator.X[chosen], operator.Z)
        self.counts = weights[chosen] * (target.n / weights[chosen].sum())

    def subset(self, W: np.ndarray) -> tuple[Quadratic, Scaling]:
        """The problem of the functions W alone, from all the rows."""
        return self.exact.subset(W)

    def seen_from(self, J: np.ndarray, weights: np.ndarray, candidates: slice | np.ndarray) -> SeenFrom:
        """Visits of candidates around these weights, in units of the scaled target, of the functions J."""
        return SeenFrom(self, J, weights, candidates)

    def columns(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The functions W on the sample, about their means with an intercept; and the means."""
        Phi = self.operator.block(slice(None), W)
        if not self.exact.target.center:
            return Phi, np.zeros(len(W))
        means = self.counts @ Phi / self.exact.target.n
        Phi -= means
        return Phi, means

    def least_squares(self, W: np.ndarray, means: np.ndarray) -> np.ndarray:
        """What the rows at the centres of the functions W add to their squares about the means."""
        return self.weights[W] * (self.values[W] - means) ** 2


class SeenFrom:
    """Visits of candidates around weights of the functions J.

    slopes : Φᵀ(t − Φ_J w) of all functions (M,), nothing for those that are not to be visited.
    """

    def __init__(
        self, rows: AroundRows, J: np.ndarray, weights: np.ndarray, candidates: slice | np.ndarray
    ) -> None:
        self.rows, self.weights = rows, weights
        residual = rows.exact.residual(J, weights)
        self.slopes = rows.exact.slopes(np.arange(len(rows.exact.candidates))[candidates], residual)
        self.slopes[J] = rows.exact.products(J, residual)
        self.left, self.means = rows.columns(J)
        self.left *= np.sqrt(rows.counts)[:, None]
        self.corner = self.left.T @ self.left

    def visit(
        self, J: np.ndarray, others: slice | np.ndarray, skipped: np.ndarray
    ) -> tuple[Quadratic, Scaling]:
        """The problem of J and `others` that knows the products of J alone: enough to score the others.

        Those of the others that are in J, skipped or no candidates score nothing.
        """
        target, candidates, first = self.rows.exact.target, self.rows.exact.candidates, len(J)
        block = np.arange(len(candidates))[others]
        W = np.concatenate([J, block])
        G, squares, means = self._curvatures(block)
        norms = np.zeros(len(candidates))
        norms[W] = target.norms(squares, means)
        norms = visited_norms(norms * candidates, J, block, skipped)
        G /= norms[:first, None]
        G /= norms
        h = self.slopes[W] / norms + (self.weights * norms[:first]) @ G
        return DenseQuadratic(h=h, G=G, **target.shared), target.scaling(W, norms, means)

    def _curvatures(self, block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G of J with J and the block, diagonal of G and means of them all, on the sample."""
        first, root = self.left.shape[1], np.sqrt(self.rows.counts)[:, None]
        G = np.empty((first, first + len(block)))
        G[:, :first] = self.corner
        squares, means = [self.corner.diagonal()], [self.means]
        for few in gen_batches(len(block), max(1, STRIP // len(root))):
            Phi, middle = self.rows.columns(block[few])
            Phi *= root
            G[:, first + few.start : first + few.stop] = self.left.T @ Phi
            squares.append(np.maximum(column_squares(Phi), self.rows.least_squares(block[few], middle)))
            means.append(middle)
        return G, np.concatenate(squares), np.concatenate(means)
