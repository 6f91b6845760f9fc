"""Whether a kernel machine with many rows is slower with all threads of BLAS than with one.

    python -m benchmarks.speed.threads            # writes benchmarks/results/threads.md

Each fit runs in a process of its own, since BLAS reads the number of threads when it starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results" / "threads.md"
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
FIT = """
import time
from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc2d
X, y, _ = make_sinc2d({rows}, 0.1, random_state=0)
RelevanceVectorRegressor(gamma=0.16).fit(X[:300], y[:300])
start = time.perf_counter()
RelevanceVectorRegressor(gamma=0.16).fit(X, y)
print(time.perf_counter() - start)
"""


def seconds(rows: int, threads: int) -> float:
    """Seconds of a fit to so many rows with so many threads."""
    environment = os.environ | dict.fromkeys(VARIABLES, str(threads))
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(rows=rows)], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 20_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    most = len(os.sched_getaffinity(0))
    lines = [
        "# One thread and all",
        "",
        f"Seconds of `RelevanceVectorRegressor(gamma=0.16).fit` on 2-D sinc, the best of {arguments.repeats}, on a",
        f"machine with {most} cores, other work beside it. Machines with other numbers of cores were not measured.",
        "",
        f"| rows | 1 thread | {most} threads |",
        "|---|---|---|",
    ]
    for rows in arguments.rows:
        best = {n: min(seconds(rows, n) for _ in range(arguments.repeats)) for n in (1, most)}
        lines.append(f"| {rows} | {best[1]:.2f} | {best[most]:.2f} |")
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
