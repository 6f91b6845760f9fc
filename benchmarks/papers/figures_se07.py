"""Figures 5 to 8 of Schmolck & Everson (2007) in build/se07.png: Doppler, shrinkage, Blocks and Sinc."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.papers.algorithm_se07 import Algorithm1
from benchmarks.papers.blocks_sinc_se07 import BASES, SIZE, blocks_and_sinc
from sparsebayes import RelevanceVectorRegressor, WaveletDenoiser
from sparsebayes.datasets import make_signal

PICTURE = Path("build/se07.png")
PRIORS = {"uniform": "#999999", "aic": "#E69F00", "bic": "#0072B2", "ric": "#D55E00"}
BLACK = "#222222"
BOTH = BASES["Haar and splines"]
SINC = 3.0  # factor of Sinc beside Blocks
DRAW = 3  # both algorithms separate the signals well on it; benchmarks/results/paper_se07.md has others


def doppler(ax: Any, prior: str) -> None:
    """Figure 5: the chirp at SNR 7 under one prior, with the noise given."""
    X, y, f = make_signal("doppler", 1024, snr=7.0, random_state=0)
    model = WaveletDenoiser(prior=prior, shifts=0, boundary="periodic", noise_variance=float(f.std() / 7) ** 2)
    mean = model.fit_transform(y)
    ax.plot(X[:, 0], y, ".", ms=2, color="#BBBBBB")
    ax.plot(X[:, 0], mean, color=PRIORS[prior], lw=1.2)
    ax.set_title(f"Doppler, {prior}: S = {model.n_active_}, MSE = {np.mean((mean - f) ** 2):.5f}", loc="left")


def shrinkage(ax: Any, n: int = 1024) -> None:
    """Figure 6: the posterior mean of a coefficient under each prior, at σ = 1."""
    w = np.linspace(-8, 8, 1601)
    constants = {"uniform": 0.0, "aic": 1.0, "bic": 0.5 * np.log(n), "ric": np.log(n)}
    ax.plot(w, w, color=BLACK, lw=0.8, ls=(0, (4, 3)))
    for prior, c in constants.items():
        u = w**2 - 2 * c
        ax.plot(w, np.where(u > 1, w * (1 - 1 / np.maximum(u, 1)), 0.0), color=PRIORS[prior], label=prior)
    ax.set(xlabel="coefficient / σ", ylabel="posterior mean / σ")
    ax.set_title(f"shrinkage, N = {n}", loc="left")
    ax.legend(frameon=False, fontsize="small")


def together(axes: Any) -> None:
    """Figure 7 (c), and figure 8 on the right: Haar wavelets and thin-plate splines under RIC."""
    X, y, f, _ = blocks_and_sinc(SINC, DRAW)
    model = RelevanceVectorRegressor(BOTH, prior="ric", effort="high", fit_intercept=False)
    model.fit(X, y - y.mean())
    mean = model.predict(X) + y.mean()
    axes[0].plot(X[:, 0], y, ".", ms=2, color="#BBBBBB")
    axes[0].plot(X[:, 0], mean, color=PRIORS["ric"], lw=1.2)
    S, mse = len(model.relevance_), np.mean((mean - f) ** 2)
    axes[0].set_title(f"Blocks and Sinc, Haar + splines, ric: S = {S}, MSE = {mse:.4f}", loc="left")
    contributions(axes[1:], X, f - y.mean(), model.components_, "ric", "ric")


def plain(axes: Any) -> None:
    """Figure 8 on the left: no prior, the noise given."""
    X, y, f, sigma2 = blocks_and_sinc(SINC, DRAW)
    model = RelevanceVectorRegressor(BOTH, prior="uniform", noise_variance=sigma2, fit_intercept=False)
    model.fit(X, y - y.mean())
    mse = np.mean((model.predict(X) + y.mean() - f) ** 2)
    name = f"no prior, S = {len(model.relevance_)}, MSE = {mse:.4f}"
    contributions(axes, X, f - y.mean(), model.components_, name, "uniform")


def by_algorithm_1(axes: Any, actions: int = 12000) -> None:
    """Figure 8 by the printed algorithm, which does not converge, after this many actions."""
    X, y, f, _ = blocks_and_sinc(SINC, DRAW)
    Phi = BOTH.bind(X).operator(X).columns(range(2 * SIZE))
    model = Algorithm1(Phi, y - y.mean(), np.log(SIZE))
    model.run(actions, np.random.default_rng(DRAW), lambda model: None)
    parts = model.contributions(SIZE)
    mse = np.mean((sum(parts) + y.mean() - f) ** 2)
    name = f"ric by the paper's algorithm 1, S = {len(model.active)}, MSE = {mse:.4f}"
    contributions(axes, X, f - y.mean(), parts, name, "aic")


def contributions(axes: Any, X: np.ndarray, f: np.ndarray, parts: Any, name: str, colour: str) -> None:
    """Draw the contributions of the wavelets and of the splines."""
    for ax, part, basis in zip(axes, parts, ("Haar wavelets", "splines"), strict=True):
        ax.plot(X[:, 0], f, color="#BBBBBB", lw=1)
        ax.plot(X[:, 0], part, color=PRIORS[colour], lw=1.2)
        ax.set_title(f"{basis}, {name}", loc="left")


def main() -> None:
    """Draw all figures."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(6, 2, figsize=(12, 23), layout="constrained")
    for ax, prior in zip(axes.flat[:4], PRIORS, strict=True):
        doppler(ax, prior)
    shrinkage(axes[2, 0])
    together([axes[2, 1], *axes[3]])
    by_algorithm_1(axes[4])
    plain(axes[5])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    print(f"Picture: {PICTURE}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
