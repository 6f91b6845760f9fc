"""The labelled sets of `benchmarks.accuracy.probabilities`: splits and draws by number, inputs standardised.

Files are those of the folder that `splits_of` of `benchmarks.accuracy.laplace_polish` reads; the other sets are drawn,
or come with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
RARE_ROWS, RARE_TEST, RARE_RATE = 20_000, 200_000, 1e-3


def standardised(X: np.ndarray, y: np.ndarray, Q: np.ndarray, labels: np.ndarray) -> Split:
    """A split with its inputs in units of the spread of the training rows; constant inputs become zero."""
    mean, std = X.mean(axis=0), X.std(axis=0)
    std = np.where(std > 0, std, 1.0)
    return (X - mean) / std, y.astype(int), (Q - mean) / std, labels.astype(int)


def _divided(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> Split:
    """n random training rows, the others for the test."""
    order = np.random.default_rng(seed).permutation(len(y))
    return standardised(X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]])


def from_text(name: str, folder: Path, k: int) -> Split:
    """Ripley's or the Pima set: the published split if k = 0, else rows divided at random in the same sizes."""
    train, test = (np.loadtxt(folder / f"{name}_{part}.csv", delimiter=",", skiprows=1) for part in ("train", "test"))
    if k == 0:
        return standardised(train[:, :-1], train[:, -1] > 0, test[:, :-1], test[:, -1] > 0)
    whole = np.concatenate([train, test])
    return _divided(whole[:, :-1], whole[:, -1] > 0, len(train), k)


def from_archive(name: str, folder: Path, k: int) -> Split:
    """Split k of a set of Rätsch et al."""
    data = np.load(folder / "raetsch" / f"{name}.npz")
    (train, test), X, y = (data["train"][k], data["test"][k]), data["X"], data["y"] > 0
    return standardised(X[train], y[train], X[test], y[test])


def norms(ring: bool, k: int) -> Split:
    """Breiman's twonorm or ringnorm: 20 inputs, 400 training rows and 4000 of test."""
    rng, a = np.random.default_rng([k, int(ring)]), (1 if ring else 2) / np.sqrt(20)
    y = rng.integers(0, 2, 4400)
    X = rng.standard_normal((4400, 20))
    X = np.where(y[:, None] == 1, 2 * X, X + a) if ring else X + np.where(y[:, None] == 1, a, -a)
    return standardised(X[:400], y[:400], X[400:], y[400:])


def tumours(k: int) -> Split:
    """scikit-learn's breast cancer, 200 training rows."""
    return _divided(*load_breast_cancer(return_X_y=True), 200, k)


def three_or_eight(k: int) -> Split:
    """scikit-learn's digits 3 against 8, 150 training rows."""
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return _divided(X[chosen], y[chosen] == 8, 150, k)


def forty_inputs(k: int) -> Split:
    """`make_classification` with 40 inputs of which 5 inform, 400 training rows and 2000 of test."""
    X, y = make_classification(2400, 40, n_informative=5, random_state=k)
    return standardised(X[:400], y[:400], X[400:], y[400:])


def rare(k: int, n: int = RARE_ROWS, fresh: int = RARE_TEST) -> Split:
    """Two inputs, N(0, I); a row of the class 1, of which there is one in a thousand, is moved by (1.5, 1.5)."""
    rng = np.random.default_rng([k, 1000])
    y = np.concatenate([rng.permutation(size) < RARE_RATE * size for size in (n, fresh)]).astype(int)
    X = rng.standard_normal((n + fresh, 2)) + 1.5 * y[:, None]
    return X[:n], y[:n], X[n:], y[n:]


def common_sets(folder: Path) -> dict[str, Callable[[int], Split]]:
    """The sets of part (a) by name, each a function of the number of the split."""
    archives = ("banana", "breast-cancer", "titanic", "waveform", "german", "image")
    return {
        "Ripley": partial(from_text, "ripley", folder),
        "Pima": partial(from_text, "pima", folder),
        **{name: partial(from_archive, name, folder) for name in archives},
    }


def separable_sets() -> dict[str, Callable[[int], Split]]:
    """The nearly separable sets of part (b) by name."""
    return {
        "twonorm": partial(norms, False),
        "ringnorm": partial(norms, True),
        "tumours": tumours,
        "digits 3, 8": three_or_eight,
        "40 inputs": forty_inputs,
    }
