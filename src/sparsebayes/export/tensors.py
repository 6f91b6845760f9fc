"""Arrays that record, or carry out, the ONNX operators that are applied to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Backend(Protocol):
    """What carries out operators."""

    def constant(self, value: np.ndarray) -> Any:
        """A constant in the numbers of the program."""

    def apply(self, op: str, values: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """The result of an ONNX operator; several of them if it has several."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of a backend, with the operators of arrays.

    Parameters
    ----------
    backend : Backend
        What carries out the operators.
    value : object
        What the backend knows the array as.
    """

    backend: Backend
    value: Any

    def constant(self, value: Any) -> Tensor:
        """A constant of the same backend; a tensor as it is."""
        return value if isinstance(value, Tensor) else Tensor(self.backend, self.backend.constant(np.asarray(value)))

    def apply(self, op: str, *others: Any, **attributes: Any) -> Any:
        """An ONNX operator whose first argument is this tensor."""
        values = (self.value, *(self.constant(other).value for other in others))
        found = self.backend.apply(op, values, attributes)
        if isinstance(found, tuple):
            return tuple(Tensor(self.backend, each) for each in found)
        return Tensor(self.backend, found)

    def total(self, axis: int = 1, keepdims: bool = False) -> Tensor:
        """The sum over an axis; runtimes forget an axis counted from the end if there are no rows."""
        return self.apply("ReduceSum", np.asarray([axis]), keepdims=int(keepdims))

    def expanded(self, axis: int) -> Tensor:
        """With an axis of length 1 at this place."""
        return self.apply("Unsqueeze", np.asarray([axis]))

    def gathered(self, indices: Any, axis: int) -> Tensor:
        """The entries with these numbers along an axis."""
        return self.apply("Gather", np.asarray(indices, dtype=np.int64), axis=axis)

    def joined(self, *others: Tensor, axis: int) -> Tensor:
        """This tensor and others side by side."""
        return self.apply("Concat", *others, axis=axis) if others else self

    def where(self, yes: Any, no: Any) -> Tensor:
        """The first where this condition holds, else the second."""
        return self.apply("Where", yes, no)

    def __add__(self, other: Any) -> Tensor:
        return self.apply("Add", other)

    def __sub__(self, other: Any) -> Tensor:
        return self.apply("Sub", other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.constant(other) - self

    def __mul__(self, other: Any) -> Tensor:
        return self.apply("Mul", other)

    def __truediv__(self, other: Any) -> Tensor:
        return self.apply("Div", other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.constant(other) / self

    def __neg__(self) -> Tensor:
        return self.apply("Neg")

    def __matmul__(self, other: Any) -> Tensor:
        return self.apply("MatMul", other)


def as_numbers(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Floating-point numbers in those of a program; ValueError if one is beyond their range."""
    with np.errstate(over="ignore"):
        numbers = values.astype(dtype)
    if not np.isfinite(numbers).all():
        if dtype == np.float64:
            raise ValueError("model has a number beyond the range of double precision: rescale X or y, and fit again.")
        raise ValueError("dtype must be 'double': a number of the model is beyond the range of single precision.")
    return numbers


@dataclass(frozen=True)
class NumPyBackend:
    """Operators carried out by NumPy.

    Parameters
    ----------
    dtype : type
        The floating-point numbers, float64 or float32.
    """

    dtype: Any = np.float64

    def constant(self, value: np.ndarray) -> np.ndarray:
        """The array, floating-point numbers in those of the program."""
        return value.astype(self.dtype) if value.dtype.kind == "f" else value

    def apply(self, op: str, values: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """The result of an operator."""
        with np.errstate(all="ignore"):  # as on a device
            return OPERATORS[op](*values, **attributes)


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axes, keepdims: function(a, axis=tuple(axes.tolist()), keepdims=bool(keepdims))


def _sorted(a: np.ndarray, count: np.ndarray, **_: Any) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(a, axis=-1, kind="stable")[..., : int(count[0])]
    return np.take_along_axis(a, order, axis=-1), order


OPERATORS: dict[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "ArgMax": lambda a, axis, keepdims: np.argmax(a, axis=axis),
    "CastLike": lambda a, like: a.astype(like.dtype),
    "Concat": lambda *arrays, axis: np.concatenate(arrays, axis=axis),
    "Cos": np.cos,
    "Div": np.divide,
    "Equal": np.equal,
    "Exp": np.exp,
    "Gather": lambda a, indices, axis: np.take(a, indices, axis=axis),
    "LessOrEqual": np.less_equal,
    "Log": np.log,
    "MatMul": np.matmul,
    "Max": np.maximum,
    "Min": np.minimum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "ReduceMax": _reduced(np.max),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Sqrt": np.sqrt,
    "Sin": np.sin,
    "Sub": np.subtract,
    "Tanh": np.tanh,
    "TopK": _sorted,
    "Transpose": lambda a, perm: np.transpose(a, perm),
    "Unsqueeze": lambda a, axes: np.expand_dims(a, tuple(axes.tolist())),
    "Where": np.where,
}
