"""[T01] Figure 10: the log-odds of two overlapping uniform classes, by a relevance and a support vector machine.

1000 examples, class +1 uniform in [0, 1], class −1 in [0.5, 1.5]; Gaussian kernel of width 0.1; an intercept.
Priors: uniform, and Laplace of scale 1 on the weights. Support vector machine with C = 1, its output scaled as in
print.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common import table
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import classifier, quietly, svc
from benchmarks.papers.pictures import BLUE, GREEN, GREY, ORANGE, image, picture
from sparsebayes import Laplace

GAMMA = 0.1**-2
N, LIMIT = 1000, 7.0
PRIORS: dict[str, Any] = {"uniform": "uniform", "Laplace": Laplace(1.0)}
COLOURS = {"uniform": BLUE, "Laplace": GREEN}


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n/2 examples of each class."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(0, 1, n // 2), rng.uniform(0.5, 1.5, n // 2)])[:, None]
    return X, np.repeat([1, -1], n // 2)


def measure(run: Run) -> Measured:
    """Log-odds inside and outside the overlap, and the largest weights."""
    X, y = drawn(N if run.full else 200)
    x = np.linspace(0.0, 1.5, 601)[:, None]
    inside = (x[:, 0] > 0.55) & (x[:, 0] < 0.95)
    found: Measured = {}
    with picture(run.picture("t01-figure-10"), 1, 1, (7, 3.8)) as axes:
        ax = axes[0, 0]
        ax.step(
            [0, 0.5, 0.5, 1.0, 1.0, 1.5], [9, 9, 0, 0, -9, -9], color=GREY, lw=3, alpha=0.6, label="correct log-odds"
        )
        for name, prior in PRIORS.items():
            model = quietly(lambda prior=prior: classifier("rbf", gamma=GAMMA, prior=prior).fit(X, y))
            f = model.decision_function(x)
            ax.plot(x[:, 0], np.clip(f, -3 * LIMIT, 3 * LIMIT), color=COLOURS[name], label=f"RVM y(x), {name} prior")
            weights = float(np.abs(model.dual_coef_).max())
            error = 100 * float(np.mean(model.predict(X) != y))
            found[name] = [
                float(np.sqrt(np.mean(f[inside] ** 2))),
                float(np.abs(f).max()),
                weights,
                len(model.relevance_),
                error,
            ]
        machine = svc(gamma=GAMMA, C=1.0).fit(X, y)
        f = machine.decision_function(x)
        scale = 3.0 / np.abs(f).max()
        ax.plot(x[:, 0], scale * f, color=ORANGE, label="SVM y(x), scaled")
        error = 100 * float(np.mean(machine.predict(X) != y))
        found["SVM"] = [float(np.sqrt(np.mean((scale * f[inside]) ** 2))), 3.0, None, len(machine.support_), error]
        ax.set(ylim=(-LIMIT, LIMIT), xlim=(0.3, 1.2), xlabel="x", ylabel="log-odds of class +1")
        ax.set_title("class +1 uniform in [0, 1], class −1 in [0.5, 1.5]")
        ax.legend(loc="upper right")
    return found


def show(found: Measured) -> Shown:
    """Figure 10, and what a user should do."""
    rows = [
        [
            name if name == "SVM" else f"RVM, {name} prior",
            f"{inside:.2f}",
            f"{largest:.3g}",
            "–" if weight is None else f"{weight:.2g}",
            f"{n}",
            f"{error:.1f}",
        ]
        for name, (inside, largest, weight, n, error) in found.items()
    ]
    text = (
        "1000 examples, Gaussian kernel of width 0.1, an intercept; the correct log-odds are 0 between 0.5 and 1 "
        "and infinite outside, where the classes do not overlap. RMS is that of y(x) for x in (0.55, 0.95). As in "
        "print the relevance vector machine follows the log-odds, and the support vector machine, whose output "
        "says nothing of probabilities, cannot by any scaling. Where classes are separated the most probable "
        f"weights have no bound: the uniform prior ends with a weight of {found['uniform'][2]:.1g}, which is "
        f"rounding and not information, while `prior=Laplace(1.0)` ends with {found['Laplace'][2]:.2g} and nearly "
        "the same decisions. If parts of the input space have one class alone, and probabilities or exported "
        "weights matter, use the Laplace prior ([classification.md](classification.md))."
    )
    head = [
        "",
        "RMS log-odds in the overlap (correct: 0)",
        "largest log-odds",
        "largest weight",
        "vectors",
        "training error % (Bayes: 25)",
    ]
    body = "\n\n".join([image("t01-figure-10", "T01 figure 10, log-odds"), text, table(head, rows)])
    return Shown("RVM near the log-odds, SVM not", f"RMS {found['uniform'][0]:.2f} in the overlap (correct: 0)", body)


ITEM = Item("t01-figure-10", ("Figure 10",), measure, show)
