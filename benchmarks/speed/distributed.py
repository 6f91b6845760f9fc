"""Rows on Dask: throughput by the number of workers, workers that are killed, and a kernel machine of a million rows.

    python -m benchmarks.speed.distributed [--small] [throughput] [kills] [kernel]

Every section is measured on its own and kept in `benchmarks/results/distributed.json`; the page is written from what
has been measured so far. Throughput needs a machine with nothing else to do: the load before each section is on the
page.
`--small` takes minutes; its numbers are kept apart.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import json
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.common import RESULTS, report, rmse, table
from sparsebayes import RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.datasets import make_sinc2d

STORE = RESULTS / "distributed.json"
SECTIONS = ("throughput", "kills", "kernel")
RELEVANT = 10


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rows: int = 5_000_000
    columns: int = 200
    chunk: int = 50_000
    workers: tuple[int, ...] = (1, 2, 4)
    kills: int = 20
    kill_rows: int = 400_000
    points: int = 1_000_000
    point_chunks: int = 50


FULL = Sizes()
SMALL = Sizes(200_000, 100, 20_000, (1, 2), 20, 60_000, 40_000, 10)


def block(k: int, rows: int, columns: int) -> np.ndarray:
    """Rows [X y], made where they are needed: y from the first columns, with noise."""
    rng = np.random.default_rng(k)
    table = rng.standard_normal((rows, columns + 1))
    weights = np.linspace(0.1, 1.0, RELEVANT)
    table[:, -1] = table[:, :RELEVANT] @ weights + 0.5 * table[:, -1]
    return table


def collections(rows: int, columns: int, chunk: int) -> tuple[da.Array, da.Array]:
    """X and y as Dask arrays whose chunks are made on the fly."""
    parts = [
        da.from_delayed(dask.delayed(block)(k, chunk, columns), (chunk, columns + 1), dtype=np.float64)
        for k in range(rows // chunk)
    ]
    both = da.concatenate(parts)
    return both[:, :columns], both[:, columns]


def status(name: str, pid: int | str = "self") -> float:
    """A field of the status of a process, such as VmRSS or VmHWM, in GiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 2**20
    return float("nan")


def load() -> float:
    """The load of the machine over the last minute."""
    return os.getloadavg()[0]


def cluster(workers: int) -> LocalCluster:
    """Worker processes of one thread each."""
    options: dict[str, Any] = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    return LocalCluster(n_workers=workers, silence_logs=50, **options)


class Peak:
    """The highest resident set of this process while the block runs, in GiB above that at its start."""

    def __enter__(self) -> Peak:
        self.before, self.highest, self.going = status("VmRSS"), 0.0, True
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while self.going:
            self.highest = max(self.highest, status("VmRSS") - self.before)
            time.sleep(0.05)

    def __exit__(self, *error: Any) -> None:
        self.going = False
        self.thread.join()


def throughput(sizes: Sizes) -> dict[str, Any]:
    """A regression by 1, 2 and 4 worker processes: time, memory, and whether the models are the same."""
    found = []
    for workers in sizes.workers:
        with cluster(workers) as local, Client(local) as client:
            X, y = collections(sizes.workers[-1] * sizes.chunk, sizes.columns, sizes.chunk)
            SparseBayesRegressor(prior="bic").fit(X, y)  # imports on every worker
            X, y = collections(sizes.rows, sizes.columns, sizes.chunk)
            before, start = load(), time.perf_counter()
            with Peak() as peak:
                model = SparseBayesRegressor(prior="bic").fit(X, y)
            seconds = time.perf_counter() - start
            memory = max(client.run(status, "VmHWM").values())
            found.append(
                {
                    "workers": workers,
                    "seconds": seconds,
                    "client": peak.highest,
                    "worker": memory,
                    "load": before,
                    "coef": model.coef_.tolist(),
                    "evidence": model.log_evidence_,
                }
            )
            print(f"{workers} workers: {seconds:.1f} s")
    return {"rows": sizes.rows, "columns": sizes.columns, "chunk": sizes.chunk, "runs": found}


def kill_during(seconds: float, fit: Callable[[], Any]) -> tuple[Any, float]:
    """What a fit returns while one of two workers, drawn at random, is killed, and after how many seconds it was.

    A fit that ends before that is made again, and the worker killed earlier.
    """
    while True:
        with cluster(2) as local, Client(local) as client:
            pid = random.choice(list(client.run(os.getpid).values()))
            timer = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
            timer.start()
            found = fit()
            if timer.finished.is_set():
                return found, seconds
            timer.cancel()
        seconds *= 0.7


def kills(sizes: Sizes) -> dict[str, Any]:
    """Fits of each kind, a worker of two killed at a random time in the middle of each; the answers compared."""
    rows, chunk = sizes.kill_rows, sizes.kill_rows // 20
    X, y = collections(rows, 20, chunk)
    points, values, _ = make_sinc2d(sizes.kill_rows // 10 if sizes is FULL else 17_000, noise=0.1, random_state=0)
    pointed = da.from_array(points, chunks=(len(points) // 10, 2)), da.from_array(values, chunks=len(points) // 10)
    kinds: dict[str, Callable[[], Any]] = {
        "regression": lambda: SparseBayesRegressor(prior="bic").fit(X, y),
        "classification": lambda: SparseBayesClassifier(prior="bic").fit(X, y > 0),
        "kernel": lambda: RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(*pointed),
    }
    random.seed(0)
    runs, expected, times = [], {}, {}
    with cluster(2) as local, Client(local):
        for name, fit in kinds.items():
            fit()  # imports on every worker
            start = time.perf_counter()
            expected[name] = fit()
            times[name] = time.perf_counter() - start
    for k in range(sizes.kills):
        name = list(kinds)[k % len(kinds)]
        found, when = kill_during(random.uniform(0.1, 0.9) * times[name], kinds[name])
        apart = abs(found.log_evidence_ - expected[name].log_evidence_) / abs(expected[name].log_evidence_)
        same = np.array_equal(found.relevance_, expected[name].relevance_)
        runs.append({"kind": name, "after": when, "apart": apart, "same": bool(same)})
        print(runs[-1])
    return {"rows": rows, "points": len(points), "times": times, "runs": runs, "load": load()}


def kernel(sizes: Sizes) -> dict[str, Any]:
    """The 2-D sinc function by a kernel machine, in memory and on Dask."""
    X, y, f = make_sinc2d(sizes.points, noise=0.1, random_state=0)
    found: dict[str, Any] = {"points": sizes.points, "chunks": sizes.point_chunks, "load": load()}
    start = time.perf_counter()
    memory = RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(X, y)
    found["memory"] = summary(memory, time.perf_counter() - start, X, f)
    chunk = -(-sizes.points // sizes.point_chunks)
    with cluster(2) as local, Client(local):
        remote = da.from_array(X, chunks=(chunk, 2)).persist(), da.from_array(y, chunks=chunk).persist()
        start = time.perf_counter()
        with Peak() as peak:
            model = RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(*remote)
        found["dask"] = summary(model, time.perf_counter() - start, X, f) | {"client": peak.highest}
    return found


def summary(model: Any, seconds: float, X: np.ndarray, f: np.ndarray) -> dict[str, Any]:
    """What is reported of a kernel machine."""
    return {
        "seconds": seconds,
        "evidence": model.log_evidence_,
        "vectors": len(model.relevance_),
        "rmse": rmse(model.predict(X), f),
        "certified": bool(model.certificate_.is_local_maximum),
    }


def throughput_page(found: dict[str, Any]) -> str:
    """The section on throughput."""
    runs, first = found["runs"], found["runs"][0]
    rows = [
        [
            str(run["workers"]),
            f"{run['seconds']:.1f}",
            f"{found['rows'] / run['seconds']:,.0f}",
            f"{first['seconds'] / run['seconds']:.2f}",
            "yes" if run["coef"] == first["coef"] and run["evidence"] == first["evidence"] else "no",
            f"{run['client']:.2f}",
            f"{run['worker']:.2f}",
            f"{run['load']:.1f}",
        ]
        for run in runs
    ]
    head = ["workers", "seconds", "rows/s", "times one", "same digits", "client, GiB", "worker, GiB", "load before"]
    size = f"{found['rows']:,} × {found['columns']} rows made on the fly, in chunks of {found['chunk']:,}"
    return (
        f"## Throughput: {size}\n\n{table(head, rows)}\n\n"
        "`SparseBayesRegressor`, one pass. The memory of the client is what its resident set grew by; that of a worker "
        "is the highest resident set of any worker, with the interpreter and all libraries (about 0.2 GiB). "
        f"A chunk has {8 * found['chunk'] * (found['columns'] + 1) / 2**30:.2f} GiB.\n"
    )


def kills_page(found: dict[str, Any]) -> str:
    """The section on workers that are killed."""
    rows = []
    for kind, seconds in found["times"].items():
        runs = [run for run in found["runs"] if run["kind"] == kind]
        right = sum(run["same"] and run["apart"] < 1e-8 for run in runs)
        worst = max((run["apart"] for run in runs), default=0.0)
        rows.append([kind, f"{seconds:.1f}", str(len(runs)), str(right), f"{worst:.1e}"])
    head = ["fit", "seconds without", "kills", "right answers", "evidence, relative"]
    return (
        f"## One of two workers killed\n\n{table(head, rows)}\n\n"
        "SIGKILL at a random time in the middle of a fit. A right answer selects the same functions, with the log "
        f"evidence to 1e-8. {found['rows']:,} rows of 20 columns, {found['points']:,} points; load of the machine "
        f"{found['load']:.1f}.\n"
    )


def kernel_page(found: dict[str, Any]) -> str:
    """The section on the kernel machine."""
    rows = [
        [
            name,
            f"{found[key]['seconds']:.1f}",
            str(found[key]["vectors"]),
            f"{found[key]['rmse']:.5f}",
            f"{found[key]['evidence']:.2f}",
            "yes" if found[key]["certified"] else "no",
        ]
        for name, key in (("in memory", "memory"), ("two workers", "dask"))
    ]
    apart = found["dask"]["evidence"] / found["memory"]["evidence"] - 1
    head = ["rows", "seconds", "vectors", "RMSE", "log evidence", "certified"]
    return (
        f"## Kernel machine: 2-D sinc, {found['points']:,} rows in {found['chunks']} chunks\n\n{table(head, rows)}\n\n"
        f"The evidence on Dask differs by {apart:.1e}: both are local maxima, found from different pivots. The client "
        f"grew by {found['dask']['client']:.2f} GiB. Load before {found['load']:.1f}.\n"
    )


def main(arguments: list[str]) -> None:
    """Measure the sections that are named, all of them if none is, and write the page."""
    small = "--small" in arguments
    sizes, store = (SMALL, STORE.with_stem("distributed_small")) if small else (FULL, STORE)
    wanted = [each for each in SECTIONS if each in arguments] or list(SECTIONS)
    found = json.loads(store.read_text()) if store.exists() else {}
    measures = {"throughput": throughput, "kills": kills, "kernel": kernel}
    for name in wanted:
        found[name] = measures[name](sizes)
        store.write_text(json.dumps(found, indent=1) + "\n")
    pages = {"throughput": throughput_page, "kills": kills_page, "kernel": kernel_page}
    sections = [pages[name](found[name]).rstrip() for name in SECTIONS if name in found]
    report(store.stem, "Rows on Dask" + (", a small run" if small else ""), sections)


if __name__ == "__main__":
    main(sys.argv[1:])
