"""Greedy selection, and what counters it: noise annealing, and regrowth of groups of functions.

Four problems on which functions selected one at a time can go wrong: Blocks and Sinc in a dictionary of Haar
wavelets and thin-plate splines [SE07, figure 8], sparse vectors seen through a random matrix, the linear
splines of T01, figure 1, and a dictionary of three orthonormal bases.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import report, table
from sparsebayes import (
    DCT,
    ActiveSet,
    Bias,
    FixedPoint,
    LinearSpline,
    Search,
    Sequential,
    Spike,
    Sweep,
    ThinPlateSpline,
    Wavelet,
    fit,
)
from sparsebayes.datasets import make_signal

GROUPS = tuple(Sweep(size) for size in (16, 8, 4, 2))
SOLVERS = {
    "sequential": Sequential(),
    "sequential, annealing": Sequential(annealing=10),
    "active set": ActiveSet(effort="fast"),
    "active set, annealing": ActiveSet(effort=Search(annealing=10)),
    "active set, regrowth": ActiveSet(effort=Search(last=GROUPS)),
    "active set, annealing, regrowth": ActiveSet(effort=Search(annealing=10, last=GROUPS)),
}
ABOUT = """*Annealing*: the solver also starts at a noise variance of 0.3 of the mean square of t and lowers it in ten
geometric steps, each from the solution of the one before; the better of the two models is kept. *Regrowth*:
groups of 16, 8, 4 and 2 related functions are removed in turn and the model regrown without them. Evidence
includes the log prior; *behind* is the distance to the best solver on the same draw, in nats, mean and worst;
time is processor time."""


def compare(solvers: dict[str, Any], draws: int, run: Callable[[Any, int], list[float]]) -> np.ndarray:
    """(solvers, draws, figures): what `run` returns for each, evidence first, and last the processor seconds."""
    rows = []
    for solver in solvers.values():
        each = []
        for seed in range(draws):
            start = time.process_time()
            figures = run(solver, seed)
            each.append([*figures, time.process_time() - start])
        rows.append(each)
    return np.asarray(rows, dtype=float)


def lines(solvers: dict[str, Any], found: np.ndarray, formats: list[str]) -> list[list[str]]:
    """One row per solver: mean evidence, how far behind, the other figures, time."""
    behind = found[:, :, 0].max(axis=0) - found[:, :, 0]
    rows = []
    for label, each, gap in zip(solvers, found, behind, strict=True):
        mean = each.mean(axis=0)
        cells = [form.format(value) for form, value in zip(formats, mean[1:-1], strict=True)]
        evidence = [f"{mean[0]:.1f}", f"{gap.mean():.1f}", f"{gap.max():.1f}"]
        rows.append([label, *evidence, *cells, f"{mean[-1]:.2f} s"])
    return rows


def section(title: str, text: str, head: list[str], rows: list[list[str]]) -> str:
    """A table with its heading and text."""
    return f"## {title}\n\n{text}\n\n" + table(["solver", "evidence", "behind", "worst", *head, "time"], rows)


def blocks_and_sinc(draws: int) -> str:
    """How the evidence and the separation of the two signals depend on the solver."""
    basis = Wavelet("haar") + ThinPlateSpline(width=3.0)

    def run(solver: Any, seed: int) -> list[float]:
        X, y, f = make_signal("blocks-sinc", 1024, snr=7.0, random_state=seed)
        bound = basis.bind(X)
        result = fit(bound.operator(X), y - y.mean(), prior="ric", solver=solver)
        kept = bound.select(result.active)
        haar, spline = kept.contributions(X, result.mean)
        mse = np.mean((haar + spline + y.mean() - f) ** 2)
        truth = f - y.mean()
        left = np.corrcoef(haar[:512], truth[:512])[0, 1]
        right = np.corrcoef(spline[512:], truth[512:])[0, 1] if np.std(spline[512:]) else 0.0
        return [result.objective, len(result.active), mse, left, right]

    rows = lines(SOLVERS, compare(SOLVERS, draws, run), ["{:.1f}", "{:.4f}", "{:.3f}", "{:.3f}"])
    text = (
        f"N = 1024, SNR 7, noise estimated, RIC, {draws} draws. *Haar* is the correlation of what the "
        "wavelets contribute with Blocks, on the left half; *splines* that of the splines with Sinc, on the "
        "right."
    )
    return section("Blocks and Sinc", text, ["S", "MSE", "Haar", "splines"], rows)


def recovery(draws: int, active: int, noise: float = 1e-3) -> str:
    """How often a sparse vector is recovered."""

    def run(solver: Any, seed: int) -> list[float]:
        rng = np.random.default_rng([active, seed])
        Phi = rng.standard_normal((100, 200)) / 10
        w = np.zeros(200)
        w[rng.choice(200, active, replace=False)] = rng.standard_normal(active)
        t = Phi @ w + noise * rng.standard_normal(100)
        result = fit(Phi, t, noise_variance=noise**2, solver=solver)
        found = np.zeros(200)
        found[result.active] = result.mean
        exact = np.linalg.norm(found - w) < 0.05 * np.linalg.norm(w)
        return [result.objective, 100.0 * exact, len(result.active)]

    rows = lines(SOLVERS, compare(SOLVERS, draws, run), ["{:.0f} %", "{:.1f}"])
    text = (
        f"{active} of 200 weights are not zero, normally distributed; 100 rows of normal deviates, noise "
        f"{noise:g}, given; {draws} draws. *Found*: all weights to within 5 % of their norm."
    )
    return section(f"Random 100×200, {active} active", text, ["found", "S"], rows)


def splines() -> str:
    """T01, figure 1: 100 points of sinc without noise, σ = 0.01 given."""
    x = np.linspace(-10, 10, 100)
    t = np.sinc(x / np.pi)
    Phi = (LinearSpline() + Bias()).bind(x[:, None])(x[:, None])
    solvers = {**SOLVERS, "MacKay, from the full basis": FixedPoint("mackay")}

    def run(solver: Any, seed: int) -> list[float]:
        result = fit(Phi, t, noise_variance=1e-4, solver=solver)
        return [result.objective, len(result.active), np.abs(result.predict(Phi) - t).max()]

    rows = lines(solvers, compare(solvers, 1, run), ["{:.0f}", "{:.4f}"])
    text = "100 points of sinc on [−10, 10] without noise, σ = 0.01 given, a bias among the functions."
    return section("Linear splines", text, ["S", "largest error"], rows)


def transforms(draws: int) -> str:
    """Steps, tones and outliers in a dictionary of three orthonormal bases."""
    n = 512
    basis = Wavelet("haar", level=9) + DCT() + Spike()

    def run(solver: Any, seed: int) -> list[float]:
        rng = np.random.default_rng(seed)
        X = np.arange(float(n))[:, None]
        bound = basis.bind(X)
        operator = bound.operator(X)
        J = np.concatenate([k * n + rng.choice(n, 12, replace=False) for k in range(3)])
        w = rng.standard_normal(36) + np.sign(rng.standard_normal(36))
        y = operator.columns(J) @ w + 0.2 * rng.standard_normal(n)
        result = fit(operator, y, prior="bic", solver=solver)
        parts = bound.select(result.active).contributions(X, result.mean)
        truth = np.stack([operator.columns(J[k : k + 12]) @ w[k : k + 12] for k in (0, 12, 24)])
        error = np.sum((parts - truth) ** 2) / np.sum(truth**2)
        return [result.objective, len(result.active), error]

    rows = lines(SOLVERS, compare(SOLVERS, draws, run), ["{:.1f}", "{:.4f}"])
    text = (
        f"Twelve functions each of Haar wavelets, cosines and spikes on {n} samples, noise 0.2, estimated, "
        f"BIC; {draws} draws. *Error*: of the three components against those of the truth, relative, squared."
    )
    return section("Wavelets, cosines and spikes", text, ["S", "error"], rows)


def main() -> None:
    """Measure, print, write benchmarks/results/greed.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=5, help="noise draws (default 5); three times as many for recovery"
    )
    draws = parser.parse_args().draws
    sections = [
        blocks_and_sinc(draws),
        *(recovery(3 * draws, active) for active in (30, 45, 50)),
        splines(),
        transforms(draws),
    ]
    report("greed", "Greedy selection and what counters it", [ABOUT, *sections])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # whether a solver converged is not the question here
    with threadpool_limits(1):
        main()
