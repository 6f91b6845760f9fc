"""Compare this package with a support vector machine, a Gaussian process and boosting on a table, by cross-validation.

The peers are scikit-learn's; they get the same encoded columns, standardised. What they lack for a log score is
supplied: the standard deviation of a support vector machine's or booster's residuals in an inner cross-validation.
"""

from __future__ import annotations

import argparse
import io
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.cli.console import Console
from sparsebayes.cli.data import Task, add_table_arguments, add_target_arguments, table_of, task_of
from sparsebayes.cli.fitting import add_model_arguments, estimator_of
from sparsebayes.cli.peers import Competitor, competitors
from sparsebayes.export import save
from sparsebayes.summaries.numbers import alike
from sparsebayes.tables import MissingValueWarning, TableEncoder

LONGEST = 200  # characters of the message of a peer
SMALLEST_STD, TINY = 1e-12, 1e-150  # of a prediction, in units of the largest target; so that none is zero
SMALLEST_PROBABILITY = 1e-15  # of a class, in a log score


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes compare`."""
    add_table_arguments(command)
    add_target_arguments(command)
    add_model_arguments(command)
    command.add_argument("--folds", type=int, default=3, help="of the cross-validation (default 3)")


@dataclass(frozen=True)
class Score:
    """How one model did: averages over the folds, seconds of a fit, bytes of the fitted model; NaN if it failed."""

    model: str
    error: float
    log_score: float
    seconds: float
    bytes: float


def run(arguments: Any, console: Console) -> None:
    """Fit every model on every fold and print the table."""
    task = task_of(arguments, table_of(arguments))
    folds = _folds(task, arguments.folds)
    own = Competitor("sparsebayes", lambda X, y: estimator_of(arguments, task.classify).fit(X, y), _stored_bytes)
    scores = [_score(own, task, arguments, folds)]
    for competitor in competitors(task.classify):
        console.note(f"sparsebayes: fitting {competitor.name}")
        scores.append(_score_of_peer(competitor, task, arguments, folds))
    console.put(task=task.name, rows=len(task.y), folds=len(folds), models=[vars(score) for score in scores])
    console.text(_table(scores, "error rate" if task.classify else "RMSE"))


def _folds(task: Task, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= count <= len(task.y) // 2:
        raise ValueError(f"--folds must lie between 2 and {len(task.y) // 2} for {len(task.y)} rows, got {count}.")
    if task.classify and np.unique(task.y, return_counts=True)[1].min() < count:
        raise ValueError(f"every class must have at least {count} rows, one per fold; use fewer --folds.")
    splitter = (StratifiedKFold if task.classify else KFold)(count, shuffle=True, random_state=0)
    return list(splitter.split(task.frame, task.y))


def _score_of_peer(
    competitor: Competitor, task: Task, arguments: Any, folds: list[tuple[np.ndarray, np.ndarray]]
) -> Score:
    """The score of a peer; NaN and a warning if it cannot be fitted to this table."""
    try:
        return _score(competitor, task, arguments, folds)
    except (ValueError, ArithmeticError) as error:
        reason = str(error).strip().splitlines()[0][:LONGEST]
        warn(f"{competitor.name} cannot be fitted to this table: {reason}")
        return Score(competitor.name, np.nan, np.nan, np.nan, np.nan)


def _score(competitor: Competitor, task: Task, arguments: Any, folds: list[tuple[np.ndarray, np.ndarray]]) -> Score:
    errors, log_scores, seconds, sizes = [], [], [], []
    for train, test in folds:
        encoder = TableEncoder(task.target, tuple(arguments.drop), arguments.max_categories)
        X = encoder.fit_transform(task.frame.iloc[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingValueWarning)  # which the log scores show
            queries, y = encoder.transform(task.frame.iloc[test]), task.y[test]
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers that do not converge
            model = competitor.fit(X, task.y[train])
        seconds.append(time.perf_counter() - began)
        sizes.append(competitor.size(model))
        error, log_score = (_of_classes if task.classify else _of_numbers)(model, queries, y)
        errors.append(error)
        log_scores.append(log_score)
    error = float(np.mean(errors)) if task.classify else float(np.sqrt(np.mean(np.square(errors))))
    return Score(competitor.name, error, float(np.mean(log_scores)), float(np.mean(seconds)), int(np.mean(sizes)))


def _of_classes(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Error rate and mean log probability of the true class."""
    P = model.predict_proba(X)
    own = P[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.mean(model.classes_[np.argmax(P, axis=1)] != y)), float(
        np.mean(np.log(np.maximum(own, SMALLEST_PROBABILITY)))
    )


def _of_numbers(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Root mean squared error and mean log predictive density."""
    mean, std = model.predict(X, return_std=True)
    std = np.maximum(std, SMALLEST_STD * (float(np.abs(y).max()) + TINY))  # constant targets have none
    z = (y - mean) / std
    return float(np.sqrt(np.mean((y - mean) ** 2))), float(np.mean(-0.5 * z**2 - np.log(std) - 0.5 * np.log(2 * np.pi)))


def _stored_bytes(model: Any) -> int:
    file = io.BytesIO()
    save(model, file)
    return len(file.getvalue())


def _table(scores: list[Score], error: str) -> str:
    lines = [f"{'model':26s} {error:>12s} {'log score':>10s} {'fit (s)':>9s} {'size (kB)':>10s}"]
    lines += [
        f"{s.model:26s} {each:>12s} {s.log_score:10.3f} {s.seconds:9.2f} {s.bytes / 1000:10.1f}"
        if np.isfinite(s.seconds)
        else f"{s.model:26s} {'failed':>12s}"
        for s, each in zip(scores, alike([s.error for s in scores]), strict=True)
    ]
    return "\n".join(lines) + "\nlog score: mean log probability (density) of the held-out targets, higher is better"
