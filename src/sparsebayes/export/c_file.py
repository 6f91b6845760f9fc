"""Models as one file of C: `export_c`."""

from __future__ import annotations

import textwrap
from typing import Any

import sparsebayes
from sparsebayes.estimators._fitted import model_on_host
from sparsebayes.export._writing import write_bytes
from sparsebayes.export.c_classification import classification_in_c, classification_signature, labels_in_c
from sparsebayes.export.c_regression import regression_in_c, regression_signature
from sparsebayes.export.c_tables import Tables, comment, identifier
from sparsebayes.export.description import Classification, Regressions, describe, has_variance
from sparsebayes.export.report import ExportReport, checked_dtype, report

WIDTH = 110  # of the lines of the comment


def export_c(
    model: Any,
    path: Any,
    name: str = "model",
    X_sample: Any = None,
    dtype: str = "double",
    *,
    std: bool | None = None,
    verbose: bool = True,
) -> ExportReport:
    """Write a fitted model to one file of C99 that needs nothing but math.h, and allocates nothing.

    A regression is the function `void NAME_predict(const double x[D], double mean[T], double std[T])`, in which std may
    be a null pointer; a classification `int NAME_predict_proba(const double x[D], double probability[K])`, which
    returns the number of the most probable class in `NAME_classes`. The file is a program that reads rows from its
    standard input when it is compiled with -DNAME_MAIN, the name in capitals.

    Parameters
    ----------
    model : RelevanceVectorRegressor, SparseBayesRegressor, RelevanceVectorClassifier or SparseBayesClassifier
        A fitted estimator. Kernels need a formula: a function of yours, a kernel matrix and wavelets have none.
    path : str or path-like
        The file, which is there as a whole or not at all.
    name : str
        What all names of the file begin with; characters that C does not take become underscores.
    X_sample : array-like of shape (n, d), optional
        Rows at which the error of the export is measured, such as training rows; the relevance vectors by default.
    dtype : "double" or "float"
        The numbers of the program. Those of double precision agree with `predict` to 1e-9.
    std : bool, optional
        Whether the standard deviation of a new target is computed; without it the file is smaller. None for yes unless
        the model has probabilities, or variance="gp".
    verbose : bool
        Whether size and error are printed.

    Returns
    -------
    ExportReport
        Size and error.
    """
    model, numbers, name = model_on_host(model), checked_dtype(dtype), identifier(name)
    description = describe(model, has_variance(model) if std is None else std)
    source = source_of(description, Tables(name, numbers), _card(model)).encode()
    found = report(model, description, str(path), len(source), dtype, X_sample)
    write_bytes(source, path)
    if verbose:
        print(found)
    return found


def source_of(description: Regressions | Classification, tables: Tables, card: list[str]) -> str:
    """The program of a description.

    Parameters
    ----------
    description : Regressions or Classification
        A described model.
    tables : Tables
        Empty, with the name and the numbers of the program.
    card : list of str
        Lines about the model, for the comment at the top.

    Returns
    -------
    str
        A file of C99.
    """
    if isinstance(description, Classification):
        lines, signature = classification_in_c(description, tables), classification_signature(description, tables)
        labels, own = labels_in_c(description, tables), _classifier_main(description, tables)
        public = [f"extern {labels[0].removesuffix(' = {')};", f"{signature};"]
    else:
        lines, signature = regression_in_c(description, tables), regression_signature(description, tables)
        labels, own, public = [], _regressor_main(description, tables), [f"{signature};"]
    main = ["", f"#ifdef {tables.name.upper()}_MAIN", "#include <stdio.h>", "", *own, "#endif"]
    wrapped = [each for line in card for each in textwrap.wrap(line, WIDTH)]
    head = comment([*wrapped, "", *_usage(tables, public, isinstance(description, Classification))])
    body = ["", *tables.lines, *labels, "", *lines, *main]
    return "\n".join([*head, "#include <math.h>", "", *public, *body]) + "\n"


def _card(model: Any) -> list[str]:
    """What the file is, for its reader."""
    facts = [f"{model!r}", f"{model.n_features_in_} inputs, {model.relevance_.shape[0]} functions selected."]
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        facts.append(f"Inputs: {', '.join(map(str, names))}.")
    for attribute, what in (("log_evidence_", "Log evidence"), ("noise_variance_", "Noise variance")):
        value = getattr(model, attribute, None)
        if value is not None and getattr(value, "size", 1) == 1:
            facts.append(f"{what} {float(value):.6g}.")
    return [*facts, f"Written by sparsebayes {sparsebayes.__version__}."]


def _usage(tables: Tables, public: list[str], of_classes: bool) -> list[str]:
    name, returned = tables.name, "The function returns the number of the most probable class."
    return [
        "Declare in the program that uses it:",
        *(f"    {line}" for line in public),
        *([returned] if of_classes else ["std may be a null pointer."] if "std[" in public[0] else []),
        f"Compile: cc -std=c99 -O2 -c {name}.c, and link with -lm. Nothing is allocated; there is no state.",
        f"A program that reads rows from its standard input: cc -std=c99 -O2 -D{name.upper()}_MAIN {name}.c -lm",
    ]


def _main(tables: Tables, d: int, arrays: str, call: list[str]) -> list[str]:
    """A program that reads rows of d numbers, and prints what `call` makes of each."""
    conversion = "%f" if tables.real == "float" else "%lf"
    return [
        "int main(void)",
        "{",
        f"    {tables.real} x[{d}], {arrays};",
        "    for (;;) {",
        f"        for (int k = 0; k < {d}; k++)",
        f'            if (scanf("{conversion}", &x[k]) != 1)',
        "                return !(k == 0 && feof(stdin));",
        *(f"        {line}" for line in call),
        "    }",
        "}",
    ]


def _regressor_main(model: Regressions, tables: Tables) -> list[str]:
    T = len(model.places)
    outputs = ["mean", "std"] if model.has_std else ["mean"]
    shown = [line for each in outputs for line in (f"for (int t = 0; t < {T}; t++)", f"    {_printed(f'{each}[t]')}")]
    call = [f"{tables.name}_predict(x, {', '.join(outputs)});", *shown, 'printf("\\n");']
    return _main(tables, model.n_inputs, ", ".join(f"{each}[{T}]" for each in outputs), call)


def _classifier_main(model: Classification, tables: Tables) -> list[str]:
    K, name = len(model.classes), tables.name
    call = [
        f"const int best = {name}_predict_proba(x, probability);",
        f"for (int k = 0; k < {K}; k++)",
        f"    {_printed('probability[k]')}",
        f'printf("%s\\n", {name}_classes[best]);',
    ]
    return _main(tables, model.n_inputs, f"probability[{K}]", call)


def _printed(value: str) -> str:
    return f'printf("%.17g ", (double){value});'
