"""Pivots of a positive semi-definite kernel, found in passes: K ≈ LLᵀ with L never stored.

Row n of L is ℓ_n = U⁻¹ k(Z, x_n) with the pivots Z (r, d) and k(Z, Z) = UUᵀ, so that r(r + d) numbers give the part of
L that belongs to any rows. A pass computes the residual R_nn = k(x_n, x_n) − ‖ℓ_n‖² of every row, and draws rows with
probabilities proportional to it, by hash values of their contents. The most informative of these become pivots: they
are those that `bases.low_rank` finds in memory for a kernel matrix that does not fit there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from sparsebayes._array import column_squares
from sparsebayes._sketches import SmallestKeys, draw_keys, hashes
from sparsebayes.bases.operators import LOW_RANK, LowRankSettings
from sparsebayes.distributed.dask_rows import DaskRows
from sparsebayes.distributed.points import Points
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.rows.chunks import Chunk, slices


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The factor of low rank K ≈ LLᵀ of a kernel at any rows.

    kernel : k, its parameters being numbers.  Z : (r, d) pivots.  U : (r, r) lower, k(Z, Z) = UUᵀ.
    largest, trace : the largest and the sum of k(x_n, x_n) of all rows, once they are known.
    """

    kernel: Any
    Z: np.ndarray
    U: np.ndarray
    largest: float = 0.0
    trace: float = 0.0

    @classmethod
    def none(cls, kernel: Any, d: int) -> Landmarks:
        """No pivots."""
        return cls(kernel, np.zeros((0, d)), np.zeros((0, 0)))

    @property
    def rank(self) -> int:
        """r."""
        return len(self.Z)

    def at(self, X: np.ndarray) -> np.ndarray:
        """Lᵀ (r, n) at the rows of X (n, d)."""
        if not self.rank:
            return np.zeros((0, len(X)))
        return scipy.linalg.solve_triangular(
            self.U, self.kernel.matrix(self.Z, X), lower=True, overwrite_b=True, check_finite=False
        )

    def chunks(self, points: Points) -> Iterator[Chunk]:
        """The rows [L t] of some points, a block at a time."""
        for part in slices(len(points.t), self.rank + 1):
            yield Chunk(self.at(points.X[part]).T, points.t[part], points.counts[part])

    def residual(self, X: np.ndarray) -> np.ndarray:
        """R_nn at the rows of X, at least 0, (n,)."""
        diagonal = self.kernel.diagonal(X)
        for part in slices(len(X), max(self.rank, 1)):
            diagonal[part] -= column_squares(self.at(X[part]))
        return np.maximum(diagonal, 0.0)

    def extended(self, drawn: np.ndarray, size: int, tol: float) -> Landmarks:
        """The landmarks with up to `size` of the drawn rows (k, d), those with the largest residuals in turn."""
        known = self.at(drawn)
        among = self.kernel.matrix(drawn, drawn) - known.T @ known
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(among.T, tol=tol, lower=1, overwrite_a=1)
        rank = max(min(int(rank), size), 1)
        chosen = order[:rank] - 1
        U = np.zeros((self.rank + rank, self.rank + rank))
        U[: self.rank, : self.rank] = self.U
        U[self.rank :, : self.rank] = known[:, chosen].T
        U[self.rank :, self.rank :] = np.tril(factor[:rank, :rank])
        return replace(self, Z=np.concatenate([self.Z, drawn[chosen]]), U=U)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What a pass finds out about K − LLᵀ; adds.

    largest, total : the largest and the sum of R_nn.  drawn : rows drawn with probabilities proportional to R_nn, and
    R_nn beside each.  peak : the row with the largest R_nn.
    """

    largest: float
    total: float
    drawn: SmallestKeys
    peak: np.ndarray

    def __add__(self, other: Residuals) -> Residuals:
        first, second = (-self.largest, *self.peak), (-other.largest, *other.peak)
        peak = self.peak if first <= second else other.peak  # the smaller row where two residuals are equal
        return Residuals(max(self.largest, other.largest), self.total + other.total, self.drawn + other.drawn, peak)


def _residuals(points: Any, landmarks: Landmarks, draws: int) -> Residuals:
    """The residuals of the rows of a part."""
    residual = landmarks.residual(points.X)
    inside = np.flatnonzero(residual > 0)
    X, above = points.X[inside], residual[inside]
    keys = draw_keys(X, above, 1 + landmarks.rank)
    drawn = SmallestKeys.of(keys, np.column_stack([X, above]), draws, identity=hashes(X))
    largest = float(residual.max())
    tied = points.X[residual == largest]
    return Residuals(largest, float(residual.sum()), drawn, tied[np.lexsort(tied.T[::-1])[0]])


def find_landmarks(
    rows: DaskRows, total: int, landmarks: Landmarks, tol: float, settings: LowRankSettings = LOW_RANK
) -> tuple[Landmarks, bool]:
    """K ≈ LLᵀ as far as the largest rank allows, a pass for each block of pivots.

    Parameters
    ----------
    rows : DaskRows
        Passes over rows that have a field X.
    total : int
        How many rows there are.
    landmarks : Landmarks
        Pivots to go on from.
    tol : float
        Largest element of diag(K − LLᵀ), relative to the largest of diag K.
    settings : LowRankSettings
        What the factorisation depends on.

    Returns
    -------
    landmarks : Landmarks
        The pivots.
    complete : bool
        Whether it is within the tolerance.
    """
    limit = min(total // settings.rows_per_rank, settings.max_rank)
    while True:
        r = landmarks.rank
        size = min(max(settings.smallest_block, int(settings.block_growth * r)), settings.largest_block, limit - r)
        draws = settings.draws_per_pivot * max(size, 1)
        seen: Residuals = rows.reduce("pivots", _residuals, sum_of, landmarks, draws)
        if not r:
            landmarks = replace(landmarks, largest=seen.largest, trace=seen.total)
        goal, finest = tol * landmarks.largest, settings.cheap_tol * landmarks.largest
        if r >= limit or seen.largest <= (goal if r >= settings.cheap_rank else min(goal, finest)):
            break
        if r > settings.early_rank * limit and seen.total > settings.early_trace * landmarks.trace:
            break
        least = goal if seen.largest > goal else finest
        drawn = seen.drawn.rows[seen.drawn.rows[:, -1] > least, :-1]
        drawn = np.unique(np.concatenate([drawn, seen.peak[None, :]]), axis=0)
        landmarks = landmarks.extended(drawn, size, max(0.5 * least, settings.pivot_share * seen.largest))
    return landmarks, bool(seen.largest <= goal)


def enough_landmarks(
    rows: DaskRows, total: int, landmarks: Landmarks, tol: float, settings: LowRankSettings = LOW_RANK
) -> Landmarks:
    """The landmarks of `find_landmarks`; ValueError if the kernel has too high a rank for the tolerance."""
    landmarks, complete = find_landmarks(rows, total, landmarks, tol, settings)
    if not complete:
        raise ValueError(
            f"kernel needs more than {landmarks.rank} pivots for the {total} rows of X, too many for a Dask "
            "collection: use a wider kernel (a smaller gamma) or fewer inputs, or fit fewer rows as an array."
        )
    return landmarks
