"""A summary as text in columns of equal width."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from sparsebayes.summaries.numbers import aligned

GAP = "  "
WIDEST = 100  # columns of a terminal, which a list of facts is broken for


def width(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for a combining one."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    r"""The text on one line: line breaks and other control characters as Python writes them, such as \n."""
    return "".join(repr(each)[1:-1] if unicodedata.category(each) in ("Cc", "Zl", "Zp") else each for each in text)


def padded(text: str, to: int, right: bool) -> str:
    """The text with spaces before it (`right`) or after it, up to a width."""
    space = " " * (to - width(text))
    return space + text if right else text + space


def as_text(summary: Any) -> str:
    """The title, the facts, the table and the notes of a summary."""
    facts = [(printable(name), printable(value)) for name, value in summary.facts]
    widest = max((width(name) for name, _ in facts), default=0)
    lines = [printable(summary.title)]
    for name, value in facts:
        first, *more = broken(value, WIDEST - widest - len(GAP))
        lines += [padded(name, widest, False) + GAP + first, *(" " * widest + GAP + line for line in more)]
    if len(summary.shown):
        table = _table(summary)
        rule = "─" * max(map(width, table))
        lines += [rule, table[0], rule, *table[1:], rule]
    return "\n".join(line.rstrip() for line in [*lines, *map(printable, summary.notes)])


def broken(text: str, to: int) -> list[str]:
    """A list as lines up to a width, broken after commas; longer if there is none."""
    lines: list[str] = []
    for each in re.split(r"(?<=[,;]) ", text):
        if lines and width(f"{lines[-1]} {each}") <= to:
            lines[-1] += f" {each}"
        else:
            lines.append(each)
    return lines


def _table(summary: Any) -> list[str]:
    """The lines of the table, the headings first."""
    columns = []
    for column, texts in summary.cells():
        cells = aligned(texts) if column.numeric else [printable(text) for text in texts]
        cells = [column.heading, *cells]
        to = max(map(width, cells))
        columns.append([padded(cell, to, column.numeric) for cell in cells])
    return [GAP.join(row) for row in zip(*columns, strict=True)]
