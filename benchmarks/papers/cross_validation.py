"""Settings chosen by cross-validation on the training parts of a few splits.

Fits of folds and splits are independent and may take long. If the environment variable SPARSEBAYES_CACHE names
a folder, their results are stored there, and an interrupted run resumes where it was. Clear the folder after a
change of the library: only the arguments and these functions are compared.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

FOLDS = 5
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # training X, y and test X, y
Score = tuple[int, float]  # held-out errors and log loss; smaller tuples are better

remembered = Memory(os.environ.get("SPARSEBAYES_CACHE"), verbose=0).cache


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """A fitted copy; whether it converged is a column of the table, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def held_out_score(model: Any, X: np.ndarray, y: np.ndarray, seed: int, fold: int) -> Score:
    """Errors, and log loss if there are probabilities, on one held-out fold."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    train, test = list(folds)[fold]
    machine = fitted(model, X[train], y[train])
    errors, loss = int(np.sum(machine.predict(X[test]) != y[test])), 0.0
    if hasattr(machine, "predict_proba"):
        loss = float(log_loss(y[test], machine.predict_proba(X[test])[:, 1], normalize=False))
    return errors, loss


def scores(grid: Sequence[Any], splits: Sequence[Split]) -> np.ndarray:
    """Held-out errors and log loss, (splits, models, 2); all models have the same folds of a split."""
    jobs = [
        (model, X, y, seed, fold) for seed, (X, y, _, _) in enumerate(splits) for model in grid for fold in range(FOLDS)
    ]
    flat = Parallel()(delayed(remembered(held_out_score))(*job) for job in jobs)
    return np.reshape(flat, (len(splits), len(grid), FOLDS, 2)).sum(axis=2)


def median_of_best(grid: Sequence[Any], splits: Sequence[Split]) -> Any:
    """The median, parameter by parameter, of the settings with the fewest errors on each split.

    A tie is broken by the log loss or, without one, by the place in the grid.
    """
    best = [grid[min(range(len(grid)), key=lambda k: tuple(of[k]))] for of in scores(grid, splits)]
    names = [name for name in ("gamma", "C") if name in grid[0].get_params()]
    medians = {name: float(np.median([getattr(model, name) for model in best])) for name in names}
    return clone(grid[0]).set_params(**medians)


def totals(models: Sequence[Any], splits: Sequence[Split]) -> list[Score]:
    """Held-out errors and log loss of each model over all splits, for settings that have no median."""
    return [(int(errors), float(loss)) for errors, loss in scores(models, splits).sum(axis=0)]
