"""From a choice to a fitted model, pictures of it, and the figures that the page shows."""

from __future__ import annotations

import base64
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparsebayes import inspection
from sparsebayes.explorer.choices import MOST_CLASSES, Choice
from sparsebayes.inspection._letters import all_letters
from sparsebayes.inspection._png import png_of
from sparsebayes.tables import MissingValueWarning
from sparsebayes.tables.columns import numbers, texts


def explored(choice: Choice, frame: Any, callback: Callable[[Any], Any], max_time: float) -> dict[str, Any]:
    """Fit the choice on the rows whose target is known; the answer of the server as a dict for JSON.

    callback : called at each step of the fit; a true return value ends it.  max_time : seconds for the fit.
    """
    frame = frame[frame[choice.target].notna()].reset_index(drop=True)
    y = _targets(choice, frame[choice.target])
    X = frame[[*choice.inputs]]
    model = choice.pipeline(callback=callback, max_time=max_time)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    seconds = time.perf_counter() - began
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)  # these are the rows of the fit
        figures, pictures = _figures(model, X, y, seconds), list(_pictures(choice, model, X, y))
    return {
        "summary": model[-1].summary(max_rows=30)._repr_html_(),
        "figures": figures,
        "pictures": [{"title": title, "png": data} for title, data in pictures],
        "warnings": list(dict.fromkeys(str(each.message) for each in said)),
    }


def _targets(choice: Choice, values: Any) -> Any:
    """The targets; numbers are a Series, so that pictures name them."""
    if not len(values):
        raise ValueError(f"{choice.target!r} has no values.")
    if values.nunique() < 2:
        raise ValueError(f"{choice.target!r} has one value only: there is nothing to predict.")
    if not choice.classify:
        return values.__class__(numbers(values), name=values.name)
    if values.nunique() > MOST_CLASSES:
        raise ValueError(
            f"{choice.target!r} has {values.nunique()} different values, more than the {MOST_CLASSES} classes that the "
            "page fits: pick regression or another target."
        )
    return np.asarray(texts(values))


def _figures(model: Any, X: Any, y: np.ndarray, seconds: float) -> dict[str, Any]:
    """The numbers of one line of the history."""
    estimator = model[-1]
    predicted = model.predict(X)
    error = np.mean(predicted != y) if hasattr(estimator, "classes_") else np.sqrt(np.mean((predicted - y) ** 2))
    noise = getattr(estimator, "noise_variance_", None)
    return {
        "log evidence": float(estimator.log_evidence_),
        "functions": len(estimator.relevance_),
        "training error": float(error),
        "noise std": None if noise is None else float(np.sqrt(noise)),
        "seconds": round(seconds, 2),
    }


def _pictures(choice: Choice, model: Any, X: Any, y: np.ndarray) -> Iterator[tuple[str, str]]:
    """The pictures of a model, each with a title, as PNG in base 64; of a classification, of its last class."""
    encoded, estimator = model[0].transform(X), model[-1]
    yield from (_classification if choice.classify else _regression)(estimator, encoded, y)
    inputs, label = encoded.shape[1], {"class_label": estimator.classes_[-1]} if choice.classify else {}
    if inputs > 1:
        yield (
            "Effect of each input",
            _png(inspection.PartialDependenceDisplay.from_estimator, estimator, encoded, **label),
        )
    if getattr(estimator, "input_relevance_", None) is not None and inputs > 1:
        yield "Which inputs matter", _png(inspection.InputRelevanceDisplay.from_estimator, estimator)
    if len(estimator.relevance_):
        yield "Weights", _png(inspection.WeightsDisplay.from_estimator, estimator, max_weights=20, **label)
    yield "Evidence, move by move", _png(inspection.EvidenceDisplay.from_estimator, estimator)
    if not choice.classify and len(estimator.relevance_) > 1:
        yield "What a smaller model costs", _png(inspection.SparsityPathDisplay.from_estimator, estimator, encoded, y)


def _regression(estimator: Any, X: Any, y: np.ndarray) -> Iterator[tuple[str, str]]:
    if X.shape[1] == 1:
        yield "Fit, error bars and vectors", _png(inspection.RegressionDisplay.from_estimator, estimator, X, y)
    yield "Residuals", _png(inspection.ResidualsDisplay.from_estimator, estimator, X, y)


def _classification(estimator: Any, X: Any, y: np.ndarray) -> Iterator[tuple[str, str]]:
    if X.shape[1] <= 2:
        yield "Probabilities", _png(inspection.ClassificationDisplay.from_estimator, estimator, X, y)
    label = estimator.classes_[-1]
    title = f"Are the probabilities of {label} right?"
    yield title, _png(inspection.ReliabilityDisplay.from_estimator, estimator, X, y, class_label=label)


def _png(draw: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """A picture in base 64."""
    with all_letters():
        return base64.b64encode(png_of(draw(*arguments, **options))).decode("ascii")
