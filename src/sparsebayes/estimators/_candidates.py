"""Bookkeeping of candidate functions: their numbers, and the rows of X they are centred at."""

from __future__ import annotations

import numpy as np

from sparsebayes.bases import BoundBasis, BoundConcatenation, BoundPrecomputed, Concatenation, Precomputed


def is_pairwise(kernel: object) -> bool:
    """Whether X is a kernel matrix rather than rows of inputs."""
    if isinstance(kernel, Concatenation):
        return any(is_pairwise(part) for part in kernel.parts)
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def candidate_numbers(bound: BoundBasis, rows: np.ndarray, n: int) -> np.ndarray:
    """Numbers of the functions of `bound`, bound to `rows` out of n, in the list all n rows would have given.

    A function centred at a row counts by that row; a part without centres keeps the order it has.
    """
    if isinstance(bound, BoundConcatenation):
        start, numbers = 0, []
        for part in bound.parts:
            numbers.append(start + candidate_numbers(part, rows, n))
            start += _count(part, n)
        return np.concatenate(numbers)
    return rows if _one_a_row(bound) else np.arange(bound.n_functions)


def centres(bound: BoundBasis, n_features: int) -> np.ndarray:
    """The centres (K, d) of those functions that have one, in the order of the functions."""
    if isinstance(bound, BoundConcatenation):
        return np.concatenate([centres(part, n_features) for part in bound.parts])
    return np.empty((0, n_features)) if bound.vectors is None else bound.vectors


def _count(bound: BoundBasis, n: int) -> int:
    """How many functions all n rows would have given."""
    if isinstance(bound, BoundConcatenation):
        return sum(_count(part, n) for part in bound.parts)
    return n if _one_a_row(bound) else bound.n_functions


def _one_a_row(bound: BoundBasis) -> bool:
    return bound.vectors is not None or isinstance(bound, BoundPrecomputed)
