"""[T01] The settings of section 4.4.2 chosen by cross-validation on the training parts of the first five splits.

    python -m benchmarks.papers.t01_choice      # about an hour on one core; prints CHOSEN of t01_classification.py

One width is the median over the splits of the width with the fewest held-out errors (then log loss), out of r/√d = 0.5
to 8 in steps of √2; a width per input, learned by the evidence, is taken if it makes fewer held-out errors than that
one width, on the same folds. C and the width of the support vector machine likewise. No test row is used. If the
environment variable SPARSEBAYES_CACHE names a folder, results are stored there, and an interrupted run resumes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Memory
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.papers import data
from benchmarks.papers.models import classifier, quietly, svc
from benchmarks.papers.t01_classification import CHOSEN, Settings, Split, splits_of

FOLDS, CHOOSING = 5, 5
WIDTHS = 2.0 ** np.arange(-1, 3.5, 0.5)  # r/√d
COSTS = np.logspace(-1, 3, 9)
Score = tuple[int, float]  # held-out errors and log loss; smaller tuples are better

remembered = Memory(os.environ.get("SPARSEBAYES_CACHE"), verbose=0).cache


def held_out_score(model: Any, X: np.ndarray, y: np.ndarray, seed: int, fold: int) -> Score:
    """Errors, and log loss if there are probabilities, on one held-out fold."""
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    machine = quietly(lambda: clone(model).fit(X[train], y[train]))
    errors, loss = int(np.sum(machine.predict(X[test]) != y[test])), 0.0
    if hasattr(machine, "predict_proba"):
        loss = float(log_loss(y[test], machine.predict_proba(X[test])[:, 1], normalize=False))
    return errors, loss


def scores(grid: Sequence[Any], splits: Sequence[Split]) -> np.ndarray:
    """Held-out errors and log loss, (splits, models, 2); all models have the same folds of a split."""
    score = remembered(held_out_score)
    flat = [
        score(model, X, y, seed, fold)
        for seed, (X, y, _, _) in enumerate(splits)
        for model in grid
        for fold in range(FOLDS)
    ]
    return np.reshape(flat, (len(splits), len(grid), FOLDS, 2)).sum(axis=2)


def median_of_best(grid: Sequence[Any], splits: Sequence[Split]) -> Any:
    """The median, parameter by parameter, of the settings with the fewest errors on each split.

    A tie is broken by the log loss or, without one, by the place in the grid.
    """
    best = [grid[min(range(len(grid)), key=lambda k: tuple(of[k]))] for of in scores(grid, splits)]
    names = [name for name in ("gamma", "C") if name in grid[0].get_params()]
    medians = {name: float(np.median([getattr(model, name) for model in best])) for name in names}
    return clone(grid[0]).set_params(**medians)


def chosen(splits: Sequence[Split]) -> Settings:
    """The settings of a set."""
    widths = sorted(WIDTHS * math.sqrt(splits[0][0].shape[1]), reverse=True)
    one = median_of_best([classifier("rbf", gamma=1 / r**2) for r in widths], splits)
    total = scores([one, classifier("rbf", gamma="ard")], splits).sum(axis=0)
    machine = median_of_best([svc(gamma=1 / r**2, C=C) for r in widths for C in COSTS], splits)
    learned = tuple(total[1]) < tuple(total[0])
    return Settings(None if learned else one.gamma**-0.5, machine.gamma**-0.5, machine.C)


def main() -> None:
    """Choose for every set and print."""
    load = data.loader()
    for name in CHOSEN:
        print(name, chosen(splits_of(load, name, CHOOSING)), flush=True)


if __name__ == "__main__":
    main()
