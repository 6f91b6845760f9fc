"""Random files for `benchmarks.fuzz_cli`: tables of every kind, sound and damaged, arrays, images and model files."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

TEXTS = (
    "a", "b", "red", "grün", "", " ", "NA", "?", "a,b", 'say "no"', "two\nlines", "<script>alert(1)</script>", "=1+1",
    "O'Neill", "日本", "🎈", "\u202eabc", "\ufeff", "tab\there", "a;b", "(missing)", "(other)", "None", "nan", "-",
    "1,5", "x" * 300, "\\", "\x07", "NULL", "inf", "true", "%s {0}",
)  # fmt: skip
NUMBERS = (
    "0", "-0", "1e308", "-1e308", "1e-320", "1e400", "-1e400", "nan", "inf", "-inf", "9" * 25, "0x1F", "1_000", "1,5",
    "+3", " 7 ", "1e", ".5", "5.", "TRUE", "1/2", "12%", "$3", "١٢", "--1", "2024",
)  # fmt: skip
DATES = ("2024-05-31", "2024-02-30", "0001-01-01", "9999-12-31", "2024-05-31T12:00:00+02:00", "31.5.2024", "2024-W05")
NAMES = (
    "a", "b", "c", "x", "größe", "a b", 'q"q', "p(a)", "prediction", "std", "low", "two\nlines", "<b>", "=1", "a=b",
    "a is missing", "label=yes", "日本", "-o", "--json", "0", "1e3", "", " a ", "n" * 200, "x,y", "None", "f\tg",
)  # fmt: skip
Column = Callable[[np.random.Generator, int], list[str]]


def _plain(rng: np.random.Generator, n: int) -> list[str]:
    return [repr(x) for x in rng.standard_normal(n).tolist()]


def _scaled(rng: np.random.Generator, n: int) -> list[str]:
    with np.errstate(over="ignore", under="ignore"):
        return [repr(x) for x in (10.0 ** rng.uniform(-300, 300) * (rng.standard_normal(n) + rng.choice([0, 1e6])))]


def _magnitudes(rng: np.random.Generator, n: int) -> list[str]:
    return [repr(x) for x in (rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-305, 305, n)).tolist()]


def _whole(rng: np.random.Generator, n: int) -> list[str]:
    return [str(x) for x in rng.integers(0, int(rng.choice([2, 3, 10, 10**15])), n)]


def _gaps(rng: np.random.Generator, n: int) -> list[str]:
    return [x if rng.random() < 0.7 else str(rng.choice(["", "NA", "?", "nan"])) for x in _plain(rng, n)]


def _spoilt(rng: np.random.Generator, n: int) -> list[str]:
    return [x if rng.random() < 0.9 else str(rng.choice(NUMBERS)) for x in _plain(rng, n)]


def _words(rng: np.random.Generator, n: int) -> list[str]:
    return [str(x) for x in rng.choice(rng.choice(TEXTS, rng.integers(1, 5)), n)]


def _any_text(rng: np.random.Generator, n: int) -> list[str]:
    return [str(x) for x in rng.choice(TEXTS, n)]


def _identifiers(rng: np.random.Generator, n: int) -> list[str]:
    return [f"id {x:x}" for x in rng.integers(0, 2**40, n)]


def _two(rng: np.random.Generator, n: int) -> list[str]:
    pairs = [("yes", "no"), ("True", "False"), ("0", "1"), ("-1", "1"), ("true", ""), ("1.5", "2.5"), ("<b>", "日本")]
    return [str(x) for x in rng.choice(pairs[rng.integers(len(pairs))], n)]


def _dates(rng: np.random.Generator, n: int) -> list[str]:
    days = np.datetime64("2000-01-01") + rng.integers(0, 9000, n)
    return [str(x) if rng.random() < 0.95 else str(rng.choice(["", *DATES])) for x in days]


def _odd_dates(rng: np.random.Generator, n: int) -> list[str]:
    return [str(x) for x in rng.choice(DATES, n)]


def _constant(rng: np.random.Generator, n: int) -> list[str]:
    return [str(rng.choice([*TEXTS, *NUMBERS]))] * n


def _numbers(rng: np.random.Generator, n: int) -> list[str]:
    return [str(x) for x in rng.choice(NUMBERS, n)]


SOUND: tuple[Column, ...] = (_plain, _plain, _plain, _whole, _gaps, _words, _two, _dates, _constant)
HOSTILE: tuple[Column, ...] = (
    *SOUND, _scaled, _magnitudes, _spoilt, _any_text, _identifiers, _odd_dates, _numbers,
)  # fmt: skip


def rows_of(rng: np.random.Generator, hostile: bool) -> tuple[list[str], list[list[str]]]:
    """The names of the columns of a table, and its rows; the last column is often a function of the first."""
    n = int(rng.integers(0, 41)) if hostile else int(rng.integers(8, 41))
    d = int(rng.integers(1, 7))
    kinds = HOSTILE if hostile else SOUND
    columns = [kinds[rng.integers(len(kinds))](rng, n) for _ in range(d)]
    if not hostile or rng.random() < 0.5:
        x = rng.standard_normal(n)
        columns[0] = [repr(each) for each in x.tolist()]
        y = np.sin(x) + 0.1 * rng.standard_normal(n)
        columns.append([repr(each) for each in y.tolist()] if rng.random() < 0.6 else _two(rng, n))
    names = [f"c{k}" for k in range(len(columns))]
    if hostile and rng.random() < 0.5:
        names = [str(name) for name in rng.choice(NAMES, len(names), replace=bool(rng.random() < 0.2))]
    return names, [list(row) for row in zip(*columns, strict=True)]


def text_file(rng: np.random.Generator, names: Sequence[str], rows: Sequence[Sequence[str]], separator: str) -> bytes:
    """The table as CSV with that separator."""
    file = io.StringIO(newline="")
    writer = csv.writer(
        file,
        delimiter=separator,
        lineterminator=str(rng.choice(["\n", "\r\n"])),
        quoting=csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL,
    )
    writer.writerows([names, *rows])
    return file.getvalue().encode("utf-8")


def damaged(rng: np.random.Generator, data: bytes) -> bytes:
    """The bytes of a text file after one change for the worse."""
    change, place = int(rng.integers(13)), int(rng.integers(len(data) + 1))
    lines = data.split(b"\n")
    row = int(rng.integers(len(lines)))
    changes: list[Callable[[], bytes]] = [
        lambda: b"",
        lambda: data[:place],
        lambda: data[:place] + bytes(rng.integers(0, 256, 5).tolist()) + data[place:],
        lambda: data[:place] + b"\0" + data[place:],
        lambda: data.decode().encode("utf-16"),
        lambda: data.decode().encode("latin-1", "replace"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: b"\n".join([*lines[:row], lines[row] + b",1,2,3", *lines[row + 1 :]]),
        lambda: b"\n".join([*lines[:row], lines[row][: len(lines[row]) // 2], *lines[row + 1 :]]),
        lambda: b"\n".join(lines[1:]),
        lambda: b"\n\n" + data.replace(b"\n", b"\n\n"),
        lambda: data[:place] + b'"' + data[place:],
        lambda: rng.bytes(200),
    ]
    return changes[change]()


def parquet_file(rng: np.random.Generator, names: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """A Parquet file of the table, with a column of an unusual type; damaged now and then."""
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(text_file(np.random.default_rng(0), names, rows, ",")))
    frame.columns = [f"{name}{k}" for k, name in enumerate(names)]
    n = len(frame)
    unusual: list[Callable[[], Any]] = [
        lambda: pd.Categorical(rng.choice(["u", "v"], n)),
        lambda: pd.to_timedelta(rng.integers(0, 1000, n), unit="s"),
        lambda: [[1, 2]] * n,
        lambda: [{"a": 1}] * n,
        lambda: [b"bytes"] * n,
        lambda: pd.array(rng.integers(0, 5, n), dtype="Int64"),
        lambda: pd.array(rng.random(n) < 0.5, dtype="boolean"),
        lambda: pd.date_range("2024-01-01", periods=n, tz="Europe/Berlin"),
        lambda: pd.period_range("2024-01", periods=n, freq="M"),
        lambda: np.arange(n, dtype=np.uint64) + np.uint64(2**63),
        lambda: rng.standard_normal(n).astype(np.float32),
        lambda: pd.Categorical(rng.integers(0, 3, n)),
    ]
    frame["unusual"] = unusual[rng.integers(len(unusual))]()
    file = io.BytesIO()
    frame.to_parquet(file)
    data = file.getvalue()
    return data if rng.random() < 0.8 else bent(rng, data)


def npy_file(rng: np.random.Generator) -> bytes:
    """An .npy file: matrices, signals and volumes of numbers, and arrays of other kinds."""
    n = int(rng.integers(0, 40))
    arrays: list[Callable[[], Any]] = [
        lambda: rng.standard_normal((n, 3)),
        lambda: rng.standard_normal(n),
        lambda: np.cumsum(rng.standard_normal((n, n)), axis=0).astype(np.float32),
        lambda: rng.integers(0, 255, (n, 4), dtype=np.uint8),
        lambda: rng.standard_normal((5, 6, 7)),
        lambda: np.where(rng.random((n, 3)) < 0.1, np.nan, 1.0),
        lambda: np.full((n, 2), np.inf),
        lambda: rng.standard_normal((n, 3)) * 10.0 ** rng.uniform(-300, 300),
        lambda: rng.standard_normal((n, 2)) * 1j,
        lambda: np.array(["a", "b"] * n),
        lambda: np.zeros((2, 2, 2, 2)),
        lambda: np.float64(3.0),
        lambda: np.zeros(n, dtype=[("a", float), ("b", "U3")]),
        lambda: np.zeros(n, dtype=[("a", float), ("b", float, (2,))]),
        lambda: np.arange(n).astype("datetime64[D]"),
        lambda: rng.random((n, 3)) < 0.5,
        lambda: np.array([[1, None]], dtype=object),
        lambda: rng.standard_normal((n, 3)).astype(np.longdouble),
    ]
    file = io.BytesIO()
    np.save(file, arrays[rng.integers(len(arrays))]())
    return file.getvalue() if rng.random() < 0.85 else bent(rng, file.getvalue())


def image_file(rng: np.random.Generator) -> bytes:
    """A PNG image of any mode, damaged now and then."""
    from PIL import Image

    mode = str(rng.choice(["1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16", "F", "CMYK"]))
    size = tuple(int(k) for k in rng.integers(1, 20, 2))
    image = Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)).convert("L")
    with_mode = image.convert(mode) if mode != "I;16" else Image.new(mode, size, 700)
    file = io.BytesIO()
    with_mode.save(file, format="TIFF" if mode in ("F", "CMYK", "I") else "PNG")
    return file.getvalue() if rng.random() < 0.8 else bent(rng, file.getvalue())


def bent(rng: np.random.Generator, data: bytes) -> bytes:
    """The bytes of a binary file after one change: cut, bytes replaced, something else altogether."""
    change = int(rng.integers(4))
    if change == 0:
        return data[: int(rng.integers(len(data)))]
    if change == 1:
        values = bytearray(data)
        for place in rng.integers(0, len(values), 3):
            values[place] ^= int(rng.integers(1, 256))
        return bytes(values)
    if change == 2:
        return data + rng.bytes(20)
    return [b"", rng.bytes(100), b"PK\x03\x04" + struct.pack("<Q", 0), b'{"a": 1}'][rng.integers(4)]
