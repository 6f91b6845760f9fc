"""What a model should not be trusted with."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.estimators._representation import status
from sparsebayes.estimators._validation import is_gaussian
from sparsebayes.reports._html import Section, bullets
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries.numbers import significant

ROWS = (
    "Rows count as independent: for series in time or groups of related rows error bars and evidence are too confident."
)


def limits_section(subject: Subject) -> Section:
    """The section about the limits of the model."""
    if subject.is_denoiser:
        return Section("limits", "Limits", [bullets(_of_denoiser())])
    model = subject.model
    texts = [_extrapolation(subject), _error_bars(model), _noise(model), ROWS]
    if status(model) != "certified local maximum":
        texts.insert(0, f"The status of the fit is: {status(model)}.")
    texts.append(
        "Weights and relevance describe what predicts the target in these data, not what causes it; of functions that "
        "are nearly alike one is selected for all."
    )
    return Section("limits", "Limits", [bullets(texts)])


def _extrapolation(subject: Subject) -> str:
    """What the prediction does far from the training rows, and how many rows are there."""
    model = subject.model
    if not hasattr(model, "kernel"):
        return (
            "The model is linear in its columns, and goes on linearly beyond the rows of the fit, whatever is true "
            "there."
        )
    ranges = [getattr(each, "_range", None) for each in getattr(model, "estimators_", [model])]
    known = next((each for each in ranges if each is not None), None)
    if known is None and subject.is_classifier:
        return "Far from the training rows nothing was learned: probabilities tend to the shares of the classes there."
    if known is None:
        return "Beyond the range of the training rows the kernel functions go on, whatever is true there."
    told = "Far from all training rows the prediction is the intercept, whatever is true there: the kernel is local."
    rows = subject.numbers()
    assert rows is not None  # kernel machines take no sparse rows
    beyond = int(np.sum((np.maximum(known.low - rows, rows - known.high) > known.margin).any(axis=1)))
    return (
        f"{told} Of the {subject.count} rows here {beyond} lie outside the training range by more than a kernel width."
    )


def _error_bars(model: Any) -> str:
    """What error bars take as known."""
    told = "Error bars take the estimated precisions of the weights, the noise and the scales of kernels as known."
    if getattr(model, "excess_variance_", 0.0) > 0:
        return f"{told} What functions that were not selected leave uncertain is in them, on average over rows."
    return f"{told} That other functions might have been selected is not in them."


def _noise(model: Any) -> str:
    """What is assumed of the noise, or of labels."""
    if hasattr(model, "classes_"):
        return (
            "Labels count as right; the posterior of the weights is approximated by a Gaussian. Probabilities hold "
            "for rows in which the classes are as frequent as in the fit."
        )
    variance = np.sqrt(np.atleast_1d(model.noise_variance_))
    size = significant(float(variance[0]), 3) if len(variance) == 1 else "given for each row or output"
    shape = "Gaussian" if is_gaussian(model.likelihood) else repr(model.likelihood)
    return f"The noise ({shape}, standard deviation {size}) is the same everywhere, unless it was given for each row."


def _of_denoiser() -> list[str]:
    return [
        "The noise counts as white and Gaussian, of one variance for a whole signal: coloured noise is taken for "
        "signal in part.",
        "Features smaller than the noise in all wavelets are removed; close to jumps small oscillations may remain.",
        "Error bars hold on average over a level, not for every sample.",
    ]
