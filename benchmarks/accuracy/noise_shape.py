"""Noise of several kinds: what `GeneralizedNormal(shape="evidence")` finds, gains and costs beside Gaussian noise."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import report, rmse, table
from sparsebayes import Gaussian, GeneralizedNormal, RelevanceVectorRegressor
from sparsebayes.datasets import sinc

SIZE, LEVEL = 100, 0.1  # points, and the standard deviation of the noise
Noise = Callable[[np.random.Generator, int], np.ndarray]
KINDS: dict[str, Noise] = {
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
    "triangular": lambda rng, n: rng.triangular(-np.sqrt(6), 0.0, np.sqrt(6), n),
    "uniform and Gaussian, equal variances": lambda rng, n: (
        (rng.uniform(-np.sqrt(3), np.sqrt(3), n) + rng.standard_normal(n)) / np.sqrt(2)
    ),
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "Student, 5 degrees of freedom": lambda rng, n: rng.standard_t(5, n) / np.sqrt(5 / 3),
}
LIKELIHOODS = {"Gaussian": Gaussian(), "generalized normal": GeneralizedNormal(shape="evidence")}
TEXT = """sin(x)/x at {size} points drawn from (−10, 10), noise of standard deviation {level}, a Gaussian
kernel with the width learned (`gamma="ard"`); means over {draws} draws. *RMS error* is that of the mean at
1000 points against the function, ± its standard error; *within 2 std.* the share of those points at which the
function lies within two standard deviations of the mean, the noise not counted (0.95 would be right), and
*targets* the share of 1000 new targets within 1.96 of theirs, the noise counted (0.95 would be right for
Gaussian noise, 1 for uniform noise). The time of a fit includes learning the width. The p of the generalized
normal density ∝ exp(−|ε/s|^p) is estimated between 2 and 8, and is 2 unless another value gains ½ log n."""


def draw(noise: Noise, seed: int) -> tuple[np.ndarray, ...]:
    """X, y, and queries with the function and new targets there."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (SIZE, 1))
    Q = rng.uniform(-9.5, 9.5, (1000, 1))
    y = sinc(X[:, 0]) + LEVEL * noise(rng, SIZE)
    return X, y, Q, sinc(Q[:, 0]), sinc(Q[:, 0]) + LEVEL * noise(rng, 1000)


def measured(noise: Noise, likelihood: Any, seed: int) -> list[float]:
    """p, vectors, RMS error, evidence, both coverages, seconds."""
    X, y, Q, f, targets = draw(noise, seed)
    model = RelevanceVectorRegressor(gamma="ard", likelihood=likelihood)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    mean, std = model.predict(Q, return_std=True)
    own = np.sqrt(np.maximum(std**2 - model.noise_variance_, 0.0))
    return [
        model.noise_shape_,
        len(model.relevance_),
        rmse(mean, f),
        model.log_evidence_,
        float(np.mean(np.abs(mean - f) < 2 * own)),
        float(np.mean(np.abs(mean - targets) < 1.96 * std)),
        seconds,
    ]


def rows(draws: int) -> list[list[str]]:
    """Two rows per kind of noise."""
    lines = []
    for name, noise in KINDS.items():
        for label, likelihood in LIKELIHOODS.items():
            found = np.asarray([measured(noise, likelihood, seed) for seed in range(draws)])
            p, vectors, error, evidence, inside, targets, seconds = found.mean(axis=0)
            spread = found[:, 2].std(ddof=1) / np.sqrt(draws)
            lines.append(
                [
                    name,
                    label,
                    f"{p:.1f}",
                    f"{vectors:.1f}",
                    f"{error:.4f} ± {spread:.4f}",
                    f"{evidence:.2f}",
                    f"{inside:.3f}",
                    f"{targets:.3f}",
                    f"{seconds:.2f} s",
                ]
            )
    return lines


def main() -> None:
    """Measure, print, write benchmarks/results/noise_shape.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=40, help="noise draws (default 40)")
    draws = parser.parse_args().draws
    head = ["noise", "likelihood", "p", "vectors", "RMS error", "log evidence"]
    head += ["within 2 std.", "targets", "fit"]
    text = TEXT.format(size=SIZE, level=LEVEL, draws=draws)
    report("noise_shape", "Noise that is not Gaussian", [text, table(head, rows(draws))])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
