"""What the rows of a report are: how many, their columns, ranges, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes.reports._html import Section, facts, heading, paragraph, table
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries.numbers import MISSING, significant
from sparsebayes.tables.columns import DAY, as_days

MOST_COLUMNS = 40
HEADS = ["column", "kind", "least", "median", "largest", "distinct", "missing"]
NUMERIC = [False, False, True, True, True, True, True]


def data_section(subject: Subject, statement: str) -> Section:
    """The section about the rows; statement : which rows they are, a paragraph."""
    if subject.is_denoiser:
        return Section("data", "Data", [facts(_of_signals(np.asarray(subject.X, dtype=np.float64)))])
    n, d = subject.X.shape
    parts = [facts([("rows", str(n)), ("columns", str(d)), *_target_facts(subject)]), statement]
    if scipy.sparse.issparse(subject.X):
        share = subject.X.nnz / max(n * d, 1)
        parts.append(paragraph(f"X is sparse: {subject.X.nnz} stored numbers, {100 * share:.3g} % of the matrix."))
    else:
        dates = subject.fitted.date_columns()
        rows = [
            _column(name, _dates(subject.X[name]) if name in dates else values) for name, values in _columns(subject)
        ]
        parts += [heading("Columns"), table(HEADS, rows, NUMERIC)]
        if d > MOST_COLUMNS:
            parts.append(paragraph(f"The first {MOST_COLUMNS} of {d} columns are listed."))
    parts += [heading("Target"), _targets(subject)]
    return Section("data", "Data", parts)


def _target_facts(subject: Subject) -> list[tuple[str, str]]:
    names = [name for _, name in subject.outputs]
    return [("target" if len(names) == 1 else "targets", ", ".join(names))]


def _columns(subject: Subject) -> list[tuple[str, np.ndarray]]:
    """Names and values of the first columns, as they were given."""
    X = subject.X
    if hasattr(X, "columns"):
        return [(str(name), np.asarray(X[name])) for name in list(X.columns)[:MOST_COLUMNS]]
    names = subject.fitted.input_names()
    names = names if len(names) == X.shape[1] else [f"x{k}" for k in range(X.shape[1])]
    return [(name, np.asarray(X[:, k])) for k, name in enumerate(names[:MOST_COLUMNS])]


def _column(name: str, values: np.ndarray) -> list[str]:
    """A line about a column."""
    if values.dtype.kind in "biuf":
        return _number_column(name, values.astype(np.float64))
    missing = np.isnat(values) if values.dtype.kind == "M" else np.asarray([_is_missing(x) for x in values.tolist()])
    known = values[~missing]
    ends, kind = [MISSING] * 3, "text"
    if values.dtype.kind == "M" and len(known):
        ends, kind = [str(known.min())[:10], MISSING, str(known.max())[:10]], "date"
    distinct = len({str(each) for each in known.tolist()})
    return [name, kind, *ends, str(distinct), str(int(missing.sum()))]


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _dates(values: Any) -> np.ndarray:
    """A column that an encoder takes for dates, as dates."""
    days = as_days(values)
    return np.where(np.isnan(days), np.datetime64("NaT", "us"), (np.nan_to_num(days) * DAY).astype("datetime64[us]"))


def _number_column(name: str, values: np.ndarray) -> list[str]:
    missing = np.isnan(values)
    known = values[~missing]
    ends = [known.min(), np.median(known), known.max()] if len(known) else [np.nan] * 3
    texts = [significant(float(each)) for each in ends]
    return [name, "number", *texts, str(len(np.unique(known))), str(int(missing.sum()))]


def _targets(subject: Subject) -> str:
    """Ranges of the targets, or how many rows each class has."""
    if not subject.is_classifier:
        rows = [_number_column(name, subject.target(k).astype(np.float64)) for k, name in subject.outputs]
        return table(HEADS, rows, NUMERIC)
    counts = [int(np.sum(np.asarray(subject.y) == label)) for label in subject.model.classes_]
    shares = [f"{100 * count / subject.count:.1f} %" for count in counts]
    rows = [[str(label), str(n), share] for label, n, share in zip(subject.model.classes_, counts, shares, strict=True)]
    return table(["class", "rows", "share"], rows, [False, True, True])


def _of_signals(X: np.ndarray) -> list[tuple[str, str]]:
    """Facts about signals or images."""
    known: Any = X[~np.isnan(X)]
    return [
        ("shape", " × ".join(map(str, X.shape))),
        ("samples", str(X.size)),
        ("missing", str(int(np.isnan(X).sum()))),
        ("least", significant(float(known.min())) if known.size else MISSING),
        ("largest", significant(float(known.max())) if known.size else MISSING),
    ]
