"""Statistics of a kernel machine on Dask: those of few true columns, and of all functions through K ≈ LLᵀ.

Functions are numbered as they come to the client, which knows the points of those it has heard of and of no others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._array import Indices, column_squares, lower_transposed_times, stacked_triangle
from sparsebayes._sketches import hashes
from sparsebayes.core.quadratic import DenseQuadratic, Products, Quadratic
from sparsebayes.core.units import LEAST_SPREAD, Units, root_mean_square
from sparsebayes.distributed.landmarks import Landmarks
from sparsebayes.distributed.points import PointRows, Points
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.large_kernels.columns import Statistics, TrueColumns, norms_of
from sparsebayes.large_kernels.low_rank import LowRankStatistics
from sparsebayes.rows.chunks import Chunk, slices
from sparsebayes.rows.scaled import usable
from sparsebayes.rows.triangle import Triangle


@dataclass(eq=False)
class KnownPoints:
    """The points that the client knows, numbered in the order in which they came.

    X : (P, d).
    """

    X: np.ndarray
    _numbers: dict[int, int] = field(default_factory=dict)

    def numbers_of(self, X: np.ndarray) -> np.ndarray:
        """The numbers of the points X (k, d); those that are new get the next ones."""
        new = []
        for row, key in enumerate(hashes(X).tolist()):
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                new.append(row)
        self.X = np.concatenate([self.X, X[new]])
        return np.asarray([self._numbers[key] for key in hashes(X).tolist()], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.X)


def raw_statistics(triangle: Triangle, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z (M+1, M), z (M+1,) and the means (M,) of a triangle: rows that stand for all, centred with an intercept."""
    means = triangle.origin + triangle.moments.means
    R = triangle.R if center else stacked_triangle(triangle.R, np.sqrt(triangle.n) * means[None, :])
    return R[:, :-1], R[:, -1], means[:-1] if center else 0 * means[:-1]


def target_units(triangle: Triangle, center: bool) -> tuple[Units, float]:
    """The units of the target of a triangle, without columns, and tᵀt of the scaled target."""
    _, z, _ = raw_statistics(triangle, center)
    scale = root_mean_square(z, np.ones_like(z), triangle.n)
    mean = float(triangle.origin[-1] + triangle.moments.means[-1]) if center else 0.0
    spread = max(float(np.sum((triangle.R[:, -1] / scale) ** 2)) / triangle.n, LEAST_SPREAD)
    return Units(triangle.n, center, scale, mean, spread), float(np.sum((z / scale) ** 2))


class RemoteColumns(TrueColumns):
    """True kernel columns of rows that stay where they are: one pass for the statistics of any few functions.

    points : the rows.  kernel : k.  known : the functions that the client knows.
    """

    def __init__(self, points: PointRows, kernel: Any, known: KnownPoints, center: bool) -> None:
        assert points.overview.triangle is not None
        self.points, self.kernel, self.known = points, kernel, known
        self.units, self.tt = target_units(points.overview.triangle, center)

    @property
    def candidates(self) -> np.ndarray:  # type: ignore[override]
        """Whether each known function may be selected: they are distinct, so all may."""
        return np.ones(len(self.known), dtype=bool)

    def subset(self, W: np.ndarray) -> Statistics:
        """The problem of the functions W (ascending) alone, by one pass."""
        triangle = self.points.rows.reduce("columns", _columns_triangle, sum_of, self.kernel, self.known.X[W])
        Z, z, means = raw_statistics(triangle, self.units.center)
        norms = norms_of(column_squares(Z), means, self.units.n)
        kept = usable(norms)
        W, means, norms = W[kept], means[kept], norms[kept]
        Z, z = Z[:, kept] / norms, z / self.units.target_scale
        G = Z.T @ Z
        np.fill_diagonal(G, 1.0)
        return self.quadratic(z @ Z, G, _TriangleProducts(Z, z)), self.units.with_columns(W, norms, means)


@dataclass(frozen=True, eq=False)
class _TriangleProducts(Products):
    """Residuals of scaled functions from the rows Z, z of a triangle, which stand for all rows."""

    Z: np.ndarray
    z: np.ndarray

    def residual(self, J: Indices, weights: np.ndarray) -> float:
        """‖t − Φ_J w‖² of the scaled functions."""
        error = self.z - self.Z[:, np.asarray(J)] @ weights
        return float(error @ error)


def _columns_triangle(points: Points, kernel: Any, Z: np.ndarray) -> Triangle | None:
    """The triangle of [k(X, Z) t]."""
    return Triangle.of(
        Chunk(kernel.matrix(points.X[part], Z), points.t[part], points.counts[part])
        for part in slices(len(points.t), len(Z) + 1)
    )


class RemoteLowRank(LowRankStatistics):
    """Statistics through K ≈ LLᵀ: of the functions that the client knows, without a pass.

    landmarks : the factor.  middle : (r,) the mean of the rows of L.  columns : the true columns.
    """

    def __init__(self, landmarks: Landmarks, columns: RemoteColumns) -> None:
        self.landmarks, self.columns, self.known = landmarks, columns, columns.known
        triangle = columns.points.rows.reduce("low-rank", _factor_triangle, sum_of, landmarks)
        Z, z, self.middle = raw_statistics(triangle, columns.units.center)
        self.C, self.c = Z.T @ Z, z @ Z / columns.units.target_scale
        self.root = np.tril(Z[: landmarks.rank].T)
        self._held = np.zeros((landmarks.rank, 0))

    @property
    def L(self) -> np.ndarray:
        """Lᵀ (r, P) at the known points."""
        known = self.known
        if self._held.shape[1] < len(known):
            self._held = np.concatenate([self._held, self.landmarks.at(known.X[self._held.shape[1] :])], axis=1)
        return self._held

    @property
    def means(self) -> np.ndarray:  # type: ignore[override]
        """φ̄ of the known functions (P,)."""
        return self.middle @ self.L

    @property
    def norms(self) -> np.ndarray:
        """ν of the known functions (P,)."""
        return self.portable().norms_at(self.L)

    def portable(self) -> LowRankSummary:
        """What a part needs to score its rows."""
        columns = self.columns
        return LowRankSummary(self.landmarks, columns.units, columns.tt, self.middle, self.root, self.C, self.c)


def _factor_triangle(points: Points, landmarks: Landmarks) -> Triangle | None:
    """The triangle of [L t]."""
    return Triangle.of(landmarks.chunks(points))


def quadratic_of(units: Units, tt: float, h: np.ndarray, G: np.ndarray) -> Quadratic:
    """What a solver sees of functions with these h and G of their scaled columns."""
    return DenseQuadratic(units.rows_counted, tt, h, G, offset=units.offset)


class LowRankSummary(NamedTuple):
    """What a part needs of the statistics through L; the names are those of `RemoteLowRank`."""

    landmarks: Landmarks
    units: Units
    tt: float
    middle: np.ndarray
    root: np.ndarray
    C: np.ndarray
    c: np.ndarray

    def norms_at(self, L: np.ndarray) -> np.ndarray:
        """ν of the functions with these columns of Lᵀ (r, n)."""
        return norms_of(column_squares(lower_transposed_times(self.root, L)), self.middle @ L, self.units.n)
