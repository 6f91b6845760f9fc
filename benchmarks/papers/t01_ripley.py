"""[T01] Figure 3: a hundred of Ripley's 250 points, by support and relevance vectors with Gaussian kernels.

Gaussian kernel of width r = 0.5, prior uniform, an intercept; C of the support vector machine by 5-fold
cross-validation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.common import table
from benchmarks.papers import data
from benchmarks.papers.cells import Cell, with_error
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import classifier, quietly, svc
from benchmarks.papers.pictures import BLACK, BLUE, GREEN, ORANGE, image, picture

GAMMA = 0.5**-2
COSTS = {"C": np.logspace(-1, 3, 9)}
DRAWS, SUBSET, PICTURED = 20, 100, 0


def subset(load: Any, seed: int) -> tuple[np.ndarray, ...]:
    """A hundred training points, and all test points."""
    X, y, X_test, y_test = load.ripley()
    rows = np.random.default_rng(seed).permutation(len(y))[:SUBSET]
    return X[rows], y[rows], X_test, y_test


def machines(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, tuple[Any, np.ndarray]]:
    """Both classifiers and the numbers of their vectors."""
    ours = quietly(lambda: classifier("rbf", gamma=GAMMA).fit(X, y))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    theirs = quietly(lambda: GridSearchCV(svc(gamma=GAMMA), COSTS, cv=folds).fit(X, y)).best_estimator_
    return {"SVM": (theirs, theirs.support_), "RVM": (ours, ours.relevance_)}


def one(load: Any, seed: int) -> Measured:
    """Errors in per cent and vectors."""
    X, y, X_test, y_test = subset(load, seed)
    return {
        name: [100 * float(np.mean(model.predict(X_test) != y_test)), len(vectors)]
        for name, (model, vectors) in machines(X, y, seed).items()
    }


def measure(run: Run) -> Measured:
    """Several subsets, and a picture of one."""
    try:
        load = data.loader()
    except data.Missing as reason:
        return {"skipped": str(reason)}
    found = {"draws": run.part("draws", lambda: [one(load, seed) for seed in range(run.draws(1, DRAWS))])}
    X, y, X_test, y_test = subset(load, PICTURED)
    grid = np.stack(np.meshgrid(np.linspace(-1.4, 1.2, 121), np.linspace(-0.35, 1.25, 121)), axis=-1)
    with picture(run.picture("t01-figure-3"), 1, 2, (9, 3.9), sharey=True) as axes:
        for ax, (name, (model, vectors)) in zip(axes[0], machines(X, y, PICTURED).items(), strict=True):
            f = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
            ax.contour(grid[..., 0], grid[..., 1], f, levels=[0.0], colors=BLACK, linestyles="--", linewidths=1)
            for label, marker, colour in ((-1, "x", BLUE), (1, ".", GREEN)):
                ax.plot(*X[y == label].T, marker, ms=5, color=colour, label=f"class {1 if label < 0 else 2}")
            ax.plot(*X[vectors].T, "o", ms=9, mfc="none", color=ORANGE, label="vectors")
            error = 100 * np.mean(model.predict(X_test) != y_test)
            ax.set(title=f"{name}: {len(vectors)} vectors, test error {error:.1f} %", xlabel="x₁")
        axes[0, 0].set_ylabel("x₂")
        axes[0, 1].legend(loc="lower right", frameon=True)
    return found


def show(found: Measured) -> Shown:
    """Figure 3."""
    if "skipped" in found:
        return Shown("RVM 9.3 %, 4 vectors", "skipped", f"Skipped: {found['skipped']}.")
    draws = found["draws"]
    columns = {name: list(zip(*[draw[name] for draw in draws], strict=True)) for name in ("RVM", "SVM")}
    rows = [["printed, one draw", "RVM", "9.3", "4", ""], ["printed, one draw", "SVM", "10.6", "38", ""]]
    rows += [["mean", name, *(with_error(list(c)) for c in columns[name]), str(len(draws))] for name in ("RVM", "SVM")]
    text = (
        "100 of Ripley's 250 training points at random, Gaussian kernel of r = 0.5, uniform prior, C of the "
        "support vector machine by 5-fold cross-validation; the 1000 test points. Which points the paper drew is "
        "not known. The dashed line is the decision boundary."
    )
    errors, vectors = columns["RVM"]
    cells = [
        Cell("T01 figure 3, test error in %", 9.3, list(errors), rounding=0.05),
        Cell("T01 figure 3, vectors", 4, list(vectors), rounding=0.5),
    ]
    body = "\n\n".join(
        [image("t01-figure-3", "T01 figure 3"), text, table(["", "", "error %", "vectors", "draws"], rows)]
    )
    return Shown("9.3 %, 4 vectors (SVM 10.6 %, 38)", f"{np.mean(errors):.1f} %, {np.mean(vectors):.1f}", body, cells)


ITEM = Item("t01-figure-3", ("Figure 3",), measure, show)
