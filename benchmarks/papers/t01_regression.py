"""[T01] The tables of section 4.4.1: sinc, Friedman's functions and Boston housing, beside libsvm's regression.

Kernel: Gaussian, one width r in units of √d times the standard deviation of the inputs (sinc: of x itself). Prior
uniform, noise estimated, an intercept. r, and C, r and ε of the support vector machine, by 5-fold cross-validation on
the training parts of the first five draws, as T01 chooses its width; then all draws with what was chosen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.papers import data
from benchmarks.papers.items import Item, Measured, Run
from benchmarks.papers.models import quietly, regressor, svr
from benchmarks.papers.t01_regression_page import COUNT, show
from sparsebayes.datasets import make_friedman, make_sinc, sinc

Draw = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # training X and y, test X and the function or targets
CHOOSING, FOLDS = 5, 5
QUICK = ("sinc, Gaussian noise", "Friedman #2")  # sets of the quick mode
SINC_WIDTHS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
WIDTHS = tuple(float(2.0**k) for k in np.arange(-0.5, 3.5, 0.5))  # r/√d on standardised inputs
COSTS, TUBES = (1.0, 10.0, 100.0, 1000.0), (0.05, 0.1, 0.2, 0.4, 0.8)  # of a target of unit variance


class Problem(NamedTuple):
    """A row of the table: its draws, its widths, and whether its error is the root of the mean square."""

    draw: Callable[[int], Draw]
    widths: tuple[float, ...]
    root: bool


def sinc_draw(noise: str) -> Callable[[int], Draw]:
    """100 equally spaced points with noise of size 0.1; 1000 test points of the function itself."""

    def draw(seed: int) -> Draw:
        X, y, _ = make_sinc(100, noise, 0.1, random_state=seed)
        X_test = np.linspace(-10, 10, 1000)[:, None]
        return X, y, X_test, sinc(X_test[:, 0])

    return draw


def friedman_draw(number: int) -> Callable[[int], Draw]:
    """240 points, noise 1 (#1) or a third of the signal's deviation; 1000 test points without noise."""

    def draw(seed: int) -> Draw:
        X, _, f = make_friedman(number, 240, None, random_state=seed)
        sigma = 1.0 if number == 1 else f.std() / 3
        y = f + sigma * np.random.default_rng(seed).standard_normal(240)
        X_test, _, f_test = make_friedman(number, 1000, None, random_state=10_000 + seed)
        return standardised(X, y, X_test, f_test)

    return draw


def boston_draw(seed: int) -> Draw:
    """481 rows for training, 25 for testing."""
    X, y, X_test, y_test = list(data.loader().boston_splits(seed + 1))[seed]
    return standardised(X, y, X_test, y_test)


def standardised(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> Draw:
    """Inputs in units of the training inputs."""
    mean, std = X.mean(axis=0), X.std(axis=0)
    return (X - mean) / std, y, (X_test - mean) / std, y_test


PROBLEMS = {
    "sinc, Gaussian noise": Problem(sinc_draw("gaussian"), SINC_WIDTHS, True),
    "sinc, uniform noise": Problem(sinc_draw("uniform"), SINC_WIDTHS, True),
    "Friedman #2": Problem(friedman_draw(2), WIDTHS, False),
    "Friedman #3": Problem(friedman_draw(3), WIDTHS, False),
    "Boston": Problem(boston_draw, WIDTHS, False),
    "Friedman #1": Problem(friedman_draw(1), WIDTHS, False),
}


def scale(name: str, d: int) -> float:
    """The unit of a width."""
    return 1.0 if name.startswith("sinc") else float(np.sqrt(d))


def held_out(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Mean squared errors of the folds."""
    errors = []
    for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(X):
        model = quietly(lambda train=train: make().fit(X[train], y[train]))
        errors.append(float(np.mean((model.predict(X[test]) - y[test]) ** 2)))
    return errors


def choose(name: str, problem: Problem, draws: int, thin: int) -> Measured:
    """Widths of the relevance vector machine by two rules, and C, ε and width of the support vector machine.

    "simple" is the widest kernel within a standard error of the least error; "learn" says whether a scale for each
    input, learned by the evidence, has a smaller held-out error than the best single width.
    """
    widths = problem.widths[::thin]
    grid = list(product(widths, COSTS[::thin], TUBES[::thin]))
    ours, scales, machine = [], [], []
    for seed in range(draws):
        X, y, _, _ = problem.draw(seed)
        unit, t = scale(name, X.shape[1]), (y - y.mean()) / y.std()
        ours.append(
            [held_out(lambda r=r, unit=unit: regressor("rbf", gamma=(unit * r) ** -2.0), X, y, seed) for r in widths]
        )
        scales.append(held_out(lambda: regressor("rbf", gamma="ard"), X, y, seed))
        each = [held_out(lambda p=p, unit=unit: support(p, unit), X, t, seed) for p in grid]
        machine.append(np.mean(each, axis=1))
    folds = np.asarray(ours).transpose(1, 0, 2).reshape(len(widths), -1)
    means = folds.mean(axis=1)
    best = int(np.argmin(means))
    within = means <= means[best] + folds[best].std(ddof=1) / np.sqrt(folds.shape[1])
    return {
        "best": widths[best],
        "simple": max(r for r, near in zip(widths, within, strict=True) if near),
        "learn": bool(np.mean(scales) < means[best]),
        "svm": grid[int(np.argmin(np.mean(machine, axis=0)))],
    }


def support(setting: tuple[float, float, float], unit: float) -> Any:
    """A support vector machine of that width, C and ε."""
    r, C, tube = setting
    return svr(gamma=(unit * r) ** -2.0, C=C, epsilon=tube)


def error(model: Any, test: list[np.ndarray], root: bool, unit: float = 1.0, shift: float = 0.0) -> float:
    """Mean squared error, or its root, in the units of the data."""
    square = float(np.mean((model.predict(test[0]) * unit + shift - test[1]) ** 2))
    return float(np.sqrt(square)) if root else square


def tested(name: str, problem: Problem, chosen: Measured, draws: int) -> Measured:
    """Errors, vectors and seconds of each method on every draw."""
    found: Measured = {}
    for seed in range(draws):
        X, y, *test = problem.draw(seed)
        unit, spread, middle = scale(name, X.shape[1]), float(y.std()), float(y.mean())
        for rule in ("best", "simple"):
            machine, seconds = timed(regressor("rbf", gamma=(unit * chosen[rule]) ** -2.0), X, y)
            _append(found, rule, error(machine, test, problem.root), len(machine.relevance_), seconds)
        machine, seconds = timed(support(chosen["svm"], unit), X, (y - middle) / spread)
        _append(found, "svm", error(machine, test, problem.root, spread, middle), len(machine.support_), seconds)
    return found


def learned(problem: Problem, draws: int) -> Measured:
    """A scale for each input, learned by the evidence."""
    found: Measured = {}
    for seed in range(draws):
        X, y, *test = problem.draw(seed)
        machine, seconds = timed(regressor("rbf", gamma="ard"), X, y)
        _append(found, "ard", error(machine, test, problem.root), len(machine.relevance_), seconds)
    return found


def printed_algorithm(name: str, problem: Problem, chosen: Measured, draws: int) -> Measured:
    """The best single width by MacKay's updates, the algorithm of the paper."""
    found: Measured = {}
    for seed in range(draws):
        X, y, *test = problem.draw(seed)
        gamma = (scale(name, X.shape[1]) * chosen["best"]) ** -2.0
        machine, seconds = timed(regressor("rbf", gamma=gamma, solver="mackay"), X, y)
        _append(found, "mackay", error(machine, test, problem.root), len(machine.relevance_), seconds)
    return found


def timed(machine: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, float]:
    """A fitted machine and the processor seconds that it took."""
    start = time.process_time()
    quietly(lambda: machine.fit(X, y))
    return machine, time.process_time() - start


def _append(found: Measured, rule: str, error: float, vectors: int, seconds: float) -> None:
    for what, value in (("error", error), ("vectors", vectors), ("seconds", seconds)):
        found.setdefault(rule, {}).setdefault(what, []).append(value)


def measure(run: Run) -> Measured:
    """All rows; Boston is skipped if it is not there."""
    found: Measured = {}
    for name, problem in PROBLEMS.items():
        if not run.full and name not in QUICK:
            continue
        slug = name.replace(" ", "-").replace("#", "").replace(",", "")
        draws = run.draws(1, COUNT)
        try:
            problem.draw(0)
        except data.Missing as reason:
            found[name] = {"skipped": str(reason)}
            continue
        choosing, thin = (CHOOSING, 1) if run.full else (1, 4)
        chosen = run.part(f"choose-{slug}", lambda n=name, p=problem, c=choosing, t=thin: choose(n, p, c, t))
        rows = run.part(f"test-{slug}", lambda n=name, p=problem, c=chosen, d=draws: tested(n, p, c, d))
        rows |= run.part(f"ard-{slug}", lambda p=problem, d=draws: learned(p, d))
        rows |= run.part(f"mackay-{slug}", lambda n=name, p=problem, c=chosen, d=draws: printed_algorithm(n, p, c, d))
        found[name] = {"chosen": chosen, "rows": rows}
    return found


ITEM = Item("t01-table-441", ("Tables of section 4.4.1",), measure, show)
