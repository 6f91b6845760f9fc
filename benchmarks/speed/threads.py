"""Whether fits are slower with all threads of BLAS than with one.

    python -m benchmarks.speed.threads            # writes benchmarks/results/threads.md
    python -m benchmarks.speed.threads --large    # and a kernel machine of a million rows

Each fit runs in a process of its own, since BLAS reads the number of threads when it starts. The first fit of a
process is a small one, and is not timed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results" / "threads.md"
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
FIT = """
import time, warnings
import numpy as np
from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.datasets import make_sinc2d
warnings.simplefilter("ignore")

def columns(n, M, used):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M))
    return X, X[:, :used].sum(axis=1) + rng.standard_normal(n)

model = {model}
X, y = {data}
model.fit(X[:300], y[:300])
times = []
for _ in range({repeats}):
    start = time.perf_counter()
    model.fit(X, y)
    times.append(time.perf_counter() - start)
print(len(model.relevance_), min(times))
"""


@dataclass(frozen=True)
class Task:
    """One fit.

    name : what it is.  model, data : Python for the estimator, and for (X, y).
    """

    name: str
    model: str
    data: str


KERNEL = "RelevanceVectorRegressor(gamma=0.16)"
TASKS = [
    Task("kernel machine, 2000 rows", KERNEL, "make_sinc2d(2000, 0.1, random_state=0)[:2]"),
    Task("kernel machine, 20,000 rows", KERNEL, "make_sinc2d(20_000, 0.1, random_state=0)[:2]"),
    Task("kernel machine, 100,000 rows", KERNEL, "make_sinc2d(100_000, 0.1, random_state=0)[:2]"),
    Task(
        "learned width, 10,000 rows",
        'RelevanceVectorRegressor(gamma="evidence")',
        "make_sinc2d(10_000, 0.1, random_state=0)[:2]",
    ),
    Task("columns, 20,000 × 2000, 20 used", "SparseBayesRegressor(prior='bic')", "columns(20_000, 2000, 20)"),
    Task("columns, 20,000 × 2000, 400 used", "SparseBayesRegressor(prior='bic')", "columns(20_000, 2000, 400)"),
    Task(
        "two classes, 50,000 × 100",
        "SparseBayesClassifier(prior='bic')",
        "(lambda X, y: (X, y > 0))(*columns(50_000, 100, 10))",
    ),
    Task(
        "two classes, kernel, 8000 rows",
        "RelevanceVectorClassifier(gamma=0.16)",
        "(lambda X, y, f: (X, y > 0.3))(*make_sinc2d(8000, 0.1, random_state=0))",
    ),
]
LARGE = [Task("kernel machine, 1,000,000 rows", KERNEL, "make_sinc2d(1_000_000, 0.1, random_state=0)[:2]")]


def measured(task: Task, threads: int, repeats: int) -> tuple[int, float]:
    """Functions selected by a fit with so many threads, and its seconds: the least of so many repeats."""
    environment = os.environ | dict.fromkeys(VARIABLES, str(threads))
    script = FIT.format(model=task.model, data=task.data, repeats=repeats)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    functions, seconds = done.stdout.split()
    return int(functions), float(seconds)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="a kernel machine of a million rows too, fitted once")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    most, today = len(os.sched_getaffinity(0)), datetime.datetime.now(datetime.UTC).date()
    lines = [
        "# One thread and all",
        "",
        f"Seconds of `fit`, the best of {arguments.repeats} (one of a million rows), in processes of their own on a",
        f"machine with {most} cores, {today}. `python -m benchmarks.speed.threads`.",
        "",
        f"| fit | functions | 1 thread | {most} threads | ratio |",
        "|---|---|---|---|---|",
    ]
    for task in TASKS + LARGE * arguments.large:
        repeats = 1 if task in LARGE else arguments.repeats
        functions, one = measured(task, 1, repeats)
        every = measured(task, most, repeats)[1]
        lines.append(f"| {task.name} | {functions} | {one:.2f} | {every:.2f} | {every / one:.2f} |")
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
