"""Functions of x in C, from their formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sparsebayes.export.c_tables import Tables
from sparsebayes.export.expressions import REDUCTIONS, Expression
from sparsebayes.export.functions import Functions, KernelFunctions, Monomials

SIGNS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
CALLS = {
    "Abs": "fabs",
    "Cos": "cos",
    "Exp": "exp",
    "Log": "log",
    "Max": "fmax",
    "Min": "fmin",
    "Sin": "sin",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}


@dataclass(eq=False)
class FormulaWriter:
    """The C of one formula: what depends on x alone is computed before the loop over the centres m.

    Parameters
    ----------
    tables : Tables
        Where constants go.
    d : int
        The number of inputs.
    before, inside : list of str
        Statements before the loop over the centres, and in it.
    """

    tables: Tables
    d: int
    before: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    _known: dict[int, str] = field(default_factory=dict)
    _uses: Counter[int] = field(default_factory=Counter)
    _count: int = 0

    def value(self, formula: Expression) -> str:
        """The value of a formula for a pair of x and a centre; its statements are in `before` and `inside`."""
        self._count_uses(formula, set())
        return self._pair(formula)

    def _count_uses(self, each: Expression, seen: set[int]) -> None:
        for arg in each.args:
            self._uses[id(arg)] += 1
            if id(arg) not in seen:
                seen.add(id(arg))
                self._count_uses(arg, seen)

    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _pair(self, each: Expression) -> str:
        """One value for each pair."""
        if each.op == "number":
            return self.tables.number(each.value)
        if each.op == "centres":
            return f"{self.tables.table(np.asarray(each.value))}[m]"
        if id(each) not in self._known:
            lines = self.inside if each.of_centre else self.before
            if each.op in REDUCTIONS:
                self._known[id(each)] = self._reduced(each, lines)
            else:
                text = self._applied(each, self._pair)
                named = self._uses[id(each)] > 1 or not each.of_centre
                self._known[id(each)] = self._named(text, "v", lines) if named else text
        return self._known[id(each)]

    def _reduced(self, each: Expression, lines: list[str]) -> str:
        """A sum or product over the inputs, in a loop of its own."""
        total, body = self._fresh("s"), list[str]()
        text = self._entry(each.args[0], each.of_centre, {}, body)
        start, sign = ("0", "+=") if each.op == "ReduceSum" else ("1", "*=")
        lines.append(f"{self.tables.real} {total} = {start};")
        lines += [f"for (int k = 0; k < {self.d}; k++) {{", *(f"    {line}" for line in body)]
        lines += [f"    {total} {sign} {text};", "}"]
        return total

    def _entry(self, each: Expression, of_centre: bool, known: dict[int, str], body: list[str]) -> str:
        """One value for input k, inside a loop over k."""
        if each.op == "x":
            return "x[k]"
        if each.op in ("inputs", "table"):
            index = "[k]" if each.op == "inputs" else "[m][k]"
            return f"{self.tables.table(np.asarray(each.value))}{index}"
        if not each.by_input:
            return self._pair(each)
        if of_centre and not each.of_centre:
            return f"{self._hoisted(each)}[k]"
        if id(each) not in known:
            text = self._applied(each, lambda arg: self._entry(arg, of_centre, known, body))
            known[id(each)] = self._named(text, "u", body) if self._uses[id(each)] > 1 else text
        return known[id(each)]

    def _hoisted(self, each: Expression) -> str:
        """An array of values of the inputs that do not depend on the centre."""
        if id(each) not in self._known:
            name, body = self._fresh("h"), list[str]()
            text = self._entry(each, False, {}, body)
            self.before += [f"{self.tables.real} {name}[{self.d}];", f"for (int k = 0; k < {self.d}; k++) {{"]
            self.before += [*(f"    {line}" for line in body), f"    {name}[k] = {text};", "}"]
            self._known[id(each)] = name
        return self._known[id(each)]

    def _named(self, text: str, letter: str, lines: list[str]) -> str:
        name = self._fresh(letter)
        lines.append(f"const {self.tables.real} {name} = {text};")
        return name

    def _applied(self, each: Expression, of: Callable[[Expression], str]) -> str:
        args = [of(arg) for arg in each.args]
        if each.op in SIGNS:
            return f"({args[0]} {SIGNS[each.op]} {args[1]})"
        return f"(-{args[0]})" if each.op == "Neg" else f"{self.tables.function(CALLS[each.op])}({', '.join(args)})"


def functions_in_c(functions: Functions, tables: Tables, name: str) -> list[str]:
    """A C function that computes all functions at x.

    Parameters
    ----------
    functions : Functions
        The functions.
    tables : Tables
        Where constants go.
    name : str
        The name of the C function.

    Returns
    -------
    list of str
        Its lines.
    """
    real, start, places = tables.real, 0, np.argsort(functions.order)
    lines = [f"static void {name}(const {real} *x, {real} *phi)", "{"]
    for part in functions.parts:
        where = places[start : start + part.size]
        start += part.size
        simple = np.array_equal(where, np.arange(where[0], where[0] + part.size))
        place = f"m + {where[0]}" if simple and where[0] else "m" if simple else f"{tables.table(where)}[m]"
        body = (
            _kernel(part, tables, functions.n_inputs, place)
            if isinstance(part, KernelFunctions)
            else _monomials(part, tables, place)
        )
        lines += [
            *(f"    {line}" for line in (f"{{ /* {part.size} functions */", *(f"    {each}" for each in body), "}"))
        ]
    return [*lines, "}"]


def own_in_c(kernel: KernelFunctions, tables: Tables, d: int, name: str) -> list[str]:
    """A C function that computes k(x, x)."""
    writer = FormulaWriter(tables, d)
    value = writer.value(kernel.own)
    unused = [] if any("x[k]" in line for line in writer.before) else ["(void)x;"]
    body = [*unused, *writer.before, f"return {value};"]
    return [f"static {tables.real} {name}(const {tables.real} *x)", "{", *(f"    {line}" for line in body), "}"]


def _kernel(part: KernelFunctions, tables: Tables, d: int, place: str) -> list[str]:
    writer = FormulaWriter(tables, d)
    value = writer.value(part.formula)
    inside = [*writer.inside, f"phi[{place}] = {value};"]
    return [*writer.before, f"for (int m = 0; m < {part.size}; m++) {{", *(f"    {line}" for line in inside), "}"]


def _monomials(part: Monomials, tables: Tables, place: str) -> list[str]:
    """Products of entries of [x − o, 1, x]; columns of x where there are no others."""
    d, degree = len(part.origin), part.numbers.shape[1]
    loop = f"for (int m = 0; m < {part.size}; m++) {{"
    if degree == 1 and np.min(part.numbers) > d:
        return [loop, f"    phi[{place}] = x[{tables.table(part.numbers[:, 0] - d - 1)}[m]];", "}"]
    numbers = tables.table(part.numbers)
    shifted = "x[k]" if not np.any(part.origin) else f"x[k] - {tables.table(np.array(part.origin))}[k]"
    return [
        loop,
        f"    {tables.real} v = 1;",
        f"    for (int j = 0; j < {degree}; j++) {{",
        f"        const int k = {numbers}[m][j];",
        f"        if (k < {d})",
        f"            v *= {shifted};",
        f"        else if (k > {d})",
        f"            v *= x[k - {d + 1}];",
        "    }",
        f"    phi[{place}] = v;",
        "}",
    ]
