"""A summary as text in columns of equal width."""

from __future__ import annotations

import unicodedata
from typing import Any

from sparsebayes.summaries.numbers import aligned

GAP = "  "


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
    lines = [printable(summary.title), *(padded(name, widest, False) + GAP + value for name, value in facts)]
    if len(summary.shown):
        table = _table(summary)
        rule = "─" * max(map(width, table))
        lines += [rule, table[0], rule, *table[1:], rule]
    return "\n".join(line.rstrip() for line in [*lines, *map(printable, summary.notes)])


def _table(summary: Any) -> list[str]:
    """The lines of the table, the headings first."""
    columns = []
    for column, texts in summary.cells():
        cells = aligned(texts) if column.numeric else [printable(text) for text in texts]
        cells = [column.heading, *cells]
        to = max(map(width, cells))
        columns.append([padded(cell, to, column.numeric) for cell in cells])
    return [GAP.join(row) for row in zip(*columns, strict=True)]
