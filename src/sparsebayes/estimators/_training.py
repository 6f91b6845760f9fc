"""From the arguments of `fit` to the rows, the functions and the model, in steps that an estimator calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from sparsebayes._array import Array, beside, is_foreign, namespace, rows_of, submatrix, take, to_numpy
from sparsebayes._checks import warn
from sparsebayes.bases import BoundBasis, BoundConcatenation, as_basis
from sparsebayes.checkpoints import Journal, open_journal
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.prior import Prior, Uniform
from sparsebayes.core.result import Result
from sparsebayes.estimators._callbacks import iteration_callback
from sparsebayes.estimators._order import first_of_each, ordered_by
from sparsebayes.fit import AUTO, MONITOR, fit, identify_parameters, make_monitor
from sparsebayes.priors import Automatic, PerPart, as_prior
from sparsebayes.rows.devices import result_beside
from sparsebayes.rows.known_noise import KnownNoise
from sparsebayes.rows.validation import as_counts
from sparsebayes.scale_learning import LearnedScales, learn_scales
from sparsebayes.solvers.monitor import FitMonitor

MANY_ROWS, SAMPLE, ISOLATED = 1000, 64, 0.1  # rows; rows looked at; neighbours that a row needs
WITH_WIDTH = ("rbf", "laplacian", "matern", "rational-quadratic")  # kernels whose width is learned by default
LEARNED = ("evidence", "ard")  # values of gamma that are learned: one width, or a scale for each input
FIXED = ("scale", "auto")  # values of gamma that are known before the fit
HOST = np.zeros(0)  # what is beside it is on the host
FIT_PARAMETERS = signature(fit).parameters.keys() - {"prior"}


@dataclass(frozen=True, eq=False)
class Rows:
    """Validated training rows of positive weight; X, y, weights and noise in the library and on the device of X.

    X : (n, d) dense or SciPy-sparse.  y : (n,) targets or labels.  weights : (n,) or None for once each.
    noise : (n,) the known noise variance of each row; None if it is not known.
    numbers : their numbers among all `total` rows given to `fit`; of a row that repeats others, that of the first
        of them.
    places : (n,) their places among the rows of positive weight as they were given.
    columns : the columns of a query that belong to these rows, if X is a kernel matrix and rows are missing.
    """

    X: Any
    y: Array
    weights: Array | None
    numbers: np.ndarray
    total: int
    places: np.ndarray
    columns: np.ndarray | None = None
    noise: Array | None = None

    @property
    def known_noise(self) -> KnownNoise | None:
        """What is known of the noise of each row; None if nothing is."""
        return None if self.noise is None else KnownNoise(self.noise, self.counts)

    def given(self, values: Array) -> Array:
        """Values whose last axis is that of the rows, in the order in which the rows were given."""
        back = np.argsort(self.places)
        return take(values, back, axis=values.ndim - 1) if is_foreign(values) else values[..., back]

    @property
    def counts(self) -> Array:
        """How often each row counts, (n,)."""
        if self.weights is not None:
            return self.weights
        return beside(np.ones(int(self.y.shape[0])), self.y)


def training_rows(estimator: Any, X: Any, y: Array, weights: Array | None, noise: Array | None = None) -> Rows:
    """The rows of positive weight, out of the validated arguments of `fit`."""
    n = int(y.shape[0])
    weights, places = as_counts(weights), np.arange(n)
    if weights is None or bool(namespace(weights).all(weights > 0)):
        return Rows(X, y, weights, places, n, places, noise=noise)
    kept = np.flatnonzero(to_numpy(weights))
    pairwise = get_tags(estimator).input_tags.pairwise
    X = submatrix(X, kept, kept) if pairwise else rows_of(X, kept)
    noise = None if noise is None else rows_of(noise, kept)
    columns = kept if pairwise else None
    return Rows(X, rows_of(y, kept), rows_of(weights, kept), kept, n, places[: len(kept)], columns, noise)


def sorted_rows(rows: Rows, order: np.ndarray, group: np.ndarray) -> Rows:
    """The rows in the order of `row_order`, those that repeat one another by y and weight."""
    if group[-1] + 1 < len(order):
        y, weights = to_numpy(rows.y), None if rows.weights is None else to_numpy(rows.weights)
        order = ordered_by(group, order, *(y if y.ndim == 2 else y[:, None]).T, weights)
    return replace(
        rows,
        X=rows_of(rows.X, order),
        y=rows_of(rows.y, order),
        weights=None if rows.weights is None else rows_of(rows.weights, order),
        numbers=first_of_each(group, rows.numbers[order]),
        places=rows.places[order],
        noise=None if rows.noise is None else rows_of(rows.noise, order),
    )


def bind_kernel(estimator: Any, rows: Rows) -> BoundBasis:
    """The kernel functions that the parameters of an estimator ask for, on these rows."""
    gamma = gamma_of(estimator)
    basis = as_basis(estimator.kernel, "scale" if learns(gamma) else gamma, estimator.degree, estimator.coef0)
    bound = basis.bind(rows.X, rows.weights, estimator.centres)
    if not learns(gamma):
        refuse_isolated(bound, rows.X)
    return bound


def refuse_isolated(bound: BoundBasis, X: Array) -> None:
    """Raise ValueError for a kernel so narrow that every one of many rows would be a function of its own.

    Of some rows, Σ_m k(x, x_m)² beyond the largest term says how many other functions reach each of them.
    """
    n = X.shape[0]
    if n <= MANY_ROWS or bound.n_functions < n or not bound.is_one_kernel:
        return  # few rows are no trouble, and only kernels have a width
    xp, columns = namespace(X), bound(rows_of(X, np.linspace(0, n - 1, SAMPLE).astype(int)))
    columns = xp.abs(columns)
    largest = xp.max(columns, axis=1)
    reach = xp.sum((columns / xp.where(largest > 0, largest, 1.0)[:, None]) ** 2, axis=1)
    reach = to_numpy(reach)[to_numpy(largest) > 0]
    if len(reach) and float(np.median(reach)) - 1 < ISOLATED:
        raise ValueError(
            f"gamma makes the kernel so narrow that the {n} rows of X do not reach each other, and each would be a "
            "function of its own: give a smaller gamma, gamma='scale' or gamma='evidence'."
        )


def gamma_of(estimator: Any) -> Any:
    """The gamma of an estimator: where it is None, "evidence" for a named kernel that has a width, else "scale"."""
    if estimator.gamma is not None:
        return estimator.gamma
    return "evidence" if isinstance(estimator.kernel, str) and estimator.kernel in WITH_WIDTH else "scale"


def learns(gamma: Any) -> bool:
    """Whether a value of gamma asks for scales that are learned."""
    return isinstance(gamma, str) and gamma in LEARNED


def learn(estimator: Any, bound: BoundBasis, rows: Rows, evidence: Any, monitor: FitMonitor) -> LearnedScales:
    """The functions at the scales that gamma="evidence" or "ard" learns."""
    prior_of(estimator, bound)  # an error now rather than after the search
    bound = with_scales(estimator, bound)
    try:
        with np.errstate(all="ignore"):  # the search takes no step to where the evidence is not a number
            learned = learn_scales(bound, rows.X, evidence, monitor=monitor, tied=gamma_of(estimator) != "ard")
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(
            f"gamma={gamma_of(estimator)!r} cannot be learned: the kernel at the rows of X leaves the range of "
            "floating point; rescale X, or give gamma a number."
        ) from error
    if monitor.out_of_time:
        warn("The search for scales ran out of max_time; raise max_time, or give gamma a number.", ConvergenceWarning)
    return learned


def monitor_of(estimator: Any, kept: bool = True) -> FitMonitor:
    """The monitor of a fit, which also sees how long the search for scales takes.

    kept : whether the checkpoint of the estimator is used.
    """
    own = {"callback": iteration_callback(estimator), "checkpoint": journal_of(estimator) if kept else None}
    given = estimator.get_params(deep=False) | own
    return make_monitor(*(given[name] for name in MONITOR))


def journal_of(estimator: Any) -> Journal | None:
    """The journal of a fit of this estimator, which knows its parameters; one that is given as it is."""
    journal = open_journal(estimator.checkpoint)
    if journal is not None and journal is not estimator.checkpoint:
        identify_parameters(journal, type(estimator).__name__, estimator.get_params(deep=False))
    return journal


def identify_rows(journal: Journal | None, rows: Rows) -> None:
    """Say to a journal which data are fitted."""
    if journal is not None:
        for name, value in {"X": rows.X, "y": rows.y, "sample_weight": rows.weights, "noise": rows.noise}.items():
            journal.identify(name, value)


def with_scales(estimator: Any, bound: BoundBasis) -> BoundBasis:
    """The functions with the scales that gamma="evidence" or "ard" would learn, as they are before that."""
    bound = bound.with_scale_per_input() if gamma_of(estimator) == "ard" else bound
    if not len(bound.log_scales):
        raise ValueError(
            f"gamma={gamma_of(estimator)!r} needs a kernel with scales that are not fixed, got "
            f"kernel={estimator.kernel!r}."
        )
    return bound


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidate functions of a fit: `bound`, and their numbers in the list of all functions.

    kind : an empty array of the library and on the device of the training rows; None if that is the host.
    """

    bound: BoundBasis
    numbers: np.ndarray
    kind: Array | None = None

    @classmethod
    def of(cls, bound: BoundBasis, rows: Rows) -> Candidates:
        """All functions of a basis on these rows."""
        kind = rows.y[:0, ...] if is_foreign(rows.y) else None
        return cls(bound.at_rows(rows.numbers), bound.numbers(rows.numbers, rows.total)[0], kind)

    def without(self, irrelevant: np.ndarray) -> Candidates:
        """The candidates without those at these positions."""
        if not len(irrelevant):  # a selection of all functions might be stored in another way
            return self
        kept = np.delete(np.arange(self.bound.n_functions), irrelevant)
        return replace(self, bound=self.bound.select(kept.tolist()), numbers=self.numbers[kept])


def fit_candidates(estimator: Any, candidates: Candidates, rows: Rows, monitor: FitMonitor, **options: Any) -> Result:
    """The fitted model of these functions and rows, on the host, by the parameters of the estimator and options.

    monitor : that of the whole fit, which says how much time is left.
    """
    prior = prior_of(estimator, candidates.bound)
    operator = candidates.bound.operator(rows.X)
    options = fit_parameters(estimator) | {"max_time": monitor.time_left, "checkpoint": monitor.journal} | options
    if monitor.stopped:  # while scales were learned: a first model, and no further question
        options["callback"] = lambda progress: True
    if rows.noise is not None:
        options["likelihood"] = Gaussian(variance=rows.noise)
    result = fit(operator, rows.y, prior=prior, sample_weight=rows.weights, **options)
    return result_beside(result, HOST)


def fit_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that `fit` has too, except the prior."""
    given = estimator.get_params(deep=False) | {"callback": iteration_callback(estimator)}
    names = given.keys() & FIT_PARAMETERS
    return {name: given[name] for name in (names - {"groups"} if hasattr(estimator, "kernel") else names)}


def prior_of(estimator: Any, bound: BoundBasis) -> Prior:
    """The prior of an estimator; "auto" depends on the rows there are for each column, and is uniform for kernels."""
    if isinstance(estimator.prior, str) and estimator.prior == AUTO:
        return Uniform() if hasattr(estimator, "kernel") else Automatic(estimator.n_features_in_)
    return prior_of_parts(estimator.prior, bound)


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
