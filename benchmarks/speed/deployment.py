"""Size and latency of deployed models: this package beside SVR and a Gaussian process, in Python, ONNX and C.

    python -m benchmarks.speed.deployment

Real data, inputs and targets standardised. SVR chooses C and epsilon by five-fold cross-validation, its gamma is
"scale"; the Gaussian process has the kernel constant × RBF + white noise. The latency is that of one row, the best of
many repeats, one thread. ONNX is double precision, with onnxruntime, but for SVR, whose operator has single precision
alone. C is compiled with gcc -O2; its size is that of code and constants of the object file, its latency that of a
call inside a C loop. SVR and the process have no C.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ctypes
import pickle
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import skl2onnx
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from benchmarks.common import real_data, report, rmse, table
from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor, save
from sparsebayes.export import export_c, to_onnx

SETS = ("boston", "energy", "concrete")
REPEATS, INNER, CALLS = 300, 10, 20000
BENCH = """
double bench(const double *x, int calls);
double bench(const double *x, int calls)
{
    double sum = 0, mean[1];
    for (int k = 0; k < calls; k++) {
        model_predict(x, mean);
        sum += mean[0];
    }
    return sum;
}
"""


def microseconds(call: Callable[[], Any]) -> float:
    """The least time of a call."""
    least = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(INNER):
            call()
        least = min(least, (time.perf_counter() - start) / INNER)
    return 1e6 * least


def data_of(data: Any, name: str) -> list[np.ndarray]:
    """Training inputs and targets, test inputs and targets, in units of the training rows."""
    X, y, X_test, y_test = next(data.boston_splits(1)) if name == "boston" else data.uci(name)
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X, X_test = ((each - X.mean(axis=0)) / spread for each in (X, X_test))
    return [X, (y - y.mean()) / y.std(), X_test, (y_test - y.mean()) / y.std()]


def models() -> dict[str, Any]:
    """What is compared."""
    grid = {"C": [0.3, 1, 3, 10, 30, 100], "epsilon": [0.03, 0.1, 0.3]}
    process = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True)
    return {
        "RelevanceVectorRegressor()": RelevanceVectorRegressor(),
        "the same, max_vectors=15": RelevanceVectorRegressor(max_vectors=15),
        "SparseBayesRegressor()": SparseBayesRegressor(),
        "SVR": GridSearchCV(SVR(), grid),
        "Gaussian process": process,
    }


def functions_of(model: Any) -> int:
    """The functions that a prediction evaluates."""
    for name in ("relevance_", "support_", "X_train_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    raise AttributeError(type(model).__name__)


def in_onnx(model: Any, x: np.ndarray) -> tuple[int, float]:
    """Bytes of the ONNX model, and its latency."""
    ours = hasattr(model, "relevance_")
    x = x.astype(np.float32) if isinstance(model, SVR) else x
    content = (to_onnx(model, verbose=False) if ours else skl2onnx.to_onnx(model, x)).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return len(content), microseconds(lambda: session.run(None, {"X": x}))


def in_c(model: Any, x: np.ndarray, folder: Path) -> tuple[int, float]:
    """Bytes of code and constants, and the latency of a call in C."""
    export_c(model, folder / "model.c", std=False, verbose=False)
    compiler = ["gcc", "-std=c99", "-O2"]
    subprocess.run([*compiler, "-c", folder / "model.c", "-o", folder / "model.o"], check=True)
    listed = subprocess.run(["size", folder / "model.o"], capture_output=True, text=True, check=True).stdout
    size = sum(map(int, listed.splitlines()[1].split()[:2]))
    (folder / "bench.c").write_text((folder / "model.c").read_text(encoding="utf-8") + BENCH, encoding="utf-8")
    library = folder / f"{type(model).__name__}{id(model)}.so"
    subprocess.run([*compiler, "-shared", "-fPIC", folder / "bench.c", "-o", library, "-lm"], check=True)
    bench, pointer = ctypes.CDLL(str(library)).bench, x.ctypes.data_as(ctypes.c_void_p)
    least = np.inf
    for _ in range(10):
        start = time.perf_counter()
        bench(pointer, CALLS)
        least = min(least, (time.perf_counter() - start) / CALLS)
    return size, 1e6 * least


def row_of(name: str, model: Any, data: list[np.ndarray], folder: Path) -> list[str]:
    """A row of the table of one set."""
    X, y, X_test, y_test = data
    model = model.fit(X, y)
    model = getattr(model, "best_estimator_", model)
    error, x = rmse(model.predict(X_test), y_test), np.ascontiguousarray(X_test[:1])
    ours = hasattr(model, "relevance_")
    if ours:
        save(model, folder / "model.sbl")
    size = (folder / "model.sbl").stat().st_size if ours else len(pickle.dumps(model))
    python, (onnx_size, onnx) = microseconds(lambda: model.predict(x)), in_onnx(model, x)
    c_size, c = in_c(model, x, folder) if ours else (0, 0.0)
    sizes = [f"{each / 1000:.1f}" if each else "–" for each in (size, onnx_size, c_size)]
    return [
        name,
        f"{error:.3f}",
        str(functions_of(model)),
        *sizes,
        f"{python:.0f}",
        f"{onnx:.1f}",
        f"{c:.2f}" if ours else "–",
    ]


def main() -> None:
    """Fit, export and measure."""
    data, sections = real_data(), [(__doc__ or "").split("\n\n", 2)[2].strip()]
    if data is None:
        raise SystemExit("The real data are not there.")
    head = ["model", "test RMSE", "functions", "file, kB", "ONNX, kB", "C, kB", "Python, µs", "ONNX, µs", "C, µs"]
    for name in SETS:
        given = data_of(data, name)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = [row_of(each, model, given, Path(folder)) for each, model in models().items()]
        sections.append(f"## {name}: {given[0].shape[0]} rows, {given[0].shape[1]} inputs\n\n{table(head, rows)}")
    sections.append(
        "The file is that of `save` for the models of this package, a pickle for the others. The files of this package "
        "hold everything that the fitted estimator does, error bars included."
    )
    report("deployment", "Size and latency of deployed models", sections)


if __name__ == "__main__":
    main()
