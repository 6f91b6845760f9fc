"""Widths of many inputs learned from few rows: how often 95 % intervals hold, and the error beside one width for all.

Friedman #1, noise 1: five inputs matter, all others do not. Writes benchmarks/results/many_inputs.md.

    python -m benchmarks.accuracy.many_inputs
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import warnings

import numpy as np

from benchmarks.common import report, rmse, table
from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman

ROWS, INPUTS = (60, 120, 240), (10, 20, 50, 100)
QUERIES, DRAWS = 500, 8
WORDS = ("evidence", "ard")


def draw(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of d inputs, of which the first five matter, and their targets; `QUERIES` more rows to predict."""
    X, f, _ = make_friedman(n=n + QUERIES, snr=None, random_state=seed)
    rng = np.random.default_rng(seed)
    others = rng.uniform(size=(len(X), d - X.shape[1]))
    return np.concatenate([X, others], axis=1), f + rng.standard_normal(len(X))


def measured(n: int, d: int, seed: int) -> list[float]:
    """Error and coverage under each way of learning widths."""
    X, y = draw(n, d, seed)
    found = []
    for gamma in WORDS:
        model = RelevanceVectorRegressor(gamma=gamma).fit(X[:n], y[:n])
        low, high = model.predict_interval(X[n:], level=0.95)
        found += [rmse(model.predict(X[n:]), y[n:]), float(np.mean((low <= y[n:]) & (y[n:] <= high)))]
    return found


def main() -> None:
    """Measure, and write the page."""
    warnings.simplefilter("ignore")
    rows = []
    for n in ROWS:
        for d in INPUTS:
            runs = np.asarray([measured(n, d, seed) for seed in range(DRAWS)])
            one, own = runs.mean(axis=0).reshape(2, 2)
            cells = [f"{one[0]:.2f}", f"{own[0]:.2f}", f"{one[1]:.2f}", f"{own[1]:.2f}", f"{runs[:, 3].min():.2f}"]
            rows.append([str(n), str(d), *cells])
            print(rows[-1], flush=True)
    head = ["rows", "inputs", "error, one width", "error, ard", "covered, one width", "covered, ard", "worst draw, ard"]
    words = (
        f"Root mean square error and share of {QUERIES} new observations in their 95 % interval, means over {DRAWS} "
        "draws. Five inputs matter; the noise has standard deviation 1."
    )
    report("many_inputs", "Widths of many inputs", [words, table(head, rows)])


if __name__ == "__main__":
    main()
