"""Models of a given size: max_vectors=k beside Nyström features and sparse Gaussian processes of k points.

All have the same Gaussian kernel and the same width, gamma = 1/d. The real data are not part of the package: their
loader (load.py) is looked for in the folder named by the environment variable SPARSEBAYES_DATA, else in ../shared/data
beside the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from benchmarks.common import report, rmse, table
from sparsebayes import ActiveSet, RelevanceVectorRegressor

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = ("concrete", "energy", "kin8nm")
SIZES = (5, 10, 20, 50)
SPLITS = (0, 1, 2)
MOST = 1200  # training rows
JITTER = 1e-8  # on the diagonal of the kernel matrix of inducing points
BOUNDS = (-14.0, 14.0)  # of the logarithms of both variances
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def loader() -> Any:
    """The module that reads the real data."""
    path = Path(os.environ.get("SPARSEBAYES_DATA", DATA)) / "load.py"
    spec = importlib.util.spec_from_file_location("load", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def standardised(load: Any, name: str, split: int) -> Data:
    """At most MOST training rows, and the test rows; inputs and target in units of those training rows."""
    X, y, X_test, y_test = load.uci(name, split)
    some = np.arange(len(y))[:MOST] if split == 0 else np.random.default_rng(split).permutation(len(y))[:MOST]
    X, y = X[some], y[some]
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread[spread == 0] = 1.0
    return (X - mean) / spread, (y - y.mean()) / y.std(), (X_test - mean) / spread, (y_test - y.mean()) / y.std()


def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """exp(−‖a − b‖²/d)."""
    return RBF(np.sqrt(0.5 * A.shape[1]))(A, B)


def nystroem(data: Data, Z: np.ndarray) -> np.ndarray:
    """Ridge regression on the features k(x, Z) K_ZZ^(−½), the penalty by leave-one-out errors; predictions."""
    X, y, X_test, _ = data
    values, vectors = np.linalg.eigh(kernel(Z, Z))
    root = (vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T
    model = RidgeCV(np.logspace(-8, 4, 25)).fit(kernel(X, Z) @ root, y)
    return model.predict(kernel(X_test, Z) @ root)


def bound(theta: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, Callable[..., np.ndarray]]:
    """Titsias' collapsed bound [Titsias 2009, eq. 9], its gradient, and the mean of the predictions.

    theta : log a, log σ² and the inducing points Z (k, d), for the covariance a·kernel.

        F = log N(y | 0, Q + σ²I) − tr(aI − Q)/2σ²,    Q = K_nm K_mm⁻¹ K_mn,    ∂F/∂Q = ½vvᵀ + K_nm B⁻¹ K_mn/2σ⁴

    with v = (Q + σ²I)⁻¹y and B = K_mm + K_mn K_nm/σ².
    """
    (a, s2), Z, n = np.exp(theta[:2]), theta[2:].reshape(-1, X.shape[1]), len(y)
    Kmm, Kmn = a * kernel(Z, Z), a * kernel(Z, X)
    L = cholesky(Kmm + JITTER * a * np.eye(len(Z)), lower=True)
    A = solve_triangular(L, Kmn, lower=True) / np.sqrt(s2)
    LB = cholesky(np.eye(len(Z)) + A @ A.T, lower=True)
    c = solve_triangular(LB, A @ y, lower=True) / np.sqrt(s2)
    explained = float(np.sum(A * A))  # tr Q / σ²
    F = (
        -0.5 * (n * np.log(2 * np.pi * s2) + (y @ y) / s2 - c @ c + n * a / s2 - explained)
        - np.log(LB.diagonal()).sum()
    )
    weights = solve_triangular(L.T, solve_triangular(LB.T, c))  # of the kernel functions at Z
    v = (y - Kmn.T @ weights) / s2
    W = solve_triangular(L.T, A) * np.sqrt(s2)  # K_mm⁻¹ K_mn
    half = solve_triangular(LB, A, lower=True)  # K_nm B⁻¹ K_mn = σ² halfᵀ half
    WD = 0.5 * np.outer(W @ v, v) + (W @ half.T) @ half / (2 * s2)
    by_mn, by_mm = 2 * WD, -WD @ W.T
    by_a = np.sum(by_mn * Kmn) + np.sum(by_mm * (Kmm + JITTER * a * np.eye(len(Z)))) - 0.5 * n * a / s2
    by_s2 = 0.5 * (v @ v) - 0.5 * (n - np.sum(half * half)) / s2 + 0.5 * (n * a / s2 - explained) / s2
    E, P = by_mn * Kmn, (by_mm + by_mm.T) * Kmm
    by_Z = -2 / X.shape[1] * (E.sum(1)[:, None] * Z - E @ X + P.sum(1)[:, None] * Z - P @ Z)
    gradient = np.concatenate([[by_a, by_s2 * s2], by_Z.ravel()])
    return float(F), gradient, lambda queries: a * kernel(queries, Z) @ weights


def sparse_process(data: Data, Z: np.ndarray, learned: bool) -> np.ndarray:
    """A sparse Gaussian process whose variances, and inducing points if `learned`, maximise the bound; predictions."""
    X, y, X_test, _ = data
    free = slice(None) if learned else slice(0, 2)
    best: Any = None
    for start in ((0.0, -2.0), (2.0, -1.0)):
        theta = np.concatenate([start, Z.ravel()])

        def loss(values: np.ndarray, theta: np.ndarray = theta) -> tuple[float, np.ndarray]:
            F, gradient, _ = bound(np.concatenate([values, theta[len(values) :]]), X, y)
            return -F, -gradient[free]

        limits = [BOUNDS, BOUNDS, *[(None, None)] * (len(theta) - 2)][free]
        found = minimize(loss, theta[free], jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 500})
        if best is None or found.fun < best.fun:
            best = found
    return bound(np.concatenate([best.x, Z.ravel()[len(best.x) - 2 :]]), X, y)[2](X_test)


def measure(data: Data, size: int) -> dict[str, float]:
    """The test errors of all methods at a size, and the CPU seconds of ours."""
    X, y, X_test, y_test = data
    Z = KMeans(size, n_init=4, random_state=0).fit(X).cluster_centers_
    found = {
        "Nyström": rmse(nystroem(data, Z), y_test),
        "SGPR": rmse(sparse_process(data, Z, False), y_test),
        "SGPR, learned": rmse(sparse_process(data, Z, True), y_test),
    }
    for name, solver in {"swaps alone": ActiveSet(effort="fast"), "max_vectors": "auto"}.items():
        start = time.process_time()
        model = RelevanceVectorRegressor(gamma=1 / X.shape[1], max_vectors=size, solver=solver).fit(X, y)
        found[name] = rmse(model.predict(X_test), y_test)
        assert len(model.relevance_) <= size
    return found | {"seconds": time.process_time() - start}


def without_limit(data: Data) -> dict[str, float]:
    """The model without a limit, and the Gaussian process with all points, whose two variances are learned."""
    X, y, X_test, y_test = data
    model = RelevanceVectorRegressor(gamma=1 / X.shape[1]).fit(X, y)
    values, V = np.linalg.eigh(kernel(X, X))
    z = V.T @ y

    def loss(log: np.ndarray) -> float:
        spread = np.exp(log[0]) * np.maximum(values, 0) + np.exp(log[1])
        return float(np.sum(np.log(spread) + z**2 / spread))

    a, s2 = np.exp(minimize(loss, [0.0, -2.0], method="Nelder-Mead").x)
    L = cholesky(a * kernel(X, X) + s2 * np.eye(len(y)), lower=True)
    mean = a * kernel(X_test, X) @ cho_solve((L, True), y)
    return {
        "functions": len(model.relevance_),
        "free": rmse(model.predict(X_test), y_test),
        "process": rmse(mean, y_test),
    }


def main() -> None:
    """Measure, print, write benchmarks/results/sizes.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS, help="data sets")
    parser.add_argument("--splits", nargs="*", type=int, default=SPLITS, help="splits (default 0 1 2)")
    options = parser.parse_args()
    load, methods = loader(), ("Nyström", "SGPR", "SGPR, learned", "swaps alone", "max_vectors")
    rows, free, won = [], [], [0, 0]
    for name in options.sets:
        sets = [standardised(load, name, split) for split in options.splits]
        whole = [without_limit(data) for data in sets]
        free.append(
            [
                name,
                *(
                    f"{np.mean([w[key] for w in whole]):{form}}"
                    for key, form in (("functions", ".0f"), ("free", ".3f"), ("process", ".3f"))
                ),
            ]
        )
        for size in SIZES:
            found = [measure(data, size) for data in sets]
            mean = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
            wins = sum(each["max_vectors"] < min(each["Nyström"], each["SGPR"]) for each in found)
            won = [won[0] + wins, won[1] + len(found)]
            rows.append(
                [
                    name,
                    f"{size}",
                    *(f"{mean[m]:.3f}" for m in methods),
                    f"{wins} of {len(found)}",
                    f"{mean['seconds']:.1f}",
                ]
            )
            print(rows[-1], flush=True)
    text = (
        f"Root mean square test errors in units of the standard deviation of y, means over the splits "
        f"{', '.join(map(str, options.splits))}, at most {MOST} training rows. One Gaussian kernel, gamma = 1/d, for "
        "all: k functions (*max_vectors=k*), Nyström features of k k-means centres with `RidgeCV`, and Titsias' sparse "
        "Gaussian process with k inducing points, fixed at the k-means centres or learned with its two variances by "
        'L-BFGS from there. *Swaps alone* is max_vectors=k with `ActiveSet(effort="fast")`, which regrows no groups. '
        "*Below both* counts the splits with a smaller error than Nyström and the sparse process with fixed points: "
        f"{won[0]} of {won[1]} in all. CPU seconds are those of max_vectors=k, the fit without a limit among them. The "
        "search was chosen on the splits 3 to 5."
    )
    head = ["set", "k", "Nyström", "SGPR, fixed", "SGPR, learned", "swaps alone", "max_vectors", "below both", "CPU s"]
    limit = table(["set", "functions", "no limit", "Gaussian process"], free)
    sections = [text, table(head, rows), "Without a limit, and the Gaussian process with all training points:", limit]
    report("sizes", "Models of a given size", sections)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
