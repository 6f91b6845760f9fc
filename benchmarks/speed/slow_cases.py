"""Regressions that are slow because their kernels are narrow: two source trees against each other.

    python -m benchmarks.speed.slow_cases OLD NEW                   # the roots of two checkouts
    python -m benchmarks.speed.slow_cases OLD NEW --only laplacian --no-report

Each case is run once on each tree, in a process of its own with one BLAS thread; processor time counts. The
errors are those on 2000 rows that were not fitted: if a fit is ended early, they say what that costs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

UNSEEN = 2000  # rows that the errors are measured on
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
HEAD = ["case", "tree", "CPU s", "faster", "functions", "log evidence", "noise variance", "RMSE", "mean log density"]
TITLE = "Kernels so narrow that models are not sparse"
ABOUT = (
    "Processor time of one fit in the old tree and in the new one, and how many times faster the new one is. RMSE and "
    "the mean log density are those of 2000 targets that were not fitted, noise included. A fit that is ended because "
    "its model has almost as many functions as rows has a lower evidence than one that lets the noise vanish."
)
Data = tuple[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # model, rows and targets to fit, and unseen ones


def halves(model: Any, rows: int, X: np.ndarray, f: np.ndarray, noise: np.ndarray) -> Data:
    """The model, with the first `rows` rows to be fitted and the others to be predicted."""
    y = f + noise
    return model, X[:rows], y[:rows], X[rows:], y[rows:]


def many_inputs(kernel: Callable[[], Any]) -> Data:
    """1500 rows of 57 normal inputs, three of which matter; the kernel has scales of its own."""
    from sparsebayes import RelevanceVectorRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500 + UNSEEN, 57))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    return halves(RelevanceVectorRegressor(kernel()), 1500, X, f, 0.3 * rng.standard_normal(len(X)))


def laplacian() -> Data:
    """1000 rows of ten normal inputs, two of which matter."""
    from sparsebayes import RelevanceVectorRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000 + UNSEEN, 10))
    model = RelevanceVectorRegressor("laplacian", gamma="scale")
    return halves(model, 1000, X, np.sin(X[:, 0]) + 0.5 * X[:, 1], 0.3 * rng.standard_normal(len(X)))


def waves(gamma: float) -> Data:
    """3000 rows in a square with many waves, and a Gaussian kernel far narrower than it."""
    from sparsebayes import RelevanceVectorRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000 + UNSEEN, 2))
    f = np.sin(30 * X[:, 0]) * np.cos(25 * X[:, 1])
    return halves(RelevanceVectorRegressor("rbf", gamma=gamma), 3000, X, f, 0.1 * rng.standard_normal(len(X)))


def rbf() -> Any:
    """A Gaussian kernel with the default scale."""
    from sparsebayes.bases import RBF

    return RBF()


def multiscale() -> Any:
    """A Gaussian kernel at three widths."""
    from sparsebayes.bases import MultiScale

    return MultiScale(rbf())


CASES: dict[str, Callable[[], Data]] = {
    "rbf, 1500 x 57": lambda: many_inputs(rbf),
    "MultiScale, 1500 x 57": lambda: many_inputs(multiscale),
    "laplacian, 1000 x 10": laplacian,
    "rbf, gamma=300, 3000 x 2": lambda: waves(300.0),
    "rbf, gamma=1000, 3000 x 2": lambda: waves(1000.0),
}


def child(name: str) -> None:
    """One case in this process: a line of JSON."""
    warnings.simplefilter("ignore")
    model, X, y, unseen, targets = CASES[name]()
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    mean, std = model.predict(unseen, return_std=True)
    density = -0.5 * (np.log(2 * np.pi * std**2) + ((targets - mean) / std) ** 2)
    found = {
        "seconds": seconds,
        "functions": len(model.relevance_vectors_),
        "evidence": float(model.log_evidence_),
        "noise": float(model.noise_variance_),
        "rmse": float(np.sqrt(np.mean((targets - mean) ** 2))),
        "density": float(np.mean(density)),
    }
    print(json.dumps(found))


def run(tree: Path, name: str) -> dict[str, float]:
    """One case on a source tree, in a process of its own."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str((tree / "src").resolve())}
    done = subprocess.run(
        [sys.executable, __file__, "--child", name], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def cells(name: str, tree: str, found: dict[str, float], faster: str) -> list[str]:
    """A row of the table."""
    return [
        name,
        tree,
        f"{found['seconds']:.2f}",
        faster,
        f"{found['functions']:.0f}",
        f"{found['evidence']:.1f}",
        f"{found['noise']:.3g}",
        f"{found['rmse']:.4f}",
        f"{found['density']:.3f}",
    ]


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="the old and the new source tree")
    parser.add_argument("--only", default="", help="cases that have this in their names")
    parser.add_argument("--no-report", action="store_true", help="print only")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child)
    if len(options.trees) != 2:
        parser.error("two source trees are needed, the old one and the new one")
    from benchmarks.common import report, table

    rows = []
    for name in CASES:
        if options.only in name:
            old, new = (run(tree, name) for tree in options.trees)
            rows += [cells(name, "old", old, ""), cells("", "new", new, f"{old['seconds'] / new['seconds']:.1f}")]
            print(*rows[-2:], sep="\n", file=sys.stderr, flush=True)
    report("slow_cases", TITLE, [ABOUT, table(HEAD, rows)], keep=not (options.no_report or options.only))


if __name__ == "__main__":
    main()
