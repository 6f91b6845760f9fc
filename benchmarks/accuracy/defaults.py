"""Regression with all defaults, and with a scale for each input, beside the Gaussian process of scikit-learn.

    python -m benchmarks.accuracy.defaults                        # the tables, on draws that nothing was chosen on
    python -m benchmarks.accuracy.defaults --tune --only concrete # the draws that settings may be chosen on
    python -m benchmarks.accuracy.defaults --gamma ard

Inputs and targets are standardised by the training rows, and the estimator is given no argument (or gamma="ard"). The
process has one RBF width (or one per input), a constant, white noise and three restarts, on the same rows, 1500 of
them at most. Its answers are kept in benchmarks/.cache, since it takes most of the time. Real data are read as in
`benchmarks.accuracy.search`; a set that is not there is skipped.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.common import real_data, report, table
from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman, make_sinc, make_sinc2d

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "benchmarks" / ".cache"
MOST = 1500  # rows of the Gaussian process
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def uci(name: str, split: int, most: int = 10**9) -> Split:
    """A split of a real set, at most so many of its training rows."""
    X, y, X_test, y_test = real_data().uci(name, split)
    rows = np.random.default_rng(split).permutation(len(y))[:most]
    return X[rows], y[rows], X_test, y_test


def boston(seed: int) -> Split:
    """400 rows of 506, and the others."""
    X, y = real_data().boston()
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    return X[order[:400]], y[order[:400]], X[order[400:]], y[order[400:]]


def friedman(number: int, seed: int) -> Split:
    """240 rows, and 1000 more of the same noise."""
    X, y, _ = make_friedman(number, n=1240, random_state=seed)
    return X[:240], y[:240], X[240:], y[240:]


def sinc(seed: int) -> Split:
    """100 equally spaced points with noise 0.1, and 400 others."""
    X, y, _ = make_sinc(100, "gaussian", 0.1, random_state=seed)
    rng = np.random.default_rng(5000 + seed)
    T = rng.uniform(-10, 10, (400, 1))
    return X, y, T, np.sinc(T[:, 0] / np.pi) + 0.1 * rng.standard_normal(400)


def sinc2d(seed: int) -> Split:
    """500 points in two dimensions with noise 0.1, and 1000 others."""
    X, y, _ = make_sinc2d(1500, 0.1, random_state=seed)
    return X[:500], y[:500], X[500:], y[500:]


def modulated(seed: int) -> Split:
    """A fast oscillation of slowly changing height: 240 of 300 samples, noise 0.1."""
    rng, x = np.random.default_rng(seed), np.arange(300.0)
    f = (1 + 0.5 * np.sin(2 * np.pi * x / 97)) * np.sin(2 * np.pi * x / 11)
    y, order = f + 0.1 * rng.standard_normal(300), rng.permutation(300)
    train, test = order[:240], order[240:]
    return x[train, None], y[train], x[test, None], y[test]


def co2(seed: int) -> Split:
    """Weekly CO2 with random weeks to be filled in."""
    x, y = real_data().co2_weekly()
    order = np.random.default_rng(seed).permutation(len(y))
    return x[order[:1500], None], y[order[:1500]], x[order[1500:], None], y[order[1500:]]


def many_inputs(seed: int) -> Split:
    """300 rows of twenty inputs of which two count."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1300, 20))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(1300)
    return X[:300], y[:300], X[300:], y[300:]


@dataclass(frozen=True)
class Set:
    """A data set: how a split is made, how many splits are measured, and whether it needs the real data."""

    make: Callable[[int], Split]
    splits: int
    real: bool = False


SETS = {
    "concrete": Set(lambda s: uci("concrete", s), 10, True),
    "energy": Set(lambda s: uci("energy", s), 13, True),
    "boston": Set(boston, 10, True),
    "kin8nm 1000": Set(lambda s: uci("kin8nm", s, 1000), 2, True),
    "kin8nm 1001": Set(lambda s: uci("kin8nm", s, 1001), 2, True),
    "kin8nm 3000": Set(lambda s: uci("kin8nm", s, 3000), 2, True),
    "power 1000": Set(lambda s: uci("power", s, 1000), 2, True),
    "power 1001": Set(lambda s: uci("power", s, 1001), 2, True),
    "power 3000": Set(lambda s: uci("power", s, 3000), 2, True),
    "friedman 1": Set(lambda s: friedman(1, s), 4),
    "friedman 2": Set(lambda s: friedman(2, s), 4),
    "friedman 3": Set(lambda s: friedman(3, s), 4),
    "sinc": Set(sinc, 5),
    "sinc 2-D": Set(sinc2d, 4),
    "modulated sine": Set(modulated, 17),
    "co2": Set(co2, 2, True),
    "300 x 20": Set(many_inputs, 4),
}
FIRST, TUNED = 5, 3  # the first split that is reported; splits 0, 1, 2 are those to choose settings on


@dataclass(frozen=True)
class Outcome:
    """Sums over the test rows of squared errors, rows within bars and negative log densities; functions, seconds."""

    rows: int
    squared: float
    inside: float
    nlpd: float
    functions: float
    share: float
    seconds: float

    @classmethod
    def of(cls, y: np.ndarray, mean: np.ndarray, std: np.ndarray, functions: int, n: int, seconds: float) -> Outcome:
        """What predictions of y are worth."""
        z = (y - mean) / std
        nlpd = 0.5 * np.log(2 * np.pi * std**2) + 0.5 * z**2
        return cls(
            len(y), float(np.sum((y - mean) ** 2)), float(np.sum(abs(z) < 1.959964)), float(nlpd.sum()),
            functions, functions / n, seconds,
        )  # fmt: skip


def standardised(split: Split) -> Split:
    """Inputs and targets of mean 0 and variance 1 on the training rows."""
    X, y, X_test, y_test = split
    mean, spread, level, size = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()
    spread = np.where(spread > 0, spread, 1.0)
    return (X - mean) / spread, (y - level) / size, (X_test - mean) / spread, (y_test - level) / size


def ours(split: Split, raw: bool = False, **options: Any) -> Outcome:
    """This package, with these arguments and all others at their defaults."""
    X, y, X_test, y_test = standardised(split)
    if raw:
        X, X_test = split[0], split[2]
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RelevanceVectorRegressor(**options).fit(X, y)
        seconds = time.process_time() - began
        mean, std = model.predict(X_test, return_std=True)
    return Outcome.of(y_test, mean, std, len(model.relevance_), len(y), seconds)


def process(name: str, seed: int, split: Split, per_input: bool) -> Outcome:
    """The Gaussian process of scikit-learn, from the cache if it was fitted before."""
    X, y, X_test, y_test = standardised(split)
    X, y = X[:MOST], y[:MOST]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in (X, y, X_test, y_test)))
    path = CACHE / f"{name} {seed} {'ard' if per_input else 'one'} {digest.hexdigest()[:12]}.json".replace(" ", "_")
    if path.exists():
        return Outcome(**json.loads(path.read_text(encoding="utf-8")))
    scale = np.ones(X.shape[1]) if per_input else 1.0
    kernel = ConstantKernel(1.0, (1e-5, 1e7)) * RBF(scale, (1e-3, 1e5)) + WhiteKernel(0.1, (1e-10, 1e2))
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, normalize_y=True, random_state=0).fit(X, y)
        seconds = time.process_time() - began
        mean, std = model.predict(X_test, return_std=True)
    outcome = Outcome.of(y_test, mean, std, len(y), len(y), seconds)
    CACHE.mkdir(exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(outcome.__dict__), encoding="utf-8")
    temporary.replace(path)
    return outcome


def pooled(outcomes: list[Outcome]) -> dict[str, float]:
    """RMSE, coverage and NLPD over the test rows of all splits; means of the rest."""
    rows = sum(each.rows for each in outcomes)
    return {
        "rmse": float(np.sqrt(sum(each.squared for each in outcomes) / rows)),
        "coverage": sum(each.inside for each in outcomes) / rows,
        "nlpd": sum(each.nlpd for each in outcomes) / rows,
        "functions": float(np.mean([each.functions for each in outcomes])),
        "share": float(np.exp(np.mean(np.log([each.share for each in outcomes])))),
        "seconds": float(np.mean([each.seconds for each in outcomes])),
    }


def geometric(values: list[float]) -> float:
    """Their geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def measured(names: list[str], seeds: Callable[[Set], range], gamma: str | None, raw: bool) -> tuple[str, str]:
    """One row per set beside the Gaussian process, and a sentence with the means."""
    lines, ratios, gaps, shares, rough = [], [], [], [], []
    options = {} if gamma is None else {"gamma": gamma}
    for name in names:
        each = SETS[name]
        if each.real and real_data() is None:
            lines.append([name, "skipped: the data are not there", *["–"] * 8])
            continue
        splits = [(seed, each.make(seed)) for seed in seeds(each)]
        us = pooled([ours(split, **options) for _, split in splits])
        gp = pooled([process(name, seed, split, gamma == "ard") for seed, split in splits])
        ratios.append(us["rmse"] / gp["rmse"])
        gaps.append(us["nlpd"] - gp["nlpd"])
        shares.append(us["share"])
        on_raw = np.nan
        if raw:
            on_raw = pooled([ours(split, raw=True, **options) for _, split in splits])["rmse"] / us["rmse"]
            rough.append(on_raw)
        lines.append(
            [
                name, str(len(splits)), f"{us['rmse']:.4f}", f"{gp['rmse']:.4f}", f"{ratios[-1]:.3f}",
                f"{us['coverage']:.3f}", f"{gp['coverage']:.3f}", f"{gaps[-1]:+.3f}", f"{us['functions']:.0f}",
                f"{us['seconds']:.2f}", f"{gp['seconds']:.1f}", f"{on_raw:.3f}" if raw else "–",
            ]
        )  # fmt: skip
        print(*lines[-1], sep="  ", flush=True)
    head = [
        "set",
        "splits",
        "RMSE",
        "GP's",
        "ratio",
        "coverage",
        "GP's",
        "NLPD − GP's",
        "functions",
        "s",
        "GP's",
        "raw",
    ]
    text = (
        f"RMSE beside the Gaussian process's: {geometric(ratios):.3f} in the geometric mean, {max(ratios):.3f} at "
        f"worst. NLPD − the process's: {np.mean(gaps):+.3f} on average. Functions: {geometric(shares):.1%} of the rows "
        "in the geometric mean."
    )
    if rough:
        text += f" RMSE with raw inputs over that with standardised ones: {min(rough):.3f} to {max(rough):.3f}."
    return table(head, lines), text


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of sets, or their beginnings")
    parser.add_argument("--tune", action="store_true", help="the splits that settings may be chosen on")
    parser.add_argument("--gamma", help="another gamma than the default")
    parser.add_argument("--raw", action="store_true", help="raw inputs too")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/defaults.md, both tables")
    given = parser.parse_args()
    names = [name for name in SETS if not given.only or any(name.startswith(word) for word in given.only)]

    def seeds(each: Set) -> range:
        return range(TUNED) if given.tune else range(FIRST, FIRST + each.splits)

    if not given.keep:
        print(*measured(names, seeds, given.gamma, given.raw), sep="\n\n")
        return
    sections = [
        "RMSE in standard deviations of y; coverage of 95 % intervals; NLPD per row; processor seconds of a fit."
    ]
    for title, gamma in (("All defaults", None), ('gamma="ard"', "ard")):
        sections += [f"## {title}", *measured(names, seeds, gamma, True)]
        report("defaults", "Regression with all defaults beside a Gaussian process", sections)


if __name__ == "__main__":
    sys.exit(main())
