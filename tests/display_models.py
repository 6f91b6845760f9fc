"""Small fitted models that several tests of displays share; each is fitted once."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
)

NAMES = ["depth", "width", "age", "load"]


def inputs(n=60, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, (n, 4))


def targets(X, seed=0):
    noise = np.random.default_rng(seed + 1).standard_normal(len(X))
    return 2 * X[:, 0] - X[:, 1] + np.sin(2 * X[:, 2]) + 0.2 * noise


def outputs(X):
    return np.column_stack([targets(X), 3 * targets(X, 7) + X[:, 3]])


def labels(X, classes=2):
    score = X[:, 0] - X[:, 1] + 0.5 * np.random.default_rng(2).standard_normal(len(X))
    return np.asarray(["low", "middle", "top"])[[0, 2]][(score > 0).astype(int)] if classes == 2 else _three(score)


def _three(score):
    return np.asarray(["low", "middle", "top"])[np.searchsorted([-0.8, 0.8], score)]


def table(X):
    return pd.DataFrame(X, columns=NAMES)


REGRESSORS = {
    "columns": lambda: SparseBayesRegressor(),
    "kernel": lambda: RelevanceVectorRegressor(gamma="ard"),
    "pipeline": lambda: make_pipeline(StandardScaler(), SparseBayesRegressor()),
}
CLASSIFIERS = {
    "columns": lambda: SparseBayesClassifier(),
    "kernel": lambda: RelevanceVectorClassifier(gamma="ard"),
    "pipeline": lambda: make_pipeline(StandardScaler(), RelevanceVectorClassifier(gamma=0.2)),
}


@cache
def regressor(kind):
    X = inputs()
    return REGRESSORS[kind]().fit(table(X), targets(X))


@cache
def joint_regressor(kind, joint=True):
    X = inputs()
    model = REGRESSORS[kind]()
    return model.set_params(joint=joint).fit(table(X), outputs(X))


@cache
def classifier(kind, classes=2):
    X = inputs(90)
    return CLASSIFIERS[kind]().fit(table(X), labels(X, classes))


@cache
def recovery(snapshots=1, joint=True, as_complex=False):
    rng = np.random.default_rng(3)
    Phi, w = rng.standard_normal((40, 60)), np.zeros((60, snapshots), dtype=complex if as_complex else float)
    w[[3, 20]] = 1 + np.arange(2 * snapshots).reshape(2, snapshots)
    if as_complex:
        Phi, w = Phi * np.exp(2j * np.pi * rng.uniform(size=Phi.shape)), w * (1 - 2j)
    y = Phi @ w + 0.1 * rng.standard_normal((40, snapshots))
    return SparseRecovery(joint=joint).fit(Phi, y[:, 0] if snapshots == 1 else y)
