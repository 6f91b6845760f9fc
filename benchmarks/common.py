"""What the benchmarks share: timing, tables, and the result file that each of them writes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("SPARSEBAYES_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
REPEATS = 3  # a time is the best of this many


def best_time(fit: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Seconds of the fastest call, and what the last call returned."""
    seconds = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        value = fit()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, value


def real_data() -> Any:
    """The module load.py that reads the real data in the folder `DATA`; None if it is not there."""
    path = DATA / "load.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("load", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rmse(values: np.ndarray, truth: np.ndarray) -> float:
    """√ mean (values − truth)²."""
    return float(np.sqrt(np.mean((values - truth) ** 2)))


def log_evidence(Phi: np.ndarray, t: np.ndarray, alpha: np.ndarray, noise_variance: float) -> float:
    """log N(t | 0, σ²I + ΦA⁻¹Φᵀ) by brute force, for models that do not report it."""
    C = noise_variance * np.eye(len(t)) + (Phi / alpha) @ Phi.T
    L = np.linalg.cholesky(C)
    half = np.linalg.solve(L, t)
    return float(-0.5 * (len(t) * np.log(2 * np.pi) + half @ half) - np.log(L.diagonal()).sum())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with an aligned source: the first two columns to the left, the others to the right."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    aligned = [
        [cell.ljust(w) if k < 2 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    ]
    rule = ["-" * w if k < 2 else "-" * (w - 1) + ":" for k, w in enumerate(widths)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [aligned[0], rule, *aligned[1:]])


def number(value: float, form: str) -> str:
    """The value in that format, a dash if it is not finite."""
    return format(value, form) if math.isfinite(value) else "–"


def conditions() -> str:
    """The versions that a result was measured with."""
    versions = [f"{name} {_version(name)}" for name in ("sparsebayes", "numpy", "scipy", "scikit-learn", "fastrvm")]
    return f"Python {platform.python_version()}, {', '.join(versions)}; one thread."


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def report(name: str, title: str, sections: Sequence[str], keep: bool = True) -> None:
    """Print the sections and, if `keep`, write them to the Markdown file benchmarks/results/<name>.md."""
    text = "\n\n".join([f"# {title}", *sections, conditions()]) + "\n"
    print(text)
    if not keep:
        return
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
