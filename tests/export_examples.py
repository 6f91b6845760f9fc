"""Models that tests export, and queries near, far and at training points."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from basis_examples import ALL, random_problem

from sparsebayes import (
    RBF,
    Columns,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparsityWarning,
    ThinPlateSpline,
)
from sparsebayes.bases import BoundBasis
from sparsebayes.export.description import Regression, Regressions, Spread
from sparsebayes.export.functions import functions_of

REFUSED = ("Kernel(", "Precomputed", "transformer", "Wavelet", "DCT", "Spike")  # those without a formula
EXPORTABLE = [basis for basis in ALL if not any(word in repr(basis) for word in REFUSED)]
NO_FORMULA = [basis for basis in ALL if basis not in EXPORTABLE]


@dataclass(frozen=True, eq=False)
class Example:
    """Functions with random weights, as a model, and what it predicts."""

    description: Regressions
    basis: BoundBasis
    queries: np.ndarray
    mean: np.ndarray
    std: np.ndarray


def example_of(basis: Any, seed: int) -> Example:
    """Two outputs of nine functions of a basis, out of order."""
    rng = np.random.default_rng(seed)
    problem = random_problem(basis, seed)
    bound = basis.bind(problem.train)
    chosen = rng.permutation(bound.n_functions)[:9]
    bound = bound.select(chosen.tolist())
    X = np.concatenate([problem.train, problem.test, 20 * problem.test])
    W, b, scales = rng.uniform(0.5, 1.0, (len(chosen), 2)), rng.normal(size=2), np.asarray([0.5, 2.0])
    centre, root = rng.normal(size=len(chosen)), np.tril(rng.normal(size=(len(chosen), len(chosen))))
    model = Regression(functions_of(bound, X.shape[1]), W, b, scales, Spread(centre, root, 0.3))
    Phi = bound(X)
    std = np.sqrt(np.sum(((Phi - centre) @ root) ** 2, axis=1) + 0.3)[:, None] * scales
    return Example(Regressions((model,), np.arange(2)), bound, X, Phi @ W + b, std)


def _nearly_interpolated(X: np.ndarray, y: np.ndarray) -> RelevanceVectorRegressor:
    """A model that goes almost through its targets, where what a new function adds is a small difference."""
    kernel = ThinPlateSpline(width=[0.5, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparsityWarning)
        return RelevanceVectorRegressor(kernel, variance="augmented", noise_variance=1e-6).fit(X, y)


@cache
def regressors() -> dict[str, tuple[Any, np.ndarray]]:
    """Fitted regressors by name, with queries."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0.2, 3.0, (50, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.2 * rng.standard_normal(50)
    Y, queries = np.column_stack([y, X[:, 0] - y]), np.concatenate([X[:9], 2 * X[:9], 30 * X[:3]])
    models = {
        "kernel": RelevanceVectorRegressor(gamma="scale").fit(X, y),
        "learned": RelevanceVectorRegressor(gamma="ard").fit(X, y),
        "augmented": RelevanceVectorRegressor(gamma=0.3, variance="augmented").fit(X, y),
        "nearly interpolated": _nearly_interpolated(X, y),
        "no intercept": RelevanceVectorRegressor(gamma=0.3, variance="augmented", fit_intercept=False).fit(X, y),
        "parts": RelevanceVectorRegressor(RBF() + Columns(2)).fit(X, y),
        "outputs": RelevanceVectorRegressor(gamma=0.5).fit(X, Y),
        "separate": RelevanceVectorRegressor(gamma=0.5, joint=False).fit(X, Y),
        "columns": SparseBayesRegressor().fit(X, y),
        "columns of outputs": SparseBayesRegressor().fit(X, Y),
        "known noise": RelevanceVectorRegressor(gamma=0.5).fit(X, y, noise_variance=np.full(50, 0.04)),
    }
    return {name: (model, queries) for name, model in models.items()}


@cache
def classifiers() -> dict[str, tuple[Any, np.ndarray]]:
    """Fitted classifiers by name, with queries."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2, 2, (90, 2))
    r = np.hypot(X[:, 0], X[:, 1]) + 0.1 * rng.standard_normal(90)
    two, many = np.where(r < 1.2, 'in "quotes"\n', "out ü"), np.digitize(r, [0.9, 1.6]) - 3
    queries = np.concatenate([X[:9], 1.5 * X[:9], 30 * X[:3]])
    models = {}
    for name, y in (("two", two), ("many", many)):
        models |= {
            f"{name}, kernel": RelevanceVectorClassifier(gamma="scale").fit(X, y),
            f"{name}, learned": RelevanceVectorClassifier(gamma="evidence").fit(X, y),
            f"{name}, not moderated": RelevanceVectorClassifier(gamma=0.5, moderated=False).fit(X, y),
            f"{name}, not calibrated": RelevanceVectorClassifier(gamma="evidence", calibrated=False).fit(X, y),
            f"{name}, parts": RelevanceVectorClassifier(RBF() + Columns(2)).fit(X, y),
            f"{name}, columns": SparseBayesClassifier().fit(X, y),
        }
    return {name: (model, queries) for name, model in models.items()} | _certain()


def _certain() -> dict[str, tuple[Any, np.ndarray]]:
    """Classifiers and queries so far from the boundaries that probabilities vanish."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 1))
    noisy, found = X[:, 0] + 0.05 * rng.normal(size=400), {}
    for name, bounds in (("two", [0.0]), ("many", [-1.0, 1.0])):
        model = SparseBayesClassifier().fit(X, np.digitize(noisy, bounds))
        found[f"{name}, certain"] = (model, np.asarray([[-3e3], [0.1], [2e3]]))
    return found
