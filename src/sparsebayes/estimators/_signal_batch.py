"""What a denoiser is given: one signal or many, with or without channels, as a batch of signals of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes._checks import is_whole, warn
from sparsebayes.solvers.regression import checked_variance

MANY_ROWS = 32  # from which on a table may be an image
SQUARE = 2  # largest ratio of the sides of what may be an image
COLOURS = (3, 4)  # lengths of the last axis of what may be a colour image
SHORT, LONG = 8, 8  # samples of an axis that is hardly one of an image, if the other is so many times as long
FEW_COLOURS = 4  # smallest ratio of the other sides to that length


@dataclass(frozen=True, eq=False)
class SignalBatch:
    """Signals of one shape, each denoised on its own, and what array they were taken from.

    signals : (B, *shape), the channels of a signal one after the other.  many : whether there was an axis for several
    signals.  channels, axis : how many channels a signal has, and which of its axes they were; None and 0 without.
    """

    signals: np.ndarray
    many: bool
    channels: int | None = None
    axis: int = 0

    @classmethod
    def of(cls, X: Any, ndim: int, channel_axis: int | None) -> Self:
        """The signals of `ndim` axes in X as float64; ValueError says what is wrong with it."""
        axes = ndim + (channel_axis is not None)
        axis = _checked_axis(channel_axis, axes)
        values = _numbers(X)
        if values.ndim not in (axes, axes + 1):
            given = f"ndim={ndim}" + ("" if channel_axis is None else f" and channel_axis={channel_axis}")
            raise ValueError(
                f"X must have {axes} axes (one signal) or {axes + 1} (a batch) with {given}, got shape "
                f"{values.shape}; set ndim to the number of axes of one signal."
            )
        if not values.size:
            raise ValueError(f"X must have at least one sample, got shape {values.shape}.")
        values = values.astype(np.float64, copy=False)
        _refuse_infinity(values)
        many = values.ndim > axes
        signals = values if many else values[None]
        if channel_axis is None:
            batch = cls(signals, many)
        else:
            parted = np.moveaxis(signals, axis + 1, 1)
            batch = cls(parted.reshape(-1, *parted.shape[2:]), many, parted.shape[1], axis)
        batch._refuse_empty()
        return batch

    @property
    def single(self) -> bool:
        """Whether there is one signal, without an axis for signals or channels."""
        return not self.many and self.channels is None

    def variances(self, noise_variance: Any) -> list[float | None]:
        """The noise variance of each signal, given as one number or as one for each channel; None if unknown."""
        if self.channels is None or np.ndim(noise_variance) == 0:
            return [checked_variance(noise_variance, "noise_variance")] * len(self.signals)
        values = np.asarray(noise_variance)
        if values.shape != (self.channels,):
            raise ValueError(
                f"noise_variance must be one number or one for each of the {self.channels} channels, got shape "
                f"{values.shape}."
            )
        known = [checked_variance(each, "noise_variance") for each in values.tolist()]
        return known * (len(self.signals) // self.channels)

    def restored(self, values: Any) -> np.ndarray:
        """One array for each signal (B, *shape), in the shape of X."""
        found = np.asarray(values)
        if self.channels is not None:
            found = np.moveaxis(found.reshape(-1, self.channels, *found.shape[1:]), 1, self.axis + 1)
        return found if self.many else found[0]

    def _refuse_empty(self) -> None:
        """ValueError if a signal has no sample at all."""
        empty = np.isnan(self.signals).all(axis=tuple(range(1, self.signals.ndim)))
        if not empty.any():
            return
        signal, channel = divmod(int(empty.argmax()), self.channels or 1)
        places = ([] if self.channels is None else [f"channel {channel}"]) + ([f"signal {signal}"] if self.many else [])
        where = f" in {' of '.join(places)}: leave that {places[-1].split()[0]} out" if places else ""
        raise ValueError(f"X must have at least one sample that is not NaN, got NaN alone{where}.")


def warn_of_an_image(X: Any, ndim: int, channel_axis: int | None) -> None:
    """Warn if X has the shape of an image, and is taken for something else."""
    shape = tuple(np.shape(X))
    if channel_axis is not None or hasattr(X, "columns"):
        return
    if ndim == 1 and len(shape) == 2 and shape[0] >= MANY_ROWS and max(shape) <= SQUARE * min(shape):
        warn(
            f"X of shape {shape} is denoised as {shape[0]} separate signals of {shape[1]} samples, since ndim=1; if it "
            "is an image, use sparsebayes.denoise(X) or WaveletDenoiser(ndim=2)."
        )
    if ndim == len(shape) == 2 and min(shape) <= SHORT and max(shape) > LONG * min(shape):
        axis = int(np.argmin(shape))
        warn(
            f"X of shape {shape} is denoised as one image; if it holds {shape[axis]} signals of {max(shape)} samples, "
            f"use channel_axis={axis} of sparsebayes.denoise, or WaveletDenoiser(channel_axis={axis})."
        )
    if ndim > 1 and len(shape) == 3 and shape[2] in COLOURS and min(shape[:2]) > FEW_COLOURS * shape[2]:
        taken = "one volume" if ndim == 3 else f"{shape[0]} separate images of shape {shape[1:]}"
        warn(
            f"X of shape {shape} is denoised as {taken}; if it is a colour image, use channel_axis=-1 of "
            "sparsebayes.denoise, or WaveletDenoiser(ndim=2, channel_axis=-1)."
        )


def _checked_axis(channel_axis: Any, axes: int) -> int:
    """The axis of the channels, counted from 0; ValueError unless a signal of so many axes has it."""
    if channel_axis is None:
        return 0
    if not is_whole(channel_axis, -axes) or channel_axis >= axes:
        raise ValueError(
            f"channel_axis must be None or an integer from {-axes} to {axes - 1}, an axis of one signal with its "
            f"channels, got {channel_axis!r}."
        )
    return int(channel_axis) % axes


def _numbers(X: Any) -> np.ndarray:
    """X as an array of real numbers on the host: PyWavelets works there."""
    if np.ma.isMaskedArray(X):
        raise ValueError(
            "X must not be a masked array; give X.filled(numpy.nan), in which NaN marks the missing samples."
        )
    values = to_numpy(X) if is_foreign(X) else np.asarray(X)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got an array of dtype {values.dtype}.")
    return values


def _refuse_infinity(values: np.ndarray) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        place = tuple(int(k[0]) for k in np.nonzero(infinite))
        raise ValueError(f"X must hold finite numbers, or NaN for missing samples, got infinity at index {place}.")
