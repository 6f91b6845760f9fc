"""How good predictions are: errors, coverage of intervals, log scores, calibration of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, gennorm

from sparsebayes.inspection._forecasts import NODES, Forecast
from sparsebayes.inspection._models import model_of_output
from sparsebayes.reports._html import facts, heading, paragraph, table
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries.numbers import significant

LEVELS = (0.5, 0.8, 0.95)
BAND = 0.95  # of the shares that are to be expected
BINS = 10  # of the expected calibration error
MOST_CLASSES = 12  # of a table of all pairs of classes
SCORES = ["", "RMSE", "MAE", "R²", "NLPD", "NLPD without inputs"]
LEGEND = (
    "RMSE and MAE: root mean square and mean absolute error. R²: the share of the variance of the targets that the "
    "predictions explain. NLPD: the mean of −log p(y), p being the predictive density, in nats: the lower, the better; "
    "without inputs: that of one normal distribution with the mean and the variance of these targets."
)
CLASS_LEGEND = (
    "Log loss: the mean of −log p(label) in nats; without inputs: with the shares of the classes as probabilities. "
    "Brier score: the mean square difference of probabilities and labels. Expected calibration error: the mean "
    f"distance of observed frequency and predicted probability in {BINS} bins."
)


def regression_scores(subject: Subject) -> list[str]:
    """Errors and coverage of every output; one sentence for a model without predictive distributions."""
    try:
        forecasts = [forecast_of(subject, output) for output, _ in subject.outputs]
    except ValueError as error:
        return [paragraph(f"Not computed: {error}", "note")]
    names = [name for _, name in subject.outputs]
    errors = [[name, *_errors(subject, k, each)] for k, (name, each) in enumerate(zip(names, forecasts, strict=True))]
    shares = [[name, *map(_percent, coverage(each))] for name, each in zip(names, forecasts, strict=True)]
    shares += _shares_of_gaps(subject, names, forecasts)
    shares.append(["to be expected", *map(_expected, LEVELS, [subject.count] * len(LEVELS))])
    heads = ["", *(f"in {100 * level:g} % intervals" for level in LEVELS)]
    verdicts = [
        line
        for (k, name), each in zip(enumerate(names), forecasts, strict=True)
        for line in _verdict(subject, k, name, each)
    ]
    return [
        *verdicts,
        table(SCORES, errors, [False] + [True] * 5),
        paragraph(LEGEND),
        heading("Coverage of intervals"),
        table(heads, shares, [False] + [True] * len(LEVELS)),
        paragraph(
            "The share of targets inside central predictive intervals. The last line has the range in which "
            f"{100 * BAND:g} % of the shares lie if the intervals are right and errors are independent."
        ),
    ]


def forecast_of(subject: Subject, output: int | None) -> Forecast:
    """The predictive distributions of the rows."""
    return Forecast.of_estimator("report", subject.fitted.whole, subject.X, subject.y, output, subject.noise_variance)


def coverage(forecast: Forecast, rows: Any = slice(None)) -> np.ndarray:
    """The share of the targets of some rows in the central interval of each level, (L,)."""
    return np.mean(np.abs(2 * ndtr(forecast.scores[rows])[:, None] - 1) <= LEVELS, axis=0)


def _shares_of_gaps(subject: Subject, names: list[str], forecasts: list[Forecast]) -> list[list[str]]:
    """The coverage of the rows with missing inputs and of the others, which differ: one noise stands for both."""
    missing = np.asarray(subject.X.isna()).any(axis=1) if hasattr(subject.X, "isna") else np.zeros(subject.count, bool)
    if missing.all() or not missing.any():
        return []
    return [
        [f"{name}, {rows.sum()} rows {which} missing values", *map(_percent, coverage(each, rows))]
        for name, each in zip(names, forecasts, strict=True)
        for rows, which in ((missing, "with"), (~missing, "without"))
    ]


def nlpd(forecast: Forecast, model: Any) -> float:
    """The mean of −log p(y); the noise of the model, if it is not Gaussian, averaged over the posterior of f."""
    if model.noise_shape_ == 2:
        return float(np.mean(0.5 * np.log(2 * np.pi * forecast.std**2) + 0.5 * forecast.scores**2))
    shape, variance = model.noise_shape_, model.noise_variance_
    own = np.sqrt(np.maximum(forecast.std**2 - variance, 0.0))
    weights = np.exp(-0.5 * NODES**2)
    errors = (forecast.y - forecast.mean)[:, None] - own[:, None] * NODES
    density = gennorm.pdf(errors, shape, scale=np.sqrt(variance) / gennorm.std(shape)) @ (weights / weights.sum())
    return float(-np.log(np.maximum(density, np.finfo(float).tiny)).mean())


def _errors(subject: Subject, number: int, forecast: Forecast) -> list[str]:
    """RMSE, MAE, R² and log scores of an output, as text."""
    error, variance = forecast.y - forecast.mean, float(forecast.y.var())
    explained = 1 - float(np.mean(error**2)) / variance if variance > 0 else np.nan
    values = [np.sqrt(np.mean(error**2)), np.abs(error).mean(), explained, *_log_scores(subject, number, forecast)]
    return [significant(float(value)) for value in values]


def _log_scores(subject: Subject, number: int, forecast: Forecast) -> tuple[float, float]:
    """The NLPD of an output, and that without inputs; NaN if all targets are equal."""
    own, variance = model_of_output(subject.model, subject.outputs[number][0])[0], float(forecast.y.var())
    without = 0.5 * np.log(2 * np.pi * variance) + 0.5 if variance > 0 else np.nan
    return nlpd(forecast, own), without


def _verdict(subject: Subject, number: int, name: str, forecast: Forecast) -> list[str]:
    """In words whether the inputs help to predict an output, and whether its intervals are right."""
    own, without = _log_scores(subject, number, forecast)
    found = _comparison(f"{name}: predictions", "NLPD", own, without)
    share, (low, high) = float(coverage(forecast)[-1]), _range(LEVELS[-1], subject.count)
    said = f"{name}: {100 * LEVELS[-1]:g} % intervals contain {_percent(share)} of the targets, "
    expected = f"{_percent(low)} to {_percent(high)} are to be expected"
    if share < low:
        return [*found, paragraph(f"{said}fewer than they should ({expected}): error bars are too narrow.", "warning")]
    if share > high:
        return [*found, paragraph(f"{said}more than they should ({expected}): error bars are too wide.", "warning")]
    return [*found, paragraph(f"{said}as they should ({expected}).")]


def _comparison(what: str, score: str, own: float, without: float) -> list[str]:
    """In words whether a score, the lower the better, is below that without inputs; nothing if that is unknown."""
    if not np.isfinite(without):
        return []
    numbers = f"({score} {significant(own, 3)}, {significant(without, 3)} without inputs)"
    if own < without:
        return [paragraph(f"{what} are better than those without inputs {numbers}.")]
    return [paragraph(f"{what} are no better than those without inputs {numbers}.", "warning")]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _expected(level: float, n: int) -> str:
    low, high = _range(level, n)
    return f"{_percent(low)} to {_percent(high)}"


def _range(level: float, n: int) -> tuple[float, float]:
    """Between which shares of n targets in intervals 95 % of the shares lie if the intervals are right."""
    low, high = binom.ppf([0.5 - 0.5 * BAND, 0.5 + 0.5 * BAND], n, level) / n
    return float(low), float(high)


def class_scores(subject: Subject) -> list[str]:
    """Accuracy, log loss and calibration, and how often each class was taken for which."""
    classes, labels = subject.model.classes_, np.asarray(subject.y)
    logs = np.asarray(subject.fitted.whole.predict_log_proba(subject.X))
    found, probabilities = np.equal.outer(labels, classes), np.exp(logs)
    shares = found.mean(axis=0)
    scores = {
        "accuracy": np.mean(classes[probabilities.argmax(axis=1)] == labels),
        "accuracy of the largest class": shares.max(),
        "log loss": log_loss(found, logs),
        "log loss without inputs": -np.sum(shares[shares > 0] * np.log(shares[shares > 0])),
        "Brier score": np.mean(np.sum((found - probabilities) ** 2, axis=1)),
        "expected calibration error": calibration_error(found, probabilities),
    }
    parts = _comparison("Probabilities", "log loss", scores["log loss"], scores["log loss without inputs"])
    parts += [facts((name, significant(float(value))) for name, value in scores.items()), paragraph(CLASS_LEGEND)]
    if len(classes) <= MOST_CLASSES:
        parts += [heading("Labels and predictions"), _confusion(classes, found, probabilities)]
    return parts


def log_loss(found: np.ndarray, logs: np.ndarray) -> float:
    """The mean of −log p(label).  found : (N, K) which class a row is of.  logs : log probabilities (N, K)."""
    return float(-logs[found].mean())


def calibration_error(found: np.ndarray, probabilities: np.ndarray) -> float:
    """The mean |frequency − probability| over bins: of the second of two classes, of more the predicted one."""
    chosen = probabilities.argmax(axis=1) if found.shape[1] > 2 else np.ones(len(found), dtype=int)
    p, hit = (np.take_along_axis(each, chosen[:, None], axis=1)[:, 0] for each in (probabilities, found))
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, hit - p)).sum() / len(p))


def _confusion(classes: Sequence[Any], found: np.ndarray, probabilities: np.ndarray) -> str:
    counts = found.T.astype(int) @ np.eye(len(classes), dtype=int)[probabilities.argmax(axis=1)]
    rows = [[f"label {label}", *map(str, row)] for label, row in zip(classes, counts.tolist(), strict=True)]
    return table(["", *(f"predicted {label}" for label in classes)], rows, [False] + [True] * len(classes))
