"""Models of several outputs: what a joint model publishes, and models of outputs that do not share their functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import clone

from sparsebayes._array import beside, is_foreign, namespace, take, to_numpy
from sparsebayes._checks import is_number
from sparsebayes.core.result import Result
from sparsebayes.estimators._fitted import forget
from sparsebayes.estimators._training import journal_of
from sparsebayes.rows.kinds import follows
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.validation import check_outputs, has_outputs, require_targets
from sparsebayes.solvers.regression import checked_variance


def intercept_of(result: Result) -> Any:
    """The intercept: a number, or one for each output (T,)."""
    return result.intercept if result.mean.ndim == 2 else float(result.intercept[0])


def noise_of(result: Any) -> Any:
    """The noise variance: a number, or one for each output (T,)."""
    return result.noise_variances if result.mean.ndim == 2 else result.noise_variance


def of_outputs(weights: np.ndarray) -> np.ndarray:
    """Weights (S,) as they are, those of T outputs (S, T) as (T, S)."""
    return weights if weights.ndim == 1 else weights.T


def names_outputs(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A `fit` that keeps what the columns of a data frame y are called, as `_output_names`."""

    @wraps(fit)
    def fit_and_name(self: Any, *args: Any, **kwargs: Any) -> Any:
        fitted = fit(self, *args, **kwargs)
        names = getattr(args[1] if len(args) > 1 else kwargs.get("y"), "columns", ())
        if len(names) > 1 and all(isinstance(name, str) for name in names):
            self._output_names = tuple(names)
        return fitted

    return fit_and_name


@dataclass(frozen=True, eq=False)
class ProcessTargets:
    """Targets as a Gaussian process is given them: T outputs of one noise variance, divided by √T.

    y : (N,), or y_t/(s_t √T) (N, T).  scales : s (T,), None for one output.  variance : σ² of y_t/s_t if it is known.
    """

    y: np.ndarray
    scales: np.ndarray | None
    variance: float | None

    @classmethod
    def of(cls, model: Any, rows: Any) -> ProcessTargets:
        """The targets of training rows, each output in the units of its noise, or of its spread while that is unknown.

        Constant outputs say nothing of the scales, and are left as zeros.
        """
        y, variance = rows.y, model.noise_variance
        if y.ndim == 1:
            return cls(y, None, checked_variance(variance, "noise_variance"))
        counts = rows.counts / rows.counts.sum()
        middle = counts @ y if model.fit_intercept else np.zeros(y.shape[1])
        scales, known = np.ones(y.shape[1]), None
        if variance is not None and not is_number(variance):
            scales, known = np.sqrt(np.asarray(variance, dtype=np.float64)), 1.0
        elif variance is not None or model.shared_noise:
            known = checked_variance(variance, "noise_variance")
        else:
            scales = np.sqrt(counts @ (y - middle) ** 2)
        varies = np.ptp(y, axis=0) > 0
        scales = np.where(varies, scales, 1.0)
        return cls(np.where(varies, y, middle) / (scales * np.sqrt(y.shape[1])), scales, known)


def groups_of_outputs(model: Any, y: Any) -> list[np.ndarray] | None:
    """The outputs that share their functions, group by group; None if all do, or there is one output.

    A kernel machine's parameter `groups` has one label for each output, a model of columns one for each column.
    """
    labels = getattr(model, "groups", None) if hasattr(model, "kernel") else None
    if not has_outputs(y):
        if labels is not None:
            require_targets(y)
            raise ValueError(f"groups of a kernel machine needs y of several outputs, got shape {np.shape(y)}.")
        return None
    T = np.shape(y)[1]
    if not model.joint:
        return [np.asarray([t]) for t in range(T)]
    if labels is None:
        return None
    if np.shape(labels) != (T,):
        raise ValueError(f"groups must have one label for each of {T} outputs, got shape {np.shape(labels)}.")
    values = np.unique(np.asarray(labels))
    return None if len(values) == 1 else [np.flatnonzero(np.asarray(labels) == value) for value in values]


def fit_each(model: Any, X: Any, y: Any, members: list[np.ndarray], **arguments: Any) -> Any:
    """Fit one model for each group of outputs, and publish what they have in common.

    `estimators_` are the models, `outputs_` the outputs of each.
    """
    if not is_dask(y):
        y = check_outputs(y, np.shape(y)[0], like=y if follows(y) else None)
    elif hasattr(y, "to_dask_array"):  # a dataframe, whose columns have names
        y = y.to_dask_array()

    def fit_own(own: Any, outputs: np.ndarray) -> Any:
        if len(outputs) == 1:
            return own.fit(X, y[:, int(outputs[0])], **arguments)
        return own.fit(X, y[:, outputs] if is_dask(y) else take(y, outputs, axis=1), **arguments)

    return fit_members(model, members, fit_own)


def fit_members(model: Any, members: list[np.ndarray], fit_own: Callable[[Any, np.ndarray], Any]) -> Any:
    """Fit one model for each group of outputs, and publish what they have in common.

    fit_own : fits an estimator to the outputs of these numbers, and returns it.
    """
    models, journal = [], journal_of(model)
    for outputs in members:
        own = clone(model).set_params(joint=True, **({"groups": None} if hasattr(model, "kernel") else {}))
        own.checkpoint = journal  # one file for all of them
        models.append(fit_own(own, outputs).set_params(checkpoint=None))
    forget(model)
    model.n_features_in_ = models[0].n_features_in_
    if hasattr(models[0], "feature_names_in_"):
        model.feature_names_in_ = models[0].feature_names_in_
    model.estimators_, model.outputs_ = models, members
    model._fitted = models[0]._fitted
    published = model._fitted.published
    model.relevance_ = published(np.unique(np.concatenate([to_numpy(each.relevance_) for each in models])))
    model.log_evidence_ = float(sum(each.log_evidence_ for each in models))
    model.degrees_of_freedom_ = float(sum(each.degrees_of_freedom_ for each in models))
    model.converged_ = all(each.converged_ for each in models)
    model.n_iter_ = max(each.n_iter_ for each in models)
    model.intercept_ = published(_assembled(model, [each.intercept_ for each in models]))
    model.noise_variance_ = published(_assembled(model, [each.noise_variance_ for each in models]))
    if hasattr(models[0], "coef_"):
        coef = np.zeros((sum(map(len, members)), model.n_features_in_))
        for each, outputs in zip(models, members, strict=True):
            coef[outputs] = to_numpy(each.coef_)
        model.coef_ = published(coef)
    return model


def _assembled(model: Any, values: list[Any]) -> Any:
    """Numbers or arrays of groups of outputs as one array with a value for each output, (…, T)."""
    places = np.argsort(np.concatenate(model.outputs_))
    like = next((value for value in values if is_foreign(value)), places)
    values = [beside(value, like) for value in values]
    parts = [value if len(outputs) > 1 else value[..., None]
             for value, outputs in zip(values, model.outputs_, strict=True)]  # fmt: skip
    return take(namespace(like).concat(parts, axis=-1), places, axis=-1)


def predict_each(model: Any, X: Any, return_std: bool, return_cov: bool, parts: Any) -> Any:
    """The predictions of the models of groups of outputs, with the outputs last."""
    each = [estimator.predict(X, return_std, return_cov, parts) for estimator in model.estimators_]
    if not (return_std or return_cov):
        return _assembled(model, each)
    means, others = zip(*each, strict=True)
    return _assembled(model, list(means)), _assembled(model, list(others))


def intervals_of_each(model: Any, X: Any, level: float, parts: Any) -> tuple[np.ndarray, np.ndarray]:
    """The intervals of the models of groups of outputs, with the outputs last."""
    lower, upper = zip(*(each.predict_interval(X, level, parts) for each in model.estimators_), strict=True)
    return _assembled(model, list(lower)), _assembled(model, list(upper))


def samples_of_each(model: Any, X: Any, n_samples: int, rng: Any, parts: Any) -> np.ndarray:
    """Samples (n_queries, n_outputs, n_samples) of the models of groups of outputs."""
    each = [estimator.sample_y(X, n_samples, rng, parts) for estimator in model.estimators_]
    xp = namespace(each[0])
    moved = [sample if sample.ndim == 2 else xp.moveaxis(sample, 1, -1) for sample in each]
    return xp.moveaxis(_assembled(model, moved), -1, 1)


def outputs_of(model: Any) -> int | None:
    """How many outputs a fitted regressor has; None if y had no axis of outputs."""
    if hasattr(model, "estimators_"):
        return sum(map(len, model.outputs_))
    mean = model._fitted.result.mean
    return int(mean.shape[1]) if mean.ndim == 2 else None
