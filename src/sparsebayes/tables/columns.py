"""The kinds of columns of a table, and the numbers that are made of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

MISSING, OTHER = "(missing)", "(other)"
DAY = 86_400e9  # nanoseconds


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, truth values or dates.

    name : of the column.  fill : the median of the training rows, which takes the place of missing values.
    had_missing : whether values were missing in the training rows: then a second column is 1 where they are.
    dates : whether the values are dates, which become days since 1970-01-01.
    """

    name: str
    fill: float
    had_missing: bool
    dates: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the numeric columns."""
        return [self.name, f"{self.name} is missing"] if self.had_missing else [self.name]

    def encode(self, values: Any) -> np.ndarray:
        """The values (n,), a pandas Series, as (n, 1) or (n, 2) numbers; ValueError for text or infinite values."""
        x = days(values) if self.dates else numbers(values)
        missing = np.isnan(x)
        filled = np.where(missing, self.fill, x)
        return np.column_stack([filled, missing]) if self.had_missing else filled[:, None]


@dataclass(frozen=True)
class CategoryColumn:
    """A column of text: one numeric column per category, which is 1 where the row has it.

    name : of the column.  categories : those with a column, the most frequent first.
    """

    name: str
    categories: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of the numeric columns."""
        return [f"{self.name}={category}" for category in self.categories]

    def encode(self, values: Any) -> np.ndarray:
        """The values (n,), a pandas Series, as (n, categories) zeros and ones.

        Unknown text counts as "(other)" if that is a category, else the row is zero in all columns.
        """
        text = texts(values)
        known = set(self.categories) | {MISSING}
        text = [each if each in known else OTHER for each in text]
        return np.asarray([[each == category for category in self.categories] for each in text], dtype=np.float64)


def numbers(values: Any) -> np.ndarray:
    """A Series as float64, NaN where it is missing; ValueError naming the column for text and infinite values."""
    import pandas as pd

    x = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(x) & ~values.isna().to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"column {values.name!r} must hold numbers, got {values.iloc[row]!r} in data row "
            f"{row + 1}; correct the value or leave it empty."
        )
    if np.isinf(x).any():
        row = int(np.argmax(np.isinf(x)))
        raise ValueError(f"column {values.name!r} must be finite, got {x[row]} in data row {row + 1}.")
    return x


def days(values: Any) -> np.ndarray:
    """A Series of dates as days since 1970-01-01, NaN where it is missing; ValueError for anything else."""
    x = as_days(values)
    wrong = np.isnan(x) & ~values.isna().to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"column {values.name!r} must hold dates such as 2024-05-31, got "
            f"{values.iloc[row]!r} in data row {row + 1}."
        )
    return x


def as_days(values: Any) -> np.ndarray:
    """A Series as days since 1970-01-01, NaN where it holds no ISO 8601 date."""
    import pandas as pd

    stamps = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    x = stamps.to_numpy(dtype="datetime64[ns]")
    return np.where(np.isnat(x), np.nan, x.astype(np.int64) / DAY)


def texts(values: Any) -> list[str]:
    """A Series as text, "(missing)" where it is missing."""
    return [MISSING if absent else str(each) for each, absent in zip(values, values.isna(), strict=True)]
