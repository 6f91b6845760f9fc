"""Labels: which are accepted, how they are numbered, and what a class weighs."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from sparsebayes._array import Array, beside, is_foreign, namespace, require_real, take, to_numpy
from sparsebayes.laplace import number_classes
from sparsebayes.laplace.classes import codes_of, column_sums, is_float
from sparsebayes.rows.kinds import following
from sparsebayes.rows.sources import in_memory
from sparsebayes.rows.validation import as_vector, check_length, refuse_masked, require_finite, require_targets


def check_labels(y: Any, n: int, like: Array | None = None) -> Array:
    """y as n labels of any type that can be sorted; none missing, and no real numbers other than integers.

    like : validated inputs, which labels of another library are put beside; None for the host.
    """
    require_targets(y)
    refuse_masked(y, "y")
    y = as_vector(following(in_memory(y), like, "y"))
    check_length(y, n)
    if is_foreign(y):
        return _check_numbers(y)
    if like is not None and is_foreign(like) and y.dtype.kind in "biuf":
        return _check_numbers(beside(y, like))
    if y.dtype.kind == "f":
        require_finite(y, "y")
    missing = [_is_missing(label) for label in y] if y.dtype.kind in "OmM" else []
    if any(missing):
        raise ValueError(f"y has missing labels, the first in row {missing.index(True)}; every row needs one.")
    if y.dtype.kind != "O":
        check_classification_targets(y)
    elif all(isinstance(label, numbers.Real) for label in y):
        check_classification_targets(y.astype(np.float64))
    number_classes(y)
    return y


def _check_numbers(y: Array) -> Array:
    """Labels of another library, which are numbers: whole ones."""
    require_real(y, "y")
    if is_float(y):
        require_finite(y, "y")
        xp = namespace(y)
        if not bool(xp.all(y == xp.round(y))):
            raise ValueError(
                "Unknown label type: continuous. y must hold labels of classes, got real numbers that are not whole."
            )
    return y


def require_two_classes(y: Array) -> None:
    """Raise ValueError unless the rows of positive weight have at least two classes."""
    classes, _ = number_classes(y)
    if len(classes) < 2:
        raise ValueError(
            "y must have at least two classes among the rows of positive weight, "
            f"got {len(classes)} class: {classes.tolist()}."
        )


def weigh_classes(class_weight: Any, y: Array, weights: Array | None) -> Array | None:
    """The weight of each row (n,), its sample weight times that of its class; None if all count once.

    "balanced" gives a class n / (number of classes · n_class), rows counted by their sample weights, so that
    integer weights equal repeated rows here as well.
    """
    if class_weight is None:
        return weights
    classes, codes = number_classes(y)
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = counts_of(codes, weights, len(classes))
        present = counts > 0
        each = counts.sum() / (present.sum() * np.where(present, counts, 1.0))
    else:
        each = compute_class_weight(class_weight, classes=classes, y=classes)  # which looks at what classes there are
    if not np.all((each >= 0) & np.isfinite(each)):
        raise ValueError(f"class_weight must hold finite numbers >= 0, got {class_weight!r}.")
    own = take(beside(each, codes), codes) if is_foreign(codes) else each[codes]
    return own if weights is None else beside(own, weights) * weights


def counts_of(codes: Array, weights: Array | None, K: int) -> np.ndarray:
    """How often each of K classes counts, (K,), from the numbers of the classes of the rows."""
    if not is_foreign(codes):
        return np.bincount(codes, None if weights is None else to_numpy(weights), K)
    return to_numpy(column_sums(codes_of(codes, K), weights))


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or NA; the last of them has no truth value."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
