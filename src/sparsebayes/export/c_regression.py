"""Regressions in C."""

from __future__ import annotations

import numpy as np

from sparsebayes.export.c_expressions import functions_in_c, own_in_c
from sparsebayes.export.c_tables import Tables
from sparsebayes.export.description import ExtraFunction, Regression, Regressions, Spread
from sparsebayes.export.kernel_expressions import LEAST


def packed(root: np.ndarray) -> np.ndarray:
    """A lower triangular matrix column after column, without the zeros above the diagonal."""
    return root.T[np.triu_indices(len(root))]


def regression_signature(model: Regressions, tables: Tables) -> str:
    """The head of the C function that predicts."""
    more = f", {tables.real} std[{len(model.places)}]" if model.has_std else ""
    inputs = f"const {tables.real} x[{model.n_inputs}]"
    return f"void {tables.name}_predict({inputs}, {tables.real} mean[{len(model.places)}]{more})"


def regression_in_c(model: Regressions, tables: Tables) -> list[str]:
    """The C functions of a regression.

    Parameters
    ----------
    model : Regressions
        The described model.
    tables : Tables
        Where constants go.

    Returns
    -------
    list of str
        Their lines.
    """
    lines, body, start = list[str](), list[str](), 0
    outputs = np.argsort(model.places)
    for k, each in enumerate(model.models):
        own = outputs[start : start + len(each.intercept)]
        start += len(own)
        lines += functions_in_c(each.functions, tables, f"{tables.name}_functions{k}")
        if each.spread is not None and each.spread.extra is not None:
            lines += _extra_functions(each.spread.extra, tables, k)
        body += ["{", *(f"    {line}" for line in _predicted(each, tables, k, own)), "}"]
    return [*lines, regression_signature(model, tables), "{", *(f"    {line}" for line in body), "}"]


def _predicted(model: Regression, tables: Tables, number: int, outputs: np.ndarray) -> list[str]:
    """Statements that set mean and standard deviation of some outputs."""
    S, T = model.weights.shape
    t = f"{tables.table(outputs)}[t]" if np.any(outputs != np.arange(T)) else "t"
    lines = [
        f"{tables.real} phi[{S}];",
        f"{tables.name}_functions{number}(x, phi);",
        f"for (int t = 0; t < {T}; t++) {{",
        f"    {tables.real} f = {tables.table(model.intercept)}[t];",
        f"    for (int m = 0; m < {S}; m++)",
        f"        f += {tables.table(model.weights)}[m][t] * phi[m];",
        f"    mean[{t}] = f;",
        "}",
    ]
    if model.spread is None:
        return lines
    root = f"{tables.function('sqrt')}(variance)"
    inside = _variance(model.spread, tables, S, number)
    inside += [f"for (int t = 0; t < {T}; t++)", f"    std[{t}] = {tables.table(model.scales)}[t] * {root};"]
    return [*lines, "if (std) {", *(f"    {line}" for line in inside), "}"]


def _variance(spread: Spread, tables: Tables, S: int, number: int) -> list[str]:
    """Statements that set `variance`, of an output of scale 1, from phi."""
    real, extra = tables.real, spread.extra
    lines = [
        f"const {real} *root = {tables.table(packed(spread.root))};",
        f"{real} variance = {tables.number(spread.constant)};",
        *([f"{real} half[{S}];"] if extra else []),
        f"for (int m = 0; m < {S}; m++)",
        f"    phi[m] -= {tables.table(spread.centre)}[m];",
        f"for (int j = 0; j < {S}; j++) {{",
        f"    {real} h = 0;",
        f"    for (int m = j; m < {S}; m++)",
        "        h += *root++ * phi[m];",
        "    variance += h * h;",
        *(["    half[j] = h;"] if extra else []),
        "}",
    ]
    return lines if extra is None else [*lines, f"variance += {tables.name}_gained{number}(x, half);"]


def _extra_functions(extra: ExtraFunction, tables: Tables, number: int) -> list[str]:
    """The C function that says what the function at the query adds to the variance."""
    name, real, (N, S) = tables.name, tables.real, extra.columns.shape
    d, largest = extra.functions.n_inputs, tables.function("fmax")
    P, B = f"{tables.table(extra.columns)}[n][j]", f"{tables.table(extra.precisions)}[n]"
    body = f"""\
{real} phi[{N}], p[{S}] = {{0}}, g[{S}] = {{0}}, S = 0, mean = 0;
const {real} own = {name}_own{number}(x);
const {real} *root = {tables.table(extra.prior_root[np.tril_indices(S)])};
{real} e = own;
{name}_extra{number}(x, phi);
for (int n = 0; n < {N}; n++)
    mean += {tables.table(extra.shares)}[n] * phi[n];
for (int n = 0; n < {N}; n++)
    for (int j = 0; j < {S}; j++)
        p[j] += {B} * (phi[n] - mean) * {P};
for (int n = 0; n < {N}; n++) {{
    {real} r = phi[n] - mean;
    for (int j = 0; j < {S}; j++)
        r -= {P} * p[j];
    S += {B} * r * r;
    for (int j = 0; j < {S}; j++)
        g[j] += {B} * r * {P};
}}
for (int m = 0; m < {S}; root += ++m) {{
    {real} q = 0;
    for (int j = 0; j <= m; j++)
        q += root[j] * p[j];
    for (int j = 0; j <= m; j++)
        g[j] -= root[j] * q;
    S += q * q;
}}
e -= mean;
for (int j = 0; j < {S}; j++) {{
    e -= half[j] * (p[j] + g[j]);
    S -= g[j] * g[j];
}}
return e * e / {largest}(own * own / {tables.number(extra.target_variance)} + {largest}(S, 0), {tables.number(LEAST)});
""".splitlines()
    head = f"static {real} {name}_gained{number}(const {real} *x, const {real} *half)"
    return [
        *functions_in_c(extra.functions, tables, f"{name}_extra{number}"),
        *own_in_c(extra.kernel, tables, d, f"{name}_own{number}"),
        head,
        "{",
        *(f"    {line}" for line in body),
        "}",
    ]
