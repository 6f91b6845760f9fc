"""What a basis is: a specification that `bind` turns into functions of x, and the sum of several.

A `Basis` only holds parameters (scikit-learn's `clone`, `get_params` and `set_params` work on it). Bound to
data it becomes a `BoundBasis`: M functions φ_1 … φ_M with every parameter a number, for any rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from sparsebayes._array import Array, asfloat64, is_numpy, namespace, take
from sparsebayes.bases._learnable import split
from sparsebayes.bases._parts import HasParts
from sparsebayes.bases.operators import DenseOperator, Operator, StackedOperator


class BoundBasis(ABC):
    """M functions of x. Calling it on X (n, d) gives Φ (n, M) with φ_m(x_n) in row n, column m.

    The result may share memory with X: it is for reading.
    """

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """M, the number of functions."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the rows of X (n, d)."""

    @abstractmethod
    def select(self, J: Sequence[int]) -> BoundBasis:
        """The functions J alone, in that order."""

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw at the rows of X (n,), with w = weights (M,)."""
        return self(X) @ weights

    @property
    def few_batches(self) -> bool:
        """Whether every call costs much however few the rows, so that many rows had better go together."""
        return False

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X as an operator, which need not hold it densely."""
        return DenseOperator(self(X))

    @property
    def vectors(self) -> Array | None:
        """The centres z_m of the functions, (M, d); None where some function has none."""
        return None

    def centred_at(self, X: Array) -> BoundBasis | None:
        """The same functions with the rows of X as their centres; None for functions without a centre."""
        return None

    def contributions(self, X: Array, weights: Array) -> Array | None:
        """What each part adds to Φw at the rows of X, (parts, n); None for a basis that has no parts."""
        return None

    @property
    def positive_semidefinite(self) -> bool:
        """Whether Φ at the centres of the functions is certain to be symmetric and positive semi-definite."""
        return False

    @property
    def scaled_apart(self) -> tuple[BoundBasis, ...]:
        """The parts that have scales of their own, in the order of their functions; by itself one."""
        return (self,)

    def complete_at(self, X: Array) -> bool:
        """Whether the functions are certain to be an orthonormal basis of all signals on the rows of X."""
        return False

    @property
    def log_scales(self) -> np.ndarray:
        """log η (P,): logarithms of the parameters that can be learned; empty where there are none."""
        return np.zeros(0)

    @property
    def scale_names(self) -> tuple[str, ...]:
        """A name for each of the P scales."""
        return ()

    def with_log_scales(self, values: Any) -> BoundBasis:
        """The same functions, at the same centres, with other scales: values = log η (P,)."""
        split(values, [])
        return self

    def with_scale_per_input(self) -> BoundBasis:
        """The same functions, a scale that inputs share written once for each input, so as to learn them."""
        return self

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """Σ_nm D_nm ∂φ_m(x_n)/∂ log η_p for the P scales, with D (n, M) = ∂L/∂Φ: (P,)  [T01, app. C]."""
        return np.zeros(0)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """Bounds (P, 2) of log η: widths from the smallest distance in X (n, d) to `reach` times the largest.

        Distances are those along an input for a scale of its own, and those between rows for a shared one.
        Where X does not vary both bounds are the present value. No width is less than `narrowest` times the
        largest distance.
        """
        return np.zeros((0, 2))


class Basis(BaseEstimator, ABC):
    """The specification of a set of basis functions. `a + b` puts the functions of both side by side."""

    @abstractmethod
    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundBasis:
        """The functions this specification gives on the training data X (n, d).

        Row n counts `sample_weight[n]` times in whatever is estimated from X.
        """

    def __add__(self, other: Basis) -> Concatenation:
        if not isinstance(other, Basis):
            return NotImplemented
        return Concatenation([*_parts_of(self), *_parts_of(other)])


class Concatenation(HasParts, Basis):
    """The functions of several bases side by side: Φ = [Φ_1 Φ_2 …]. Usually written `a + b`.

    The parameters of part k go by the names `part{k}` and `part{k}__{parameter}`.
    """

    def __init__(self, parts: Sequence[Basis]) -> None:
        self.parts = parts

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundConcatenation:
        """Bind every part to the same data."""
        self.check_parts(Basis, "bases")
        return BoundConcatenation(tuple(part.bind(X, sample_weight) for part in self.parts))


def _parts_of(basis: Basis) -> Sequence[Basis]:
    return basis.parts if isinstance(basis, Concatenation) else [basis]


@dataclass(frozen=True, eq=False)
class BoundConcatenation(BoundBasis):
    """Bound parts side by side; column m is column `order[m]` of [Φ_1 Φ_2 …] (None: as it stands)."""

    parts: tuple[BoundBasis, ...]
    order: np.ndarray | None = None

    @property
    def n_functions(self) -> int:
        """M, over all parts."""
        return sum(part.n_functions for part in self.parts)

    def __call__(self, X: Array) -> Array:
        """[Φ_1 Φ_2 …] at the rows of X."""
        return self._ordered([part(X) for part in self.parts], axis=1)

    def select(self, J: Sequence[int]) -> Self:
        """The functions J, in that order. Parts left without a function stay: `centred_at` needs them."""
        stacked = as_indices(J, self.n_functions)
        if self.order is not None:
            stacked = self.order[stacked]
        starts = np.cumsum([0, *(part.n_functions for part in self.parts)])
        # side="right" so that a part without functions owns nothing
        owner = np.searchsorted(starts, stacked, side="right") - 1
        parts = tuple(part.select(stacked[owner == k] - starts[k]) for k, part in enumerate(self.parts))
        order = np.argsort(np.argsort(owner, kind="stable"))
        return replace(self, parts=parts, order=None if _is_arange(order) else order)

    def operator(self, X: Array) -> Operator:
        """The operators of the parts side by side."""
        parts = [part.operator(X).held() for part in self.parts if part.n_functions]
        if self.order is not None or not parts:
            return DenseOperator(self(X))
        return StackedOperator(parts)

    @property
    def vectors(self) -> Array | None:
        """All centres, (M, d); None as soon as one function has none."""
        vectors = [part.vectors for part in self.parts if part.n_functions]
        if not vectors or any(v is None for v in vectors):
            return None
        return self._ordered(vectors, axis=0)

    def centred_at(self, X: Array) -> BoundBasis | None:
        """The parts that have centres, each centred at the rows of X; None where no part has."""
        moved = tuple(m for m in (part.centred_at(X) for part in self.parts) if m is not None)
        return replace(self, parts=moved, order=None) if moved else None

    def contributions(self, X: Array, weights: Array) -> Array:
        """What each part adds to Φw at the rows of X: (parts, n), with w = weights (M,)."""
        return namespace(weights).stack(self._weighted_parts(X, weights))

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw at the rows of X; what each part adds to it where some part has a way of its own."""
        if not self.few_batches:
            return super().weighted(X, weights)
        pieces = self._weighted_parts(X, weights)
        return sum(pieces[1:], start=pieces[0])

    @property
    def scaled_apart(self) -> tuple[BoundBasis, ...]:
        """Those of all parts; where functions were put into another order the whole."""
        if self.order is not None:
            return (self,)
        return tuple(each for part in self.parts for each in part.scaled_apart)

    @property
    def few_batches(self) -> bool:
        """Whether that holds for some part with functions."""
        return any(part.few_batches for part in self.parts if part.n_functions)

    def _weighted_parts(self, X: Array, weights: Array) -> list[Array]:
        return [part.weighted(X, w) for part, w in zip(self.parts, self._apart(weights), strict=True)]

    @property
    def log_scales(self) -> np.ndarray:
        """The scales of all parts, one part after the other."""
        return np.concatenate([part.log_scales for part in self.parts])

    @property
    def scale_names(self) -> tuple[str, ...]:
        """part0__gamma, …"""
        return tuple(f"part{k}__{name}" for k, part in enumerate(self.parts) for name in part.scale_names)

    def with_log_scales(self, values: Any) -> Self:
        """Each part with its own scales."""
        pieces = split(values, [len(part.log_scales) for part in self.parts])
        parts = (part.with_log_scales(piece) for part, piece in zip(self.parts, pieces, strict=True))
        return replace(self, parts=tuple(parts))

    def with_scale_per_input(self) -> Self:
        """Each part with scales for each input."""
        return replace(self, parts=tuple(part.with_scale_per_input() for part in self.parts))

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """The gradients of the parts, one part after the other."""
        pieces = zip(self.parts, self._apart(asfloat64(D)), strict=True)
        return np.concatenate([part.scale_gradient(X, piece) for part, piece in pieces])

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """The bounds of the parts, one part after the other."""
        return np.concatenate([part.log_scale_bounds(X, reach, narrowest) for part in self.parts])

    def _apart(self, A: Array) -> list[Array]:
        """A (…, M), one value a function on its last axis, in pieces for the parts."""
        if A.shape[-1] != self.n_functions:
            raise ValueError(f"D must have a column per function ({self.n_functions}), got {A.shape[-1]}")
        stacked = A if self.order is None else take(A, np.argsort(self.order), axis=A.ndim - 1)
        starts = np.cumsum([0, *(part.n_functions for part in self.parts)]).tolist()
        return [stacked[..., a:b] for a, b in pairwise(starts)]

    def _ordered(self, blocks: list[Array], axis: int) -> Array:
        joined = namespace(*blocks).concat(blocks, axis=axis)
        return joined if self.order is None else take(joined, self.order, axis=axis)


def _is_arange(J: np.ndarray) -> bool:
    return np.array_equal(J, np.arange(len(J)))


def as_indices(J: Any, M: int) -> np.ndarray:
    """J as integers in 0 … M−1."""
    indices = np.asarray(J)
    if indices.size == 0:
        return np.zeros(0, dtype=np.int64)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise TypeError(f"J must be a sequence of integers, got {J!r}")
    if indices.min() < 0 or indices.max() >= M:
        raise IndexError(f"J must lie between 0 and {M - 1}, got {indices.min()} to {indices.max()}")
    return indices.astype(np.int64)


def as_points(X: Any, n_inputs: int | None = None) -> Array:
    """X as a dense float64 array of rows (n, d); with `n_inputs`, d must be that."""
    if scipy.sparse.issparse(X):
        raise TypeError("X must be dense for this basis, got a SciPy sparse matrix")
    X = asfloat64(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}")
    if n_inputs is not None and X.shape[1] != n_inputs:
        raise ValueError(f"X must have {n_inputs} columns as in training, got {X.shape[1]}")
    return X


def check_finite(values: Array, source: object) -> Array:
    """The values as they are; ValueError where one is infinite or NaN."""
    xp = namespace(values)
    # a sum of squares that is finite says as much, without a second array
    if is_numpy(values) and np.isfinite(np.vdot(values, values)):
        return values
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(f"{source} returned values that are not finite")
    return values
