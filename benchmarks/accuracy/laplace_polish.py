"""What `polish` gains: the maximum of Laplace's evidence itself beside α with the curvature held fixed.

    python -m benchmarks.accuracy.laplace_polish [splits] --data FOLDER

FOLDER has ripley_*.csv, pima_*.csv and raetsch/*.npz (points X, labels y, rows `train` and `test` of every split).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from benchmarks.common import report, table
from sparsebayes import RelevanceVectorClassifier

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
WIDTHS = {  # gamma, on standardised inputs; not tuned
    "Ripley": 1.0,
    "Pima": 0.03,
    "banana": 1.0,
    "breast-cancer": 0.05,
    "german": 0.02,
    "titanic": 0.5,
    "waveform": 0.02,
}
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
TEXT = """Classifiers with a Gaussian kernel of fixed width on standardised inputs, the given training and test sets
(Ripley, Pima) or the first {splits} of the splits of Rätsch et al.; means. *Gain* is what `polish=True` gains in log
evidence, and *change* of the log loss what it adds to that of the test set, ± its standard error over splits; negative
is better. Times are those of the processor."""


def splits_of(name: str, folder: Path, splits: int) -> Iterator[Split]:
    """Training and test sets, inputs standardised by the training set."""
    if name in ("Ripley", "Pima"):
        parts = [
            np.loadtxt(folder / f"{name.lower()}_{part}.csv", delimiter=",", skiprows=1) for part in ("train", "test")
        ]
        yield _standardised(parts[0][:, :-1], parts[0][:, -1] > 0, parts[1][:, :-1], parts[1][:, -1] > 0)
        return
    data = np.load(folder / "raetsch" / f"{name}.npz")
    for k in range(splits):
        train, test = data["train"][k], data["test"][k]
        X, y = data["X"], data["y"] > 0
        yield _standardised(X[train], y[train], X[test], y[test])


def _standardised(X: np.ndarray, y: np.ndarray, Q: np.ndarray, labels: np.ndarray) -> Split:
    mean, std = X.mean(axis=0), X.std(axis=0)
    return (X - mean) / std, y, (Q - mean) / std, labels


def measured(split: Split, gamma: float, prior: str, polish: bool) -> list[float]:
    """Log evidence, functions, log loss and seconds of one fit."""
    X, y, Q, labels = split
    start = time.process_time()
    model = RelevanceVectorClassifier(gamma=gamma, prior=prior, polish=polish).fit(X, y)
    seconds = time.process_time() - start
    return [model.log_evidence_, len(model.relevance_), log_loss(labels, model.predict_proba(Q)[:, 1]), seconds]


def row(name: str, folder: Path, splits: int, prior: str) -> list[str]:
    """A row of the table."""
    both = np.asarray(
        [
            [measured(split, WIDTHS[name], prior, polish) for polish in (False, True)]
            for split in splits_of(name, folder, splits)
        ]
    )
    plain, polished = both.mean(axis=0)
    change = both[:, 1, 2] - both[:, 0, 2]
    error = f" ± {change.std(ddof=1) / np.sqrt(len(change)):.4f}" if len(change) > 1 else ""
    return [
        name,
        prior,
        f"{plain[0]:.2f}",
        f"{polished[0] - plain[0]:.3f}",
        f"{plain[1]:.1f}",
        f"{polished[1]:.1f}",
        f"{plain[2]:.4f}",
        f"{change.mean():+.4f}{error}",
        f"{plain[3]:.2f} s",
        f"{polished[3]:.2f} s",
    ]


def main() -> None:
    """Fit every set under two priors, without and with the polish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("splits", type=int, nargs="?", default=5)
    parser.add_argument("--data", type=Path, default=SHARED)
    arguments = parser.parse_args()
    head = ["data", "prior", "log evidence", "gain", "vectors", "polished", "log loss", "change", "fit", "polished"]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row(name, arguments.data, arguments.splits, prior) for prior in ("uniform", "bic") for name in WIDTHS]
    sections = [TEXT.format(splits=arguments.splits), table(head, rows)]
    report("laplace_polish", "The maximum of Laplace's evidence itself", sections)


if __name__ == "__main__":
    main()
