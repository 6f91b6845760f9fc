"""Numbers of a table as text, and columns of them aligned at the decimal point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MISSING = "—"
SMALLEST, LARGEST = 1e-4, 1e6  # sizes between which a number is written without an exponent
MOST_DECIMALS = 9  # of a standard deviation, two digits besides
DIGITS, MOST_DIGITS = 4, 12  # significant ones, and how many of a number far larger than its error


def significant(value: float, digits: int = DIGITS) -> str:
    """A number with this many significant digits, such as "1.230", "12345" or "1.230e-07"."""
    if not math.isfinite(value):
        return MISSING if math.isnan(value) else f"{value:g}"
    if value == 0:
        return "0"
    if not SMALLEST <= abs(value) < LARGEST:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(digits - 1 - math.floor(math.log10(abs(value))), 0)}f}"


def alike(values: Sequence[float], digits: int = DIGITS) -> list[str]:
    """Numbers with the same decimals, so many that the smallest of them but 0 has this many significant digits."""
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes or not (SMALLEST <= min(sizes) and max(sizes) < LARGEST):
        return [significant(value, digits) for value in values]
    decimals = max(digits - 1 - math.floor(math.log10(min(sizes))), 0)
    return [fixed(value, decimals) for value in values]


def rounded(value: float, error: float) -> str:
    """A number rounded where its standard deviation has its third significant digit."""
    if not (math.isfinite(value) and 0 < error < math.inf):
        return significant(value)
    first = math.floor(math.log10(error))
    if SMALLEST <= max(abs(value), error) < LARGEST and first >= -MOST_DECIMALS:
        return f"{round(value, 2 - first) + 0.0:.{max(2 - first, 0)}f}"
    size = first if value == 0 else max(math.floor(math.log10(abs(value))), first)
    return f"{value:.{min(size - first + 2, MOST_DIGITS)}e}"


def fixed(value: float, decimals: int) -> str:
    """A number with this many decimals; with an exponent if it is large."""
    if not abs(value) < LARGEST:  # nor if it is not a number
        return significant(value)
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def nats(value: float) -> str:
    """A difference of log evidences, such as "12.34"."""
    return fixed(value, 2)


def share(value: float) -> str:
    """A number between 0 and 1, such as "0.998"."""
    return fixed(value, 3)


def plain(value: Any) -> str:
    """Text or a whole number as it is; a missing one as a dash."""
    return MISSING if value is None else str(value)


def parted(number: str) -> tuple[str, str]:
    """A number as text in two pieces: up to its decimal point or exponent, and the rest."""
    cut = min((k for k in map(number.find, ".e") if k >= 0), default=len(number))
    return number[:cut], number[cut:]


def aligned(numbers: Sequence[str]) -> list[str]:
    """The numbers padded with spaces on both sides, so that their decimal points are below one another."""
    pieces = [parted(number) for number in numbers]
    left, right = (max((len(piece[k]) for piece in pieces), default=0) for k in (0, 1))
    return [f"{head:>{left}}{tail:<{right}}" for head, tail in pieces]
