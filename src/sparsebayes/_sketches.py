"""Few rows that stand for all: chosen by hash values of their contents, so that their order does not matter.

Every row has a number u between 0 and 1 that looks random and depends on its values alone. The rows with the smallest
such numbers are a sample of all rows; with −log(u)/weight in place of u they are a weighted sample without
replacement. Either can be found part by part: the smallest of two parts are among the smallest of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, float_bits, is_numpy, namespace, to_numpy

SPREAD, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def hashes(X: Array, seed: int = 0) -> Array:
    """A 64-bit number for each row of X (n, d) that depends on its values alone, (n,); signed unless X is of NumPy."""
    bits = float_bits(X + 0.0)  # −0 becomes 0
    found = namespace(bits).full_like(bits[:, 0], seed + 1)
    with np.errstate(over="ignore"):
        for k in range(bits.shape[1]):
            found = _mixed(found * _constant(SPREAD, bits) + bits[:, k])
    return found


def _mixed(x: Array) -> Array:
    """The finaliser of SplitMix64: every bit depends on every bit."""
    x = (x ^ _shifted(x, 30)) * _constant(FIRST, x)
    x = (x ^ _shifted(x, 27)) * _constant(SECOND, x)
    return x ^ _shifted(x, 31)


def _shifted(x: Array, n: int) -> Array:
    """x shifted to the right by n bits, zeros coming in; of the integers of other libraries, which have a sign."""
    return x >> np.uint64(n) if is_numpy(x) else (x >> n) & ((1 << (64 - n)) - 1)


def _constant(value: int, like: Array) -> Any:
    """A number of 64 bits, as a signed one if the integers of that library have a sign."""
    return np.uint64(value) if is_numpy(like) else value - (1 << 64) * (value >> 63)


def uniform(X: Array, seed: int = 0) -> Array:
    """A number between 0 and 1 for each row of X (n, d), (n,)."""
    found = _shifted(hashes(X, seed), 11)
    return (namespace(found).astype(found, namespace(found).float64) + 0.5) * 2.0**-53


def projections(X: Any) -> np.ndarray:
    """The products (n,) of SciPy-sparse rows with a fixed vector, each by itself: they do not depend on other rows."""
    rows = X.tocsr(copy=True)
    rows.sum_duplicates()
    return np.asarray(rows @ np.random.default_rng(0).standard_normal(X.shape[1]))


def draw_keys(X: Array, weights: Array, seed: int) -> Array:
    """Keys (n,) of rows X (n, d): the rows with the smallest ones are drawn in proportion to their weights (n,) > 0."""
    return -namespace(X).log(uniform(X, seed)) / weights


def smallest(keys: Array, most: int) -> np.ndarray:
    """The positions of the `most` smallest keys, ascending by key."""
    if not is_numpy(keys):
        return to_numpy(namespace(keys).argsort(keys, stable=True)[: min(most, int(keys.shape[0]))])
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
