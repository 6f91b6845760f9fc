"""Functions of the columns that a scikit-learn transformer makes of X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sparsebayes._array import Array, asfloat64, to_numpy
from sparsebayes.bases.arguments import as_points, check_finite
from sparsebayes.bases.contract import BoundBasis
from sparsebayes.bases.names import Product, input_names
from sparsebayes.bases.operators import Operator


def fitted_transformer(transformer: Any, X: Array, sample_weight: Array | None) -> Any:
    """A copy of a transformer, fitted to X (n, d); the weights are given to one that takes them."""
    if isinstance(transformer, type) or not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
        raise TypeError(f"transformer must be an object with fit and transform, got {transformer!r}.")
    if hasattr(transformer, "__sklearn_tags__") and get_tags(transformer).target_tags.required:
        raise TypeError(
            f"transformer must not need y, which a basis is not given, got {_named(transformer)}: put it into a "
            "Pipeline before the estimator."
        )
    own = clone(transformer)
    weighted = sample_weight is not None and has_fit_parameter(own, "sample_weight")
    try:
        return own.fit(_on_host(X), **({"sample_weight": to_numpy(sample_weight)} if weighted else {}))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"transformer must take X as an array without names of columns, got {_named(transformer)}, which says "
            f"{str(error)!r}: name columns by their numbers, or put it into a Pipeline before the estimator."
        ) from error


def transformed(transformer: Any, X: Array, dense: bool) -> Any:
    """The columns that a fitted transformer makes of X: float64, SciPy-sparse only if they are not to be `dense`."""
    Z: Any = transformer.transform(_on_host(X))
    name = _named(transformer)
    try:
        Z = Z.astype(np.float64) if scipy.sparse.issparse(Z) else np.asarray(Z, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"transformer must return numbers, got those of {name}, which are not.") from error
    if Z.ndim != 2 or Z.shape[0] != X.shape[0] or not Z.shape[1]:
        raise ValueError(f"transformer must return a column or more with {X.shape[0]} rows, got {Z.shape} from {name}.")
    check_finite(Z.data if scipy.sparse.issparse(Z) else Z, name)
    if scipy.sparse.issparse(Z) and not dense:
        return Z
    Z = Z.toarray() if scipy.sparse.issparse(Z) else Z
    return Z if scipy.sparse.issparse(X) else asfloat64(Z, like=X)


@dataclass(frozen=True, eq=False)
class BoundTransformed(BoundBasis):
    """Functions of the columns that a transformer makes of X.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Fitted to the training rows.
    columns : BoundBasis
        The functions of what it returns.
    n_inputs, width : int
        The number of columns of X, and of those that the transformer returns.
    dense : bool
        Whether sparse columns are made dense.
    """

    transformer: Any
    columns: BoundBasis
    n_inputs: int
    width: int
    dense: bool

    @property
    def n_functions(self) -> int:
        """M, the number of functions."""
        return self.columns.n_functions

    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the rows of X."""
        return self.columns(self._transformed(X))

    def select(self, J: Sequence[int]) -> Self:
        """The functions with the numbers J, in that order."""
        return replace(self, columns=self.columns.select(J))

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X; sparse columns stay sparse unless they are multiplied."""
        return self.columns.operator(self._transformed(X))

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """The names that the transformer gives its columns; numbers after the name of its class if it gives none."""
        return self.columns.names(self.transformed_names(inputs))

    def transformed_names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """The names of the columns that the transformer makes of inputs with these names."""
        known = np.asarray(input_names(inputs, self.n_inputs), dtype=object)
        try:
            return [str(name) for name in self.transformer.get_feature_names_out(known)]
        except AttributeError:  # also of a pipeline one of whose steps gives no names
            return [f"{_named(self.transformer).lower()}{k}" for k in range(self.width)]

    def products(self, inputs: Sequence[str]) -> list[Product | None]:
        """The factors of the columns of `PolynomialFeatures`; those of other transformers are not known."""
        if type(self.transformer) is not PolynomialFeatures:
            return super().products(inputs)
        powers, known = self.transformer.powers_.tolist(), input_names(inputs, self.n_inputs)
        factors = [[(name, 0.0) for name, p in zip(known, row, strict=True) for _ in range(p)] for row in powers]
        of_columns = self.columns.products([str(k) for k in range(self.width)])
        return [
            None if each is None or any(origin for _, origin in each) else [f for k, _ in each for f in factors[int(k)]]
            for each in of_columns
        ]

    @property
    def families(self) -> frozenset[str]:
        """The kinds of functions of the columns."""
        return self.columns.families

    def _transformed(self, X: Array) -> Any:
        X = X if scipy.sparse.issparse(X) else as_points(X, self.n_inputs)
        if not X.shape[0]:  # transformers refuse tables without rows
            return asfloat64(np.zeros((0, self.width)), like=X)
        return transformed(self.transformer, X, self.dense)


def _named(transformer: Any) -> str:
    return type(transformer).__name__


def _on_host(X: Any) -> Any:
    return X if scipy.sparse.issparse(X) else to_numpy(X)
