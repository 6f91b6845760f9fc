"""From the arguments of `fit` to the rows, the functions and the model, in steps that an estimator calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from sparsebayes.bases import BoundBasis, BoundConcatenation, as_basis
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.estimators._order import first_of_each, ordered_by
from sparsebayes.fit import fit
from sparsebayes.priors import PerPart, as_prior
from sparsebayes.scale_learning import LearnedScales, learn_scales

LEARNED = ("evidence", "ard")  # values of gamma that are learned: one width, or a scale for each input
FIXED = ("scale", "auto")  # values of gamma that are known before the fit
FIT_PARAMETERS = signature(fit).parameters.keys() - {"prior"}


@dataclass(frozen=True, eq=False)
class Rows:
    """Validated training rows of positive weight.

    X : (n, d) dense or SciPy-sparse.  y : (n,) targets or labels.  weights : (n,) or None for once each.
    numbers : their numbers among all `total` rows given to `fit`; of a row that repeats others, that of the first
        of them.
    places : (n,) their places among the rows of positive weight as they were given.
    columns : the columns of a query that belong to these rows, if X is a kernel matrix and rows are missing.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    numbers: np.ndarray
    total: int
    places: np.ndarray
    columns: np.ndarray | None = None

    def given(self, values: np.ndarray) -> np.ndarray:
        """Values whose last axis is that of the rows, in the order in which the rows were given."""
        return values[..., np.argsort(self.places)]

    @property
    def counts(self) -> np.ndarray:
        """How often each row counts, (n,)."""
        return np.ones(len(self.y)) if self.weights is None else self.weights


def training_rows(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Rows:
    """The rows of positive weight, out of the validated arguments of `fit`."""
    places = np.arange(len(y))
    if weights is None or weights.all():
        return Rows(X, y, weights, places, len(y), places)
    kept = np.flatnonzero(weights)
    pairwise = get_tags(estimator).input_tags.pairwise
    X = X[np.ix_(kept, kept)] if pairwise else X[kept]
    return Rows(X, y[kept], weights[kept], kept, len(y), places[: len(kept)], kept if pairwise else None)


def sorted_rows(rows: Rows, order: np.ndarray, group: np.ndarray) -> Rows:
    """The rows in the order of `row_order`, those that repeat one another by y and weight."""
    order = ordered_by(group, order, rows.y, rows.weights)
    return replace(
        rows,
        X=rows.X[order],
        y=rows.y[order],
        weights=None if rows.weights is None else rows.weights[order],
        numbers=first_of_each(group, rows.numbers[order]),
        places=rows.places[order],
    )


def bind_kernel(estimator: Any, rows: Rows) -> BoundBasis:
    """The kernel functions that the parameters of an estimator ask for, on these rows."""
    gamma = estimator.gamma
    if isinstance(gamma, str) and gamma not in (*FIXED, *LEARNED):
        words = ", ".join(map(repr, (*FIXED, *LEARNED)))
        raise ValueError(f"gamma must be one of {words} or positive numbers, got {gamma!r}.")
    basis = as_basis(estimator.kernel, "scale" if learns(gamma) else gamma, estimator.degree, estimator.coef0)
    return basis.bind(rows.X, rows.weights, estimator.centres)


def learns(gamma: Any) -> bool:
    """Whether a value of gamma asks for scales that are learned."""
    return isinstance(gamma, str) and gamma in LEARNED


def learn(estimator: Any, bound: BoundBasis, rows: Rows, evidence: Any) -> LearnedScales:
    """The functions at the scales that gamma="evidence" or "ard" learns."""
    bound = bound.with_scale_per_input() if estimator.gamma == "ard" else bound
    if not len(bound.log_scales):
        raise ValueError(f"gamma={estimator.gamma!r} needs a kernel with scales, got kernel={estimator.kernel!r}.")
    return learn_scales(bound, rows.X, evidence)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidate functions of a fit: `bound`, and their numbers in the list of all functions."""

    bound: BoundBasis
    numbers: np.ndarray

    @classmethod
    def of(cls, bound: BoundBasis, rows: Rows) -> Candidates:
        """All functions of a basis on these rows."""
        return cls(bound, bound.numbers(rows.numbers, rows.total)[0])

    def without(self, irrelevant: np.ndarray) -> Candidates:
        """The candidates without those at these positions."""
        if not len(irrelevant):  # a selection of all functions might be stored in another way
            return self
        kept = np.delete(np.arange(self.bound.n_functions), irrelevant)
        return Candidates(self.bound.select(kept.tolist()), self.numbers[kept])


def fit_candidates(estimator: Any, candidates: Candidates, rows: Rows, **options: Any) -> Result:
    """The fitted model of these functions and rows, by the parameters of the estimator and further options."""
    prior = prior_of_parts(estimator.prior, candidates.bound)
    operator = candidates.bound.operator(rows.X)
    options |= fit_parameters(estimator)
    return fit(operator, rows.y, prior=prior, sample_weight=rows.weights, **options)


def fit_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that `fit` has too, except the prior."""
    given = estimator.get_params(deep=False)
    return {name: given[name] for name in given.keys() & FIT_PARAMETERS}


def prior_of_parts(prior: Any, bound: BoundBasis) -> Prior:
    """The prior that a parameter means; a list has one for each part of a concatenation."""
    if not isinstance(prior, list | tuple):
        return as_prior(prior)
    parts = bound.parts if isinstance(bound, BoundConcatenation) and bound.order is None else ()
    if len(parts) != len(prior):
        raise ValueError(
            f"prior must be one prior, or a list of one for each part of a concatenation ({len(parts)} here), "
            f"got {len(prior)}."
        )
    return PerPart([as_prior(each) for each in prior], [part.n_functions for part in parts])
