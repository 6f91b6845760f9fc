"""Estimators with every kernel there is, on inputs that kernels may break on; words and sequences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sparsebayes import NoiseCollapseWarning, RelevanceVectorClassifier, RelevanceVectorRegressor, SparsityWarning
from sparsebayes.bases import (
    KERNEL_NAMES,
    RBF,
    KernelSum,
    Linear,
    Matern,
    MultiScale,
    Periodic,
    RationalQuadratic,
)

WORDS = [name for name in KERNEL_NAMES if name != "precomputed"]
OBJECTS = [
    Periodic(period=4.0),
    Matern(nu=1.5),
    RBF() * Periodic(4.0),
    KernelSum([RBF(), Linear()]),
    MultiScale(RationalQuadratic()),
]
every_kernel = pytest.mark.parametrize("kernel", [*WORDS, *OBJECTS], ids=str)
hard = pytest.mark.parametrize("case", ["units", "constant", "identical", "more inputs than rows"])


def hard_data(case: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(case))
    n, d = (8, 20) if case == "more inputs than rows" else (40, 3)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)
    if case == "units":
        X *= [1.0, 1e-6, 1e4]
    if case == "constant":
        X[:, 1] = 7.0
    if case == "identical":
        X[:, 2] = X[:, 0]
    return X, y


@every_kernel
@hard
def test_regression_is_finite(kernel, case):
    X, y = hard_data(case)
    with warnings.catch_warnings():  # eight rows in twenty inputs can be reproduced
        warnings.simplefilter("ignore", NoiseCollapseWarning)
        warnings.simplefilter("ignore", SparsityWarning)  # a rough kernel on forty rows
        model = RelevanceVectorRegressor(kernel).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert np.isfinite(model.log_evidence_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # identical rows leave alpha undetermined
@every_kernel
@hard
def test_classification_is_finite(kernel, case):
    X, y = hard_data(case)
    model = RelevanceVectorClassifier(kernel).fit(X, y > np.median(y))
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.log_evidence_)


def test_sequences_by_their_numbers_and_by_their_matrix():
    """A kernel of strings: as a callable of the numbers of the rows, and precomputed."""
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), p=p, size=30)) for p in [[0.4, 0.3, 0.2, 0.1]] * 40 + [[0.25] * 4] * 40]
    labels = np.repeat(["biased", "fair"], 40)
    counts = np.array([[string.count(letter) for letter in "abcd"] for string in strings], dtype=float)
    K = counts @ counts.T

    def by_number(rows, centres):
        return K[np.ix_(rows[:, 0].astype(int), centres[:, 0].astype(int))]

    numbers = np.arange(80)[:, None]
    called = RelevanceVectorClassifier(by_number).fit(numbers[::2], labels[::2])
    given = RelevanceVectorClassifier("precomputed").fit(K[::2, ::2], labels[::2])
    np.testing.assert_array_equal(called.predict(numbers), given.predict(K[:, ::2]))
    assert called.score(numbers[1::2], labels[1::2]) > 0.7


@pytest.mark.parametrize(("seed", "gamma"), [(5, 3e-14), (6, 3e-14), (23, 1e-14), (37, 1e-14)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_functions_that_differ_by_rounding_alone_are_pruned(seed, gamma):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (60, 2))
    y = X.sum(axis=1) + 0.1 * rng.standard_normal(60)
    model = RelevanceVectorRegressor(gamma=gamma, max_iter=300).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
