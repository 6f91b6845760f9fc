"""Time and memory against N, beside libsvm and fastrvm. Part of `make bench`; about a quarter of an hour.

Every fit runs in a process of its own, one BLAS thread: seconds are CPU seconds (the best of several fits
while they are short), memory is the peak resident set of the process. 2-D sinc, Gaussian kernel of width 2.5,
noise 0.1, no intercept; Ripley's mixture with a Gaussian kernel of width 1; Friedman #1 with gamma="scale".
`--quick` tries everything on a few hundred points, and leaves the stored results as they are.

    python -m benchmarks.speed.scaling [--quick]
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import importlib.util
import json
import math
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import number, report, rmse, table

GAMMA = 1 / 2.5**2
OURS, SOONER = "sparsebayes", "sparsebayes, tol=1e-2"
LIMITS = {OURS: math.inf, SOONER: 4000, "libsvm SVR": 16_000, "SVR, grid of 15": 1000, "fastrvm": 8000}
SHORT, LONG = 2.0, 5.0  # seconds: fits that take longer are timed once, and on one draw
SIZES, MIXTURE, FRIEDMAN = (
    [1000, 4000, 10_000, 16_000, 100_000, 1_000_000],
    [1000, 4000, 16_000],
    [10_000, 100_000],
)
QUICK = [200, 400]
FIRST = 1000  # seed of the first draw: no setting was chosen on these
FIGURE = Path(__file__).resolve().parents[2] / "build" / "scaling.png"
Row = dict[str, Any]


def ours(X: np.ndarray, y: np.ndarray, **options: Any) -> tuple[Any, Row]:
    """This package, no intercept: the model of the papers."""
    from sparsebayes import RelevanceVectorRegressor

    model = RelevanceVectorRegressor("rbf", gamma=GAMMA, fit_intercept=False, **options).fit(X, y)
    maximum = model.certificate_.is_local_maximum
    return model, {"evidence": model.log_evidence_, "vectors": len(model.relevance_), "maximum": maximum}


def fastrvm(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """The same model by another package; its score lacks the constant −N/2 log 2π."""
    from fastrvm import RVR

    model = RVR(kernel="rbf", gamma=GAMMA, fit_intercept=False).fit(X, y)
    evidence = float(model.scores_[-1]) - 0.5 * len(y) * math.log(2 * math.pi)
    return model, {"evidence": evidence, "vectors": len(model.relevance_)}


def libsvm(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """One fit, C = 1, ε = 0.1."""
    from sklearn.svm import SVR

    model = SVR(kernel="rbf", gamma=GAMMA, C=1.0, epsilon=0.1).fit(X, y)
    return model, {"vectors": len(model.support_)}


def searched(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """Five values of C times three of ε, five folds."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVR

    grid = {"C": [0.1, 1, 10, 100, 1000], "epsilon": [0.01, 0.1, 0.2]}
    model = GridSearchCV(SVR(kernel="rbf", gamma=GAMMA), grid).fit(X, y)
    return model, {"vectors": len(model.best_estimator_.support_)}


def classifier(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """This package at its defaults."""
    from sparsebayes import RelevanceVectorClassifier

    model = RelevanceVectorClassifier("rbf", gamma=1.0).fit(X, y)
    return model, {"evidence": model.log_evidence_, "vectors": len(model.relevance_)}


def calibrated(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """Support vectors with Platt's sigmoid by 5-fold cross-validation."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    model = CalibratedClassifierCV(SVC(kernel="rbf", gamma=1.0, C=1.0), ensemble=False).fit(X, y)
    return model, {"vectors": len(model.calibrated_classifiers_[0].estimator.support_)}


def friedman(X: np.ndarray, y: np.ndarray) -> tuple[Any, Row]:
    """Ten inputs: the kernel is of high rank."""
    from sparsebayes import RelevanceVectorRegressor

    model = RelevanceVectorRegressor("rbf").fit(X, y)
    left = model.certificate_.gain_outside
    return model, {"evidence": model.log_evidence_, "vectors": len(model.relevance_), "left": left}


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], tuple[Any, Row]]] = {
    OURS: ours,
    SOONER: partial(ours, tol=1e-2),
    "libsvm SVR": libsvm,
    "SVR, grid of 15": searched,
    "fastrvm": fastrvm,
    "classifier": classifier,
    "SVC + Platt": calibrated,
    "friedman": friedman,
}


def data(method: str, n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Training rows and targets, test rows and the truth there."""
    from sparsebayes.datasets import make_friedman, make_ripley, make_sinc2d

    if method in ("classifier", "SVC + Platt"):
        X, y, *_ = make_ripley(n, random_state=seed)
        return X, y, X, y
    if method == "friedman":
        X, y, _ = make_friedman(n=n, random_state=seed)
        test = make_friedman(n=2000, random_state=10_000 + seed)
    else:
        X, y, _ = make_sinc2d(n, 0.1, random_state=seed)
        test = make_sinc2d(2000, 0.0, random_state=10_000 + seed)
    return X, y, test[0], test[2]


def child(method: str, n: int, seed: int) -> None:
    """One fit, and a line of JSON about it."""
    warnings.simplefilter("ignore")
    X, y, X_test, truth = data(method, n, seed)
    METHODS[method](X[:200], y[:200])  # imports are not the fit
    best, wall = math.inf, math.inf
    for _ in range(3):
        started, clock = time.process_time(), time.perf_counter()
        model, row = METHODS[method](X, y)
        best, wall = min(best, time.process_time() - started), min(wall, time.perf_counter() - clock)
        if best > SHORT:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    error = rmse(model.predict(X_test), truth) if truth.dtype.kind == "f" else math.nan
    print(json.dumps(row | {"seconds": best, "wall": wall, "peak": peak, "error": error}))


def run(method: str, n: int, seed: int) -> Row:
    """What `child` measures, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.scaling", "--child", method, str(n), str(seed)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    row: Row = json.loads(output.splitlines()[-1])
    print(f"{method}, N = {n}, draw {seed}: {row['seconds']:.3f} s", file=sys.stderr)
    return row


def averaged(method: str, n: int, draws: int) -> Row:
    """Means over draws; one draw if a fit is long."""
    rows = [run(method, n, FIRST)]
    if rows[0]["seconds"] < LONG:
        rows += [run(method, n, FIRST + k) for k in range(1, draws)]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]} | {"draws": len(rows)}


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent of the power law through the points."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def regression(sizes: list[int], draws: int) -> dict[str, dict[int, Row]]:
    """Every method at every size up to its limit."""
    measured: dict[str, dict[int, Row]] = {}
    for method, limit in LIMITS.items():
        if method == "fastrvm" and importlib.util.find_spec("fastrvm") is None:
            continue
        measured[method] = {n: averaged(method, n, draws) for n in sizes if n <= limit}
    return measured


def extrapolated(rows: dict[int, Row], n: int) -> float:
    """Seconds at n: measured, or extrapolated with N² from the largest size that was."""
    if n in rows:
        return float(rows[n]["seconds"])
    largest = max(rows)
    return float(rows[largest]["seconds"]) * (n / largest) ** 2


def ratios(sizes: list[int], measured: dict[str, dict[int, Row]]) -> str:
    """One row per size, and one with a larger tol if that was measured."""
    lines = []
    for n, name in [(n, name) for n in sizes for name in (OURS, SOONER) if n in measured[name]]:
        mine = measured[name][n]
        svr, grid = (extrapolated(measured[rival], n) for rival in ("libsvm SVR", "SVR, grid of 15"))
        other = measured.get("fastrvm", {}).get(n)
        lines.append(
            [
                f"{n}" + name.removeprefix(OURS),
                f"{mine['seconds']:.3f}",
                f"{mine['peak'] / 2**20:.0f}",
                f"{mine['vectors']:.1f}",
                f"{mine['error']:.4f}",
                f"{mine['seconds'] / svr:.3f}" + ("" if n in measured["libsvm SVR"] else "*"),
                f"{mine['seconds'] / grid:.4f}" + ("" if n in measured["SVR, grid of 15"] else "*"),
                number(mine["seconds"] / other["seconds"], ".3f") if other else "–",
                number(mine["evidence"] - other["evidence"], "+.2f") if other else "–",
            ]
        )
    head = [
        "N",
        "seconds",
        "peak MiB",
        "vectors",
        "RMSE",
        "/ SVR",
        "/ SVR grid",
        "/ fastrvm",
        "evidence − fastrvm's",
    ]
    return table(head, lines)


def mixture(sizes: list[int], draws: int) -> str:
    """The classifier of this package beside support vectors with Platt's sigmoid."""
    lines = []
    for n in sizes:
        mine, other = (averaged(method, n, min(draws, 3)) for method in ("classifier", "SVC + Platt"))
        share = mine["seconds"] / other["seconds"]
        cells = [mine["seconds"], other["seconds"], share, mine["vectors"], other["vectors"]]
        lines.append([f"{n}", *(f"{cell:.3f}" for cell in cells)])
    return table(["N", "seconds", "SVC + Platt", "ratio", "vectors", "support vectors"], lines)


def high_rank(sizes: list[int]) -> str:
    """A kernel of high rank, on ten inputs: one draw."""
    lines = []
    for n in sizes:
        row = run("friedman", n, FIRST)
        cells = [
            f"{row['seconds']:.1f}",
            f"{row['wall']:.1f}",
            f"{row['peak'] / 2**20:.0f}",
            f"{row['vectors']}",
        ]
        lines.append([f"{n}", *cells, f"{row['error']:.3f}", f"{row['evidence']:.1f}", f"{row['left']:.2f}"])
    return table(["N", "seconds", "by the clock", "peak MiB", "vectors", "RMSE", "evidence", "gain outside"], lines)


def draw(measured: dict[str, dict[int, Row]]) -> None:
    """Time and peak memory against N."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, rows in measured.items():
        if name == SOONER:
            continue
        for axis, what, unit in zip(axes, ("seconds", "peak"), (1.0, 2**30), strict=True):
            axis.loglog(list(rows), [row[what] / unit for row in rows.values()], "o-", label=name)
    for axis, label in zip(axes, ("CPU seconds", "peak memory, GiB"), strict=True):
        axis.set(xlabel="N", ylabel=label)
        axis.grid(alpha=0.3)
    axes[0].legend()
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=120)


def options_given() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--draws", type=int, default=5, help="draws, while fits are short (default 5)")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="N of 2-D sinc")
    parser.add_argument("--mixture", type=int, nargs="*", default=MIXTURE, help="N of Ripley's mixture")
    parser.add_argument("--friedman", type=int, nargs="*", default=FRIEDMAN, help="N of Friedman #1")
    parser.add_argument("--quick", action="store_true", help=f"N = {QUICK} throughout, one draw")
    options = parser.parse_args()
    if options.quick:
        options.draws, options.sizes, options.mixture, options.friedman = 1, QUICK, QUICK, QUICK
    return options


def main() -> None:
    """Measure, print, write benchmarks/results/scaling.md and build/scaling.png."""
    options = options_given()
    if options.child:
        return child(options.child[0], int(options.child[1]), int(options.child[2]))
    measured = regression(options.sizes, options.draws)
    sections = [
        f"2-D sinc, means over {options.draws} draws (one where a fit takes more than {LONG:.0f} s). SVR: "
        "C = 1, ε = 0.1. Grid: 5 × 3 values of C and ε, 5 folds. A star: extrapolated with N² from the "
        "largest N measured.",
        ratios(options.sizes, measured),
    ]
    large = [n for n in options.sizes if n >= 10_000]
    if len(large) > 1:
        seconds = [measured[OURS][n]["seconds"] for n in large]
        sections.append(f"Time: N to the {slope(large, seconds):.2f} from {large[0]} to {large[-1]}.")
    sections += ["Ripley's mixture, labels with probabilities:", mixture(options.mixture, options.draws)]
    sections += ["Friedman #1, ten inputs, a kernel of high rank; one draw:", high_rank(options.friedman)]
    report("scaling", "Time and memory against N", sections, keep=not options.quick)
    draw(measured)


if __name__ == "__main__":
    main()
