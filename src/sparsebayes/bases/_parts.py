"""Specifications made of others, in a list: their parameters by scikit-learn's conventions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator


class HasParts(BaseEstimator):
    """The parameters of part k go by the names `part{k}` and `part{k}__{parameter}`."""

    parts: Sequence[Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """`parts` and what else there is; with `deep` also every part and its parameters."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for k, part in enumerate(self.parts):
                params[f"part{k}"] = part
                params |= {f"part{k}__{name}": value for name, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set `parts`, then whole parts (`part0=...`), then parameters of parts (`part0__gamma=...`)."""
        if "parts" in params:
            self.parts = params.pop("parts")
        replaced = list(self.parts)
        for name in [name for name in params if re.fullmatch(r"part\d+", name)]:
            k = int(name.removeprefix("part"))
            if k >= len(replaced):
                raise ValueError(f"{name} does not exist: there are {len(replaced)} parts")
            replaced[k] = params.pop(name)
            self.parts = replaced
        super().set_params(**params)
        return self

    def check_parts(self, kind: type, kinds: str) -> None:
        """Refuse parts that are not a list of `kind`, in words `kinds`."""
        if not isinstance(self.parts, list | tuple) or not self.parts:
            raise TypeError(f"parts must be a non-empty list of {kinds}, got {self.parts!r}")
        for part in self.parts:
            if not isinstance(part, kind):
                raise TypeError(f"parts must be {kinds}, got {part!r}")
