"""The periodised discrete wavelet transform of any shape as an orthonormal operator.

A step of the transform halves an axis: n samples become n/2 samples of a coarser signal and n/2 wavelet
coefficients, which is an orthogonal map if n is even. If n is odd the last sample is set aside before the
step and transformed along the remaining axes; in one dimension it becomes a coefficient unchanged. A
permutation and orthogonal maps of parts make an orthogonal map, so that Φ is exactly orthonormal for every
length, not only for powers of two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pywt
import scipy.sparse

from sparsebayes._checks import is_whole
from sparsebayes.signals.transforms import TransformOperator

COARSEST = 3  # by default an axis of n samples is halved log2(n) − 3 times, as in SE07
MODE = "periodization"
EVEN = 1e-6  # share of its energy: a first moment below it is that of a function without a place


@dataclass(frozen=True)
class Band:
    """Coefficients of one kind.

    Parameters
    ----------
    where : slice
        Their place in the flat vector of coefficients.
    level : int
        Their level; 1 is the finest.
    kind : str
        For every axis "d" (differences), "a" (averages) or "n" (not transformed at this level); empty for the
        coarse coefficients that remain at the end.
    shape : tuple of int
        The shape of the coefficients as an array.
    """

    where: slice
    level: int
    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A part of the signal at some level, and how it is transformed.

    Parameters
    ----------
    shape : tuple of int
        The shape of this part.
    edges : tuple of (axis, Block)
        For each odd axis, the block that the last slab along this axis becomes.
    axes : tuple of int
        The axes that are halved.
    details : tuple of Band
        The bands that this step writes. A block that is not transformed any further is one band.
    coarser : Block, optional
        The coarser signal that the step leaves.
    """

    shape: tuple[int, ...]
    edges: tuple[tuple[int, Block], ...] = ()
    axes: tuple[int, ...] = ()
    details: tuple[Band, ...] = ()
    coarser: Block | None = None

    def bands(self) -> Iterator[Band]:
        """All bands of this block, coarse to fine."""
        if self.coarser is not None:
            yield from self.coarser.bands()
        for _, edge in self.edges:
            yield from edge.bands()
        yield from self.details


@lru_cache(maxsize=256)
def plan(shape: tuple[int, ...], levels: tuple[int, ...], start: int = 0, level: int = 1) -> Block:
    """The steps of the transform of a signal.

    Parameters
    ----------
    shape : tuple of int
        The shape of the signal.
    levels : tuple of int
        Axis k is halved `levels[k]` times while it has at least two samples.
    start : int
        Where the coefficients begin in the flat vector.
    level : int
        The level of the first step.

    Returns
    -------
    Block
        The signal, and how it is transformed.
    """
    axes = tuple(k for k, n in enumerate(shape) if n > 1 and levels[k] > 0)
    stop = start + math.prod(shape)
    if not axes:
        return Block(shape, details=(Band(slice(start, stop), level - 1, "", shape),))
    even, cuts = _cut(shape, axes)
    half = tuple(n // 2 if k in axes else n for k, n in enumerate(even))
    less = tuple(n - 1 if k in axes else n for k, n in enumerate(levels))
    coarser = plan(half, less, start, level + 1)
    count = position = math.prod(half)
    edges = []
    for axis, cut in cuts:
        edges.append((axis, plan(cut, levels, start + position, level)))
        position += math.prod(cut)
    letters = ("ad" if k in axes else "n" for k in range(len(shape)))
    kinds = ["".join(kind) for kind in itertools.product(*letters)][1:]  # all but averages along every axis
    firsts = range(stop - len(kinds) * count, stop, count)
    details = [Band(slice(k, k + count), level, kind, half) for k, kind in zip(firsts, kinds, strict=True)]
    return Block(shape, tuple(edges), axes, tuple(details), coarser)


def _cut(shape: tuple[int, ...], axes: Sequence[int]) -> tuple[tuple[int, ...], list[tuple[int, tuple[int, ...]]]]:
    """The shape without the last slab along every odd axis, and (axis, shape) of these slabs."""
    cuts = []
    for axis in axes:
        if shape[axis] % 2:
            cuts.append((axis, _replaced(shape, axis, 1)))
            shape = _replaced(shape, axis, shape[axis] - 1)
    return shape, cuts


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
        How often every axis is halved while it has at least two samples: one number, or one per axis. By
        default log2(n) − 3 times, at least once, for an axis of n samples.

    Attributes
    ----------
    bands : tuple of Band
        The coefficients that belong together, coarse to fine.
    """

    def __init__(
        self, shape: int | Sequence[int], wavelet: str = "sym8", level: int | tuple[int, ...] | None = None
    ) -> None:
        super().__init__(shape)
        self.wavelet = as_orthogonal(wavelet)
        self.levels = _check_level(level, self.signal_shape)
        self.block = plan(self.signal_shape, self.levels)
        self.bands = tuple(self.block.bands())

    def coarse(self, block: Block) -> WaveletOperator:
        """The wavelets on the coarser signal that even halvings leave.

        Parameters
        ----------
        block : Block
            The coarser signal, a block of this operator.

        Returns
        -------
        WaveletOperator
            Its bands are the first ones of this operator.
        """
        halvings = ((n // m).bit_length() - 1 for n, m in zip(self.signal_shape, block.shape, strict=True))
        left = tuple(level - k for level, k in zip(self.levels, halvings, strict=True))
        return WaveletOperator(block.shape, self.wavelet, left)

    def factors(self) -> Iterator[tuple[Band, tuple[Any, ...]]]:
        """Every band with its functions, which are products of functions along the axes.

        Only those of one step are in memory at a time.

        Yields
        ------
        band : Band
        along : tuple of sparse arrays
            For each axis of n samples an (n, m) array, where m is the size of the band along it.
        """
        waiting = [(self.block, tuple(scipy.sparse.eye_array(n, format="csr") for n in self.signal_shape))]
        while waiting:
            block, along = waiting.pop()
            if block.coarser is None:
                yield block.details[0], along
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

    @property
    def label(self) -> str:
        """The name of the wavelet."""
        return str(self.wavelet.name)

    def names(self, J: np.ndarray, places: Callable[[np.ndarray], list[str]]) -> list[str]:
        """Such as "sym8 level 3 at 0.41"; in images the kind of the band comes after the level.

        The place of a wavelet is where its energy has its centre. The coarsest functions are scaling functions.
        """
        J = np.asarray(J, dtype=np.int64)
        kinds, centres = np.empty(len(J), dtype=object), np.empty(len(J), dtype=np.int64)
        for band in self.bands:
            own = np.flatnonzero((J >= band.where.start) & (J < band.where.stop))
            if len(own):
                kinds[own] = self._kind(band)
                centres[own] = self._centres(band, J[own] - band.where.start)
        return [f"{self.label} {kind} at {place}" for kind, place in zip(kinds, places(centres), strict=True)]

    def _kind(self, band: Band) -> str:
        """What the functions of a band are called."""
        kind = f" {band.kind}" if len(self.signal_shape) > 1 else ""
        return f"level {band.level}{kind}" if band.kind else f"scaling level {band.level}"

    def _centres(self, band: Band, positions: np.ndarray) -> np.ndarray:
        """The samples at the centres of functions of a band: that of the first, and shifts of it."""
        energy = self.columns([band.where.start])[:, 0].reshape(self.signal_shape) ** 2
        shifts = np.unravel_index(positions, band.shape)
        along = []
        for axis, (n, m) in enumerate(zip(self.signal_shape, band.shape, strict=True)):
            others = tuple(k for k in range(energy.ndim) if k != axis)
            first = _circular_centre(energy.sum(axis=others))
            along.append(np.floor(first + shifts[axis] * (n / m)).astype(np.int64) % n)
        return np.ravel_multi_index(tuple(along), self.signal_shape)

    def _forward(self, v: np.ndarray) -> np.ndarray:
        out = np.empty((len(v), self.shape[1]))
        self._analyze(self.block, v, out)
        return out

    def _backward(self, w: np.ndarray) -> np.ndarray:
        v = self._synthesize(self.block, w)
        return v.copy() if self.block.coarser is None else v  # without a step v is w itself

    def _analyze(self, block: Block, v: np.ndarray, out: np.ndarray) -> None:
        for axis, edge in block.edges:
            v, last = np.split(v, [-1], axis=axis + 1)
            self._analyze(edge, last, out)
        parts = [v]
        for axis in block.axes:
            parts = [half for part in parts for half in pywt.dwt(part, self.wavelet, MODE, axis=axis + 1)]
        del v
        for band, part in zip(block.details, parts[-len(block.details) :], strict=True):
            out[:, band.where] = part.reshape(len(part), -1)
        del parts[1:]
        if block.coarser is not None:
            self._analyze(block.coarser, parts[0], out)

    def _synthesize(self, block: Block, w: np.ndarray) -> np.ndarray:
        parts = [w[:, band.where].reshape(-1, *band.shape) for band in block.details]
        if block.coarser is not None:
            parts.insert(0, self._synthesize(block.coarser, w))
        for axis in reversed(block.axes):
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [pywt.idwt(a, d, self.wavelet, MODE, axis=axis + 1) for a, d in pairs]
        v = parts[0]
        for axis, edge in reversed(block.edges):
            v = np.concatenate([v, self._synthesize(edge, w)], axis=axis + 1)
        return v


def _circular_centre(energy: np.ndarray) -> float:
    """The centre of energy (n,) on a circle of n samples, the middle if it is spread evenly."""
    n = len(energy)
    moment = complex(energy @ np.exp(2j * np.pi * (np.arange(n) + 0.5) / n))
    if abs(moment) < EVEN * energy.sum():
        return n / 2
    return float(np.angle(moment) / (2 * np.pi) % 1.0 * n)


def _replaced(values: tuple[Any, ...], axis: int, new: Any) -> tuple[Any, ...]:
    return (*values[:axis], new, *values[axis + 1 :])


def _halves(functions: Any, wavelet: Any) -> dict[str, Any]:
    """The averages and the differences ("a", "d") of an even number of functions along an axis."""
    m = functions.shape[1]
    unit = np.zeros(m // 2)
    unit[0] = 1.0
    pairs = {"a": pywt.idwt(unit, None, wavelet, MODE), "d": pywt.idwt(None, unit, wavelet, MODE)}
    return {kind: functions @ _shifted(first, m // 2) for kind, first in pairs.items()}


def _shifted(first: np.ndarray, count: int) -> scipy.sparse.csr_array:
    """The circular shifts of a vector by 0, 2, 4, … as the columns of a sparse array."""
    places = np.flatnonzero(first)
    rows = (places[None, :] + 2 * np.arange(count)[:, None]) % len(first)
    values = np.broadcast_to(first[places], rows.shape)
    columns = np.broadcast_to(np.arange(count)[:, None], rows.shape)
    return scipy.sparse.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(first), count))


def as_orthogonal(wavelet: Any) -> Any:
    """The wavelet of PyWavelets; ValueError unless it is orthogonal.

    Parameters
    ----------
    wavelet : str or pywt.Wavelet
        A discrete wavelet, or its name.

    Returns
    -------
    pywt.Wavelet
        The wavelet.
    """
    given = isinstance(wavelet, pywt.Wavelet)
    found = _named(wavelet.name if given else str(wavelet))  # a new object, as copies of a wavelet lose their flags
    if given and (found is None or found.filter_bank != wavelet.filter_bank):
        found = wavelet  # one that is not built in
    if found is None:
        raise ValueError(
            f"wavelet must be a discrete wavelet of PyWavelets ('haar', 'db4', 'sym8', ...), got {wavelet!r}."
        )
    if found.name == "dmey":
        raise ValueError(
            "wavelet must be orthogonal, got 'dmey', whose filters are cut off and orthonormal only to some "
            "1e-3, so that it does not reconstruct a signal exactly: use 'haar', 'dbN', 'symN' or 'coifN'."
        )
    if not found.orthogonal:
        raise ValueError(
            f"wavelet must be orthogonal, got {found.name!r}, whose analysis is not the adjoint of its "
            "synthesis, so that noise is correlated in the coefficients: use 'haar', 'dbN', 'symN', 'coifN'."
        )
    return found


@lru_cache(maxsize=128)
def _named(wavelet: Any) -> Any:
    """The discrete wavelet of this name; None if there is none."""
    return pywt.Wavelet(wavelet) if wavelet in pywt.wavelist(kind="discrete") else None


def _check_level(level: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """How often each axis is halved, (axes,)."""
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
