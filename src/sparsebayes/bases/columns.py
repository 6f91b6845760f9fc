"""Functions without a centre: the inputs themselves, their products, and the constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, asfloat64, device, is_foreign, namespace, take
from sparsebayes.bases.arguments import as_points, check_finite
from sparsebayes.bases.contract import Basis, BoundBasis, ListedBasis
from sparsebayes.bases.kernels.products import FAR
from sparsebayes.bases.kernels.scales import OneOrEach, Origin, about, check_degree, resolve_origin
from sparsebayes.bases.names import Product, input_names, monomial
from sparsebayes.bases.operators import Operator
from sparsebayes.bases.single_operator import dense_operator
from sparsebayes.bases.sparse_operator import SparseOperator
from sparsebayes.bases.transformed import BoundTransformed, fitted_transformer, transformed


class Columns(Basis):
    """The columns of X, or of what a transformer makes of X, as functions, and their products up to a degree.

    Degree 1 gives x_1 … x_d. Degree 2 adds the quadratic terms of [T01, 4.3]: for d = 2 the functions are
    x_1, x_2, x_1², x_2², x_1 x_2. In general they are all monomials of total degree 1, then 2, …; powers of
    one input come before products of several.

    Parameters
    ----------
    degree : int
        Largest total degree, at least 1. X may be SciPy-sparse for degree 1.
    origin : "auto", a number or one per input
        What the factors of products and powers are counted from; the terms of degree 1 are the columns as they
        are. "auto" is 0, but for inputs whose values lie more than 100 times their range from 0, such as time
        stamps, it is the middle of their range: powers of large numbers that differ little are lost to rounding.
        With an intercept the functions span the same polynomials. Without one, give 0 if that matters.
    transformer : scikit-learn transformer, optional
        Whatever has `fit(X)` and `transform(X)`: `SplineTransformer()`, `PolynomialFeatures(3)`, `OneHotEncoder()`,
        `Nystroem()`, a `Pipeline` or a `ColumnTransformer`, … A copy of it is fitted to the training rows, and the
        columns that it returns take the place of those of X. It is given X as the estimator has checked it, an
        array of numbers without names: columns of text belong into a `ColumnTransformer` in a `Pipeline` before
        the estimator. None for the columns of X themselves.
    """

    def __init__(self, degree: int = 1, *, origin: Origin = "auto", transformer: Any = None) -> None:
        self.degree = degree
        self.origin = origin
        self.transformer = transformer

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """The monomials of the columns of X, whose number and origin are taken from X."""
        degree = check_degree(self.degree)
        if self.transformer is not None:
            X = X if scipy.sparse.issparse(X) else as_points(X)
            own = fitted_transformer(self.transformer, X, sample_weight)
            Z = transformed(own, X, dense=degree > 1)
            columns = Columns(degree, origin=self.origin).bind(Z)
            return BoundTransformed(own, columns, int(X.shape[1]), int(Z.shape[1]), dense=degree > 1)
        origin: OneOrEach = 0.0
        if degree > 1 or not (scipy.sparse.issparse(X) or is_foreign(X)):
            X = as_points(X)
        if degree > 1 and X.shape[0]:
            origin = resolve_origin(self.origin, X, 0.5, FAR)
        return BoundColumns(_monomials(int(X.shape[1]), degree), int(X.shape[1]), origin)


def _monomials(d: int, degree: int) -> np.ndarray:
    """(M, degree) numbers of the inputs multiplied in each monomial; number d stands for the constant 1."""
    rows: list[tuple[int, ...]] = []
    for p in range(1, degree + 1):
        terms = combinations_with_replacement(range(d), p)
        ordered = sorted(terms, key=lambda term: term[0] != term[-1])  # one input to a power comes first
        rows += [term + (d,) * (degree - p) for term in ordered]
    return np.asarray(rows, dtype=np.int64).reshape(-1, degree)


@dataclass(frozen=True, eq=False)
class BoundColumns(ListedBasis):
    """Monomials φ_m(x) = Π_j (x_k − o_k), k = functions[m, j], of the inputs x_0 … x_(d−1), with x_d = 1, o_d = 0.

    In monomials of degree 1 o_k = 0.

    Parameters
    ----------
    functions : ndarray of shape (M, degree)
        The numbers of the inputs that are multiplied.
    n_inputs : int
        d.
    origin : float or ndarray of shape (d,)
        o.
    """

    n_inputs: int
    origin: OneOrEach = 0.0

    def __call__(self, X: Array) -> Array:
        """The monomials at the rows of X, as a dense array."""
        sparse = self._sparse_columns(X)
        if sparse is not None:
            return sparse.toarray().astype(np.float64, copy=False)
        if self.functions.shape[1] == 1 and is_foreign(X):  # so that only what is needed becomes float64
            return asfloat64(self._own_columns(X))
        X = as_points(X, self.n_inputs)
        if self.functions.shape[1] == 1:
            return self._own_columns(X)
        with np.errstate(over="ignore", invalid="ignore"):  # the error names the basis
            return check_finite(self._products(X), "Columns")

    def _products(self, X: Array) -> Array:
        """The monomials at the rows of X (n, d), of any degree."""
        xp = namespace(X)
        one = xp.ones((X.shape[0], 1), dtype=X.dtype, device=device(X))
        # [x − o, 1, x]: a monomial of degree 1 is one of the last d columns times ones
        extended = xp.concat([about(X, self.origin), one, X], axis=1)
        numbers = self.functions.copy()
        numbers[numbers[:, 1] == self.n_inputs, 0] += self.n_inputs + 1
        Phi = take(extended, numbers[:, 0], axis=1)
        for j in range(1, numbers.shape[1]):
            Phi *= take(extended, numbers[:, j], axis=1)
        return Phi

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Such as "x1", "x1·x2", "x1²", or "(x1 − 1.5)²" if the origin is not 0."""
        return [monomial(factors) for factors in self._factors(inputs)]

    def products(self, inputs: Sequence[str]) -> list[Product | None]:
        """The factors of the monomials."""
        return list(self._factors(inputs))

    def _factors(self, inputs: Sequence[str] | None) -> list[Product]:
        """The names and the origins of the inputs in each monomial; that of an input by itself is 0."""
        known, origins = input_names(inputs, self.n_inputs), np.broadcast_to(self.origin, self.n_inputs).tolist()
        terms = [[k for k in term if k < self.n_inputs] for term in self.functions.tolist()]
        return [[(known[k], origins[k] if len(term) > 1 else 0.0) for k in term] for term in terms]

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X; a sparse X stays sparse."""
        sparse = self._sparse_columns(X)
        if sparse is not None:
            return SparseOperator(sparse)
        single = self.functions.shape[1] == 1 and is_foreign(X)
        return dense_operator(self._own_columns(X) if single else self(X))

    def _own_columns(self, X: Array) -> Array:
        """The columns of X that are functions of degree 1, as they are."""
        if X.shape[1] != self.n_inputs:
            raise ValueError(f"X must have {self.n_inputs} columns as in training, got {X.shape[1]}.")
        return X if self._is_every_input() else take(X, self.functions[:, 0], axis=1)

    def _sparse_columns(self, X: Any) -> Any:
        """The columns of a sparse X that are functions; None for a dense X and for products of columns."""
        if not scipy.sparse.issparse(X) or self.functions.shape[1] > 1:
            return None
        if X.shape[1] != self.n_inputs:
            raise ValueError(f"X must have {self.n_inputs} columns as in training, got {X.shape[1]}.")
        return X if self._is_every_input() else X.tocsc()[:, self.functions[:, 0]]

    def _is_every_input(self) -> bool:
        return bool(np.array_equal(self.functions[:, 0], np.arange(self.n_inputs)))


class Bias(Basis):
    """The constant function φ(x) = 1."""

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """One constant function."""
        return BoundBias(np.zeros(1))


@dataclass(frozen=True, eq=False)
class BoundBias(ListedBasis):
    """The function φ(x) = 1.

    Parameters
    ----------
    functions : ndarray of shape (M,)
        Of any values: M is 1, or 0 after a selection without the function.
    """

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """The name "bias"."""
        return ["bias"] * self.n_functions

    def products(self, inputs: Sequence[str]) -> list[Product | None]:
        """The constant 1."""
        return [[] for _ in range(self.n_functions)]

    def __call__(self, X: Array) -> Array:
        """Ones, (n, M)."""
        if scipy.sparse.issparse(X):
            return np.ones((X.shape[0], self.n_functions))
        X = as_points(X)
        return namespace(X).ones((X.shape[0], self.n_functions), dtype=X.dtype, device=device(X))
