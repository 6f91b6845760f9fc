"""What a model is: its parameters, kernel, prior, noise and versions; how it is loaded, and how long it takes."""

from __future__ import annotations

import platform
import time
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from sparsebayes.reports._html import Section, code, facts, heading, paragraph, scrolling
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries import Summary
from sparsebayes.summaries.numbers import significant

PACKAGES = ("sparsebayes", "numpy", "scipy", "scikit-learn")
REPEATS, SECONDS = 50, 0.2  # of the prediction of one row, at most

CHOSEN = "Which of them are in it was decided by the evidence."
KINDS = {
    "RelevanceVectorRegressor": "A relevance vector machine for regression: the prediction is a weighted sum of a few "
    f"kernel functions, each centred at a training row. {CHOSEN}",
    "SparseBayesRegressor": "A sparse Bayesian linear regression: the prediction is a weighted sum of a few columns. "
    f"{CHOSEN}",
    "RelevanceVectorClassifier": "A relevance vector machine for classification: the log odds are a weighted sum of a "
    f"few kernel functions, each centred at a training row. {CHOSEN}",
    "SparseBayesClassifier": "A sparse Bayesian logistic regression: the log odds are a weighted sum of a few columns. "
    f"{CHOSEN}",
    "WaveletDenoiser": "A sparse Bayesian model of wavelet coefficients: each is shrunk or set to zero as the evidence "
    "of its level says.",
}
SAVING = """import sparsebayes

sparsebayes.save(model, "model.sbm")
model = sparsebayes.load("model.sbm")
"""


def kind_of(model: Any) -> str:
    """One or two sentences about what the model is."""
    name = next(cls.__name__ for cls in type(model).__mro__ if cls.__name__ in KINDS)
    return KINDS[name]


def summary_of_subject(subject: Subject) -> Summary:
    """The summary of the model, its functions named after the columns that it was given."""
    if subject.is_denoiser or hasattr(subject.model, "feature_names_in_"):
        return subject.model.summary().for_readers()
    return subject.model.summary(input_features=subject.fitted.input_names()).for_readers()


def card_section(subject: Subject, summary: Summary) -> Section:
    """The section about the model as a whole."""
    model, whole = subject.model, subject.fitted.whole
    steps = [] if whole is model else [("steps", " → ".join(type(step).__name__ for _, step in whole.steps))]
    pairs = [("estimator", type(model).__name__), *steps, ("parameters", changed_parameters(model))]
    if hasattr(model, "kernel"):
        pairs.append(("kernel", model.kernel if isinstance(model.kernel, str) else repr(model.kernel)))
    pairs += [pair for pair in summary.facts if pair[0] not in {"rows"}]
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    made = [
        ("versions", f"{versions}, Python {platform.python_version()}"),
        ("date of this report", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
    return Section("model", "Model card", [paragraph(kind_of(model)), facts([*pairs, *made])])


def changed_parameters(model: Any) -> str:
    """The parameters that differ from their defaults, as they are written in Python."""
    known = signature(type(model)).parameters
    changed = {
        name: value for name, value in model.get_params(deep=False).items() if not _same(value, known[name].default)
    }
    return ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "all at their defaults"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def functions_section(summary: Summary, pictures: list[str]) -> Section:
    """The section with the table of the functions."""
    table = replace(summary, facts=())  # which are on the model card
    return Section("functions", "Functions and weights", [scrolling(table._repr_html_()), *pictures])


def timings_section(subject: Subject) -> Section:
    """The section about how long things take."""
    trace = [move for each in getattr(subject.model, "estimators_", [subject.model]) for move in each.trace_]
    seconds = sum(move.seconds for move in trace)
    one, method = seconds_of_one_row(subject)
    return Section(
        "timings",
        "Timings",
        [
            facts(
                [
                    ("fit", f"{significant(seconds, 3)} s in {len(trace)} move{'s' * (len(trace) != 1)} of the solver"),
                    ("prediction of one row", f"{significant(1000 * one, 3)} ms ({method})"),
                ]
            ),
            paragraph(
                "The time of the fit is that of its solver, where the model was fitted. The prediction was measured "
                "when this report was made, checks of the input included: the median of several calls."
            ),
        ],
    )


def seconds_of_one_row(subject: Subject) -> tuple[float, str]:
    """The median time that a prediction of one row takes, and the method that was called."""
    method = "predict_proba" if subject.is_classifier else "predict"
    predict, row, taken = getattr(subject.fitted.whole, method), subject.X[:1], [0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what was said before
        predict(row)
        while len(taken) <= REPEATS and sum(taken) < SECONDS:
            began = time.perf_counter()
            predict(row)
            taken.append(time.perf_counter() - began)
    return float(np.median(taken[1:])), method


def loading_section(subject: Subject) -> Section:
    """The section about model files and other formats."""
    parts = [
        paragraph("A model file holds the fitted model, without pickle; reading one executes nothing."),
        code(SAVING + _use(subject)),
    ]
    if subject.is_denoiser:
        return Section("loading", "Loading the model", parts)
    whole = "model" if subject.fitted.before is None else "model[-1]"
    lines = [
        "from sparsebayes.export import export_c, export_onnx, to_json",
        "",
        f'export_onnx({whole}, "model.onnx")',
        f'export_c({whole}, "model.c")',
        f"text = to_json({whole})",
    ]
    parts += [heading("Other languages and runtimes"), code("\n".join(lines))]
    parts.append(paragraph("Kernels that are functions of yours, kernel matrices and wavelets have no such form."))
    if subject.fitted.before is not None:
        parts.append(paragraph("These take the inputs of the last step, as the steps before it make them."))
    return Section("loading", "Loading the model", parts)


def _use(subject: Subject) -> str:
    if subject.is_denoiser:
        return "denoised, std = model.transform(X, return_std=True)"
    return (
        "probabilities = model.predict_proba(X)"
        if subject.is_classifier
        else "mean, std = model.predict(X, return_std=True)"
    )
