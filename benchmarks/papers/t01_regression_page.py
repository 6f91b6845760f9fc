"""[T01] Section 4.4.1 on the page: printed figures beside the measured ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.common import table
from benchmarks.papers.cells import Cell, with_error
from benchmarks.papers.items import Measured, Shown

COUNT = 100  # draws in print


class Printed(NamedTuple):
    """A row of T01: errors and vectors of the SVM and of the RVM; half a unit of the last digit of its error."""

    svm: float
    rvm: float
    svm_vectors: float
    rvm_vectors: float
    rounding: float


PRINTED = {
    "sinc, Gaussian noise": Printed(0.0378, 0.0326, 45.2, 6.7, 0.00005),
    "sinc, uniform noise": Printed(0.0215, 0.0187, 44.3, 7.0, 0.00005),
    "Friedman #2": Printed(4140, 3505, 110.3, 6.9, 0.5),
    "Friedman #3": Printed(0.0202, 0.0164, 106.5, 11.5, 0.00005),
    "Boston": Printed(8.04, 7.46, 142.8, 39.0, 0.005),
    "Friedman #1": Printed(2.92, 2.80, 116.6, 59.4, 0.005),
}
LEARNED = Printed(2.92, 0.27, 116.6, 11.5, 0.005)  # Friedman #1 with a scale per input
MAIN = tuple(PRINTED)[:5]  # the rows of the first table, over which its means are taken
RULES = {
    "best": "RVM, one width",
    "mackay": "RVM, one width, `mackay`",
    "simple": "RVM, one width, simplest",
    "ard": "RVM, scale per input",
    "svm": "SVM",
}
CAUSES = {
    "Friedman #3, vectors": "`active-set` ends at a higher evidence than the paper's algorithm (`mackay`), with more "
    "functions and less error",
    "Boston, error": "which rows were tested is not known, and both machines err more on these splits: the support "
    "vector machine has 10.5 against 8.04, the same ratio as in print; learned scales have 8.5",
    "Boston, vectors": "`active-set` ends at a higher evidence than the paper's algorithm (`mackay`), with more "
    "functions and less error; the rest is the width that cross-validation chose",
    "Friedman #1, error": "the width of least held-out error has two thirds of the printed vectors; inputs are "
    "standardised, and the printed scaling is not known",
    "Friedman #1, scale per input, vectors": "the scales are at the maximum of the evidence, at a smaller error than "
    "printed",
}
TEXT = """Gaussian kernel exp(−‖x−z‖²/r²), uniform prior, noise estimated, an intercept, `active-set` solver (`mackay`,
where it is named, is the algorithm of the paper). Inputs are standardised by the training rows, and r is given
in units of √d (sinc: x as it is, and r in its units). As in print one width is chosen by 5-fold
cross-validation, here on the training parts of the first five draws: that of least error, with which the
printed cells are compared, and "simplest" the widest within one standard error of it. "Scale per input" learns
them by the evidence (`gamma="ard"`), which T01 could afford on Friedman #1 alone. "By cross-validation" is the
one of the two, one width or learned scales, with the smaller held-out error on the same folds. C, ε and r of
the support vector machine are those of least error on these folds (for it the target has unit variance). T01
prints ten times the RMS error of sinc, which is written here as it is; the others are mean squared errors.
Print does not say how inputs were scaled. That the width of least error, the rule of the paper, is the one
compared was settled after a run of one draw, in which the simplest width had been; learned scales as a choice,
and the grid of the support vector machine, were set then too. Draws: 100 in print. Seconds: mean processor time
of a fit."""


def cells_of(name: str, rows: Measured, rule: str, printed: Printed) -> list[Cell]:
    """Error and vectors of a row beside print."""
    label = f"{name}, scale per input" if rule == "ard" else name
    row = rows[rule]
    figures = [("error", printed.rvm, printed.rounding), ("vectors", printed.rvm_vectors, 0.05)]
    return [
        Cell(
            f"T01 4.4.1, {label}, {what}",
            value,
            row[what],
            COUNT,
            rounding=rounding,
            cause=CAUSES.get(f"{label}, {what}", ""),
        )
        for what, value, rounding in figures
    ]


def lines_of(name: str, found: Measured) -> list[list[str]]:
    """Printed and measured lines of one set."""
    printed, chosen = PRINTED[name], found["chosen"]
    lines = [[name, "printed RVM", f"{printed.rvm:g}", f"{printed.rvm_vectors:g}", "100", "", ""]]
    if name == "Friedman #1":
        figures = [f"{LEARNED.rvm:g}", f"{LEARNED.rvm_vectors:g}"]
        lines.append([name, "printed RVM, scale per input", *figures, "100", "", ""])
    lines.append([name, "printed SVM", f"{printed.svm:g}", f"{printed.svm_vectors:g}", "100", "", ""])
    settings = {rule: f"{chosen[rule]:.2g}" for rule in ("best", "simple")}
    settings |= {
        "mackay": settings["best"],
        "ard": "learned",
        "svm": "{:.2g}, C = {:g}, ε = {:g}".format(*chosen["svm"]),
    }
    for rule, label in RULES.items():
        row = found["rows"][rule]
        figures = [with_error(row["error"]), with_error(row["vectors"]), str(len(row["error"]))]
        lines.append([name, label, *figures, settings[rule], f"{np.mean(row['seconds']):.3f}"])
    return lines


def normalised(found: Measured, rule: str) -> tuple[float, float]:
    """Means over the five sets of error and vectors relative to this run's support vector machine."""
    ratios = []
    for name in MAIN:
        if "rows" in found.get(name, {}):
            rows = found[name]["rows"]
            how = rule if rule != "chosen" else ("ard" if found[name]["chosen"]["learn"] else "best")
            ratios.append([np.mean(rows[how][what]) / np.mean(rows["svm"][what]) for what in ("error", "vectors")])
    error, vectors = np.mean(ratios, axis=0)
    return float(error), float(vectors)


def against_print(found: Measured) -> tuple[float, float]:
    """The same means for one width, relative to the printed support vector machine."""
    sets = [name for name in MAIN if "rows" in found.get(name, {})]
    rows = {name: found[name]["rows"]["best"] for name in sets}
    error = np.mean([np.mean(rows[name]["error"]) / PRINTED[name].svm for name in sets])
    vectors = np.mean([np.mean(rows[name]["vectors"]) / PRINTED[name].svm_vectors for name in sets])
    return float(error), float(vectors)


def show(found: Measured) -> Shown:
    """The two tables of section 4.4.1 and their normalised means."""
    rows, cells, skipped = [], [], []
    for name in found:
        if "rows" not in found[name]:
            skipped.append(f"{name}: skipped, {found[name]['skipped']}.")
            continue
        rows += lines_of(name, found[name])
        cells += cells_of(name, found[name]["rows"], "best", PRINTED[name])
        if name == "Friedman #1":
            cells += cells_of(name, found[name]["rows"], "ard", LEARNED)
    rules = {**RULES, "chosen": "RVM, by cross-validation"}
    means = {rule: normalised(found, rule) for rule in ("best", "mackay", "simple", "ard", "chosen")}
    sets = f"normalised mean of {sum('rows' in found.get(name, {}) for name in MAIN)} sets"
    rows.append([sets, "printed RVM", "0.86", "0.15", "", "", ""])
    rows += [[sets, rules[rule], f"{e:.3f}", f"{v:.3f}", "", "", ""] for rule, (e, v) in means.items()]
    in_print = against_print(found)
    rows.append([f"{sets}, over the printed SVM", "RVM, one width", *(f"{x:.3f}" for x in in_print), "", "", ""])
    error, vectors = means["chosen"]
    cause = (
        "one width, as in print; this run's support vector machine errs less than the printed one. Over the printed "
        f"one the mean is {in_print[0]:.2f}, and with learned scales where cross-validation prefers them {error:.2f}"
    )
    cells += [
        Cell("T01 4.4.1, normalised mean of errors", 0.86, [means["best"][0]], rounding=0.005, cause=cause),
        Cell("T01 4.4.1, normalised mean of vectors", 0.15, [means["best"][1]], rounding=0.005),
    ]
    head = ["set", "method", "error", "vectors", "draws", "r", "seconds"]
    learns = [name for name in found if found[name].get("chosen", {}).get("learn")]
    note = f"Cross-validation prefers a scale per input on: {', '.join(learns) or 'none'}."
    body = "\n\n".join([TEXT, table(head, rows), note, *skipped])
    one, few = means["best"]
    ours = f"{error:.2f} and {vectors:.2f} by cross-validation, {one:.2f} and {few:.2f} with one width"
    return Shown("normalised means 0.86 and 0.15", ours, body, cells)
