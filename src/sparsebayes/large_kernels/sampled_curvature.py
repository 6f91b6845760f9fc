"""Scoring with sampled curvature: true kernel columns for all candidates, at a fraction of their cost.

Around weights w of the functions J the log-likelihood is a quadratic: its slope along function m is

    β φ_mᵀr,     r = t − Φ_J w,

from all the rows, and its curvature G_Jm from a sample of them, each counted several times. If w is the
posterior mean, a score Q equals the one from all the rows. A score

    S_m = min_v β‖φ_m − Φ_J v‖² + vᵀAv

is on average too small (the mean over samples of a minimum is at most the minimum of the mean), so that a
gain is more often overestimated than overlooked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import column_squares
from sparsebayes.bases.kernel_operator import KernelOperator
from sparsebayes.large_kernels.columns import STRIP, Statistics, TrueColumns, norms_of


class SampledCurvature:
    """Slopes from the true columns of all rows, curvature from those of a sample of the rows.

    columns : the true columns.  most : rows in the sample; up to as many rows it is all of them.
    sample, counts : the kernel at the rows of the sample, and how often each of them counts.
    """

    def __init__(self, columns: TrueColumns, most: int) -> None:
        self.columns, operator, counts = columns, columns.operator, columns.counts
        chosen = np.flatnonzero(counts > 0)
        if len(chosen) > most:
            chosen = np.sort(np.random.default_rng(0).choice(chosen, most, replace=False))
        self.sample = KernelOperator(operator.kernel, operator.X[chosen], operator.Z)
        self.counts = counts[chosen] * (columns.units.n / counts[chosen].sum())
        self._at_centre = operator.diagonal() if operator.symmetric else np.zeros(operator.shape[1])
        self._centre_counts = counts if operator.symmetric else np.zeros(operator.shape[1])

    def subset(self, W: np.ndarray) -> Statistics:
        """The problem of the functions W alone, from all the rows."""
        return self.columns.subset(W)

    def blocks(
        self, J: np.ndarray, weights: np.ndarray, blocks: Sequence[np.ndarray], skipped: np.ndarray
    ) -> Iterator[Statistics]:
        """The problem of J and each block around these weights of the functions J, with the rows J of G."""
        columns, first = self.columns, len(J)
        residual = columns.counts * columns.residual(J, weights)
        slopes = columns.adjoint(np.unique(np.concatenate([J, *blocks])), residual)
        active, active_squares, active_means = self._scaled_columns(J)
        corner, barred = active.T @ active, columns.barred(J, skipped)
        for block in blocks:
            side, squares, means = self._against(active, block)
            squares, means = np.append(active_squares, squares), np.append(active_means, means)
            norms = norms_of(squares, means, columns.units.n)
            norms[first:][barred[block] | (norms[first:] <= 0)] = np.inf
            G = np.concatenate([corner, side], axis=1)
            G /= norms[:first, None]
            G /= norms
            W = np.append(J, block)
            h = slopes[W] / norms + (weights * norms[:first]) @ G
            yield columns.quadratic(h, G), columns.units.with_columns(W, norms, means)

    def _against(self, active: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, ...]:
        """Products of the active functions with a block (S, n), squares and means of the block, sampled."""
        G, (squares, means) = np.empty((active.shape[1], len(block))), np.empty((2, len(block)))
        for few in gen_batches(len(block), max(1, STRIP // len(active))):
            Phi, squares[few], means[few] = self._scaled_columns(block[few])
            G[:, few] = active.T @ Phi
        return G, squares, means

    def _scaled_columns(self, W: np.ndarray) -> tuple[np.ndarray, ...]:
        """The functions W at the rows of the sample, the squares of their norms, and their means.

        The functions are multiplied by √counts, and centred about their means with an intercept.
        """
        Phi, units = self.sample.block(slice(None), W), self.columns.units
        means = self.counts @ Phi / units.n if units.center else np.zeros(len(W))
        Phi = Phi - means
        Phi *= np.sqrt(self.counts)[:, None]
        # a function is no smaller than it is at its own centre, which the sample may miss
        least = self._centre_counts[W] * (self._at_centre[W] - means) ** 2
        return Phi, np.maximum(column_squares(Phi), least), means
