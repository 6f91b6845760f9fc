"""A fit of half a minute, killed at ten random moments and resumed: is the model the same, and what do files cost?

Each fit runs in a process of its own, which is ended by SIGKILL; another process resumes it from the file. Its model is
compared, number by number, with that of the fit that was not interrupted. Writes benchmarks/results/checkpoints.md.

    python -m benchmarks.speed.checkpoints
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc2d
from sparsebayes.solvers import ActiveSet, Search, Sweep

RESULTS = Path(__file__).parents[1] / "results" / "checkpoints.md"
ROWS, DRAWS, KILLS = 1000, 900, 10
SEARCH = Search(
    starts=(1.0, 1.7), sweeps=(Sweep(0.1, 1.5, tries=8),), draws=DRAWS, annealing=4, last=(Sweep(8, tries=8),)
)
NAMES = ("relevance_", "dual_coef_", "alpha_", "intercept_", "noise_variance_", "log_evidence_", "evidence_path_")


def one_fit(checkpoint: str, target: str) -> None:
    """Fit, and write the numbers of the model and the seconds that it took."""
    X, y, _ = make_sinc2d(ROWS, noise=0.1, random_state=0)
    solver = ActiveSet(effort=SEARCH)
    model = RelevanceVectorRegressor(gamma=0.5, solver=solver, random_state=0, checkpoint=checkpoint or None)
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    np.savez(target, seconds=seconds, **{name: np.asarray(getattr(model, name)) for name in NAMES})


def started(checkpoint: str, target: Path) -> subprocess.Popen:
    """A process that makes the fit."""
    return subprocess.Popen([sys.executable, "-m", "benchmarks.speed.checkpoints", checkpoint, str(target)])


def finished(checkpoint: str, target: Path) -> dict[str, np.ndarray]:
    """What a process that makes the fit has found."""
    if started(checkpoint, target).wait() != 0:
        raise RuntimeError("a fit failed")
    with np.load(target) as found:
        return dict(found)


def largest_difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """The largest difference of any number of two models; infinite if they have different functions."""
    if any(found[name].shape != expected[name].shape for name in NAMES):
        return np.inf
    return max(float(np.max(np.abs(found[name] - expected[name]), initial=0.0)) for name in NAMES)


def killed_and_resumed(folder: Path, k: int, seconds: float, expected: dict[str, np.ndarray]) -> str:
    """A row of the table: a fit that is killed after so many seconds, and what resuming it gives."""
    path, target = folder / f"{k}.checkpoint", folder / f"{k}.npz"
    process = started(str(path), target)
    while not path.exists() and process.poll() is None:  # imports take their time
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    size = path.stat().st_size
    found = finished(str(path), target)
    rest = float(found["seconds"])
    return f"| {k} | {seconds:.1f} | {size / 1024:.0f} | {rest:.1f} | {largest_difference(found, expected):g} |"


def main() -> None:
    """Write the table."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, kept = [], []
        for k in range(2):  # in turn: other work on the machine concerns both
            expected = finished("", folder / "plain.npz")
            plain.append(float(expected["seconds"]))
            found = finished(str(folder / f"whole{k}"), folder / "kept.npz")
            kept.append(float(found["seconds"]))
        again = finished(str(folder / "whole0"), folder / "again.npz")
        whole, limit = (folder / "whole0").stat().st_size, 0.9 * min(plain)
        moments = np.sort(rng.uniform(0.0, limit, KILLS)).tolist()
        rows = [killed_and_resumed(folder, k + 1, moment, expected) for k, moment in enumerate(moments)]
    functions = len(expected["relevance_"])
    lines = [
        "# Checkpoints",
        "",
        f"A kernel machine on {ROWS} rows of a two-dimensional sinc, with a search of {DRAWS} groups drawn at random "
        f"and no limit of time; {functions} functions. Written by `python -m benchmarks.speed.checkpoints`.",
        "",
        "| | seconds of `fit` |",
        "|---|---|",
        f"| without a checkpoint | {', '.join(f'{each:.1f}' for each in plain)} |",
        f"| with one | {', '.join(f'{each:.1f}' for each in kept)} |",
        f"| again, when the file is complete | {float(again['seconds']):.2f} |",
        "",
        f"The complete file has {whole / 1024:.0f} kB; with the checkpoint the model differs by "
        f"{largest_difference(found, expected):g}, fitted again by {largest_difference(again, expected):g}.",
        "",
        "Killed after so many seconds (SIGKILL), and resumed by another process:",
        "",
        "| | killed after, s | file, kB | rest of the fit, s | largest difference of any number of the model |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    one_fit(*sys.argv[1:]) if len(sys.argv) > 1 else main()
