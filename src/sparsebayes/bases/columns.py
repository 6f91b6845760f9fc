"""Functions that belong to no training point: the inputs themselves, their products, and the constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, device, namespace, take
from sparsebayes.bases._scales import check_degree
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points, check_finite
from sparsebayes.bases.operators import DenseOperator, Operator, SparseOperator


class Columns(Basis):
    """The columns of X as functions, and their products up to a degree.

    degree = 1: x_1 … x_d. degree = 2 adds the quadratic terms of [T01, 4.3]: for d = 2 the functions are
    x_1, x_2, x_1², x_2², x_1 x_2. In general all monomials of total degree 1, then 2, …; powers of one input
    come before products of several. X may be SciPy-sparse where degree = 1.
    """

    def __init__(self, degree: int = 1) -> None:
        self.degree = degree

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundColumns:
        """The monomials of the columns of X; only their number is taken from X."""
        degree = check_degree(self.degree)
        if degree > 1 or not scipy.sparse.issparse(X):
            X = as_points(X)
        return BoundColumns(_monomials(int(X.shape[1]), degree), int(X.shape[1]))


def _monomials(d: int, degree: int) -> np.ndarray:
    """(M, degree) numbers of the inputs multiplied in each monomial; number d stands for the constant 1."""
    rows: list[tuple[int, ...]] = []
    for p in range(1, degree + 1):
        terms = combinations_with_replacement(range(d), p)
        ordered = sorted(terms, key=lambda term: term[0] != term[-1])  # one input to a power comes first
        rows += [term + (d,) * (degree - p) for term in ordered]
    return np.asarray(rows, dtype=np.int64).reshape(-1, degree)


@dataclass(frozen=True, eq=False)
class BoundColumns(BoundBasis):
    """φ_m(x) = Π_j x_k, k = factors[m, j], with x_d = 1 for inputs numbered 0 … d−1; n_inputs = d."""

    factors: np.ndarray
    n_inputs: int

    @property
    def n_functions(self) -> int:
        """M, the number of monomials."""
        return len(self.factors)

    def __call__(self, X: Array) -> Array:
        """The monomials at the rows of X, dense."""
        if self._is_sparse_selection(X):
            return self._sparse_columns(X).toarray().astype(np.float64, copy=False)
        X = as_points(X, self.n_inputs)
        if self.factors.shape[1] == 1:
            return X if self._is_every_input() else take(X, self.factors[:, 0], axis=1)
        xp = namespace(X)
        extended = xp.concat([X, xp.ones((X.shape[0], 1), dtype=X.dtype, device=device(X))], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):  # said better by check_finite
            Phi = take(extended, self.factors[:, 0], axis=1)
            for j in range(1, self.factors.shape[1]):
                Phi *= take(extended, self.factors[:, j], axis=1)
        return check_finite(Phi, "Columns")

    def select(self, J: Sequence[int]) -> BoundColumns:
        """The monomials J alone."""
        return BoundColumns(self.factors[as_indices(J, self.n_functions)], self.n_inputs)

    def operator(self, X: Array) -> Operator:
        """A sparse X stays sparse."""
        if self._is_sparse_selection(X):
            return SparseOperator(self._sparse_columns(X))
        return DenseOperator(self(X))

    def _is_sparse_selection(self, X: Any) -> bool:
        return bool(scipy.sparse.issparse(X)) and self.factors.shape[1] == 1

    def _sparse_columns(self, X: Any) -> Any:
        if X.shape[1] != self.n_inputs:
            raise ValueError(f"X must have {self.n_inputs} columns as in training, got {X.shape[1]}")
        return X if self._is_every_input() else X.tocsc()[:, self.factors[:, 0]]

    def _is_every_input(self) -> bool:
        return bool(np.array_equal(self.factors[:, 0], np.arange(self.n_inputs)))


class Bias(Basis):
    """The constant function φ(x) = 1."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundBias:
        """One constant."""
        return BoundBias(1)


@dataclass(frozen=True)
class BoundBias(BoundBasis):
    """φ(x) = 1, `count` times (once, or not at all after a selection without it)."""

    count: int

    @property
    def n_functions(self) -> int:
        """M."""
        return self.count

    def __call__(self, X: Array) -> Array:
        """Ones, (n, M)."""
        if scipy.sparse.issparse(X):
            return np.ones((X.shape[0], self.count))
        X = as_points(X)
        return namespace(X).ones((X.shape[0], self.count), dtype=X.dtype, device=device(X))

    def select(self, J: Sequence[int]) -> BoundBias:
        """As many constants as J asks for."""
        return BoundBias(len(as_indices(J, self.count)))
