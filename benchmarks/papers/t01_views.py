"""[T01] Figures 6 to 9: the prior of the weights, and sparsity in two dimensions, computed rather than sketched.

Figure 6: N(0, 1) against the Student-t of Gamma(a, b) with a = b = 0.1 (b sets the scale). Figures 7 and 8: covariance
ellipses of C = σ²I + Σ v vᵀ/α at unit Mahalanobis distance. Figure 9: the ellipses of a Gaussian kernel of three widths
at two points, and, on sinc with noise 0.1, evidence and error against the width.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from benchmarks.common import rmse, table
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import gaussian, quietly, regressor
from benchmarks.papers.pictures import BLACK, BLUE, GREY, ORANGE, image, picture
from sparsebayes.datasets import make_sinc

A, B = 0.1, 0.1
WIDTHS = np.geomspace(0.15, 40, 25)


def log_student(w: np.ndarray) -> np.ndarray:
    """log p(w) with α integrated over Gamma(a, b) [T01, eq. 32]."""
    constant = A * math.log(B) + gammaln(A + 0.5) - 0.5 * math.log(2 * math.pi) - gammaln(A)
    return constant - (A + 0.5) * np.log(B + w**2 / 2)


def measure_prior(run: Run) -> Measured:
    """Figure 6: both priors in two dimensions."""
    w = np.linspace(-3, 3, 241)
    marginal = {"Gaussian": -0.5 * (w**2 + math.log(2 * math.pi)), "Student-t": log_student(w)}
    with picture(run.picture("t01-figure-6"), 1, 2, (9, 4)) as axes:
        for ax, (name, log_p) in zip(axes[0], marginal.items(), strict=True):
            joint = log_p[:, None] + log_p[None, :]
            levels = np.linspace(joint.max() - 6, joint.max() - 0.1, 12)
            drawn = ax.contour(w, w, joint, levels=levels, cmap="viridis")
            ax.set(title=f"{name} prior: log p(w₁, w₂)", xlabel="w₁", ylabel="w₂", aspect="equal")
            ax.figure.colorbar(drawn, ax=ax, label="nats")
    both, one = (2 * marginal["Student-t"][np.argmin(np.abs(w - x))] for x in (math.sqrt(0.5), 0.0))
    spine = marginal["Student-t"][np.argmin(np.abs(w - 1))] + 0.5 * one
    return {"diagonal": float(both), "spine": float(spine)}


def show_prior(found: Measured) -> Shown:
    """Figure 6."""
    gain = found["spine"] - found["diagonal"]
    text = (
        "Left N(0, 1), right the product of Student-t densities that is left when α is integrated over "
        f"Gamma({A:g}, {B:g}) (eq. 32; the paper's a and b are not printed). At distance 1 from the origin the "
        "Gaussian does not care for direction; the Student-t has its mass along the axes: a point on an axis is "
        f"{gain:.2f} nats more probable than one on the diagonal, which is why one of two weights is rather zero."
    )
    return Shown("contours", "redrawn", image("t01-figure-6", "T01 figure 6, priors of two weights") + "\n\n" + text)


def ellipse(C: np.ndarray) -> np.ndarray:
    """Points with xᵀC⁻¹x = 1, (2, 200)."""
    angle = np.linspace(0, 2 * np.pi, 200)
    return np.linalg.cholesky(C) @ np.stack([np.cos(angle), np.sin(angle)])


def log_density(t: np.ndarray, C: np.ndarray) -> float:
    """log N(t | 0, C) in two dimensions."""
    return float(-math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(C)[1] - 0.5 * t @ np.linalg.solve(C, t))


def scene(ax: Any, t: np.ndarray, C: np.ndarray, noise: float, vectors: list[np.ndarray], title: str) -> None:
    """Data, covariance, noise and weighted basis vectors."""
    ax.plot(*ellipse(C), color=BLUE, label="covariance C")
    ax.plot(*ellipse(noise * np.eye(2)), color=GREY, ls="--", lw=1, label="noise σ²")
    for k, v in enumerate(vectors):
        ax.annotate("", v, (0, 0), arrowprops={"arrowstyle": "->", "color": ORANGE})
        ax.plot([], [], color=ORANGE, label="v/√α" if k == 0 else None)
    ax.plot(*t, "x", color=BLACK, ms=9, mew=2, label="data set t")
    ax.set(title=title, aspect="equal", xlim=(-3, 3), ylim=(-3, 3))


def measure_process(run: Run) -> Measured:
    """Figures 7 and 8: a few basis vectors, and one that is better explained as noise."""
    t, noise = np.array([1.6, 1.2]), 0.4
    vectors = [np.array([1.5, 0.9]), np.array([0.9, 1.1]), np.array([-0.5, 0.4]), np.array([0.3, -0.5])]
    C = noise * np.eye(2) + sum(np.outer(v, v) for v in vectors)
    with picture(run.picture("t01-figure-7"), 1, 1, (4.4, 4)) as axes:
        scene(axes[0, 0], t, C, noise, vectors, "a Gaussian process over data sets")
        axes[0, 0].set(xlabel="t₁", ylabel="t₂")
        axes[0, 0].legend(loc="lower right")
    v, low = np.array([-1.8, 0.9]), 0.5
    with_function = low * np.eye(2) + np.outer(v, v)
    alone = math.sqrt(np.linalg.det(with_function)) * np.eye(2)
    found = {"with": log_density(t, with_function), "alone": log_density(t, alone)}
    with picture(run.picture("t01-figure-8"), 1, 2, (8.4, 4), sharey=True) as axes:
        scene(axes[0, 0], t, with_function, low, [v], f"a function and noise: log p(t) = {found['with']:.2f}")
        scene(axes[0, 1], t, alone, float(alone[0, 0]), [], f"noise alone, same |C|: log p(t) = {found['alone']:.2f}")
        for ax in axes[0]:
            ax.set_xlabel("t₁")
        axes[0, 0].set_ylabel("t₂")
        axes[0, 0].legend(loc="lower right")
    return found


def show_process(found: Measured) -> Shown:
    """Figures 7 and 8."""
    text = (
        "Figure 7: two of the N dimensions in which a data set is one point; C is the sum of the noise and of the "
        "functions' outer products. Figure 8: a function that does not point at t wastes density. Both ellipses "
        f"have the same |C|; log p(t) is {found['with']:.2f} with the function and {found['alone']:.2f} with noise "
        "alone, so the function is not selected. The printed figures are sketches without numbers."
    )
    pictures = [image("t01-figure-7", "T01 figure 7"), image("t01-figure-8", "T01 figure 8")]
    return Shown("sketches", f"log p(t) {found['with']:.2f} and {found['alone']:.2f}", "\n\n".join([*pictures, text]))


def measure_width(run: Run) -> Measured:
    """Figure 9, and the same on data: evidence and error against the width."""
    widths = WIDTHS if run.full else WIDTHS[::8]
    X, y, f = make_sinc(100, "gaussian", 0.1, random_state=0)

    def sweep() -> list[list[float]]:
        found = []
        for width in widths:
            model = quietly(lambda width=width: regressor(gaussian(float(width))).fit(X, y))
            found.append([width, model.log_evidence_, rmse(model.predict(X), f), len(model.relevance_)])
        return found

    found = run.part("sweep", sweep)
    columns = np.asarray(found).T
    points, t = np.array([[0.0], [1.0]]), np.array([1.5, 1.2])
    with picture(run.picture("t01-figure-9"), 1, 5, (15, 3.2)) as axes:
        for ax, (name, r) in zip(axes[0], {"narrow": 0.3, "intermediate": 1.6, "wide": 20.0}.items(), strict=False):
            K = np.exp(-((points - points.T) ** 2) / r**2)
            # a kernel that is far wider than the data is no use for a change between them: noise has to explain it
            noise = 0.15 if r < 10 else 1.2
            C = noise * np.eye(2) + (K @ K.T if r < 10 else 0.02 * K @ K.T)
            scene(ax, t, C, noise, [], f"{name}: log p(t) = {log_density(t, C):.2f}")
            ax.set(xlabel="t₁", ylabel="t₂")
        axes[0, 3].semilogx(columns[0], columns[1], color=BLUE)
        axes[0, 3].set(title="sinc: log evidence", xlabel="width r", ylabel="nats")
        axes[0, 4].loglog(columns[0], columns[2], color=ORANGE)
        axes[0, 4].set(title="sinc: RMS error", xlabel="width r")
    return {"sweep": found}


def show_width(found: Measured) -> Shown:
    """Figure 9."""
    sweep = np.asarray(found["sweep"])
    best, least = sweep[np.argmax(sweep[:, 1])], sweep[np.argmin(sweep[:, 2])]
    rows = [[f"{r:.2f}", f"{evidence:.1f}", f"{error:.4f}", f"{n:.0f}"] for r, evidence, error, n in sweep[::3]]
    text = (
        "Left, as in print: for a narrow kernel C is diagonal, for a very wide one the noise has to explain the "
        "data, and between them t is most probable (two points, a sketch). Right, measured: 100 points of sinc "
        f"with noise 0.1, uniform prior, an intercept. The evidence is highest at r = {best[0]:.2f} (RMS error "
        f"{best[2]:.4f}, {best[3]:.0f} vectors), the error smallest at r = {least[0]:.2f} ({least[2]:.4f}): "
        "shrinking the width to zero does not pay."
    )
    body = "\n\n".join(
        [image("t01-figure-9", "T01 figure 9"), text, table(["r", "log evidence", "RMS error", "vectors"], rows)]
    )
    return Shown("a sketch", f"evidence highest at r = {best[0]:.1f}, error least at r = {least[0]:.1f}", body)


ITEMS = [
    Item("t01-figure-6", ("Figure 6",), measure_prior, show_prior),
    Item("t01-figures-7-8", ("Figure 7", "Figure 8"), measure_process, show_process),
    Item("t01-figure-9", ("Figure 9",), measure_width, show_width),
]
