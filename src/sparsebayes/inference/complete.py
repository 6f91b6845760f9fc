"""Parts of a basis that are noise by another name: complete orthonormal ones, such as wavelets.

With all its functions in, and one precision for all of them, such a part adds sΦΦᵀ = sI to the covariance of
the targets. So does the noise: the dense evidence does not tell s from σ², which may end anywhere from all of
it to nothing. A sparse model that starts from nothing keeps a function for every row, and functions that are
judged by all of it are found idle though the sparse model needs them. So the dense model does without these
parts. Its σ² is then theirs and the noise's together: a guess at neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.bases import BoundBasis, BoundConcatenation


@dataclass(frozen=True, eq=False)
class Split:
    """A basis and those of its parts that a dense model can tell from noise.

    whole, dense : all functions, and those of these parts.  complete : numbers of the others among all.
    """

    whole: BoundBasis
    dense: BoundBasis
    complete: np.ndarray

    @classmethod
    def nowhere(cls, bound: BoundBasis) -> Split:
        """The dense model has all parts: nothing in it is noise that would have to be estimated."""
        return cls(bound, bound, np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, bound: BoundBasis, X: np.ndarray) -> Split:
        """Without the parts that are complete at the rows of X."""
        parts = bound.scaled_apart
        complete = [part.complete_at(X) for part in parts]
        if not any(complete):
            return cls.nowhere(bound)
        dense = tuple(part for part, is_noise in zip(parts, complete, strict=True) if not is_noise)
        functions = np.repeat(complete, [part.n_functions for part in parts])
        return cls(bound, BoundConcatenation(dense), np.flatnonzero(functions))

    def with_scales_of(self, dense: BoundBasis) -> BoundBasis:
        """The whole basis, its scales those that the dense parts have got; a complete part has none."""
        return self.whole.with_log_scales(dense.log_scales) if len(self.complete) else dense

    def among_all(self, functions: np.ndarray) -> np.ndarray:
        """Numbers among all functions, from those among the functions of the dense parts."""
        return np.delete(np.arange(self.whole.n_functions), self.complete)[functions]

    def complete_columns(self, X: np.ndarray) -> np.ndarray:
        """The functions of the complete parts at the rows of X, (n, complete)."""
        return self.whole.select(self.complete.tolist())(X)
