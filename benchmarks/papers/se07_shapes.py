"""[SE07] Figures 4 and 9: the log posterior ℓ̂(α) of one α in all its cases, with the smoothness and the Gamma prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.common import table
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.pictures import BLACK, BLUE, GREY, ORANGE, image, picture
from sparsebayes import Smoothness

BETA = 1.0  # 1/σ²
# s, q² and c of the four cases, in the order of the printed panels
CASES = {
    "the prior removes the maximum": (1.0, 3.0, 2.0),
    "one turning point": (1.0, 5.0, 1.0),
    "two turning points, the maximum above 0": (0.2, 1.6, 2.0),
    "two turning points, the maximum below 0": (0.1, 0.4, 1.0),
}
GAMMA_CASE = {"s": 2.0, "q2": 1.0, "a": 1.0, "b": 2.0}  # as printed


def likelihood(alpha: np.ndarray, s: float, q2: float) -> np.ndarray:
    """ℓ(α) [SE07, eq. 29]."""
    return 0.5 * (np.log(alpha / (alpha + s)) + q2 / (alpha + s))


def smoothness(alpha: np.ndarray, c: float) -> np.ndarray:
    """−c/(1 + σ²α) [SE07, eq. 33]."""
    return -c / (1 + alpha / BETA)


def curves(ax: Any, alpha: np.ndarray, fit: np.ndarray, prior: np.ndarray) -> None:
    """Log posterior, log likelihood and log prior against α."""
    ax.plot(alpha, fit + prior, color=BLUE, label=r"log posterior $\hat{\ell}(\alpha)$")
    ax.plot(alpha, fit, color=BLACK, ls="--", lw=1, label=r"log likelihood $\ell(\alpha)$")
    ax.plot(alpha, prior, color=GREY, ls=":", label="log prior")
    ax.axhline(0, color=GREY, lw=0.5)
    ax.set(xscale="log", xlabel="α", ylabel="nats")


def measure_cases(run: Run) -> Measured:
    """Figure 4, and where the library puts α in each case."""
    alpha = np.logspace(-3, 3, 3001)
    found: Measured = {}
    with picture(run.picture("se07-figure-4"), 2, 2, (9, 6)) as axes:
        for ax, (name, (s, q2, c)) in zip(axes.flat, CASES.items(), strict=True):
            fit, prior = likelihood(alpha, s, q2), smoothness(alpha, c)
            curves(ax, alpha, fit, prior)
            best = float(Smoothness(c).maximise(np.asarray([s]), np.asarray([math.sqrt(q2)]), BETA, np.ones(1))[0])
            turns = int(np.sum(np.diff(np.sign(np.diff(fit + prior))) != 0))
            if math.isfinite(best):
                at = np.asarray(best)
                ax.plot(best, likelihood(at, s, q2) + smoothness(at, c), "o", color=ORANGE, label="the α that is taken")
            ax.set(ylim=(-2.6, 2.2), title=f"{name}\n(s = {s:g}, q² = {q2:g}, c = {c:g})")
            plain = s**2 / (q2 - s)
            found[name] = {"plain": plain, "best": best if math.isfinite(best) else None, "turns": turns}
        axes[0, 1].legend(loc="lower right")
    return found


def show_cases(found: Measured) -> Shown:
    """Figure 4."""
    rows = [
        [name, str(each["turns"]), f"{each['plain']:.3f}", "∞" if each["best"] is None else f"{each['best']:.3f}"]
        for name, each in found.items()
    ]
    text = (
        "σ² = 1. The paper prints no values of s, q and c; these show its four cases. The library takes the "
        "smallest positive root of the cubic, and only if ℓ̂ is positive there; the α that is taken is never "
        "below that without a prior (q² > s in all four)."
    )
    head = ["case", "turning points", "α without a prior", "α under the prior"]
    body = "\n\n".join([image("se07-figure-4", "SE07 figure 4, four cases"), text, table(head, rows)])
    return Shown("four cases", "redrawn; the library's choice in each", body)


def measure_gamma(run: Run) -> Measured:
    """Figure 9: a Gamma prior can make a solution less sparse than the likelihood alone."""
    alpha = np.logspace(-2, 2, 4001)
    s, q2, a, b = GAMMA_CASE.values()
    fit, prior = likelihood(alpha, s, q2), (a - 1) * np.log(alpha) - b * alpha
    with picture(run.picture("se07-figure-9"), 1, 1, (5.4, 3.6)) as axes:
        curves(axes[0, 0], alpha, fit, prior)
        best = int(np.argmax(fit + prior))
        axes[0, 0].plot(alpha[best], (fit + prior)[best], "o", color=ORANGE, label="maximum, at a finite α")
        axes[0, 0].set(ylim=(-6, 0.5), title="Gamma prior, a = 1, b = 2; q = 1, s = 2")
        axes[0, 0].legend(loc="lower left")
    return {"best": float(alpha[best])}


def show_gamma(found: Measured) -> Shown:
    """Figure 9."""
    text = (
        "q = 1, s = 2, a = 1, b = 2 as printed, without the constant of the density. Without a prior the function "
        "is not selected (q² < s, the maximum is at α = ∞); with this Gamma prior the maximum is at α = "
        f"{found['best']:.3f}: the model is less sparse."
    )
    body = image("se07-figure-9", "SE07 figure 9, Gamma prior") + "\n\n" + text
    return Shown("a maximum at a finite α", f"at α = {found['best']:.2f}", body)


ITEMS = [
    Item("se07-figure-4", ("Figure 4",), measure_cases, show_cases),
    Item("se07-figure-9", ("Figure 9",), measure_gamma, show_gamma),
]
