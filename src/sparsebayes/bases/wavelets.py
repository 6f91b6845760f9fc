"""Wavelets as a basis: the samples are the rows of X, in their order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from sparsebayes._array import Array, asfloat64, to_numpy
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.bases.transforms import WaveletOperator


class Wavelet(Basis):
    """Periodised orthonormal wavelets over the rows of X: row n is sample n of the signal.

    What X holds (times, positions) is only used to find the sample nearest to a new x, where the functions
    have the value they have at that sample. Rows should differ. On the training rows the functions are an
    orthonormal basis, so that a fit without intercept is in closed form (`solvers.Orthonormal`). With an
    intercept the scaling functions, whose mean is not zero, are no longer orthogonal once centred, and the
    general solvers take over; so they do with weights and in sums of bases.

    Parameters
    ----------
    wavelet : str
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", …
    level : int, optional
        How often the signal is halved; by default log2(N) − 3 times [SE07].
    shape : tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order.
    """

    def __init__(
        self, wavelet: str = "sym8", level: int | None = None, shape: tuple[int, ...] | None = None
    ) -> None:
        self.wavelet = wavelet
        self.level = level
        self.shape = shape

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundWavelet:
        """One function a row of X."""
        X = as_points(X)
        n = int(X.shape[0])
        shape = (n,) if self.shape is None else tuple(self.shape)
        if math.prod(shape) != n:
            raise ValueError(f"shape must have as many samples as X has rows ({n}), got {self.shape!r}.")
        return BoundWavelet(WaveletOperator(shape, self.wavelet, self.level), X, np.arange(n))


@dataclass(frozen=True, eq=False)
class BoundWavelet(BoundBasis):
    """The functions `kept` of a wavelet transform whose sample n sits at points[n] (N, d)."""

    transform: WaveletOperator
    points: Array
    kept: np.ndarray

    @property
    def n_functions(self) -> int:
        """M, the number of functions kept."""
        return len(self.kept)

    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the samples nearest to the rows of X."""
        X = as_points(X, n_inputs=int(self.points.shape[1]))
        columns = self.transform.columns(self.kept)
        return asfloat64(columns[self._samples(X)], like=X)

    def select(self, J: Sequence[int]) -> BoundWavelet:
        """The functions J of those kept."""
        return BoundWavelet(self.transform, self.points, self.kept[as_indices(J, self.n_functions)])

    def operator(self, X: Array) -> Operator:
        """At the training rows the fast transform, else the functions at the nearest samples."""
        whole = self.n_functions == self.transform.shape[1] and bool((np.diff(self.kept) == 1).all())
        if whole and self._is_training(X):
            return self.transform
        return DenseOperator(self(X))

    def _is_training(self, X: Array) -> bool:
        return X is self.points or np.array_equal(to_numpy(X), to_numpy(self.points))

    def _samples(self, X: Array) -> np.ndarray:
        """The number of the sample nearest to each row of X."""
        if self._is_training(X):
            return np.arange(len(self.points))
        if not X.shape[0]:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(KDTree(to_numpy(self.points)).query(to_numpy(X))[1], dtype=np.int64)
