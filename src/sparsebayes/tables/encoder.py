"""A table with text, dates and missing values as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparsebayes._checks import require_whole, warn
from sparsebayes.tables._pandas import pandas_module
from sparsebayes.tables.columns import (
    MISSING,
    MOST_WRONG,
    OTHER,
    CategoryColumn,
    NumberColumn,
    as_days,
    equals,
    mostly_numbers,
    numbers,
    numbers_rows,
    texts,
    why_text,
)

TableColumn = NumberColumn | CategoryColumn
MOST_DISTINCT = 0.8  # share of distinct values from which text with too many of them is taken for an identifier


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with named columns into a matrix of numbers.

    A column of numbers stays as it is. Truth values become 0 and 1, dates days since 1970-01-01. Where a number or
    date is missing the median of the training rows takes its place, and if any was missing in the training rows a
    column "NAME is missing" is added. Of a column in which at most one value in five is no number those count as
    missing, with a warning. Text has one column "NAME=CATEGORY" per category, which is 1 where the row
    has it: the `max_categories` most frequent ones, and "(other)" for all the rest. Text that is missing is the
    category "(missing)". Of two categories only the first has a column. Columns that are constant, and text
    columns in which nearly every row has a value of its own (names, identifiers), are dropped with a warning. A column
    that numbers the rows is an input like others, with a warning.

    Parameters
    ----------
    target : str, optional
        A column that is no input, usually the one to be predicted.
    drop : sequence of str, default=()
        More columns that are no inputs.
    max_categories : int, default=20
        The largest number of categories of a text column that have a column of their own.

    Attributes
    ----------
    columns_ : tuple of NumberColumn and CategoryColumn
        The input columns that are used, and how each is encoded.
    unused_ : tuple of str
        The columns that are dropped.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : ndarray of str
        The names of the columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsebayes.tables import TableEncoder
    >>> table = pd.DataFrame({"size": [3.0, None, 5.0, 4.0], "kind": ["a", "b", "a", "c"]})
    >>> TableEncoder().fit(table).get_feature_names_out().tolist()
    ['size', 'size is missing', 'kind=a', 'kind=b', 'kind=c']
    """

    def __init__(self, target: str | None = None, drop: Sequence[str] = (), max_categories: int = 20) -> None:
        self.target = target
        self.drop = drop
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the medians and categories of a table.

        Parameters
        ----------
        X : DataFrame
            The table.
        y : array-like of shape (n_samples,), optional
            The targets, with which columns are compared: one that equals them is warned of.

        Returns
        -------
        self
            The fitted encoder.
        """
        require_whole(self.max_categories, "max_categories", 1)
        frame = _frame(X)
        self._require_named(frame)
        if not len(frame):
            raise ValueError("the table must have at least one row, got none.")
        inputs = [name for name in frame.columns if name not in self._not_inputs()]
        found = {name: self._column(frame[name]) for name in inputs}
        self.columns_ = tuple(column for column in found.values() if not isinstance(column, str))
        self.unused_ = tuple(name for name, column in found.items() if isinstance(column, str))
        for name in self.unused_:
            warn(f"column {name!r} is dropped: {found[name]}.")
        if not inputs:
            raise ValueError(
                f"the table must have a column to predict from, beside the target and what is dropped, got "
                f"{_listed(frame)}."
            )
        if not self.columns_:
            raise ValueError(f"the table must have a column to predict from, got none that varies among {inputs}.")
        self._require_different_names()
        self._warn_of_inputs(frame, y)
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the medians and categories of a table, and turn it into numbers.

        Parameters
        ----------
        X : DataFrame
            The table.
        y : array-like of shape (n_samples,), optional
            The targets, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The numbers, in the order of `get_feature_names_out`.
        """
        return self.fit(X, y)._encoded(_frame(X), queries=False)

    def transform(self, X: Any) -> np.ndarray:
        """The table as numbers, with a `MissingValueWarning` for each column of numbers or dates that has gaps.

        Parameters
        ----------
        X : DataFrame
            A table with the columns of the one in `fit`, in any order; others are ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The numbers, in the order of `get_feature_names_out`.
        """
        check_is_fitted(self)
        frame = _frame(X)
        for column in self.columns_:
            if column.name not in frame.columns:
                raise ValueError(f"the table must have a column {column.name!r} as in the fit; got {_listed(frame)}.")
        return self._encoded(frame, queries=True)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the numeric columns.

        Parameters
        ----------
        input_features : ignored
            Present for API consistency.

        Returns
        -------
        ndarray of str
            One name per column of what `transform` returns.
        """
        check_is_fitted(self)
        return np.asarray([name for column in self.columns_ for name in column.names], dtype=object)

    def _encoded(self, frame: Any, queries: bool) -> np.ndarray:
        return np.concatenate([column.encode(frame[column.name], queries) for column in self.columns_], axis=1)

    def _require_named(self, frame: Any) -> None:
        """ValueError if the target or a column to be dropped is none of the table, and would stay an input."""
        if self.target is not None and self.target not in frame.columns:
            raise ValueError(f"target must be a column of the table, got {self.target!r}; it has {_listed(frame)}.")
        absent = [name for name in self.drop if name not in frame.columns]
        if absent:
            raise ValueError(f"drop must name columns of the table, got {absent[0]!r}; it has {_listed(frame)}.")

    def _warn_of_inputs(self, frame: Any, y: Any) -> None:
        """Warn of inputs that number the rows, and of those that are the targets y."""
        for column in self.columns_ if len(self.columns_) > 1 else ():
            if numbers_rows(frame[column.name]):
                warn(
                    f"column {column.name!r} numbers the rows and is an input; if it is an identifier, leave it away: "
                    f"drop=[{column.name!r}], on the command line --drop {column.name}."
                )
        for column in self.columns_ if np.shape(y) == (len(frame),) else ():
            if equals(frame[column.name], y):
                warn(
                    f"column {column.name!r} equals y, and is an input: the model only repeats it; name it as the "
                    f"target, TableEncoder(target={column.name!r}), or in drop."
                )

    def _require_different_names(self) -> None:
        """ValueError if two columns would be encoded under the same name, such as "a is missing"."""
        owners: dict[str, str] = {}
        for column in self.columns_:
            for name in column.names:
                if name in owners:
                    raise ValueError(
                        f"the columns {owners[name]!r} and {column.name!r} of the table would both give a column "
                        f"{name!r}; rename one of them."
                    )
                owners[name] = column.name

    def _not_inputs(self) -> set[str]:
        return {*self.drop} if self.target is None else {self.target, *self.drop}

    def _column(self, values: Any) -> TableColumn | str:
        """How a column is encoded; a string that says why it is not used."""
        from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

        if values.isna().all():
            return "all values are missing"
        if is_bool_dtype(values.dtype) or is_numeric_dtype(values.dtype):
            return _number(values.name, numbers(values), dates=False)
        if is_datetime64_any_dtype(values.dtype):
            return _number(values.name, as_days(values), dates=True)
        if mostly_numbers(values):
            return _number(values.name, numbers(values, MOST_WRONG), dates=False)
        stamps = as_days(values.astype(str).where(values.notna()))
        if not (np.isnan(stamps) & ~values.isna().to_numpy()).any():
            return _number(values.name, stamps, dates=True)
        return self._category(values)

    def _category(self, values: Any) -> TableColumn | str:
        counts = Counter(texts(values))
        if len(counts) == 1:
            return "it is constant"
        reason = why_text(values)
        if len(counts) > self.max_categories and len(counts) > MOST_DISTINCT * len(values):
            return reason or "nearly every row has a text of its own, as names and identifiers do"
        if reason:
            warn(f"column {values.name!r} counts as categories: {reason}.")
        ordered = sorted(counts, key=lambda text: (-counts[text], text))
        if len(ordered) == 2 and MISSING not in ordered:
            return CategoryColumn(values.name, (ordered[0],), ordered[1])
        if len(ordered) > self.max_categories:
            frequent = [text for text in ordered if text != OTHER][: self.max_categories]
            return CategoryColumn(values.name, (*frequent, OTHER))
        return CategoryColumn(values.name, tuple(ordered))


def _number(name: str, x: np.ndarray, dates: bool) -> NumberColumn | str:
    """A column of numbers x, NaN where they are missing; a string that says why it is not used."""
    known = x[~np.isnan(x)]
    if len(known) == len(x) and known.min() == known.max():
        return "it is constant"
    return NumberColumn(name, float(np.median(known)), len(known) < len(x), dates)


def _frame(X: Any) -> Any:
    """X if it is a DataFrame with distinct text names, else an error that says what is needed."""
    if not isinstance(X, pandas_module().DataFrame):
        raise TypeError(f"the table must be a pandas DataFrame, got {type(X).__name__}.")
    wrong = [name for name in X.columns if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"the columns of the table must have names that are text, got {wrong[0]!r}.")
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise ValueError(f"the columns of the table must have different names, got {twice[0]!r} twice.")
    return X


def _listed(frame: Any) -> str:
    """The names of the first columns, for a message."""
    names = ", ".join(repr(name) for name in frame.columns[:10])
    return names + (f" and {len(frame.columns) - 10} more" if len(frame.columns) > 10 else "")
