"""Outputs that share their functions: one precision governs the weights of a function in all outputs of one label.

The candidates (m, k) of one function m and of outputs k of one label are a group (`core.groups`), which is selected as
a whole. One precision means one prior variance of the weights of φ_m, while `Linearised` divides every candidate by
its own norm in the metric B: the candidates of a group are divided by the root mean square of those norms instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sparsebayes._array import Array, take
from sparsebayes.core.groups import GroupedProblem
from sparsebayes.core.posterior import Problem, State
from sparsebayes.groups.prior import Multiplied, share
from sparsebayes.groups.rescaled import Rescaled, RescaledProducts, norms_of_groups
from sparsebayes.laplace.linearised import Candidates, Linearised


def labels_of(candidates: Candidates, groups: np.ndarray) -> np.ndarray:
    """The number of the group of each candidate (C,), from a label 0, 1, … for each output (K,).

    Of all candidates of M functions it is label·M + function, as k·M + m is the number of a candidate.
    """
    width = int(candidates.function.max(initial=0)) + 1
    return groups[candidates.output] * width + candidates.function


def common_scale(linear: Linearised, groups: np.ndarray) -> Array:
    """What the candidates of each group are divided by, (C,)."""
    return norms_of_groups(linear.scale, labels_of(linear.candidates, groups))


def grouped(problem: Problem, linear: Linearised, scale: Array, groups: np.ndarray) -> Problem:
    """The problem of the groups, from that of the candidates of `linear`; scale : what they are divided by, (C,)."""
    quadratic = Rescaled(problem.quadratic, linear.scale / scale)
    return share(replace(problem, quadratic=quadratic), 1, labels_of(linear.candidates, groups))


def linear_of(problem: Problem) -> Any:
    """The `Linearised` products that the quadratic of a problem is made of."""
    products = problem.quadratic.products
    return products.base if isinstance(products, RescaledProducts) else products


def functions_of(problem: Problem, J: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The functions of a problem that the candidates J make up, and where in J the first of each is; None for all."""
    return np.unique(problem.groups.label[J], return_index=True) if isinstance(problem, GroupedProblem) else (J, None)


def of_candidates(state: State) -> tuple[np.ndarray, Array, Array]:
    """The candidates of a state in ascending order, their α and their weights."""
    order = np.argsort(state.active.J)
    return state.active.J[order], take(state.column_alpha, order), take(state.mean, order)


def owners(problem: Problem) -> np.ndarray:
    """The function that each candidate of a problem belongs to, (C,)."""
    return problem.groups.label if isinstance(problem, GroupedProblem) else np.arange(problem.size)


def units_of_functions(problem: Problem, unit: Array) -> Array:
    """The `unit` of the functions of a problem from that of its candidates."""
    unit = take(unit, problem.groups.first) if isinstance(problem, GroupedProblem) else unit
    if not isinstance(problem.prior, Multiplied):
        return unit
    own = unit if unit.ndim == 2 else unit[:, None]
    return problem.quadratic.xp.concat([own, problem.unit[:, -1:]], axis=1)


def check_class_groups(groups: Any, outputs: int) -> np.ndarray | None:
    """Labels of classes as whole numbers.

    Parameters
    ----------
    groups : array-like of shape (outputs,), optional
        A label for each class; None if every class is on its own.
    outputs : int
        The number of classes, 1 for two classes that have one output together.

    Returns
    -------
    ndarray of shape (outputs,) or None
        A label 0, 1, … for each class; None if no two classes have the same.
    """
    if groups is None:
        return None
    labels = np.asarray(groups)
    if outputs == 1:
        raise ValueError(f"groups must be None for two classes, which have one output together, got {groups!r}.")
    if labels.shape != (outputs,):
        raise ValueError(
            f"groups must have one label for each of {outputs} classes, got an array of shape {labels.shape}."
        )
    try:
        distinct, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"groups must have labels of one kind, such as integers or strings, got {groups!r}."
        ) from error
    return numbers.reshape(-1) if len(distinct) < outputs else None
