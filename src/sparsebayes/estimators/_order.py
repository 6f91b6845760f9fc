"""One order of rows and one order of classes, whatever order the rows came in and whatever the classes are called.

Sums depend on the order of their terms by rounding, and where two models are almost equally good, or rows are
drawn at random, that decides between them. Rows in lexicographic order of X, and classes in the order of their
first row, make fits to the same data the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes._array import Array, beside, is_foreign, namespace, positions, take, to_numpy
from sparsebayes._sketches import projections
from sparsebayes.core.result import Result
from sparsebayes.laplace import number_classes
from sparsebayes.laplace.classes import codes_of, column_sums
from sparsebayes.solvers.candidates import CandidateScores

Places = tuple[np.ndarray, np.ndarray]  # distinct rows of a class, and their weights


def row_order(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows in lexicographic order, and for each of them in that order the number of its distinct row.

    Sparse rows are in the order of their products with a fixed vector. Only rows that are equal in the columns
    before are compared in the next.
    """
    if is_foreign(X):
        return _order_on_device(X)
    keys = projections(X)[:, None] if scipy.sparse.issparse(X) else X
    order = np.argsort(keys[:, 0], kind="stable")
    first = np.append(True, np.diff(keys[order, 0]) != 0)  # whether a row differs from the one before it
    for column in range(1, keys.shape[1]):
        tied = np.flatnonzero(~first | np.append(~first[1:], False))
        if not len(tied):
            break
        rows, group = order[tied], np.cumsum(first)[tied]
        order[tied] = rows[np.lexsort((keys[rows, column], group))]
        first[1:] |= np.diff(keys[order, column]) != 0
    return order, np.cumsum(first) - 1


def _order_on_device(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """The same order of rows on a device, by sorting them by one column after the other, the last one first."""
    xp, order = namespace(X), namespace(X).argsort(X[:, -1], stable=True)
    for k in reversed(range(X.shape[1] - 1)):
        order = xp.take(order, xp.argsort(xp.take(X[:, k], order), stable=True))
    rows = xp.take(X, order, axis=0)
    differs = to_numpy(xp.any(rows[1:, ...] != rows[:-1, ...], axis=1))
    return to_numpy(order), np.cumsum(np.append(True, differs)) - 1


def ordered_by(group: np.ndarray, order: np.ndarray, *keys: np.ndarray | None) -> np.ndarray:
    """An order of rows in which those of one group are sorted by further keys, the first of them first."""
    if group[-1] + 1 == len(order):
        return order
    return order[np.lexsort([key[order] for key in reversed(keys) if key is not None] + [group])]


def first_of_each(group: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """For each row, in the order of their groups, the smallest number of a row of its group."""
    return np.minimum.reduceat(numbers, np.flatnonzero(np.append(True, np.diff(group) != 0)))[group]


@dataclass(frozen=True, eq=False)
class ClassOrder:
    """The classes of a fit, in an order that does not depend on what they are called.

    labels : the classes in ascending order, as the user sees them.
    places : (K,) the place in `labels` of each class in the order of the fit.
    codes : (n,) the class of each row, numbered in the order of the fit, beside X.
    """

    labels: np.ndarray
    places: np.ndarray
    codes: Array

    @classmethod
    def of(cls, y: np.ndarray, weights: np.ndarray | None, order: np.ndarray, group: np.ndarray) -> ClassOrder:
        """The order of the classes by where their rows are: of y and weights (n,), and `row_order` of X.

        The class that has the first distinct row comes first; if several have it, the one that has more of it,
        or of the first in which they differ.
        """
        labels, numbers = number_classes(y)
        counts = np.ones(len(y)) if weights is None else weights
        order = ordered_by(group, order, counts)  # so that sums do not depend on the order of the rows
        where = []
        for k in range(len(labels)):
            mine = numbers[order] == k
            groups, inverse = np.unique(group[mine], return_inverse=True)
            where.append((groups, np.bincount(inverse, counts[order][mine])))
        ranked = sorted(enumerate(where), key=cmp_to_key(_compared))
        places = np.asarray([place for place, _ in ranked])
        return cls(labels, places, np.argsort(places)[numbers])

    @classmethod
    def on_device(cls, X: Array, y: Array, weights: Array | None) -> ClassOrder:
        """The same order for inputs X (n, d) of another library, whose rows are not sorted and stay where they are."""
        labels, numbers = number_classes(y)
        numbers = beside(numbers, X)
        places = _places_on_device(X, numbers, weights, len(labels))
        return cls(labels, places, take(beside(np.argsort(places), X), numbers))

    @property
    def outputs(self) -> int:
        """One for two classes, one for each of more."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    def ordered(self, groups: Any) -> Any:
        """What a user gives for each class, in the order of the fit; None stays None."""
        return None if groups is None else np.asarray(groups)[self.places]

    def restored(self, result: Result) -> Result:
        """A result in the order of the labels: outputs in their places, for two classes log odds of the second."""
        places, scores = self.places, result.candidates
        if np.array_equal(places, np.arange(len(places))):
            return replace(result, classes=self.labels)
        if result.outputs == 1:
            flipped = None if scores is None else replace(scores, Q=-scores.Q, q=-scores.q)
            return replace(_negated(result), candidates=flipped, classes=self.labels)
        back = np.argsort(places)
        return replace(
            result,
            output=places[result.output],
            intercept=result.intercept[back],
            centre=result.centre[back],
            intercept_covariance=result.intercept_covariance[np.ix_(back, back)],
            candidates=None if scores is None else replace(scores, output=places[scores.output]),
            classes=self.labels,
        )


def _places_on_device(X: Array, numbers: Array, weights: Array | None, K: int) -> np.ndarray:
    """The classes in the order of their first rows; of several that have it, the one that has more of it."""
    xp, places = namespace(X), list[int]()
    rows = positions(numbers >= 0)  # of the classes that are left
    while len(places) < K - 1:
        first = _first_rows(X, numbers, rows)
        own = take(numbers, first)
        counts = column_sums(codes_of(own, K), None if weights is None else take(weights, first))
        places.append(int(xp.argmax(counts)))
        rows = take(rows, positions(take(numbers, rows) != places[-1]))
    return np.asarray([*places, *np.setdiff1d(np.arange(K), places)])


def _first_rows(X: Array, numbers: Array, rows: Array) -> Array:
    """The first of these rows in lexicographic order, or several if all of those are of one class."""
    xp = namespace(X)
    for column in range(int(X.shape[1])):
        values = take(X[:, column], rows)
        rows = take(rows, positions(values == xp.min(values)))
        own = take(numbers, rows)
        if bool(xp.all(own == own[0])):
            break
    return rows


def _negated(result: Result) -> Result:
    """A result of one output with f of the other sign."""
    averaged = None if result.averaged is None else _negated(result.averaged)
    return replace(result, mean=-result.mean, intercept=-result.intercept, averaged=averaged)


def _compared(one: tuple[int, Places], other: tuple[int, Places]) -> int:
    """−1 if a class, with its distinct rows and their weights, comes before another, 1 if after it, else 0."""
    a, b = one[1], other[1]
    size = min(len(a[0]), len(b[0]))
    different = np.flatnonzero((a[0][:size] != b[0][:size]) | (a[1][:size] != b[1][:size]))
    if not len(different):
        return int(np.sign(len(b[0]) - len(a[0])))
    k = different[0]
    return int(np.sign(a[0][k] - b[0][k]) or np.sign(b[1][k] - a[1][k]))


def in_order(result: Result, numbers: np.ndarray) -> Result:
    """A result with its weights, and its candidates, by output and then by the numbers of their functions.

    numbers : (M,) what decides the order of the functions.
    """
    order = np.lexsort((numbers[result.active], result.output))
    if not np.array_equal(order, np.arange(len(order))):
        moved = {name: getattr(result, name)[order] for name in ("active", "output", "mean", "alpha", "gamma")}
        covariance, centre = result.covariance[order][:, order], result.centre[..., order]
        averaged = None if result.averaged is None else in_order(result.averaged, numbers)
        result = replace(result, **moved, covariance=covariance, centre=centre, averaged=averaged)
    scores = result.candidates
    if scores is None:
        return result
    order = np.lexsort((numbers[scores.function], scores.output))
    if np.array_equal(order, np.arange(len(order))):
        return result
    fields = ("function", "output", "S", "Q", "s", "q")
    return replace(result, candidates=CandidateScores(*(getattr(scores, name)[order] for name in fields)))
