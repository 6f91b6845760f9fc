"""Fits on a GPU: time and memory beside plain matrix products, and agreement with the host.

1. A regression on a float32 design on the device, beside XᵀX by blocks of rows in float32 with sums in float64.
2. A kernel machine of which all rows are candidates, on the device and on the host.
3. A learned width, beside 50 Adam steps of an exact Gaussian process of GPyTorch, if that is installed.
4. Two classes.
5. Log evidence on the device and on the host.
6. A Newton step of the solver, which works on S × S matrices, on the host and on the device.

Writes benchmarks/results/gpu.md after each part, if the sizes are those of a GPU.

    python -m benchmarks.speed.gpu                            # all of it, on a machine with a GPU
    python -m benchmarks.speed.gpu --parts 1 4                # these alone, in this order
    python -m benchmarks.speed.gpu --check                    # agreement alone
    python -m benchmarks.speed.gpu --size small --device cpu  # whether the program runs, on any machine
"""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn dispatches

import argparse
import contextlib
import datetime
import importlib.metadata
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch

from sparsebayes import RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes._array import add_diagonal, diagonal, solve_positive
from sparsebayes.core.newton import gradient_and_hessian
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic

RESULTS = Path(__file__).parents[1] / "results" / "gpu.md"
PACKAGES = ("torch", "gpytorch", "numpy", "scipy", "scikit-learn")
REPEATS = 3
BLOCK = 1 << 26  # elements of X that a matrix product works on together


@dataclass(frozen=True)
class Sizes:
    """How large each part is.

    design : rows and columns of 1.  kernel : rows of 2.  learned : rows of 3.  labels : rows and columns of 4.
    agreement : rows and columns of 5.  functions : active functions of 6.
    """

    design: tuple[int, int]
    kernel: int
    learned: int
    labels: tuple[int, int]
    agreement: tuple[int, int]
    functions: tuple[int, ...]


SIZES = {
    "full": Sizes((1_000_000, 10_000), 1_000_000, 10_000, (1_000_000, 100), (20_000, 300), (50, 200, 800)),
    "small": Sizes((2000, 300), 1800, 200, (2000, 20), (500, 30), (50,)),
}


def timed(work: Callable[[], Any], device: str, repeats: int = REPEATS) -> tuple[Any, float]:
    """What `work` returns, and the least seconds until the device has done it."""
    least = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        if device == "cuda":
            torch.cuda.synchronize()
        least = min(least, time.perf_counter() - began)
    return found, least


def warm_up(device: str) -> None:
    """What the first calls on a device set up: libraries, and memory."""
    X, y = (torch.as_tensor(each, device=device) for each in made_points(1000))
    gram_by_blocks(X)
    RelevanceVectorRegressor(gamma="evidence").fit(X, y)
    SparseBayesClassifier().fit(X, y > 0.3)
    with contextlib.suppress(ImportError):
        adam_steps(X, y, 2)


def made_design(n: int, M: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """A float32 design (n, M) on the device, and targets of twenty of its columns and noise."""
    generator = torch.Generator(device=device).manual_seed(0)
    X = torch.empty((n, M), dtype=torch.float32, device=device)
    for start in range(0, n, max(1, BLOCK // M)):
        part = X[start : start + max(1, BLOCK // M)]
        part.normal_(generator=generator)
    columns = torch.linspace(0, M - 1, 20, device=device).to(torch.int64)
    y = X[:, columns].to(torch.float64).sum(dim=1)
    return X, y + 0.5 * torch.randn(n, dtype=torch.float64, device=device, generator=generator)


def gram_by_blocks(X: torch.Tensor) -> torch.Tensor:
    """XᵀX: products of float32 blocks without TF32, their sum in float64."""
    torch.backends.cuda.matmul.allow_tf32 = False
    G = torch.zeros((X.shape[1], X.shape[1]), dtype=torch.float64, device=X.device)
    for start in range(0, X.shape[0], max(1, BLOCK // X.shape[1])):
        part = X[start : start + max(1, BLOCK // X.shape[1])]
        G += part.T @ part
    return G


def design(sizes: Sizes, device: str) -> list[str]:
    """Part 1: a fit beside the products of all columns, in time and memory."""
    X, y = made_design(*sizes.design, device)
    warm_up(device)
    plain = timed(lambda: gram_by_blocks(X), device)[1]
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    model, seconds = timed(lambda: SparseBayesRegressor(prior="bic").fit(X, y), device)
    peak = torch.cuda.max_memory_allocated() / (4 * X.numel()) if device == "cuda" else float("nan")
    n, M = sizes.design
    return [
        f"| 1 | float32 design {n} × {M}: fit, {len(model.relevance_)} functions | {seconds:.2f} s |",
        f"| 1 | XᵀX by blocks, float32 with float64 sums | {plain:.2f} s |",
        f"| 1 | time of the fit / time of XᵀX (wanted: at most 1.5) | {seconds / plain:.2f} |",
        f"| 1 | peak memory of the device / memory of X (wanted: at most 1.25) | {peak:.2f} |",
    ]


def made_points(n: int, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d) and noisy values of a smooth function there."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (n, d))
    return X, np.sinc(np.linalg.norm(X, axis=1)) + 0.1 * rng.standard_normal(n)


def kernel(sizes: Sizes, device: str) -> list[str]:
    """Part 2: a kernel machine whose candidates are all rows, on the device and on the host."""
    X, y = made_points(sizes.kernel)
    warm_up(device)
    X_there, y_there = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
    there, seconds = timed(lambda: RelevanceVectorRegressor(gamma=0.5).fit(X_there, y_there), device)
    print(f"part 2: {seconds:.2f} s on the device; the host follows", flush=True)
    here, on_host = timed(lambda: RelevanceVectorRegressor(gamma=0.5).fit(X, y), "cpu", 1)
    queries, truth = made_points(5000)[0], np.sinc(np.linalg.norm(made_points(5000)[0], axis=1))
    predicted = there.predict(torch.as_tensor(queries, device=device)).cpu().numpy()
    errors = [float(np.sqrt(np.mean((each - truth) ** 2))) for each in (here.predict(queries), predicted)]
    apart = abs(there.log_evidence_ - here.log_evidence_) / abs(here.log_evidence_)
    return [
        f"| 2 | RBF, {sizes.kernel} rows and candidates: device (wanted: under 20 s) | {seconds:.2f} s |",
        f"| 2 | the same on the host | {on_host:.2f} s |",
        f"| 2 | root mean square error: host, device | {errors[0]:.6f}, {errors[1]:.6f} |",
        f"| 2 | log evidence, relative difference (wanted: at most 1e-6) | {apart:.1e} |",
    ]


def learned(sizes: Sizes, device: str) -> list[str]:
    """Part 3: a learned width, beside an exact Gaussian process."""
    X, y = (torch.as_tensor(each, device=device) for each in made_points(sizes.learned))
    warm_up(device)
    model, seconds = timed(lambda: RelevanceVectorRegressor(gamma="evidence").fit(X, y), device)
    rows = [f'| 3 | gamma="evidence", {sizes.learned} rows, {len(model.relevance_)} functions | {seconds:.2f} s |']
    try:
        process = timed(lambda: adam_steps(X, y, 50), device)[1]
    except ImportError:
        return [*rows, "| 3 | 50 Adam steps of an exact Gaussian process | GPyTorch is not installed |"]
    return [*rows, f"| 3 | 50 Adam steps of an exact Gaussian process (GPyTorch, float64) | {process:.2f} s |"]


def adam_steps(X: torch.Tensor, y: torch.Tensor, steps: int) -> float:
    """The loss of an exact Gaussian process after so many steps of Adam."""
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x: torch.Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(X)
    model = Process(likelihood).to(X)
    model.train()
    likelihood.train()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -objective(model(X), y)
        loss.backward()
        optimiser.step()
    return float(loss.detach())


def made_labels(n: int, M: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and labels of two classes that five columns tell apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M))
    return X, (X[:, :5].sum(axis=1) + rng.logistic(size=n) > 0).astype(np.int64)


def labels(sizes: Sizes, device: str) -> list[str]:
    """Part 4: two classes."""
    X, y = (torch.as_tensor(each, device=device) for each in made_labels(*sizes.labels))
    warm_up(device)
    model, seconds = timed(lambda: SparseBayesClassifier(prior="bic").fit(X, y), device)
    n, M = sizes.labels
    what = f"two classes, {n} × {M}, {len(model.relevance_)} functions (wanted: under 60 s)"
    return [f"| 4 | {what} | {seconds:.2f} s |"]


def agreement(sizes: Sizes, device: str) -> list[str]:
    """Part 5: the log evidence of float64 fits on the device and on the host."""
    n, M = sizes.agreement
    X, labels = made_labels(n, M)
    y = X[:, :5].sum(axis=1) + 0.5 * np.random.default_rng(1).standard_normal(n)
    rows = []
    for model, targets in ((SparseBayesRegressor, y), (SparseBayesClassifier, labels)):
        here = model(prior="bic").fit(X, targets)
        there = model(prior="bic").fit(*(torch.as_tensor(each, device=device) for each in (X, targets)))
        apart = abs(there.log_evidence_ - here.log_evidence_) / abs(here.log_evidence_)
        what = f"{model.__name__}, {n} × {M}: log evidence, relative difference to the host (wanted: at most 1e-8)"
        rows.append(f"| 5 | {what} | {apart:.1e} |")
    return rows


def version_of(name: str) -> str:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def heading(device: str) -> str:
    """What was measured, where, when and with which versions."""
    card = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    versions = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    today, cores = datetime.datetime.now(datetime.UTC).date(), len(os.sched_getaffinity(0))
    return f"""# Fits on a GPU

`python -m benchmarks.speed.gpu`, {today}, {card}, {cores} cores; {versions}. Each time is the best of {REPEATS} after a
small fit, those of the host and of the process of GPyTorch too but for part 2, whose fit on the host is one.

| part | what | measured |
|---|---|---|
"""


def newton_step(S: int, device: str) -> float:
    """Seconds for the posterior of S functions, its gradient, Hessian and Newton step, on a device or the "host"."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((3 * S, S)) / np.sqrt(3 * S)
    t = Phi @ rng.standard_normal(S) + 0.1 * rng.standard_normal(3 * S)
    numbers = [Phi.T @ t, Phi.T @ Phi, np.ones(S)]
    h, G, ones = numbers if device == "host" else [torch.as_tensor(each, device=device) for each in numbers]
    problem = Problem(DenseQuadratic(3 * S, float(t @ t), h, G), Uniform(), GaussianNoise(10.0), ones)
    active = problem.quadratic.restrict(np.arange(S))

    def step() -> Any:
        gradient, hessian = gradient_and_hessian(problem.state(active, ones, 10.0), True)
        return solve_positive(add_diagonal(-hessian, 1 + abs(diagonal(hessian))), gradient)

    step()
    return timed(step, device, 20)[1]


def functions(sizes: Sizes, device: str) -> list[str]:
    """Part 6: where the solver should work."""
    return [
        f"| 6 | a Newton step of {S} functions: host, device | "
        f"{1e3 * newton_step(S, 'host'):.2f} ms, {1e3 * newton_step(S, device):.2f} ms |"
        for S in sizes.functions
    ]


PARTS = {1: design, 2: kernel, 3: learned, 4: labels, 5: agreement, 6: functions}


def main() -> None:
    """Measure what the command line asks for, and write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="agreement with the host alone (parts 2 and 5)")
    parser.add_argument("--parts", type=int, nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no GPU here: give --size small --device cpu")
    rows: list[str] = []
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (2, 5) if given.check else given.parts:
            found = PARTS[part](SIZES[given.size], given.device)
            print("\n".join(found), flush=True)
            rows = sorted(rows + found, key=lambda row: row[:3])
            if given.size == "full" and given.device == "cuda" and not given.check:
                RESULTS.write_text(heading(given.device) + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
