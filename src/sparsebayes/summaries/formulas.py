"""A weighted sum of products of inputs as text, LaTeX or Python."""

from __future__ import annotations

import keyword
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsebayes.bases.names import SUPERSCRIPTS, Factor, Product, bracketed
from sparsebayes.summaries.latex import GREEK
from sparsebayes.summaries.numbers import LARGEST, SMALLEST
from sparsebayes.summaries.text import printable

DIGITS = 3  # significant ones of a number that is to be read
INDEXED = re.compile(r"([A-Za-z])(\d+)")  # x12
MATHEMATICS = str.maketrans(
    {character: f"\\{character}" for character in "#$%&_{}"}
    | {" ": "\\ ", "\\": r"\backslash ", "~": r"\sim ", "^": r"\hat{\ }", "·": r"\cdot ", "×": r"\times ", "−": "-"}
    | {character: f"{name} " for character, name in GREEK.items()}
    | {character: f"^{{{k}}}" for k, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)


@dataclass(frozen=True)
class Term:
    """A function with its weight.

    weight : w.  product : the inputs that the function is the product of; None if it is none.  name : its name.
    """

    weight: float
    product: Product | None
    name: str


class Style(ABC):
    """How numbers, inputs and products are written."""

    times, plus, minus = "·", " + ", " − "
    approximately = "{} ≈ {}"

    @abstractmethod
    def number(self, value: float) -> str:
        """A number that is not negative."""

    @abstractmethod
    def variable(self, name: str) -> str:
        """An input as a factor."""

    @abstractmethod
    def label(self, name: str) -> str:
        """The name of a class or an output, not as a factor."""

    @abstractmethod
    def power(self, base: str, exponent: int) -> str:
        """A factor to a power of at least 2."""

    def function(self, term: Term) -> str:
        """The function of a term: the product of its inputs, or its name; empty for the constant 1."""
        if term.product is None:
            return self.variable(term.name)
        powers = Counter(map(self._shifted, term.product))
        return self.times.join(self.power(base, n) if n > 1 else base for base, n in powers.items())

    def _shifted(self, factor: Factor) -> str:
        name, origin = self.variable(factor[0]), factor[1]
        return name if origin == 0 else f"({name}{self.sign(-origin)}{self.number(abs(origin))})"

    def sign(self, value: float) -> str:
        """The sign between two terms."""
        return self.minus if value < 0 else self.plus

    def expression(self, intercept: float | None, terms: Sequence[Term]) -> str:
        """b + Σ_m w_m φ_m; without b if it is None."""
        pieces = [] if intercept is None else [(intercept, self.number(abs(intercept)))]
        for term in terms:
            factors = [self.number(abs(term.weight)), self.function(term)]
            pieces.append((term.weight, self.times.join(filter(None, factors))))
        if not pieces:
            return self.number(0.0)
        first, *rest = pieces
        lead = self.minus.strip() if first[0] < 0 else ""
        return lead + first[1] + "".join(self.sign(value) + text for value, text in rest)


@dataclass(frozen=True)
class Text(Style):
    """1.23 + 2·x1·x2 − 0.31·x3²."""

    digits: int = DIGITS

    def number(self, value: float) -> str:
        """With so many significant digits."""
        return short(value, self.digits)

    def variable(self, name: str) -> str:
        """In square brackets unless it is a word."""
        return bracketed(printable(name))

    def label(self, name: str) -> str:
        """As it is."""
        return printable(name)

    def power(self, base: str, exponent: int) -> str:
        """With superscripts."""
        return base + str(exponent).translate(SUPERSCRIPTS)


@dataclass(frozen=True)
class Latex(Style):
    r"""1.23 + 2\,x_{1}\,x_{2} - 0.31\,x_{3}^{2}, for mathematics mode."""

    digits: int = DIGITS
    times, minus = r"\,", " - "
    approximately = r"{} \approx {}"

    def number(self, value: float) -> str:
        """With so many significant digits, powers of ten written out."""
        factor, _, power = short(value, self.digits).partition("e")
        return rf"{factor}\cdot 10^{{{int(power)}}}" if power else factor

    def variable(self, name: str) -> str:
        """A letter with an index, or upright."""
        indexed = INDEXED.fullmatch(name)
        if indexed:
            return f"{indexed[1]}_{{{indexed[2]}}}"
        return self.label(bracketed(name))

    def label(self, name: str) -> str:
        """Upright."""
        return rf"\mathrm{{{printable(name).translate(MATHEMATICS)}}}"

    def power(self, base: str, exponent: int) -> str:
        """With an exponent."""
        return f"{base}^{{{exponent}}}"


@dataclass(frozen=True)
class Python(Style):
    """1.23 + 2.0*x1*x2 - 0.31*x3**2.

    digits : None for all digits.  quoted : whether an input is X["name"], not a variable.
    """

    digits: int | None = None
    quoted: bool = False
    times, minus = "*", " - "

    def number(self, value: float) -> str:
        """With so many significant digits, as a float."""
        return repr(float(value) if self.digits is None else float(f"{value:.{self.digits}g}"))

    def variable(self, name: str) -> str:
        """A variable, or an item of X."""
        return f"X[{name!r}]" if self.quoted else name

    def label(self, name: str) -> str:
        """As it is: an expression has no left side."""
        return name

    def power(self, base: str, exponent: int) -> str:
        """With two asterisks."""
        return f"{base}**{exponent}"


def short(value: float, digits: int) -> str:
    """A number with at most so many significant digits, with an exponent only if it is very large or small."""
    cut = float(f"{value:.{digits}g}")
    if cut == 0 or SMALLEST <= abs(cut) < LARGEST:
        return np.format_float_positional(cut, trim="-")
    return f"{cut:.{digits}g}"


def is_variable(name: str) -> bool:
    """Whether a name can be that of a variable in Python."""
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name


def style_of(style: str, precision: int | None, inputs: Sequence[str]) -> Style:
    """The style of this name; precision : significant digits, None for few to read and for all in Python."""
    if style == "python":
        return Python(precision, not all(map(is_variable, inputs)))
    return (Latex if style == "latex" else Text)(DIGITS if precision is None else precision)
