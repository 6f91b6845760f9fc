"""Changes of a data set that a model should not notice, and what they do to the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone


@dataclass(frozen=True, eq=False)
class Data:
    """Training rows, weights (None for once each) and queries."""

    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray
    weights: np.ndarray | None = None

    def fitted(self, model: Any) -> Any:
        """A clone of the model, fitted to these rows."""
        return clone(model).fit(self.X, self.y, sample_weight=self.weights)


@dataclass(frozen=True)
class Transformation:
    """A change of the data.

    change : the data from the data.  scale, shift : what becomes of a target y: scale · y + shift.
    """

    change: Callable[[Data], Data]
    scale: float = 1.0
    shift: float = 0.0


def of_inputs(change: Callable[[np.ndarray], np.ndarray]) -> Transformation:
    """The same change of all rows and queries."""
    return Transformation(lambda data: replace(data, X=change(data.X), queries=change(data.queries)))


def of_targets(scale: float, shift: float) -> Transformation:
    """y becomes scale · y + shift."""
    return Transformation(lambda data: replace(data, y=scale * data.y + shift), scale, shift)


def counts(n: int) -> np.ndarray:
    """How often each of n rows is repeated: once to three times."""
    return np.random.default_rng(n).integers(1, 4, n)


def permuted(data: Data) -> Data:
    """The rows in another order."""
    order = np.random.default_rng(len(data.y)).permutation(len(data.y))
    weights = None if data.weights is None else data.weights[order]
    return replace(data, X=data.X[order], y=data.y[order], weights=weights)


def doubled(data: Data) -> Data:
    """Every row twice, with half its weight."""
    weights = np.full(2 * len(data.y), 0.5)
    return replace(data, X=np.tile(data.X, (2, 1)), y=np.tile(data.y, 2), weights=weights)


def weighted(data: Data) -> Data:
    """Rows with whole numbers as weights."""
    return replace(data, weights=counts(len(data.y)).astype(float))


def repeated(data: Data) -> Data:
    """The same rows, repeated as often."""
    times = counts(len(data.y))
    return replace(data, X=np.repeat(data.X, times, axis=0), y=np.repeat(data.y, times))


def first_negated(X: np.ndarray) -> np.ndarray:
    """The first input with the other sign."""
    return X * np.where(np.arange(X.shape[1]) == 0, -1.0, 1.0)


def with_constant(X: np.ndarray) -> np.ndarray:
    """One more input, which is the same everywhere."""
    return np.column_stack([X, np.full(len(X), 3.0)])


ROWS = {
    "order of rows": Transformation(permuted),
    "rows twice with half weights": Transformation(doubled),
}
INPUTS = {
    "scale of X": of_inputs(lambda X: 250.0 * X),
    "scale of X down": of_inputs(lambda X: 0.004 * X),
    "shift of X": of_inputs(lambda X: X + 7.0),
    "order of columns": of_inputs(lambda X: X[:, ::-1].copy()),
    "sign of a column": of_inputs(first_negated),
    "constant column": of_inputs(with_constant),
}
TARGETS = {
    "scale of y": of_targets(1000.0, 0.0),
    "scale of y down": of_targets(1e-4, 0.0),
    "shift of y": of_targets(1.0, 12.0),
    "sign of y": of_targets(-1.0, 0.0),
}
