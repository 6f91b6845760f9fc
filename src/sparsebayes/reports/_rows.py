"""Whether rows are those that a model was fitted to: what was stated, and what the model knows."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.estimators._validation import is_gaussian
from sparsebayes.reports._html import paragraph
from sparsebayes.reports._subject import Subject

TRAINING, HELD_OUT = "training", "held out"
EVALUATIONS = (TRAINING, HELD_OUT, None)
CHANCE = 0.01  # that none of the relevance vectors is among some of the rows of the fit
ROUNDING = 1e-6  # of the spread of the targets: a mean residual that is zero but for rounding

ADVICE = {
    TRAINING: "On rows of the fit all figures flatter the model: they say whether the fit is sound, not how large "
    "errors are on new rows. A report on held-out rows says that.",
    HELD_OUT: "Figures on rows that the model has not seen tell what to expect of new rows of the same kind.",
    None: "If they are rows of the fit, all figures flatter the model: they say whether the fit is sound, not how "
    "large errors are on new rows.",
}


@dataclass(frozen=True)
class Evidence:
    """What the model knows of rows.

    kind : "training", "held out" or None for neither.  words : why.
    overlap : whether some of the rows, though not all, seem to be rows of the fit.
    """

    kind: str | None
    words: str
    overlap: bool = False

    @classmethod
    def of(cls, subject: Subject) -> Evidence:
        """Compare the rows with the relevance vectors, or with what the weights say of the rows of the fit."""
        model, n = subject.model, subject.count
        known = model._fitted.n_rows
        if known is None:
            return cls(None, "the model does not know how many rows it was fitted to")
        vectors = _vectors(model)
        if vectors is not None:
            return cls._of_vectors(_number_among(vectors, subject), len(vectors), n, known)
        if n != known:
            return cls(None, f"the model was fitted to {known} rows, and these are {n}")
        if _is_stationary(subject):
            return cls(
                TRAINING, f"they are {n} like those of the fit, and the residuals have the mean of the fit, zero"
            )
        return cls(None, f"they are {n} like those of the fit, but the residuals do not have the mean of the fit")

    @classmethod
    def _of_vectors(cls, found: int, vectors: int, n: int, known: int) -> Evidence:
        if found == 0 and max(1 - n / known, 0.0) ** vectors < CHANCE:
            return cls(HELD_OUT, f"none of the {vectors} relevance vectors is among them")
        if found == vectors and n == known:
            return cls(
                TRAINING, f"they are {n} like those of the fit, and all {vectors} relevance vectors are among them"
            )
        return cls(
            None,
            f"the fit had {known} rows, these are {n}, and {found or 'none'} of its {vectors} relevance vectors "
            f"{'is' if found < 2 else 'are'} among them",
            overlap=found > 0,
        )


def statement(stated: str | None, known: Evidence) -> str:
    """One paragraph that says which rows these are, by whom that was stated, and what it means."""
    if stated == HELD_OUT and known.overlap:
        said = f"These rows were stated to be {_words(stated)}, but some look like rows of the fit: {known.words}."
        return paragraph(f"{said} {ADVICE[TRAINING]}", "warning")
    if stated is not None and known.kind is not None and stated != known.kind:
        said = f"These rows were stated to be {_words(stated)}, but they look like {_words(known.kind)}: {known.words}."
        return paragraph(f"{said} {ADVICE[TRAINING]}", "warning")
    kind = stated or known.kind
    if kind is None:
        said = f"Whether these are rows of the fit was not stated, and the model cannot tell: {known.words}."
    elif stated is None:
        said = f"As far as the model can tell these are {_words(kind)}: {known.words}."
    elif known.kind is None:
        told = "are those of the fit" if kind == TRAINING else "played no part in the fit"
        said = f"You said that these rows {told}. The model cannot check that: {known.words}."
    else:
        said = f"These are {_words(kind)}, as was stated and as the model confirms: {known.words}."
    return paragraph(f"{said} {ADVICE[kind]}", "note")


def _words(kind: str) -> str:
    return "training rows, to which the model was fitted" if kind == TRAINING else "held-out rows, not those of the fit"


def _vectors(model: Any) -> np.ndarray | None:
    """The relevance vectors (S, d) of a kernel machine; None of other models, or if it has none."""
    if not hasattr(model, "kernel"):
        return None
    found = [getattr(each, "relevance_vectors_", None) for each in getattr(model, "estimators_", [model])]
    known = [np.asarray(each) for each in found if each is not None and np.ndim(each) == 2 and len(each)]
    return np.concatenate(known) if known and all(each.shape[1] == model.n_features_in_ for each in known) else None


def _number_among(vectors: np.ndarray, subject: Subject) -> int:
    """How many of the vectors are rows."""
    rows = subject.numbers()
    assert rows is not None  # kernel machines take no sparse rows
    known = {row.tobytes() for row in np.ascontiguousarray(rows) + 0.0}
    return sum(row.tobytes() in known for row in np.ascontiguousarray(vectors, dtype=np.float64) + 0.0)


def _is_stationary(subject: Subject) -> bool:
    """Whether the mean residual is zero, as an intercept makes it on the rows of a fit that count equally."""
    model = subject.model
    if not model.fit_intercept or not (subject.is_classifier or is_gaussian(model.likelihood)):
        return False
    residuals, scale = _residuals(subject)
    return bool((np.abs(residuals.mean(axis=0)) <= ROUNDING * scale).all())


def _residuals(subject: Subject) -> tuple[np.ndarray, Any]:
    """Targets less predictions at the most probable weights, and what they are to be measured in."""
    model, rows = subject.model, subject.fitted.transformed(subject.X)
    if not subject.is_classifier:
        y = np.asarray(subject.y, dtype=np.float64)
        return y - np.asarray(model.predict(rows)), np.maximum(y.std(axis=0), np.finfo(float).tiny)
    mode = copy(model).set_params(moderated=False)
    return np.equal.outer(np.asarray(subject.y), model.classes_) - mode.predict_proba(rows), 1.0
