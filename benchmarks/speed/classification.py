"""Classification beside other packages on the Ripley-style mixture [TF03, 5.2]. Part of `make bench`.

One process, one BLAS thread, best of three, the same draws for every method. The Gaussian kernel has width 1,
except in one row, whose widths are learned from the same data. Log loss and error are on one test set; the row
"Bayes" has those of the true probabilities.

    python -m benchmarks.speed.classification [--draws 5] [--sizes 500 1000]
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.common import best_time, number, report, table
from sparsebayes import RelevanceVectorClassifier
from sparsebayes.datasets import make_ripley

OURS, SAME, RIVAL = "sparsebayes", "sparsebayes, no intercept", "fastrvm.RVC"
LEARNED = 'sparsebayes, gamma="ard"'
GAMMA = 1.0  # width 1: exp(−‖x − z‖²)
TEST_POINTS = 100_000


@dataclass(frozen=True)
class Measured:
    """Time and quality of one fit; NaN if a method has no such number."""

    seconds: float
    vectors: float
    loss: float
    error: float


@dataclass(frozen=True)
class Task:
    """Training data and test data."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def score(self, probability: np.ndarray | None, label: np.ndarray) -> tuple[float, float]:
        """Log loss and error on the test set."""
        loss = math.nan if probability is None else log_loss(self.y_test, probability)
        return loss, float(np.mean(label != self.y_test))


def ours(task: Task, **options: Any) -> Measured:
    """This package, everything else at its default."""
    model = RelevanceVectorClassifier(**{"gamma": GAMMA} | options)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    scores = task.score(model.predict_proba(task.X_test)[:, 1], model.predict(task.X_test))
    return Measured(seconds, len(model.relevance_), *scores)


def without_intercept(task: Task) -> Measured:
    """This package without an intercept: the default model of the other relevance vector machine."""
    return ours(task, fit_intercept=False)


def learned(task: Task) -> Measured:
    """This package with a width for each input, learned by the evidence, in place of width 1."""
    return ours(task, gamma="ard")


def fastrvm(task: Task) -> Measured:
    """A relevance vector machine of another package, at its defaults (no intercept)."""
    from fastrvm import RVC

    model = RVC(kernel="rbf", gamma=GAMMA)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    scores = task.score(model.predict_proba(task.X_test)[:, 1], model.predict(task.X_test))
    return Measured(seconds, len(model.relevance_), *scores)


def libsvm(task: Task) -> Measured:
    """Support vectors, C = 1, no probabilities."""
    model = SVC(kernel="rbf", gamma=GAMMA, C=1.0)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    return Measured(seconds, len(model.support_), *task.score(None, model.predict(task.X_test)))


def calibrated(task: Task) -> Measured:
    """Support vectors with Platt's sigmoid by 5-fold cross-validation."""
    model = CalibratedClassifierCV(SVC(kernel="rbf", gamma=GAMMA, C=1.0), ensemble=False)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    scores = task.score(model.predict_proba(task.X_test)[:, 1], model.predict(task.X_test))
    return Measured(seconds, len(model.calibrated_classifiers_[0].estimator.support_), *scores)


def logistic(task: Task) -> Measured:
    """Logistic regression, C = 1, on all kernel columns."""
    model = LogisticRegression(C=1.0, max_iter=1000)

    def fit() -> Any:
        return model.fit(rbf_kernel(task.X, gamma=GAMMA), task.y)

    seconds, _ = best_time(fit)
    vectors = int(np.count_nonzero(model.coef_))
    losses, labels = [], []
    for part in np.array_split(task.X_test, 20):  # all kernel columns of all test points would not fit in memory
        K = rbf_kernel(part, task.X, gamma=GAMMA)
        losses.append(model.predict_proba(K)[:, 1])
        labels.append(model.predict(K))
    return Measured(seconds, vectors, *task.score(np.concatenate(losses), np.concatenate(labels)))


METHODS: dict[str, Callable[[Task], Measured]] = {
    OURS: ours,
    SAME: without_intercept,
    LEARNED: learned,
    RIVAL: fastrvm,
    "libsvm SVC": libsvm,
    "SVC + Platt": calibrated,
    "LogisticRegression": logistic,
}


def paired(n: int, draws: int, test: tuple[np.ndarray, np.ndarray]) -> str:
    """Mean differences of the relevance vector machines on many draws, ours with and without an intercept."""
    results = measure(n, draws, test, (SAME, OURS, RIVAL))
    rows = [compared(name, what, results[name], results[RIVAL]) for what in ("loss", "error") for name in (SAME, OURS)]
    return table([f"N = {n}, {draws} draws", "", "ours", RIVAL, "difference", "std. error"], rows)


def compared(name: str, what: str, results: list[Measured], rivals: list[Measured]) -> list[str]:
    """One row of the paired comparison."""
    a, b = (np.asarray([getattr(r, what) for r in side]) for side in (results, rivals))
    gap = a - b
    return [
        name,
        "log loss" if what == "loss" else what,
        *(f"{x:.5f}" for x in (a.mean(), b.mean())),
        f"{gap.mean():+.5f}",
        f"{gap.std(ddof=1) / math.sqrt(len(gap)):.5f}",
    ]


def present() -> list[str]:
    """The methods that are installed."""
    return [name for name in METHODS if name != RIVAL or importlib.util.find_spec("fastrvm")]


def measure(n: int, draws: int, test: tuple[np.ndarray, np.ndarray], names: Sequence[str]) -> dict[str, list[Measured]]:
    """Each of these methods on every draw."""
    measured: dict[str, list[Measured]] = {name: [] for name in names}
    for seed in range(draws):
        X, y, _ = make_ripley(n, random_state=seed)
        for name, results in measured.items():
            results.append(METHODS[name](Task(X, y, *test)))
    return measured


def mean_of(results: list[Measured], what: str) -> float:
    """Mean over the draws."""
    return float(np.mean([getattr(result, what) for result in results]))


def rows_of(n: int, measured: dict[str, list[Measured]]) -> list[list[str]]:
    """One row per method, times as multiples of ours."""
    base = mean_of(measured[OURS], "seconds")
    return [
        [
            f"N = {n}",
            name,
            number(mean_of(results, "seconds"), ".4f"),
            number(mean_of(results, "seconds") / base, ".2f"),
            number(mean_of(results, "vectors"), ".1f"),
            number(mean_of(results, "loss"), ".4f"),
            number(mean_of(results, "error"), ".4f"),
        ]
        for name, results in measured.items()
    ]


def main() -> None:
    """Measure, print, write benchmarks/results/classification.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="draws averaged over (default 5)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 1000, 2000, 4000], help="N")
    parser.add_argument("--paired", type=int, default=100, help="draws of the paired comparison (default 100)")
    options = parser.parse_args()
    X_test, y_test, p_test = make_ripley(TEST_POINTS, random_state=10_000)
    bayes = [
        "Bayes",
        "true probabilities",
        *["–"] * 3,
        f"{log_loss(y_test, p_test):.4f}",
        f"{np.mean((p_test > 0.5) != y_test):.4f}",
    ]
    rows = [bayes]
    for n in options.sizes:
        rows += rows_of(n, measure(n, options.draws, (X_test, y_test), present()))
    head = ["size", "method", "seconds", "time / ours", "vectors", "log loss", "error"]
    note = (
        f"Means over {options.draws} draws of the best of three times; log loss and error on {TEST_POINTS} "
        "test points. SVC and logistic regression: C = 1."
    )
    sections = [note, table(head, rows)]
    if RIVAL in present():
        sections.append(paired(1000, options.paired, (X_test, y_test)))
    report("classification", "Classification beside other packages", sections)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # warnings of other packages are not the result
    with threadpool_limits(1):
        main()
