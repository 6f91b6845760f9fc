"""Labelled rows on Dask: which classes there are, what they weigh, and in which order a fit has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._sketches import SmallestKeys, projections, uniform
from sparsebayes.distributed.dask_rows import DaskRows, Part, starts_of
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.laplace import number_classes
from sparsebayes.rows.validation import check_weights


class Labelled(NamedTuple):
    """Rows of positive weight: X (n, d) dense or SciPy-sparse, y (n, K) of 0s and 1s, counts (n,)."""

    X: Any
    y: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class CheckedLabels:
    """Turns a part as it came into (X, labels, weights); None if it has no rows.

    check : a block of X as it came -> a finite float64 matrix.  check_y : (y, n) -> n labels.
    """

    check: Callable[[Any], Any]
    check_y: Callable[[Any, int], np.ndarray]

    def __call__(self, part: Part) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """The rows of a part; an error says in which chunk they are."""
        if part.X.shape[0] == 0:
            return None
        try:
            X = self.check(part.X)
            y = self.check_y(part.y, X.shape[0])
            weights = check_weights(part.weights, len(y), some=False)
        except ValueError as error:
            raise part.located(error) from error
        X = X.tocsr() if hasattr(X, "tocsr") else X
        return X, y, np.ones(len(y)) if weights is None else weights


@dataclass(frozen=True, eq=False)
class Classes:
    """What is known of the classes after one pass; adds.

    labels : (K,) ascending.  weights : (K,) the sum of the weights of each.
    counted : (K,) how many rows of positive weight each has.
    first : (K, d) the lexicographically first row of each, and `share` (K,) the weight of that row; of sparse rows the
    first product with a fixed vector, as in memory, in the first of d columns.
    sizes : rows of each part.
    """

    labels: np.ndarray
    weights: np.ndarray
    counted: np.ndarray
    first: np.ndarray
    share: np.ndarray
    sizes: dict[int, int]

    def __add__(self, other: Classes) -> Classes:
        """The classes of both sets of rows."""
        if not len(self.labels) or not len(other.labels):
            return replace(self if len(self.labels) else other, sizes=self.sizes | other.sizes)
        labels, numbers = number_classes(np.concatenate([self.labels, other.labels]))
        first, share = np.zeros((len(labels), self.first.shape[1])), np.zeros(len(labels))
        rows, shares = np.concatenate([self.first, other.first]), np.concatenate([self.share, other.share])
        for k in range(len(labels)):
            mine = np.flatnonzero(numbers == k)
            first[k], share[k] = _first_row(rows[mine], shares[mine])
        weights, counted = (
            np.bincount(numbers, np.concatenate(both), len(labels))
            for both in ((self.weights, other.weights), (self.counted, other.counted))
        )
        return Classes(labels, weights, counted, first, share, self.sizes | other.sizes)

    def weighed(self, each: np.ndarray) -> tuple[Classes, np.ndarray]:
        """The classes of positive weight if their rows are weighed by `each` (K,), and their numbers."""
        kept = np.flatnonzero(self.weights * each > 0)
        picked = {name: getattr(self, name)[kept] for name in ("labels", "counted", "first")}
        weights, share = (self.weights * each)[kept], (self.share * each)[kept]
        return Classes(weights=weights, share=share, sizes=self.sizes, **picked), kept

    @property
    def places(self) -> np.ndarray:
        """(K,) the place in `labels` of each class in the order of a fit: by its first row, then by its weight."""
        keys = [(tuple(row), -share, k) for k, (row, share) in enumerate(zip(self.first, self.share, strict=True))]
        return np.asarray([k for _, _, k in sorted(keys)])

    @property
    def starts(self) -> tuple[int, ...]:
        """How many rows come before each part."""
        return starts_of(self.sizes)


def _first_row(rows: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
    """The lexicographically first of some rows, and the weight of all that are equal to it."""
    first = rows[np.lexsort(rows.T[::-1])[0]]
    return first, float(shares[(rows == first).all(axis=1)].sum())


@dataclass(frozen=True)
class _Looks:
    """The pass that finds the classes."""

    check: CheckedLabels

    def __call__(self, part: Part) -> Classes:
        checked, sizes = self.check(part), {part.number: int(part.X.shape[0])}
        nothing = np.zeros(0)
        if checked is None or not (checked[2] > 0).any():
            return Classes(nothing, nothing, nothing, np.zeros((0, 0)), nothing, sizes)
        X, y, weights = checked
        kept = np.flatnonzero(weights > 0)
        labels, numbers = number_classes(y[kept])
        width, first, share = X.shape[1], [], []
        X = projections(X)[:, None] if hasattr(X, "tocsr") else X
        for k in range(len(labels)):
            mine = kept[numbers == k]
            row, total = _first_of(X, mine, weights)
            first.append(np.pad(row, (0, width - len(row))))
            share.append(total)
        weighed, counted = np.bincount(numbers, weights[kept]), np.bincount(numbers).astype(np.float64)
        return Classes(labels, weighed, counted, np.stack(first), np.asarray(share), sizes)


def _first_of(X: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """The lexicographically first of these rows of X, column by column, and its weight."""
    for column in range(X.shape[1]):
        values = X[rows, column]
        rows = rows[values == values.min()]
        if len(rows) == 1:
            break
    return X[rows[0]], float(weights[rows].sum())


@dataclass(frozen=True)
class AsLabelled:
    """Turns a part as it came into `Labelled` rows; None if no row counts.

    labels : the classes that count, ascending.  codes : (K, outputs) what y of each is.  each : (K,) their weights.
    """

    check: CheckedLabels
    labels: np.ndarray
    codes: np.ndarray
    each: np.ndarray
    starts: tuple[int, ...]

    def __call__(self, part: Part) -> Labelled | None:
        """The rows of a part that count."""
        checked = self.check(part)
        if checked is None:
            return None
        X, y, weights = checked
        place = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        weights = np.where(self.labels[place] == y, weights * self.each[place], 0.0)
        kept = np.flatnonzero(weights > 0)
        if not len(kept):
            return None
        return Labelled(X[kept], self.codes[place[kept]], weights[kept], self.starts[part.number] + kept)


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Labelled rows that stay where they are.

    given : as they came.  checked : checks a part.  classes : what is known of all rows, none of them weighed yet.
    """

    given: DaskRows
    checked: CheckedLabels
    classes: Classes

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, check: Any, check_y: Any, watch: Any = None) -> LabelRows:
        """The rows of collections, after one pass; the arguments are those of `PointRows.of`."""
        given = DaskRows.of(X, y, sample_weight, watch=watch)
        checked = CheckedLabels(check, check_y)
        return cls(given, checked, given.reduce("classes", _Looks(checked), sum_of))

    def encoded(self, each: np.ndarray | None = None, ascending: bool = False) -> EncodedRows:
        """The rows for a fit.

        Parameters
        ----------
        each : ndarray of shape (K,), optional
            What the rows of each class are weighed by; None for 1. Weights that sum to less than two rows are
            rescaled to a mean of 1.
        ascending : bool
            Whether the fit has the classes in the order of their labels, instead of that of their first rows.
        """
        each = np.ones(len(self.classes.labels)) if each is None else each
        classes, kept = self.classes.weighed(each)
        n, rows = float(classes.weights.sum()), float(classes.counted.sum())
        factor = rows / n if 0 < n < 2 else 1.0
        places = np.arange(len(kept)) if ascending else classes.places
        codes = np.eye(len(kept))[np.argsort(places)]  # of each label, in ascending order
        codes = codes[:, 1:] if len(kept) == 2 else codes
        prepare = AsLabelled(self.checked, classes.labels, codes, factor * each[kept], classes.starts)
        return EncodedRows(self.given.prepared(prepare), classes, places, factor * n, int(rows))


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Labelled rows of positive weight, encoded.

    rows : passes over them as `Labelled`.  classes : of positive weight.  n : Σ weights.  total : how many rows.
    places : (K,) the place among the ascending labels of each class in the order of the fit.
    """

    rows: DaskRows
    classes: Classes
    places: np.ndarray
    n: float
    total: int

    def sample(self, most: int) -> Labelled:
        """A sample of the rows, at most so many, by their contents; in the order of their numbers."""
        found = self.rows.reduce("sample", _sampled, sum_of, most).rows
        found = found[np.argsort(found[:, -1], kind="stable")]
        d = self.rows.shape[1]
        return Labelled(found[:, :d], found[:, d:-2], found[:, -2], found[:, -1].astype(np.int64))


def _sampled(rows: Labelled, most: int) -> SmallestKeys:
    """The rows of a part with the smallest hash values: [X y counts number]."""
    table = np.column_stack([rows.X, rows.y, rows.counts, rows.numbers.astype(np.float64)])
    return SmallestKeys.of(uniform(table[:, :-2]), table, most)
