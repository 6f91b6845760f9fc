"""Predictions averaged over rows, with their posterior standard deviations.

The variance of an average counts how the errors of the rows go together: that of f̄ = mean of φ(x_n)ᵀw + b is the
variance of f for the average of the functions, φ̄ᵀΣφ̄ with an intercept's share, not the average of the variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from sparsebayes.estimators._error_bars import AugmentedBars, root_of
from sparsebayes.estimators._outputs import intercept_of
from sparsebayes.estimators._validation import check_inputs
from sparsebayes.inspection._matplotlib import shortened
from sparsebayes.inspection._models import FittedModel, class_number, model_of_output

DRAWS = 256  # of the weights of a classifier


class Average(Protocol):
    """The average prediction over rows."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value that the average can have."""

    @property
    def label(self) -> str:
        """What is averaged."""

    def at(self, X: Any) -> tuple[float, float]:
        """The average over the rows of X, and its standard deviation."""


@dataclass(frozen=True, eq=False)
class AverageTarget:
    """The average of f of a regressor.  column : the output; None if there is one."""

    model: Any
    column: int | None
    label: str = "average prediction"
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def at(self, X: Any) -> tuple[float, float]:
        """The average over the rows of X, and its standard deviation."""
        fitted = self.model._fitted
        rows = fitted.query(check_inputs(self.model, X, fitting=False))
        columns = np.asarray(fitted.basis(rows))
        mean = columns.mean(axis=0) @ fitted.result.mean + intercept_of(fitted.result)
        variance = self.model._error_bars.variance_of_average(rows, columns)
        mean, variance = (each if self.column is None else each[self.column] for each in (mean, variance))
        return float(mean), float(np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class AverageProbability:
    """The average probability of a class, for draws of the weights from their posterior.

    weights : (S, D) draws of the weights.  intercepts : (K, D) those of the intercepts.
    """

    model: Any
    number: int
    weights: np.ndarray
    intercepts: np.ndarray
    bounds: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, model: Any, class_label: Any, random_state: int) -> AverageProbability:
        """The draws, which are the same for all rows."""
        result = model._fitted.result.averaged or model._fitted.result
        S, K = len(result.mean), result.outputs
        # centred points: no single draw from a tail stands for many
        points = qmc.LatinHypercube(S + K, scramble=False, seed=np.random.default_rng(random_state)).random(DRAWS)
        normal = ndtri(points).T
        moved = root_of(result.covariance) @ normal[:S]
        intercepts = result.intercept[:, None] - result.centre @ moved
        intercepts = intercepts + root_of(result.intercept_covariance) @ normal[S:]
        return cls(model, class_number(model.classes_, class_label), result.mean[:, None] + moved, intercepts)

    @property
    def label(self) -> str:
        """What is averaged."""
        return f"average probability of {shortened(self.model.classes_[self.number])}"

    def at(self, X: Any) -> tuple[float, float]:
        """The average over the rows of X, and its standard deviation."""
        fitted, result = self.model._fitted, self.model._fitted.result
        rows = fitted.query(check_inputs(self.model, X, fitting=False))
        columns = np.asarray(fitted.basis(rows))[:, fitted.position]
        f = np.empty((len(columns), self.weights.shape[1], result.outputs))
        for k in range(result.outputs):
            mine = result.output == k
            f[:, :, k] = columns[:, mine] @ self.weights[mine] + self.intercepts[k]
        logs = result.likelihood.log_probabilities(f.reshape(-1, result.outputs))
        averages = np.exp(logs[:, self.number]).reshape(f.shape[:2]).mean(axis=0)
        return float(averages.mean()), float(averages.std())


def average_of(display: str, fitted: FittedModel, output: Any, class_label: Any, random_state: int) -> Average:
    """The average prediction of a fitted estimator; ValueError if it has none with a standard deviation."""
    if fitted.has("_fitted", "classes_"):
        return AverageProbability.of(fitted.last, class_label, random_state)
    if not fitted.has("_fitted", "_error_bars") and not fitted.has("estimators_", "outputs_"):
        raise ValueError(
            f"{display} needs a regressor or classifier of this package, got {type(fitted.last).__name__}."
        )
    if class_label is not None:
        raise ValueError(f"class_label must be None for a regressor, got {class_label!r}.")
    model, column = model_of_output(fitted.last, output)
    if isinstance(model._error_bars, AugmentedBars):
        raise ValueError(
            f"{display} needs a joint distribution of predictions, which variance='augmented' does not have: fit with "
            "variance='posterior'."
        )
    return AverageTarget(model, column)
