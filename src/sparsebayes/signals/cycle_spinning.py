"""The average of a denoised signal over circular shifts, all of them at once.

A coefficient of level j depends on a shift only through its remainder by 2^j: k shifts have at most
min(k, 2^j) different transforms at that level, of n/2^j samples each. They are computed as a tree: the signal
and the signal shifted by one sample are halved, then what is coarse of each of them likewise, and so on. With
all shifts this is the undecimated transform (`pywt.swtn`); with fewer it is as much of it as they need. Since
the way back is linear, branches are averaged wherever they meet. Time and memory are those of at most log2(k)
arrays of N samples and of a few more for the coarse levels, instead of k transforms.

Where an axis has an odd number of samples the last one is set aside, a shift changes more than a place on the
grid, and what is coarse of each shift is transformed on its own.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pywt

from sparsebayes.signals.pointwise import ShiftedVariance
from sparsebayes.signals.rules import Rule
from sparsebayes.signals.wavelet_transform import MODE, Band, Block, WaveletOperator

Move = tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """A shift of the signal as far as one level knows it.

    Parameters
    ----------
    offset : tuple of int
        The shift along each axis, in samples of the signal.
    moves : list of tuple of int
        What is left of the shifts that pass through here, in samples of this level.
    """

    offset: Move
    moves: list[Move]


class CycleSpinning:
    """Shrinks the coefficients of several circular shifts of a signal, and averages what they give.

    Parameters
    ----------
    operator : WaveletOperator
        The wavelets on the signal.
    rule : Rule
        What is kept of each coefficient.
    moves : list of tuple of int
        The shifts along each axis, the shift by nothing among them.
    variance : ShiftedVariance, optional
        Told of the γ of every coefficient.
    """

    def __init__(
        self, operator: WaveletOperator, rule: Rule, moves: list[Move], variance: ShiftedVariance | None = None
    ) -> None:
        self.operator, self.rule, self.variance = operator, rule, variance
        self.moves = moves
        self.numbers = {band.where.start: number for number, band in enumerate(operator.bands)}

    def average(self, signal: np.ndarray) -> np.ndarray:
        """The posterior mean of the signal, averaged over the shifts.

        Parameters
        ----------
        signal : ndarray of the shape of the operator
            The samples.

        Returns
        -------
        ndarray of that shape
            The average.
        """
        root = Branch((0,) * signal.ndim, self.moves)
        return self._average(self.operator.block, signal[None], [root])[0]

    def _average(self, block: Block, v: np.ndarray, branches: list[Branch]) -> np.ndarray:
        """The averages over the moves of each branch, in the shape of v, (branches, *block.shape)."""
        if block.coarser is None:
            return self._shrunk(v, block.details[0], branches)
        if block.edges:
            return self._one_by_one(block, v, branches)
        children, parents = self._children(block, branches)
        axes = tuple(range(v.ndim - 1))
        parts = [np.stack([np.roll(v[p], bits, axes) for p, bits in parents])]
        del v
        for axis in block.axes:
            parts = [half for part in parts for half in pywt.dwt(part, self.operator.wavelet, MODE, axis=axis + 1)]
        for k, band in enumerate(block.details, start=1):
            parts[k] = self._shrunk(parts[k], band, children)
        parts[0] = self._average(block.coarser, parts[0], children)
        for axis in reversed(block.axes):
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [pywt.idwt(a, d, self.operator.wavelet, MODE, axis=axis + 1) for a, d in pairs]
        total = np.zeros((len(branches), *block.shape))
        for (p, bits), child, part in zip(parents, children, parts[0], strict=True):
            share = len(child.moves) / len(branches[p].moves)
            total[p] += share * np.roll(part, [-b for b in bits], axes)
        return total

    def _children(self, block: Block, branches: list[Branch]) -> tuple[list[Branch], list[tuple[int, Move]]]:
        """The branches of the next level, and for each the number of its parent and the shift from it."""
        children, parents = [], []
        scale = [n // m for n, m in zip(self.operator.signal_shape, block.shape, strict=True)]
        halved = [2 if k in block.axes else 1 for k in range(len(scale))]
        for p, branch in enumerate(branches):
            groups = defaultdict(list)
            for move in branch.moves:
                bits = tuple(m % h for m, h in zip(move, halved, strict=True))
                groups[bits].append(tuple(m // h for m, h in zip(move, halved, strict=True)))
            for bits, moves in groups.items():
                offset = tuple(o + b * s for o, b, s in zip(branch.offset, bits, scale, strict=True))
                children.append(Branch(offset, moves))
                parents.append((p, bits))
        return children, parents

    def _shrunk(self, w: np.ndarray, band: Band, branches: list[Branch]) -> np.ndarray:
        """The shrunk coefficients of a band, (branches, …), whose variances are noted."""
        gamma = self.rule.gamma(w, self.numbers[band.where.start])
        if self.variance is not None:
            weights = [len(branch.moves) / len(self.moves) for branch in branches]
            variance = self.rule.variance(w, self.numbers[band.where.start], gamma)
            self.variance.add_band(band, variance, [branch.offset for branch in branches], weights)
        gamma *= w
        return gamma

    def _variances(self, rest: WaveletOperator, w: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """The expected squared errors of the coefficients of a coarse signal, (k, size of rest)."""
        parts = ((number, band.where) for number, band in enumerate(rest.bands))
        return np.concatenate([self.rule.variance(w[:, k], number, gamma[:, k]) for number, k in parts], axis=1)

    def _one_by_one(self, block: Block, v: np.ndarray, branches: list[Branch]) -> np.ndarray:
        """The averages where an axis is odd: every move has a transform of its own, some moves at a time."""
        rest = self.operator.coarse(block)
        total, axes = np.zeros_like(v), tuple(range(v.ndim - 1))
        every = ((p, move) for p, branch in enumerate(branches) for move in branch.moves)
        together = max(len(v), 2 * sum(self.operator.levels))
        while chosen := list(itertools.islice(every, together)):
            w = rest.analyze(np.stack([np.roll(v[p], move, axes) for p, move in chosen]))
            gamma = np.empty_like(w)
            for number, band in enumerate(rest.bands):
                gamma[:, band.where] = self.rule.gamma(w[:, band.where], number)
            if self.variance is not None:
                places = [(branches[p].offset, move) for p, move in chosen]
                self.variance.add_coarse(rest, self._variances(rest, w, gamma), places, 1 / len(self.moves))
            for (p, move), part in zip(chosen, rest.synthesize(gamma * w), strict=True):
                total[p] += np.roll(part, [-m for m in move], axes) / len(branches[p].moves)
        return total
