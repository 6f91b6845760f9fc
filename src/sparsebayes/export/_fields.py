"""Whether a value has the type that a field is declared with."""

from __future__ import annotations

import collections.abc
import types
import typing
from functools import cache
from typing import Any

import numpy as np

NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (float, int, np.floating, np.integer),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


@cache
def types_of(cls: type) -> dict[str, Any]:
    """The declared types of the fields of a class, by name."""
    return typing.get_type_hints(cls)


def belongs(value: Any, kind: Any) -> bool:
    """Whether a value has a declared type: a class, a union, or a tuple or a sequence of such."""
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(belongs(value, each) for each in inner)
    if origin in (tuple, list, collections.abc.Sequence):
        fixed = origin is tuple and inner[-1] is not Ellipsis
        pairs = zip(value, inner, strict=False) if fixed else ((each, inner[0]) for each in value)
        right = isinstance(value, (list, tuple) if origin is collections.abc.Sequence else origin)
        return right and (not fixed or len(value) == len(inner)) and all(belongs(*pair) for pair in pairs)
    if kind in NUMBERS:
        return isinstance(value, NUMBERS[kind]) and (kind is bool or not isinstance(value, bool))
    return isinstance(value, kind)
