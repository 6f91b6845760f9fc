"""Summaries of fitted estimators: a row per weight, or per level of a wavelet transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_number, is_whole
from sparsebayes.estimators._facts import facts_of
from sparsebayes.estimators._fitted import model_on_host
from sparsebayes.estimators._names import names_of_inputs
from sparsebayes.estimators._validation import is_gaussian
from sparsebayes.estimators._weights import Weights
from sparsebayes.summaries import ALL_ROWS, Column, Summary
from sparsebayes.summaries.numbers import nats, share

LEVEL, MOST_ROWS = 0.95, 30
ORDERS = ("evidence", "weight", "model")
RELEVANCE = "relevance: the mean square change of the prediction if the input is set to its mean, over its variance"
MEANING = "Δ evidence: what the log evidence loses, in nats, if the function is deleted and all else stays as it is"


def check_options(level: float, max_rows: int | None, sort: str) -> None:
    """ValueError unless the options of a summary are what they should be."""
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}.")
    if max_rows is not None and not is_whole(max_rows, 1):
        raise ValueError(f"max_rows must be a positive integer, or None for all rows, got {max_rows!r}.")
    if not (isinstance(sort, str) and sort in ORDERS):
        raise ValueError(f"sort must be one of {list(ORDERS)}, got {sort!r}.")


def summary_of(
    model: Any,
    level: float = LEVEL,
    max_rows: int | None = MOST_ROWS,
    sort: str = "evidence",
    input_features: Sequence[str] | None = None,
) -> Summary:
    """The summary of a fitted regressor, classifier or sparse recovery."""
    check_options(level, max_rows, sort)
    model = model_on_host(model)
    weights = Weights.of(model, input_features)
    order = _order(weights, sort)
    columns = columns_of(weights, order, _owner(model, weights), level)
    shown = most_important(weights.loss[order], max_rows)
    return Summary(
        title=type(model).__name__,
        facts=facts_of(model, weights, [] if hasattr(model, "support_") else names_of_inputs(model, input_features)),
        columns=columns,
        notes=tuple(_notes(model, weights, len(order) - len(shown))),
        shown=shown,
    )


def _order(weights: Weights, sort: str) -> np.ndarray:
    """The rows, output by output: those of which the most would be lost first, or the largest weights."""
    key = {"evidence": _importance(weights.loss), "weight": np.abs(weights.mean), "model": np.zeros(len(weights.mean))}
    return np.lexsort((-key[sort], weights.output))


def _importance(loss: np.ndarray) -> np.ndarray:
    """What is lost by each deletion; ∞ if that is not known."""
    return np.where(np.isnan(loss), np.inf, loss)


def most_important(loss: np.ndarray, most: int | None) -> np.ndarray:
    """The numbers of the rows of which the most would be lost, ascending."""
    return np.sort(np.argsort(-_importance(loss), kind="stable")[:most])


def _owner(model: Any, weights: Weights) -> tuple[str, np.ndarray] | None:
    """What the outputs are called, and the name of each; None if there is one."""
    if len(weights.intercept) == 1:
        return None
    if hasattr(model, "classes_"):
        return "class", to_numpy(model.classes_)
    names = getattr(model, "_output_names", range(len(weights.intercept)))
    return "snapshot" if hasattr(model, "support_") else "output", np.asarray(names)


def columns_of(
    weights: Weights, order: np.ndarray, owner: tuple[str, np.ndarray] | None, level: float
) -> tuple[Column, ...]:
    """The table, its rows in this order."""
    mean, std = weights.mean[order], weights.std[order]
    columns = [Column("term", "term", [weights.term[row] for row in order])]
    if owner is not None:
        columns.insert(0, Column(owner[0], owner[0], owner[1][weights.output[order]].tolist()))
    if np.iscomplexobj(mean):
        columns += [
            Column("amplitude", "amplitude", np.abs(mean), errors=std),
            Column("phase", "phase", np.angle(mean), share),
            Column("std", "std", std, errors=std),
        ]
    else:
        tail, half = (1 - level) / 2, norm.ppf((1 + level) / 2) * std
        columns += [
            Column("weight", "weight", mean, errors=std),
            Column("std", "std", std, errors=std),
            Column("lower", f"{100 * tail:.4g}%", mean - half, errors=std),
            Column("upper", f"{100 * (1 - tail):.4g}%", mean + half, errors=std),
        ]
    columns += [
        Column("delta_evidence", "Δ evidence", weights.loss[order], nats),
        Column("gamma", "γ", weights.gamma[order], share),
    ]
    return tuple(columns)


def _notes(model: Any, weights: Weights, missing: int) -> list[str]:
    """What the reader has to know of the table."""
    if not len(weights.mean):
        return ["No function was selected."]
    exact = _is_gaussian(model)
    notes = [f"… and {missing} more of smaller Δ evidence", ALL_ROWS] if missing else []
    notes.append(MEANING + ("" if exact else ", in Laplace's approximation at its mode"))
    notes.append("γ: how well the data determine the weight, from 0 (not at all) to 1")
    if hasattr(model, "kernel") and isinstance(model.kernel, str) and not hasattr(model, "support_"):
        notes.append("weights of kernel functions overlap and cancel: only their sum, the prediction, has a meaning")
    if getattr(model, "input_relevance_", np.zeros(0)).size > 1:
        notes.append(RELEVANCE)
    if np.isnan(weights.loss).any():
        notes.append("—: a weight without a prior has no Δ evidence")
    if hasattr(model, "classes_") and model.classes_.shape[0] == 2:
        notes.append(f"weights: of the log odds of class {to_numpy(model.classes_)[1]}")
    return notes


def _is_gaussian(model: Any) -> bool:
    """Whether the evidence is known in closed form."""
    return not hasattr(model, "classes_") and is_gaussian(getattr(model, "likelihood", "gaussian"))
