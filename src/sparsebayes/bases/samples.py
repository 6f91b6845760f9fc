"""Bases on the samples of a signal: the rows of X are the samples, in their order."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from sparsebayes._array import Array, asfloat64, is_numpy, to_numpy
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.bases.orthonormal import DCTOperator, SpikeOperator, TransformOperator, check_shape

LEFT_OUT = ", those of sample_weight zero being left out, which an image cannot do without"
FARTHEST = 1e150  # in several dimensions: squares of distances are numbers


class SampledBasis(Basis):
    """Orthonormal functions over the rows of X: row n is sample n of the signal.

    What X holds (times, positions) is only used to find the sample nearest to a new x, where the functions
    have the value they have at that sample. Rows should differ. On the training rows the functions are an
    orthonormal basis, so that a fit without intercept is in closed form (`solvers.Orthonormal`). With an
    intercept, functions whose mean is not zero are no longer orthogonal once centred, and the general
    solvers take over; so they do with weights and in sums of bases.

    shape : the shape of an image or a volume whose samples are the rows of X in C order; None for a signal.
    """

    def __init__(self, shape: int | tuple[int, ...] | None = None) -> None:
        self.shape = shape

    @abstractmethod
    def transform(self, shape: tuple[int, ...]) -> TransformOperator:
        """The functions on a signal of this shape."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundSamples:
        """One function a row of X."""
        X = as_points(X)
        n = int(X.shape[0])
        shape = (n,) if self.shape is None else check_shape(self.shape)
        if math.prod(shape) != n:
            # an estimator binds the rows that count
            left_out = "" if sample_weight is None else LEFT_OUT
            raise ValueError(
                f"shape must have as many samples as X has rows ({n}{left_out}), got {self.shape!r}."
            )
        return BoundSamples(self.transform(shape), X, np.arange(n))


class DCT(SampledBasis):
    """The cosines of the discrete cosine transform (DCT-II) over the rows of X: row n is sample n.

    Along an axis of n samples φ_k(i) = √((2 − δ_k0)/n) cos(πk(i + ½)/n), k = 0 … n − 1; in images and volumes
    products of these. At a new x a function has its value at the nearest sample. The functions are
    orthonormal: see `Wavelet` for what that means for a fit.

    Parameters
    ----------
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order.
    """

    def transform(self, shape: tuple[int, ...]) -> DCTOperator:
        """The cosines on a signal of this shape."""
        return DCTOperator(shape)


class Spike(SampledBasis):
    """A function for every row of X that is 1 there and 0 at all other rows: for samples that stand out.

    A part of a sum such as `Wavelet() + Spike()`, it takes up what no smooth function explains. At a new x a
    spike counts if its sample is the nearest. The functions are orthonormal: see `Wavelet`.

    Parameters
    ----------
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order.
    """

    def transform(self, shape: tuple[int, ...]) -> SpikeOperator:
        """The spikes on a signal of this shape."""
        return SpikeOperator(shape)


@dataclass(frozen=True, eq=False)
class BoundSamples(BoundBasis):
    """The functions `kept` of a transform whose sample n sits at points[n] (N, d)."""

    transform: TransformOperator
    points: Array
    kept: np.ndarray

    @property
    def n_functions(self) -> int:
        """M, the number of functions kept."""
        return len(self.kept)

    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the samples nearest to the rows of X."""
        X = as_points(X, n_inputs=int(self.points.shape[1]))
        return asfloat64(self.transform.at(self._samples(X), self.kept), like=X)

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw at the rows of X, by one transform."""
        X = as_points(X, n_inputs=int(self.points.shape[1]))
        values = to_numpy(self.transform.combination(self.kept, to_numpy(weights)))
        return asfloat64(values[self._samples(X)], like=X)

    @property
    def few_batches(self) -> bool:
        """Every batch costs transforms of all samples."""
        return True

    def select(self, J: Sequence[int]) -> BoundSamples:
        """The functions J of those kept."""
        return BoundSamples(self.transform, self.points, self.kept[as_indices(J, self.n_functions)])

    def operator(self, X: Array) -> Operator:
        """At the training rows the fast transform, else the functions at the nearest samples."""
        if self.complete_at(X):
            return self.transform if is_numpy(X) else self.transform.like(X)
        return DenseOperator(self(X))

    def complete_at(self, X: Array) -> bool:
        """At the training rows, while all functions are there and in their order."""
        whole = self.n_functions == self.transform.shape[1] and bool((np.diff(self.kept) == 1).all())
        return whole and self._is_training(X)

    def _is_training(self, X: Array) -> bool:
        return X is self.points or np.array_equal(to_numpy(X), to_numpy(self.points))

    def _samples(self, X: Array) -> np.ndarray:
        """The number of the sample nearest to each row of X."""
        if self._is_training(X):
            return np.arange(len(self.points))
        points, X = to_numpy(self.points), to_numpy(X)
        if not len(X):
            return np.zeros(0, dtype=np.int64)
        if points.shape[1] == 1:
            return _nearest_on_a_line(points[:, 0], X[:, 0])
        points, X = (np.clip(rows, -FARTHEST, FARTHEST) for rows in (points, X))
        return np.asarray(KDTree(points).query(X)[1], dtype=np.int64)


def _nearest_on_a_line(points: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The number of the point nearest to each x, the lower of two that are equally near."""
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    right = np.searchsorted(ordered, x)
    left = np.maximum(right - 1, 0)
    right = np.minimum(right, len(points) - 1)
    middle = 0.5 * ordered[left] + 0.5 * ordered[right]  # no difference overflows
    return order[np.where(x > middle, right, left)]
