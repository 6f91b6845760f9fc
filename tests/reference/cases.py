"""The registry of the reference fits, what is recorded of each, and the data they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import api
import numpy as np

from sparsebayes.datasets import make_ripley, make_sinc

Record = dict[str, Any]
QUERIES = 10  # points a fitted model predicts at

CASES: dict[str, Callable[[], Record]] = {}


def add(name: str, run: Callable[[], Record]) -> None:
    """Register a fit under a name of its own."""
    assert name not in CASES, f"two reference fits are called {name!r}"
    CASES[name] = run


def run(name: str) -> Record:
    """The record of a fit, with the kinds of warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        record = CASES[name]()
    record["warnings"] = sorted({warning.category.__name__ for warning in caught})
    return {key: plain(value) for key, value in record.items() if value is not None}


def plain(value: Any) -> Any:
    """The value as JSON takes it: numbers as they are, arrays as flat lists."""
    if isinstance(value, bool | str | int):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    flat = np.ravel(np.asarray(value)).tolist()
    return flat if np.ndim(value) else flat[0]


# what is recorded


def of_regressor(model: Any, queries: Any, covariance: bool = False) -> Record:
    """Of a fitted regressor, with predictions at the queries."""
    mean, std = model.predict(queries, return_std=True)
    record = _of_estimator(model) | {"noise_variance": model.noise_variance_, "mean": mean, "std": std}
    record["noise_shape"] = api.noise_shape_of(model)
    for name in ("scales_", "input_relevance_", "excess_variance_"):
        record[name.rstrip("_")] = getattr(model, name, None)
    if hasattr(model, "components_"):
        record["components"] = np.asarray(model.components_)[:, :QUERIES]
    if covariance:
        record["covariance"] = model.predict(queries[:4], return_cov=True)[1]
    return record


def of_classifier(model: Any, queries: Any) -> Record:
    """Of a fitted classifier, with probabilities and outputs at the queries."""
    record = _of_estimator(model) | {"probability": model.predict_proba(queries)}
    record["decision"] = model.decision_function(queries)
    record["predicted"] = [str(label) for label in model.predict(queries)]
    for name in ("scales_", "input_relevance_"):
        record[name.rstrip("_")] = getattr(model, name, None)
    return record


def of_result(result: Any, queries: Any) -> Record:
    """Of a result of `fit`, with predictions at rows of the design."""
    mean, std = result.predict(queries, return_std=True)
    record = _of_fit(result) | {"active": result.active, "weights": result.mean, "alpha": result.alpha}
    record["noise_shape"] = api.noise_shape_of(result)
    return record | {"noise_variance": result.noise_variance, "mean": mean, "std": std}


def of_classes(result: Any, queries: Any) -> Record:
    """Of a result of `fit_classes`, with probabilities at rows of the design, all its terms in one order."""
    function, output = api.active_pairs(result)
    order = np.lexsort((function, output))
    record = _of_fit(result) | {"active": function[order], "output": output[order]}
    record["weights"] = np.ravel(np.asarray(result.mean))[order]
    record["alpha"] = np.ravel(np.asarray(result.alpha))[order]
    return record | {"probability": api.class_probabilities(result, queries)}


def of_probabilities(model: Any, queries: Any) -> Record:
    """Of a classifier of which nothing but the probabilities can be compared."""
    return {"probability": model.predict_proba(queries)}


def _of_estimator(model: Any) -> Record:
    return {
        "log_evidence": model.log_evidence_,
        "objective": api.objective_of(model),
        "active": model.relevance_,
        "weights": api.weights_of(model),
        "alpha": model.alpha_,
        "intercept": model.intercept_,
        "converged": bool(model.converged_),
        "certificate": _certified(model.certificate_),
        "n_iter": int(model.n_iter_),
    }


def _certified(certificate: Any) -> list[str]:
    """What the certificate says, in words."""
    return [name for name in ("is_local_maximum", "at_noise_floor") if getattr(certificate, name, False)]


def _of_fit(result: Any) -> Record:
    return {
        "log_evidence": result.log_evidence,
        "objective": result.objective,
        "intercept": result.intercept,
        "converged": bool(result.converged),
        "certificate": _certified(result.certificate),
        "n_iter": int(result.n_iter),
    }


# data that several files of cases share: rows, targets, queries


def sinc(n: int = 100, seed: int = 0, noise: str = "gaussian") -> tuple[np.ndarray, ...]:
    """One input, sin(x)/x."""
    X, y, _ = make_sinc(n, noise, random_state=seed)
    return X, y, np.linspace(-12, 12, QUERIES)[:, None]


def box(n: int = 80, seed: int = 1, d: int = 3) -> tuple[np.ndarray, ...]:
    """Inputs in the unit cube, of which two matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 2 + 0.1 * rng.standard_normal(n)
    return X, y, rng.uniform(-0.1, 1.1, size=(QUERIES, d)).clip(0.01)


def columns(n: int = 150, m: int = 20, seed: int = 2) -> tuple[np.ndarray, ...]:
    """Correlated columns with means of their own, five of which make the target."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(m) + 0.2 * rng.standard_normal((m, m))
    X, queries = (rng.standard_normal((rows, m)) @ mixing + np.linspace(0, 1, m) for rows in (n, QUERIES))
    return X, X[:, :5] @ [2.0, -1.5, 1.0, 0.5, -0.8] + 3 + 0.4 * rng.standard_normal(n), queries


def wide(n: int = 60, m: int = 150, seed: int = 3) -> tuple[np.ndarray, ...]:
    """More columns than rows, of unit variance."""
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((n, m)), rng.standard_normal((QUERIES, m))
    return X, X[:, [3, 40, 77, 120]] @ [2.0, -1.5, 1.0, 1.2] + 0.2 * rng.standard_normal(n), queries


def two_classes(n: int = 150, seed: int = 4) -> tuple[np.ndarray, ...]:
    """Ripley's mixture."""
    X, y, _ = make_ripley(n, random_state=seed)
    return X, y, make_ripley(QUERIES, random_state=100 + seed)[0]


def classes(k: int = 3, n: int = 120, seed: int = 5, d: int = 2) -> tuple[np.ndarray, ...]:
    """k classes around the corners of a polygon, overlapping; inputs beyond the second do nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    X, queries = rng.standard_normal((n, d)), 1.5 * rng.standard_normal((QUERIES, d))
    angle = 2 * np.pi * y / k
    X[:, 0] += 1.5 * np.cos(angle)
    X[:, 1] += 1.5 * np.sin(angle)
    return X, y, queries


def labelled_columns(k: int = 2, n: int = 120, m: int = 15, seed: int = 6) -> tuple[np.ndarray, ...]:
    """Columns of which the first 2k make the labels."""
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((n, m)), rng.standard_normal((QUERIES, m))
    scores = 1.5 * X[:, :k] - X[:, k : 2 * k] + rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1), queries


# the usual ways from data to a record


def fits(name: str, data: Callable[[], tuple[Any, ...]], *args: Any, weights: Any = None, **options: Any) -> None:
    """A `RelevanceVectorRegressor` fitted to (X, y), predicting at the queries."""

    def run() -> Record:
        X, y, queries = data()
        return of_regressor(api.regressor(*args, **options).fit(X, y, weights), queries)

    add(name, run)


def fits_columns(name: str, data: Callable[[], tuple[Any, ...]], weights: Any = None, **options: Any) -> None:
    """A `SparseBayesRegressor`."""

    def run() -> Record:
        X, y, queries = data()
        return of_regressor(api.linear_regressor(**options).fit(X, y, weights), queries)

    add(name, run)


def fits_labels(
    name: str, data: Callable[[], tuple[Any, ...]], *args: Any, weights: Any = None, **options: Any
) -> None:
    """A `RelevanceVectorClassifier`."""

    def run() -> Record:
        X, y, queries = data()
        return of_classifier(api.classifier(*args, **options).fit(X, y, weights), queries)

    add(name, run)


def fits_labelled_columns(name: str, data: Callable[[], tuple[Any, ...]], weights: Any = None, **options: Any) -> None:
    """A `SparseBayesClassifier`."""

    def run() -> Record:
        X, y, queries = data()
        return of_classifier(api.linear_classifier(**options).fit(X, y, weights), queries)

    add(name, run)
