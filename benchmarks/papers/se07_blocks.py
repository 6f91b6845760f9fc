"""[SE07] Figures 7 and 8: Blocks followed by Sinc, with Haar wavelets, splines, and both; HeaviSine likewise.

Haar wavelets with 7 halvings and splines of r = 3 on [−10, 10], the mean removed, no constant beside the scaling
functions; N = 1024, SNR 7; Sinc three times as large beside Blocks. Neither N nor that factor is printed; both
follow from what is (see `TEXT`). Optimum: `effort="high"`, groups of functions are removed and regrown. Printed
algorithm: se07_algorithm.py.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from benchmarks.papers.items import Item, Measured, Run
from benchmarks.papers.models import quietly, regressor
from benchmarks.papers.pictures import BLACK, BLUE, LIGHT, ORANGE, picture
from benchmarks.papers.se07_algorithm import Algorithm1
from benchmarks.papers.se07_blocks_page import show, show_heavisine
from sparsebayes import ThinPlateSpline, Wavelet
from sparsebayes.datasets import make_signal

SIZE, FACTOR, LEVEL = 1024, 3.0, 7
HAAR, SPLINES = Wavelet("haar", level=LEVEL), ThinPlateSpline(width=3.0)
BASES = {"both": HAAR + SPLINES, "haar": HAAR, "splines": SPLINES, "symmlets": Wavelet("sym8", level=LEVEL)}
ACTIONS, PLAIN_ACTIONS, LATE = 12_000, 5_000, 3  # means are over the last third of the actions
DRAWS = 5
PICTURED = 3  # the draw in the pictures; both algorithms separate the signals on it


def blocks_and_sinc(seed: int, n: int = SIZE) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """X, y, f, σ²: Blocks, then Sinc times the factor."""
    X = make_signal("blocks-sinc", n, snr=None)[0]
    blocks, sinc = (make_signal(name, n // 2, snr=None)[2] for name in ("blocks", "sinc"))
    f = np.concatenate([blocks, FACTOR * sinc])
    sigma = float(f.std()) / 7
    return X, f + sigma * np.random.default_rng(seed).standard_normal(n), f, sigma**2


def fitted(basis: str, prior: str, effort: str, data: tuple[Any, ...], given: float | None = None) -> Any:
    """A model of the signal minus its mean."""
    X, y, *_ = data
    solver = "auto" if basis in ("haar", "symmlets") else "active-set"  # closed form on orthonormal functions
    settings = {"prior": prior, "solver": solver, "noise_variance": given, "fit_intercept": False}
    if solver == "active-set" and effort == "high":
        settings |= {"solver": "auto", "effort": "high"}
    return quietly(lambda: regressor(BASES[basis], **settings).fit(X, y - y.mean()))


def separation(haar: np.ndarray, splines: np.ndarray, f: np.ndarray) -> list[float]:
    """Correlation of the wavelets' part with Blocks in the left half, of the splines' with Sinc in the right."""
    n = len(f) // 2
    halves = ((haar, slice(0, n)), (splines, slice(n, 2 * n)))
    return [float(np.corrcoef(part[h], f[h])[0, 1]) if part[h].std() else 0.0 for part, h in halves]


def by_library(basis: str, prior: str, effort: str, seed: int, n: int) -> Measured:
    """S, MSE, seconds and how well the parts separate the signals; the parts of the pictured draw."""
    X, y, f, sigma2 = data = blocks_and_sinc(seed, n)
    start = time.process_time()
    model = fitted(basis, prior, effort, data, sigma2 if prior == "uniform" else None)
    seconds = time.process_time() - start
    mean = model.predict(X) + y.mean()
    found: Measured = {"S": len(model.relevance_), "mse": float(np.mean((mean - f) ** 2)), "seconds": seconds}
    if basis == "both":
        found["apart"] = separation(*model.components_, f)
    if seed == PICTURED:
        found["mean"] = mean
        found["parts"] = list(model.components_) if basis == "both" else []
    return found


def by_algorithm(prior: str, seed: int, n: int, actions: int) -> Measured:
    """The printed algorithm, which does not converge: means over its last actions."""
    X, y, f, sigma2 = blocks_and_sinc(seed, n)
    bound = BASES["both"].bind(X)
    Phi = np.asarray(bound.operator(X).columns(range(bound.n_functions)))
    seen: list[list[float]] = []

    def watch(model: Algorithm1) -> None:
        parts = model.contributions(n)
        mse = float(np.mean((sum(parts) + y.mean() - f) ** 2))
        seen.append([len(model.active), mse, *separation(*parts, f)])

    plain = prior == "uniform"
    start = time.process_time()
    model = Algorithm1(Phi, y - y.mean(), 0.0 if plain else math.log(n), sigma2 if plain else None)
    quietly(lambda: model.run(actions, np.random.default_rng(seed), watch))
    late = np.asarray(seen[-max(1, len(seen) // LATE) :]).mean(axis=0)
    found: Measured = {"S": late[0], "mse": late[1], "apart": late[2:], "seconds": time.process_time() - start}
    if seed == PICTURED:
        found["parts"] = list(model.contributions(n))
    return found


RUNS = {
    "both ric high": ("both", "ric", "high"),
    "both ric default": ("both", "ric", "default"),
    "both uniform default": ("both", "uniform", "default"),
    "haar ric default": ("haar", "ric", "default"),
    "splines ric default": ("splines", "ric", "default"),
}


def measure(run: Run) -> Measured:
    """Every basis and prior, the printed algorithm, and the pictures."""
    n = SIZE if run.full else 128
    found: Measured = {}
    for name, (basis, prior, effort) in RUNS.items():
        effort = effort if run.full else "default"
        draws = run.draws(1, DRAWS)
        seeds = [PICTURED, *(k for k in range(DRAWS) if k != PICTURED)][:draws]
        found[name] = [
            run.part(f"{name.replace(' ', '-')}-{k}", lambda b=basis, p=prior, e=effort, k=k: by_library(b, p, e, k, n))
            for k in seeds
        ]
    for prior, actions in (("ric", ACTIONS), ("uniform", PLAIN_ACTIONS)):
        seeds = [PICTURED, *(k for k in range(DRAWS) if k != PICTURED)][: run.draws(1, DRAWS)]
        count = actions if run.full else 200
        found[f"algorithm {prior}"] = [
            run.part(f"algorithm-{prior}-{k}", lambda p=prior, c=count, k=k: by_algorithm(p, k, n, c)) for k in seeds
        ]
    draw(run, found, n)
    return {
        name: [{key: d[key] for key in d if key not in ("mean", "parts")} for d in each] for name, each in found.items()
    }


def draw(run: Run, found: Measured, n: int) -> None:
    """Figure 7 (a) to (c), and figure 8: what wavelets and splines contribute."""
    X, y, f, _ = blocks_and_sinc(PICTURED, n)
    x = X[:, 0]
    panels = {
        "splines ric default": "(a) splines",
        "haar ric default": "(b) Haar",
        "both ric high": "(c) Haar and splines",
    }
    with picture(run.picture("se07-figure-7"), 3, 1, (8, 7), sharex=True) as axes:
        for ax, (name, title) in zip(axes[:, 0], panels.items(), strict=True):
            first = found[name][0]
            ax.plot(x, y, ".", ms=2, color=LIGHT, label="data")
            ax.plot(x, f, color=BLACK, lw=0.7, label="truth")
            ax.plot(x, first["mean"], color=BLUE, lw=1.2, label="fit")
            ax.set_title(f"{title}, RIC: S = {first['S']}, MSE = {first['mse']:.3g}")
        axes[0, 0].legend(ncols=3)
        axes[2, 0].set_xlabel("x")
    columns = {
        "both uniform default": "no prior",
        "algorithm ric": "RIC, printed algorithm",
        "both ric high": "RIC, optimum",
    }
    with picture(run.picture("se07-figure-8"), 2, 3, (12, 5), sharex=True, sharey=True) as axes:
        for k, (name, title) in enumerate(columns.items()):
            first = found[name][0]
            for ax, part, basis in zip(axes[:, k], first["parts"], ("Haar wavelets", "splines"), strict=True):
                ax.plot(x, f - y.mean(), color=LIGHT, lw=1, label="truth")
                ax.plot(x, part, color=ORANGE if name == "both uniform default" else BLUE, lw=1.1, label="contribution")
                ax.set_title(f"{basis}; {title}, S = {first['S']:.0f}")
        axes[0, 0].legend()
        for ax in axes[1]:
            ax.set_xlabel("x")


def measure_heavisine(run: Run) -> Measured:
    """HeaviSine, which the paper names without figures: each basis alone, and Haar with splines."""
    n, draws = (SIZE if run.full else 128), run.draws(1, DRAWS)
    found: Measured = {}
    for basis in BASES:
        found[basis] = run.part(basis, lambda b=basis: [_heavisine(b, seed, n) for seed in range(draws)])
    X, y, f = make_signal("heavisine", n, snr=7.0, random_state=0)
    model = fitted("both", "ric", "default", (X, y))
    with picture(run.picture("se07-heavisine"), 1, 2, (10, 3.2)) as axes:
        axes[0, 0].plot(X[:, 0], y, ".", ms=2, color=LIGHT, label="data")
        axes[0, 0].plot(X[:, 0], f, color=BLACK, lw=0.7, label="truth")
        axes[0, 0].plot(X[:, 0], model.predict(X) + y.mean(), color=BLUE, label="fit")
        axes[0, 0].set(title=f"HeaviSine, Haar and splines, RIC: S = {len(model.relevance_)}", xlabel="x")
        for part, name, colour in zip(model.components_, ("Haar wavelets", "splines"), (ORANGE, BLUE), strict=True):
            axes[0, 1].plot(X[:, 0], part, color=colour, label=name)
        axes[0, 1].set(title="what each part contributes", xlabel="x")
        for ax in axes[0]:
            ax.legend()
    return found


def _heavisine(basis: str, seed: int, n: int) -> list[float]:
    X, y, f = make_signal("heavisine", n, snr=7.0, random_state=seed)
    model = fitted(basis, "ric", "default", (X, y))
    return [len(model.relevance_), float(np.mean((model.predict(X) + y.mean() - f) ** 2))]


ITEMS = [
    Item("se07-figures-7-8", ("Figure 7", "Figure 8"), measure, show),
    Item("se07-heavisine", ("Section 4.3, HeaviSine",), measure_heavisine, show_heavisine),
]
