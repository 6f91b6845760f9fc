"""[FT02] Figure 1, the two cases of ℓ(α); and a point where every α is at its own maximum, but which is no maximum.

For two columns of unit norm with inner product 0.9 and equal α, S_1 = S_2 and t along φ₁ − φ₂ of the length at which
Q_i² = S_i makes both α stationary, and maxima, each for itself. The joint Hessian in 1/α, ½S_ij² − Q_iQ_jS_ij, then has
the eigenvalues S²(−½ ± (½ρ² + ρ)), ρ = S_12/S_11, of which one is positive for ρ > √2 − 1. Section 3.4.2 of the
paper says that this cannot happen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.common import table
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import matrix_fit
from benchmarks.papers.pictures import BLUE, GREY, ORANGE, image, picture
from sparsebayes import Uniform
from sparsebayes.core.newton import gradient_and_hessian
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.solvers.certificate import certify

CASES = {"q² > s": (1.0, 3.0), "q² < s": (1.0, 0.9)}  # s and q²
OVERLAP, ALPHA, BETA = 0.9, 1.0, 1.0


def gain(alpha: np.ndarray, s: float, q2: float) -> np.ndarray:
    """ℓ(α) = ½ [log α − log(α + s) + q²/(α + s)]  [FT02, eq. 12]."""
    return 0.5 * (np.log(alpha / (alpha + s)) + q2 / (alpha + s))


def measure_two_cases(run: Run) -> Measured:
    """Where ℓ has its maximum, by formula and on a grid; and the picture."""
    alpha = np.logspace(-2, 4, 2001)
    found: Measured = {"picture": run.key}
    with picture(run.picture(run.key), 1, 2, (8, 3)) as axes:
        for ax, (name, (s, q2)) in zip(axes[0], CASES.items(), strict=True):
            values = gain(alpha, s, q2)
            ax.plot(alpha, values, color=BLUE)
            ax.axhline(0, color=GREY, lw=0.8, ls=":")
            best = s**2 / (q2 - s) if q2 > s else math.inf
            if math.isfinite(best):
                ax.plot(best, gain(np.asarray(best), s, q2), "o", color=ORANGE)
                ax.annotate(
                    f"  maximum at α = s²/(q² − s) = {best:g}", (best, gain(np.asarray(best), s, q2)), va="bottom"
                )
            else:
                ax.annotate("maximum as α → ∞ ", (alpha[-1], -0.01), ha="right", va="top", color=ORANGE)
            ax.set(xscale="log", xlabel="α", ylabel="ℓ(α), nats", title=f"{name}  (s = {s:g}, q² = {q2:g})")
            ax.set_ylim(min(-0.6, values.max() - 0.8), max(0.1, values.max() + 0.12))
            grid = float(alpha[np.argmax(values)])
            found[name] = {"formula": best if math.isfinite(best) else None, "grid": grid}
    return found


def show_two_cases(found: Measured) -> Shown:
    """The two curves."""
    low = found["q² > s"]
    text = (
        "ℓ(α), what a function adds to the log evidence: one maximum at a finite α if q² > s, and none, the "
        "function being better not selected, if q² ≤ s. The printed figure gives no values of s and q; these are "
        f"s = 1 and q² = 3 and 0.9. On a grid of 2001 values the maximum is at α = {low['grid']:.3f} (formula: "
        f"{low['formula']:.3f}) and at its upper end."
    )
    return Shown("a curve in two cases", "redrawn", f"{image(found['picture'], 'the two cases of ℓ(α)')}\n\n{text}")


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Two columns with inner product 0.9, and t such that α = (1, 1) is stationary at σ² = 1."""
    Phi = np.array([[1.0, OVERLAP], [0.0, math.sqrt(1 - OVERLAP**2)]])
    C = np.eye(2) / BETA + Phi @ Phi.T / ALPHA
    S = float(Phi[:, 0] @ np.linalg.solve(C, Phi[:, 0]))
    direction = Phi[:, 0] - Phi[:, 1]
    Q = float(Phi[:, 0] @ np.linalg.solve(C, direction))
    return Phi, direction * math.sqrt(S) / Q


def state_at(Phi: np.ndarray, t: np.ndarray, alpha: np.ndarray) -> State:
    """The posterior at these α, the noise given as 1."""
    quadratic = DenseQuadratic(float(len(t)), float(t @ t), Phi.T @ t, Phi.T @ Phi)
    problem = Problem(quadratic, Uniform(), GaussianNoise(BETA, estimate=False), np.ones(Phi.shape[1]))
    return problem.start(np.arange(Phi.shape[1]), alpha, BETA)


def measure_stationary(run: Run) -> Measured:
    """What each α alone, the Hessian, the certificate and the solvers say of the point; and the evidence around it."""
    Phi, t = overlapping()
    state = state_at(Phi, t, np.full(2, ALPHA))
    certificate = certify(state)
    gradient, hessian = gradient_and_hessian(state, False)
    solved = {
        name: matrix_fit(Phi, t, solver=name, noise_variance=1 / BETA)
        for name in ("active-set", "sequential", "mackay")
    }
    draw_stationary(run, Phi, t)
    return {
        "best_alpha": state.best_alpha,
        "gradient": float(np.abs(gradient).max()),
        "eigenvalues": np.linalg.eigvalsh(hessian),
        "certified": certificate.is_local_maximum,
        "step": certificate.log_alpha_step,
        "evidence": state.evidence,
        "solved": {
            name: [result.log_evidence, len(result.active), bool(result.certificate.is_local_maximum)]
            for name, result in solved.items()
        },
    }


def draw_stationary(run: Run, Phi: np.ndarray, t: np.ndarray) -> None:
    """The evidence over both log α, and along both diagonals through the point."""
    steps = np.linspace(-2.5, 2.5, 81)
    surface = [[state_at(Phi, t, np.exp([a, b])).evidence for a in steps] for b in steps]
    centre = state_at(Phi, t, np.ones(2)).evidence
    along = [state_at(Phi, t, np.exp([a, a])).evidence - centre for a in steps]
    axis = [state_at(Phi, t, np.exp([a, 0.0])).evidence - centre for a in steps]
    with picture(run.picture("ft02-stationary"), 1, 2, (9.4, 3.6)) as axes:
        left: Any = axes[0, 0]
        contours = left.contourf(steps, steps, np.asarray(surface) - centre, 16, cmap="viridis")
        left.figure.colorbar(contours, ax=left, label="log evidence above the point, nats")
        left.plot(0, 0, "o", color=ORANGE, label="every α at its own maximum")
        left.set(xlabel="log α₁", ylabel="log α₂", title="two columns with inner product 0.9", aspect="equal")
        left.legend(loc="upper right", facecolor="white", frameon=True, framealpha=0.85)
        axes[0, 1].plot(steps, axis, color=BLUE, label="along log α₁ alone")
        axes[0, 1].plot(steps, along, color=ORANGE, label="along log α₁ = log α₂")
        axes[0, 1].axhline(0, color=GREY, lw=0.8, ls=":")
        axes[0, 1].set(
            xlabel="log α₁",
            ylabel="log evidence above the point, nats",
            title="maximum along one α, minimum along both",
        )
        axes[0, 1].legend()


def show_stationary(found: Measured) -> Shown:
    """The counterexample."""
    low, high = found["eigenvalues"]
    rows = [
        ["the stationary point", f"{found['evidence']:.4f}", "2", "no" if not found["certified"] else "yes"],
        *([name, f"{e:.4f}", f"{n}", "yes" if ok else "no"] for name, (e, n, ok) in found["solved"].items()),
    ]
    body = "\n\n".join(
        [
            image("ft02-stationary", "a stationary point that is no maximum"),
            "Section 3.4.2 of the paper argues that a point at which every α has its own maximum is a joint "
            "maximum. It need not be [SE07, 3.2]. Two unit columns with inner product 0.9, σ² = 1, α = (1, 1), "
            "and t along φ₁ − φ₂, of the length at which Q² = S: the best value of each α, the other fixed, is "
            f"{found['best_alpha'][0]:.6f} and {found['best_alpha'][1]:.6f}, the gradient is "
            f"{found['gradient']:.0e}, and the eigenvalues of the Hessian in log α are {low:.3f} and {high:+.3f}. "
            "Updates of one α at a time stay there for ever. The certificate says so by the sign of its largest "
            "eigenvalue (`hessian_eigenvalue` of `certificate_`), and `is_local_maximum` is False. "
            "`tests/test_paper_algorithms.py` holds it.",
            table(["end", "log evidence", "functions", "certified as a maximum"], rows),
        ]
    )
    return Shown("“cannot be a saddle point”", f"an eigenvalue of {high:+.2f}: it can, and is detected", body)


ITEMS = [
    Item("ft02-figure-1", ("Figure 1",), measure_two_cases, show_two_cases),
    Item("ft02-hessian", ("Section 3.4.2, a saddle point",), measure_stationary, show_stationary),
]
