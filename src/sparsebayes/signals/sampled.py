"""Bases on the samples of a signal: the rows of X are the samples, in order."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from sparsebayes._array import Array, asfloat64, is_numpy, to_numpy
from sparsebayes.bases.arguments import as_points
from sparsebayes.bases.contract import Basis, BoundBasis, ListedBasis
from sparsebayes.bases.names import coordinates
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.signals.transforms import DCTOperator, SpikeOperator, TransformOperator, check_shape
from sparsebayes.signals.wavelet_transform import WaveletOperator

FARTHEST = 1e150  # coordinates in several dimensions are clipped to this, so that their squares are finite


class SampledBasis(Basis):
    """Orthonormal functions over the rows of X: row n is sample n of the signal.

    The values of X (times, positions) only serve to find the sample nearest to a new x, where a function has
    its value at that sample. Rows should differ. On the training rows the functions are an orthonormal basis,
    so that a fit without intercept has a closed form. With an intercept, functions whose mean is not zero are
    no longer orthogonal once they are centred, and the general solvers are used; so they are with weights and
    in sums of bases. The Gaussian process that scales are learned from does not include the functions,
    because all of them together are white noise.

    Parameters
    ----------
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order; by default a signal.
    """

    def __init__(self, shape: int | tuple[int, ...] | None = None) -> None:
        self.shape = shape

    @abstractmethod
    def transform(self, shape: tuple[int, ...]) -> TransformOperator:
        """The functions on a signal of this shape."""

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """One function per row of X."""
        X = as_points(X)
        n = int(X.shape[0])
        shape = (n,) if self.shape is None else check_shape(self.shape)
        if math.prod(shape) != n:
            # an estimator binds only rows of positive weight
            rows = f"{n}" if sample_weight is None else f"{n} without those of sample_weight zero"
            raise ValueError(f"shape must have as many samples as X has rows ({rows}), got {self.shape!r}.")
        return BoundSamples(np.arange(n), self.transform(shape), X)


class DCT(SampledBasis):
    """The cosines of the discrete cosine transform (DCT-II) over the rows of X: row n is sample n.

    Along an axis of n samples φ_k(i) = √((2 − δ_k0)/n) cos(πk(i + ½)/n), k = 0 … n − 1; in images and volumes
    the functions are products of these. At a new x a function has its value at the nearest sample. The
    functions are orthonormal: `Wavelet` describes the consequences for a fit.

    Parameters
    ----------
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order; by default a signal.
    """

    def transform(self, shape: tuple[int, ...]) -> DCTOperator:
        """The cosines on a signal of this shape."""
        return DCTOperator(shape)


class Wavelet(SampledBasis):
    """Periodised orthonormal wavelets over the rows of X: row n is sample n of the signal.

    The values of X (times, positions) only serve to find the sample nearest to a new x, where a function has
    its value at that sample. Rows should differ. On the training rows the functions are an orthonormal basis,
    so that a fit without intercept has a closed form. With an intercept the scaling functions, whose mean is
    not zero, are no longer orthogonal once they are centred, and the general solvers are used; so they are
    with weights and in sums of bases. The Gaussian process that scales are learned from does not include the
    functions, because all of them together are white noise.

    Parameters
    ----------
    wavelet : str
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", …
    level : int, optional
        How often the signal is halved; by default log2(N) − 3 times [SE07].
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order; by default a signal.
    """

    def __init__(
        self, wavelet: str = "sym8", level: int | None = None, shape: int | tuple[int, ...] | None = None
    ) -> None:
        self.wavelet = wavelet
        self.level = level
        self.shape = shape

    def transform(self, shape: tuple[int, ...]) -> WaveletOperator:
        """The wavelets on a signal of this shape."""
        return WaveletOperator(shape, self.wavelet, self.level)


class Spike(SampledBasis):
    """One function per row of X, 1 at that row and 0 at all others: for outlying samples.

    As a part of a sum such as `Wavelet() + Spike()` it explains what no smooth function does. At a new x a
    function has its value at the nearest sample. The functions are orthonormal: `Wavelet` describes the
    consequences for a fit.

    Parameters
    ----------
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order; by default a signal.
    """

    def transform(self, shape: tuple[int, ...]) -> SpikeOperator:
        """The spikes on a signal of this shape."""
        return SpikeOperator(shape)


@dataclass(frozen=True, eq=False)
class BoundSamples(ListedBasis):
    """Functions of a transform.

    Parameters
    ----------
    functions : ndarray of int
        The numbers of the functions.
    transform : TransformOperator
        All functions on the samples.
    points : array of shape (N, d)
        Where the samples are.
    """

    transform: TransformOperator
    points: Array

    few_batches = True  # every batch costs transforms of all samples
    in_gaussian_process = False

    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the samples nearest to the rows of X."""
        X = as_points(X, n_inputs=int(self.points.shape[1]))
        return asfloat64(self.transform.at(self._samples(X), self.functions), like=X)

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Such as "sym8 level 3 at 0.41", "cos 5" or "spike at 12": functions with a place have that of a sample."""
        points = to_numpy(self.points)
        return self.transform.names(self.functions, lambda samples: coordinates(points, samples))

    @property
    def families(self) -> frozenset[str]:
        """What the functions of the transform are called."""
        return frozenset([self.transform.label])

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw at the rows of X by one transform."""
        X = as_points(X, n_inputs=int(self.points.shape[1]))
        values = to_numpy(self.transform.combination(self.functions, to_numpy(weights)))
        return asfloat64(values[self._samples(X)], like=X)

    def operator(self, X: Array) -> Operator:
        """The fast transform for all functions at the training rows, else values at the nearest samples."""
        whole = self.n_functions == self.transform.shape[1] and bool((np.diff(self.functions) == 1).all())
        if whole and self._is_training(X):
            return self.transform if is_numpy(X) else self.transform.like(X)
        return DenseOperator(self(X))

    def _is_training(self, X: Array) -> bool:
        return X is self.points or np.array_equal(to_numpy(X), to_numpy(self.points))

    def _samples(self, X: Array) -> np.ndarray:
        """The number of the sample nearest to each row of X, (n,)."""
        if self._is_training(X):
            return np.arange(self.points.shape[0])
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
    borders = 0.5 * ordered[:-1] + 0.5 * ordered[1:]  # in this form nothing overflows
    return order[np.searchsorted(borders, x)]
