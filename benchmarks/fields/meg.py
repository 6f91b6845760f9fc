"""Source localisation: `integrations.mne.sparse_bayes` beside MNE's gamma_map and mixed_norm, on a sphere model.

Three dipoles in a spherical head, 64 EEG electrodes, 2117 positions of free orientation (6351 columns), 50 samples.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mne
import numpy as np
from mne.inverse_sparse import gamma_map, mixed_norm

from benchmarks.common import table
from benchmarks.fields.common import figure, publish, save, versions
from sparsebayes.integrations.mne import sparse_bayes

SOURCES, SAMPLES, RATE = 3, 50, 200.0
SPACING = 10.0  # mm between neighbouring positions
APART = 0.04  # m, the least distance of two sources
NOISE = 1e-6  # V, the standard deviation of the noise of a channel
NEAR = 0.0101  # m: a selected position one step from a source, at most, has found it
Inverse = Callable[..., Any]


@dataclass(frozen=True)
class Measurement:
    """Simulated data, the forward solution, and where the sources are (3, 3)."""

    evoked: Any
    forward: Any
    noise_cov: Any
    places: np.ndarray
    courses: np.ndarray


def head(spacing: float = SPACING) -> tuple[Any, Any]:
    """The channels and the forward solution of the sphere."""
    montage = mne.channels.make_standard_montage("biosemi64")
    info = mne.create_info(montage.ch_names, RATE, "eeg").set_montage(montage)
    sphere = mne.make_sphere_model(r0="auto", head_radius="auto", info=info)
    positions = mne.setup_volume_source_space(pos=spacing, sphere=sphere, mindist=5.0)
    return info, mne.make_forward_solution(info, trans=None, src=positions, bem=sphere, meg=False, eeg=True)


def some_places(rng: np.random.Generator, places: np.ndarray) -> np.ndarray:
    """Numbers of positions, drawn until all are far enough from each other."""
    while True:
        chosen = rng.choice(len(places), SOURCES, replace=False)
        gaps = np.linalg.norm(places[chosen][:, None] - places[chosen][None], axis=-1)
        if gaps[np.triu_indices(SOURCES, 1)].min() > APART:
            return chosen


def measure(seed: int, info: Any, forward: Any, snr: float) -> Measurement:
    """Oscillating dipoles of random direction; snr : power of each source at the electrodes over that of the noise."""
    rng = np.random.default_rng(seed)
    places = forward["source_rr"]
    chosen = some_places(rng, places)
    t = np.arange(SAMPLES) / RATE
    courses = np.array([np.sin(2 * np.pi * (f * t + rng.uniform())) for f in (6.0, 9.0, 13.0)])
    lead = forward["sol"]["data"].reshape(len(info["ch_names"]), -1, 3)
    data = NOISE * rng.standard_normal((len(info["ch_names"]), SAMPLES))
    for place, course in zip(chosen, courses, strict=True):
        direction = rng.standard_normal(3)
        field = lead[:, place] @ direction
        field -= field.mean()
        course *= NOISE * np.sqrt(snr / np.mean(np.outer(field, course) ** 2))
        data += np.outer(field, course)
        course *= np.linalg.norm(direction)
    evoked = mne.EvokedArray(data, info, tmin=0.0).set_eeg_reference(projection=True)
    noise_cov = mne.make_ad_hoc_cov(info, std={"eeg": NOISE})
    return Measurement(evoked, forward, noise_cov, places[chosen], courses)


def selected(measurement: Measurement, stc: Any) -> np.ndarray:
    """The places of the sources of an estimate, (S, 3)."""
    return measurement.forward["src"][0]["rr"][stc.vertices[0]]


def scores(measurement: Measurement, stc: Any) -> tuple[int, int, float]:
    """Selected sources, true ones among them, and the mean distance (mm) from a source to the nearest selected."""
    found = selected(measurement, stc)
    gaps = np.linalg.norm(measurement.places[:, None] - found[None], axis=-1)
    return len(found), int((gaps.min(axis=1) < NEAR).sum()), 1e3 * gaps.min(axis=1).mean()


def methods() -> dict[str, Inverse]:
    """Name and solver of each method; the noise variance of whitened data, 1, is known to all but one."""
    return {
        "sparse_bayes": lambda *data: sparse_bayes(*data, alpha=1.0),
        "sparse_bayes, effort=5 s": lambda *data: sparse_bayes(*data, alpha=1.0, effort=5.0),
        "MNE gamma_map": lambda *data: gamma_map(*data, alpha=1.0),
        'MNE mixed_norm (alpha="sure")': lambda *data: mixed_norm(*data, alpha="sure", random_state=0),
    }


def measured(draws: int, snr: float) -> list[list[str]]:
    """One row per method."""
    info, forward = head()
    cases = [measure(seed, info, forward, snr) for seed in range(draws)]
    rows = []
    for name, solve in methods().items():
        found, seconds = [], []
        for case in cases:
            start = time.perf_counter()
            stc = solve(case.evoked, case.forward, case.noise_cov)
            seconds.append(time.perf_counter() - start)
            found.append(scores(case, stc))
        number, true, gap = np.mean(found, axis=0)
        rows.append([f"{snr:g}", name, f"{number:.1f}", f"{true:.1f} of 3", f"{gap:.1f}", f"{np.mean(seconds):.2f}"])
    return rows


def draw(snr: float = 1.0, seed: int = 0) -> None:
    """The places found by two methods, seen from above and from the side."""
    info, forward = head()
    case = measure(seed, info, forward, snr)
    fig, axes = figure(2, 2, (7.2, 6.6))
    for row, name in zip(axes, ("sparse_bayes", "MNE gamma_map"), strict=True):
        stc = methods()[name](case.evoked, case.forward, case.noise_cov)
        places, power = 1e2 * selected(case, stc), np.sqrt((stc.data**2).mean(axis=1))
        for axis, (a, b, labels) in zip(row, ((0, 1, ("x", "y")), (1, 2, ("y", "z"))), strict=True):
            every = 1e2 * forward["source_rr"]
            axis.plot(every[:, a], every[:, b], ".", color="0.9", ms=1.5, zorder=0)
            axis.scatter(places[:, a], places[:, b], 15 + 140 * power / power.max(), color="C0", alpha=0.7)
            true = 1e2 * case.places
            axis.plot(true[:, a], true[:, b], "x", color="C3", ms=10, mew=2)
            axis.set(xlabel=f"{labels[0]} (cm)", ylabel=f"{labels[1]} (cm)", aspect="equal")
        row[0].set_title(f"{name}: {len(places)} sources", loc="left")
    axes[0, 0].plot([], [], "x", color="C3", ms=8, mew=2, label="true")
    axes[0, 0].scatter([], [], 60, color="C0", alpha=0.7, label="selected")
    axes[0, 0].legend(loc="upper right", fontsize=8)
    save(fig, "meg")


def main() -> None:
    """Measure, print and write the table; draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw of each, and nothing is written")
    quick = parser.parse_args().quick
    mne.set_log_level("ERROR")
    rows = [row for snr in (10.0, 1.0) for row in measured(1 if quick else 5, snr)]
    head_ = ["SNR", "method", "sources", "found", "distance (mm)", "seconds"]
    text = (
        "Three dipoles of random place and direction in a sphere, 64 EEG electrodes, 2117 positions with free "
        "orientation (6351 columns), 50 samples, white noise whose variance is known; SNR is the power of each source "
        "at the electrodes over that of the noise. Means over five draws: sources selected, true sources with a "
        "selected one at most one grid step (10 mm) away, distance from a true source to the nearest one, seconds."
    )
    publish("meg", "source-localisation", "Source localisation", [text, table(head_, rows), versions("mne")], not quick)
    if not quick:
        draw()


if __name__ == "__main__":
    main()
