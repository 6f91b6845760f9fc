"""How high each effort climbs on real data, and what that costs: evidence, error, size and time, by effort.

    python -m benchmarks.accuracy.search                  # the tables; some twenty minutes on one core
    python -m benchmarks.accuracy.search --best 600       # search each split for 600 s more, and store what is best
    python -m benchmarks.accuracy.search --picture        # evidence against time, for docs/higher-maxima.md

Kernel exp(−γ‖x−z‖²) with γ = 1/d, inputs and target standardised, an intercept; at most 1200 rows. The data are read
through load.py in the folder that the environment variable SPARSEBAYES_DATA names, else in ../shared/data beside the
repository. The best models that are known are in tests/reference/best_known.json.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import DATA, log_evidence, real_data, report, rmse, table
from sparsebayes import ActiveSet, RelevanceVectorRegressor, Result, fit

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "tests" / "reference" / "best_known.json"
SETS = ("concrete", "energy", "boston", "kin8nm", "power", "friedman1")
SPLITS, MOST = (0, 1, 2), 1200
FOREVER = 1e6  # seconds
PUBLISHED = ("sequential", "mackay", "em")
NOTE = (
    'Gap: by how many nats the best model known is above `effort="fast"`; closed: the share of it that an effort '
    'gains, where it is more than a nat. RMSE, functions and time are those of `effort="fast"` times the number '
    "given; time is processor time, best of three."
)


@dataclass(frozen=True)
class Task:
    """One split of a data set."""

    name: str
    split: int

    @cached_property
    def data(self) -> tuple[np.ndarray, ...]:
        """X, y, X and y of the test rows, standardised by the training rows."""
        X, y, X_test, y_test = _raw(self.name, self.split)
        mean, spread, level, size = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()
        spread[spread == 0] = 1
        return (X - mean) / spread, (y - level) / size, (X_test - mean) / spread, (y_test - level) / size

    @cached_property
    def design(self) -> np.ndarray:
        """The kernel matrix."""
        return kernel(self.data[0], self.data[0])

    @property
    def key(self) -> str:
        """The name that the best known model is stored under."""
        return f"{self.name} {self.split}"

    def solve(self, **options: Any) -> tuple[Result, float]:
        """The fitted model, and the seconds of processor time that took."""
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = fit(self.design, self.data[1], fit_intercept=True, **options)
        return result, time.process_time() - began

    def evidence(self, result: Result) -> float:
        """Log evidence by brute force, the intercept integrated out."""
        Phi, y = self.design[:, result.active], self.data[1]
        centred = log_evidence(Phi - Phi.mean(axis=0), y - y.mean(), result.alpha, result.noise_variance)
        return centred + 0.5 * float(np.log(2 * np.pi * result.noise_variance) - np.log(len(y)))

    def error(self, result: Result) -> float:
        """RMSE on the test rows."""
        X, _, X_test, y_test = self.data
        return rmse(kernel(X_test, X[result.active]) @ result.mean + result.intercept[0], y_test)


def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """exp(−‖a−b‖²/d)."""
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[None, :] - 2 * A @ B.T
    return np.exp(-np.maximum(squares, 0.0) / A.shape[1])


def _raw(name: str, split: int) -> tuple[np.ndarray, ...]:
    """A split in the units of the data: at most 1200 training rows, the first ones of the first split."""
    rng = np.random.default_rng(split)
    if name == "friedman1":
        parts = []
        for n, noise in ((240, 1.0), (1000, 0.0)):
            X = rng.uniform(size=(n, 10))
            f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
            parts += [X, f + noise * rng.standard_normal(n)]
        return tuple(parts)
    load = real_data()
    if load is None:
        raise SystemExit(f"There is no load.py in {DATA}: set SPARSEBAYES_DATA.")
    if name == "boston":
        X, y = load.boston()
        order = rng.permutation(len(y))
        train, test = order[:400], order[400:]
        return X[train], y[train], X[test], y[test]
    X, y, X_test, y_test = load.uci(name, split)
    rows = rng.permutation(len(y))[:MOST] if split and len(y) > MOST else np.arange(min(len(y), MOST))
    return X[rows], y[rows], X_test, y_test


def known() -> dict[str, dict[str, Any]]:
    """The best models that are known, by split."""
    return json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}


def remember(task: Task, result: Result, seconds: float) -> None:
    """Store a model if it is the best known of its split; the seconds of search add up."""
    stored = known()
    entry = stored.get(task.key, {"log_evidence": -np.inf, "seconds": 0.0})
    entry["seconds"] = round(entry["seconds"] + seconds)
    evidence = task.evidence(result)
    if evidence > entry["log_evidence"]:
        entry |= {
            "log_evidence": evidence,
            "rmse": task.error(result),
            "noise_variance": result.noise_variance,
            "functions": result.active.tolist(),
            "alpha": result.alpha.tolist(),
        }
    stored[task.key] = entry
    temporary = KNOWN.with_suffix(".tmp")
    temporary.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    temporary.replace(KNOWN)


def _after(seconds: float) -> Callable[[Any], bool]:
    """A callback that ends a fit after so many seconds of processor time: the machine may be busy."""
    end = time.process_time() + seconds
    return lambda _: time.process_time() > end


def measured(task: Task, effort: str) -> np.ndarray:
    """Log evidence, RMSE, functions, and seconds of processor time (the best of three, of one if that is long)."""
    runs = [task.solve(effort=effort, random_state=0) for _ in range(1 if effort == "high" else 3)]
    result = runs[0][0]
    return np.asarray(
        [result.log_evidence, task.error(result), len(result.active), min(seconds for _, seconds in runs)]
    )


def tables(tasks: list[Task], efforts: tuple[str, ...]) -> list[str]:
    """Every effort on every split, and the means."""
    stored, lines, found = known(), [], []
    for task in tasks:
        found.append([measured(task, effort) for effort in efforts])
        cells = [f"{evidence:.1f} / {error:.4f}, {n:.0f}, {sec:.2f} s" for evidence, error, n, sec in found[-1]]
        best = stored[task.key]
        lines.append([task.name, str(task.split), *cells, f"{best['log_evidence']:.1f} / {best['rmse']:.4f}"])
        print(*lines[-1], sep="  ", flush=True)
    values, best = np.asarray(found), np.asarray([stored[task.key]["log_evidence"] for task in tasks])
    gap = best - values[:, 0, 0]
    far, means = gap > 1, []
    for k, effort in enumerate(efforts):
        closed = np.mean((values[far, k, 0] - values[far, 0, 0]) / gap[far])
        ratios = np.exp(np.mean(np.log(values[:, k, 1:] / values[:, 0, 1:]), axis=0))
        below = np.mean(best - values[:, k, 0])
        longest = np.max(values[:, k, 3])
        means.append([effort, "", f"{closed:.2f}", *(f"{x:.3f}" for x in ratios), f"{below:.1f}", f"{longest:.1f} s"])
    head = ["effort", "", "closed", "RMSE", "functions", "time", "nats below the best known", "longest"]
    return [table(["set", "split", *efforts, "best known"], lines), NOTE, table(head, means)]


def published(tasks: list[Task]) -> str:
    """By how many nats the published algorithms are above the default effort, on average over these splits."""
    rows = []
    for name in SETS:
        cells = []
        for solver in PUBLISHED:
            above = []
            for task in (each for each in tasks if each.name == name):
                ours, theirs = task.solve()[0], task.solve(solver=solver)[0]
                above.append(theirs.log_evidence - ours.log_evidence)
            cells.append(f"{np.mean(above):+.1f}" if above else "–")
        rows.append([name, "", *cells])
        print(*rows[-1], sep="  ", flush=True)
    return table(["set", "", *PUBLISHED], rows)


def picture(tasks: list[Task], path: Path) -> None:
    """Evidence against time for each effort, one panel a set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for axis, task in zip(axes.flat, tasks, strict=True):
        X, y, *_ = task.data
        lowest = 0.0
        for effort, colour in (("fast", "C2"), ("default", "C0"), ("high", "C1")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = RelevanceVectorRegressor(gamma=1 / X.shape[1], effort=effort, random_state=0).fit(X, y)
            seconds = np.cumsum([move.seconds for move in model.trace_])
            level = (
                model.log_evidence_
                - sum(move.gain for move in model.trace_)
                + np.cumsum([move.gain for move in model.trace_])
            )
            axis.step(seconds, np.maximum.accumulate(level), where="post", color=colour, label=effort)
            lowest = model.log_evidence_ if effort == "fast" else lowest
            axis.plot(seconds[-1], model.log_evidence_, "o", color=colour)
        best, last = known()[task.key]["log_evidence"], level[-1]
        axis.axhline(best, color="0.6", ls=":", label="best known")
        span = max(best - lowest, 2.0)
        axis.set(xscale="log", title=f"{task.name}, {len(y)} rows", ylim=(lowest - span, max(best, last) + 0.1 * span))
        axis.set(xlabel="seconds", ylabel="log evidence")
    axes.flat[0].legend(loc="lower right")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def rugged(tasks: list[Task], path: Path, starts: int = 80) -> None:
    """Local maxima from many starts: evidence against test error, one panel a set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(tasks), figsize=(4.2 * len(tasks), 3.8), layout="constrained")
    for axis, task in zip(axes, tasks, strict=True):
        rng, found = np.random.default_rng(0), []
        for _ in range(starts):
            solver = ActiveSet(pool=int(rng.integers(20, 400)), batch=int(rng.integers(2, 33)), effort="fast")
            noise = float(np.exp(rng.uniform(np.log(0.3), np.log(3)))) * known()[task.key]["noise_variance"]
            result = task.solve(solver=solver, initial_noise_variance=noise)[0]
            found.append((result.log_evidence, task.error(result), len(result.active)))
        evidence, error, size = np.asarray(found).T
        dots = axis.scatter(evidence, error, c=size, s=18, cmap="viridis", label=f"{starts} other starts")
        for effort, marker in (("fast", "v"), ("default", "D"), ("high", "^")):
            result = task.solve(effort=effort, random_state=0)[0]
            axis.plot(
                result.log_evidence,
                task.error(result),
                marker,
                color="C3",
                mec="k",
                ms=8,
                ls="",
                label=f'effort="{effort}"',
            )
        distinct = len(np.unique(evidence.round(1)))
        axis.set(title=f"{task.name}: {distinct} local maxima", xlabel="log evidence", ylabel="RMSE on unseen rows")
        figure.colorbar(dots, ax=axis, label="functions")
        print(task.key, "rank correlation", np.corrcoef(evidence.argsort().argsort(), error.argsort().argsort())[0, 1])
    axes[0].legend(fontsize=8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, search on, or draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--best", type=float, help="seconds of search for each split, to be stored")
    parser.add_argument("--only", nargs="*", default=SETS, help="names of sets")
    parser.add_argument("--splits", nargs="*", type=int, default=SPLITS)
    parser.add_argument("--picture", action="store_true")
    parser.add_argument(
        "--quick", action="store_true", help="without effort='high' and without the published algorithms"
    )
    given = parser.parse_args()
    tasks = [Task(name, split) for name in given.only for split in given.splits]
    if given.best:
        for task in tasks:
            seed = int(known().get(task.key, {}).get("seconds", 0))
            result, seconds = task.solve(effort=FOREVER, random_state=seed, callback=_after(given.best))
            remember(task, result, seconds)
            print(task.key, result.log_evidence, known()[task.key]["log_evidence"], flush=True)
    elif given.picture:
        picture([Task(name, 0) for name in SETS], ROOT / "docs" / "images" / "search.png")
        rugged([Task(name, 0) for name in ("concrete", "energy", "kin8nm")], ROOT / "docs" / "images" / "rugged.png")
    else:
        sections = tables(tasks, ("fast", "default") if given.quick else ("fast", "default", "high"))
        complete, title = not given.quick and set(given.only) == set(SETS), "The search for higher maxima"
        report("search", title, sections, keep=complete)
        if not given.quick:
            text = "By how many nats published algorithms are above the default effort, on the first split of each set:"
            sections += [text, published([task for task in tasks if task.split == min(given.splits)])]
            report("search", title, sections, keep=complete)


if __name__ == "__main__":
    sys.exit(main())
