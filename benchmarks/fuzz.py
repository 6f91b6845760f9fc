"""Random configurations of the estimators, `fit`, the denoiser and `select`, on ordinary and on hostile data.

    python -m benchmarks.fuzz                          # 10 000 cases on two processes; writes results/fuzz.md
    python -m benchmarks.fuzz --cases 500 --first 0    # the cases 0 to 499, nothing is written
    python -m benchmarks.fuzz --replay 1234            # one case again, with its configuration and traceback

Case k is drawn from `default_rng(k)`, so that its number is all that is needed to run it again. Its outcome is
one of

* model     a fitted model, finite at the training rows and at queries up to 1e160 times their range;
* refused   ValueError or TypeError of one clear sentence: not empty, shorter than 600 characters, ended;
* defect    anything else: another exception, a RuntimeWarning, a value that is not finite, more than 60 seconds,
            a message that is no sentence, or more than 80 % of 20 or more rows kept without a warning.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import signal
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

import sparsebayes as sb
from benchmarks.common import report, table

LIMIT = 60.0  # seconds that one case may take
CROWDED, ROWS = 0.8, 20  # share of the rows that may be kept without a warning, if there are that many rows
LONGEST = 600  # characters of a message
CHUNK = 20  # cases handed to a process at a time
TARGETS = ("regressor", "classifier", "linear regressor", "linear classifier", "fit", "denoiser", "select")
SHARES = (0.3, 0.22, 0.14, 0.1, 0.12, 0.08, 0.04)
KERNELS = (
    "rbf", "rbf", "laplacian", "matern", "rational-quadratic", "poly", "linear", "cosine", "sigmoid",
    "histogram-intersection", "linear-spline", "cubic-spline", "thin-plate-spline",
)  # fmt: skip
SOLVERS = ("auto", "active-set", "sequential", "mackay", "em", "greedy")
PRIORS = ("uniform", "aic", "bic", "ric")


class TooSlow(BaseException):
    """The time limit of a case; not an Exception, so that nothing on the way catches it."""


@dataclass
class Case:
    """One configuration: what is called, with what, on which data."""

    number: int
    target: str
    hostile: bool
    parameters: dict[str, Any]
    X: Any
    y: Any
    weights: Any = None
    queries: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    number: int
    target: str
    hostile: bool
    kind: str
    detail: str
    seconds: float


# the data


def inputs(rng: np.random.Generator, n: int, d: int, hostile: bool) -> np.ndarray:
    """Rows of inputs, with some of what real tables have: outliers, repeats, constants, offsets, huge units."""
    X = rng.standard_normal((n, d)) if rng.random() < 0.6 else rng.uniform(-1, 1, (n, d))
    if rng.random() < 0.15:
        X = np.sort(X, axis=0)
    if rng.random() < 0.1:
        X = np.round(2 * X) / 2
    if not hostile:
        return X
    for change in rng.permutation(9)[: rng.integers(1, 4)]:
        X = _spoilt(rng, X, int(change))
    return X


def _spoilt(rng: np.random.Generator, X: np.ndarray, change: int) -> np.ndarray:
    """Inputs after one of nine changes for the worse."""
    n, d = X.shape
    X, column = X.copy(), rng.integers(d)
    if change == 0:
        X[:, column] = rng.choice([0.0, 1.0, 1e6])
    elif change == 1:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(n)]
    elif change == 2:
        X *= 10.0 ** rng.uniform(-100, 100)
    elif change == 3:
        X += 10.0 ** rng.uniform(3, 12)
    elif change == 4:
        X[:, column] *= 10.0 ** rng.uniform(-8, 8)
    elif change == 5:
        X = np.hstack([X, X[:, [column]]])
    elif change == 6:
        X[rng.integers(n)] *= 10.0 ** rng.uniform(1, 8)
    elif change == 7:
        X = rng.integers(0, 2, X.shape).astype(float)
    else:
        X = X + 1e-9 * rng.standard_normal(X.shape) * np.abs(X).max(initial=1e-300)
    return X


def numbers(rng: np.random.Generator, X: np.ndarray, hostile: bool) -> np.ndarray:
    """Targets: a smooth function of the inputs and noise, or worse."""
    n = len(X)
    with np.errstate(all="ignore"):
        scaled = np.nan_to_num((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300))
    f = np.sin(2 * scaled[:, 0]) + (0.5 * scaled[:, 1] if X.shape[1] > 1 else 0.0)
    y = f + 10.0 ** rng.uniform(-3, 0.3) * rng.standard_normal(n)
    if not hostile:
        return y
    change = rng.integers(10)
    if change == 0:
        y[:] = rng.choice([0.0, 1.0, -3e5])
    elif change == 1:
        y *= 10.0 ** rng.uniform(-250, 150)
    elif change == 2:
        y += 10.0 ** rng.uniform(2, 10)
    elif change == 3:
        y[rng.integers(n)] *= 10.0 ** rng.uniform(1, 8)
    elif change == 4:
        y = f
    elif change == 5:
        y = rng.standard_normal(n)
    elif change == 6:
        y = np.round(y)
    elif change == 7:
        y[rng.integers(n)] = rng.choice([np.nan, np.inf])
    return y


def labels(rng: np.random.Generator, X: np.ndarray, hostile: bool) -> np.ndarray:
    """Labels of two to four classes."""
    score = numbers(rng, X, False)
    classes = 2 if rng.random() < 0.7 else int(rng.integers(3, 5))
    cuts = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    if hostile and rng.random() < 0.3:
        cuts = np.quantile(score, np.linspace(0.8, 1, classes + 1)[1:-1])
    y = np.searchsorted(cuts, score)
    if hostile and rng.random() < 0.1:
        return np.zeros(len(X), int)
    return np.array(["a", "b", "c", "d"])[y] if rng.random() < 0.3 else y


def row_weights(rng: np.random.Generator, n: int, hostile: bool) -> np.ndarray | None:
    """Weights of the rows, most often none."""
    if rng.random() < 0.7:
        return None
    kind = rng.integers(6 if hostile else 2)
    if kind == 0:
        return rng.integers(1, 4, n).astype(float)
    if kind == 1:
        return rng.uniform(0.2, 3, n)
    if kind == 2:
        return rng.integers(0, 2, n).astype(float)
    if kind == 3:
        return rng.dirichlet(np.ones(n))
    if kind == 4:
        return 10.0 ** rng.uniform(-12, 12, n)
    return -np.ones(n) if rng.random() < 0.3 else np.full(n, 1e-300)


def far_queries(rng: np.random.Generator, X: np.ndarray) -> list[np.ndarray]:
    """Queries among the rows, near them, and further off."""
    size = np.abs(X).max(initial=1.0) if np.isfinite(X).all() else 1.0
    directions = rng.standard_normal((5, X.shape[1]))
    factors = (1.0, 3.0, 1e3, 10.0 ** rng.uniform(3, 160))
    with np.errstate(over="ignore"):
        return [q for q in (size * factor * directions for factor in factors) if np.isfinite(q).all()]


# the configurations


def kernel_parameters(rng: np.random.Generator, hostile: bool) -> dict[str, Any]:
    """A kernel and its scale."""
    gamma: Any = rng.choice(["scale", "auto", "evidence", "ard"], p=[0.55, 0.1, 0.2, 0.15])
    if rng.random() < 0.25:
        gamma = float(10.0 ** rng.uniform(-6, 6)) if hostile else float(10.0 ** rng.uniform(-2, 1.5))
    return {"kernel": str(rng.choice(KERNELS)), "gamma": gamma if isinstance(gamma, float) else str(gamma)}


def shared_parameters(rng: np.random.Generator, hostile: bool) -> dict[str, Any]:
    """Prior, solver, intercept."""
    chosen: dict[str, Any] = {"fit_intercept": bool(rng.random() < 0.8)}
    if rng.random() < 0.5:
        chosen["prior"] = [*PRIORS, sb.Gamma(1.0, 1.0), sb.Laplace(2.0)][rng.integers(len(PRIORS) + 2)]
    if rng.random() < 0.4:
        chosen["solver"] = str(rng.choice(SOLVERS))
    if hostile and rng.random() < 0.1:
        chosen["max_iter"] = int(rng.integers(1, 20))
    return chosen


def noise_parameters(rng: np.random.Generator, hostile: bool) -> dict[str, Any]:
    """The noise of a regression: estimated, given, or not Gaussian."""
    if rng.random() < 0.2:
        return {"noise_variance": float(10.0 ** (rng.uniform(-200, 10) if hostile else rng.uniform(-4, 1)))}
    if rng.random() < 0.08:
        return {"likelihood": sb.GeneralizedNormal(shape="evidence")}
    return {}


def make_case(number: int) -> Case:
    """The case of this number."""
    rng = np.random.default_rng(number)
    target = str(rng.choice(TARGETS, p=SHARES))
    hostile = bool(rng.random() < 0.5)
    if target == "denoiser":
        return _denoiser_case(rng, number, hostile)
    n = int(rng.integers(1, 12)) if hostile and rng.random() < 0.15 else int(np.exp(rng.uniform(2.3, 5.2)))
    X = inputs(rng, n, int(rng.integers(1, 7)), hostile)
    parameters = shared_parameters(rng, hostile)
    classify = "classifier" in target or (target == "fit" and rng.random() < 0.3)
    if target in ("regressor", "classifier", "select"):
        parameters |= kernel_parameters(rng, hostile)
    if target == "regressor" and rng.random() < 0.2:
        parameters["variance"] = str(rng.choice(["posterior", "augmented", "gp"]))
    if classify:
        y: Any = labels(rng, X, hostile)
        if target == "fit":
            parameters["likelihood"] = "multinomial" if len(np.unique(y)) > 2 else "bernoulli"
        elif rng.random() < 0.2:
            parameters["class_weight"] = "balanced"
    else:
        y = numbers(rng, X, hostile)
        parameters |= noise_parameters(rng, hostile)
    queries = far_queries(rng, X)
    if hostile and rng.random() < 0.05:
        X[rng.integers(n), 0] = rng.choice([np.nan, np.inf])
    if target.startswith("linear") and rng.random() < 0.2:
        X = scipy.sparse.csr_array(X)
    return Case(number, target, hostile, parameters, X, y, row_weights(rng, n, hostile), queries)


def _denoiser_case(rng: np.random.Generator, number: int, hostile: bool) -> Case:
    """A signal, an image or a volume, and the settings of the denoiser."""
    axes = int(rng.choice([1, 1, 1, 2, 3]))
    longest = {1: 600, 2: 40, 3: 14}[axes]
    shape = tuple(int(rng.integers(1 if hostile else 8, longest)) for _ in range(axes))
    n = int(np.prod(shape))
    signal_ = np.cumsum(rng.standard_normal(n)) * 0.1 + rng.standard_normal(n) * 0.2
    if hostile:
        signal_ = numbers(rng, np.arange(n, dtype=float)[:, None], True)
    parameters: dict[str, Any] = {"wavelet": str(rng.choice(["haar", "db4", "sym8", "coif2"])), "ndim": axes}
    if rng.random() < 0.5:
        parameters["prior"] = str(rng.choice(PRIORS))
    if rng.random() < 0.3:
        parameters["shifts"] = int(rng.integers(2, 20))
    if rng.random() < 0.4:
        parameters["boundary"] = str(rng.choice(["periodic", "symmetric"]))
    if rng.random() < 0.2:
        parameters["noise_variance"] = float(10.0 ** (rng.uniform(-200, 10) if hostile else rng.uniform(-3, 1)))
    return Case(number, "denoiser", hostile, parameters, signal_.reshape(shape), None)


# what is run


def run_case(case: Case) -> tuple[str, str]:
    """Fit and predict; the kind of the outcome and what there is to say of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        values, kept, rows = _run(case)
    if case.y is not None and len(set(np.asarray(case.y).tolist())) == 1:
        values.pop("evidence", None)  # constant targets have infinite evidence, as documented
    bad = [name for name, value in values.items() if not np.isfinite(np.asarray(value, dtype=float)).all()]
    if bad:
        return "defect", f"not finite: {', '.join(bad)}"
    if rows >= ROWS and kept > CROWDED * rows and not caught:
        return "defect", f"{kept} functions of {rows} rows kept without a warning"
    return "model", ""


def _run(case: Case) -> tuple[dict[str, Any], int, int]:
    """The values of a fitted model that have to be finite, how many functions it kept, and of how many rows."""
    if case.target == "denoiser":
        model = sb.WaveletDenoiser(**case.parameters).fit(case.X)
        denoised = model.transform(case.X)
        return {"denoised": denoised, "noise": model.noise_variance_}, 0, case.X.size
    if case.target == "fit":
        result = sb.fit(case.X, case.y, sample_weight=case.weights, **case.parameters)
        values = {"mean": result.mean, "evidence": result.log_evidence, "intercept": result.intercept}
        return values, 0, len(case.y)
    if case.target == "select":
        chosen = sb.select(case.X, case.y, _candidates(case))
        return {"evidence": [row["log_evidence"] for row in chosen.table]}, 0, len(case.y)
    kinds = {
        "regressor": sb.RelevanceVectorRegressor,
        "classifier": sb.RelevanceVectorClassifier,
        "linear regressor": sb.SparseBayesRegressor,
        "linear classifier": sb.SparseBayesClassifier,
    }
    model = kinds[case.target](**case.parameters).fit(case.X, case.y, sample_weight=case.weights)
    kept = len(model.relevance_) if "linear" not in case.target else 0
    return _predictions(case, model), kept, len(case.y)


def _candidates(case: Case) -> list[Any]:
    """Three regressors to choose from."""
    plain = sb.RelevanceVectorRegressor(**case.parameters)
    return [plain, sb.RelevanceVectorRegressor("linear-spline"), sb.SparseBayesRegressor()]


def _predictions(case: Case, model: Any) -> dict[str, Any]:
    """What the model says at its training rows and at the queries."""
    values: dict[str, Any] = {"evidence": model.log_evidence_}
    for k, X in enumerate([case.X, *case.queries]):
        if "classifier" in case.target:
            values[f"probabilities {k}"] = model.predict_proba(X)
            model.predict(X)
        else:
            mean, std = model.predict(X, return_std=True)
            values[f"mean {k}"], values[f"std {k}"] = mean, std
    return values


def outcome_of(number: int) -> Outcome:
    """Run a case within the time limit."""
    case, start = make_case(number), time.perf_counter()

    def stop(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        kind, detail = run_case(case)
    except TooSlow:
        kind, detail = "defect", f"slower than {LIMIT:g} s"
    except (ValueError, TypeError) as error:
        kind, detail = _judged(error)
    except Exception as error:
        kind, detail = "defect", f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return Outcome(number, case.target, case.hostile, kind, detail, time.perf_counter() - start)


def _judged(error: Exception) -> tuple[str, str]:
    """A refusal if the message of an error is a sentence of ours."""
    text = str(error)
    ours = "sparsebayes" in (traceback.extract_tb(error.__traceback__)[-1].filename) or "sklearn" in (
        traceback.extract_tb(error.__traceback__)[-1].filename
    )
    clear = 10 < len(text) < LONGEST and " " in text and text.rstrip()[-1] in ".:)"
    return ("refused" if ours and clear else "defect"), f"{type(error).__name__}: {text}"


def replay(number: int) -> None:
    """Print the configuration of a case and run it, without catching anything."""
    case = make_case(number)
    shape = getattr(case.X, "shape", None)
    print(f"case {number}: {case.target}, hostile={case.hostile}, X {shape}, parameters {case.parameters}")
    print(f"y {case.y if case.y is None else case.y[:5]} ..., weights {None if case.weights is None else 'given'}")
    print(run_case(case))


def summary(outcomes: list[Outcome], seconds: float) -> list[str]:
    """The counts by what was called, and every defect."""
    rows = []
    for target in TARGETS:
        of_target = [o for o in outcomes if o.target == target]
        counts = Counter(o.kind for o in of_target)
        slowest = max((o.seconds for o in of_target), default=0.0)
        rows.append([target, *(str(counts[kind]) for kind in ("model", "refused", "defect")), f"{slowest:.1f}"])
    counts = Counter(o.kind for o in outcomes)
    rows.append(["all", *(str(counts[kind]) for kind in ("model", "refused", "defect")), ""])
    first, last = min(o.number for o in outcomes), max(o.number for o in outcomes)
    sections = [
        f"Cases {first} to {last}, in {seconds / 60:.1f} minutes on two processes; half of them on hostile data.",
        table(["called", "model", "refused", "defect", "slowest, s"], rows),
    ]
    defects = [o for o in outcomes if o.kind == "defect"]
    lines = [f"* case {o.number} ({o.target}): {o.detail[:200]}" for o in defects]
    sections.append("Defects:\n\n" + "\n".join(lines) if lines else "No defect.")
    return sections


def main() -> None:
    """Run the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=int)
    options = parser.parse_args()
    if options.replay is not None:
        replay(options.replay)
        return
    start, numbers_ = time.perf_counter(), range(options.first, options.first + options.cases)
    with ProcessPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(outcome_of, numbers_, chunksize=CHUNK))
    sections = summary(outcomes, time.perf_counter() - start)
    report("fuzz", "Random configurations", sections, keep=options.cases >= 10_000)


if __name__ == "__main__":
    main()
