"""A summary as HTML."""

from __future__ import annotations

import html
from typing import Any

from sparsebayes.summaries.numbers import aligned
from sparsebayes.summaries.text import printable

RULE = "1px solid currentColor"
CELL = "padding: 0.15em 0.7em; border: none; background: none"
TEXT = f"{CELL}; text-align: left"
NUMBER = f"{CELL}; text-align: right; font-family: monospace; white-space: pre"
TABLE = "border-collapse: collapse; border: none; margin: 0.4em 0"


def as_html(summary: Any) -> str:
    """The title, the facts, the table and the notes of a summary; its colours are those of the page."""
    parts = [f'<div style="font-weight: bold">{escaped(summary.title)}</div>', _facts(summary)]
    parts += [_table(summary)] if len(summary.shown) else []
    parts += [f'<div style="font-size: 85%; opacity: 0.8">{escaped(note)}</div>' for note in summary.notes]
    return '<div class="sparsebayes-summary">' + "\n".join(parts) + "</div>"


def escaped(text: str) -> str:
    """Text that means in HTML what it says."""
    return html.escape(printable(text))


def _facts(summary: Any) -> str:
    rows = (
        f'<tr style="background: none"><th scope="row" style="{TEXT}; font-weight: normal; opacity: 0.7">'
        f'{escaped(name)}</th><td style="{TEXT}">{escaped(value)}</td></tr>'
        for name, value in summary.facts
    )
    return f'<table style="{TABLE}"><tbody>{"".join(rows)}</tbody></table>'


def _table(summary: Any) -> str:
    cells = [(column.numeric, aligned(texts) if column.numeric else texts) for column, texts in summary.cells()]
    heads = "".join(
        f'<th scope="col" style="{TEXT if not column.numeric else CELL + "; text-align: right"}">'
        f"{escaped(column.heading)}</th>"
        for column in summary.columns
    )
    rows = "".join(
        '<tr style="background: none">'
        + "".join(
            f'<td style="{NUMBER if numeric else TEXT}">{escaped(texts[k]).replace("-", "−" if numeric else "-")}</td>'
            for numeric, texts in cells
        )
        + "</tr>"
        for k in range(len(summary.shown))
    )
    style = f"{TABLE}; border-top: {RULE}; border-bottom: {RULE}"
    head = f'<thead style="border-bottom: {RULE}"><tr style="background: none">{heads}</tr></thead>'
    return f'<table style="{style}">{head}<tbody>{rows}</tbody></table>'
