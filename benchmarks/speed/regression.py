"""Speed, sparsity, error and evidence beside other packages, on 2-D and 1-D sinc. This is `make bench`.

One process, one BLAS thread, best of three, the same data for every method. A method that is not installed is
reported as such.

    python -m benchmarks.speed.regression [--draws 5] [--sizes 500 1000]
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import ARDRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from benchmarks.common import best_time, log_evidence, number, report, rmse, table
from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc, make_sinc2d, sinc

OURS, SOONER, RIVAL, LIBSVM = "sparsebayes", "sparsebayes, tol=1e-2", "fastrvm.RVR", "libsvm SVR"
LEVEL = "sparsebayes, stopped at fastrvm's evidence"
UNSEEN = 4000  # seed of the first draw of the comparison with libsvm: no setting was chosen on these
ARD_LIMIT = 500  # ARDRegression takes about a minute at N = 1000


@dataclass(frozen=True)
class Task:
    """Training data, noise-free test data, and the γ of the Gaussian kernel that every method has."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    f_test: np.ndarray
    gamma: float


@dataclass(frozen=True)
class Measured:
    """Time and quality of one fit; NaN if a method has no such number."""

    seconds: float
    vectors: float
    error: float
    evidence: float = math.nan


def two_inputs(n: int, seed: int) -> Task:
    """[TF03, 5.1]: Gaussian kernel of width 2.5, noise 0.1."""
    X, y, _ = make_sinc2d(n, 0.1, random_state=seed)
    X_test, _, f_test = make_sinc2d(2000, 0.0, random_state=10_000 + seed)
    return Task(X, y, X_test, f_test, 1 / 2.5**2)


def one_input(n: int, seed: int) -> Task:
    """[T01, E.1]: Gaussian kernel of width 3, noise 0.1."""
    X, y, _ = make_sinc(n, "gaussian", 0.1, random_state=seed)
    grid = np.linspace(-10, 10, 1000)
    return Task(X, y, grid[:, None], sinc(grid), 1 / 3**2)


def ours(task: Task, **options: Any) -> Measured:
    """This package, everything else at its default, no intercept: the model of the papers."""
    model = RelevanceVectorRegressor("rbf", gamma=task.gamma, fit_intercept=False, **options)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    error = rmse(model.predict(task.X_test), task.f_test)
    return Measured(seconds, len(model.relevance_), error, model.log_evidence_)


def stopped_at(task: Task, evidence: float) -> Measured:
    """This package, stopped as soon as it reaches that evidence."""
    return ours(task, callback=lambda progress: progress.objective >= evidence)


def fastrvm(task: Task) -> Measured:
    """The same model by another package; its score lacks the constant −N/2 log 2π."""
    from fastrvm import RVR

    model = RVR(kernel="rbf", gamma=task.gamma, fit_intercept=False)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    evidence = float(model.scores_[-1]) - 0.5 * len(task.y) * math.log(2 * math.pi)
    return Measured(seconds, len(model.relevance_), rmse(model.predict(task.X_test), task.f_test), evidence)


def libsvm(task: Task) -> Measured:
    """Support vector regression, C = 1, ε = 0.1."""
    model = SVR(kernel="rbf", gamma=task.gamma, C=1.0, epsilon=0.1)
    seconds, _ = best_time(lambda: model.fit(task.X, task.y))
    return Measured(seconds, len(model.support_), rmse(model.predict(task.X_test), task.f_test))


def ard(task: Task) -> Measured:
    """scikit-learn's ARDRegression on the columns of the kernel matrix; timed once, as it is slow."""
    model = ARDRegression(fit_intercept=False)
    K = rbf_kernel(task.X, gamma=task.gamma)
    seconds, _ = best_time(lambda: model.fit(K, task.y), repeats=1)
    error = rmse(model.predict(rbf_kernel(task.X_test, task.X, gamma=task.gamma)), task.f_test)
    kept = np.flatnonzero(model.lambda_ < model.threshold_lambda)
    evidence = log_evidence(K[:, kept], task.y, model.lambda_[kept], 1 / model.alpha_)
    return Measured(seconds, len(kept), error, evidence)


METHODS: dict[str, Callable[[Task], Measured]] = {
    OURS: ours,
    SOONER: partial(ours, tol=1e-2),
    RIVAL: fastrvm,
    LIBSVM: libsvm,
    "ARDRegression": ard,
}


def absent(name: str, n: int) -> str | None:
    """Why a method is not run at this size; None if it is."""
    if name in (RIVAL, LEVEL) and importlib.util.find_spec("fastrvm") is None:
        return "not installed"
    if name == "ARDRegression" and n > ARD_LIMIT:
        return f"only up to N = {ARD_LIMIT}"
    return None


def measure(make: Callable[[int, int], Task], n: int, seeds: range) -> dict[str, list[Measured]]:
    """Every method on every draw (ARDRegression on the first alone)."""
    measured: dict[str, list[Measured]] = {name: [] for name in METHODS if absent(name, n) is None}
    for seed in seeds:
        task = make(n, seed)
        for name in measured:
            if name != "ARDRegression" or seed == seeds[0]:
                measured[name].append(METHODS[name](task))
    return measured


def mean_of(results: list[Measured], what: str) -> float:
    """Mean over the draws."""
    return float(np.mean([getattr(result, what) for result in results]))


def rows_of(label: str, n: int, measured: dict[str, list[Measured]]) -> list[list[str]]:
    """One row per method; evidence is compared draw by draw."""
    rows = []
    base = measured[OURS]
    for name in METHODS:
        reason = absent(name, n)
        if reason:
            rows.append([label, name, reason, *["–"] * 5])
            continue
        results = measured[name]
        same_draws = base[: len(results)]
        seconds = mean_of(results, "seconds")
        behind = [r.evidence - b.evidence for r, b in zip(results, same_draws, strict=True)]
        rows.append(
            [
                label,
                name,
                number(seconds, ".4f"),
                number(seconds / mean_of(same_draws, "seconds"), ".2f"),
                number(mean_of(results, "vectors"), ".1f"),
                number(mean_of(results, "error"), ".4f"),
                number(mean_of(results, "evidence"), ".2f"),
                number(float(np.mean(behind)), "+.2f"),
            ]
        )
    return rows


def paired(label: str, measured: dict[str, list[Measured]]) -> list[str] | None:
    """This package against the other relevance vector machine, draw by draw."""
    if RIVAL not in measured:
        return None
    a, b = measured[OURS], measured[RIVAL]
    gained = np.asarray([x.evidence - y.evidence for x, y in zip(a, b, strict=True)])
    ratio = mean_of(a, "seconds") / mean_of(b, "seconds")
    spread = gained.std(ddof=1) / math.sqrt(len(gained)) if len(gained) > 1 else math.nan
    cells = [f"{ratio:.2f}", f"{gained.mean():+.2f}", number(spread, ".2f"), f"{gained.min():+.2f}"]
    return [label, f"{(gained >= -0.01).sum()} of {len(gained)}", *cells]


def beside_libsvm(n: int, draws: int) -> str:
    """Time relative to one fit of libsvm, and the evidence reached, on draws that are used for this alone."""
    names = [name for name in (OURS, SOONER, RIVAL, LEVEL, LIBSVM) if absent(name, n) is None]
    measured: dict[str, list[Measured]] = {name: [] for name in names}
    for seed in range(UNSEEN, UNSEEN + draws):
        task = two_inputs(n, seed)
        for name in names:
            if name == LEVEL:
                found = stopped_at(task, measured[RIVAL][-1].evidence)
            else:
                found = METHODS[name](task)
            measured[name].append(found)
    unit = mean_of(measured[LIBSVM], "seconds")
    rows = []
    for name, results in measured.items():
        ratio = np.asarray([result.seconds for result in results]) / unit
        ahead = mean_of(results, "evidence") - mean_of(measured.get(RIVAL, results), "evidence")
        spread = ratio.std(ddof=1) / math.sqrt(draws) if draws > 1 else math.nan
        rows.append([name, f"{ratio.mean():.2f}", number(spread, ".2f"), number(ahead, "+.2f")])
    head = [f"2-D sinc, N = {n}, {draws} other draws", "time / SVR's", "std. error", "evidence − fastrvm's"]
    return table(head, rows)


def main() -> None:
    """Measure, print, write benchmarks/results/regression.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="noise draws averaged over (default 5)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 1000, 2000, 4000], help="N of 2-D sinc")
    options = parser.parse_args()
    tasks = [("1-D sinc, N = 100", one_input, 100)]
    tasks += [(f"2-D sinc, N = {n}", two_inputs, n) for n in options.sizes]
    rows: list[list[str]] = []
    pairs: list[list[str]] = []
    for label, make, n in tasks:
        measured = measure(make, n, range(options.draws))
        rows += rows_of(label, n, measured)
        pairs += [line for line in [paired(label, measured)] if line]
    head = ["task", "method", "seconds", "time / ours", "vectors", "RMSE", "log evidence", "− ours"]
    sections = [
        f"Means over {options.draws} draws of the best of three times; RMSE against the noise-free function "
        "on a test set. ARDRegression: one draw, one run. SVR: C = 1, ε = 0.1, with its intercept.",
        table(head, rows),
    ]
    if pairs:
        head = ["task", "not below", "time / fastrvm's", "evidence − fastrvm's", "std. error", "worst draw"]
        sections.append(table(head, pairs))
    sections.append(beside_libsvm(1000, 8 * options.draws))
    report("regression", "Regression beside other packages", sections)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # warnings of other packages are not the result
    with threadpool_limits(1):
        main()
