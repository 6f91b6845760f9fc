"""Reference results: what many small fits gave, stored in results.json, and whether they still give it.

    python tests/reference/store.py                  # run all fits and store their results
    python tests/reference/store.py --compare        # run them again and compare with what is stored

`--only WORD` runs the fits that have the word in their names (with a plain run, what is stored of the others
stays as it is). The fits themselves are in the files cases_*.py.
"""
# ruff: noqa: E402  (threads are set before NumPy is imported)

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import platform
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cases_classes  # noqa: F401  (every file registers its fits)
import cases_kernels  # noqa: F401
import cases_large  # noqa: F401
import cases_rows  # noqa: F401
import cases_signals  # noqa: F401
import cases_solvers  # noqa: F401
import numpy as np
from cases import CASES, Record, run
from cases_real import REAL, available
from explained import EXPLAINED

RESULTS = Path(__file__).with_name("results.json")
EVIDENCE = ("log_evidence", "objective", "select_log_evidence")
PREDICTIONS = (
    "mean",
    "std",
    "covariance",
    "components",
    "probability",
    "select_loo_error",
    "select_loo_log_loss",
)
NUMBERS = (
    "weights",
    "alpha",
    "intercept",
    "noise_variance",
    "noise_shape",
    "scales",
    "input_relevance",
    "excess_variance",
    "decision",
    "size",
    "level_constants",
)
SAME = ("active", "output", "order", "predicted")
REPORTED = ("converged", "n_iter", "certificate", "warnings")
EVIDENCE_TOLERANCE, PREDICTION_TOLERANCE = 1e-8, 1e-6  # below these a difference is rounding


@dataclass(frozen=True)
class Difference:
    """How far a fit is from the stored one.

    evidence : largest |difference| of evidence and objective, over its size or 1 where that is more.
    prediction : largest difference of predictions, over their spread.
    weights, others : of weights (if the active set is the same) and of all other numbers, over the largest.
    same : whether the active set is the same.  reported : names of REPORTED that differ.
    """

    evidence: float
    prediction: float
    weights: float
    others: float
    same: bool
    reported: tuple[str, ...]

    @property
    def is_rounding(self) -> bool:
        """Whether evidence and predictions are equal to rounding."""
        return self.evidence <= EVIDENCE_TOLERANCE and self.prediction <= PREDICTION_TOLERANCE


def compared(stored: Record, found: Record) -> Difference:
    """The difference of two records, in what both of them have."""
    both = [key for key in stored if key in found]
    same = all(stored[key] == found[key] for key in both if key in SAME)

    def largest(names: tuple[str, ...], size: Any) -> float:
        return max((_distance(stored[key], found[key], size(key)) for key in both if key in names), default=0.0)

    others = tuple(key for key in NUMBERS if key != "weights" and (same or key not in ("alpha", "decision")))
    return Difference(
        evidence=largest(EVIDENCE, lambda key: max(1.0, float(np.max(np.abs(stored[key]))))),
        prediction=largest(PREDICTIONS, lambda key: spread(key, stored[key])),
        weights=largest(("weights",), lambda key: _magnitude(stored[key])) if same else np.nan,
        others=largest(others, lambda key: _magnitude(stored[key])),
        same=same,
        reported=tuple(key for key in both if key in REPORTED and stored[key] != found[key]),
    )


def spread(key: str, values: Any) -> float:
    """What differences of predictions are measured by: of means their range, of all else the largest."""
    numbers = np.asarray(values, dtype=float)
    return float(np.ptp(numbers)) if key == "mean" and np.ptp(numbers) > 0 else _magnitude(values)


def _magnitude(values: Any) -> float:
    numbers = np.abs(np.asarray(values, dtype=float))
    return float(np.max(numbers, initial=0.0, where=np.isfinite(numbers))) or 1.0


def _distance(a: Any, b: Any, size: float) -> float:
    """The largest |a − b| over the size; ∞ where they are not of one length or not infinite together."""
    a, b = np.ravel(np.asarray(a, dtype=float)), np.ravel(np.asarray(b, dtype=float))
    if len(a) != len(b):
        return np.inf
    differ = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    return float(np.max(np.nan_to_num(np.abs(a[differ] - b[differ]), nan=np.inf), initial=0.0)) / size


def timed(name: str) -> Record:
    """The record of a fit with the seconds of processor time it took."""
    start = time.process_time()
    record = run(name)
    return record | {"seconds": round(time.process_time() - start, 3)}


def stored() -> dict[str, Record]:
    """What is stored, by the names of the fits."""
    fits: dict[str, Record] = json.loads(RESULTS.read_text(encoding="utf-8"))["fits"]
    return fits


def store(names: list[str], keep: bool) -> None:
    """Run these fits and store what they give; keep the others that are stored."""
    found = stored() if keep and RESULTS.exists() else {}
    for name in names:
        found[name] = timed(name)
        print(f"{found[name]['seconds']:8.3f} s  {name}", flush=True)
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    made_with = {"python": platform.python_version(), **packages}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in CASES if name in found]
    text = f'{{"made_with": {json.dumps(made_with)},\n"fits": {{\n' + ",\n".join(lines) + "\n}}\n"
    RESULTS.write_text(text, encoding="utf-8")
    seconds = sum(record["seconds"] for record in found.values())
    print(f"{len(found)} fits, {seconds:.0f} s, {len(text) / 1e6:.2f} MB")


def compare(names: list[str]) -> int:
    """Run these fits, print how far each is from what is stored; the number that differ without a reason."""
    before, differing, total, missing = stored(), [], 0, []
    print("evidence  prediction  weights   others    active set")
    for name in names:
        if name not in before:
            missing.append(name)
            continue
        total += 1
        try:
            found = compared(before[name], run(name))
        except Exception as error:  # the other fits are to be compared all the same
            differing.append(name)
            print(f"{'failed':51}  {name}: {type(error).__name__}: {error}", flush=True)
            continue
        if not found.is_rounding:
            differing.append(name)
        active = "same" if found.same else "OTHER"
        numbers = (found.evidence, found.prediction, found.weights, found.others)
        cells = "  ".join(f"{number:<8.1e}" for number in numbers)
        note = f"  ({', '.join(found.reported)} not the same)" if found.reported else ""
        print(f"{cells}  {active:10}  {name}{note}", flush=True)
    print(f"\n{total - len(differing)} of {total} fits equal to rounding.")
    if missing:
        print(f"{len(missing)} not stored: {', '.join(missing)}")
    for name in differing:
        print(f"differs: {name}" + (f" (explained: {EXPLAINED[name]})" if name in EXPLAINED else ""))
    return sum(name not in EXPLAINED for name in differing)


def main() -> int:
    """Store or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="compare with results.json")
    parser.add_argument("--only", default="", help="fits that have this in their names")
    options = parser.parse_args()
    names = [name for name in CASES if options.only in name and (available() or name not in REAL)]
    if len(names) < len(CASES) and not options.only:
        print(f"{len(CASES) - len(names)} fits need data that are not there and are skipped.")
    if options.compare:
        return 1 if compare(names) else 0
    store(names, keep=bool(options.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
