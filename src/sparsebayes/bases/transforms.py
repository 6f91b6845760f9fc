"""The periodised discrete wavelet transform of any shape as an orthonormal operator.

A step of the transform halves an axis: n samples become n/2 of a coarser signal and n/2 wavelet coefficients,
an orthogonal map as long as n is even. Where n is odd the last sample is set aside before the step: it is
transformed along the remaining axes (on a signal nothing is left to do: it becomes a coefficient as it is).
A permutation and orthogonal maps of parts make an orthogonal map, so that Φ is exactly orthonormal for every
length, whether or not it is a power of two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pywt
import scipy.sparse

from sparsebayes._checks import is_whole
from sparsebayes.bases.orthonormal import TransformOperator

COARSEST = 3  # an axis of n samples is halved log2(n) − 3 times unless told otherwise, as in SE07
MODE = "periodization"


@dataclass(frozen=True)
class Band:
    """Coefficients of one kind: `where` they are in the flat vector, on which `level` (1 is the finest).

    kind : for every axis "d" (differences), "a" (averages) or "n" (not transformed at this level); empty for
        the coarse coefficients left at the end.
    shape : of the coefficients as an array.
    """

    where: slice
    level: int
    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A part of the signal at some level, and what is done to it.

    edges : (axis, the block that its last slab along this axis becomes), one for each odd axis.
    axes : those halved.  details : the bands this step writes.  coarser : what the step leaves.
    coarse : the band of a block that nothing more is done to.
    """

    shape: tuple[int, ...]
    edges: tuple[tuple[int, Block], ...] = ()
    axes: tuple[int, ...] = ()
    details: tuple[Band, ...] = ()
    coarser: Block | None = None
    coarse: Band | None = None

    def bands(self) -> Iterator[Band]:
        """All bands of this block, coarse to fine."""
        if self.coarse is not None:
            yield self.coarse
        if self.coarser is not None:
            yield from self.coarser.bands()
        for _, edge in self.edges:
            yield from edge.bands()
        yield from self.details


@lru_cache(maxsize=256)
def plan(shape: tuple[int, ...], levels: tuple[int, ...], start: int = 0, level: int = 1) -> Block:
    """The steps for a signal of this shape; axis k is halved `levels[k]` times while it has two samples.

    start : where its coefficients begin in the flat vector.
    """
    axes = tuple(k for k, n in enumerate(shape) if n > 1 and levels[k] > 0)
    stop = start + math.prod(shape)
    if not axes:
        return Block(shape, coarse=Band(slice(start, stop), level - 1, "", shape))
    even, cuts = _cut(shape, axes)
    half = tuple(n // 2 if k in axes else n for k, n in enumerate(even))
    less = tuple(n - 1 if k in axes else n for k, n in enumerate(levels))
    coarser = plan(half, less, start, level + 1)
    count = position = math.prod(half)
    edges = []
    for axis, cut in cuts:
        edges.append((axis, plan(cut, levels, start + position, level)))
        position += math.prod(cut)
    kinds = _kinds(len(shape), axes)[1:]  # all but the averages along every axis
    firsts = range(stop - len(kinds) * count, stop, count)
    details = [Band(slice(k, k + count), level, kind, half) for k, kind in zip(firsts, kinds, strict=True)]
    return Block(shape, tuple(edges), axes, tuple(details), coarser)


def _cut(
    shape: tuple[int, ...], axes: Sequence[int]
) -> tuple[tuple[int, ...], list[tuple[int, tuple[int, ...]]]]:
    """What is left of a shape once the last slab along every odd axis is set aside; (axis, shape) of each."""
    cuts = []
    for axis in axes:
        if shape[axis] % 2:
            cuts.append((axis, _with(shape, axis, 1)))
            shape = _with(shape, axis, shape[axis] - 1)
    return shape, cuts


def _with(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


def _kinds(ndim: int, axes: Sequence[int]) -> list[str]:
    """Averages and differences along every axis that is halved, averages along all of them first."""
    kinds = [""]
    for axis in range(ndim):
        kinds = [kind + letter for kind in kinds for letter in ("ad" if axis in axes else "n")]
    return kinds


class WaveletOperator(TransformOperator):
    """Φ whose columns are the periodised wavelets on a signal of the given shape, N×N and orthonormal.

    `analyze` and `synthesize` take O(N) operations.

    Parameters
    ----------
    shape : int or tuple of one to three ints
        Of the signal, image or volume; N is their product, samples in C order.
    wavelet : str
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", …
    level : int or tuple of ints, optional
        How often every axis is halved, while it has two samples; one number, or one for each axis. By default
        log2(n) − 3 times, at least once, for an axis of n samples.

    Attributes
    ----------
    bands : tuple of Band
        Which coefficients belong together.
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        wavelet: str = "sym8",
        level: int | tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(shape)
        self.wavelet = as_orthogonal(wavelet)
        self.levels = _check_level(level, self.signal_shape)
        self.block = plan(self.signal_shape, self.levels)
        self.bands = tuple(self.block.bands())

    def squared_factors(self) -> Iterator[tuple[Band, tuple[scipy.sparse.csr_array, ...]]]:
        """Every band with the squares of its functions, which are products of functions along the axes:

        for each axis of n samples a sparse (n, m) array, m being the size of the band along it.
        """
        whole = tuple(scipy.sparse.eye_array(n, format="csr") for n in self.signal_shape)
        for band, along in self._factors(whole):
            yield band, tuple(functions.power(2) for functions in along)

    def _factors(self, whole: tuple[Any, ...]) -> Iterator[tuple[Band, tuple[Any, ...]]]:
        """The bands and their functions along every axis; of long ones no more than a step's are held."""
        waiting = [(self.block, whole)]
        while waiting:
            block, along = waiting.pop()
            if block.coarser is None:
                assert block.coarse is not None
                yield block.coarse, along
                continue
            for axis, edge in block.edges:
                waiting.append((edge, _replaced(along, axis, along[axis][:, -1:])))
                along = _replaced(along, axis, along[axis][:, :-1])
            halves = {axis: _halves(along[axis], self.wavelet) for axis in block.axes}
            for band in block.details:
                kinds = enumerate(band.kind)
                yield band, tuple(along[k] if kind == "n" else halves[k][kind] for k, kind in kinds)
            coarser = tuple(halves[k]["a"] if k in halves else a for k, a in enumerate(along))
            waiting.append((block.coarser, coarser))
            del along, halves, coarser

    def _forward(self, v: np.ndarray) -> np.ndarray:
        out = np.empty((len(v), self.shape[1]))
        self._analyze(self.block, v, out)
        return out

    def _backward(self, w: np.ndarray) -> np.ndarray:
        v = self._synthesize(self.block, w)
        return v.copy() if self.block.coarser is None else v  # nothing was done to it: w itself

    def _analyze(self, block: Block, v: np.ndarray, out: np.ndarray) -> None:
        if block.coarser is None:
            _store(out, block.coarse, v)
            return
        for axis, edge in block.edges:
            self._analyze(edge, _slab(v, axis, -1), out)
            v = _slab(v, axis, 0)
        parts = [v]
        for axis in block.axes:
            parts = [half for part in parts for half in pywt.dwt(part, self.wavelet, MODE, axis=axis + 1)]
        del v
        for band, part in zip(block.details, parts[1:], strict=True):
            _store(out, band, part)
        del parts[1:]
        self._analyze(block.coarser, parts[0], out)

    def _synthesize(self, block: Block, w: np.ndarray) -> np.ndarray:
        if block.coarser is None:
            return _load(w, block.coarse)
        parts = [self._synthesize(block.coarser, w), *(_load(w, band) for band in block.details)]
        for axis in reversed(block.axes):
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [pywt.idwt(a, d, self.wavelet, MODE, axis=axis + 1) for a, d in pairs]
        v = parts[0]
        for axis, edge in reversed(block.edges):
            v = np.concatenate([v, self._synthesize(edge, w)], axis=axis + 1)
        return v


def _store(out: np.ndarray, band: Band | None, values: np.ndarray) -> None:
    assert band is not None
    out[:, band.where] = values.reshape(len(values), -1)


def _load(w: np.ndarray, band: Band | None) -> np.ndarray:
    assert band is not None
    return w[:, band.where].reshape(-1, *band.shape)


def _slab(v: np.ndarray, axis: int, which: int) -> np.ndarray:
    """The last slab of a batch along `axis` (which = −1), or all before it (0)."""
    index = [slice(None)] * v.ndim
    index[axis + 1] = slice(-1, None) if which else slice(0, -1)
    return v[tuple(index)]


def _replaced(along: tuple[Any, ...], axis: int, functions: Any) -> tuple[Any, ...]:
    return (*along[:axis], functions, *along[axis + 1 :])


def _halves(functions: Any, wavelet: Any) -> dict[str, Any]:
    """The averages and the differences ("a", "d") of functions along an axis, an even number of them."""
    m = functions.shape[1]
    unit = np.zeros(m // 2)
    unit[0] = 1.0
    pairs = {"a": pywt.idwt(unit, None, wavelet, MODE), "d": pywt.idwt(None, unit, wavelet, MODE)}
    return {kind: functions @ _shifted(first, m // 2) for kind, first in pairs.items()}


def _shifted(first: np.ndarray, count: int) -> scipy.sparse.csr_array:
    """Its circular shifts by 0, 2, 4, … as the columns of a sparse array."""
    places = np.flatnonzero(first)
    rows = (places[None, :] + 2 * np.arange(count)[:, None]) % len(first)
    values = np.broadcast_to(first[places], rows.shape)
    columns = np.broadcast_to(np.arange(count)[:, None], rows.shape)
    return scipy.sparse.csr_array(
        (values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(first), count)
    )


def as_orthogonal(wavelet: Any) -> Any:
    """The wavelet of this name, refused unless it is orthogonal."""
    found = _built_in(wavelet) if isinstance(wavelet, pywt.Wavelet) else _named(str(wavelet))
    if found is None:
        raise ValueError(
            f"wavelet must be a discrete wavelet of PyWavelets ('haar', 'db4', 'sym8', ...), got {wavelet!r}."
        )
    if found.name == "dmey":
        raise ValueError(
            "wavelet must be orthogonal, got 'dmey', whose filters are cut off and orthonormal only to some "
            "1e-3: it does not give a signal back exactly. Take 'haar', 'dbN', 'symN' or 'coifN'."
        )
    if not found.orthogonal:
        raise ValueError(
            f"wavelet must be orthogonal, got {found.name!r}: for a biorthogonal one analysis is not the "
            "adjoint of synthesis, so that noise in the coefficients is correlated. Take 'haar', 'dbN', "
            "'symN' or 'coifN'."
        )
    return found


def _built_in(wavelet: Any) -> Any:
    """The wavelet of PyWavelets that this is, anew: a copy has lost its flags. One of its own as it is."""
    found = _named(wavelet.name)
    return found if found is not None and found.filter_bank == wavelet.filter_bank else wavelet


@lru_cache(maxsize=128)
def _named(wavelet: Any) -> Any:
    """The discrete wavelet of this name, None where there is none."""
    return pywt.Wavelet(wavelet) if wavelet in pywt.wavelist(kind="discrete") else None


def _check_level(level: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """How often each axis is halved."""
    most = [n.bit_length() - 1 for n in shape]
    if level is None:
        return tuple(min(max(k - COARSEST, 1), k) for k in most)
    each = level if isinstance(level, tuple) else (level,) * len(shape)
    if len(each) != len(shape) or not all(is_whole(k, 0) and k <= max(most) for k in each):
        raise ValueError(
            f"level must be None or an integer from 0 to {max(most)} for a signal of shape {shape}, which "
            f"cannot be halved more often, or a tuple of one for each axis, got {level!r}."
        )
    return tuple(min(int(k), limit) for k, limit in zip(each, most, strict=True))
