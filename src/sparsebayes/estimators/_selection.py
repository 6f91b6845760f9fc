"""Model choice without cross-validation: the evidence, and leave-one-out in closed form, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from sparsebayes._checks import warn
from sparsebayes.estimators._classification import SparseClassification
from sparsebayes.estimators._dask import refuse_dask
from sparsebayes.estimators._leave_one_out import leave_one_out
from sparsebayes.estimators._regression import SparseRegression
from sparsebayes.laplace import LaplaceLikelihood
from sparsebayes.solvers.regression import NOT_SPARSE, NoiseCollapseWarning

COLLAPSED = 1e-4  # of the squared leave-one-out error: a noise variance below it is none
CRITERIA = {"evidence": ("log_evidence", -1), "loo": ("loo_log_loss", 1)}


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates in order, the best first.

    Attributes
    ----------
    table : list of dict
        One dict per candidate, with the keys "candidate", its name; "index", its place in the list;
        "log_evidence", log p(y | α, σ²) plus the log priors of α and σ²; "loo_error", the root mean square
        error, or the share of wrong labels, each row predicted without itself; "loo_log_loss", minus the mean
        log density (or probability) of each row, predicted without itself; "functions", how many were selected;
        "collapsed", whether a regression follows the noise, with almost a function per row or hardly any noise;
        "seconds", the time of the fit.
    best_estimator_ : estimator
        The best candidate, fitted.
    best_index_ : int
        Its place in the list of candidates.
    """

    table: list[dict[str, Any]]
    best_estimator_: Any
    best_index_: int

    def __str__(self) -> str:
        width = max(len(name) for name in ("candidate", *(row["candidate"] for row in self.table)))
        head = f"{'candidate':{width}}  log evidence  LOO error  LOO log loss  functions  seconds"
        lines = [
            f"{row['candidate']:{width}}  {row['log_evidence']:12.2f}  {row['loo_error']:9.4g}  "
            f"{row['loo_log_loss']:12.4f}  {row['functions']:9d}  {row['seconds']:7.2f}"
            for row in self.table
        ]
        return "\n".join([head, *lines])


def select(X: Any, y: Any, candidates: Sequence[Any], by: str = "evidence") -> Selection:
    """Fit every candidate to (X, y), and rank them by the evidence or by leave-one-out.

    Candidates may differ in basis, prior, noise or solver. Both criteria cost almost nothing beside the fit.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Targets or labels: the same for all candidates, or their evidences do not compare.
    candidates : sequence of estimators, or of pairs (name, estimator)
        Regressors, or classifiers, of this package, or scikit-learn Pipelines that end in one. They are cloned. A
        regression that has collapsed, with as many functions as rows or a noise far below its leave-one-out errors,
        ranks behind all others.
    by : {"evidence", "loo"}, default="evidence"
        "evidence" ranks by the log evidence plus the log priors of what was maximised. A function that is not
        selected counts 0 under every prior; the normaliser of the smoothness prior over a wide range of α [SE07,
        eq. 17], relative to that of the uniform one, tends to 1, so that priors compare. "loo" ranks by the
        log density of each row given the others.

    Returns
    -------
    Selection
        The table of all candidates and the fitted winner. `print` shows it.

    Notes
    -----
    Both criteria refer to the maximum over α that was found, and α has been fitted to the same rows: both favour
    a basis that can follow the noise [SE07, 1.1.1]. docs/learning-kernels.md shows an example, and a remedy.
    """
    refuse_dask(
        X, "select predicts every row without itself, which needs all of them in memory, and X is a Dask collection"
    )
    if by not in CRITERIA:
        raise ValueError(f"by must be one of {list(CRITERIA)}, got {by!r}.")
    if not isinstance(candidates, Iterable):
        raise TypeError(f"candidates must be a sequence of estimators, got {candidates!r}.")
    named = [_named(each) for each in candidates]
    if not named:
        raise ValueError("candidates must be a non-empty sequence of estimators, got none.")
    if len({is_classifier(_last_step(model)) for _, model in named}) > 1:
        raise ValueError("candidates must be all regressors or all classifiers, got both.")
    rows, fitted = [], []
    for index, (name, model) in enumerate(named):
        start = time.perf_counter()
        fitted.append(clone(model).fit(X, y))
        rows.append(_row(name, index, fitted[-1], X, y, time.perf_counter() - start))
    key, sign = CRITERIA[by]
    rows.sort(key=lambda row: (row["collapsed"], sign * row[key]))
    best = rows[0]["index"]
    if rows[0]["collapsed"]:
        warn(
            "Every candidate has collapsed: each follows the noise of y with almost a function per row; use wider "
            "kernels, or prior='bic'.",
            NoiseCollapseWarning,
        )
    return Selection(rows, fitted[best], best)


def _named(candidate: Any) -> tuple[str, Any]:
    name, model = candidate if isinstance(candidate, tuple) and len(candidate) == 2 else (None, candidate)
    last = _last_step(model)
    if not isinstance(last, SparseRegression | SparseClassification):
        raise TypeError(
            "candidates must be estimators of sparsebayes, Pipelines that end in one, or pairs (name, estimator), got "
            f"{model!r}."
        )
    likelihood = getattr(last, "likelihood", None)
    if isinstance(likelihood, LaplaceLikelihood) and not hasattr(likelihood, "log_predictive"):
        raise TypeError(
            f"candidates must have a likelihood that knows the log density of a new target (log_predictive), which "
            f"leave-one-out needs, got likelihood={likelihood!r}."
        )
    return (" ".join(str(model).split()) if name is None else str(name)), model


def _last_step(model: Any) -> Any:
    """The estimator itself, or the last step of a Pipeline."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _has_collapsed(model: Any, loo_error: float, n: int) -> bool:
    """Whether a regression follows the noise: a function for almost every row, or a noise far below its errors."""
    if is_classifier(model):
        return False
    noise = float(np.max(model.noise_variance_))
    at_floor = bool(getattr(model.certificate_, "at_noise_floor", False))
    return at_floor or len(model.relevance_) > NOT_SPARSE * n or noise < COLLAPSED * loo_error**2


def _row(name: str, index: int, model: Any, X: Any, y: Any, seconds: float) -> dict[str, Any]:
    if isinstance(model, Pipeline):
        X, model = model[:-1].transform(X), _last_step(model)
    without = leave_one_out(model, X, y)
    return {
        "candidate": name,
        "index": index,
        "log_evidence": float(model._fitted.result.objective),
        "loo_error": without.error,
        "loo_log_loss": without.log_loss,
        "functions": len(model.relevance_),
        "collapsed": _has_collapsed(model, without.error, len(y)),
        "seconds": seconds,
    }
