"""docs/papers.md: scorecard, index, every item, errata, data."""

from __future__ import annotations

import re

from benchmarks.common import conditions, table
from benchmarks.papers.cells import BEATEN, MATCHED, MISSED, Cell
from benchmarks.papers.data import SOURCES
from benchmarks.papers.items import Item, Measured, Shown

PAPERS = {
    "t01": "T01: Tipping (2001), *Sparse Bayesian learning and the relevance vector machine*",
    "ft02": "FT02: Faul & Tipping (2002), *Analysis of sparse Bayesian learning*",
    "tf03": "TF03: Tipping & Faul (2003), *Fast marginal likelihood maximisation*",
    "se07": "SE07: Schmolck & Everson (2007), *Smooth relevance vector machine*",
    "ch4": "Ch4: a thesis chapter on sparse Bayesian learning for compressive sensing",
}
INTRODUCTION = """# The papers' tables and figures

Every table and figure of the five texts behind this package, computed with it, beside what is printed. One command
makes this page and its pictures:

    make papers                                   # all items
    python -m benchmarks.papers --quick           # a few draws of everything, within a minute, into build/papers/quick
    python -m benchmarks.papers --only se07       # one paper; or one item, as in the index below

Results are stored part by part, so that an interrupted run resumes. Kernel widths, priors, boundaries and solvers
are those that each item names, whatever the package's defaults are. A ± in our figures is a standard error of the
mean over the draws that are named."""
SCORE = """A cell is a printed figure of a relevance vector machine. It is *matched* if ours differs by at most two
standard errors of the difference (where print has one draw, that of one draw) and half a unit of the last printed
digit; otherwise *beaten* if ours is better, less error, fewer functions, or nearer to the true value, and *missed*
if it is worse. Printed times, of other machines, are no cells."""
ERRATA = [
    (
        "T01 table 1",
        "RMS error 0.0053",
        "a mean square",
        "eight functions fitted to 100 points with noise 0.1 have an expected RMS error of at least 0.028; "
        "as mean squares both figures fit",
    ),
    ("T01 4.4.1, sinc", "errors 0.326 and 0.187", "ten times the RMS error", "0.028 and 0.018 are measured"),
    (
        "T01 figure 2",
        "0.0245",
        "one fortunate draw",
        "the averages of 4.4.1 imply 0.0375 under Gaussian noise, near the mean measured",
    ),
    (
        "T01 figure 10, text",
        "log-odds are zero in [0.5, 1.5] (in our copy)",
        "in [0.5, 1]",
        "the classes overlap there alone, as the text says two lines on",
    ),
    (
        "FT02 3.4.2",
        "maxima in each α are joint maxima",
        "they need not be",
        "the saddle point above, found by the certificate",
    ),
    (
        "TF03 A.2",
        "off-diagonal of Σ̃ with β²",
        "β, one power",
        "the blockwise inverse; `sequential` agrees with a fresh inverse",
    ),
    ("Ch4 (4.5)", "N(y given w, σ²I_M)", "N(y given Φw, σ²I_N)", "the dimensions; its next line is right"),
    ("SE07 (34)", "+ c/(1+σ²α)²", "+ cσ²/(1+σ²α)²", "finite differences; the cubic (46) to (49) is right"),
    (
        "SE07 (36)",
        "α/(σ²+α)²; (g−1)",
        "α/(σ⁻²+α)²; (g+1)",
        "the units do not fit",
    ),
    ("SE07 (57)", "+ q²/(α+s)", "− q²/(α+s)²", "finite differences"),
    ("SE07 (59)", "+ log of the determinant of Σ", "− log", "the evidence by brute force"),
    ("SE07 footnote 8", "S with φᵀt; α−Q", "S with φᵀφ; α−S", "the definition of s and q, in the tests"),
    ("SE07 5.1", "an exponential prior on the precision gives the Laplacian", "on the variance 1/α", "the integral"),
    ("SE07 6.4", "Hessian positive semi-definite at the solution", "negative", "it is a maximum"),
    (
        "SE07 table 1, Doppler",
        "SNR 2.0, σ² = 0.031",
        "SNR 7.0, σ² = 0.0017",
        "with these S and MSE come out; without a prior the MSE, 0.00067, is 0.4σ² at 0.0017, and would be "
        "0.02σ² at 0.031",
    ),
]


def render(items: list[Item], stored: dict[str, Measured]) -> str:
    """The whole page."""
    shown = {item.key: item.show(stored[item.key]["value"]) for item in items if item.key in stored}
    cells = [cell for each in shown.values() for cell in each.cells]
    minutes = sum(each["seconds"] for each in stored.values()) / 60
    sections = [
        INTRODUCTION + f" This page took {minutes:.0f} minutes of one core.",
        scorecard(cells, list(shown.values())),
        index(items, shown, stored),
    ]
    for paper, title in PAPERS.items():
        sections.append(f"## {title}")
        sections += [
            section(item, shown[item.key], stored[item.key])
            for item in items
            if item.paper == paper and item.key in shown
        ]
    sections += [errata(), data(), conditions()]
    return "\n\n".join(sections) + "\n"


def heading(item: Item) -> str:
    """The heading of an item's section."""
    paper = PAPERS[item.paper].split(":")[0]
    return f"{paper}, " + ", ".join(name[0].lower() + name[1:] for name in item.names)


def anchor(text: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def section(item: Item, shown: Shown, stored: Measured) -> str:
    """One item."""
    seconds = f"{stored['seconds']:.0f} s" if stored["seconds"] >= 1 else "a second"
    command = f"`python -m benchmarks.papers --only {item.key}`: {seconds} of processor time."
    return "\n\n".join([f"### {heading(item)}", shown.body, command])


def scorecard(cells: list[Cell], shown: list[Shown]) -> str:
    """How many cells are matched, beaten and missed, by table, and every miss with its cause."""
    rows, groups = [], sorted({group(cell) for cell in cells}, key=[group(cell) for cell in cells].index)
    for name in [*groups, "all"]:
        verdicts = [cell.verdict for cell in cells if name in (group(cell), "all")]
        counts = [verdicts.count(verdict) for verdict in (MATCHED, BEATEN, MISSED)]
        share = 100 * (counts[0] + counts[1]) / max(len(verdicts), 1)
        rows.append([name, str(len(verdicts)), *(str(count) for count in counts), f"{share:.1f} %"])
    head = ["where", "cells", MATCHED, BEATEN, MISSED, "matched or beaten"]
    missed = [
        [
            cell.where,
            f"{cell.printed:g}",
            cell.measured(),
            "yes" if cell.much_worse else "no",
            cell.cause or "no cause is known",
        ]
        for cell in cells
        if cell.verdict == MISSED
    ]
    miss_head = ["missed cell", "printed", "ours", "worse by more than 15 %", "why"]
    parts = ["## Scorecard", SCORE, table(head, rows), *cautions(cells, shown), words(miss_head, missed)]
    return "\n\n".join(parts)


def cautions(cells: list[Cell], shown: list[Shown]) -> list[str]:
    """The choice that was made by agreement with print, and the total without it."""
    said = [each for each in shown if each.caution]
    good = sum(cell.verdict != MISSED for cell in cells) - sum(each.extra_misses for each in said)
    share = 100 * good / max(len(cells), 1)
    total = f"Without this choice {good} of {len(cells)} cells are matched or beaten, {share:.1f} %."
    return [" ".join([*(each.caution for each in said), total])] if said else []


def words(head: list[str], rows: list[list[str]]) -> str:
    """A table of sentences, all columns to the left."""
    first, rule, *rest = table(head, rows).split("\n")
    return "\n".join([first, rule.replace("-:", "--"), *rest])


def group(cell: Cell) -> str:
    """The table or figure of a cell."""
    return cell.where.split(",")[0]


def index(items: list[Item], shown: dict[str, Shown], stored: dict[str, Measured]) -> str:
    """Item, command, printed, ours."""
    rows = []
    for item in items:
        for name in item.names:
            paper = PAPERS[item.paper].split(":")[0]
            link = f"[{paper}, {name[0].lower() + name[1:]}](#{anchor(heading(item))})"
            if item.key not in shown:
                rows.append([f"{paper}, {name[0].lower() + name[1:]}", f"`--only {item.key}`", "", "not measured yet"])
                continue
            rows.append([link, f"`--only {item.key}`", shown[item.key].printed, shown[item.key].ours])
    return "## Index\n\nThe command is `python -m benchmarks.papers` with what is named.\n\n" + table(
        ["item", "command", "printed", "ours"], rows
    )


def errata() -> str:
    """What is wrong in print, and how it is known."""
    rows = [list(line) for line in ERRATA]
    text = (
        "[derivations.md](derivations.md#10-errata-in-the-papers) has those of the formulas beside the derivations, "
        "which are run as tests."
    )
    return f"## Errata, with the evidence\n\n{text}\n\n" + words(["where", "printed", "right", "evidence"], rows)


def data() -> str:
    """Where the real sets come from."""
    lines = [f"* {name}: {place}" for name, place in SOURCES.items()]
    return "\n".join(
        [
            "## Real data",
            "",
            "The real sets are no part of the project. `SPARSEBAYES_DATA` names a folder with a `load.py` "
            "that has the functions `ripley`, `pima`,",
            "`boston_splits`, `raetsch` and `usps` (otherwise ../shared/data beside the repository is "
            "tried); an item without its data is skipped and says so.",
            "",
            *lines,
            "",
            "The addresses are those of the papers or of well-known mirrors, and were not tried here. For example:",
            "",
            "    curl -O https://www.stats.ox.ac.uk/pub/PRNN/pima.tr -O https://www.stats.ox.ac.uk/pub/PRNN/pima.te",
            "    curl -O https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.bz2",
        ]
    )
