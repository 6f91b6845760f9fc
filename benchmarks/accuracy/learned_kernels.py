"""Kernels with learned scales on real data, beside an SVR grid and a Gaussian process.

T01 4.3 and Friedman #1 are items of benchmarks.papers.

The real data are not part of the package: their loader (load.py) is looked for in the folder named by the
environment variable SPARSEBAYES_DATA, else in ../shared/data beside the repository. All of it takes hours on
one core; --keep FILE stores every measurement and resumes from there, --sets does less.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as Covariance
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from benchmarks.common import number, report, rmse, table
from sparsebayes import RelevanceVectorRegressor

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = ("concrete", "energy", "kin8nm", "power")
SPLITS = 5
MOST = 2000  # rows of the grid search and of the Gaussian process
Measured = dict[str, Any]


def svr_grid(X: np.ndarray, y: np.ndarray) -> GridSearchCV:
    """C, γ and ε by 5-fold cross-validation; inputs and target are of unit variance."""
    d = X.shape[1]
    grid = {"C": [1, 10, 100], "gamma": [0.25 / d, 1 / d, 4 / d], "epsilon": [0.01, 0.1]}
    return GridSearchCV(SVR(), grid, cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)


def standardised(load: Any, name: str, split: int) -> tuple[np.ndarray, ...]:
    """Training and test data, inputs and target in units of the training rows; and the unit of the target."""
    X, y, X_test, y_test = load.uci(name, split)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread[spread == 0] = 1.0
    middle, unit = y.mean(), y.std()
    return (X - mean) / spread, (y - middle) / unit, (X_test - mean) / spread, (y_test - middle) / unit, unit


def scores(y: np.ndarray, mean: np.ndarray, std: np.ndarray, unit: float) -> Measured:
    """RMSE and negative log predictive density, in the units of the data."""
    loss = 0.5 * np.mean(np.log(2 * np.pi * std**2) + ((y - mean) / std) ** 2) + np.log(unit)
    return {"rmse": rmse(mean, y) * float(unit), "nlpd": float(loss)}


def ours(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, unit: float, some: Any) -> Measured:
    """Defaults and gamma="ard", all rows; the density with the other variances as well."""
    start = time.process_time()
    model = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    seconds = time.process_time() - start
    mean, std = model.predict(X_test, return_std=True)
    found = scores(y_test, mean, std, unit) | {"seconds": seconds, "vectors": len(model.relevance_)}
    found["posterior"] = scores(y_test, mean, np.sqrt(std**2 - model.excess_variance_), unit)["nlpd"]
    for variance in ("augmented", "gp"):
        other = RelevanceVectorRegressor(gamma="ard", variance=variance).fit(X, y)
        found[variance] = scores(y_test, *other.predict(X_test, return_std=True), unit)["nlpd"]
    return found


def grid(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, unit: float, some: Any) -> Measured:
    """The grid search on at most 2000 rows, then one fit to all rows."""
    start = time.process_time()
    search = svr_grid(X[some], y[some])
    machine = SVR(**search.best_params_).fit(X, y)
    seconds = time.process_time() - start
    errors = {"rmse": rmse(machine.predict(X_test), y_test), "few": rmse(search.predict(X_test), y_test)}
    return {k: v * float(unit) for k, v in errors.items()} | {
        "seconds": seconds,
        "vectors": len(machine.support_),
    }


def process(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, unit: float, some: Any) -> Measured:
    """A Gaussian process with a width for each input and noise, on at most 2000 rows."""
    d = X.shape[1]
    kernel = ConstantKernel() * Covariance(np.full(d, np.sqrt(d)), (1e-2, 1e5)) + WhiteKernel(0.1)
    start = time.process_time()
    model = GaussianProcessRegressor(kernel).fit(X[some], y[some])
    seconds = time.process_time() - start
    found = scores(y_test, *model.predict(X_test, return_std=True), unit)
    return found | {"seconds": seconds, "vectors": len(some)}


METHODS: dict[str, Callable[..., Measured]] = {
    "sparsebayes": ours,
    "SVR grid": grid,
    "Gaussian process": process,
}


class Kept:
    """Measurements by name, in a file if one is given; with `as_is` no real data are measured."""

    def __init__(self, path: Path | None, as_is: bool = False) -> None:
        self.path, self.as_is = path, as_is
        self.values: dict[str, Measured] = json.loads(path.read_text()) if path and path.exists() else {}

    def splits(self, name: str) -> list[int]:
        """The splits of a set that are reported."""
        known = [k for k in range(SPLITS) if all(f"{name} {k} {method}" in self.values for method in METHODS)]
        return known if self.as_is else list(range(SPLITS))

    def get(self, name: str, measure: Callable[..., Measured], *at: Any) -> Measured:
        """The measurement of that name; `measure(*at)` makes it if it has not been made."""
        if name not in self.values:
            self.values[name] = measure(*at)
            print(name, self.values[name], file=sys.stderr, flush=True)
            if self.path:
                self.path.write_text(json.dumps(self.values))
        return self.values[name]


def table_real(kept: Kept, load: Any, sets: list[str]) -> str:
    """Means over the splits, and ratios to the other methods."""
    rows, ratios = [], []
    for name in sets:
        means = {}
        for method, measure in METHODS.items():
            found = [
                kept.get(f"{name} {split} {method}", run, load, measure, name, split) for split in kept.splits(name)
            ]
            means[method] = {key: np.nanmean([each[key] for each in found]) for key in found[0]}
        mine, machine, gp = means.values()
        for method, mean in means.items():
            rows.append(
                [
                    f"{name}, {len(kept.splits(name))} splits",
                    method,
                    f"{mean['rmse']:.4g}",
                    f"{mean['nlpd']:.3f}" if "nlpd" in mean else "",
                    f"{mean['vectors']:.0f}",
                    number(mean["seconds"], ".0f"),
                ]
            )
        ratios.append(
            [
                name,
                f"{mine['rmse'] / machine['rmse']:.3f}",
                f"{mine['rmse'] / machine['few']:.3f}",
                f"{mine['nlpd'] - gp['nlpd']:+.3f}",
                f"{mine['posterior'] - gp['nlpd']:+.3f}",
                f"{mine['augmented'] - gp['nlpd']:+.3f}",
                f"{mine['gp'] - gp['nlpd']:+.3f}",
                number(mine["seconds"] / machine["seconds"], ".2f"),
            ]
        )
    ratios.append(["target", "≤ 1", "", "≤ 0.1", "", "", "", "≤ 1"])
    head = ["set", "method", "RMSE", "NLPD", "vectors", "CPU seconds"]
    ratio_head = [
        "set",
        "RMSE / SVR's",
        f"RMSE / SVR's on {MOST} rows",
        "NLPD − GP's",
        'same, variance="posterior"',
        'same, variance="augmented"',
        'same, variance="gp"',
        "time / grid's",
    ]
    text = (
        f"Means over the first {SPLITS} splits, or as many as are named; CPU seconds over those on which "
        f"they were measured. Inputs and target are standardised by the training rows, for all methods. "
        f'sparsebayes: all rows, defaults and gamma="ard". SVR: C, γ and ε by 5-fold cross-validation on at '
        f"most {MOST} rows, then one fit to all rows. Gaussian process: a width for each input and noise, on "
        f"at most {MOST} rows."
    )
    return f"## Real data\n\n{text}\n\n" + table(head, rows) + "\n\n" + table(ratio_head, ratios)


def run(load: Any, measure: Callable[..., Measured], name: str, split: int) -> Measured:
    """One method on one split; all methods that are given part of the rows are given the same part."""
    data = standardised(load, name, split)
    some = np.random.default_rng(split).permutation(len(data[1]))[:MOST]
    return measure(*data, some)


def loader() -> Any:
    """The module load.py of the data folder, or the end of the program."""
    path = Path(os.environ.get("SPARSEBAYES_DATA", DATA)) / "load.py"
    if not path.exists():
        sys.exit(f"No benchmark data in {path.parent}: name their folder by SPARSEBAYES_DATA.")
    spec = importlib.util.spec_from_file_location("load", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Measure, print, write benchmarks/results/learned_kernels.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS, help="real data (default all)")
    parser.add_argument("--keep", type=Path, help="file of measurements to resume from")
    parser.add_argument("--as-is", action="store_true", help="report the real data in that file as they are")
    given = parser.parse_args()
    kept = Kept(given.keep, given.as_is)
    note = "T01 4.3 and Friedman #1 are in [docs/papers.md](../../docs/papers.md)."
    report("learned_kernels", "Kernels with learned scales", [note, table_real(kept, loader(), given.sets)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # warnings of libsvm and L-BFGS are not the result
    with threadpool_limits(1):
        main()
