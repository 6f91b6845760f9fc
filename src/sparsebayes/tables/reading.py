"""Tables from files: CSV, TSV, Parquet, .npy and standard input."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import re
import sys
import warnings
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.tables._pandas import pandas_module
from sparsebayes.tables.columns import as_from_text

MISSING_MARKS = ["?"]  # besides those that pandas knows: nothing, NA, N/A, NaN, null, None, …
SEPARATORS = ",;\t|"
FORBIDDEN = '\r\n"'  # what cannot separate columns
SAMPLE = 1 << 16  # characters from which the separator is guessed
STANDARD_INPUT = "-"
NEEDS_PYARROW = 'Parquet files need the package pyarrow: pip install "sparsebayes[cli]".'
HINT = re.compile(r"sep=([^\r\n])\r?\n", re.IGNORECASE)  # a line before the names, in which a spreadsheet says it
COMMA, POINT = (re.compile(rf"[+-]?\d+{mark}\d+([eE][+-]?\d+)?") for mark in (",", r"\."))  # 1,5 and 1.5
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # what may be 1234 where the decimal mark is a comma
PLAIN = "biufMmUS"  # kinds of the arrays of NumPy whose elements are real numbers, dates, durations or text
UNPACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_table(source: str | Path, separator: str | None = None, decimal: str | None = None, names: bool = True) -> Any:
    """Read a table with a line of column names.

    Parameters
    ----------
    source : str or Path
        A file whose name ends in .csv, .tsv, .txt (also .gz, .bz2, .xz of these), .parquet or .npy; "-" reads
        CSV from standard input. An .npy file holds a matrix, whose columns are called c0, c1, …, or a structured
        array with names.
    separator : str, optional
        What separates columns of text files; by default a tab for .tsv, else guessed from the first line among
        comma, semicolon, tab and |.
    decimal : str, optional
        The decimal mark of text files; by default a comma where another separator is used, fields such as 1,5 are
        found and none such as 1.5, else a point.
    names : bool, default=True
        Whether the first line of a text file must name the columns. With False a first line of numbers is data, and
        the columns are called c0, c1, …

    Returns
    -------
    DataFrame
        The table. Empty fields, NA, NaN, null, None and ? are missing values.
    """
    if str(source) == STANDARD_INPUT:
        return _text(_standard_input(), "standard input", separator, decimal, names)
    path = Path(source)
    if path.is_dir():
        raise ValueError(f"{str(source)!r} must be a file with a table, got a folder or no name.")
    if not path.exists():
        raise ValueError(f"{path} does not exist; give the path of a CSV, TSV, Parquet or .npy file.")
    kind = path.suffixes[-2] if path.suffix.lower() in UNPACKED and path.suffixes[1:] else path.suffix
    if kind.lower() == ".parquet":
        return _parquet(path)
    if kind.lower() == ".npy":
        return _npy(path)
    if kind.lower() not in (".csv", ".tsv", ".txt"):
        raise ValueError(f"{path} must end in .csv, .tsv, .txt, .parquet or .npy, got {path.suffix or 'no ending'!r}.")
    with _opened(path) as file:
        tab = separator is None and kind.lower() == ".tsv"
        return _text(file, str(path), "\t" if tab else separator, decimal, names)


def _opened(path: Path) -> IO[str]:
    """The text of a file as a stream of its own, unpacked and decoded as UTF-8."""
    try:
        with UNPACKED.get(path.suffix.lower(), open)(path, "rb") as file:
            content = file.read()
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} cannot be unpacked: {error}.") from None
    return _decoded(content, str(path))


def _standard_input() -> IO[str]:
    if sys.stdin is None:
        raise ValueError("standard input is closed; give the path of a file.")
    if not hasattr(sys.stdin, "buffer"):  # a stream of text that took its place
        return io.StringIO(sys.stdin.read())
    return _decoded(sys.stdin.buffer.read(), "standard input")


def _decoded(content: bytes, name: str) -> IO[str]:
    """Bytes as text in UTF-8, with or without a byte order mark."""
    try:
        return io.StringIO(content.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} must be text in UTF-8, got other bytes at position {error.start}; save it as CSV in UTF-8."
        ) from None


def _text(file: IO[str], name: str, separator: str | None, decimal: str | None, names: bool) -> Any:
    pd = pandas_module()

    hint = HINT.match(file.read(SAMPLE))
    separator = separator or (hint and hint[1])
    file.seek(start := hint.end() if hint else 0)
    sample = file.read(SAMPLE)
    file.seek(start)
    header = sample.lstrip("\r\n").split("\n")[0].rstrip("\r")
    if not header.strip():
        raise ValueError(f"{name} must have a first line with the names of the columns, got nothing.")
    if "\0" in sample:
        raise ValueError(f"{name} must be a text file with a table, got binary data.")
    separator = separator or max(SEPARATORS, key=header.count)
    if separator in FORBIDDEN:
        raise ValueError(f"the separator must not be a line end or a quotation mark, got {separator!r}.")
    if decimal is not None and (decimal.isalnum() or decimal.isspace() or decimal in '+-"'):
        raise ValueError(f"the decimal mark must be a character such as . or , got {decimal!r}.")
    if separator == decimal:
        raise ValueError(f"separator and decimal mark must differ, got {separator!r} for both.")
    try:
        decimal = decimal or _guessed_decimal(sample, separator)
        first = next(csv.reader(io.StringIO(sample.lstrip("\r\n"), newline=None), delimiter=separator))
        headless = _are_numbers(first, decimal)
        count = len(first)
        if names or not headless:
            count = _named(first)
            _check_names(first[:count], headless, name)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows with more fields than names
            frame = pd.read_csv(
                file,
                sep=separator,
                decimal=decimal,
                na_values=MISSING_MARKS,
                low_memory=False,
                index_col=False,
                header=None if headless else 0,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, csv.Error) as error:
        reason = str(error).strip().splitlines()[0]
        if isinstance(error, pd.errors.ParserWarning):
            reason = "rows have more fields than there are names in the first line."
        raise ValueError(
            f"{name} cannot be read as a table with columns separated by {separator!r}: {reason}"
        ) from None
    if frame.iloc[:, count:].notna().any(axis=None):
        _check_names(first, headless, name)
    frame = frame.iloc[:, :count]
    frame.columns = [f"c{column}" if headless else str(column).strip() for column in frame.columns]
    return frame


def _named(names: list[str]) -> int:
    """How many columns there are without those at the end that have no name, as lines that end in a separator give."""
    count = len(names)
    while count and not names[count - 1].strip():
        count -= 1
    return count or len(names)


def _guessed_decimal(sample: str, separator: str) -> str:
    """The decimal mark of the numbers in the first lines."""
    if separator == ",":
        return "."
    fields = [
        field.strip() for row in csv.reader(io.StringIO(sample, newline=None), delimiter=separator) for field in row
    ]
    points = [*filter(POINT.fullmatch, fields)]
    if not points:
        return "," if any(map(COMMA.fullmatch, fields)) else "."
    if separator == ";" and all(map(THOUSANDS.fullmatch, points)):
        warn(
            f"numbers such as {points[0]} are read with a decimal point; if it separates thousands, save the table "
            "without thousands separators."
        )
    return "."


def _are_numbers(fields: list[str], decimal: str) -> bool:
    """Whether all fields are numbers, or empty."""
    try:
        values = [float(field.replace(decimal, ".")) for field in fields if field.strip()]
    except ValueError:
        return False
    return any(map(math.isfinite, values))


def _check_names(names: list[str], numbers: bool, source: str) -> None:
    """Raise ValueError for columns without a name, with a number for one, or with the name of another column."""
    if numbers:
        raise ValueError(f"{source}: the first line must name the columns, got numbers: {', '.join(names[:5])}.")
    names = [name.strip() for name in names]
    for place, name in enumerate(names):
        if not name:
            raise ValueError(f"{source}: the first line must name every column, got no name for column {place + 1}.")
        if name in names[:place]:
            raise ValueError(f"{source}: the first line must name every column differently, got {name!r} twice.")


def _parquet(path: Path) -> Any:
    pd = pandas_module()

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise ImportError(NEEDS_PYARROW) from None
    except Exception as error:  # pyarrow has its own classes
        raise ValueError(f"{path} cannot be read as a Parquet file: {str(error).splitlines()[0]}") from None
    frame.columns = [str(column) for column in frame.columns]
    if frame.columns.is_unique:  # else the encoder says so
        frame = frame.assign(**{name: as_from_text(frame[name]) for name in frame})
    return frame


def read_array(path: str | Path) -> np.ndarray:
    """The array of an .npy file; ValueError if it is damaged, of another kind, or holds objects of Python."""
    try:
        with open(path, "rb") as file:
            values = np.asarray(np.lib.format.read_array(file, allow_pickle=False))
            return values.astype(values.dtype.newbyteorder("="), copy=False)
    except (OSError, MemoryError):
        raise
    except Exception:  # what parsers of a damaged header raise
        raise ValueError(
            f"{path} cannot be read as an .npy file: it is damaged, of another kind, or holds Python objects."
        ) from None


def _npy(path: Path) -> Any:
    pd = pandas_module()

    values = read_array(path)
    if values.dtype.names:
        columns = {name: values[name] for name in values.dtype.names}
    else:
        matrix = values[:, None] if values.ndim == 1 else values
        if matrix.ndim != 2:
            raise ValueError(f"{path} must hold a matrix (rows, columns), got an array of shape {values.shape}.")
        columns = {f"c{j}": column for j, column in enumerate(matrix.T)}
    for name, column in columns.items():
        if column.ndim != 1 or column.dtype.kind not in PLAIN:
            raise ValueError(
                f"{path} must hold one real number, date or text in each row of a column, got shape {column.shape} and "
                f"dtype {column.dtype} in column {name!r}."
            )
    return pd.DataFrame({name: as_from_text(pd.Series(column)) for name, column in columns.items()})
