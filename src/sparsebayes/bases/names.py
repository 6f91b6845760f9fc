"""Names of functions, from the names of the inputs or from where the functions are."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN = re.compile(r"[^\W\d][\w.]*")  # an input whose name needs no brackets beside other factors
Factor = tuple[str, float]  # an input less its origin
Product = list[Factor]  # with an input as often as it is a factor; none for the constant 1
LEAST_DIGITS, MOST_DIGITS = 3, 17  # of a coordinate: 17 tell any two numbers of double precision apart


def input_names(names: Sequence[str] | None, n_inputs: int) -> list[str]:
    """The names of the inputs as strings, x0, x1, … if they are None; ValueError if there are more or fewer."""
    if names is None:
        return [f"x{k}" for k in range(n_inputs)]
    if len(names) != n_inputs:
        raise ValueError(f"input_features must have one name for each of {n_inputs} inputs, got {len(names)}.")
    return [str(name) for name in names]


def numbered(names: Sequence[str]) -> list[str]:
    """The names, the second of several equal ones with " (2)" after it, the third with " (3)", …"""
    if len(set(names)) == len(names):
        return list(names)
    taken, result = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        if seen[name] > 1:
            later = (f"{name} ({k})" for k in itertools.count(seen[name]))
            name = next(each for each in later if each not in taken)
            taken.add(name)
        result.append(name)
    return result


def at_places(label: str, kind: str, numbers: np.ndarray) -> list[str]:
    """Such as "RBF at row 17" and "RBF at row 23", with kind "row" and these numbers."""
    return [f"{label} at {kind} {number}" for number in numbers.tolist()]


def bracketed(name: str) -> str:
    """A name as a factor of a product: in square brackets unless it is a word."""
    return name if PLAIN.fullmatch(name) else f"[{name}]"


def monomial(factors: Sequence[Factor]) -> str:
    """The product of inputs, each (name, origin) as often as it is a factor: "x1·x2", "x1²", "(x1 − 3)²·x2"."""
    if len(factors) == 1:
        return factors[0][0]
    powers = Counter(_shifted(*each) for each in factors)
    return "·".join(text + (str(p).translate(SUPERSCRIPTS) if p > 1 else "") for text, p in powers.items())


def _shifted(name: str, origin: float) -> str:
    name = bracketed(name)
    return name if origin == 0 else f"({name} {'−' if origin > 0 else '+'} {abs(origin)!r})"


def coordinates(points: np.ndarray, which: np.ndarray) -> list[str]:
    """The points (N, d) of these numbers, such as "0.41" or "(3, 0.5)", with digits enough to tell all N apart."""
    digits = [_digits(column) for column in points.T]
    texts = [[f"{value + 0.0:.{p}g}" for value, p in zip(point, digits, strict=True)] for point in points[which]]
    return [each[0] if len(each) == 1 else f"({', '.join(each)})" for each in texts]


def _digits(values: np.ndarray) -> int:
    """Significant digits that tell different values apart."""
    distinct = np.unique(values)
    if len(distinct) < 2:
        return LEAST_DIGITS
    with np.errstate(over="ignore"):
        ratio = float(np.abs(distinct).max() / np.diff(distinct).min())
    return min(max(LEAST_DIGITS, math.ceil(math.log10(ratio)) + 1), MOST_DIGITS) if ratio < 1e17 else MOST_DIGITS
