"""Directions of arrival: `SparseRecovery` with atoms off the grid beside MUSIC and the Cramér-Rao bound.

A uniform linear array of 20 sensors at half a wavelength, three sources of equal power, two of them 3.5 degrees
apart: 0.6 of the width of a beam. MUSIC is told how many sources there are; `SparseRecovery` is not.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar

from benchmarks.common import report, table
from sparsebayes import SparseRecovery

SENSORS, SUBARRAY = 20, 14
SOURCES = np.array([-20.0, 12.0, 15.5])  # degrees; each draw moves all of them by up to a degree together
GRID = np.arange(-90.0, 90.5, 2.0)
FINE = np.arange(-90.0, 90.05, 0.1)
SNRS = (-10, -5, 0, 5, 10, 15, 20, 25, 30)
RESOLVED = 1.75  # degrees: half the distance of the pair
MISSED = 5.7  # degrees, the width of a beam: the error of a source that was missed, and the largest error that counts
IMAGE = Path(__file__).parents[2] / "docs" / "images" / "directions.png"


def steering(theta: np.ndarray, sensors: int = SENSORS) -> np.ndarray:
    """The responses (sensors, k) of the array to plane waves from θ (k,) in degrees."""
    return np.exp(1j * np.pi * np.outer(np.arange(sensors), np.sin(np.deg2rad(theta))))


def complex_normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Circular normal numbers of unit variance."""
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2)


def draw(seed: int, snr: float, snapshots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Measurements (N, T), directions, amplitudes (3, T) and the noise variance.

    Amplitudes are circular normal; in a single snapshot they have unit modulus and random phases.
    """
    rng = np.random.default_rng(seed)
    theta = SOURCES + rng.uniform(-1, 1)
    waves = complex_normal(rng, 3, snapshots)
    waves = waves / np.abs(waves) if snapshots == 1 else waves
    variance = 10 ** (-snr / 10)
    noise = np.sqrt(variance) * complex_normal(rng, SENSORS, snapshots)
    return steering(theta) @ waves + noise, theta, waves, variance


def music(Y: np.ndarray, sources: int) -> np.ndarray:
    """The highest peaks of the MUSIC spectrum, refined [Schmidt 1986].

    A single snapshot is smoothed over subarrays, forward and backward [Shan, Wax & Kailath 1985].
    """
    size = SENSORS
    if Y.shape[1] == 1:
        size = SUBARRAY
        parts = np.concatenate([Y[k : k + size] for k in range(SENSORS - size + 1)], axis=1)
        Y = np.concatenate([parts, parts[::-1].conj()], axis=1)
    _, vectors = np.linalg.eigh(Y @ Y.conj().T / Y.shape[1])
    noise = vectors[:, : size - sources]

    def power(theta: float) -> float:
        return float(np.sum(np.abs(noise.conj().T @ steering(np.array([theta]), size)) ** 2))

    null = np.sum(np.abs(noise.conj().T @ steering(FINE, size)) ** 2, axis=0)
    peaks = np.flatnonzero((null[1:-1] < null[:-2]) & (null[1:-1] < null[2:])) + 1
    peaks = peaks[np.argsort(null[peaks])[:sources]]
    options = {"xatol": 1e-6}
    ends = [minimize_scalar(power, bounds=(FINE[k - 1], FINE[k + 1]), method="bounded", options=options) for k in peaks]
    return np.sort([end.x for end in ends])


def sparse(Y: np.ndarray) -> tuple[np.ndarray, int]:
    """The directions of the strongest atoms, at most three, and how many atoms there are."""
    y = Y if Y.shape[1] > 1 else Y[:, 0]
    model = SparseRecovery(effort="fast").fit(steering(GRID), y)
    found = model.refine(steering, GRID)
    power = np.sum(np.abs(np.atleast_2d(found.coef)) ** 2, axis=0)
    return np.sort(found.parameters[np.argsort(-power)[: len(SOURCES)]]), len(power)


def bound(theta: np.ndarray, waves: np.ndarray, variance: float) -> np.ndarray:
    """The Cramér-Rao bound (3,) on the variances of the directions, in degrees².

    The stochastic one for several snapshots, the deterministic one for a single snapshot [Stoica & Nehorai 1990].
    """
    A, T = steering(theta), waves.shape[1]
    slope = 1j * np.pi * np.arange(SENSORS)[:, None] * np.cos(np.deg2rad(theta)) * np.deg2rad(1.0)
    D = slope * A
    H = D.conj().T @ (D - A @ np.linalg.lstsq(A, D, rcond=None)[0])
    if T == 1:
        power = waves @ waves.conj().T
    else:
        power = T * A.conj().T @ np.linalg.solve(A @ A.conj().T + variance * np.eye(SENSORS), A)
    return np.linalg.inv(2 / variance * (H * power.T).real).diagonal()


def errors(found: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Errors (3,) of the best assignment of directions to sources, at most `MISSED`, as that of a source missed."""
    distance = np.minimum(np.abs(found[None, :] - theta[:, None]), MISSED)
    rows, columns = linear_sum_assignment(distance)
    result = np.full(len(theta), MISSED)
    result[rows] = distance[rows, columns]
    return result


def measure(snr: float, snapshots: int, draws: int) -> dict[str, float]:
    """Root mean square errors, shares of draws that resolve all sources, and seconds, over the draws."""
    own, other, least, right, seconds = [], [], [], [], 0.0
    for seed in range(draws):
        Y, theta, waves, variance = draw(1000 * snapshots + seed, snr, snapshots)
        start = time.perf_counter()
        found, count = sparse(Y)
        seconds += time.perf_counter() - start
        own.append(errors(found, theta))
        other.append(errors(music(Y, len(theta)), theta))
        least.append(bound(theta, waves, variance))
        right.append(count == len(theta))
    mine, theirs = np.asarray(own), np.asarray(other)
    solved = [np.abs(each).max(axis=1) < RESOLVED for each in (mine, theirs)]
    values = {"snr": snr, "bound": np.sqrt(np.mean(least)), "count": np.mean(right), "seconds": seconds / draws}
    for name, each, good in (("sparse", mine, solved[0]), ("music", theirs, solved[1])):
        values |= {name: np.sqrt(np.mean(each**2)), f"{name} resolved": np.mean(good)}
    return {key: float(value) for key, value in values.items()}


def rows_of(results: list[dict[str, float]]) -> str:
    """The table of one number of snapshots."""
    head = ["SNR, dB", "bound", "SparseRecovery", "MUSIC", "resolved", "MUSIC resolved", "three atoms", "s"]
    keys = ("bound", "sparse", "music")
    rows = [
        [f"{r['snr']:.0f}", *(f"{r[key]:.3g}" for key in keys), *(f"{100 * r[key]:.0f} %" for key in SHARES)]
        for r in results
    ]
    times = [f"{r['seconds']:.2f}" for r in results]
    return table(head, [[*row, time] for row, time in zip(rows, times, strict=True)])


TEXT = f"""\
A uniform linear array of {SENSORS} sensors at half a wavelength; three sources of equal power at about -20, 12
and 15.5 degrees (the pair is 3.5 degrees apart, the width of a beam is 5.7), all moved together at random by up
to a degree; {{draws}} draws for each ratio. Errors are root mean squares over sources and draws, in degrees;
directions are assigned to sources as well as possible, and no error counts more than {MISSED} degrees, the
error of a source that was missed. A draw is resolved if no error exceeds {RESOLVED} degrees. MUSIC is told that
there are three sources; `SparseRecovery`, with `effort="fast"` on a grid of 2 degrees and then `refine`, which
searches on, is not: *three atoms* is the share of draws in which it finds exactly three, and its strongest
three are compared. Seconds are those of `fit` and `refine`."""
SHARES = ("sparse resolved", "music resolved", "count")


def picture(results: dict[int, list[dict[str, float]]]) -> None:
    """Draw the errors and the shares of resolved draws against the signal-to-noise ratio."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(results), figsize=(9, 6), sharex=True, sharey="row", squeeze=False)
    styles = {"sparse": ("SparseRecovery, refined", "C0", "o"), "music": ("MUSIC, told the number", "C1", "s")}
    for k, (snapshots, found) in enumerate(results.items()):
        snr = [each["snr"] for each in found]
        top, bottom = axes[0, k], axes[1, k]
        for key, (label, colour, marker) in styles.items():
            top.semilogy(snr, [each[key] for each in found], colour, marker=marker, ms=4, label=label)
            bottom.plot(snr, [100 * each[f"{key} resolved"] for each in found], colour, marker=marker, ms=4)
        kind = "stochastic" if snapshots > 1 else "deterministic"
        top.semilogy(snr, [each["bound"] for each in found], "k--", lw=1, label=f"Cramér–Rao bound ({kind})")
        top.set_title("1 snapshot" if snapshots == 1 else f"{snapshots} snapshots")
        top.legend(fontsize=8)
        bottom.set_xlabel("signal-to-noise ratio of a source at a sensor, dB")
        for axis in (top, bottom):
            axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("root mean square error, degrees")
    axes[1, 0].set_ylabel("draws with all sources resolved, %")
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)


def main() -> None:
    """Measure, print, write benchmarks/results/directions.md and docs/images/directions.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five draws, three signal-to-noise ratios, no files")
    parser.add_argument("--draws", type=int, default=100, help="draws for each ratio")
    options = parser.parse_args()
    draws, ratios = (5, (-5, 10, 25)) if options.quick else (options.draws, SNRS)
    results: dict[int, list[dict[str, float]]] = {}
    for snapshots in (50, 1):
        results[snapshots] = []
        for snr in ratios:
            results[snapshots].append(measure(snr, snapshots, draws))
            print({key: round(value, 4) for key, value in results[snapshots][-1].items()}, flush=True)
    several = "## 50 snapshots\n\nCircular normal amplitudes, independent; stochastic Cramér-Rao bound."
    one = (
        "## 1 snapshot\n\nAmplitudes of unit modulus with random phases; deterministic Cramér-Rao bound, root mean "
        f"square over the draws. MUSIC with forward-backward smoothing over subarrays of {SUBARRAY} sensors."
    )
    sections = [TEXT.format(draws=draws), several, rows_of(results[50]), one, rows_of(results[1])]
    report("directions", "Directions of arrival", sections, keep=not options.quick)
    if not options.quick:
        picture(results)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
