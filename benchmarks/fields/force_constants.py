"""Force constants: sparse Bayesian regression as a fit method of trainstation, beside its own.

One rattled structure of 128 atoms (384 force components), 240 candidate terms: see crystal.py.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import trainstation

from benchmarks.common import rmse, table
from benchmarks.fields.common import figure, publish, save, versions
from benchmarks.fields.crystal import Bonds, crystal, fit_matrix, forces
from sparsebayes.integrations.trainstation import SparseBayesOptimizer, register

RATTLE = 0.1  # Å, standard deviation of the displacements
NOISES = (0.01, 0.05)  # eV/Å, of the forces that are fitted
METHODS: dict[str, dict[str, Any]] = {
    "sparse-bayes": {"fit_method": register()},
    "sparse-bayes, prior='bic'": {"fit_method": register(), "prior": "bic"},
    "ardr": {"fit_method": "ardr"},
    "ardr, line_scan=True": {"fit_method": "ardr", "line_scan": True},
    "lasso (LassoCV)": {"fit_method": "lasso", "n_jobs": 1},
    "rfe": {"fit_method": "rfe", "n_jobs": 1},
    "ridge (RidgeCV)": {"fit_method": "ridge"},
    "least-squares": {"fit_method": "least-squares"},
}
Rows = tuple[np.ndarray, np.ndarray]


def structure(bonds: Bonds, seed: int, rattle: float = RATTLE) -> Rows:
    """The fit matrix (384, terms) and the forces (384,) of one rattled structure."""
    atoms = int(bonds.i.max()) + 1
    moved = rattle * np.random.default_rng(seed).standard_normal((atoms, 3))
    return fit_matrix(bonds, moved), forces(bonds, moved).ravel()


def structures(draws: int) -> list[tuple[Rows, Rows]]:
    """A structure for training and another one for testing, for each draw."""
    bonds = crystal()
    return [(structure(bonds, 2 * seed), structure(bonds, 2 * seed + 1)) for seed in range(draws)]


def noisy(rows: Rows, noise: float, seed: int) -> Rows:
    """The rows with noise of that standard deviation added to the forces."""
    A, y = rows
    return A.copy(), y + noise * np.random.default_rng(1000 + seed).standard_normal(len(y))


def train(make: Callable[..., Any], rows: Rows, **options: Any) -> tuple[Any, float]:
    """The trained optimizer, and the seconds it took."""
    np.random.seed(0)  # trainstation draws its splits from the global generator
    optimizer = make(rows, train_size=1.0, check_condition=False, **options)
    start = time.perf_counter()
    optimizer.train()
    return optimizer, time.perf_counter() - start


def measured(data: list[tuple[Rows, Rows]], noise: float) -> list[list[str]]:
    """One row per method."""
    rows = []
    for name, options in METHODS.items():
        errors, sizes, seconds = [], [], []
        for seed, (training, (A, y)) in enumerate(data):
            optimizer, took = train(trainstation.Optimizer, noisy(training, noise, seed), **options)
            errors.append(1e3 * rmse(A @ optimizer.parameters, y))
            sizes.append(optimizer.n_nonzero_parameters)
            seconds.append(took)
        cells = [f"{np.mean(errors):.1f}", f"{max(errors):.1f}", f"{np.mean(sizes):.0f}", f"{np.mean(seconds):.2f}"]
        rows.append([f"{1e3 * noise:.0f} meV/Å", name, *cells])
    return rows


def draw(data: list[tuple[Rows, Rows]], noise: float = 0.05) -> None:
    """Errors against the size of the model, and the contributions of the terms that were selected."""
    fig, axes = figure(1, 2, (9.8, 3.9), width_ratios=[1, 1.15])
    left, right = axes[0]
    for name in ("sparse-bayes", "ardr", "ardr, line_scan=True", "lasso (LassoCV)", "rfe"):
        points = []
        for seed, (training, (A, y)) in enumerate(data):
            optimizer, _ = train(trainstation.Optimizer, noisy(training, noise, seed), **METHODS[name])
            points.append((optimizer.n_nonzero_parameters, 1e3 * rmse(A @ optimizer.parameters, y)))
        left.plot(*np.transpose(points), "o", label=name, alpha=0.8)
    left.set(xlabel="terms that are not zero", ylabel="test error (meV/Å)", xlim=(0, 245), ylim=(0, None))
    left.set_title(f"noise {1e3 * noise:.0f} meV/Å, five draws")
    left.legend(fontsize=8)
    optimizer, _ = train(SparseBayesOptimizer, noisy(data[0][0], noise, 0))
    chosen = np.flatnonzero(optimizer.parameters)
    size = np.sqrt(np.mean(data[0][0][0][:, chosen] ** 2, axis=0))  # of the force of a term with parameter 1
    value, bar = np.abs(optimizer.parameters[chosen]) * size, 2 * optimizer.standard_errors[chosen] * size
    order = np.argsort(-value)
    right.errorbar(np.arange(1, len(order) + 1), 1e3 * value[order], 1e3 * bar[order], fmt="o", capsize=3, ms=4)
    right.set_yscale("log")
    right.set(xlabel="term, the largest first", ylabel="rms force (meV/Å), ±2 standard errors")
    right.set_title("contributions of the selected terms")
    save(fig, "force_constants")


def description(A: np.ndarray) -> str:
    """What was measured; A is the fit matrix of a structure."""
    rank = np.linalg.matrix_rank(A / np.linalg.norm(A, axis=0))
    return (
        f"Forces on 128 atoms of a periodic body-centred cubic crystal, displaced by {RATTLE} Å (standard deviation "
        f"per component): {A.shape[0]} rows, of one structure. They are those of a Morse potential up to the fifth "
        "shell and of a harmonic potential of the angles between nearest neighbours "
        f"(`benchmarks/fields/crystal.py`), with noise. The {A.shape[1]} terms are 14 invariants of orders 2 to 6 of "
        "the bonds of 5 shells, and 10 invariants of orders 2 to 4 of two bonds of the first 3 shells at each of 17 "
        f"angles; their rank is {rank}. The potential is none of the terms. Test errors are those of the forces "
        "without noise in another structure, means and largest values over five draws; for all methods "
        "`standardize=True`, trainstation's default."
    )


def main() -> None:
    """Measure, print and write the table; draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw of each, and nothing is written")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    data = structures(1 if quick else 5)
    rows = [row for noise in NOISES for row in measured(data, noise)]
    head = ["noise", "fit_method", "test error (meV/Å)", "largest", "terms", "seconds"]
    sections = [description(data[0][0][0]), table(head, rows), versions("trainstation")]
    publish("force_constants", "force-constants", "Force constants", sections, not quick)
    if not quick:
        draw(data)


if __name__ == "__main__":
    main()
