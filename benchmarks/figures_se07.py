"""Figures 5 to 8 of Schmolck & Everson (2007) in build/se07.png: Doppler, shrinkage, Blocks and Sinc."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from algorithm_se07 import Algorithm1

from sparsebayes import RelevanceVectorRegressor, ThinPlateSpline, Wavelet, WaveletDenoiser
from sparsebayes.datasets import make_signal

PICTURE = Path("build/se07.png")
PRIORS = {"uniform": "#999999", "aic": "#E69F00", "bic": "#0072B2", "ric": "#D55E00"}
BLACK = "#222222"


def doppler(ax: Any, prior: str) -> None:
    """Figure 5: the chirp at SNR 7 under one prior, its noise given."""
    X, y, f = make_signal("doppler", 1024, snr=7.0, random_state=0)
    model = WaveletDenoiser(prior=prior, noise_variance=float(f.std() / 7) ** 2)
    mean = model.fit_transform(y)
    ax.plot(X[:, 0], y, ".", ms=2, color="#BBBBBB")
    ax.plot(X[:, 0], mean, color=PRIORS[prior], lw=1.2)
    ax.set_title(f"Doppler, {prior}: S = {model.n_active_}, MSE = {np.mean((mean - f) ** 2):.5f}", loc="left")


def shrinkage(ax: Any, n: int = 1024) -> None:
    """Figure 6: what each prior makes of a coefficient, at σ = 1."""
    w = np.linspace(-8, 8, 1601)
    constants = {"uniform": 0.0, "aic": 1.0, "bic": 0.5 * np.log(n), "ric": np.log(n)}
    ax.plot(w, w, color=BLACK, lw=0.8, ls=(0, (4, 3)))
    for prior, c in constants.items():
        u = w**2 - 2 * c
        ax.plot(w, np.where(u > 1, w * (1 - 1 / np.maximum(u, 1)), 0.0), color=PRIORS[prior], label=prior)
    ax.set(xlabel="coefficient / σ", ylabel="posterior mean / σ")
    ax.set_title(f"shrinkage, N = {n}", loc="left")
    ax.legend(frameon=False, fontsize="small")


def blocks_and_sinc(axes: Any) -> None:
    """Figures 7 and 8: Haar wavelets and thin-plate splines together under RIC, and what each contributes.

    Of the draw with seed 1; with seed 0 a smooth trend under the blocks stays with the splines.
    """
    X, y, f = make_signal("blocks-sinc", 1024, snr=7.0, random_state=1)
    kernel = Wavelet("haar") + ThinPlateSpline(width=3.0)
    model = RelevanceVectorRegressor(kernel, prior="ric", solver="thorough", fit_intercept=False)
    model.fit(X, y - y.mean())
    mean = model.predict(X) + y.mean()
    x = X[:, 0]
    axes[0].plot(x, y, ".", ms=2, color="#BBBBBB")
    axes[0].plot(x, mean, color=PRIORS["ric"], lw=1.2)
    S, mse = len(model.relevance_), np.mean((mean - f) ** 2)
    axes[0].set_title(f"Blocks and Sinc, Haar + splines, ric: S = {S}, MSE = {mse:.4f}", loc="left")
    for ax, part, name in zip(axes[1:], model.components_, ("Haar wavelets", "splines"), strict=True):
        ax.plot(x, f - y.mean(), color="#BBBBBB", lw=1)
        ax.plot(x, part, color=PRIORS["bic"], lw=1.2)
        ax.set_title(f"contribution of the {name}", loc="left")


def by_algorithm_1(axes: Any, actions: int = 1500) -> None:
    """The same as the printed algorithm has it after so many actions: on its way, for it has no end."""
    X, y, f = make_signal("blocks-sinc", 1024, snr=7.0, random_state=1)
    bound = (Wavelet("haar") + ThinPlateSpline(width=3.0)).bind(X)
    Phi = bound.operator(X).columns(range(bound.n_functions))
    model = Algorithm1(Phi, y - y.mean(), np.log(1024))
    model.run(actions, np.random.default_rng(1), lambda model: None)
    J = np.asarray(model.active)
    terms = Phi[:, J] * model.mean
    mse = np.mean((terms.sum(axis=1) + y.mean() - f) ** 2)
    for ax, mine, name in zip(axes, (J < 1024, J >= 1024), ("Haar wavelets", "splines"), strict=True):
        ax.plot(X[:, 0], f - y.mean(), color="#BBBBBB", lw=1)
        ax.plot(X[:, 0], terms[:, mine].sum(axis=1), color=PRIORS["aic"], lw=1.2)
        ax.set_title(f"algorithm 1: {mine.sum()} {name}", loc="left")
    axes[0].set_title(axes[0].get_title(loc="left") + f", S = {len(J)}, MSE = {mse:.4f}", loc="left")


def main() -> None:
    """Draw all of them."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(5, 2, figsize=(12, 19), layout="constrained")
    for ax, prior in zip(axes.flat[:4], PRIORS, strict=True):
        doppler(ax, prior)
    shrinkage(axes[2, 0])
    blocks_and_sinc([axes[2, 1], *axes[3]])
    by_algorithm_1(axes[4])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    print(f"Picture: {PICTURE}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
