"""Many well separated classes, the digits of scikit-learn: this package beside SVC and logistic regression.

python -m benchmarks.accuracy.separated_classes
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.common import number, report, table
from sparsebayes import Laplace, RelevanceVectorClassifier, SparseBayesClassifier

ROWS = 800  # for training
SPLITS = (1, 2, 3)  # the scale 10 was chosen on split 0
MODELS: dict[str, Callable[[], Any]] = {
    "RelevanceVectorClassifier()": RelevanceVectorClassifier,
    "RelevanceVectorClassifier(prior=Laplace(3.0))": lambda: RelevanceVectorClassifier(prior=Laplace(3.0)),
    'RelevanceVectorClassifier(gamma="scale")': lambda: RelevanceVectorClassifier(gamma="scale"),
    'RelevanceVectorClassifier(gamma="scale", prior=Laplace(10.0))': lambda: RelevanceVectorClassifier(
        gamma="scale", prior=Laplace(10.0)
    ),
    "SparseBayesClassifier()": SparseBayesClassifier,
    "SparseBayesClassifier(prior=Laplace(1.0))": lambda: SparseBayesClassifier(prior=Laplace(1.0)),
    "SVC()": SVC,
    "LogisticRegression(max_iter=5000)": lambda: LogisticRegression(max_iter=5000),
}


def measured(make: Callable[[], Any], split: int) -> tuple[float, float, float, float]:
    """Errors in percent, log loss, functions or vectors, and seconds of one fit."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=ROWS, random_state=split, stratify=y)
    with threadpool_limits(1):
        start = time.perf_counter()
        model = make().fit(X_train, y_train)
    seconds = time.perf_counter() - start
    errors = 100 * float(np.mean(model.predict(X_test) != y_test))
    loss = log_loss(y_test, model.predict_proba(X_test)) if hasattr(model, "predict_proba") else np.nan
    kept = model.support_ if hasattr(model, "support_") else getattr(model, "relevance_", None)
    return errors, loss, np.nan if kept is None else len(kept), seconds


def main() -> None:
    """Measure, and write benchmarks/results/separated_classes.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows = []
    for name, make in MODELS.items():
        errors, loss, kept, seconds = np.mean([measured(make, split) for split in SPLITS], axis=0)
        rows.append([f"`{name}`", number(kept, ".0f"), f"{errors:.1f}", number(loss, ".3f"), f"{seconds:.2f}"])
        print(*rows[-1], flush=True)
    words = (
        f"The digits of scikit-learn, ten classes, 64 inputs from 0 to 1: {ROWS} rows for training, {1797 - ROWS} for "
        f"the test, means over {len(SPLITS)} splits. Functions are relevance or support vectors, or columns."
    )
    head = ["model", "functions", "errors %", "log loss", "seconds"]
    report("separated_classes", "Many well separated classes", [words, table(head, rows)])


if __name__ == "__main__":
    main()
