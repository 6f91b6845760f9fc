"""The names of the selected functions of a fitted estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.bases.names import input_names, numbered


def selected_names(model: Any, input_features: Sequence[str] | None = None) -> list[str]:
    """The names of the selected functions of a fitted regressor or classifier, in the order of `relevance_`."""
    inputs = names_of_inputs(model, input_features)
    if not hasattr(model, "estimators_"):
        return numbered(model._fitted.basis.names(inputs))
    known: dict[int, str] = {}
    for each in model.estimators_:  # models of several outputs
        known |= zip(to_numpy(each.relevance_).tolist(), each._fitted.basis.names(inputs), strict=True)
    return numbered([known[number] for number in to_numpy(model.relevance_).tolist()])


def names_of_inputs(model: Any, input_features: Sequence[str] | None) -> list[str]:
    """The names of the inputs: those given, of the data frame that the model was fitted to, or x0, x1, …"""
    known = getattr(model, "feature_names_in_", None)
    if known is None or input_features is None:
        return input_names(known if input_features is None else list(input_features), model.n_features_in_)
    if not np.array_equal(known, np.asarray(input_features, dtype=object)):
        pairs = zip(known, input_features, strict=False)
        other = next((f"{name!r} in place of {own!r}" for own, name in pairs if name != own), None)
        raise ValueError(
            "input_features must be those of the data frame that the model was fitted to, or None, got "
            f"{other or f'{len(input_features)} names for {len(known)} columns'}."
        )
    return [str(name) for name in known]


def atom_names(model: Any, input_features: Sequence[str] | None = None) -> list[str]:
    """The names of the selected atoms of a sparse recovery, in the order of `support_`."""
    if input_features is None:
        return [f"atom {number}" for number in model.support_.tolist()]
    names = input_names(list(input_features), model.n_features_in_)
    return numbered([names[number] for number in model.support_.tolist()])
