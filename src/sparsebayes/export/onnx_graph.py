"""Nodes and constants of an ONNX graph, and the graph of a described model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebayes.export.description import Classification, Regressions
from sparsebayes.export.tensor_program import class_probabilities, class_scores, regression_outputs
from sparsebayes.export.tensors import Tensor, as_numbers

OPSET, IR_VERSION = 18, 9  # the first with the axes of all reductions as inputs
TWO_RESULTS = ("TopK",)


@dataclass(eq=False)
class OnnxBackend:
    """A `tensors.Backend` that writes down nodes.

    Parameters
    ----------
    dtype : type
        The floating-point numbers, float64 or float32.
    unique : callable
        Makes a name that no other value has.
    """

    dtype: Any
    unique: Callable[[str], str]
    nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    _names: dict[Any, str] = field(default_factory=dict)
    _scaled: set[str] = field(default_factory=set)

    def constant(self, value: np.ndarray) -> str:
        """The name of a constant; equal constants are stored once."""
        kind = self.dtype if value.dtype.kind == "f" else np.int64 if value.dtype.kind in "iu" else None
        value = as_numbers(value, kind) if value.dtype.kind == "f" else np.asarray(value, dtype=kind)
        key = (value.shape, value.dtype.str, value.tobytes() if kind else tuple(value.tolist()))
        if key not in self._names:
            self._names[key] = self.unique("constant")
            self.constants[self._names[key]] = value
        return self._names[key]

    def apply(self, op: str, values: tuple[str, ...], attributes: dict[str, Any]) -> Any:
        """The name of a new value, or of several.

        onnxruntime merges a factor that is one number with a matrix product next to it, and leaves out a term that is
        zero, both in single precision. It does neither with Sum.
        """
        numbers = [value in self.constants and self.constants[value].size == 1 for value in values]
        if op == "MatMul":
            values = tuple(self.apply("Sum", (each,), {}) if each in self._scaled else each for each in values)
        elif op == "Sub" and numbers[1]:
            op, values = "Sum", (values[0], self.constant(-self.constants[values[1]]))
        elif op == "Add" and any(numbers):
            op = "Sum"
        outputs = tuple(self.unique(op.lower()) for _ in range(1 + (op in TWO_RESULTS)))
        if op in ("Mul", "Div") and any(numbers):
            self._scaled.update(outputs)
        self.nodes.append((op, list(values), list(outputs), attributes))
        return outputs if len(outputs) > 1 else outputs[0]


def graph_outputs(description: Regressions | Classification, X: Tensor, scores: bool = False) -> list[Tensor]:
    """Mean and, if it is described, standard deviation (n, T); or labels (n,) and probabilities (n, classes).

    scores : whether in place of the probabilities are the outputs that they are made of.
    """
    if isinstance(description, Regressions):
        return regression_outputs(description, X)
    assert isinstance(X.backend, OnnxBackend)
    values = class_scores if scores else class_probabilities
    p = values(description, X, single=X.backend.dtype == np.float32)
    number = p.apply("ArgMax", axis=1, keepdims=0)
    labels = number.constant(label_values(description.classes))
    return [labels.apply("Gather", number, axis=0), p]


def label_values(classes: np.ndarray) -> np.ndarray:
    """The labels as ONNX knows them: whole numbers, or else text."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    whole = classes.dtype.kind == "f" and np.array_equal(classes, np.round(classes))
    return classes.astype(np.int64) if whole else np.asarray([str(each) for each in classes], dtype=object)
