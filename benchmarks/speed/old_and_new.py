"""Two source trees against each other: the tasks of `make bench` in miniature, this package's fits alone.

    python benchmarks/speed/old_and_new.py OLD NEW                # the roots of two checkouts
    python benchmarks/speed/old_and_new.py OLD NEW --only ripley --repeats 2

Both trees are run in turn, each time in a fresh process with one BLAS thread; the best processor time of a
task over all runs counts (short fits are repeated within a run). Printed are the ratio new/old for each task,
by how many nats the evidence differs, and the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENOUGH, MOST = 0.6, 20  # a fit is repeated until it has taken ENOUGH seconds in all, or MOST times
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Fit = Callable[[], Any]


def tasks() -> dict[str, Callable[[], Fit]]:
    """What makes the data of each task and returns its fit: those of regression, classification, scaling."""
    sys.path.insert(0, str(ROOT / "tests" / "reference"))
    import api

    from sparsebayes.datasets import make_friedman, make_ripley, make_sinc, make_sinc2d

    def regression(data: tuple[Any, ...], **options: Any) -> Fit:
        X, y, _ = data
        return lambda: api.regressor("rbf", **options).fit(X, y)

    def classification(n: int, seed: int, **options: Any) -> Fit:
        X, y, _ = make_ripley(n, random_state=seed)
        return lambda: api.classifier("rbf", **{"gamma": 1.0} | options).fit(X, y)

    plane = {"gamma": 1 / 2.5**2, "fit_intercept": False}
    made: dict[str, Callable[[], Fit]] = {
        "sinc, N = 100": lambda: regression(make_sinc(100, random_state=0), gamma=1 / 9, fit_intercept=False)
    }
    for n in (500, 1000, 2000, 4000):
        made[f"2-D sinc, N = {n}"] = lambda n=n: regression(make_sinc2d(n, random_state=0), **plane)
        made[f"2-D sinc, N = {n}, tol=1e-2"] = lambda n=n: regression(make_sinc2d(n, random_state=0), tol=1e-2, **plane)
    for seed in (4000, 4001, 4002):
        made[f"2-D sinc, N = 1000, draw {seed}"] = lambda seed=seed: regression(
            make_sinc2d(1000, random_state=seed), **plane
        )
    for n in (500, 1000, 2000, 4000):
        made[f"ripley, N = {n}"] = lambda n=n: classification(n, 0)
        made[f"ripley, N = {n}, no intercept"] = lambda n=n: classification(n, 0, fit_intercept=False)
    for n in (500, 1000, 2000):
        made[f'ripley, N = {n}, gamma="ard"'] = lambda n=n: classification(n, 0, gamma="ard")
    for n in (10_000, 16_000, 100_000):
        made[f"2-D sinc, N = {n}"] = lambda n=n: regression(make_sinc2d(n, random_state=1000), **plane)
    made["ripley, N = 16000"] = lambda: classification(16_000, 1000)
    for n in (1000, 3000):
        made[f"friedman, N = {n}"] = lambda n=n: regression(make_friedman(n=n, random_state=1000))
    return made


def child(only: str) -> None:
    """Every task in this process: a line of JSON with the best seconds and the evidence of each."""
    warnings.simplefilter("ignore")
    found = {}
    for number, (name, make) in enumerate(tasks().items()):
        if only not in name:
            continue
        fit = make()
        best, total, repeats = math.inf, 0.0, 0
        while repeats < MOST and (total < ENOUGH or (number == 0 and repeats < 2)):
            start = time.process_time()
            model = fit()
            seconds = time.process_time() - start
            best, total, repeats = min(best, seconds), total + seconds, repeats + 1
        found[name] = {"seconds": best, "evidence": float(model.log_evidence_)}
    print(json.dumps(found))


def run(tree: Path, only: str) -> dict[str, dict[str, float]]:
    """All tasks on a source tree, in a process of its own."""
    source = tree / "src" if (tree / "src").is_dir() else tree
    if not (source / "sparsebayes").is_dir():
        raise SystemExit(f"{tree} must be a checkout with src/sparsebayes, or a folder with sparsebayes in it.")
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(source.resolve())}
    command = [sys.executable, __file__, "--child", "--only", only]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    print(f"{tree}: {sum(row['seconds'] for row in found.values()):.2f} s", file=sys.stderr, flush=True)
    return found


def alternated(trees: list[Path], repeats: int, only: str) -> list[list[dict[str, dict[str, float]]]]:
    """The runs of each tree; the one that goes first changes from round to round."""
    runs: list[list[dict[str, dict[str, float]]]] = [[], []]
    for number in range(repeats):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            runs[side].append(run(trees[side], only))
    return runs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="the old and the new source tree")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each tree (default 5)")
    parser.add_argument("--only", default="", help="tasks that have this in their names")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.only)
    if len(options.trees) != 2:
        parser.error("two source trees are needed, the old one and the new one")
    old, new = alternated(options.trees, options.repeats, options.only)
    width = max(map(len, old[0]))
    print(f"{'task':{width}}      old s      new s  new/old  evidence new - old")
    logarithms = []
    for name in old[0]:
        before, after = (min(each[name]["seconds"] for each in runs) for runs in (old, new))
        gained = new[0][name]["evidence"] - old[0][name]["evidence"]
        logarithms.append(math.log(after / before))
        print(f"{name:{width}}  {before:9.4f}  {after:9.4f}  {after / before:7.3f}  {gained:+18.1e}")
    mean = math.exp(sum(logarithms) / len(logarithms))
    print(f"geometric mean of new/old over {len(logarithms)} tasks, best of {options.repeats}: {mean:.3f}")


if __name__ == "__main__":
    main()
