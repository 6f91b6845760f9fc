"""Linear regressions under each prior, and under "auto", which chooses between two of them by the evidence.

Few of 200 columns matter, all of them do, or their weights decay; columns of real data and their products. The error of
each prior is divided by that of the best of "uniform", "aic", "bic" and "ric" on the same split. The rule of "auto" was
chosen on the first draws and splits; what is reported is on others. Writes benchmarks/results/priors.md.

    python -m benchmarks.accuracy.priors
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from benchmarks.common import real_data, report, rmse, table
from sparsebayes import SparseBayesRegressor

PRIORS = ("uniform", "aic", "bic", "ric", "auto")
TRAIN, TEST = 600, 1000  # most rows of real data
MOST_COLUMNS = 700
SEEDS, SPLITS = range(1000, 1004), range(7, 11)
UCI = ("concrete", "energy", "power", "kin8nm")

Split = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def sparse(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 200 columns, in blocks of ten with correlation 0.3, of which six matter; 1000 more to predict."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(0.7) * rng.standard_normal((n + TEST, 200))
    X += np.sqrt(0.3) * rng.standard_normal((n + TEST, 20)).repeat(10, axis=1)
    weights = np.zeros(200)
    weights[rng.choice(200, 6, replace=False)] = rng.choice([-1, 1], 6) * rng.uniform(0.5, 2, 6)
    return X, X @ weights + rng.standard_normal(n + TEST)


def dense(n: int, p: int, seed: int, decay: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows of p independent columns that all matter, the j-th with a weight of order 1/j if they decay."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(p) * (1 / np.arange(1, p + 1) if decay else 0.3)
    X = rng.standard_normal((n + TEST, p))
    return X, X @ weights + (0.5 if decay else 1.0) * rng.standard_normal(n + TEST)


def made_up() -> Iterator[Split]:
    """Problems whose weights are known to be few, many, or to decay."""
    for n in (210, 300, 400, 800, 2000):
        for seed in SEEDS:
            X, y = sparse(n, seed)
            yield f"6 of 200 columns, {n} rows", X[:n], y[:n], X[n:], y[n:]
    sizes = [(60, 20, False), (100, 20, False), (200, 50, False), (400, 200, False), (1000, 200, False)]
    for n, p, decay in [*sizes, (100, 20, True), (400, 200, True), (1000, 200, True)]:
        for seed in SEEDS:
            X, y = dense(n, p, seed, decay)
            yield f"{'decaying' if decay else 'all'} {p} columns, {n} rows", X[:n], y[:n], X[n:], y[n:]


def real() -> Iterator[Split]:
    """Columns of real data, and their products of up to three."""
    data = real_data()
    sets = {name: data.uci(name, 0) for name in UCI}
    rows = {name: (np.concatenate(each[::2]), np.concatenate(each[1::2])) for name, each in sets.items()}
    rows |= {"boston": data.boston(), "diabetes": load_diabetes(return_X_y=True)}
    for degree in (1, 2, 3):
        for name, (X, y) in rows.items():
            for split in SPLITS:
                order = np.random.default_rng(split).permutation(len(y))
                n = min(len(y) * 4 // 5, TRAIN)
                train, test = order[:n], order[n : n + TEST]
                products = PolynomialFeatures(degree, include_bias=False)
                steps = make_pipeline(StandardScaler(), products, StandardScaler()).fit(X[train])
                A = steps.transform(X[train])
                if A.shape[1] <= MOST_COLUMNS:
                    label = f"{name}, {A.shape[1]} columns, {n} rows"
                    yield label, A, y[train], steps.transform(X[test]), y[test]


def main() -> None:
    """Fit every split with every prior, and write the page."""
    warnings.simplefilter("ignore")
    found: dict[str, list[list[tuple[float, float, int]]]] = {}
    for problem in (made_up, real):
        for label, X, y, queries, truth in problem():
            row = []
            for prior in PRIORS:
                model = SparseBayesRegressor(prior=prior).fit(X, y)
                low, high = model.predict_interval(queries, level=0.95)
                covered = float(np.mean((low <= truth) & (truth <= high)))
                row.append((rmse(model.predict(queries), truth), covered, len(model.relevance_)))
            found.setdefault(label, []).append(row)
    rows, ratios, covers = [], [], []
    for label, runs in found.items():
        errors, coverage, sizes = np.moveaxis(np.asarray(runs), 2, 0)
        ratio = (errors / errors[:, :4].min(axis=1, keepdims=True)).mean(axis=0)
        ratios.append(ratio)
        covers.append(coverage.mean(axis=0))
        cells = [f"{each:.3f}" for each in ratio]
        rows.append([label, *cells, f"{coverage.mean(axis=0)[-1]:.2f}", f"{sizes.mean(axis=0)[-1]:.0f}"])
        print(rows[-1], flush=True)
    summary = [
        ["geometric mean", *(f"{each:.3f}" for each in np.exp(np.log(ratios).mean(axis=0))), "", ""],
        ["worst", *(f"{each:.3f}" for each in np.max(ratios, axis=0)), f"{np.min(covers, axis=0)[-1]:.2f}", ""],
    ]
    head = ["problem", *PRIORS, "covered by auto", "columns of auto"]
    note = (
        "Root mean square error over that of the best of the first four, on the same split: mean of 4 draws or splits "
        "that the rule was not chosen on. Covered: share of the targets in the 95 % interval."
    )
    report("priors", "Linear regressions under each prior", [note, table(head, rows + summary)])


if __name__ == "__main__":
    main()
