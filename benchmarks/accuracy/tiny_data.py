"""How often 95 % intervals hold the next observation if the rows are very few.

python -m benchmarks.accuracy.tiny_data
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import report, table
from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor

ROWS = (6, 8, 10, 12, 15, 20, 30, 50)
DRAWS = 100
QUERIES = 200
NOISE = 0.3
PROBLEMS: dict[str, tuple[Callable[[], Any], int, Callable[[np.ndarray], np.ndarray]]] = {
    "a line, one column": (SparseBayesRegressor, 1, lambda X: X[:, 0]),
    "five columns, two matter": (SparseBayesRegressor, 5, lambda X: X[:, 0] - X[:, 1]),
    "a curve, `RelevanceVectorRegressor()`": (RelevanceVectorRegressor, 1, lambda X: np.sin(2 * X[:, 0])),
}


def coverage(problem: str, n: int, seed: int) -> float:
    """The share of new observations within their 95 % interval, of one draw of n rows."""
    make, d, f = PROBLEMS[problem]
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n + QUERIES, d))
    y = f(X) + NOISE * rng.standard_normal(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collapse of the noise, and queries outside the rows
        low, high = make().fit(X[:n], y[:n]).predict_interval(X[n:], level=0.95)
    return float(np.mean((low <= y[n:]) & (y[n:] <= high)))


def main() -> None:
    """Measure, and write benchmarks/results/tiny_data.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows = []
    with threadpool_limits(1):
        for problem in PROBLEMS:
            for n in ROWS:
                found = [100 * coverage(problem, n, seed) for seed in range(DRAWS)]
                rows.append([problem, str(n), f"{np.mean(found):.1f}", f"{np.quantile(found, 0.1):.0f}"])
                print(*rows[-1], flush=True)
    words = (
        f"Percent of {QUERIES} new observations within their 95 % interval, the mean over {DRAWS} draws and the tenth "
        f"percentile of these; inputs uniform from -2 to 2, Gaussian noise {NOISE}."
    )
    report("tiny_data", "Very few rows", [words, table(["problem", "rows", "covered", "worst tenth of draws"], rows)])


if __name__ == "__main__":
    main()
