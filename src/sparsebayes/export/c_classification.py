"""Classifications in C."""

from __future__ import annotations

import numpy as np

from sparsebayes.export.c_expressions import functions_in_c
from sparsebayes.export.c_regression import packed
from sparsebayes.export.c_tables import Tables, quoted
from sparsebayes.export.description import Averaging, Classification, Doubt
from sparsebayes.export.kernel_expressions import LEAST
from sparsebayes.export.tensor_program import SINGLE_RIDGE, class_points
from sparsebayes.laplace.classes import NODES, RIDGES, SMALLEST, WIDTHS


def classification_signature(model: Classification, tables: Tables) -> str:
    """The head of the C function that predicts."""
    inputs, classes = f"const {tables.real} x[{model.n_inputs}]", len(model.classes)
    return f"int {tables.name}_predict_proba({inputs}, {tables.real} probability[{classes}])"


def labels_in_c(model: Classification, tables: Tables) -> list[str]:
    """The labels as text."""
    texts = [f"    {quoted(str(each))}," for each in model.classes.tolist()]
    return [f"const char *const {tables.name}_classes[{len(texts)}] = {{", *texts, "};"]


def classification_in_c(model: Classification, tables: Tables) -> list[str]:
    """The C functions of a classification.

    Parameters
    ----------
    model : Classification
        The described model.
    tables : Tables
        Where constants go.

    Returns
    -------
    list of str
        Their lines.
    """
    name, K, classes = tables.name, len(model.intercept), len(model.classes)
    lines = functions_in_c(model.functions, tables, f"{name}_functions")
    body = _outputs(model, tables)
    if model.averaging is not None:
        lines += _covariance(model.averaging, tables)
        lines += _tail(tables) if K == 1 else _average(tables, K)
        body += [f"{tables.real} V[{K}][{K}];", f"{name}_covariance(phi, V);"]
    if K == 1:
        body += _two_classes(tables, model.averaging is not None)
    else:
        body += [f"{name}_average(f, V, probability);"] if model.averaging else [f"{name}_softmax(f, probability);"]
        lines = [*_softmax(tables, K), *lines]
    if model.doubt is not None:
        lines += functions_in_c(model.doubt.functions, tables, f"{name}_places") + _doubt(model.doubt, tables)
        body += _blended(model.doubt, tables)
    body += [
        "int best = 0;",
        f"for (int k = 1; k < {classes}; k++)",
        "    if (probability[k] > probability[best])",
        "        best = k;",
        "return best;",
    ]
    return [*lines, classification_signature(model, tables), "{", *(f"    {line}" for line in body), "}"]


def _outputs(model: Classification, tables: Tables) -> list[str]:
    S, K = model.weights.shape
    return [
        f"{tables.real} phi[{S}], f[{K}];",
        f"{tables.name}_functions(x, phi);",
        f"for (int k = 0; k < {K}; k++) {{",
        f"    f[k] = {tables.table(model.intercept)}[k];",
        f"    for (int m = 0; m < {S}; m++)",
        f"        f[k] += {tables.table(model.weights)}[m][k] * phi[m];",
        "}",
    ]


def _covariance(averaging: Averaging, tables: Tables) -> list[str]:
    """The C function that computes the covariance of the outputs, a column of the root at a time."""
    real, (K, S) = tables.real, averaging.centre.shape
    position, output = tables.table(averaging.position), tables.table(averaging.output)
    return f"""\
static void {tables.name}_covariance(const {real} *phi, {real} (*V)[{K}])
{{
    const {real} *root = {tables.table(packed(averaging.root))};
    for (int k = 0; k < {K}; k++)
        for (int l = 0; l < {K}; l++)
            V[k][l] = {tables.table(averaging.intercept_covariance)}[k][l];
    for (int j = 0; j < {S}; j++) {{
        {real} t[{K}] = {{0}};
        for (int s = j; s < {S}; s++, root++) {{
            t[{output}[s]] += phi[{position}[s]] * *root;
            for (int k = 0; k < {K}; k++)
                t[k] -= {tables.table(averaging.centre)}[k][s] * *root;
        }}
        for (int k = 0; k < {K}; k++)
            for (int l = 0; l < {K}; l++)
                V[k][l] += t[k] * t[l];
    }}
}}""".split("\n")


def _two_classes(tables: Tables, averaged: bool) -> list[str]:
    absolute = tables.function("fabs")
    if averaged:
        root, largest = tables.function("sqrt"), tables.function("fmax")
        p = f"{tables.name}_tail({absolute}(f[0]), {root}({largest}(V[0][0], 0)))"
        lines = [f"const {tables.real} p = {p};"]
    else:
        small = f"{tables.function('exp')}(-{absolute}(f[0]))"
        lines = [f"const {tables.real} small = {small}, p = small / (1 + small);"]
    return [*lines, "probability[0] = f[0] <= 0 ? 1 - p : p;", "probability[1] = f[0] <= 0 ? p : 1 - p;"]


def _tail(tables: Tables) -> list[str]:
    """The C function of E 1/(1+exp(f)), f ~ N(size, width²), by the trapezium rule."""
    real, exponential, number = tables.real, tables.function("exp"), tables.number
    return f"""\
static {real} {tables.name}_tail({real} size, {real} width)
{{
    const int nodes =
        width <= {number(WIDTHS[0])} ? {NODES[0]} : width <= {number(WIDTHS[1])} ? {NODES[1]} : {NODES[2]};
    {real} p = 0, total = 0;
    for (int j = 0; j < nodes; j++) {{
        const {real} z = {number(-8.0)} + {number(16.0)} * ({real})j / ({real})(nodes - 1);
        const {real} weight = {exponential}({number(-0.5)} * z * z);
        total += weight;
        p += weight / (1 + {exponential}(z * width + size));
    }}
    return {tables.function("fmin")}(p / total + {number(SMALLEST)}, {number(0.5)});
}}""".split("\n")


def _softmax(tables: Tables, K: int) -> list[str]:
    real = tables.real
    return f"""\
static void {tables.name}_softmax(const {real} *f, {real} *p)
{{
    {real} largest = f[0], total = 0;
    for (int k = 1; k < {K}; k++)
        largest = {tables.function("fmax")}(largest, f[k]);
    for (int k = 0; k < {K}; k++)
        total += p[k] = {tables.function("exp")}(f[k] - largest);
    for (int k = 0; k < {K}; k++)
        p[k] /= total;
}}""".split("\n")


def _average(tables: Tables, K: int) -> list[str]:
    """The C function that averages softmax over N(f, V): outputs in ascending order, contrasts, Cholesky, points."""
    real, name, points = tables.real, tables.name, class_points(K)
    ridge, root = SINGLE_RIDGE if real == "float" else RIDGES[0], tables.function("sqrt")
    absolute, largest = tables.function("fabs"), tables.function("fmax")
    return f"""\
static void {name}_average(const {real} *f, {real} (*V)[{K}], {real} *probability)
{{
    int order[{K}];
    {real} A[{K}][{K}], row[{K}], all = 0, size = 0, p[{K}], g[{K}], share[{K}] = {{0}};
    for (int k = 0; k < {K}; k++) {{
        int j = k;
        for (; j > 0 && f[order[j - 1]] > f[k]; j--)
            order[j] = order[j - 1];
        order[j] = k;
    }}
    for (int i = 0; i < {K}; i++) {{
        row[i] = 0;
        for (int j = 0; j < {K}; j++)
            row[i] += V[order[i]][order[j]] / {K};
        all += row[i] / {K};
    }}
    for (int i = 0; i < {K}; i++)
        for (int j = 0; j < {K}; j++) {{
            A[i][j] = V[order[i]][order[j]] - row[i] - row[j] + all;
            size = {largest}(size, {absolute}(A[i][j]));
        }}
    for (int j = 0; j < {K - 1}; j++) {{ /* the lower triangle of A becomes its root */
        {real} pivot = A[j][j] + size * {tables.number(ridge)};
        for (int l = 0; l < j; l++)
            pivot -= A[j][l] * A[j][l];
        pivot = {root}({largest}({largest}(pivot, size * {tables.number(0.5 * ridge)}), {tables.number(LEAST)}));
        for (int i = j; i < {K}; i++) {{
            {real} a = A[i][j] + (i == j ? size * {tables.number(ridge)} : 0);
            for (int l = 0; l < j; l++)
                a -= A[i][l] * A[j][l];
            A[i][j] = a / pivot;
        }}
    }}
    for (int n = 0; n < {len(points)}; n++)
        for (int sign = -1; sign < 2; sign += 2) {{
            for (int i = 0; i < {K}; i++) {{
                g[i] = f[order[i]];
                for (int j = 0; j < {K - 1} && j <= i; j++)
                    g[i] += ({real})sign * A[i][j] * {tables.table(points)}[n][j];
            }}
            {name}_softmax(g, p);
            for (int i = 0; i < {K}; i++)
                share[i] += p[i];
        }}
    for (int i = 0; i < {K}; i++)
        probability[order[i]] = share[i] / {2 * len(points)} + {tables.number(SMALLEST)};
}}""".split("\n")


def _doubt(doubt: Doubt, tables: Tables) -> list[str]:
    """The C function that says how unlike the training rows x is, from 0 to 1."""
    real, P, number = tables.real, len(doubt.inverse_root), tables.number
    rows = doubt.inverse_root[np.tril_indices(P)]
    clipped = f"{tables.function('fmin')}({tables.function('fmax')}(1 - known / {number(doubt.scale)}, 0), 1)"
    return f"""\
static {real} {tables.name}_doubt(const {real} *x)
{{
    const {real} *row = {tables.table(rows)};
    {real} k[{P}], known = 0;
    {tables.name}_places(x, k);
    for (int i = 0; i < {P}; i++) {{
        {real} h = 0;
        for (int j = 0; j <= i; j++)
            h += *row++ * k[j];
        known += h * h;
    }}
    return {clipped};
}}""".split("\n")


def _blended(doubt: Doubt, tables: Tables) -> list[str]:
    shares = tables.table(doubt.shares)
    return [
        f"const {tables.real} t = {tables.name}_doubt(x);",
        f"for (int k = 0; k < {len(doubt.shares)}; k++)",
        f"    probability[k] = probability[k] * (1 - t) + t * {shares}[k];",
    ]
