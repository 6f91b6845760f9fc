"""Few rows that stand for all: chosen by hash values of their contents, so that their order does not matter.

Every row has a number u between 0 and 1 that looks random and depends on its values alone. The rows with the smallest
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


def draw_keys(X: np.ndarray, weights: np.ndarray, seed: int) -> np.ndarray:
    """Keys (n,) of rows X (n, d): the rows with the smallest ones are drawn in proportion to their weights (n,) > 0."""
    return -np.log(uniform(X, seed)) / weights


def smallest(keys: np.ndarray, most: int) -> np.ndarray:
    """The positions of the `most` smallest keys, ascending by key."""
    if most < len(keys):
        few = np.argpartition(keys, most)[:most]
        return few[np.argsort(keys[few], kind="stable")]
    return np.argsort(keys, kind="stable")


@dataclass(frozen=True, eq=False)
class SmallestKeys:
    """The rows with the smallest keys, ascending.

    keys : (k,).  rows : (k, q), whatever is to be kept of each.  most : how many are kept.
    identity : (k,) equal for rows that are one, and are kept once; None if all of them count.
    """

    keys: np.ndarray
    rows: np.ndarray
    most: int
    identity: np.ndarray | None = None

    @classmethod
    def of(cls, keys: np.ndarray, rows: np.ndarray, most: int, identity: np.ndarray | None = None) -> SmallestKeys:
        """The smallest of the keys (n,), with their rows (n, q)."""
        if identity is None:
            order = smallest(keys, most)
        else:
            order = np.argsort(keys, kind="stable")
            order = order[np.sort(np.unique(identity[order], return_index=True)[1])][:most]
        return cls(keys[order], rows[order], most, None if identity is None else identity[order])

    def __add__(self, other: SmallestKeys) -> SmallestKeys:
        """The smallest of both."""
        keys, rows = np.concatenate([self.keys, other.keys]), np.concatenate([self.rows, other.rows])
        both = (self.identity, other.identity)
        identity = None if both[0] is None or both[1] is None else np.concatenate([both[0], both[1]])
        return SmallestKeys.of(keys, rows, self.most, identity)
