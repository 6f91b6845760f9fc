"""Do the algorithms agree? Log evidence of every solver on 1-D sinc, twenty noise draws."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import report, table
from sparsebayes import RBF, Basis, Bias, LinearSpline, RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc

SOLVERS = ("active-set", "sequential", "mackay", "em")
BASES: dict[str, Basis] = {
    "Gaussian, width 3": RBF(width=3.0) + Bias(),
    "linear spline": LinearSpline() + Bias(),
}


def measure(basis: Basis, draws: int) -> np.ndarray:
    """(draws, solvers, 3): log evidence, number of functions, seconds."""
    values = np.empty((draws, len(SOLVERS), 3))
    for seed in range(draws):
        X, y, _ = make_sinc(100, "gaussian", 0.1, random_state=seed)
        for k, solver in enumerate(SOLVERS):
            start = time.perf_counter()
            model = RelevanceVectorRegressor(basis, solver=solver, fit_intercept=False).fit(X, y)
            values[seed, k] = model.log_evidence_, len(model.relevance_), time.perf_counter() - start
    return values


def rows_of(label: str, values: np.ndarray) -> list[list[str]]:
    """One row per solver."""
    evidence = values[:, :, 0]
    behind = evidence.max(axis=1, keepdims=True) - evidence
    return [
        [
            label,
            solver,
            f"{evidence[:, k].mean():.3f}",
            f"{behind[:, k].mean():.3f}",
            f"{behind[:, k].max():.3f}",
            f"{(behind[:, k] < 0.01).sum()} of {len(behind)}",
            f"{values[:, k, 1].mean():.1f}",
            f"{1000 * values[:, k, 2].mean():.1f} ms",
        ]
        for k, solver in enumerate(SOLVERS)
    ]


def main() -> None:
    """Measure, print, write benchmarks/results/agreement.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="noise draws (default 20)")
    draws = parser.parse_args().draws
    head = ["basis", "solver", "log evidence", "behind best", "worst", "at best", "functions", "time"]
    rows = [row for label, basis in BASES.items() for row in rows_of(label, measure(basis, draws))]
    text = (
        f"Means over {draws} draws, N = 100, noise 0.1, a bias among the functions. *Behind best* is the "
        "distance to the best of the four on the same draw, in nats; *at best* counts the draws within 0.01."
    )
    report("agreement", "Agreement of the algorithms", [text, table(head, rows)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # whether a solver converged is not the question here
    with threadpool_limits(1):
        main()
