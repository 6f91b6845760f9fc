"""What a fitted model would say of each training row without that row, in closed form.

The precisions α, and σ², stay what they are: only the weights are as if the row had not been there. With the
posterior of f at a row, N(m, V), and the likelihood there expanded to gradient g and curvature B, taking the
row out leaves

    V₋ = (I − VB)⁻¹V,      m₋ = m − V₋g.

For Gaussian noise that is exact: with the leverage h = V/σ² the residual becomes (y − m)/(1 − h) and its
variance σ²/(1 − h). For classes, and for noise of another shape, it is as good as the expansion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.estimators._classes import weigh_classes
from sparsebayes.estimators._classification import ClassificationModel
from sparsebayes.estimators._regression import RegressionModel
from sparsebayes.inference.classification import number_classes
from sparsebayes.inference.left_out import LeftOut
from sparsebayes.likelihoods import Multinomial


@dataclass(frozen=True)
class LeaveOneOut:
    """error : root mean square error, or share of wrong labels.  log_loss : −mean log p(y_n | other rows)."""

    error: float
    log_loss: float


def leave_one_out(model: Any, X: Any, y: Any) -> LeaveOneOut:
    """Of a fitted regressor or classifier of this package, on the rows it was fitted to."""
    if isinstance(model, RegressionModel):
        return _regression(model, X, np.asarray(y, dtype=np.float64))
    if isinstance(model, ClassificationModel):
        return _classification(model, X, np.asarray(y))
    raise TypeError(f"model must be a regressor or classifier of sparsebayes, got {model!r}.")


def _regression(model: RegressionModel, X: Any, y: np.ndarray) -> LeaveOneOut:
    result, columns = model._result, model._fitted_basis(model._queries(X))
    left_out = LeftOut.of(result, columns, y, None)
    log_density = result.likelihood.log_predictive(y, left_out.mean, left_out.variance)
    return LeaveOneOut(float(np.sqrt(np.mean((y - left_out.mean) ** 2))), float(-np.mean(log_density)))


def _classification(model: ClassificationModel, X: Any, y: np.ndarray) -> LeaveOneOut:
    result, likelihood = model._result, model._result.likelihood
    terms = model._fitted_basis(model._queries(X))[:, model.terms_[:, 0]]
    m, V = result.decision(terms), result.decision_covariance(terms)
    _, numbers = number_classes(y)
    codes = np.eye(len(model.classes_))[numbers][:, -m.shape[1] :]  # one output: the second class
    counts = weigh_classes(model.class_weight, y, None)
    counts = np.ones(len(y)) if counts is None else counts
    p = likelihood.mean(m)
    g = counts[:, None] * (codes - p)
    B = counts[:, None, None] * _curvature(p, isinstance(likelihood, Multinomial))
    without = np.linalg.solve(np.eye(m.shape[1]) * (1 + 1e-12) - V @ B, V)
    m = m - (without @ g[:, :, None])[:, :, 0]
    log_p = _log_probabilities(likelihood.log_mean(likelihood.moderated_output(m, without)), m.shape[1])
    wrong = np.mean(log_p.argmax(axis=1) != numbers)
    return LeaveOneOut(float(wrong), float(-np.mean(log_p[np.arange(len(y)), numbers])))


def _curvature(p: np.ndarray, coupled: bool) -> np.ndarray:
    """B_n (N, K, K) from the probabilities of the outputs."""
    diagonal = p if coupled else p * (1 - p)
    B = diagonal[:, :, None] * np.eye(p.shape[1])
    return B - p[:, :, None] * p[:, None, :] if coupled else B


def _log_probabilities(log_p: np.ndarray, outputs: int) -> np.ndarray:
    """Of all classes, (N, classes): one output is that of the second class; those of "ovr" are normalised."""
    if outputs == 1:
        return np.concatenate([np.log1p(-np.minimum(np.exp(log_p), 1 - 1e-16)), log_p], axis=1)
    return Multinomial(outputs).log_mean(log_p)
