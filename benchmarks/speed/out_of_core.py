"""Rows that do not fit in memory: a memory map of 6 GiB, and predictions at a million points.

    python -m benchmarks.speed.out_of_core [directory for the file, else a temporary one; 6 GiB are needed]

The file is deleted afterwards. Every measurement is a process of its own; memory is its highest resident set,
with the interpreter and all libraries (about 0.1 GiB).
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone

from benchmarks.common import best_time, report, rmse, table
from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.datasets import make_sinc2d
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.sources import RowSource, SlicedRows

ROWS, COLUMNS, RELEVANT, NOISE = 1_000_000, 800, 20, 0.5
BLOCK = 10_000
SUBSET = 20_000
POINTS = 1_000_000


def write(folder: Path) -> None:
    """X with neighbouring columns correlated (0.6), y from 20 of them, in files of NumPy's own format."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (ROWS, COLUMNS))
    y = np.empty(ROWS)
    w = np.zeros(COLUMNS)
    w[rng.choice(COLUMNS, RELEVANT, replace=False)] = rng.uniform(0.02, 1.0, RELEVANT)
    for start in range(0, ROWS, BLOCK):
        block = rng.standard_normal((BLOCK, COLUMNS))
        block[:, 1:] += 0.75 * block[:, :-1]
        X[start : start + BLOCK] = block + 3.0
        y[start : start + BLOCK] = block @ w + NOISE * rng.standard_normal(BLOCK)
    X.flush()
    np.save(folder / "y.npy", y)
    np.save(folder / "w.npy", w)


def mapped(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """X on disk, y in memory."""
    return np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")


def chunks(X: np.ndarray, y: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows as a generator of chunks."""
    for start in range(0, len(y), size):
        yield X[start : start + size], y[start : start + size]


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What the call returns, its seconds by the clock and of processor time."""
    start, used = time.perf_counter(), time.process_time()
    value = call()
    return value, {"seconds": time.perf_counter() - start, "processor": time.process_time() - used}


def measure_reading(folder: Path) -> dict[str, Any]:
    """Every number read once, with the pages given back."""
    source = RowSource(SlicedRows(*mapped(folder)), lambda chunk: Chunk(*chunk, None))
    return timed(lambda: sum(float(chunk.Phi.sum()) for chunk in source))[1]


def measure_fit(folder: Path) -> dict[str, Any]:
    """The fit of the whole file."""
    X, y = mapped(folder)
    model, times = timed(lambda: SparseBayesRegressor(prior="bic").fit(X, y))
    truth = np.flatnonzero(np.load(folder / "w.npy"))
    return times | {
        "found": len(np.intersect1d(model.relevance_, truth)),
        "false": len(np.setdiff1d(model.relevance_, truth)),
        "noise": float(np.sqrt(model.noise_variance_)),
    }


def measure_predict(folder: Path) -> dict[str, Any]:
    """Predictions with error bars for every row of the file, from a model of its first rows."""
    X, y = mapped(folder)
    model = SparseBayesRegressor(prior="bic").fit(X[:SUBSET], y[:SUBSET])
    (mean, _), times = timed(lambda: model.predict(X, return_std=True))
    return times | {"rmse": rmse(mean, y)}


def measure_subset(folder: Path) -> dict[str, Any]:
    """The first rows fitted in memory and in every other way: the largest relative differences."""
    X, y = mapped(folder)
    X, held, y = X[:SUBSET], np.array(X[:SUBSET]), y[:SUBSET]
    seconds, whole = best_time(lambda: SparseBayesRegressor().fit(held, y), 1)
    ways: dict[str, Callable[[], Any]] = {
        "memory map": lambda: SparseBayesRegressor().fit(X, y),
        "chunks of 777 rows": lambda: SparseBayesRegressor().fit(chunks(held, y, 777)),
        "partial_fit, 3 calls": lambda: streamed(held, y),
    }
    rows = [["in memory", seconds, len(whole.relevance_), 0.0, 0.0, 0.0]]
    with sklearn.config_context(working_memory=64):
        for name, fit in ways.items():
            seconds, model = best_time(fit, 1)
            rows.append([name, seconds, *difference(model, whole, held)])
    return {"rows": rows}


def streamed(X: np.ndarray, y: np.ndarray) -> SparseBayesRegressor:
    """The model after three calls of partial_fit."""
    model = SparseBayesRegressor()
    for block, target in chunks(X, y, -(-len(y) // 3)):
        model.partial_fit(block, target)
    return model


def difference(a: Any, b: Any, X: np.ndarray) -> list[Any]:
    """Columns selected; largest differences of weights, predictions and log evidence, relative to the largest."""
    same = np.array_equal(a.relevance_, b.relevance_)
    weights = np.abs(a.coef_ - b.coef_).max() / np.abs(b.coef_).max() if same else np.inf
    ours, theirs = a.predict(X), b.predict(X)
    predictions = np.abs(ours - theirs).max() / np.abs(theirs).max()
    evidence = abs(a.log_evidence_ - b.log_evidence_) / abs(b.log_evidence_)
    return [len(a.relevance_), weights, predictions, evidence]


def measure_points(_: Path) -> dict[str, Any]:
    """Predictions at a million points, by wall clock and by processor time."""
    X, y, f = make_sinc2d(n=1000, random_state=0)
    regressor = RelevanceVectorRegressor(gamma=0.25).fit(X, y)
    classifier = RelevanceVectorClassifier(gamma=0.25).fit(X, y > np.median(f))
    plain = clone(classifier).set_params(moderated=False).fit(X, y > np.median(f))
    queries = np.random.default_rng(1).uniform(-10, 10, (POINTS, 2))
    ways: dict[str, tuple[Any, Callable[[], Any]]] = {
        "regressor, mean": (regressor, lambda: regressor.predict(queries)),
        "regressor, mean and std": (regressor, lambda: regressor.predict(queries, return_std=True)),
        "classifier, class, moderated=False": (plain, lambda: plain.predict(queries)),
        "classifier, probabilities, moderated=False": (plain, lambda: plain.predict_proba(queries)),
        "classifier, probabilities": (classifier, lambda: classifier.predict_proba(queries)),
    }
    rows = []
    for name, (model, predict) in ways.items():
        times = [timed(predict)[1] for _ in range(5)]
        best = [min(each[kind] for each in times) for kind in ("seconds", "processor")]
        rows.append([name, len(model.relevance_), *best])
    return {"rows": rows}


MEASUREMENTS = {
    "reading": measure_reading,
    "fit": measure_fit,
    "predict": measure_predict,
    "subset": measure_subset,
    "points": measure_points,
}


def peak_memory() -> float:
    """The highest resident set of this process so far, in GiB."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) / 2**20
    except (OSError, IndexError):  # not Linux; there the figure may include the process that started this one
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(name: str, folder: Path) -> dict[str, Any]:
    """A measurement in a process of its own, with its peak memory."""
    command = [sys.executable, "-m", "benchmarks.speed.out_of_core", str(folder), name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def section_of_the_file(folder: Path) -> str:
    """Reading, fitting and predicting all rows."""
    names = {
        "reading": "reading alone",
        "fit": "SparseBayesRegressor.fit",
        "predict": "predict, mean and std",
    }
    columns = {"seconds": ".1f", "processor": ".1f", "memory": ".2f"}
    results = {name: measured(name, folder) for name in names}
    rows = [
        [words, f"{ROWS:,}", *(format(results[name][kind], form) for kind, form in columns.items())]
        for name, words in names.items()
    ]
    fit, size = results["fit"], ROWS * COLUMNS * 8 / 2**30
    return "\n\n".join(
        [
            f"## A memory map of {ROWS:,} × {COLUMNS} float64 ({size:.1f} GiB)",
            table(["", "rows", "seconds", "of processor time", "peak memory, GiB"], rows),
            f"`working_memory` at its default (1024 MiB). Prior BIC: {fit['found']} of {RELEVANT} columns found, "
            f"{fit['false']} false ones; noise {fit['noise']:.4f} (true {NOISE}). The predictions are those "
            f"of a model of {SUBSET:,} rows: error {results['predict']['rmse']:.4f}.",
            "If the seconds are many more than those of processor time, the machine was busy with something else.",
        ]
    )


def section_of_the_subset(folder: Path) -> str:
    """How far the answers are from the one in memory."""
    rows = [
        [name, str(kept), f"{seconds:.1f}", *(f"{value:.1e}" for value in differences)]
        for name, seconds, kept, *differences in measured("subset", folder)["rows"]
    ]
    head = ["rows", "columns selected", "seconds", "weights", "predictions", "log evidence"]
    words = "Largest difference from the answer in memory, relative to the largest value; working_memory=64."
    return "\n\n".join([f"## The first {SUBSET:,} rows, in memory and otherwise", table(head, rows), words])


def section_of_predictions(folder: Path) -> str:
    """Predictions at a million points."""
    result = measured("points", folder)
    rows = [
        [name, str(vectors), f"{wall:.2f}", f"{processor:.2f}"] for name, vectors, wall, processor in result["rows"]
    ]
    head = ["prediction", "vectors", "seconds", "of processor time"]
    words = (
        "Two inputs, Gaussian kernel, best of five. The memory of all of it, data and fits included: "
        f"{result['memory']:.2f} GiB."
    )
    return "\n\n".join([f"## {POINTS:,} points", table(head, rows), words])


def main(folder: Path) -> None:
    """Write the file, measure, delete it."""
    start = time.perf_counter()
    write(folder)
    print(f"file written in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    sections = [section_of_the_file(folder), section_of_the_subset(folder), section_of_predictions(folder)]
    report("out_of_core", "Out of core: rows that do not fit into memory", sections)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        found = MEASUREMENTS[sys.argv[2]](Path(sys.argv[1]))
        print(json.dumps(found | {"memory": peak_memory()}))
    else:
        with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as temporary:
            main(Path(temporary))
