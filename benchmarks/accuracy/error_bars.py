"""Coverage of the error bars with learned scales, for each `variance`, on draws that no setting was chosen on."""

from __future__ import annotations

import argparse
import pickle
import time
import warnings
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import report, table
from sparsebayes import RBF, Columns, RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman, sinc

VARIANCES = ("posterior", "auto", "gp")
TEST_ROWS = 1000
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def friedman(n: int) -> Callable[[int], Data]:
    """Friedman #1: ten inputs of which five matter, noise 1."""

    def draw(seed: int) -> Data:
        rng = np.random.default_rng(seed)
        X, _, f = make_friedman(1, n, None, random_state=seed)
        X_test, _, f_test = make_friedman(1, TEST_ROWS, None, random_state=10_000 + seed)
        return X, f + rng.standard_normal(n), X_test, f_test + rng.standard_normal(TEST_ROWS)

    return draw


def one_input(n: int, noise: float) -> Callable[[int], Data]:
    """sin(x)/x on (−10, 10), points at random."""

    def draw(seed: int) -> Data:
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10, 10, (n + TEST_ROWS, 1))
        y = sinc(X[:, 0]) + noise * rng.standard_normal(n + TEST_ROWS)
        return X[:n], y[:n], X[n:], y[n:]

    return draw


def two_inputs(seed: int) -> Data:
    """[T01, 4.3]: sinc(x1) + 0.1 x2, noise 0.1, 100 points."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (100 + TEST_ROWS, 2))
    y = sinc(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * rng.standard_normal(100 + TEST_ROWS)
    return X[:100], y[:100], X[100:], y[100:]


PROBLEMS = {
    "Friedman #1, 60 points": ("rbf", friedman(60)),
    "Friedman #1, 240 points": ("rbf", friedman(240)),
    "sinc, 40 points, noise 0.2": ("rbf", one_input(40, 0.2)),
    "sinc, 100 points, noise 0.1": ("rbf", one_input(100, 0.1)),
    "T01 4.3, 100 points": (RBF() + Columns(degree=2), two_inputs),
}


def measure(kernel: str | RBF, variance: str, data: Data) -> list[float]:
    """Share of new targets within 1.96 deviations, mean square of (y − mean)/std, −log density, kB, ms."""
    X, y, X_test, y_test = data
    model = RelevanceVectorRegressor(kernel, gamma="ard", variance=variance).fit(X, y)
    start = time.process_time()
    mean, std = model.predict(X_test, return_std=True)
    seconds = time.process_time() - start
    z = (y_test - mean) / std
    loss = 0.5 * np.mean(np.log(2 * np.pi * std**2) + z**2)
    return [np.mean(np.abs(z) < 1.96), np.mean(z**2), loss, len(pickle.dumps(model)) / 1e3, 1e3 * seconds]


def rows(draws: int) -> list[list[str]]:
    """One row per problem and variance: means over the draws; medians of squares, densities and times."""
    lines = []
    for name, (kernel, draw) in PROBLEMS.items():
        found = np.asarray([[measure(kernel, each, draw(seed)) for each in VARIANCES] for seed in range(draws)])
        for k, variance in enumerate(VARIANCES):
            cover, square, loss, size, ms = found[:, k].T
            beside = np.median(loss - found[:, 0, 2])
            lines.append(
                [
                    name,
                    variance,
                    f"{cover.mean():.3f}",
                    f"{np.median(square):.2f}",
                    f"{beside:+.3f}",
                    f"{size.mean():.0f}",
                    f"{np.median(ms):.1f}",
                ]
            )
    return lines


def main() -> None:
    """Measure, print, write benchmarks/results/error_bars.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws of each problem (default 20)")
    head = [
        "",
        "variance",
        "within 1.96 std",
        "((y − mean)/std)², median",
        "NLPD − that of the posterior, median",
        "pickled, kB",
        "1000 predictions, CPU ms",
    ]
    text = (
        'gamma="ard", one fit for each draw and variance; means over the draws unless stated otherwise. '
        "The share of new targets within 1.96 standard deviations should be 0.950."
    )
    lines = table(head, rows(parser.parse_args().draws))
    report("error_bars", "Error bars with learned scales", [f"{text}\n\n{lines}"])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
