"""The formula of a fitted model: its prediction as a weighted sum of products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_whole
from sparsebayes.estimators._fitted import model_on_host
from sparsebayes.estimators._names import names_of_inputs
from sparsebayes.summaries.formulas import Python, Style, Term, style_of

STYLES = ("text", "latex", "python")


def formula_of(model: Any, precision: int | None, style: str, input_features: Sequence[str] | None) -> str:
    """The formula of a fitted regressor or classifier, one line per output or class."""
    if not (isinstance(style, str) and style in STYLES):
        raise ValueError(f"style must be one of {list(STYLES)}, got {style!r}.")
    if precision is not None and not is_whole(precision, 1):
        raise ValueError(f"precision must be a number of significant digits, or None, got {precision!r}.")
    model, inputs = model_on_host(model), names_of_inputs(model, input_features)
    written = style_of(style, precision, inputs)
    if isinstance(written, Python) and len(set(inputs)) < len(inputs):
        raise ValueError("formula(style='python') needs names of inputs that differ: give them as input_features.")
    lines = [written.expression(*each) for each in _sums(model, inputs, written)]
    if isinstance(written, Python):
        return lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    pairs = zip(_left_sides(model, len(lines), written), lines, strict=True)
    return "\n".join(written.approximately.format(left, right) for left, right in pairs)


def _sums(model: Any, inputs: Sequence[str], written: Style) -> list[tuple[float | None, list[Term]]]:
    """The intercept and the terms of every output."""
    if hasattr(model, "estimators_"):  # models of several outputs
        found = [sums for each in model.estimators_ for sums in _sums(each, inputs, written)]
        return [found[k] for k in np.argsort(np.concatenate(model.outputs_))]
    fitted = model._fitted
    result, products = fitted.result, fitted.basis.products(inputs)
    names = [
        f"transformed {name}" if product is None and name in inputs else name  # what StandardScaler makes of x is no x
        for name, product in zip(fitted.basis.names(inputs), products, strict=True)
    ]
    if isinstance(written, Python) and None in products:
        raise ValueError(
            "formula(style='python') needs functions that are columns of X or products of them, got "
            f"{names[products.index(None)]!r}: use predict."
        )
    weights = fitted.of_weights(result.mean, 0.0) if np.ndim(result.mean) == 1 else result.mean.T
    intercepts = np.broadcast_to(result.intercept, len(weights)).tolist()
    has_weight = fitted.of_weights(1.0, 0.0) if np.ndim(result.mean) == 1 else np.ones_like(weights)
    return [
        (
            b if result.has_intercept or b else None,
            [Term(w, product, name) for w, product, name, own in zip(row, products, names, mine, strict=True) if own],
        )
        for b, row, mine in zip(intercepts, weights.tolist(), has_weight.tolist(), strict=True)
    ]


def _left_sides(model: Any, outputs: int, written: Style) -> list[str]:
    """What the formulas are of: y, the log odds of the second class, or the output of every class."""
    if not hasattr(model, "classes_"):
        return ["y"] if outputs == 1 else [written.variable(f"y{k}") for k in range(outputs)]
    classes = [written.label(str(each)) for each in to_numpy(model.classes_).tolist()]
    if outputs == 1:
        return [f"{written.label('log odds')}({classes[1]})"]
    return [f"f({each})" for each in classes]
