"""A report: one page of HTML that needs nothing else."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass
from typing import Any

from sparsebayes._checks import MissingValueWarning
from sparsebayes.estimators._range import ExtrapolationWarning
from sparsebayes.estimators._representation import status
from sparsebayes.export._writing import write_bytes
from sparsebayes.inspection._matplotlib import pyplot_module
from sparsebayes.reports import _drawings as drawings
from sparsebayes.reports._certificate import certificate_section
from sparsebayes.reports._data import data_section
from sparsebayes.reports._html import Section, paragraph, tiles
from sparsebayes.reports._limits import limits_section
from sparsebayes.reports._model_card import (
    card_section,
    functions_section,
    kind_of,
    loading_section,
    summary_of_subject,
    timings_section,
)
from sparsebayes.reports._rows import EVALUATIONS, TRAINING, Evidence, statement
from sparsebayes.reports._scores import class_scores, regression_scores
from sparsebayes.reports._style import STYLE
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries import Summary
from sparsebayes.summaries.hypertext import escaped

MOST_NAMES = 3  # of targets, in a title
HEADLINES = ("selected", "signals", "noise", "noise std", "log evidence", "classes")
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # the page loads nothing


@dataclass(frozen=True, repr=False)
class Report:
    """A report of a fitted model, as a page of HTML.

    Parameters
    ----------
    html : str
        The page: pictures and style are in it, and it loads nothing.
    title : str
        Its title.

    See Also
    --------
    report : Make a report.
    """

    html: str
    title: str

    def save(self, path: Any) -> None:
        """Write the page to a file, which is there as a whole or not at all.

        Parameters
        ----------
        path : str, path or binary file object
            Where to write; a file that is there is replaced.
        """
        write_bytes(self.html.encode("utf-8"), path)

    def __repr__(self) -> str:
        return f"<Report {self.title!r}, {len(self.html.encode('utf-8')) // 1024} kB; save it by .save(path)>"

    def _repr_html_(self) -> str:
        """What a notebook displays: the page in a frame."""
        frame = 'style="width: 100%; height: 40rem; border: 1px solid #d9dfe4" sandbox=""'
        return f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.html)}" {frame}></iframe>'


def report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    title: str | None = None,
    evaluation: str | None = None,
    noise_variance: Any = None,
) -> Report:
    """All that is known of a fitted model, and of its predictions of rows, as one page of HTML.

    It has the data, a model card, the table of the selected functions, the displays of `sparsebayes.inspection` that
    suit the model, errors and calibration, the certificate in words, timings, how to load the model, and its limits.

    Parameters
    ----------
    model : fitted estimator
        `RelevanceVectorRegressor`, `SparseBayesRegressor`, `RelevanceVectorClassifier`, `SparseBayesClassifier` or
        `WaveletDenoiser`; a pipeline of scikit-learn that ends with one, or a search over such.
    X : array or data frame of shape (n_samples, n_features), or signals
        Rows that are predicted, best such that the model has not seen, as `model.predict` takes them.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Their targets or labels. Ignored for a denoiser.
    title : str, optional
        The title of the page; by default it names the model and the target.
    evaluation : {"training", "held out"}, optional
        Whether the rows are those of the fit. The page says so, and whether the model agrees; None leaves it to the
        model, which does not always know.
    noise_variance : array of shape (n_samples,), optional
        The noise variance of each row, if the model was fitted to known ones.

    Returns
    -------
    Report
        The page: `save(path)` writes it, `html` is its text, and a notebook shows it.

    Examples
    --------
    >>> from sparsebayes import RelevanceVectorRegressor
    >>> from sparsebayes.datasets import make_sinc
    >>> from sparsebayes.reports import report
    >>> X, y, _ = make_sinc(100, random_state=0)
    >>> page = report(RelevanceVectorRegressor().fit(X, y), X, y, title="Sinc", evaluation="training")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    if evaluation not in EVALUATIONS:
        raise ValueError(f"evaluation must be 'training', 'held out' or None, got {evaluation!r}.")
    pyplot_module()  # an error at once, not after a minute
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # the page says where rows and range differ
        warnings.simplefilter("ignore", MissingValueWarning)  # and how many values are missing
        subject = Subject.of(model, X, y, noise_variance)
        title = " of ".join([type(subject.model).__name__, *_target(subject)]) if title is None else str(title)
        summary = summary_of_subject(subject)
        sections = _of_signals(subject, summary) if subject.is_denoiser else _of_rows(subject, summary, evaluation)
    return Report(_page(title, kind_of(subject.model), _headlines(subject, summary), sections), title)


def _target(subject: Subject) -> list[str]:
    """What the target is called; nothing if there is none, or if that says nothing."""
    names = [] if subject.is_denoiser else [name for _, name in subject.outputs[:MOST_NAMES]]
    return [", ".join(names)] if names not in ([], ["y"]) else []


def _of_rows(subject: Subject, summary: Summary, evaluation: str | None) -> list[Section]:
    """The sections about a regressor or classifier."""
    known = Evidence.of(subject)
    rows = statement(evaluation, known)
    scores = class_scores(subject) if subject.is_classifier else regression_scores(subject)
    fit, inputs = drawings.fit(subject), drawings.inputs(subject)
    sizes = drawings.path(subject) if known.kind == TRAINING else []
    return [
        data_section(subject, rows),
        card_section(subject, summary),
        functions_section(summary, drawings.weights(subject)),
        *([Section("fit", "The fit", fit)] if fit else []),
        *([Section("inputs", "Inputs", inputs)] if inputs else []),
        Section("calibration", "Errors and calibration", [*scores, *drawings.calibration(subject)]),
        *([Section("sizes", "Smaller models", sizes)] if sizes else []),
        certificate_section(subject),
        timings_section(subject),
        loading_section(subject),
        limits_section(subject),
    ]


def _of_signals(subject: Subject, summary: Summary) -> list[Section]:
    """The sections about a denoiser."""
    return [
        data_section(subject, ""),
        card_section(subject, summary),
        functions_section(summary, []),
        Section("fit", "Denoised", drawings.signals(subject)),
        loading_section(subject),
        limits_section(subject),
    ]


def _headlines(subject: Subject, summary: Summary) -> str:
    """The figures that matter most."""
    pairs = [] if subject.is_denoiser else [("rows here", str(subject.count))]
    pairs += [pair for pair in summary.facts if pair[0] in HEADLINES]
    return tiles(pairs if subject.is_denoiser else [*pairs, ("status", status(subject.model))])


def _page(title: str, lead: str, headlines: str, sections: list[Section]) -> str:
    links = "".join(f'<li><a href="#{each.anchor}">{escaped(each.title)}</a></li>' for each in sections)
    body = "\n".join(each.html for each in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<div class="page">
<header><h1>{escaped(title)}</h1><p class="lead">{escaped(lead)}</p>{headlines}</header>
<nav aria-label="Contents"><ol>{links}</ol></nav>
<main>
{body}
</main>
<footer>{paragraph("Made by sparsebayes. This page needs no network.")}</footer>
</div>
</body>
</html>
"""
