"""Classification in Tipping (2001) as numbers: Ripley's data (section 4.2) and the table of section 4.4.2.

The data are not part of the project. They are looked for in the folder given by --data, else in that of the
environment variable SPARSEBAYES_DATA, else in ../shared/data beside the repository. The whole takes about an
hour on one core; cross_validation.py says how to resume an interrupted run.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.metrics import log_loss
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.common import number, report, table
from benchmarks.papers.cross_validation import FOLDS, Score, Split, fitted, median_of_best, remembered, totals
from sparsebayes import RelevanceVectorClassifier

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

RIPLEY_WIDTH = 0.5
SUBSET = 100  # examples of Ripley's 250 in figure 3
CHOOSING = 5  # splits on which settings are chosen
WIDTHS = 2.0 ** np.arange(-1, 3.5, 0.5)  # r/√d
COSTS = np.logspace(-1, 3, 9)  # C of the support vector machine
MOST_STEPS = 500_000  # libsvm may not end on a large C


@dataclass(frozen=True)
class Printed:
    """A row of the table in T01, 4.4.2; errors in per cent."""

    svm_error: float
    rvm_error: float
    svm_vectors: float
    rvm_vectors: float


PRINTED = {
    "pima": Printed(20.1, 19.6, 109, 4),
    "banana": Printed(10.9, 10.8, 135.2, 11.4),
    "breast-cancer": Printed(26.9, 29.9, 116.7, 6.3),
    "titanic": Printed(22.1, 23.0, 93.7, 65.3),
    "waveform": Printed(10.3, 10.9, 146.4, 14.6),
    "german": Printed(22.6, 22.2, 411.2, 12.5),
    "image": Printed(3.0, 3.9, 166.6, 34.6),
}


@dataclass(frozen=True)
class Tested:
    """A fitted model on its test set; the loss is NaN without probabilities."""

    error: float
    vectors: int
    loss: float
    converged: bool
    certified: bool


def loader(folder: Path) -> Any:
    """The module load.py in the folder, or the end of the program."""
    if not (folder / "load.py").exists():
        sys.exit(f"No benchmark data in {folder}: name their folder by --data or by SPARSEBAYES_DATA.")
    sys.path.insert(0, str(folder))
    return importlib.import_module("load")


def splits_of(load: Any, name: str, most: int) -> list[Split]:
    """The first splits of a set; the only one of Pima, standardised by its training inputs."""
    if name != "pima":
        return [load.raetsch(name, split) for split in range(1, most + 1)]
    X, y, X_test, y_test = load.pima()
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    return [((X - mean) / deviation, y, (X_test - mean) / deviation, y_test)]


def relevance_grid(widths: np.ndarray) -> list[Any]:
    """Relevance vector machines, widest kernel first."""
    return [RelevanceVectorClassifier(gamma=1 / r**2) for r in sorted(widths, reverse=True)]


def support_grid(widths: np.ndarray) -> list[Any]:
    """Support vector machines, widest kernel and smallest C first."""
    wide_first = sorted(widths, reverse=True)
    return [SVC(gamma=1 / r**2, C=C, max_iter=MOST_STEPS) for r in wide_first for C in COSTS]


def tested(model: Any, split: Split) -> Tested:
    """Fit on the training part, measure on the other."""
    X, y, X_test, y_test = split
    machine = fitted(model, X, y)
    error = 100 * float(np.mean(machine.predict(X_test) != y_test))
    if isinstance(machine, SVC):
        return Tested(error, len(machine.support_), math.nan, machine.fit_status_ == 0, True)
    loss = float(log_loss(y_test, machine.predict_proba(X_test)[:, 1]))
    certified = machine.certificate_.is_local_maximum
    return Tested(error, len(machine.relevance_), loss, machine.converged_, certified)


def all_tested(model: Any, splits: Sequence[Split]) -> list[Tested]:
    """Every split, in parallel."""
    return Parallel()(delayed(remembered(tested))(model, split) for split in splits)


def mean(results: Sequence[Tested], what: str) -> float:
    """Mean over the splits."""
    return float(np.mean([getattr(result, what) for result in results]))


def share(results: Sequence[Tested], what: str) -> str:
    """How many of the fits have this property, of how many."""
    return f"{sum(getattr(result, what) for result in results)}/{len(results)}"


def ripley_rows(load: Any, draws: int) -> list[list[str]]:
    """All 250 examples, and random subsets of 100 of them; C by cross-validation on each."""
    X, y, *test = load.ripley()
    rng = np.random.default_rng(0)
    subsets = [rng.permutation(len(y))[:SUBSET] for _ in range(draws)]
    hundreds = [(X[rows], y[rows], *test) for rows in subsets]
    width, rows = np.array([RIPLEY_WIDTH]), []
    for name, splits in (("all 250", [(X, y, *test)]), (f"{SUBSET}, mean of {draws}", hundreds)):
        rows.append(ripley_row(name, "relevance vectors", all_tested(relevance_grid(width)[0], splits)))
        results = [tested(median_of_best(support_grid(width), [split]), split) for split in splits]
        rows.append(ripley_row(name, "support vectors", results))
    return rows


def ripley_row(name: str, method: str, results: Sequence[Tested]) -> list[str]:
    """Means over the draws, and the standard deviation of the errors."""
    spread = float(np.std([result.error for result in results], ddof=1)) if len(results) > 1 else math.nan
    means = [f"{mean(results, 'vectors'):.1f}", number(mean(results, "loss"), ".3f")]
    certified = share(results, "certified") if math.isfinite(results[0].loss) else "–"
    error = [f"{mean(results, 'error'):.1f}", number(spread, ".1f")]
    return [name, method, *error, *means, share(results, "converged"), certified]


def ripley(load: Any, draws: int) -> str:
    """The section on T01, 4.2."""
    printed = [
        [str(SUBSET), "printed, relevance vectors", "9.3", "", "4", "", "", ""],
        [str(SUBSET), "printed, support vectors", "10.6", "", "38", "", "", ""],
    ]
    head = ["examples", "method", "error %", "± draws", "vectors", "log loss", "converged", "certified"]
    text = (
        f"Gaussian kernel of width r = {RIPLEY_WIDTH}, all else at its default; the 1000 test examples. "
        "The printed rows are of one draw; ± is the standard deviation over draws. C of the support vector "
        "machine by 5-fold cross-validation."
    )
    return f"## Ripley's data (4.2)\n\n{text}\n\n" + table(head, printed + ripley_rows(load, draws))


@dataclass(frozen=True)
class SetResult:
    """What was measured on one set with the chosen settings."""

    name: str
    size: tuple[int, int]
    relevance: Any
    held_out: list[Score]  # of the best single width, and of a width per input
    support: Any
    by_relevance: list[Tested]
    by_support: list[Tested]

    def ratios(self) -> np.ndarray:
        """Errors, then vectors, of ours, the printed RVM and SVC here, over those of the printed SVM."""
        printed, machines = PRINTED[self.name], (self.by_relevance, self.by_support)
        error, support_error = (mean(results, "error") for results in machines)
        vectors, support_vectors = (mean(results, "vectors") for results in machines)
        errors = np.array([error, printed.rvm_error, support_error]) / printed.svm_error
        counts = np.array([vectors, printed.rvm_vectors, support_vectors]) / printed.svm_vectors
        return np.array([errors, counts])


def relevance_setting(widths: np.ndarray, splits: Sequence[Split]) -> tuple[Any, list[Score]]:
    """One width, the median over the splits of the best, or a width learned for every input.

    The latter if it makes fewer held-out errors than the one width, on the same folds; a tie is broken by the
    log loss.
    """
    one = median_of_best(relevance_grid(widths), splits)
    settings = [one, RelevanceVectorClassifier(gamma="ard")]
    held_out = totals(settings, splits)
    return settings[held_out.index(min(held_out))], held_out


def measured(load: Any, name: str, most: int) -> SetResult:
    """Choose by cross-validation on the first splits, then test on all of them."""
    splits = splits_of(load, name, most)
    n, d = splits[0][0].shape
    widths = WIDTHS * math.sqrt(d)
    relevance, held_out = relevance_setting(widths, splits[:CHOOSING])
    support = median_of_best(support_grid(widths), splits[:CHOOSING])
    by_relevance, by_support = all_tested(relevance, splits), all_tested(support, splits)
    return SetResult(name, (n, d), relevance, held_out, support, by_relevance, by_support)


def errors_table(lines: Sequence[SetResult]) -> str:
    """Error and vectors beside the printed ones, the normalised means last."""
    rows = []
    for line in lines:
        printed, (error, vectors) = PRINTED[line.name], line.ratios()[:, 0]
        left = [f"{mean(line.by_relevance, 'error'):.1f}", f"{printed.rvm_error}", f"{printed.svm_error}"]
        right = [f"{mean(line.by_relevance, 'vectors'):.1f}", f"{printed.rvm_vectors}"]
        right += [f"{printed.svm_vectors}", f"{vectors:.3f}"]
        rows.append([line.name, *left, f"{error:.2f}", *right])
    (ours, theirs, _), (vectors, their_vectors, _) = np.mean([line.ratios() for line in lines], axis=0)
    last = ["normalised mean", f"{ours:.3f}", f"{theirs:.3f}", "1.000", f"{ours:.3f}"]
    last += [f"{vectors:.3f}", f"{their_vectors:.3f}", "1.000", f"{vectors:.3f}"]
    head = ["set", "error %", "printed RVM", "printed SVM", "error / SVM"]
    return table([*head, "vectors", "printed RVM", "printed SVM", "vectors / SVM"], [*rows, last])


def width_of(model: Any) -> str:
    """r, or "per input" if every input has its own."""
    return "per input" if model.gamma == "ard" else f"{model.gamma**-0.5:.2f}"


def fits_table(lines: Sequence[SetResult]) -> str:
    """The chosen settings, how the fits ended, and libsvm on the same splits."""
    rows = []
    for line in lines:
        ours, theirs = line.by_relevance, line.by_support
        left = [line.name, f"{line.size[0]} × {line.size[1]}", width_of(line.relevance)]
        left.append(" / ".join(str(errors) for errors, _ in line.held_out))
        left += [f"{mean(ours, 'loss'):.3f}", share(ours, "converged"), share(ours, "certified")]
        right = [width_of(line.support), f"{line.support.C:.3g}", f"{mean(theirs, 'error'):.1f}"]
        rows.append([*left, *right, f"{mean(theirs, 'vectors'):.1f}", share(theirs, "converged")])
    errors, vectors = np.mean([line.ratios() for line in lines], axis=0)[:, 2]
    rows.append(["normalised mean", *[""] * 8, f"{errors:.3f}", f"{vectors:.3f}", ""])
    head = ["set", "N × d", "width r", "held-out errors, one / per input", "log loss", "converged", "certified"]
    return table([*head, "SVC r", "SVC C", "SVC error %", "SVC vectors", "SVC converged"], rows)


def benchmarks(load: Any, most: int) -> str:
    """The section on T01, 4.4.2, without the digits."""
    lines = []
    for name in PRINTED:
        lines.append(measured(load, name, most))
        print(f"{name} done", file=sys.stderr)
    text = (
        f"Means over the first {most} splits (Pima has one). Settings are chosen by {FOLDS}-fold "
        f"cross-validation on the training parts of the first {min(most, CHOOSING)} splits: one width r of "
        "the Gaussian kernel, the median over those splits of the width with the fewest errors (then log "
        f"loss), out of r/√d = {WIDTHS[0]:g} … {WIDTHS[-1]:g} in steps of √2; or a width per "
        'input, learned by the evidence (`gamma="ard"`), if that makes fewer held-out errors (then log loss) '
        "than the one width, on the same folds. Widths per input were added to the settings "
        "after their test errors were known (on four sets: better than one width on image, worse on "
        "breast-cancer, waveform and german); the rule was fixed before any of their cross-validated errors "
        "were known, and no test error enters it. Pima is standardised by its training inputs and has 7 "
        "of the 8 printed inputs. Printed columns are those of the paper; the last row is relative to its "
        "support vector machine, averaged over these sets."
    )
    second = (
        "The chosen settings, the held-out errors with one width and with a width per input, and libsvm's "
        "support vector machine with r and C chosen by the median over splits."
    )
    return f"## Benchmark sets (4.4.2)\n\n{text}\n\n{errors_table(lines)}\n\n{second}\n\n{fits_table(lines)}"


def main() -> None:
    """Measure, print, write benchmarks/results/paper_t01_classification.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    folder = Path(os.environ.get("SPARSEBAYES_DATA", DATA))
    parser.add_argument("--data", type=Path, default=folder, help="folder that holds load.py and the data")
    parser.add_argument("--quick", action="store_true", help="two splits and five draws instead of 10 and 20")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args()
    load = loader(options.data)
    with parallel_config("loky", n_jobs=options.jobs, inner_max_num_threads=1):
        sections = [ripley(load, 5 if options.quick else 20), benchmarks(load, 2 if options.quick else 10)]
    report("paper_t01_classification", "Tipping (2001), classification", sections)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
