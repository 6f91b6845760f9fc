"""The kinds of columns of a table, and the numbers that are made of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes._checks import MissingValueWarning, warn

MISSING, OTHER = "(missing)", "(other)"
DAY = 86_400e6  # microseconds, in which the year 9999 is still a number of 64 bits
# numbers and dates as spreadsheets write them: digits and marks, such as $1,234.50, 1.234,50 €, 12 %, 31.05.2024
WRITTEN = re.compile(r"[+-]?\s?[$€£¥]?\s?\d[\d\s.,'’/]*[%$€£¥]?")
GROUPED = re.compile(r"\s*[+-]?\d{1,3}([.,'’\s]\d{3})+([.,]\d+)?\s*")  # digits in groups of three, such as 1.234.567
FOREIGN = (bytes, list, tuple, dict, set, np.ndarray)  # values that no text file has
FEWEST_ROWS = 20  # from which on whole numbers one after the other are taken for numbers of rows
MOST_WRONG = 0.2  # share of the values of a column of numbers that may be text, which counts as missing


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

    def encode(self, values: Any, queries: bool) -> np.ndarray:
        """The values (n,), a pandas Series, as (n, 1) or (n, 2) numbers; ValueError for text or infinite values.

        queries : whether they are of rows to be predicted, of which missing values are warned of.
        """
        x = days(values) if self.dates else numbers(values, MOST_WRONG)
        missing = np.isnan(x)
        if missing.any() and queries:
            always = "" if self.had_missing else ", and had one in every row of the fit"
            warn(
                f"column {self.name!r} has no value in {missing.sum()} of {len(x)} rows{always}: the median "
                f"{self.fill:.4g} takes its place, and the error bars do not know of it.",
                MissingValueWarning,
            )
        filled = np.where(missing, self.fill, x)
        return np.column_stack([filled, missing]) if self.had_missing else filled[:, None]


@dataclass(frozen=True)
class CategoryColumn:
    """A column of text: one numeric column per category, which is 1 where the row has it.

    name : of the column.  categories : those with a column, the most frequent first.
    second : of two categories the one without a column.
    """

    name: str
    categories: tuple[str, ...]
    second: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the numeric columns."""
        return [f"{self.name}={category}" for category in self.categories]

    def encode(self, values: Any, queries: bool) -> np.ndarray:
        """The values (n,), a pandas Series, as (n, categories) zeros and ones.

        Unknown text counts as "(other)" if that is a category, else the row is zero in all columns.
        queries : whether they are of rows to be predicted, of which new text is warned of.
        """
        text, known = texts(values), {*self.categories, self.second}
        new = sum(each not in known for each in text)
        if new and OTHER in known:
            text = [each if each in known else OTHER for each in text]
        elif new and queries:
            first = next(each for each in text if each not in known)
            warn(
                f"column {self.name!r} has text that was not in the fit in {new} of {len(text)} rows, such as "
                f"{first!r}: they count as none of the categories, and the error bars do not know of it."
            )
        return np.asarray([[each == category for category in self.categories] for each in text], dtype=np.float64)


def numbers(values: Any, most_wrong: float = 0.0) -> np.ndarray:
    """A Series as float64, NaN where it is missing; ValueError naming the column for text and infinite values.

    most_wrong : share of the values that may be text; it counts as missing, with a warning.
    """
    x = parsed(values)
    wrong = np.isnan(x) & ~values.isna().to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        example = f"{values.iloc[row]!r} in data row {row + 1}"
        grouped = np.flatnonzero(wrong & [GROUPED.fullmatch(str(each)) is not None for each in values])
        if len(grouped):
            raise ValueError(
                f"column {values.name!r} must hold numbers without thousands separators, got "
                f"{values.iloc[grouped[0]]!r} in data row {grouped[0] + 1}; write numbers as 1234.5."
            )
        if wrong.mean() > most_wrong:
            raise ValueError(
                f"column {values.name!r} must hold numbers, got {example}; correct the value or leave it empty."
            )
        count = f"{wrong.sum()} value(s) that are no numbers"
        warn(f"column {values.name!r} has {count}, such as {example}; they count as missing.")
    if np.isinf(x).any():
        row = int(np.argmax(np.isinf(x)))
        raise ValueError(f"column {values.name!r} must be finite, got {x[row]} in data row {row + 1}.")
    return x


def parsed(values: Any) -> np.ndarray:
    """A Series as float64, NaN where it holds no number."""
    import pandas as pd

    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def numbers_rows(values: Any) -> bool:
    """Whether a Series is whole numbers one after the other, each of them once, as numbers of rows are."""
    x = np.sort(parsed(values)) if values.dtype.kind in "iuf" else np.zeros(0)
    return len(x) >= FEWEST_ROWS and bool(np.array_equal(x, x[0] + np.arange(len(x))) and x[0] % 1 == 0)


def equals(values: Any, y: Any) -> bool:
    """Whether a Series holds the targets y (n,): the same numbers, or the same texts."""
    y = to_numpy(y) if is_foreign(y) else np.asarray(y)
    if y.dtype.kind in "biuf":
        return np.array_equal(parsed(values), y.astype(np.float64))
    return texts(values) == [str(each) for each in y.tolist()]


def mostly_numbers(values: Any) -> bool:
    """Whether at most one value in five of a Series of text is no number."""
    known = values[values.notna()]
    return len(known) > 0 and float(np.isnan(parsed(known)).mean()) <= MOST_WRONG


def why_text(values: Any) -> str | None:
    """Why a Series of text holds no numbers or dates, if most of its texts look as if they were; else None."""
    known = values[values.notna()]
    written = np.asarray([WRITTEN.fullmatch(str(each)) is not None for each in known], dtype=bool)
    strange = np.flatnonzero(written & np.isnan(parsed(known)))
    if not len(strange) or np.mean(written) <= 0.5:
        return None
    return f"values such as {known.iloc[strange[0]]!r} are read as text; write numbers as 1234.5, dates as 2024-05-31"


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

    if pd.api.types.is_numeric_dtype(values.dtype):  # 20240531 is a date
        values = pd.Series([f"{each:.0f}" if each % 1 == 0 else None for each in parsed(values).tolist()], dtype=object)
    stamps = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    x = stamps.to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(x), np.nan, x.astype(np.int64) / DAY)


def texts(values: Any) -> list[str]:
    """A Series as text, "(missing)" where it is missing."""
    return [MISSING if absent else str(each) for each, absent in zip(values, values.isna(), strict=True)]


def as_from_text(values: Any) -> Any:
    """A Series of another source as a text file would give it: numbers, dates and text.

    Decimal numbers become floats and durations days. Bytes, lists and records become text.
    """
    import pandas as pd

    if values.dtype.kind == "m":
        return values / pd.Timedelta(days=1)
    if values.dtype.kind == "S":
        values = values.astype(object)
    known = values[values.notna()] if values.dtype == object else values.iloc[:0]
    if len(known) and all(isinstance(each, Decimal) for each in known):
        return values.astype(np.float64)
    if any(isinstance(each, FOREIGN) for each in known):
        return values.where(values.isna(), values.map(_text_of))
    return values


def _text_of(value: Any) -> str:
    """One value as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value.tolist() if isinstance(value, np.ndarray) else value)
