"""Kernel machines on Dask: few rows are gathered and fitted in memory, many stay where they are.

Every row is a candidate, and up to `GATHERED` rows a kernel machine in memory may form the kernel matrix, which is
larger than the rows themselves. Beyond that the client sees landmarks, working sets, and a sample of the rows for what
is learned from a sample in memory too: the scales of a kernel.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from sparsebayes.bases import as_basis
from sparsebayes.bases.kernel_operator import KERNEL_MEMORY
from sparsebayes.core.result import Result
from sparsebayes.estimators._classification import publish_classification
from sparsebayes.estimators._dask import bare_of, check_of, read_labels, remaining_options
from sparsebayes.estimators._error_bars import PosteriorBars
from sparsebayes.estimators._fitted import Fitted, forget
from sparsebayes.estimators._moderation import Coverage, Moderation
from sparsebayes.estimators._order import row_order
from sparsebayes.estimators._range import TrainingRange
from sparsebayes.estimators._regression import publish_regression
from sparsebayes.estimators._scales import (
    fit_from_guess,
    learn_for_labels,
    learn_for_targets,
    scales_of_labels,
    scales_of_targets,
)
from sparsebayes.estimators._training import (
    Candidates,
    Rows,
    gamma_of,
    identify_rows,
    learns,
    monitor_of,
    prior_of,
    refuse_isolated,
    sorted_rows,
)
from sparsebayes.estimators._validation import is_gaussian, is_noise_known
from sparsebayes.fit import fit
from sparsebayes.laplace import Bernoulli, Multinomial
from sparsebayes.rows.validation import LEAST_ROWS, has_outputs, require_targets
from sparsebayes.scale_learning.settings import ScaleSearchSettings
from sparsebayes.solvers.monitor import FitMonitor

GATHERED = math.isqrt(KERNEL_MEMORY.fits)  # rows up to which a kernel machine is fitted in memory
SAMPLE = ScaleSearchSettings().many_rows  # rows that the scales of a kernel are learned from


def fit_kernel_regressor(model: Any, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> Any:
    """Fit a `RelevanceVectorRegressor` to rows that are Dask collections; returns it."""
    from sparsebayes.distributed import KernelRows, PassWatch, PointRows, first_rows

    require_targets(y)
    _refuse_pairwise(model)
    is_noise_known(model, noise_variance)
    monitor = monitor_of(model)
    points = PointRows.of(X, y, sample_weight, check_of(model, X), noise_variance, PassWatch.of(monitor))
    found = points.overview.rows
    if found < LEAST_ROWS:
        raise ValueError(f"X has {found} sample(s) of positive weight, but at least {LEAST_ROWS} are required.")
    if found <= GATHERED:
        return _fitted_together(model, points.given)
    _refuse_options(model, found)
    _refuse_outputs(y, noise_variance, found)
    sample = points.sample(SAMPLE)
    rows = _sampled_rows(sample, sample.t, found)
    identify_rows(monitor.journal, rows)
    bound, learned, guess = bind_remotely(model, points.overview.alike, rows), None, None
    if learns(gamma_of(model)) and points.overview.constant is None:
        learned = learn_for_targets(model, bound, rows, monitor)
        bound, guess = learned.bound, learned.first_noise_variance
    remote = KernelRows(points, bound.kernel)
    result = fit_from_guess(partial(_fitted_model, model, remote, monitor), found, guess)
    centres = remote.known.X[result.active]
    numbers = first_rows(points.rows, centres) if len(centres) else np.zeros(0, dtype=np.int64)
    candidates, fitted = _selected(bound, centres, numbers, result, found)
    more = scales_of_targets(model, bound, learned, fitted, rows)
    more["_range"] = TrainingRange.of(fitted.basis, np.stack([points.overview.low, points.overview.high]))
    bars = PosteriorBars(fitted.result, more["excess_variance_"])
    publish_regression(model, candidates, fitted, bars, dual_coef_=fitted.result.mean, **more)
    return model


def fit_kernel_classifier(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a `RelevanceVectorClassifier` to rows that are Dask collections; returns it."""
    from sparsebayes.distributed import KernelLabels, alike_rows, first_rows

    _refuse_pairwise(model)
    monitor = monitor_of(model)
    given, encoded, classes = read_labels(model, X, y, sample_weight, monitor)
    if encoded.total <= GATHERED:
        return _fitted_together(model, given)
    _refuse_options(model, encoded.total)
    sample = encoded.sample(SAMPLE)
    codes = sample.y[:, 0].astype(int) if sample.y.shape[1] == 1 else sample.y.argmax(axis=1)
    rows = _sampled_rows(sample, codes, encoded.total)
    identify_rows(monitor.journal, rows)
    bound, shared = bind_remotely(model, alike_rows(encoded), rows), False
    if learns(gamma_of(model)):
        bound, shared = learn_for_labels(model, bound, rows, monitor)
    remote = KernelLabels(encoded, bound.kernel, model.n_features_in_)
    likelihood = Bernoulli() if len(classes.labels) == 2 else Multinomial()
    result = classes.restored(_fitted_model(model, remote, monitor, likelihood=likelihood))
    centres = remote.known.X[result.active]
    candidates, fitted = _selected(bound, centres, first_rows(encoded.rows, centres), result, encoded.total)
    more, shares = scales_of_labels(model, bound, fitted, rows, shared), encoded.classes.weights
    fitted = replace(fitted, moderation=Moderation(None, Coverage.of(bound, rows.X, shares / shares.sum())))
    publish_classification(model, candidates, fitted, dual_coef_=fitted.of_weights(fitted.result.mean, 0.0), **more)
    return model


def _fitted_together(model: Any, given: Any) -> Any:
    """The estimator, fitted to few rows by its method for rows in memory; on a cluster a worker does that."""
    from sparsebayes.distributed import fit_together

    fitted = fit_together(model, bare_of(model), given)
    if fitted:
        forget(model)
        vars(model).update(fitted)
    return model


def _fitted_model(model: Any, remote: Any, monitor: FitMonitor, **options: Any) -> Result:
    """The fitted model of functions at rows that stay where they are, as `_training.fit_candidates`."""
    options = remaining_options(model, monitor) | options
    if monitor.stopped:
        options["callback"] = lambda progress: True
    return fit(remote, prior=prior_of(model, remote), **options)


def _selected(
    bound: Any, centres: np.ndarray, numbers: np.ndarray, result: Result, total: int
) -> tuple[Candidates, Fitted]:
    """The selected functions as the only candidates, and the model of them.

    numbers : of the rows that they are centred at.  total : how many candidates there were.
    """
    functions, place = np.unique(result.active, return_inverse=True)
    where = np.searchsorted(result.active[np.argsort(result.active, kind="stable")], functions)
    first = np.argsort(result.active, kind="stable")[where]
    bound = replace(bound, centres=centres[first], labels=numbers[first])
    candidates = Candidates(bound, numbers[first])
    averaged = None if result.averaged is None else replace(result.averaged, active=place, candidates=None)
    fitted = Fitted.of(candidates, replace(result, active=place, averaged=averaged), total)
    return candidates, replace(fitted, n_candidates=total)


def _sampled_rows(sample: Any, y: np.ndarray, total: int) -> Rows:
    """A sample of the rows, with targets or classes y, as training rows, sorted."""
    rows = Rows(sample.X, y, sample.counts, sample.numbers, total, np.arange(len(y)))
    return sorted_rows(rows, *row_order(rows.X))


def bind_remotely(model: Any, alike: np.ndarray, rows: Rows) -> Any:
    """The kernel that the parameters of an estimator ask for, centred at a sample of the rows.

    alike : two rows with the mean and the variance of all.
    """
    gamma = gamma_of(model)
    basis = as_basis(model.kernel, "scale" if learns(gamma) else gamma, model.degree, model.coef0)
    bound: Any = basis.bind(alike)
    if not (bound.is_one_kernel and hasattr(bound, "kernel") and bound.kernel.positive_semidefinite_at(rows.X)):
        raise ValueError(
            f"kernel={model.kernel!r} must be one positive semi-definite kernel, such as 'rbf', for more than "
            f"{GATHERED} rows of a Dask collection: any other needs all rows in memory; pass arrays."
        )
    bound = replace(bound, centres=rows.X)
    if not learns(gamma):
        refuse_isolated(bound, rows.X)
    return bound


def _refuse_pairwise(model: Any) -> None:
    """Raise ValueError for a kernel matrix."""
    if get_tags(model).input_tags.pairwise:
        raise ValueError(
            "kernel='precomputed' is not for a Dask collection: its N² elements would be needed in memory; pass "
            "arrays, or give the kernel itself."
        )


def _refuse_options(model: Any, n: int) -> None:
    """Raise ValueError for parameters that need all rows in memory."""
    reason = ""
    if not is_gaussian(getattr(model, "likelihood", "gaussian")):
        reason = f"likelihood must be 'gaussian', got {model.likelihood!r}"
    elif model.centres is not None:
        reason = "centres must be None"
    elif getattr(model, "variance", "auto") not in ("auto", "posterior"):
        reason = f"variance must be 'auto' or 'posterior', got {model.variance!r}"
    elif hasattr(model, "class_weight") and model.groups is not None:
        reason = f"groups must be None, got {model.groups!r}"
    if reason:
        raise ValueError(
            f"{reason} for the {n} rows of a Dask collection, more than {GATHERED}: anything else needs all rows in "
            "memory; pass arrays, such as X.compute()."
        )


def _refuse_outputs(y: Any, noise_variance: Any, n: int) -> None:
    """Raise ValueError for several outputs that share their functions, and for known noise variances."""
    if has_outputs(y) or noise_variance is not None:
        what = "noise_variance of fit must be None" if noise_variance is not None else "y must have one output"
        raise ValueError(
            f"{what} for the {n} rows of a Dask collection, more than {GATHERED}, unless joint=False fits the outputs "
            "one by one: pass arrays, such as X.compute()."
        )
