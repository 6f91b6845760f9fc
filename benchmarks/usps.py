"""USPS digits: ten classes, one softmax model over all 7291 training images, beside SVC + Platt.

Images are centred and scaled to unit length, row by row. The data are not part of the project: `--data` is a
folder whose `load.py` has `usps()`.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import report, table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from sparsebayes import ActiveSet, RelevanceVectorClassifier

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
BINS = 15


def load(folder: Path) -> tuple[np.ndarray, ...]:
    """Training images and labels, test images and labels."""
    path = folder / "load.py"
    if not path.exists():
        raise SystemExit(f"There is no {path}: give the folder of the data with --data.")
    spec: Any = importlib.util.spec_from_file_location("load", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    X, y, X_test, y_test = module.usps()
    return unit_rows(X), y, unit_rows(X_test), y_test


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Every image less its mean, of unit length."""
    X = X - X.mean(axis=1, keepdims=True)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Expected calibration error: |confidence − accuracy| in bins of confidence, weighted by their size."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [
        abs(confidence[bins == k].mean() - right[bins == k].mean()) * (bins == k).mean()
        for k in range(BINS)
        if (bins == k).any()
    ]
    return float(sum(gaps))


def support_vectors(model: Any) -> int:
    """How many training images the machine behind the sigmoids keeps."""
    return int(model.calibrated_classifiers_[0].estimator.support_.size)


def row(name: str, model: Any, vectors: Any, data: tuple[np.ndarray, ...]) -> list[str]:
    """Fit, and say what it cost and gave."""
    X, y, X_test, y_test = data
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    p = model.predict_proba(X_test)
    return [
        name,
        f"{100 * np.mean(p.argmax(axis=1) != y_test):.2f} %",
        str(vectors(model)),
        f"{log_loss(y_test, p):.4f}",
        f"{calibration_error(p, y_test):.4f}",
        f"{seconds:.0f} s",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB",
    ]


def main() -> None:
    """Measure, print, write benchmarks/results/usps.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=None, help="only so many training images")
    parser.add_argument("--gamma", type=float, default=2.0)
    options = parser.parse_args()
    X, y, X_test, y_test = load(options.data)
    data = (X[: options.rows], y[: options.rows], X_test, y_test)
    machine = RelevanceVectorClassifier(gamma=options.gamma, solver=ActiveSet(exchanges=0))
    platt = CalibratedClassifierCV(SVC(gamma=options.gamma, C=10.0), ensemble=False)
    rows = [
        row("RelevanceVectorClassifier, softmax", machine, lambda m: len(m.relevance_), data),
        row(
            "SVC, C = 10, + Platt",
            platt,
            lambda m: m.calibrated_classifiers_[0].estimator.support_.size,
            data,
        ),
    ]
    printed = [
        ["RVM in print [T01, 4.4.2], ten machines", "5.1 %", "316", *["–"] * 4],
        ["SVM in print", "4.4 %", "2540", *["–"] * 4],
    ]
    head = ["model", "test error", "vectors", "log loss", "calibration error", "fit", "peak memory so far"]
    note = f"{len(data[0])} training images, Gaussian kernel, gamma = {options.gamma:g}, unit length."
    report("usps", "USPS digits", [note, table(head, rows + printed)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
