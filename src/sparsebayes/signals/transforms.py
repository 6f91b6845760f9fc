"""Fast orthonormal transforms of the samples of a signal, the cosine transform and the identity among them.

The samples are those of a signal, an image or a volume, in C order. Neither Φ (N×N) nor any other array of
that size is ever formed.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import scipy.fft

from sparsebayes._array import Array, Indices, asfloat64, require_real, to_numpy
from sparsebayes._checks import is_whole
from sparsebayes.bases.operators import Operator, block_means_and_norms

CANCELLED = 1e-6  # a squared norm 1 − Nφ̄² below this has too few correct digits


class TransformOperator(Operator):
    """Φ with ΦᵀΦ = ΦΦᵀ = I on a signal of the given shape, by a transform and its inverse.

    Parameters
    ----------
    shape : int or tuple of one to three ints
        Of the signal, image or volume; N is their product.
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

    @property
    def label(self) -> str:
        """What the functions are called."""
        return type(self).__name__.removesuffix("Operator")

    def names(self, J: np.ndarray, places: Callable[[np.ndarray], list[str]]) -> list[str]:
        """Names of the functions J.

        Parameters
        ----------
        J : ndarray of int
            Numbers of functions.
        places : callable
            Numbers of samples -> their places as text.

        Returns
        -------
        list of str
            One name per function, by default its number after the `label`.
        """
        return [f"{self.label} {number}" for number in np.asarray(J).tolist()]

    def like(self, X: Array) -> Self:
        """The same operator with columns in the namespace and on the device of X."""
        other = copy.copy(self)
        other._like = X
        return other

    def analyze(self, v: Any) -> np.ndarray:
        """w = Φᵀv, the coefficients of signals.

        Parameters
        ----------
        v : array of shape (…, *signal_shape)
            Signals.

        Returns
        -------
        ndarray of shape (…, N)
            Their coefficients.
        """
        require_real(v, "v")
        v = np.asarray(to_numpy(v), dtype=np.float64)
        batch = v.shape[: v.ndim - len(self.signal_shape)]
        if v.shape[len(batch) :] != self.signal_shape:
            raise ValueError(f"v must end in the shape {self.signal_shape}, got {v.shape}.")
        return self._forward(v.reshape(-1, *self.signal_shape)).reshape(*batch, -1)

    def synthesize(self, w: Any) -> np.ndarray:
        """v = Φw, the signals with given coefficients.

        Parameters
        ----------
        w : array of shape (…, N)
            Coefficients.

        Returns
        -------
        ndarray of shape (…, *signal_shape)
            The signals.
        """
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
        """Φ[samples, J], by one transform per function or per sample, whichever are fewer."""
        distinct, which = np.unique(samples, return_inverse=True)
        by_function = len(J) <= len(distinct)
        places, others = (J, distinct) if by_function else (distinct, J)
        found, step = np.empty((len(places), len(others))), max(1, self.block_elements // self.shape[0])
        for start in range(0, len(places), step):
            units = self._units(places[start : start + step])
            spread = self.synthesize(units) if by_function else self.analyze(units.reshape(-1, *self.signal_shape))
            found[start : start + step] = spread.reshape(len(units), -1)[:, others]
        return (found.T if by_function else found)[which]

    def _units(self, places: np.ndarray) -> np.ndarray:
        """Vectors of length N that are 1 at one of the places and 0 elsewhere."""
        units = np.zeros((len(places), self.shape[0]))
        units[np.arange(len(places)), places] = 1.0
        return units

    def adjoint(self, V: Array) -> Array:
        """Φᵀ V by the fast transform."""
        self._check_rows(V)
        return asfloat64(self._forward(to_numpy(V).T.reshape(-1, *self.signal_shape)).T, like=V)

    def _check_rows(self, V: Array) -> None:
        """ValueError unless V is a real matrix with N rows."""
        require_real(V, "V")
        if len(np.shape(V)) != 2 or V.shape[0] != self.shape[0]:
            raise ValueError(f"V must have shape ({self.shape[0]}, k), got {tuple(np.shape(V))}.")

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """With equal weights by one transform: ‖φ − φ̄‖² = 1 − Nφ̄², or from the column where that cancels."""
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

    Parameters
    ----------
    shape : int or tuple of one to three ints
        Of the signal, image or volume; N is their product.
    """

    label = "cos"

    def names(self, J: np.ndarray, places: Callable[[np.ndarray], list[str]]) -> list[str]:
        """Such as "cos 5", or "cos (3, 5)" for products of cosines along two axes."""
        numbers = np.transpose(np.unravel_index(J, self.signal_shape)).tolist()
        return [f"cos {each[0] if len(each) == 1 else tuple(each)}" for each in numbers]

    def _forward(self, v: np.ndarray) -> np.ndarray:
        return scipy.fft.dctn(v, type=2, axes=range(1, v.ndim), norm="ortho").reshape(len(v), -1)

    def _backward(self, w: np.ndarray) -> np.ndarray:
        v = w.reshape(len(w), *self.signal_shape)
        return scipy.fft.idctn(v, type=2, axes=range(1, v.ndim), norm="ortho")


class SpikeOperator(TransformOperator):
    """The identity: function m is 1 at sample m and 0 elsewhere.

    Parameters
    ----------
    shape : int or tuple of one to three ints
        Of the signal, image or volume; N is their product.
    """

    label = "spike"

    def names(self, J: np.ndarray, places: Callable[[np.ndarray], list[str]]) -> list[str]:
        """Such as "spike at 12"."""
        return [f"spike at {place}" for place in places(J)]

    def adjoint(self, V: Array) -> Array:
        """V itself, not a copy."""
        self._check_rows(V)
        return V

    def _forward(self, v: np.ndarray) -> np.ndarray:
        return v.reshape(len(v), -1).copy()

    def _backward(self, w: np.ndarray) -> np.ndarray:
        return w.reshape(len(w), *self.signal_shape).copy()


def check_shape(shape: Any) -> tuple[int, ...]:
    """shape as a tuple of one to three sizes; ValueError if it is none."""
    try:
        sizes = tuple(shape)
    except TypeError:  # one size, or no size at all
        sizes = (shape,)
    if not 1 <= len(sizes) <= 3 or not all(is_whole(n, 1) for n in sizes):
        raise ValueError(f"shape must be one to three integers >= 1, got {shape!r}.")
    return tuple(int(n) for n in sizes)
