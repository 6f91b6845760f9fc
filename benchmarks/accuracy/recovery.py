"""Sparse recovery with all defaults, beside its peers: fewer measurements than atoms, the noise unknown.

    python -m benchmarks.accuracy.recovery            # the tables; half an hour on one core
    python -m benchmarks.accuracy.recovery --quick    # few draws, printed and not kept

Atoms are Gaussian columns of unit norm. OMP is given the true number of atoms, which nothing else here knows.
fastrvm takes square matrices alone and is given rows of zeros below the others.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import (
    ARDRegression,
    LassoLarsCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
)

from benchmarks.common import report, table
from sparsebayes import ActiveSet, SparseBayesRegressor
from sparsebayes.solvers.active_set.search import DEFAULT

DRAWS, QUICK = 20, 3
FIRST_SEED = 7000  # none of them was used to choose a setting
SUCCESS = 1e-2  # of ‖w‖²: the squared error below which a signal counts as recovered
NOTE = (
    "Success: the share of draws with ‖ŵ−w‖²/‖w‖² < 0.01. Seconds are processor time, the mean of a fit. "
    '"Not relaxed" is the same solver without its start from the rich models of the uniform prior. '
    "fastrvm takes square matrices alone, and is given rows of zeros below the others."
)

Method = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Family:
    """Random problems of one kind.

    rows, atoms, spikes : N, M and k.  noise : σ.  signs : whether amplitudes are ±1, else Gaussian.
    """

    rows: int
    atoms: int
    spikes: int
    noise: float
    signs: bool

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Φ (N, M), y (N,) and the true weights (M,)."""
        rng = np.random.default_rng([seed, self.rows, self.atoms, self.spikes])
        Phi = rng.standard_normal((self.rows, self.atoms))
        Phi /= np.linalg.norm(Phi, axis=0)
        w, J = np.zeros(self.atoms), rng.choice(self.atoms, self.spikes, replace=False)
        w[J] = rng.choice([-1.0, 1.0], self.spikes) if self.signs else rng.standard_normal(self.spikes)
        return Phi, Phi @ w + self.noise * rng.standard_normal(self.rows), w


@dataclass(frozen=True)
class Outcome:
    """What one fit recovered: relative error, atoms in the model, true atoms among them, seconds."""

    error: float
    size: int
    found: int
    seconds: float


def _default(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return SparseBayesRegressor().fit(Phi, y).coef_


def _without(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return SparseBayesRegressor(solver=ActiveSet(effort=replace(DEFAULT, relaxed=False))).fit(Phi, y).coef_


def _omp(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(Phi, y).coef_


def _omp_cv(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return OrthogonalMatchingPursuitCV(max_iter=len(y) // 2).fit(Phi, y).coef_


def _lasso(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return LassoLarsCV().fit(Phi, y).coef_


def _ard(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return ARDRegression().fit(Phi, y).coef_


def _fastrvm(Phi: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """The weights of fastrvm's RVR with its defaults; its kernel must be square, so rows of zeros are added."""
    from fastrvm import RVR  # a peer that need not be installed

    rows, atoms = Phi.shape
    model = RVR(kernel="precomputed").fit(np.pad(Phi, ((0, atoms - rows), (0, 0))), np.pad(y, (0, atoms - rows)))
    weights = np.zeros(atoms)
    weights[model.relevance_] = np.ravel(model.dual_coef_)
    return weights


METHODS: dict[str, Method] = {
    "sparsebayes": _default,
    "sparsebayes, not relaxed": _without,
    "OMP, true k": _omp,
    "OMP, CV": _omp_cv,
    "LassoLarsCV": _lasso,
    "ARDRegression": _ard,
    "fastrvm": _fastrvm,
}


def outcome(method: Method, family: Family, seed: int) -> Outcome:
    """What a method recovers of one draw."""
    Phi, y, w = family.draw(seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = method(Phi, y, family.spikes)
    seconds, J = time.process_time() - began, np.flatnonzero(estimate)
    error = float(np.linalg.norm(estimate - w) / np.linalg.norm(w))
    return Outcome(error, len(J), len(np.intersect1d(J, np.flatnonzero(w))), seconds)


def spikes(family: Family, draws: int) -> str:
    """Error, size and atoms found of each method on one family."""
    rows = []
    for name, method in METHODS.items():
        outcomes = [outcome(method, family, FIRST_SEED + k) for k in range(draws)]
        means = np.mean([[each.error, each.found, each.size, each.seconds] for each in outcomes], axis=0)
        worst = max(each.error for each in outcomes)
        rows.append([name, *(f"{x:{form}}" for x, form in zip(means, (".4f", ".1f", ".1f", ".2f"), strict=True))])
        rows[-1].insert(2, f"{worst:.4f}")
        print(rows[-1], flush=True)
    return table(("method", "relative error", "largest", "true atoms found", "atoms", "seconds"), rows)


def success(families: list[Family], draws: int) -> str:
    """The share of draws that each method recovers, a column for each family."""
    rows = []
    for name, method in METHODS.items():
        cells, seconds = [], []
        for family in families:
            outcomes = [outcome(method, family, FIRST_SEED + k) for k in range(draws)]
            cells.append(f"{np.mean([each.error**2 < SUCCESS for each in outcomes]):.2f}")
            seconds += [each.seconds for each in outcomes]
        rows.append([name, *cells, f"{np.mean(seconds):.2f}"])
        print(rows[-1], flush=True)
    return table(("method", *(f"k = {family.spikes}" for family in families), "seconds"), rows)


def main() -> None:
    """Measure, print, and write benchmarks/results/recovery.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few draws, printed and not kept")
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    draws = QUICK if options.quick else options.draws
    sections = [f"{draws} draws of each problem, all defaults, the noise estimated. {NOTE}"]
    parts: list[tuple[str, Callable[[], str]]] = [
        (
            "512 atoms, 120 measurements, 20 spikes ±1, σ = 0.005",
            lambda: spikes(Family(120, 512, 20, 0.005, True), draws),
        ),
        (
            "200 atoms, 100 measurements, k Gaussian amplitudes, σ = 0.003: success",
            lambda: success([Family(100, 200, k, 0.003, False) for k in (30, 40, 45, 50, 55)], draws),
        ),
        (
            "The same with amplitudes ±1",
            lambda: success([Family(100, 200, k, 0.003, True) for k in (10, 15, 20, 25, 30, 35, 40)], draws),
        ),
    ]
    for title, measure in parts:
        sections += [f"## {title}", measure()]
        report("recovery", "Sparse recovery", sections, keep=not options.quick)


if __name__ == "__main__":
    main()
