"""Scales of kernels that an estimator learns: by which evidence, and what it publishes of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sparsebayes._array import beside, to_numpy
from sparsebayes._checks import warn
from sparsebayes.bases import BoundBasis
from sparsebayes.bases.kernels.scales import variances_of
from sparsebayes.core.result import Result
from sparsebayes.estimators._fitted import Fitted
from sparsebayes.estimators._outputs import ProcessTargets
from sparsebayes.estimators._training import Rows, gamma_of, learn, learns, with_scales
from sparsebayes.laplace import Bernoulli, number_classes
from sparsebayes.scale_learning import GaussianEvidence, LaplaceEvidence, LearnedScales, input_relevance, learn_scales
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NOT_SPARSE

SAME_WIDTH = 1e-6  # widths in units of the spreads that differ by less are one


def learn_for_targets(model: Any, bound: BoundBasis, rows: Rows, monitor: FitMonitor) -> LearnedScales:
    """The functions at the scales of the largest evidence of the Gaussian process.

    How often a row counts does not matter for them: the process would take copies for rows without noise.
    """
    targets = ProcessTargets.of(model, rows)
    weights, known = np.ones(int(rows.y.shape[0])), rows.known_noise
    if known is not None:
        weights, targets = to_numpy(known.weights), replace(targets, variance=known.common)
    evidence = GaussianEvidence(to_numpy(targets.y), weights, bool(model.fit_intercept), targets.variance)
    return learn(model, bound, rows, evidence, monitor)


def fit_from_guess(fit_model: Callable[..., Result], rows: int, guess: float | None) -> Result:
    """The model from a guess at the noise variance, or from none if that leads to almost a function per row.

    A Gaussian process that hardly has any noise is such a guess, and what it leads to follows the noise.
    fit_model : options of `fit` -> the fitted model.  rows : how many there are.
    """
    if guess is None:
        return fit_model()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = fit_model(initial_noise_variance=guess)
    if len(result.active) > NOT_SPARSE * rows:
        return fit_model()
    for each in said:
        warn(str(each.message), each.category)
    return result


def scales_of_targets(
    model: Any, bound: BoundBasis, learned: LearnedScales | None, fitted: Fitted, rows: Rows
) -> dict[str, Any]:
    """The fitted attributes that say something of scales; `learned` is None if there was nothing to learn."""
    basis, excess = fitted.basis, 0.0
    result: Any = fitted.result
    if learned is None and learns(gamma_of(model)):
        scales = np.exp(with_scales(model, bound).log_scales)
        return {"excess_variance_": 0.0, "scales_": scales, "input_relevance_": np.zeros(model.n_features_in_)}
    if learned is None:
        return {"excess_variance_": 0.0}
    if model.variance == "auto" and result.noise_variance > 0:  # else y and f do not compare
        targets = ProcessTargets.of(model, rows)
        columns = basis.beside(rows.X)(rows.X)
        excess = learned.excess_variance(result, columns, targets.y, None, targets.scales)
    weights = result.mean[:, None] if result.mean.ndim == 1 else result.mean / _divisors(result)
    return {
        "scales_": np.exp(learned.bound.log_scales),
        "input_relevance_": input_relevance(basis, weights, rows.X, rows.y, rows.weights),
        "excess_variance_": excess,
    }


def _divisors(result: Any) -> Any:
    """The units of the outputs (T,) beside the weights, 1 for outputs that are constant and have no noise."""
    scales = to_numpy(result.output_scales)
    return beside(np.where(scales > 0, scales, 1.0), result.mean)


def learn_for_labels(model: Any, bound: BoundBasis, rows: Rows, monitor: FitMonitor) -> tuple[BoundBasis, bool]:
    """The functions at their learned scales, and whether inputs were to have their own and share one.

    One for each input only if each but the first gains a nat (AIC).
    """
    learned = learn(model, bound, rows, _evidence_of_labels(model, rows), monitor)
    more = len(learned.bound.log_scales) - len({each.parameter for each in bound.scales})
    if gamma_of(model) != "ard" or not more:
        return learned.bound, False
    with np.errstate(all="ignore"):  # as in `learn`, which has found these numbers to be in range
        shared = learn_scales(bound, rows.X, _evidence_of_labels(model, rows), monitor=monitor, tied=True)
    gain = learned.log_evidence - shared.log_evidence
    return (learned.bound, False) if gain > more else (shared.bound.with_scale_per_input(), True)


def scales_of_labels(model: Any, bound: BoundBasis, fitted: Fitted, rows: Rows, shared: bool) -> dict[str, Any]:
    """The fitted attributes of a classifier that say something of scales; none if it has not learned any."""
    if not learns(gamma_of(model)):
        return {}
    weights = fitted.of_weights(fitted.result.mean, 0.0)
    return {
        "_shared_scale": shared and _width_in_spreads(bound, rows),
        "scales_": np.exp(bound.log_scales),
        "input_relevance_": input_relevance(fitted.basis, weights.T, rows.X, rows.y, rows.weights),
    }


def _width_in_spreads(bound: BoundBasis, rows: Rows) -> float | bool:
    """The width that all inputs share, in standard deviations of each; True if there is no such one number."""
    widths = np.asarray([each.width for each in bound.scales])
    spreads = np.sqrt(variances_of(rows.X, rows.weights))
    if widths.shape != spreads.shape or not (spreads > 0).any():
        return True
    shared = (widths / np.where(spreads > 0, spreads, np.nan))[spreads > 0]
    return float(shared[0]) if np.ptp(shared) <= SAME_WIDTH * shared[0] else True


def _evidence_of_labels(model: Any, rows: Rows) -> LaplaceEvidence:
    """The labels as the Gaussian process sees them: one column for two classes, else one for each."""
    classes, numbers = number_classes(to_numpy(rows.y))
    codes = np.eye(len(classes))[numbers][:, 1 if len(classes) == 2 else 0 :]
    return LaplaceEvidence(codes, to_numpy(rows.counts), bool(model.fit_intercept), Bernoulli())
