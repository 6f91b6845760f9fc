"""Few rows that stand for all: chosen by hash values of their contents, so that chunks and their order do not matter.

Every row has a number between 0 and 1 that looks random and depends on its values alone. The rows with the smallest
such numbers are a sample of all rows; with −log(u)/weight in place of u they are a weighted sample without
replacement. Either can be found part by part: the smallest of two parts are among the smallest of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SPREAD, FIRST, SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def hashes(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """A 64-bit number for each row of X (n, d) that depends on its values alone, (n,)."""
    bits = np.ascontiguousarray(X + 0.0, dtype=np.float64).view(np.uint64)  # −0 becomes 0
    found = np.full(len(X), seed + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in bits.T:
            found = _mixed(found * SPREAD + column)
    return found


def _mixed(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: every bit depends on every bit."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


def uniform(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """A number between 0 and 1 for each row of X (n, d), (n,)."""
    return ((hashes(X, seed) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


@dataclass(frozen=True, eq=False)
class SmallestKeys:
    """The rows with the smallest keys, ascending, rows with equal keys once if they are to be distinct.

    keys : (k,).  rows : (k, q), whatever is to be kept of each.  most : how many are kept.
    """

    keys: np.ndarray
    rows: np.ndarray
    most: int
    distinct: bool = False

    @classmethod
    def of(cls, keys: np.ndarray, rows: np.ndarray, most: int, distinct: bool = False) -> SmallestKeys:
        """The smallest of the keys (n,), with their rows (n, q)."""
        order = np.argsort(keys, kind="stable")
        if distinct:
            order = order[np.append(True, np.diff(keys[order]) != 0)] if len(order) else order
        order = order[:most]
        return cls(keys[order], rows[order], most, distinct)

    def __add__(self, other: SmallestKeys) -> SmallestKeys:
        """The smallest of both."""
        keys, rows = np.concatenate([self.keys, other.keys]), np.concatenate([self.rows, other.rows])
        return SmallestKeys.of(keys, rows, self.most, self.distinct)
