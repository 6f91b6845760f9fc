"""Which displays suit a model, with a caption for each."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from sparsebayes.bases import BoundConcatenation
from sparsebayes.estimators._validation import is_gaussian
from sparsebayes.inspection import (
    ClassificationDisplay,
    ComponentsDisplay,
    DenoisingDisplay,
    EvidenceDisplay,
    InputRelevanceDisplay,
    PartialDependenceDisplay,
    PITDisplay,
    RegressionDisplay,
    ReliabilityDisplay,
    ResidualsDisplay,
    ShrinkageDisplay,
    SparsityPathDisplay,
    WeightsDisplay,
)
from sparsebayes.reports._html import paragraph, picture
from sparsebayes.reports._subject import Subject

MOST = 4  # outputs or classes that are drawn one by one
GRID, AVERAGED = 25, 200  # values of an input, and rows, of a partial dependence
RELEVANCE = (
    "Relevance of the inputs: the mean square by which the prediction moves when an input is set to its mean, over the "
    "variance of the prediction. Length scales: an input with a long one does little, or acts almost linearly."
)
PIT = (
    "Probability integral transforms, uniform if the predictive distributions are right (hills: error bars too wide; "
    "walls at the ends: too narrow), and the share of targets in central intervals against their level. Grey: 95 % of "
    "what is to be expected if all is right."
)
RESIDUALS = (
    "Residuals against predictions, over ± 2 predictive standard deviations (those beyond them in orange), and against "
    "the normal quantiles that they should have."
)
RELIABILITY = (
    "Observed frequencies, with 95 % intervals, against predicted probabilities: on the diagonal they are right."
)
PATH_ROWS, PATH_FUNCTIONS = 3000, 60  # up to which the path to smaller models is followed


def weights(subject: Subject) -> list[str]:
    """The weights of every output or class."""
    caption = "Weights with ± 2 posterior standard deviations, the largest first."
    return [
        picture(_of(name) + caption, partial(WeightsDisplay.from_estimator, subject.fitted.whole, **which))
        for name, which in _kinds(subject)
    ] + _rest(subject)


def evidence(subject: Subject) -> list[str]:
    """How the evidence rose, of every model that was fitted in more than one move."""
    apart, drawn = getattr(subject.model, "estimators_", None), []
    for k, model in enumerate(apart[:MOST] if apart else [subject.model]):
        if len(model.trace_) > 1:
            caption = (f"Model {k + 1}: t" if apart else "T") + "he log evidence after each move of the solver."
            drawn.append(picture(caption, partial(EvidenceDisplay.from_estimator, model)))
    return drawn


def fit(subject: Subject) -> list[str]:
    """The fit itself, where inputs are few enough to be drawn; the parts of a dictionary."""
    few, whole = subject.fewer(), subject.fitted.whole
    inputs = _drawable_inputs(few)
    if subject.is_classifier:
        caption = "Probabilities of the classes; the rows by their labels; the relevance vectors circled."
        of_classes = partial(ClassificationDisplay.from_estimator, whole, few.X, np.asarray(few.y))
        return [picture(caption, of_classes)] if inputs in (1, 2) else []
    drawn = []
    if inputs == 1:
        caption = "The prediction, ± 2 predictive standard deviations, the rows, and the relevance vectors circled."
        for output, name in subject.outputs[:MOST]:
            options = {"output": output, "noise_variance": few.noise_variance}
            draw = partial(RegressionDisplay.from_estimator, whole, few.X, few.y, **options)
            drawn.append(picture((_of(name) if output is not None else "") + caption, draw))
    return drawn + _parts(few)


def _parts(subject: Subject) -> list[str]:
    """The parts of a dictionary of several bases."""
    models = getattr(subject.model, "estimators_", [subject.model])
    if not all(isinstance(each._fitted.basis, BoundConcatenation) for each in models):
        return []
    caption = (
        "What each part of the kernel contributes, with ± 2 posterior standard deviations, without noise; rows with a "
        "spike of their own are circled as outliers."
    )
    return [
        picture(
            (_of(name) if output is not None else "") + caption,
            partial(ComponentsDisplay.from_estimator, subject.fitted.whole, subject.X, subject.y, output=output),
        )
        for output, name in subject.outputs[:MOST]
    ]


def inputs(subject: Subject) -> list[str]:
    """What each input does, and how much it matters."""
    few, whole, drawn = subject.fewer(), subject.fitted.whole, []
    if get_tags(subject.model).input_tags.pairwise:  # rows of a kernel matrix, not inputs
        return []
    if hasattr(subject.model, "input_relevance_") and subject.model.n_features_in_ > 1:
        draw = partial(InputRelevanceDisplay.from_estimator, whole, few.X if few.count > 1 else None)
        drawn.append(picture(RELEVANCE, draw, by_panel=True))
    for name, which in _kinds(subject):
        what = f"average prediction of {name}" if name else "average prediction"
        what = f"average probability of {name}" if subject.is_classifier else what
        caption = (
            f"Partial dependence: the {what} with one input set to a value for all rows, and ± 2 posterior standard "
            "deviations of that average, without noise. Ticks at the bottom: the deciles of the input."
        )
        options = {"grid_resolution": GRID, "subsample": AVERAGED, **which}
        draw_averages = partial(PartialDependenceDisplay.from_estimator, whole, few.X, **options)
        drawn.append(picture(caption, draw_averages, by_panel=True))
    names = [each for each in _not_numbers(subject.X) if each not in subject.fitted.date_columns()]
    if names:
        drawn.append(paragraph(f"Partial dependence is drawn for numbers and dates alone, not for {', '.join(names)}."))
    return drawn


def calibration(subject: Subject) -> list[str]:
    """Whether predictive distributions are right."""
    few, whole = subject.fewer(), subject.fitted.whole
    if subject.is_classifier:
        return [picture(RELIABILITY, partial(ReliabilityDisplay.from_estimator, whole, few.X, np.asarray(few.y)))]
    drawn = []
    for output, name in subject.outputs[:MOST]:
        options = {"output": output, "noise_variance": few.noise_variance}
        of = _of(name) if output is not None else ""
        pit = partial(PITDisplay.from_estimator, whole, few.X, few.y, **options)
        residuals = partial(ResidualsDisplay.from_estimator, whole, few.X, few.y, **options)
        drawn += [picture(of + PIT, pit, by_panel=True), picture(of + RESIDUALS, residuals, by_panel=True)]
    return drawn + _rest(subject)


def path(subject: Subject) -> list[str]:
    """What a smaller model costs; X and y must be the rows of the fit."""
    model = subject.model
    small = subject.count <= PATH_ROWS and len(model.relevance_) <= PATH_FUNCTIONS
    if subject.is_classifier or not small or subject.outputs[0][0] is not None or model.max_vectors is not None:
        return []
    if model.groups is not None or not is_gaussian(model.likelihood) or not len(model.relevance_):
        return []
    caption = "What a smaller model costs: log evidence and leave-one-out error of nested models."
    options = {"noise_variance": subject.noise_variance}
    rows = subject.fitted.transformed(subject.X)
    return [picture(caption, partial(SparsityPathDisplay.from_estimator, model, rows, subject.y, **options))]


def signals(subject: Subject) -> list[str]:
    """A denoised signal or image, the first one of several."""
    model, X = subject.model, np.asarray(subject.X, dtype=np.float64)
    channels = model.channel_axis is not None
    single = X.ndim == model.ndim + channels
    signal, of = (X, "") if single else (X[0], f"The first of {len(X)} signals. ")
    if channels:
        of += f"The first of {signal.shape[model.channel_axis]} channels. "
        model, signal = _of_first_channel(model), np.take(signal, 0, axis=model.channel_axis)
    caption = {
        1: "Noisy samples, the denoised signal and ± 2 posterior standard deviations.",
        2: "The noisy image, the denoised one in the same grey scale, and the posterior standard deviation.",
        3: "The slice in the middle of the noisy volume, of the denoised one, and of the posterior standard deviation.",
    }
    shrinkage = (
        "What became of each wavelet coefficient, level by level: its posterior mean against its observed value."
    )
    return [
        picture(of + caption[model.ndim], partial(DenoisingDisplay.from_estimator, model, signal)),
        picture(of + shrinkage, partial(ShrinkageDisplay.from_estimator, model, signal)),
    ]


def _of_first_channel(model: Any) -> Any:
    """A denoiser of the first channel of the signals that a denoiser takes."""
    single = copy(model)
    known = model.noise_variance
    return single.set_params(channel_axis=None, noise_variance=known if np.ndim(known) == 0 else known[0])


def _kinds(subject: Subject) -> list[tuple[str, dict[str, Any]]]:
    """The outputs or classes that are drawn one by one: their names, and the options that choose them."""
    if subject.is_classifier:
        classes = subject.model.classes_
        return [
            (f"class {each}", {"class_label": each}) for each in (classes[1:] if len(classes) == 2 else classes[:MOST])
        ]
    outputs = subject.outputs
    return [(name if output is not None else "", {"output": output}) for output, name in outputs[:MOST]]


def _not_numbers(X: Any) -> list[str]:
    """The columns of a data frame of pandas that are no numbers."""
    if not hasattr(X, "assign"):
        return []
    return [str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if dtype.kind not in "biuf"]


def _of(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}: " if name else ""


def _rest(subject: Subject) -> list[str]:
    """A word about outputs or classes that are not drawn."""
    kinds = len(subject.model.classes_) if subject.is_classifier else len(subject.outputs)
    what = "classes" if subject.is_classifier else "outputs"
    return [paragraph(f"The first {MOST} of {kinds} {what} are drawn.")] if kinds > MOST else []


def _drawable_inputs(subject: Subject) -> int:
    """The number of inputs, 0 if they are not all finite numbers."""
    X = subject.X
    if X.shape[1] > 2 or not (hasattr(X, "columns") or isinstance(X, np.ndarray)):
        return 0
    values = np.asarray(X)
    return X.shape[1] if values.dtype.kind in "biuf" and np.isfinite(values.astype(np.float64)).all() else 0
