"""Pieces of a page: sections, tables, pictures. All text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sparsebayes.inspection._pictures import pictures_of
from sparsebayes.summaries.hypertext import escaped

WIDE = 700  # pixels of a picture that is not made smaller on narrow screens, but scrolls in itself


@dataclass(frozen=True)
class Section:
    """A section of a page.  anchor : what links name it.  parts : its HTML."""

    anchor: str
    title: str
    parts: Sequence[str]

    @property
    def html(self) -> str:
        """The section with its heading."""
        return "\n".join([f'<section><h2 id="{self.anchor}">{escaped(self.title)}</h2>', *self.parts, "</section>"])


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph.  kind : "note" or "warning" for one in a box."""
    return f"<p{_class(kind)}>{escaped(text)}</p>"


def heading(text: str) -> str:
    """The heading of a part of a section."""
    return f"<h3>{escaped(text)}</h3>"


def bullets(texts: Iterable[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in texts)}</ul>"


def code(lines: str) -> str:
    """Lines of a program."""
    return f"<pre><code>{chr(10).join(map(escaped, lines.splitlines()))}</code></pre>"


def scrolling(html: str) -> str:
    """A piece that scrolls in itself where it is wider than the page."""
    return f'<div class="scroll">{html}</div>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values below one another."""
    rows = (f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>' for name, value in pairs)
    return scrolling(f"<table><tbody>{''.join(rows)}</tbody></table>")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool]) -> str:
    """A table.  numeric : which of its columns hold numbers, already written as text."""
    head = "".join(
        f'<th scope="col"{_number(own)}>{escaped(each)}</th>' for each, own in zip(heads, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_number(own)}>{escaped(cell)}</td>" for cell, own in zip(row, numeric, strict=True))
        + "</tr>"
        for row in rows
    )
    return scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def tiles(pairs: Iterable[tuple[str, str]]) -> str:
    """The figures that matter most, side by side."""
    cells = (f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="tiles">{"".join(cells)}</dl>'


def picture(caption: str, draw: Callable[[], Any], by_panel: bool = False) -> str:
    """A display with its caption; one sentence if it refuses what it was given.

    by_panel : whether the panels may stand below one another, where a page is narrow.
    """
    try:
        images = pictures_of(draw, by_panel)
    except ValueError as error:
        return paragraph(f"Not drawn: {error}", "note")
    caption += f" {images[0].title}." if images[0].title else ""
    tags = "".join(
        f'<img src="data:image/png;base64,{base64.b64encode(each.png).decode()}" width="{each.width}" '
        f'height="{each.height}" alt="{escaped(caption)}">'
        for each in images
    )
    kind = "pictures wide" if images[0].width > WIDE else "pictures"
    return f'<figure><div class="{kind}">{tags}</div><figcaption>{escaped(caption)}</figcaption></figure>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _number(numeric: bool) -> str:
    return _class("number" if numeric else "")
