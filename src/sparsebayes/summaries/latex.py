"""A summary as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparsebayes.summaries.numbers import MISSING, parted
from sparsebayes.summaries.text import printable

GREEK = dict(
    zip(
        "αβγδεζηθικλμµνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
        r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \mu \nu \xi \pi \rho "
        r"\varsigma \sigma \tau \upsilon \phi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon "
        r"\Phi \Psi \Omega".split(),
        strict=True,
    )
)
SPECIAL = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "−": "$-$",
    "—": "---",
    "…": r"\dots{}",
    "[": "{[}",  # at the beginning of a row it would be the height of the one above
    "*": "{*}",
    **{character: f"${name}$" for character, name in GREEK.items()},
    **{character: f"$^{{{k}}}$" for k, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
ESCAPES = str.maketrans(SPECIAL)


def escaped(text: str) -> str:
    """Text that means in LaTeX what it says."""
    return printable(text).translate(ESCAPES)


def numbers(texts: Sequence[str]) -> list[str]:
    """Numbers in mathematics, padded so that their decimal points are below one another."""
    longest = max((len(parted(text)[1]) for text in texts if "e" not in text), default=0)
    return [_number(text, longest) for text in texts]


def _number(text: str, longest: int) -> str:
    if text == MISSING:
        return escaped(text)
    if text.lstrip("-") == "inf":
        return f"${text.replace('inf', chr(92) + 'infty')}$"
    if "e" in text:
        factor, power = text.split("e")
        return rf"${factor}\cdot 10^{{{int(power)}}}$"
    missing = longest - len(parted(text)[1])
    padding = "0" * missing if "." in text else ("." + "0" * missing)[:missing]
    return f"${text}$" + (rf"\phantom{{{padding}}}" if padding else "")


def as_latex(summary: Any) -> str:
    """The table of a summary as a `tabular`, title and facts as comments before it, notes after it."""
    comments = [summary.title, *(f"{name}: {value}" for name, value in summary.facts)]
    lines = [_comment(each) for each in comments]
    if len(summary.shown):
        cells = [numbers(texts) if c.numeric else list(map(escaped, texts)) for c, texts in summary.cells()]
        lines += [
            r"\begin{tabular}{" + "".join("r" if column.numeric else "l" for column in summary.columns) + "}",
            r"\hline",
            " & ".join(escaped(column.heading) for column in summary.columns) + r" \\",
            r"\hline",
            *(" & ".join(row) + r" \\" for row in zip(*cells, strict=True)),
            r"\hline",
            r"\end{tabular}",
        ]
    return "\n".join([*lines, *map(_comment, summary.notes)])


def _comment(text: str) -> str:
    return f"% {printable(text)}"
