"""The time of a fit of T outputs that share their functions, beside that of one output; and of a wide grouped problem.

    python -m benchmarks.speed.joint

300 rows, 5000 columns, the same 20 functions in every output, noise 0.1, prior="ric"; best of three, one thread. The
wide problem is that of source localisation: 64 rows, 2117 groups of three smooth columns, 50 outputs, noise known.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

from benchmarks.common import best_time, report, table
from sparsebayes import Smoothness, fit

ROWS, COLUMNS, FUNCTIONS, OUTPUTS, NOISE = 300, 5000, 20, 50, 0.1
SENSORS, SOURCES = 64, 2117


def outputs(T: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Φ (N, M), Y (N, T) and the functions in it."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((ROWS, COLUMNS))
    J = rng.choice(COLUMNS, FUNCTIONS, replace=False)
    Y = Phi[:, J] @ rng.standard_normal((FUNCTIONS, T)) + NOISE * rng.standard_normal((ROWS, T))
    return Phi, Y, np.sort(J)


def sources() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A lead field (64, 6351) of dipoles in a ball under sensors on a sphere, data (64, 50) of unit noise, labels."""
    rng = np.random.default_rng(0)
    sensors = rng.standard_normal((SENSORS, 3))
    sensors /= np.linalg.norm(sensors, axis=1, keepdims=True)
    places = 0.8 * rng.uniform(size=(SOURCES, 1)) ** (1 / 3) * _directions(rng, SOURCES)
    gap = sensors[:, None, :] - places[None]
    lead = (gap / np.linalg.norm(gap, axis=-1, keepdims=True) ** 3).reshape(SENSORS, -1)
    lead -= lead.mean(axis=0)
    data = rng.standard_normal((SENSORS, OUTPUTS))
    for source in rng.choice(SOURCES, 3, replace=False):
        field = lead[:, 3 * source : 3 * source + 3] @ rng.standard_normal(3)
        data += np.outer(3 * field / field.std(), np.sin(np.linspace(0, 6, OUTPUTS) + rng.uniform(0, 6)))
    return lead, data, np.repeat(np.arange(SOURCES), 3)


def _directions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Random unit vectors (n, 3)."""
    vectors = rng.standard_normal((n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def timed(T: int, shared: bool, effort: str) -> tuple[float, str]:
    """Seconds of a fit, and what it found."""
    Phi, Y, J = outputs(T)
    y = Y if T > 1 else Y[:, 0]
    seconds, result = best_time(lambda: fit(Phi, y, prior="ric", shared_noise=shared, effort=effort))
    return seconds, f"{len(np.intersect1d(result.active, J))} of {FUNCTIONS}, {len(result.active)} selected"


def timed_sources(effort: str) -> tuple[float, int]:
    """Seconds of a fit of the wide problem, and the sources that were selected."""
    lead, data, labels = sources()
    prior = Smoothness(np.log(SOURCES), once=np.log(SOURCES))
    options = {"groups": labels, "shared_noise": True, "noise_variance": 1.0, "prior": prior, "effort": effort}
    seconds, result = best_time(lambda: fit(lead, data, **options))
    return seconds, len(result.active) // 3


def main() -> None:
    """Measure, print and write the tables."""
    rows, wide = [], []
    for effort in ("fast", "default"):
        single = 0.0
        for T, shared in ((1, True), (OUTPUTS, True), (OUTPUTS, False)):
            seconds, found = timed(T, shared, effort)
            single = single or seconds
            noise = "" if T == 1 else "shared" if shared else "one each"
            rows.append([effort, str(T), noise, found, f"{seconds:.2f}", f"{seconds / single:.2f}"])
        seconds, count = timed_sources(effort)
        wide.append([effort, str(count), f"{seconds:.2f}"])
    sections = [
        table(["effort", "T", "noise", "functions found", "seconds", "ratio to T = 1"], rows),
        f"{SENSORS} × {3 * SOURCES} × {OUTPUTS}, groups of three, noise known, three sources:",
        table(["effort", "sources selected", "seconds"], wide),
    ]
    report("joint", "The time of joint fits", sections)


if __name__ == "__main__":
    main()
