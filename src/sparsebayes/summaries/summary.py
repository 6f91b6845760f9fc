"""The summary of a fitted model: facts about the whole, and a table of its functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sparsebayes.summaries.hypertext import as_html
from sparsebayes.summaries.latex import as_latex
from sparsebayes.summaries.numbers import plain, rounded
from sparsebayes.summaries.text import as_text

ALL_ROWS = "summary(max_rows=None) shows all rows"  # a note for those who call it


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a summary.

    Parameters
    ----------
    key : str
        Its name in a data frame.
    heading : str
        Its heading in a table.
    values : sequence
        One value per row; NaN or None for a missing one.
    written : callable
        A value -> its text.
    errors : sequence of float, optional
        A standard deviation per row, three significant digits of which decide where a number is rounded; None
        to write each number by itself.
    """

    key: str
    heading: str
    values: Sequence[Any] | np.ndarray
    written: Callable[[Any], str] = plain
    errors: Sequence[float] | np.ndarray | None = None

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return np.asarray(self.values).dtype.kind in "iuf"

    def texts(self, rows: Sequence[int]) -> list[str]:
        """The values of these rows as text."""
        if self.errors is not None:
            return [rounded(self.values[row], self.errors[row]) for row in rows]
        return [self.written(self.values[row]) for row in rows]


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A fitted model as a table: `print` shows it as text, a notebook as HTML.

    Attributes
    ----------
    title : str
        What was fitted.
    facts : tuple of (str, str)
        Names and values of what is known of the model as a whole.
    columns : tuple of Column
        The table; a row is a weight, or a level of a wavelet transform.
    notes : tuple of str
        What the columns mean, and how many rows are not shown.
    shown : ndarray of int
        The numbers of the rows that are shown as text, HTML or LaTeX, in that order.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + 0.1 * np.random.default_rng(3).standard_normal(50)
    >>> summary = SparseBayesRegressor(prior="bic").fit(X, y).summary()
    >>> summary.to_frame()["term"].tolist()
    ['x4', 'x7']
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    shown: np.ndarray

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def for_readers(self) -> Self:
        """The same for people who cannot ask for more rows, such as readers of a report.

        Returns
        -------
        Summary
            Without the note on `max_rows`.
        """
        return replace(self, notes=tuple(note for note in self.notes if note != ALL_ROWS))

    def cells(self) -> list[tuple[Column, list[str]]]:
        """The columns with the text of the rows that are shown."""
        return [(column, column.texts(self.shown.tolist())) for column in self.columns]

    def to_html(self) -> str:
        """The summary as an HTML table, all names escaped.

        Returns
        -------
        str
            A `div` element that needs nothing else.
        """
        return as_html(self)

    def to_latex(self) -> str:
        """The table as a LaTeX `tabular`, all names escaped; it needs no package.

        Returns
        -------
        str
            The facts and the notes are comments above and below it.
        """
        return as_latex(self)

    def to_frame(self) -> Any:
        """All rows of the table, the ones not shown included, as a pandas data frame with unrounded numbers.

        Returns
        -------
        pandas.DataFrame
            NaN where the text has a dash.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas, which is not installed: pip install pandas.") from error
        return pandas.DataFrame({column.key: column.values for column in self.columns})
