"""What a fitted model would predict for each training row without that row, in closed form.

The precisions α, and σ², stay what they are: only the weights are as if the row had not been there. With the
posterior of f at a row, N(m, V), and the likelihood there expanded to gradient g and curvature B, removing the
row leaves

    V₋ = (I − VB)⁻¹V,      m₋ = m − V₋g.

For Gaussian noise that is exact: with the leverage h = V/σ² the residual becomes (y − m)/(1 − h) and its
variance σ²/(1 − h). For classes, and for noise of another shape, it is as accurate as the expansion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.estimators._classes import weigh_classes
from sparsebayes.estimators._classification import SparseClassification
from sparsebayes.estimators._regression import SparseRegression
from sparsebayes.estimators._validation import check_inputs
from sparsebayes.laplace import f_covariance, number_classes
from sparsebayes.scale_learning import LeaveOneOutPredictions


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out figures of a model.

    error : root mean square error, or share of wrong labels.  log_loss : −mean log p(y_n | other rows).
    """

    error: float
    log_loss: float


def leave_one_out(model: Any, X: Any, y: Any) -> LeaveOneOut:
    """Leave-one-out figures of a fitted estimator of this package, on the rows it was fitted to."""
    if not isinstance(model, SparseRegression | SparseClassification):
        raise TypeError(f"model must be a regressor or classifier of sparsebayes, got {model!r}.")
    fitted = model._fitted
    queries = fitted.for_queries(X)
    columns = to_numpy(queries.basis(queries.query(check_inputs(model, X, fitting=False))))[:, fitted.position]
    y = to_numpy(y) if is_foreign(y) else np.asarray(y)
    if isinstance(model, SparseRegression):
        return _regression(fitted.result, columns, np.asarray(y, dtype=np.float64))
    return _classification(fitted.result, columns, np.asarray(y), model.class_weight)


def _regression(result: Any, columns: np.ndarray, y: np.ndarray) -> LeaveOneOut:
    if isinstance(result.likelihood, GaussianNoise) and not result.noise_variance:  # y is constant
        return LeaveOneOut(0.0, -math.inf)
    others = LeaveOneOutPredictions.of_result(result, columns, y, None)
    log_density = result.likelihood.log_predictive(y, others.mean, others.variance)
    return LeaveOneOut(float(np.sqrt(np.mean((y - others.mean) ** 2))), float(-np.mean(log_density)))


def _classification(result: Any, columns: np.ndarray, y: np.ndarray, class_weight: Any) -> LeaveOneOut:
    likelihood = result.likelihood
    m, V = result.f_mean(columns), f_covariance(result, columns)
    _, numbers = number_classes(y)
    codes = np.eye(len(result.classes))[numbers][:, -m.shape[1] :]  # one output: the second class
    counts = weigh_classes(class_weight, y, None)
    counts = np.ones(len(y)) if counts is None else counts
    g = counts[:, None] * likelihood.gradient(codes, m)
    B = counts[:, None, None] * likelihood.curvature(codes, m)
    without = np.linalg.solve(np.eye(m.shape[1]) * (1 + 1e-12) - V @ B, V)
    m = m - (without @ g[:, :, None])[:, :, 0]
    log_p = likelihood.log_probabilities(likelihood.moderated_output(m, without))
    wrong = np.mean(log_p.argmax(axis=1) != numbers)
    return LeaveOneOut(float(wrong), float(-np.mean(log_p[np.arange(len(y)), numbers])))
