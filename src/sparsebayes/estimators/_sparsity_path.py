"""What a smaller model would cost: the nested models between one function and all that were selected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import to_numpy
from sparsebayes._checks import is_number
from sparsebayes.bases.stacked_operator import as_operator
from sparsebayes.core.fit import result_of
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Monitor, Solution
from sparsebayes.core.units import Units
from sparsebayes.estimators._training import Rows, training_rows
from sparsebayes.estimators._validation import check_inputs, check_noise, is_gaussian, like_of
from sparsebayes.fit import as_likelihood
from sparsebayes.priors import Uniform
from sparsebayes.rows.memory import summarise
from sparsebayes.rows.validation import check_targets, check_weights
from sparsebayes.scale_learning import LeaveOneOutPredictions
from sparsebayes.solvers.regression import NoiseOptions
from sparsebayes.solvers.sized import nested

SAME_EVIDENCE = 1e-6  # relative: by how much the evidence on the rows given may differ from that of the fit


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Nested models of a regression, from one function to all that were selected, in the order of their sizes.

    The least useful function is deleted, α and the noise variance are estimated again, and so on: each model has
    all functions of the smaller ones. Beyond 100 functions sizes differ by two or more; a size is also missing
    if one of its functions would have lowered the evidence.

    Attributes
    ----------
    size : ndarray of int, shape (P,)
        Functions of each model, ascending.
    log_evidence : ndarray of shape (P,)
        Log marginal likelihood of y.
    leave_one_out_error : ndarray of shape (P,)
        Root mean square error of the prediction of each row from the others, in closed form: α and the noise
        variance stay what they are, the weights are those without the row.
    noise_variance : ndarray of shape (P,)
        σ², estimated at each size unless it was given; the harmonic mean of the variances if each row has its own.
    order : ndarray of int, shape (S,)
        The functions in the order in which they enter, numbered as in `relevance_`.
    """

    size: np.ndarray
    log_evidence: np.ndarray
    leave_one_out_error: np.ndarray
    noise_variance: np.ndarray
    order: np.ndarray

    def functions(self, size: int) -> np.ndarray:
        """The functions of the model of that size.

        Parameters
        ----------
        size : int
            One of the sizes of the path.

        Returns
        -------
        ndarray of int, shape (size,)
            Their numbers, ascending, as in `relevance_`.
        """
        if size not in self.size:
            raise ValueError(f"size must be one of the sizes of the path, got {size!r}: see the attribute size.")
        return np.sort(self.order[: int(size)])

    def smallest(self, tolerance: float = 0.05) -> int:
        """The smallest size at which the leave-one-out error is hardly larger than at its best.

        Parameters
        ----------
        tolerance : float, default=0.05
            By how much the error may exceed the least one of the path, relatively.

        Returns
        -------
        int
            The size, a value for `max_vectors`.
        """
        if not is_number(tolerance) or tolerance < 0:
            raise ValueError(f"tolerance must be a finite number >= 0, got {tolerance!r}.")
        error = self.leave_one_out_error
        return int(self.size[np.argmax(error <= (1 + tolerance) * error.min())])

    def as_dict(self) -> dict[str, np.ndarray]:
        """The columns of a table with a row for each size, as `pandas.DataFrame` takes them.

        Returns
        -------
        dict of str to ndarray of shape (P,)
            size, log_evidence, leave_one_out_error and noise_variance.
        """
        names = ("size", "log_evidence", "leave_one_out_error", "noise_variance")
        return {name: getattr(self, name) for name in names}


def sparsity_path(model: Any, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> SparsityPath:
    """The nested models of a fitted regressor, on the rows that it was fitted to."""
    check_is_fitted(model)
    if not is_gaussian(model.likelihood):
        raise ValueError(f"path needs Gaussian noise, got likelihood={model.likelihood!r}.")
    if model._fitted.result.mean.ndim == 2 or hasattr(model, "estimators_"):
        raise ValueError("path needs a model of one output: fit the outputs one by one.")
    if model.groups is not None or getattr(model, "unpenalised", None) is not None:
        raise ValueError("path needs a model without groups and unpenalised columns: fit without them.")
    if not len(model._fitted.result.active):
        raise ValueError("path needs a model with functions: y was constant in fit, and this one has none.")
    rows = _rows_of_fit(model, X, y, sample_weight, noise_variance)
    columns = to_numpy(model._fitted.for_queries(X).basis(rows.X))[:, model._fitted.position]
    start, units = _state(model, rows, columns)
    known = rows.known_noise
    shift = 0.0 if known is None else known.log_shift
    evidence = start.evidence + units.log_jacobian + shift
    if not abs(evidence - model.log_evidence_) <= SAME_EVIDENCE * (len(rows.y) + abs(evidence)):
        raise ValueError(
            f"X, y, sample_weight and noise_variance must be those of fit: the log evidence is {evidence:.6g} on them, "
            f"and was {model.log_evidence_:.6g} there."
        )
    states = list(nested(start))[::-1]
    results = [result_of(Solution(state, True), units, Monitor()) for state in states]
    if known is not None:
        results = [replace(result, likelihood=known) for result in results]
    return SparsityPath(
        size=np.asarray([state.size for state in states]),
        log_evidence=np.asarray([result.log_evidence + shift for result in results]),
        leave_one_out_error=np.asarray([_error(result, columns, rows) for result in results]),
        noise_variance=np.asarray([units.target_scale**2 / state.beta for state in states]),
        order=to_numpy(model.relevance_)[_order([result.active for result in results])],
    )


def _rows_of_fit(model: Any, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> Rows:
    """The rows of positive weight, validated as queries of a fitted model are."""
    X = check_inputs(model, X, fitting=False)
    if get_tags(model).input_tags.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(f"X must be the kernel matrix of fit, (n_samples, n_samples), got shape {X.shape}.")
    n, like = int(X.shape[0]), like_of(X)
    y = check_targets(y, n, like=like)
    noise = check_noise(model, noise_variance, n, like)
    rows = training_rows(model, X, y, check_weights(sample_weight, n, like=like), noise)
    weights, noise = (None if each is None else to_numpy(each) for each in (rows.weights, rows.noise))
    return replace(rows, y=to_numpy(rows.y), weights=weights, noise=noise)


def _state(model: Any, rows: Rows, columns: np.ndarray) -> tuple[State, Units]:
    """The fitted model as a state of the problem of its own functions, and the units of that."""
    result, known = model._fitted.result, rows.known_noise
    weights, variance = (rows.weights, model.noise_variance) if known is None else (known.weights, known.common)
    quadratic, units = summarise(as_operator(columns), rows.y, weights, bool(model.fit_intercept))
    prior = Uniform() if result.prior is None else result.prior
    noise = NoiseOptions(as_likelihood(model.likelihood), variance).model(units)
    problem = Problem(quadratic, prior, noise, prior.units(units.unit, units.kept))
    sigma2 = result.noise_variance if known is None else known.common
    return problem.start(
        np.arange(len(units.kept)), result.alpha[units.kept] / units.unit, units.target_scale**2 / sigma2
    ), units


def _error(result: Result, columns: np.ndarray, rows: Rows) -> float:
    """The leave-one-out root mean square error of a model whose functions are among the columns (N, S)."""
    others = LeaveOneOutPredictions.of_result(result, columns[:, result.active], rows.y, rows.weights)
    return float(np.sqrt(np.average((rows.y - others.mean) ** 2, weights=rows.weights)))


def _order(selected: list[np.ndarray]) -> np.ndarray:
    """The functions of nested sets, the smallest set first, in the order in which they enter."""
    entering = [np.setdiff1d(larger, smaller) for smaller, larger in pairwise(selected)]
    return np.concatenate([selected[0], *entering])
