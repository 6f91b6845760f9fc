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

import contextlib
import json
import random
import re
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
    kill_rows: int = 100_000
    points: int = 1_000_000
    point_chunks: int = 50


FULL = Sizes()
SMALL = Sizes(200_000, 100, 20_000, (1, 2), 20, 60_000, 40_000, 10)


def block(k: int, rows: int, columns: int, pause: float) -> np.ndarray:
    """Rows [X y], made where they are needed, which takes a while: y from the first columns, with noise."""
    time.sleep(pause)
    rng = np.random.default_rng(k)
    table = rng.standard_normal((rows, columns + 1))
    weights = np.linspace(0.1, 1.0, RELEVANT)
    table[:, -1] = table[:, :RELEVANT] @ weights + 0.5 * table[:, -1]
    return table


def collections(rows: int, columns: int, chunk: int, pause: float = 0.0) -> tuple[da.Array, da.Array]:
    """X and y as Dask arrays whose chunks are made on the fly, each after a pause of some seconds."""
    parts = [
        da.from_delayed(dask.delayed(block)(k, chunk, columns, pause), (chunk, columns + 1), dtype=np.float64)
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


def task_of(scheduler: Any, address: str) -> str:
    """The task of a fit that a worker is at work on; "" if there is none."""
    with contextlib.suppress(RuntimeError, KeyError):  # the scheduler goes on while it is asked
        names = [str(task.key) for task in scheduler.workers[address].processing]
        return next(
            (re.sub(r"[('-]+[0-9a-f]{32}.*", "", name).strip("(' ") for name in names if "sparsebayes" in name), ""
        )
    return ""


class Killer(threading.Thread):
    """Kills the first worker that is at work on a task of a fit after so many seconds.

    hit : when that was, and which task; None if the fit ended before.
    """

    def __init__(self, scheduler: Any, pids: dict[str, int], seconds: float) -> None:
        super().__init__()
        self.scheduler, self.pids, self.seconds = scheduler, pids, seconds
        self.start_time, self.done, self.hit = time.perf_counter(), threading.Event(), None

    def run(self) -> None:
        """Wait for the moment."""
        while not self.done.is_set() and self.hit is None:
            passed = time.perf_counter() - self.start_time
            for address in random.sample(list(self.pids), 2) if passed > self.seconds else ():
                task = task_of(self.scheduler, address)
                if task and self.hit is None:
                    os.kill(self.pids[address], signal.SIGKILL)
                    self.hit = (passed, task)
            time.sleep(0.001)


def kill_during(seconds: float, fit: Callable[[], Any]) -> tuple[Any, float, str]:
    """What a fit returns while a worker is killed at work on one of its tasks; when that was, and which task.

    A fit that ends before so many seconds is made again, and the worker killed earlier.
    """
    while True:
        with cluster(2) as local, Client(local) as client:
            killer = Killer(local.scheduler, client.run(os.getpid), seconds)
            killer.start()
            try:
                found = fit()
            finally:
                killer.done.set()
                killer.join()
            if killer.hit is not None:
                return found, *killer.hit
        seconds *= 0.7


def kinds_of_fits(sizes: Sizes) -> tuple[dict[str, Callable[[], Any]], int]:
    """The fits during which workers are killed, and how many points the kernel machine has."""
    rows, chunk = sizes.kill_rows, sizes.kill_rows // 10
    X, y = collections(rows, 20, chunk)
    slow_X, slow_y = collections(rows, 20, chunk, pause=0.5)
    Y = da.stack([slow_y, slow_y - slow_X[:, 3], slow_X[:, 1] * slow_X[:, 2]], axis=1)
    groups = np.arange(20) // 2
    points, values, _ = make_sinc2d(17_000, noise=0.1, random_state=0)
    pointed = da.from_array(points, chunks=(len(points) // 10, 2)), da.from_array(values, chunks=len(points) // 10)
    few = da.from_array(points[:3000], chunks=(500, 2)), da.from_array(values[:3000], chunks=500)
    kinds: dict[str, Callable[[], Any]] = {
        "regression": lambda: SparseBayesRegressor(prior="bic").fit(slow_X, slow_y),
        "three outputs, groups of columns": lambda: SparseBayesRegressor(groups=groups).fit(slow_X, Y),
        "two classes": lambda: SparseBayesClassifier(prior="bic").fit(X, y > 0),
        "kernel": lambda: RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(*pointed),
        "kernel, 3000 rows on one worker": lambda: RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(*few),
    }
    return kinds, len(points)


def kills(sizes: Sizes) -> dict[str, Any]:
    """Fits of each kind, a worker of two killed at a random time in the middle of each; the answers compared."""
    kinds, points = kinds_of_fits(sizes)
    random.seed(0)
    runs, expected, times, before = [], {}, {}, load()
    with cluster(2) as local, Client(local):
        for name, fit in kinds.items():
            fit()  # imports on every worker
            start = time.perf_counter()
            expected[name] = fit()
            times[name] = time.perf_counter() - start
    for k in range(sizes.kills):
        name = list(kinds)[k % len(kinds)]
        found, when, task = kill_during(random.uniform(0.05, 0.9) * times[name], kinds[name])
        apart = abs(found.log_evidence_ - expected[name].log_evidence_) / abs(expected[name].log_evidence_)
        same = np.array_equal(found.relevance_, expected[name].relevance_)
        runs.append({"kind": name, "after": when, "task": task, "apart": apart, "same": bool(same)})
        print(runs[-1], flush=True)
    return {"rows": sizes.kill_rows, "points": points, "times": times, "runs": runs, "load": before}


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
        moments = ", ".join(f"{run['after']:.1f}" for run in runs)
        tasks = ", ".join(sorted({run["task"].removeprefix("sparsebayes-") for run in runs}))
        rows.append([kind, f"{seconds:.1f}", moments, tasks, f"{right} of {len(runs)}", f"{worst:.1e}"])
    head = ["fit", "seconds without", "killed after", "at work on", "right answers", "evidence, relative"]
    return (
        f"## One of two workers killed\n\n{table(head, rows)}\n\n"
        "SIGKILL to a worker that is at work on a task of the fit, at a random time. A right answer selects the same "
        f"functions, with the log evidence to 1e-8. {found['rows']:,} rows of 20 columns in 10 chunks, of which the "
        f"regressions make each in 0.5 s and more; {found['points']:,} points in 10 chunks. Load of the machine before "
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
        f"The log evidence on Dask differs from that in memory by {apart:.1e}, relatively. The client "
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
