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

import math
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes._array import Array, asfloat64, column_squares, rows_at, to_numpy, together
from sparsebayes.bases.kernel_operator import KernelOperator
from sparsebayes.large_kernels.columns import STRIP, Statistics, TrueColumns, norms_of


class SampledCurvature:
    """Slopes from the true columns of all rows, curvature from those of a sample of the rows.

    columns : the true columns.  most : rows in the sample; up to as many rows it is all of them.
    sample, counts : the kernel at the rows of the sample, and how often each of them counts.
    """

    def __init__(self, columns: TrueColumns, most: int) -> None:
        self.columns, operator, counts = columns, columns.operator, columns.counts
        chosen = np.flatnonzero(to_numpy(counts > 0))
        if len(chosen) > most:
            chosen = np.sort(np.random.default_rng(0).choice(chosen, most, replace=False))
        self.sample = KernelOperator(operator.kernel, rows_at(operator.X, chosen), operator.Z)
        drawn = rows_at(counts, chosen)
        self.counts = drawn * (columns.units.n / columns.xp.sum(drawn))
        nothing = asfloat64(np.zeros(operator.shape[1]), like=counts)
        self._at_centre = operator.diagonal() if operator.symmetric else nothing
        self._centre_counts = counts if operator.symmetric else nothing

    @property
    def beside(self) -> Array:
        """An array that is where the candidates are scored."""
        return self.counts

    def subset(self, W: np.ndarray) -> Statistics:
        """The problem of the functions W alone, from all the rows."""
        return self.columns.subset(W)

    def problems(
        self, J: np.ndarray, weights: np.ndarray, blocks: Sequence[np.ndarray], skipped: np.ndarray
    ) -> Callable[[np.ndarray], Statistics]:
        """The problem of J and each of these blocks around these weights of the functions J, with the rows J of G."""
        columns, first, xp = self.columns, len(J), self.columns.xp
        residual = columns.counts * columns.residual(J, weights)
        slopes = columns.adjoint(np.unique(np.concatenate([J, *blocks])), residual)
        active, active_squares, active_means = self._scaled_columns(J)
        corner, barred, w = active.T @ active, columns.barred(J, skipped), asfloat64(weights, like=active)

        def problem(block: np.ndarray) -> Statistics:
            side, squares, means = self._against(active, block)
            squares, means = xp.concat([active_squares, squares]), xp.concat([active_means, means])
            norms, W = norms_of(squares, means, columns.units.n), np.append(J, block)
            barring = asfloat64(np.append(np.zeros(first), barred[block]), like=norms)
            own = asfloat64(np.arange(len(W)) < first, like=norms)
            norms = xp.where((barring > 0) | ((own == 0) & (norms <= 0)), math.inf, norms)
            G = xp.concat([corner, side], axis=1)
            G /= norms[:first][:, None]
            G /= norms
            h = rows_at(slopes, W) / norms + (w * norms[:first]) @ G
            return columns.quadratic(h, G), columns.units.with_columns(W, norms, means)

        return problem

    def _against(self, active: Array, block: np.ndarray) -> tuple[Array, ...]:
        """Products of the active functions with a block (S, n), squares and means of the block, sampled."""
        pieces, xp = [], self.columns.xp
        for few in gen_batches(len(block), max(1, together(STRIP, active) // int(active.shape[0]))):
            Phi, squares, means = self._scaled_columns(block[few])
            pieces.append((active.T @ Phi, squares, means))
        products, squares, means = zip(*pieces, strict=True)
        return xp.concat(products, axis=1), xp.concat(squares), xp.concat(means)

    def _scaled_columns(self, W: np.ndarray) -> tuple[Array, ...]:
        """The functions W at the rows of the sample, the squares of their norms, and their means.

        The functions are multiplied by √counts, and centred about their means with an intercept.
        """
        Phi, units, xp = self.sample.block(slice(None), W), self.columns.units, self.columns.xp
        means = self.counts @ Phi / units.n if units.center else asfloat64(np.zeros(len(W)), like=Phi)
        Phi = Phi - means
        Phi *= xp.sqrt(self.counts)[:, None]
        # a function is no smaller than it is at its own centre, which the sample may miss
        least = rows_at(self._centre_counts, W) * (rows_at(self._at_centre, W) - means) ** 2
        return Phi, xp.maximum(column_squares(Phi), least), means
