"""[T01] USPS digits as printed: ten machines, each digit against the rest, with a plain Gaussian kernel.

T01 names no width; r² = 0.3 · 256 is the usual one for these images (grey values in [−1, 1]). Prior uniform, an
intercept. The class is that of the largest probability. The numbers of vectors are those of all machines together:
training images that are used by any of them, and, as in print, the sum over machines is larger.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.papers.items import Measured, Run
from benchmarks.papers.models import classifier, quietly, svc

SQUARED_WIDTH = 0.3 * 256
COST = 10.0  # C of the support vector machines
CLASSES = 10
FEW = 400  # training images of the quick mode


def machine_of(digit: int, images: tuple[np.ndarray, ...]) -> Measured:
    """One machine of each kind: what it says of the test images, and the training images that it uses."""
    X, y, X_test, _ = images
    start = time.process_time()
    ours = quietly(lambda: classifier("rbf", gamma=1 / SQUARED_WIDTH).fit(X, y == digit))
    seconds = time.process_time() - start
    start = time.process_time()
    theirs = svc(gamma=1 / SQUARED_WIDTH, C=COST).fit(X, y == digit)
    return {
        "f": ours.predict_proba(X_test)[:, 1].tolist(),
        "vectors": ours.relevance_.tolist(),
        "seconds": seconds,
        "svm_f": theirs.decision_function(X_test).tolist(),
        "svm_vectors": theirs.support_.tolist(),
        "svm_seconds": time.process_time() - start,
    }


def measure(run: Run, load: Any) -> Measured:
    """Ten machines, each a part of its own; a tenth of the images in the quick mode."""
    X, y, X_test, y_test = load.usps()
    rows = slice(None) if run.full else slice(FEW)
    images = (X[rows], y[rows], X_test[rows], y_test[rows])
    digits = range(CLASSES) if run.full else range(2)
    parts = [run.part(f"usps-{digit}", lambda k=digit: machine_of(k, images)) for digit in digits]
    found: Measured = {"rows": len(images[3]), "machines": len(parts)}
    for kind, prefix in (("rvm", ""), ("svm", "svm_")):
        scores = np.asarray([part[f"{prefix}f"] for part in parts])
        used = [part[f"{prefix}vectors"] for part in parts]
        found[kind] = {
            "error": 100 * float(np.mean(scores.argmax(axis=0) != images[3])),
            "vectors": len({j for each in used for j in each}),
            "sum": sum(len(each) for each in used),
            "seconds": sum(part[f"{prefix}seconds"] for part in parts),
        }
    return found
