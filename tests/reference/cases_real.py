"""Fits of real data, where they lie beside the project or where SPARSEBAYES_DATA says."""

from __future__ import annotations

import importlib.util
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES, QUERIES, fits, fits_columns, fits_labelled_columns, fits_labels
from cases_signals import denoises

from sparsebayes import RBF, Columns, Periodic

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("SPARSEBAYES_DATA", BESIDE))
BEFORE = len(CASES)


def available() -> bool:
    """Whether the data are there."""
    return (FOLDER / "load.py").exists()


def load() -> Any:
    """The module that reads the data."""
    spec = importlib.util.spec_from_file_location("load", FOLDER / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def standardised(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, n: int | None) -> tuple[np.ndarray, ...]:
    """The first n rows, and queries, of columns of mean 0 and variance 1."""
    X = X[:n]
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread[spread == 0] = 1.0
    return (X - centre) / spread, y[:n], (X_test[:QUERIES] - centre) / spread


def uci(name: str, n: int | None = 300) -> tuple[np.ndarray, ...]:
    """A regression set."""
    X, y, X_test, _ = load().uci(name)
    return standardised(X, y, X_test, n)


def boston(n: int = 400) -> tuple[np.ndarray, ...]:
    """Boston housing."""
    X, y = load().boston()
    order = np.random.default_rng(0).permutation(len(y))
    return standardised(X[order], y[order], X[order[n:]], n)


def labelled(name: str, n: int | None = None) -> tuple[np.ndarray, ...]:
    """A set with two classes."""
    module = load()
    X, y, X_test, _ = getattr(module, name)() if hasattr(module, name) else module.raetsch(name)
    return standardised(X, y, X_test, n)


def digits(chosen: tuple[int, ...], n: int = 300) -> tuple[np.ndarray, ...]:
    """Some of the digits of USPS."""
    X, y, X_test, _ = load().usps()
    keep = np.isin(y, chosen)
    return X[keep][:n], y[keep][:n], X_test[:QUERIES]


def carbon_dioxide() -> tuple[np.ndarray, ...]:
    """Every tenth week at Mauna Loa, in years."""
    days, ppm = load().co2_weekly()
    years = days[:, None] / 365.25
    return years[::10], ppm[::10], years[5::220][:QUERIES] + 2.0


for name in ("concrete", "energy", "kin8nm", "power"):
    fits(f"real {name}", partial(uci, name), gamma=0.1)
for name in ("concrete", "kin8nm", "power"):  # not energy, whose inputs can stand for one another
    fits(f"real {name}, gamma evidence", partial(uci, name, 150), gamma="evidence")
    fits(f"real {name}, ard", partial(uci, name, 150), gamma="ard", variance="dense")
fits("real boston", boston, gamma=0.05)
fits("real boston, splines, bic", boston, "linear-spline", prior="bic")
fits_columns("real boston, columns", boston)
fits_columns("real concrete, columns, ric", partial(uci, "concrete", None), prior="ric")
fits("real kin8nm, large", partial(uci, "kin8nm", 1700), gamma=0.05, tol=1e-2)
fits("real power, large", partial(uci, "power", 2200), gamma=0.1, tol=1e-2)
CO2 = RBF(width=30.0) + RBF(width=60.0) * Periodic(1.0) + Columns(degree=2)
fits("real carbon dioxide", carbon_dioxide, CO2)
for name in ("ripley", "pima", "banana", "breast-cancer", "titanic", "waveform"):
    fits_labels(f"real {name}", partial(labelled, name), gamma=0.5)
fits_labels("real ripley, ard", partial(labelled, "ripley"), gamma="ard")
fits_labels("real german, bic", partial(labelled, "german"), gamma=0.05, prior="bic")
fits_labelled_columns("real german, columns", partial(labelled, "german"))
fits_labelled_columns("real pima, columns", partial(labelled, "pima"))
fits_labels("real digits, two", partial(digits, (3, 5)), gamma=1 / 256)
fits_labels("real digits, four", partial(digits, (0, 1, 4, 9), 200), gamma=1 / 256)
denoises("real electrocardiogram", lambda: load().ecg(), boundary="symmetric", shifts=4)
denoises("real image", lambda: load().camera()[100:228, 150:278], ndim=2)

REAL = tuple(CASES)[BEFORE:]
