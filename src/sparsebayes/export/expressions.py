"""Formulas k(x, z) as trees of operations, which programs for a device are written from.

A formula has two levels: values of every input k, such as (x_k − z_k)², and, once they are summed or multiplied over
the inputs, one value for each pair of a query x and a centre z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.export.tensors import NumPyBackend, Tensor

INPUT_CONSTANTS, CENTRE_CONSTANTS = ("inputs", "table"), ("centres", "table")
REDUCTIONS = ("ReduceSum", "ReduceProd")


@dataclass(frozen=True, eq=False)
class Expression:
    """An operation, a constant, the query x or the centre z.

    Parameters
    ----------
    op : str
        "x" or "z"; "number", "inputs", "centres" or "table" for a constant that is the same everywhere, (d,) one per
        input, (S,) one per centre, (S, d) one for each of both; else the ONNX operator.
    args : tuple of Expression
        What the operator is applied to.
    value : float or ndarray, optional
        Of a constant.
    """

    op: str
    args: tuple[Expression, ...] = ()
    value: Any = None

    @property
    def by_input(self) -> bool:
        """Whether there is one value per input."""
        if self.args:
            return self.op not in REDUCTIONS and any(arg.by_input for arg in self.args)
        return self.op in ("x", "z", *INPUT_CONSTANTS)

    @property
    def of_query(self) -> bool:
        """Whether the value depends on x."""
        return self.op == "x" or any(arg.of_query for arg in self.args)

    @property
    def of_centre(self) -> bool:
        """Whether the value depends on the centre."""
        return self.op in ("z", *CENTRE_CONSTANTS) or any(arg.of_centre for arg in self.args)

    def __add__(self, other: Any) -> Expression:
        return Expression("Add", (self, constant(other)))

    def __radd__(self, other: Any) -> Expression:
        return constant(other) + self

    def __sub__(self, other: Any) -> Expression:
        return Expression("Sub", (self, constant(other)))

    def __rsub__(self, other: Any) -> Expression:
        return constant(other) - self

    def __mul__(self, other: Any) -> Expression:
        return Expression("Mul", (self, constant(other)))

    def __rmul__(self, other: Any) -> Expression:
        return constant(other) * self

    def __truediv__(self, other: Any) -> Expression:
        return Expression("Div", (self, constant(other)))

    def __neg__(self) -> Expression:
        return Expression("Neg", (self,))


QUERY, CENTRE = Expression("x"), Expression("z")


def constant(value: Any) -> Expression:
    """A number, or one number per input (d,), as an expression; an expression as it is."""
    if isinstance(value, Expression):
        return value
    if np.ndim(value) == 0:
        return Expression("number", value=float(value))
    return Expression("inputs", value=np.asarray(value, dtype=np.float64))


def call(name: str, *args: Any) -> Expression:
    """An ONNX operator of expressions or numbers, such as `call("Max", a, 0.0)`."""
    return Expression(name, tuple(map(constant, args)))


def exp(a: Expression) -> Expression:
    """The exponential function."""
    return call("Exp", a)


def total(a: Expression) -> Expression:
    """The sum over the inputs."""
    return call("ReduceSum", a)


def product(a: Expression) -> Expression:
    """The product over the inputs."""
    return call("ReduceProd", a)


def power(a: Expression, degree: int) -> Expression:
    """A whole power by squaring."""
    if degree == 1:
        return a
    root = power(a, degree // 2)
    return root * root * a if degree % 2 else root * root


def folded(expression: Expression, Z: np.ndarray) -> Expression:
    """The expression with everything that does not depend on x computed.

    Parameters
    ----------
    expression : Expression
        k(x, z).
    Z : ndarray of shape (S, d)
        The centres.

    Returns
    -------
    Expression
        Without "z", whose values at the centres have become constants.
    """
    known: dict[int, Expression] = {}

    def fold(each: Expression) -> Expression:
        if id(each) not in known:
            known[id(each)] = _fold(each)
        return known[id(each)]

    def _fold(each: Expression) -> Expression:
        if each.op == "x" or (not each.args and each.op != "z"):
            return each
        if each.of_query:
            return Expression(each.op, tuple(map(fold, each.args)))
        kind = {(0, 0): "number", (0, 1): "inputs", (1, 0): "centres", (1, 1): "table"}[each.of_centre, each.by_input]
        value = np.asarray(evaluated(each, anything, anything.constant(Z[None, :, :])).value)
        shape = {"number": (), "inputs": Z.shape[1:], "centres": Z.shape[:1], "table": Z.shape}[kind]
        return Expression(kind, value=np.broadcast_to(value, ((1, *shape) if value.ndim else ()))[0].reshape(shape))

    anything = Tensor(NumPyBackend(), np.empty((0, 1, Z.shape[1])))
    return fold(expression)


def evaluated(expression: Expression, x: Tensor, z: Tensor | None = None) -> Tensor:
    """The values of a formula.

    Parameters
    ----------
    expression : Expression
        k(x, z).
    x : Tensor
        The queries, (n, 1, d).
    z : Tensor, optional
        The centres, (1, S, d), unless the formula is folded.

    Returns
    -------
    Tensor
        (n, S), or (n, S, d) of a formula with one value per input; n and S may be 1 if all values are the same.
    """
    known: dict[int, Tensor] = {}
    constants = {"number": (), "inputs": (0, 1), "centres": (0,), "table": (0,)}

    def value(each: Expression) -> Tensor:
        if id(each) not in known:
            known[id(each)] = _value(each)
        return known[id(each)]

    def _value(each: Expression) -> Tensor:
        if each.op in ("x", "z"):
            found = x if each.op == "x" else z
            assert found is not None, "a formula with z needs centres"
            return found
        if each.op in constants:
            return x.constant(np.expand_dims(each.value, constants[each.op]))
        first, *others = map(value, each.args)
        if each.op in REDUCTIONS:
            return first.apply(each.op, np.asarray([2]), keepdims=0)
        return first.apply(each.op, *others)

    return value(expression)
