"""Arguments and steps that several commands share: the table, its target, what kind of target it is."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.tables import read_table
from sparsebayes.tables.columns import as_days, mostly_numbers, numbers, texts, why_text
from sparsebayes.tables.encoder import MOST_DISTINCT

MOST_CLASSES = 20  # in which nearly every row may have one of its own
MOST_NAMES = 10  # columns that a message names
TASKS = ("auto", "regression", "classification")


def add_table_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments that say which table to read."""
    command.add_argument("data", help="CSV, TSV, Parquet or .npy file with named columns; - for standard input")
    command.add_argument("--separator", help="what separates the columns of a text file (default: guessed)")
    command.add_argument("--decimal", help="decimal mark of a text file (default: guessed)")


def add_target_arguments(command: argparse.ArgumentParser, required: bool = True) -> None:
    """The arguments that say what is to be predicted from what."""
    command.add_argument("--target", required=required, help="the column to predict")
    command.add_argument("--drop", action="append", default=[], metavar="COLUMN", help="a column that is no input")
    command.add_argument(
        "--task", choices=TASKS, default="auto", help="auto: classification for text, truth values and two numbers"
    )
    command.add_argument("--max-categories", type=int, default=20, help="most columns made of one text column")


def table_of(arguments: Any) -> Any:
    """The table that the arguments name."""
    for name in ("separator", "decimal"):
        value = getattr(arguments, name)
        if value is not None and len(value) != 1:
            raise ValueError(f"--{name} must be one character, got {value!r}.")
    return read_table(arguments.data, arguments.separator, arguments.decimal)


def it_has(frame: Any) -> str:
    """Which columns a table has, for a message."""
    more = len(frame.columns) - MOST_NAMES
    names = ", ".join(map(repr, frame.columns[:MOST_NAMES])) or "no columns"
    return f"it has {names}" + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned from a table.

    frame : its rows whose target is known.  y : the targets.  classify : whether they are classes.
    target : the name of their column.  dropped : rows whose target is missing.
    """

    frame: Any
    y: np.ndarray
    classify: bool
    target: str
    dropped: int

    @property
    def name(self) -> str:
        """The task in a word."""
        return "classification" if self.classify else "regression"


def task_of(arguments: Any, frame: Any) -> Task:
    """The task that the arguments ask for; ValueError if the table has no such target."""
    if arguments.target not in frame.columns:
        raise ValueError(f"--target must be a column of the table, got {arguments.target!r}; {it_has(frame)}.")
    absent = [name for name in getattr(arguments, "drop", ()) if name not in frame.columns]
    if absent:
        raise ValueError(f"--drop must name a column of the table, got {absent[0]!r}; {it_has(frame)}.")
    values = frame[arguments.target]
    known = values.notna().to_numpy()
    if not known.any():
        raise ValueError(f"--target {arguments.target!r} must have values, got none.")
    values = values[known]
    classify = arguments.task == "classification"
    if arguments.task == "auto" and _is_classes(values):
        _require_few(values)
        classify = True
    y = _classes(values) if classify else numbers(values)
    return Task(frame[known].reset_index(drop=True), y, classify, arguments.target, int((~known).sum()))


def _is_classes(values: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(values.dtype):
        return True
    if not is_numeric_dtype(values.dtype) and mostly_numbers(values):
        numbers(values)  # says which value is none
    return bool(not is_numeric_dtype(values.dtype) or values.nunique() == 2)


def _require_few(values: Any) -> None:
    """ValueError for text that is hardly meant as classes: numbers in another form, or one text per row."""
    count, reason, kinds = values.nunique(), why_text(values), "texts"
    if not reason and count > MOST_CLASSES and not np.isnan(as_days(values.astype(str))).any():
        reason, kinds = f"days since one of them, such as {str(values.iloc[0])!r}, are numbers", "dates"
    if not reason and count > max(MOST_CLASSES, MOST_DISTINCT * len(values)):
        reason = f"nearly every row has a text of its own, such as {str(values.iloc[0])!r:.60}"
    if reason:
        raise ValueError(
            f"--target {values.name!r} must hold numbers or classes, got {count} {kinds} in {len(values)} rows: "
            f"{reason}; --task classification takes them for classes."
        )


def _classes(values: Any) -> np.ndarray:
    """Class labels: whole numbers and truth values as they are, anything else as text."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=bool)
    if is_numeric_dtype(values.dtype):
        x = numbers(values)
        return (
            x.astype(np.int64)
            if np.array_equal(x, np.rint(x)) and np.abs(x).max() < 2**53
            else np.asarray(texts(values))
        )
    return np.asarray(texts(values))
