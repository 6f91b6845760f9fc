"""How long a fit with all defaults takes: beside a grid search of SVR, and of a hundred points beside fastrvm.

    python -m benchmarks.speed.defaults

Processor time, best of three, one thread. The grid has five values of C and three of gamma, five-fold. The width of the
kernel is learned by this package; fastrvm and the rows of a hundred points have it given.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from benchmarks.accuracy.defaults import Split, standardised, uci
from benchmarks.common import real_data, report, rmse, table
from sparsebayes import ActiveSet, RelevanceVectorRegressor, Search
from sparsebayes.datasets import make_friedman, make_sinc, make_sinc2d

GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.03, 0.1, 0.3]}
SIZES = (300, 1000, 4000)


def seconds_of(action: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Seconds of processor time of the fastest of several calls, and what the last returned."""
    best = np.inf
    for _ in range(repeats):
        began = time.process_time()
        value = action()
        best = min(best, time.process_time() - began)
    return best, value


def sets(n: int) -> dict[str, Split]:
    """Constructed and real data with n training rows."""
    X, y, _ = make_sinc2d(n + 1000, 0.1, random_state=0)
    found = {"2-D sinc": (X[:n], y[:n], X[n:], y[n:])}
    X, y, _ = make_friedman(1, n=n + 1000, random_state=0)
    found["Friedman #1"] = (X[:n], y[:n], X[n:], y[n:])
    if real_data() is not None:
        found |= {name: uci(name, 0, n) for name in ("kin8nm", "power")}
    return found


def beside_grid_search() -> str:
    """Time and error of the default fit and of the grid search."""
    rows = []
    for n in SIZES:
        for name, split in sets(n).items():
            if n > 1000 and name != "2-D sinc":  # the grid search alone would take many minutes
                continue
            X, y, X_test, y_test = standardised(split)
            repeats = 1 if n > 1000 else 3
            ours, model = seconds_of(lambda X=X, y=y: RelevanceVectorRegressor().fit(X, y), repeats)
            theirs, grid = seconds_of(lambda X=X, y=y: GridSearchCV(SVR(), GRID, cv=5).fit(X, y), 1)
            errors = [rmse(each.predict(X_test), y_test) for each in (model, grid)]
            cells = [f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}", *(f"{error:.4f}" for error in errors)]
            vectors = [str(len(model.relevance_)), str(len(grid.best_estimator_.support_))]
            rows.append([name, str(n), *cells, *vectors])
            print(*rows[-1], sep="  ", flush=True)
    head = ["set", "rows", "s", "SVR's grid", "ratio", "RMSE", "SVR's", "vectors", "SVR's"]
    return table(head, rows)


def hundred_points(draws: int = 20) -> str:
    """1-D sinc, a hundred points: the efforts beside fastrvm, and what beginning with all candidates costs."""
    try:
        from fastrvm import RVR
    except ImportError:
        return "fastrvm is not installed."
    rows = []
    for name, kernel, options in (("rbf", "rbf", {"gamma": 1 / 9}), ("linear spline", "linear-spline", {})):
        found = []
        for seed in range(500, 500 + draws):
            X, y, _ = make_sinc(100, "gaussian", 0.1, random_state=seed)
            line: list[float] = []
            for effort in (Search(), "fast", "default"):
                model = RelevanceVectorRegressor(kernel, solver=ActiveSet(effort=effort), **options)
                seconds, _ = seconds_of(lambda model=model, X=X, y=y: model.fit(X, y))
                line += [model.log_evidence_, seconds]
            rival, data = (RVR(kernel="rbf", gamma=1 / 9), X) if options else (RVR(kernel="precomputed"), _spline(X))
            line.append(seconds_of(lambda rival=rival, data=data, y=y: rival.fit(data, y))[0])
            found.append(line)
        values = np.asarray(found)
        for k, effort in enumerate(("fast, without beginning with all candidates", "fast", "default")):
            lost = values[:, 2 * k] - values[:, 0]
            ratio = values[:, 2 * k + 1].mean() / values[:, 6].mean()
            cells = [
                f"{1e3 * values[:, 2 * k + 1].mean():.1f}",
                f"{ratio:.1f}",
                f"{lost.mean():+.3f}",
                f"{lost.min():+.2f}",
            ]
            rows.append([name, effort, *cells])
            print(*rows[-1], sep="  ", flush=True)
    return table(["kernel", "effort", "ms", "times fastrvm's", "nats gained, mean", "worst"], rows)


def _spline(X: np.ndarray) -> np.ndarray:
    """The linear spline kernel [T01, eq. 33]."""
    x, z, least = X, X.T, np.minimum(X, X.T)
    return 1 + x * z + x * z * least - (x + z) / 2 * least**2 + least**3 / 3


def main() -> None:
    """Measure and report."""
    sections = [
        __doc__.split("\n\n", 2)[2].strip() if __doc__ else "",
        "## Beside a grid search",
        beside_grid_search(),
        "## A hundred points",
        hundred_points(),
    ]
    report("speed_defaults", "The time of a fit with all defaults", sections)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
