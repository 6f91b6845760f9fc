"""Denoising with all defaults beside BayesShrink: error, how often 95 % bars cover, and the noise of seasonal series.

--data names the folder of the electrocardiogram and the image (load.py with `ecg()` and `camera()`); without it
that section is omitted.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.denoising import CELLS, SIGNALS, bayes_shrink
from benchmarks.common import best_time, report, table
from sparsebayes import WaveletDenoiser, denoise
from sparsebayes.datasets import make_signal

FIRST = 9000  # noise draw; those below it were used to choose the settings
BAR = 1.96
OTHERS = [(name, snr, n) for name in SIGNALS for snr in (1.0, 3.0, 10.0) for n in (300, 3000)]
SEASONS = [(period, shape) for period in (4, 7, 12) for shape in ("sine", "harmonics", "pattern")]
NOISES = (0.03, 0.1, 0.3)
ABOUT = """`denoise(y, return_std=True)`, no other argument given. Mean squared errors, and their roots, are divided by
those of scikit-image's BayesShrink (sym8). Covered is the share of samples whose true value lies within 1.96 standard
deviations, and bars² the mean square of the standard deviations divided by the mean squared error, 1 if they are right
on average. Settings were chosen with other noise draws of some of these signals, of the electrocardiogram and of the
image, and with other seasonal series; the draws here were used for nothing else."""


def measured(y: np.ndarray, f: np.ndarray) -> list[float]:
    """Error relative to BayesShrink, share of samples covered, and the mean square of bars beside the error."""
    mean, std = denoise(y, return_std=True)
    error = float(np.mean((mean - f) ** 2))
    against = float(np.mean((bayes_shrink(y) - f) ** 2))
    return [error / against, float(np.mean(np.abs(mean - f) < BAR * std)), float(np.mean(std**2)) / error]


def row(label: str, case: str, found: list[list[float]]) -> list[str]:
    """A line of a table, from the draws of one case."""
    error, covered, bars = np.mean(found, axis=0)
    least = min(each[1] for each in found)
    return [label, case, f"{error:.3f}", f"{error**0.5:.3f}", f"{covered:.1%}", f"{least:.1%}", f"{bars:.2f}"]


HEAD = ["signal", "", "MSE", "RMSE", "covered", "worst draw", "bars²"]


def constructed(title: str, cells: list[tuple[str, float, int]], draws: int) -> str:
    """Signals of Donoho and Johnstone."""
    rows = []
    for name, snr, n in cells:
        found = []
        for seed in range(FIRST, FIRST + draws):
            _, y, f = make_signal(name, n, snr=snr, random_state=seed)
            found.append(measured(y, f))
        rows.append(row(name, f"SNR {snr:g}, N = {n}", found))
    return f"## {title}\n\nMean of {draws} draws.\n\n" + table(HEAD, rows)


def recorded(load: Any, draws: int) -> str:
    """The electrocardiogram and the image, with noise of a tenth and three tenths of their spread."""
    rows = []
    for name, f, count in (("electrocardiogram", load.ecg(), draws), ("camera", load.camera(), max(draws // 4, 1))):
        for share in (0.1, 0.3):
            found = []
            for seed in range(FIRST, FIRST + count):
                noise = np.random.default_rng(seed).standard_normal(f.shape)
                found.append(measured(f + share * f.std() * noise, f))
            rows.append(row(name, f"noise {share:g} of the spread, {count} draws", found))
    return "## Recorded\n\n" + table(HEAD, rows)


def seasonal(rng: np.random.Generator, n: int, period: int, shape: str) -> np.ndarray:
    """A trend and a season of unit variance: a sine wave, three harmonics, or a pattern that repeats."""
    t = np.arange(n)
    trend = 3 * rng.standard_normal() * t / n + 2 * rng.standard_normal() * (t / n) ** 2
    if shape == "pattern":
        season = np.tile(rng.standard_normal(period), n // period + 1)[:n]
    else:
        waves = [
            np.sin(2 * np.pi * k * t / period + rng.uniform(0, 2 * np.pi)) / k
            for k in range(1, 2 if shape == "sine" else 4)
        ]
        season = np.sum(waves, axis=0)
    return np.asarray(trend + season / season.std())


def seasons(draws: int, n: int = 300) -> str:
    """The estimated standard deviation of the noise of seasonal series, relative to the truth."""
    rows = []
    for period, shape in SEASONS:
        for sigma in NOISES:
            ratios, covered = [], []
            for seed in range(FIRST, FIRST + draws):
                rng = np.random.default_rng(seed)
                f = seasonal(rng, n, period, shape)
                denoiser = WaveletDenoiser()
                mean, std = denoiser.fit_transform(f + sigma * rng.standard_normal(n), return_std=True)
                ratios.append(float(np.sqrt(denoiser.noise_variance_)) / sigma)
                covered.append(float(np.mean(np.abs(mean - f) < BAR * std)))
            inside = float(np.mean(np.abs(np.asarray(ratios) - 1) <= 0.3))
            numbers = [np.mean(ratios), min(ratios), max(ratios)]
            label = [f"period {period}, {shape}", f"{sigma:g}"]
            rows.append([*label, *(f"{x:.2f}" for x in numbers), f"{inside:.0%}", f"{np.mean(covered):.1%}"])
    head = ["season", "noise", "mean", "least", "most", "within 30 %", "covered"]
    text = f"Estimated standard deviation of the noise divided by the truth: {draws} series of {n} samples, with a "
    text += "trend and a season of unit variance."
    return f"## Seasonal series\n\n{text}\n\n" + table(head, rows)


def times() -> str:
    """Seconds of a call with all defaults."""
    rows = []
    for power in (10, 14, 18, 20):
        y = make_signal("doppler", 2**power, snr=5.0, random_state=0)[1]
        seconds = [best_time(lambda y=y, bars=bars: denoise(y, return_std=bars))[0] for bars in (False, True)]
        rows.append([f"2^{power}", "", *(f"{t:.3f} s" for t in seconds)])
    return "## Time\n\nBest of three.\n\n" + table(["N", "", "mean", "mean and bars"], rows)


def loader(folder: Path) -> Any:
    """The module load.py of a folder."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    if spec is None or spec.loader is None:
        raise ValueError(f"--data must name a folder with load.py, got {folder}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Measure, print, write benchmarks/results/denoising_defaults.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="noise draws (default 20)")
    parser.add_argument("--data", type=Path, help="the folder of load.py")
    options = parser.parse_args()
    start = time.perf_counter()
    sections = [ABOUT, constructed("The sixteen cells", [cell[1:] for cell in CELLS], options.draws)]
    sections.append(constructed("Other lengths and noise", OTHERS, options.draws))
    if options.data is not None:
        sections.append(recorded(loader(options.data), options.draws))
    sections += [seasons(5 * options.draws), times()]
    report("denoising_defaults", "Denoising with all defaults", [*sections, f"{time.perf_counter() - start:.0f} s."])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the depth at which PyWavelets warns is the one compared
    with threadpool_limits(1):
        main()
