"""What a pass over rows on Dask costs: a model of flops, bytes and messages, and what very many rows would take.

    python -m benchmarks.speed.cost_model

The constants are those of a modest machine; the two that a processor decides, the speeds of a QR and of a matrix
product, are measured here.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.common import best_time, report, table
from sparsebayes import RBF
from sparsebayes.rows.chunks import Chunk
from sparsebayes.rows.triangle import Triangle

ARITY = 8  # results that are added up in one task, as in `distributed.dask_rows`


@dataclass(frozen=True)
class Machine:
    """What a machine of the cluster does in a second.

    cores : of a machine.  qr, product : flop/s of a core in a QR of tall blocks, and in a product of matrices.
    kernel : kernel functions evaluated in a second by a core.  disk, network : bytes/s of a machine.
    task : seconds of the scheduler for a task.  latency : seconds of a message.
    """

    cores: int = 16
    qr: float = 5e9
    product: float = 2e10
    kernel: float = 1e8
    disk: float = 1e9
    network: float = 1e9
    task: float = 2e-4
    latency: float = 1e-3


@dataclass(frozen=True)
class Pass:
    """A pass over N rows: per row flops of QR and products, kernel functions and bytes; and the size of its result."""

    qr: float = 0.0
    product: float = 0.0
    kernel: float = 0.0
    row_bytes: float = 0.0
    result_bytes: float = 0.0

    def seconds(self, machine: Machine, machines: int, N: float, chunk_bytes: float = 1e8) -> dict[str, float]:
        """Seconds of each part of the pass; reading and computing overlap, so that the larger of them counts."""
        chunks = max(N * self.row_bytes / chunk_bytes, machines * machine.cores)
        per_row = self.qr / machine.qr + self.product / machine.product + self.kernel / machine.kernel
        levels = math.ceil(math.log(chunks, ARITY))
        return {
            "arithmetic": N * per_row / (machines * machine.cores),
            "reading": N * self.row_bytes / (machines * machine.disk),
            "scheduler": (1 + 1 / (ARITY - 1)) * chunks * machine.task,
            "sum": levels * (ARITY * self.result_bytes / machine.network + machine.latency),
        }


def total(parts: dict[str, float]) -> float:
    """Seconds of a pass: what overlaps counts once."""
    return max(parts["arithmetic"], parts["reading"], parts["scheduler"]) + parts["sum"]


def triangle(M: int, T: int = 1) -> Pass:
    """The one pass of a regression with M columns and T outputs; groups of columns need nothing else."""
    return Pass(qr=2 * (M + T) ** 2, row_bytes=8 * (M + T), result_bytes=8 * (M + T) ** 2)


def newton(M: int, S: int, K: int) -> Pass:
    """A Newton step of S functions in each of K outputs."""
    C = S * K
    return Pass(product=2 * C * C + 8 * C * K, row_bytes=8 * (M + 1), result_bytes=8 * (C * C + C * (K + 4)))


def expansion(M: int, K: int) -> Pass:
    """A round of the solver: all M columns in each of K outputs."""
    C = M * K
    return Pass(product=2 * C * C + 8 * C * K, row_bytes=8 * (M + 1), result_bytes=8 * (C * C + C * (K + 4)))


def pivots(d: int, r: int) -> Pass:
    """Residuals of a kernel with r pivots."""
    return Pass(product=r * r, kernel=r, row_bytes=8 * (d + 1), result_bytes=8 * 3 * 160 * (d + 2))


def columns(d: int, W: int) -> Pass:
    """The statistics of W true kernel columns."""
    return Pass(qr=2 * (W + 1) ** 2, kernel=W, row_bytes=8 * (d + 1), result_bytes=8 * (W + 1) ** 2)


def scoring(d: int, r: int, S: int) -> Pass:
    """All rows scored as candidates, against S active functions."""
    return Pass(
        product=2 * r * r + 2 * r * S + 4 * S * S + 20 * S, kernel=r, row_bytes=8 * (d + 1), result_bytes=8 * 17 * S * d
    )


def fits(
    M: int = 200, T: int = 50, S: int = 20, d: int = 10, r: int = 300, W: int = 300
) -> dict[str, list[tuple[int, Pass]]]:
    """The passes of four fits, and how often each is made."""
    return {
        f"regression, M = {M}": [(1, triangle(M))],
        f"regression of {T} outputs, M = {M}": [(1, triangle(M, T))],
        f"two classes, M = {M}, S = {S}": [(7, expansion(M, 1)), (40, newton(M, S, 1))],
        f"kernel, d = {d}, r = {r}, S = {4 * S}": [
            (8, pivots(d, r)),
            (1, columns(d, r)),
            (6, scoring(d, r, 4 * S)),
            (4, columns(d, W)),
        ],
    }


def measured() -> Machine:
    """The machine of the model, with the speeds of this processor."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20_000, 200))
    y = rng.standard_normal(20_000)
    qr, _ = best_time(lambda: Triangle.of([Chunk(rows, y, None)]))
    product, _ = best_time(lambda: rows.T @ rows)
    X, Z = rng.standard_normal((20_000, 10)), rng.standard_normal((300, 10))
    bound = RBF(gamma=0.1).bind(Z)
    kernel, _ = best_time(lambda: bound(X))
    return Machine(qr=2 * 20_000 * 201**2 / qr, product=2 * 20_000 * 200**2 / product, kernel=20_000 * 300 / kernel)


def duration(seconds: float) -> str:
    """Seconds in a unit that can be read."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def page(machine: Machine) -> list[str]:
    """The tables: what each fit takes, and what binds."""
    sections = [
        f"A machine has {machine.cores} cores; of one core {machine.qr / 1e9:.1f} Gflop/s in a QR of tall blocks, "
        f"{machine.product / 1e9:.1f} Gflop/s in a product of matrices and {machine.kernel / 1e6:.0f} million kernel "
        f"functions per second, as measured here (the load before was {os.getloadavg()[0]:.1f}); assumed are 1 GB/s of "
        "disk and of network per machine, 0.2 ms of the scheduler for a task, chunks of 100 MB, and rows that are read "
        "again in every pass. Nothing here was measured with more than two processors."
    ]
    for name, passes in fits().items():
        rows = []
        for N in (1e9, 1e12):
            for machines in (10, 100, 1000):
                times = [(count, each.seconds(machine, machines, N)) for count, each in passes]
                whole = sum(count * total(parts) for count, parts in times)
                shares = {key: sum(count * parts[key] for count, parts in times) for key in times[0][1]}
                rows.append([f"{N:.0e}", str(machines), duration(whole), max(shares, key=lambda key: shares[key])])
        count = sum(each for each, _ in passes)
        head = ["rows", "machines", "time", "what binds"]
        sections.append(f"## {name[0].upper()}{name[1:]}: {count} pass{'es' * (count > 1)}\n\n{table(head, rows)}")
    return sections


if __name__ == "__main__":
    report("cost_model", "What very many rows would take on Dask", page(measured()))
