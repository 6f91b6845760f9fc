"""Names, numbers, text and tables of a C program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebayes.export.tensors import as_numbers

PER_LINE = 6  # numbers of a table
ORDERS = {"fmax": ">", "fmin": "<"}
SMALL_WHOLE = 1 << 16  # numbers of entries below this are stored as unsigned short


def identifier(name: Any) -> str:
    """A name as the beginning of C identifiers: letters, digits and underscores, a letter first."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"name must be a text such as 'model', got {name!r}.")
    clean = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return clean if clean[0].isalpha() else f"model{clean}"  # what begins with an underscore is reserved


def quoted(text: str) -> str:
    """A text as a C string: everything but plain ASCII as octal escapes of its UTF-8 bytes."""
    plain = {*range(0x20, 0x7F)} - {ord('"'), ord("\\"), ord("?")}  # "??/" would be a trigraph
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode("utf-8", "replace")) + '"'


def comment(lines: Sequence[str]) -> list[str]:
    """Lines of text as a C comment, which nothing in them ends or continues."""
    clean = [" ".join(line.split("\n")).replace("\\", "/") for line in lines]
    for mark, instead in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):
        clean = [line.replace(mark, instead) for line in clean]
    return ["/*", *(f" * {line}".rstrip() for line in clean), " */"]


@dataclass(eq=False)
class Tables:
    """The constants of a C program, each stored once.

    Parameters
    ----------
    name : str
        What all identifiers begin with.
    dtype : type
        float64 or float32.
    """

    name: str
    dtype: Any
    lines: list[str] = field(default_factory=list)
    _known: dict[Any, str] = field(default_factory=dict)

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "float" if self.dtype == np.float32 else "double"

    def function(self, name: str) -> str:
        """A function of math.h for these numbers; fmax and fmin are functions of the program, which keep NaN."""
        if name in ORDERS:
            return self._of_two(name)
        return f"{name}f" if self.dtype == np.float32 else name

    def _of_two(self, name: str) -> str:
        """The larger or smaller of two numbers, NaN if one of them is; those of math.h would give the other."""
        if name not in self._known:
            self._known[name], real = f"{self.name}_{name}", self.real
            head = f"static {real} {self._known[name]}({real} a, {real} b)"
            self.lines += [head, "{", f"    return a {ORDERS[name]} b || a != a ? a : b;", "}"]
        return self._known[name]

    def number(self, value: Any) -> str:
        """A number in a formula; in brackets if it is negative."""
        text = self.literal(value)
        return f"({text})" if text.startswith("-") else text

    def literal(self, value: Any) -> str:
        """A number that reads back as it is."""
        (value,) = as_numbers(np.asarray([value], dtype=np.float64), self.dtype)
        return f"{value!s}f" if self.dtype == np.float32 else repr(float(value))

    def table(self, values: np.ndarray) -> str:
        """The identifier of a table of numbers, or of whole numbers."""
        whole = values.dtype.kind in "iu"
        values = values if whole else as_numbers(values, self.dtype)
        key = (values.shape, values.dtype.kind, values.tobytes())
        if key not in self._known:
            self._known[key] = identifier = f"{self.name}_c{len(self._known)}"
            kind = self.real if not whole else "unsigned short" if np.max(values) < SMALL_WHOLE else "unsigned int"
            self.lines += _declared(f"static const {kind} {identifier}", values, str if whole else self.literal)
        return self._known[key]


def _declared(head: str, values: np.ndarray, text: Any) -> list[str]:
    """The lines of a table with one or two axes."""
    head += "".join(f"[{n}]" for n in values.shape) + " = {"
    if values.ndim == 1:
        return [head, *_wrapped([text(v) for v in values.tolist()], "    "), "};"]
    lines = [head]
    for row in values.tolist():
        texts = [text(v) for v in row]
        short = len(texts) <= PER_LINE
        lines += [f"    {{{', '.join(texts)}}},"] if short else ["    {", *_wrapped(texts, " " * 8), "    },"]
    return [*lines, "};"]


def _wrapped(texts: Sequence[str], indent: str) -> list[str]:
    lines = (texts[k : k + PER_LINE] for k in range(0, len(texts), PER_LINE))
    return [f"{indent}{', '.join(line)}," for line in lines]
