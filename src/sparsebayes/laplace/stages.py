"""Modes as a checkpoint keeps them: (J, α, w, b), and f at every row, from which the expansion is made anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._array import asfloat64, to_numpy
from sparsebayes.laplace.mode import Mode, Modes
from sparsebayes.solvers.stages import Values

FLAGS = ("reached", "restless", "highest")


class KeptModes(Values):
    """The modes over given rows, and lists of them."""

    def __init__(self, modes: Modes) -> None:
        self.modes = modes

    def pack(self, value: Any) -> Any:
        """The value as trees and arrays."""
        if not isinstance(value, Mode):
            return super().pack(value)
        arrays = {"alpha": value.alpha, "w": value.w, "b": value.b, "f": self.modes.predictor_of(value)}
        kept = {name: None if array is None else to_numpy(array) for name, array in arrays.items()}
        return {"J": np.asarray(value.J)} | kept | {name: getattr(value, name) for name in FLAGS}

    def unpack(self, tree: Any, known: dict[Any, Any]) -> Any:
        """The value; a mode that was made before is the same object."""
        if not isinstance(tree, dict):
            return super().unpack(tree, known)
        key = (
            id(self.modes.rows),
            *(each.tobytes() if isinstance(each, np.ndarray) else each for each in tree.values()),
        )
        if key not in known:
            like, flags = self.modes.rows.y, {name: tree[name] for name in FLAGS}
            alpha, w, b = (asfloat64(tree[name], like=like) for name in ("alpha", "w", "b"))
            f = None if tree["f"] is None else asfloat64(tree["f"], like=like)
            known[key] = self.modes.at(tree["J"], alpha, w, b, f, **flags)
        return known[key]
