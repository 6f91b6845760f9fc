"""The range of the training rows, and a word of warning about predictions outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.bases import BoundBasis


class ExtrapolationWarning(UserWarning):
    """Predictions of a kernel machine lie outside the range of its training rows."""


@dataclass(frozen=True, eq=False)
class TrainingRange:
    """The box (d,) of the training rows, and by how much a query may lie outside it: the width of the functions."""

    low: np.ndarray
    high: np.ndarray
    margin: np.ndarray

    @classmethod
    def of(cls, bound: BoundBasis, X: np.ndarray) -> TrainingRange | None:
        """The range of rows X (n, d); None unless the functions vanish beyond a width that is known."""
        if not bound.is_local:
            return None
        d, margin = X.shape[1], np.zeros(X.shape[1])
        for parameter in {each.parameter for each in bound.scales if each.width_power}:
            scales = [each for each in bound.scales if each.parameter == parameter]
            widths = np.exp(np.asarray([each.log_value / each.width_power for each in scales]))
            if len(widths) in (1, d):
                margin = np.maximum(margin, widths)
        return cls(X.min(axis=0), X.max(axis=0), margin) if margin.any() else None

    def check(self, X: np.ndarray) -> None:
        """Warn if a query of X (q, d) lies outside the range by more than the margin, naming the farthest input."""
        beyond = np.maximum(self.low - X.min(axis=0), X.max(axis=0) - self.high) / self.margin
        k = int(np.argmax(beyond))
        if beyond[k] > 1:
            warn(
                f"X has rows more than a width of the kernel outside the training rows, which lie between "
                f"{self.low[k]:.4g} and {self.high[k]:.4g} in input {k}: far from all of them the prediction is the "
                "intercept, whatever the function does there; add Columns() for a trend, or use variance='gp' for "
                "error bars that grow.",
                ExtrapolationWarning,
            )
