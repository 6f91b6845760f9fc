"""The range of the training rows, and a word of warning about predictions outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.bases import BoundBasis

MATTERS = 0.01  # of the largest relevance: inputs with less hardly change the prediction


class ExtrapolationWarning(UserWarning):
    """Predictions of a kernel machine lie outside the range of its training rows."""


@dataclass(frozen=True, eq=False)
class TrainingRange:
    """The box (d,) of the training rows, and by how much a query may lie outside it.

    That is the width of the functions, or the length of the box if that is less and the input matters.
    names : of the inputs, if they have any.
    """

    low: np.ndarray
    high: np.ndarray
    margin: np.ndarray
    names: np.ndarray | None = None

    @classmethod
    def of(
        cls, bound: BoundBasis, X: np.ndarray, relevance: np.ndarray | None = None, names: np.ndarray | None = None
    ) -> TrainingRange | None:
        """The range of rows X (n, d); None unless the functions vanish beyond a width that is known.

        relevance : how much each input matters (d,), if that is known.  names : of the inputs (d,).
        """
        if not bound.is_local:
            return None
        d, margin = X.shape[1], np.zeros(X.shape[1])
        for parameter in {each.parameter for each in bound.scales if each.width_power}:
            widths = np.asarray([each.width for each in bound.scales if each.parameter == parameter])
            if len(widths) in (1, d):
                margin = np.maximum(margin, widths)
        if not margin.any():
            return None
        low, high = X.min(axis=0), X.max(axis=0)
        if relevance is not None:  # a wide kernel with large weights is a polynomial within the box, and not beyond
            margin = np.where(relevance > MATTERS * relevance.max(), np.minimum(margin, high - low), margin)
        return cls(low, high, margin, names)

    def check(self, X: np.ndarray) -> None:
        """Warn if a query of X (q, d) lies outside the range by more than the margin, naming the farthest input."""
        beyond = np.maximum(self.low - X.min(axis=0), X.max(axis=0) - self.high) / self.margin
        k = int(np.argmax(beyond))
        name = k if self.names is None else repr(str(self.names[k]))
        if beyond[k] > 1:
            warn(
                f"X has rows far outside the training rows, which lie between {self.low[k]:.4g} and "
                f"{self.high[k]:.4g} in input {name}: beyond them the prediction goes to the intercept, whatever the "
                "function does there; add a trend, as in kernel=RBF() + Columns(degree=1), both from "
                "sparsebayes, or use variance='gp' for error bars that grow.",
                ExtrapolationWarning,
            )
