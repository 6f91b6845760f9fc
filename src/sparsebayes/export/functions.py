"""The functions of a fitted model as formulas and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.bases import Bias, BoundBasis, BoundConcatenation
from sparsebayes.bases.columns import BoundBias, BoundColumns
from sparsebayes.bases.kernels.contract import BoundKernel
from sparsebayes.bases.kernels.given import BoundPrecomputed
from sparsebayes.bases.transformed import BoundTransformed
from sparsebayes.export.expressions import QUERY, Expression, evaluated, folded
from sparsebayes.export.kernel_expressions import expression_of
from sparsebayes.export.tensors import Tensor


@dataclass(frozen=True, eq=False)
class KernelFunctions:
    """φ_m(x) = k(x, z_m).

    Parameters
    ----------
    label : str
        What the kernel is called.
    formula : Expression
        k(x, z_m) with the centres as tables.
    own : Expression
        k(x, x).
    size : int
        The number of centres.
    """

    label: str
    formula: Expression
    own: Expression
    size: int

    def at(self, X: Tensor) -> Tensor:
        """The functions (n, S) at queries (n, d)."""
        return evaluated(self.formula, X.expanded(1))


@dataclass(frozen=True, eq=False)
class Monomials:
    """φ_m(x) = Π_j e_k, k = numbers[m, j], from the extended query e = [x − o, 1, x].

    Parameters
    ----------
    numbers : ndarray of int, shape (S, degree)
        Entries of e.
    origin : ndarray of shape (d,)
        o.
    """

    numbers: np.ndarray
    origin: np.ndarray
    label = "Columns"

    @property
    def size(self) -> int:
        """The number of functions."""
        return len(self.numbers)

    def at(self, X: Tensor) -> Tensor:
        """The functions (n, S) at queries (n, d)."""
        if self.numbers.shape[1] == 1 and np.min(self.numbers) > len(self.origin):
            return X.gathered(self.numbers[:, 0] - len(self.origin) - 1, 1)
        ones = X.gathered([0], 1) * 0.0 + 1.0
        extended = (X - self.origin).joined(ones, X, axis=1)
        first, *others = (extended.gathered(column, 1) for column in self.numbers.T)
        for other in others:
            first = first * other
        return first


@dataclass(frozen=True, eq=False)
class Functions:
    """The functions of all parts.

    Parameters
    ----------
    n_inputs : int
        d.
    parts : tuple
        `KernelFunctions` and `Monomials`.
    order : ndarray of int, shape (S,)
        Function m is number `order[m]` of those of the parts side by side.
    """

    n_inputs: int
    parts: tuple[KernelFunctions | Monomials, ...]
    order: np.ndarray

    @property
    def size(self) -> int:
        """S, the number of functions."""
        return len(self.order)

    def at(self, X: Tensor) -> Tensor:
        """The functions (n, S) at queries (n, d)."""
        first, *others = (part.at(X) for part in self.parts)
        columns = first.joined(*others, axis=1)
        return columns if np.array_equal(self.order, np.arange(self.size)) else columns.gathered(self.order, 1)


def functions_of(basis: BoundBasis, n_inputs: int) -> Functions:
    """The functions of a basis; one constant function if it has none.

    Parameters
    ----------
    basis : BoundBasis
        The selected functions.
    n_inputs : int
        The number of columns of X.

    Returns
    -------
    Functions
        The functions as formulas; ValueError if they are not known.
    """
    if not basis.n_functions:
        basis = Bias().bind(np.empty((1, n_inputs)))
    found, numbers = _parts(basis, n_inputs)
    return Functions(n_inputs, tuple(found), numbers)


def _parts(basis: BoundBasis, d: int) -> tuple[list[KernelFunctions | Monomials], np.ndarray]:
    """The parts of a basis, and the order of the functions among those of the parts."""
    if isinstance(basis, BoundConcatenation):
        found, orders, start = [], [], 0
        for part in basis.parts:
            if part.n_functions:
                own, order = _parts(part, d)
                found += own
                orders.append(order + start)
                start += part.n_functions
        stacked = np.concatenate(orders)
        return found, stacked if basis.order is None else stacked[basis.order]
    return [_part(basis, d)], np.arange(basis.n_functions)


def _part(basis: Any, d: int) -> KernelFunctions | Monomials:
    if type(basis) is BoundKernel:
        formula = expression_of(basis.kernel)
        Z = np.asarray(to_numpy(basis.centres), dtype=np.float64)
        own = folded(expression_of(basis.kernel, QUERY, QUERY), Z)
        return KernelFunctions(basis.kernel.label, folded(formula, Z), own, len(Z))
    if type(basis) is BoundColumns:
        return _monomials(basis, d)
    if type(basis) is BoundBias:
        return Monomials(np.full((basis.n_functions, 1), d), np.zeros(d))
    raise ValueError(_refusal(basis))


def _monomials(basis: BoundColumns, d: int) -> Monomials:
    """The monomials; those of degree 1 are columns of x itself."""
    numbers = basis.functions.copy()
    if numbers.shape[1] == 1:
        numbers += d + 1
    else:
        numbers[numbers[:, 1] == d, 0] += d + 1
    return Monomials(numbers, np.broadcast_to(np.asarray(basis.origin, dtype=np.float64), d))


def _refusal(basis: Any) -> str:
    """Why functions cannot be exported, in a sentence."""
    if isinstance(basis, BoundPrecomputed):
        return (
            "model has kernel='precomputed', which cannot be exported: only the kernel matrix is known, no formula; "
            "fit with a kernel of the inputs, such as 'rbf'."
        )
    if isinstance(basis, BoundTransformed):
        return (
            f"model has Columns(transformer={type(basis.transformer).__name__}), which cannot be exported: put the "
            "transformer into a Pipeline before the estimator and export that with skl2onnx."
        )
    return (
        f"model has functions of the kind {type(basis).__name__}, which cannot be exported: kernels with a formula, "
        "Columns and Bias can."
    )
