"""Orthonormal functions on the samples of a signal: what all fast transforms share, and two of them.

The samples are those of a signal, an image or a volume, in C order. Neither Φ (N×N) nor any other array of
that size is ever formed.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.fft

from sparsebayes._array import Array, Indices, asfloat64, require_real, to_numpy
from sparsebayes._checks import is_whole
from sparsebayes.bases.operators import BLOCK_ELEMENTS, Operator, block_means_and_norms

CANCELLED = 1e-6  # of a squared norm: below it too few digits are left of 1 − Nφ̄²


class TransformOperator(Operator):
    """Φ with ΦᵀΦ = ΦΦᵀ = I on a signal of the given shape, by a transform and its inverse.

    shape : int or tuple of one to three ints; N is their product.
    """

    orthonormal = True

    def __init__(self, shape: int | Sequence[int]) -> None:
        self.signal_shape = check_shape(shape)
        N = math.prod(self.signal_shape)
        self.shape = (N, N)
        self._like: Array | None = None

    @abstractmethod
    def _forward(self, v: np.ndarray) -> np.ndarray:
        """Φᵀv for a batch of signals, (k, N) from (k, *signal_shape)."""

    @abstractmethod
    def _backward(self, w: np.ndarray) -> np.ndarray:
        """Φw for a batch of coefficients, (k, *signal_shape) from (k, N)."""

    def like(self, X: Array) -> Self:
        """The same operator, its columns arrays of the namespace and device of X."""
        other = copy.copy(self)
        other._like = X
        return other

    def analyze(self, v: Any) -> np.ndarray:
        """w = Φᵀv, (…, N) from v of shape (…, *signal_shape)."""
        require_real(v, "v")
        v = np.asarray(to_numpy(v), dtype=np.float64)
        batch = v.shape[: v.ndim - len(self.signal_shape)]
        if v.shape[len(batch) :] != self.signal_shape:
            raise ValueError(f"v must end in the shape {self.signal_shape}, got {v.shape}.")
        return self._forward(v.reshape(-1, *self.signal_shape)).reshape(*batch, -1)

    def synthesize(self, w: Any) -> np.ndarray:
        """v = Φw, (…, *signal_shape) from w of shape (…, N)."""
        require_real(w, "w")
        w = np.asarray(to_numpy(w), dtype=np.float64)
        if w.shape[-1:] != (self.shape[1],):
            raise ValueError(f"w must have {self.shape[1]} coefficients on its last axis, got {w.shape}.")
        return self._backward(w.reshape(-1, self.shape[1])).reshape(*w.shape[:-1], *self.signal_shape)

    def columns(self, J: Indices) -> Array:
        """Φ[:, J], each column synthesised from its unit vector."""
        J = np.asarray(J, dtype=np.int64)
        columns = self._backward(self._units(J)).reshape(len(J), self.shape[0]).T
        return columns if self._like is None else asfloat64(columns, like=self._like)

    def combination(self, J: Indices, weights: Array) -> Array:
        """Φ[:, J] w by one transform."""
        w = np.zeros(self.shape[1])
        np.add.at(w, np.asarray(J, dtype=np.int64), to_numpy(weights))
        return asfloat64(self.synthesize(w).ravel(), like=weights)

    def at(self, samples: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Φ[samples, J], by a transform for each of J or for each sample, whichever are fewer."""
        distinct, which = np.unique(samples, return_inverse=True)
        step = max(1, BLOCK_ELEMENTS // self.shape[0])
        found = np.empty((len(distinct), len(J)))
        if len(J) <= len(distinct):
            for start in range(0, len(J), step):
                block = slice(start, start + step)
                found[:, block] = to_numpy(self.columns(J[block]))[distinct]
        else:
            for start in range(0, len(distinct), step):
                block = slice(start, start + step)
                units = self._units(distinct[block]).reshape(-1, *self.signal_shape)
                found[block] = self._forward(units)[:, J]
        return found[which]

    def _units(self, places: np.ndarray) -> np.ndarray:
        """Vectors of N that are 1 at one place and 0 elsewhere."""
        units = np.zeros((len(places), self.shape[0]))
        units[np.arange(len(places)), places] = 1.0
        return units

    def adjoint(self, V: Array) -> Array:
        """Φᵀ V by the fast transform."""
        self._check_rows(V)
        return asfloat64(self._forward(to_numpy(V).T.reshape(-1, *self.signal_shape)).T, like=V)

    def _check_rows(self, V: Array) -> None:
        """Refuse what is no real matrix of N rows."""
        require_real(V, "V")
        if len(np.shape(V)) != 2 or V.shape[0] != self.shape[0]:
            raise ValueError(f"V must have shape ({self.shape[0]}, k), got {tuple(np.shape(V))}.")

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """With equal weights from one transform: ‖φ − φ̄‖² = 1 − Nφ̄², the columns where that cancels apart."""
        each = to_numpy(weights)
        if not len(each) or np.any(each != each[0]):
            return super().means_and_norms(weights, center)
        N = self.shape[0]
        means = self.analyze(np.full(self.signal_shape, 1 / N)) if center else np.zeros(N)
        squares = 1 - N * means**2
        norms = np.sqrt(each[0] * np.maximum(squares, 0.0))
        for m in np.flatnonzero(squares < CANCELLED):
            norms[m] = block_means_and_norms(to_numpy(self.columns([int(m)])), each, center)[1][0]
        return asfloat64(means, like=weights), asfloat64(norms, like=weights)


class DCTOperator(TransformOperator):
    """The discrete cosine transform of type II: along an axis of n samples, with k = 0 … n − 1,

        φ_k(i) = √((2 − δ_k0)/n) cos(πk(i + ½)/n)

    and products of these over the axes, in C order of k.
    """

    def _forward(self, v: np.ndarray) -> np.ndarray:
        w = scipy.fft.dctn(v, type=2, axes=self._axes, norm="ortho")
        return w.reshape(len(v), -1)

    def _backward(self, w: np.ndarray) -> np.ndarray:
        v = w.reshape(len(w), *self.signal_shape)
        return scipy.fft.idctn(v, type=2, axes=self._axes, norm="ortho")

    @property
    def _axes(self) -> range:
        return range(1, 1 + len(self.signal_shape))


class SpikeOperator(TransformOperator):
    """The identity: function m is 1 at sample m and 0 elsewhere."""

    def adjoint(self, V: Array) -> Array:
        """V itself, not a copy."""
        self._check_rows(V)
        return V

    def _forward(self, v: np.ndarray) -> np.ndarray:
        return v.reshape(len(v), -1).copy()

    def _backward(self, w: np.ndarray) -> np.ndarray:
        return w.reshape(len(w), *self.signal_shape).copy()


def check_shape(shape: Any) -> tuple[int, ...]:
    """One to three sizes; a number stands for one."""
    try:
        sizes = tuple(shape)
    except TypeError:  # a number, or nothing of the kind
        sizes = (shape,)
    if not 1 <= len(sizes) <= 3 or not all(is_whole(n, 1) for n in sizes):
        raise ValueError(f"shape must be one to three integers >= 1, got {shape!r}.")
    return tuple(int(n) for n in sizes)
