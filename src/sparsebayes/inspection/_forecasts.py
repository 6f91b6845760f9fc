"""Predictive distributions beside what happened: the normal scores of the targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import gennorm

from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._inputs import as_numbers, target_label
from sparsebayes.inspection._models import FittedModel, model_of_output, outputs_of

NODES = np.linspace(-8.0, 8.0, 161)  # of the trapezium rule, in standard deviations of f
LEAST_TAIL = 1e-300


@dataclass(frozen=True, eq=False)
class Forecast:
    """Targets, their predictive means and standard deviations, and their normal scores, one per row.

    y, mean, std : (N,).
    scores : Φ⁻¹(F(y)) with the predictive distribution F, (N,); (y − mean)/std if it is Gaussian.
    name : what the target is called.
    """

    y: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    scores: np.ndarray
    name: str

    @classmethod
    def of_predictions(cls, y: Any, mean: Any, std: Any) -> Forecast:
        """Gaussian predictions; ValueError unless they are finite, one per target, with positive std."""
        name = target_label(y)
        values, means, stds = map(as_numbers, (y, mean, std))
        for what, array in (("y_true", values), ("mean", means), ("std", stds)):
            if array.ndim != 1 or array.shape != values.shape or not len(array) or not np.isfinite(array).all():
                raise ValueError(
                    f"{what} must be finite numbers, one per row, of shape {values.shape[:1]}, got shape {array.shape}."
                )
        if not (stds > 0).all():
            raise ValueError(f"std must be positive, got {stds.min()}.")
        return cls(values, means, stds, (values - means) / stds, name)

    @classmethod
    def of_estimator(cls, display: str, estimator: Any, X: Any, y: Any, output: Any, noise_variance: Any) -> Forecast:
        """The predictions of a fitted regressor for these rows.

        display : what needs them.  noise_variance : of each row, if the model was fitted to noise that was known.
        """
        fitted = FittedModel.of(estimator)
        fitted.needs(display, "a regressor with predict(X, return_std=True)", fitted.predicts_std())
        if not fitted.has("_fitted", "noise_shape_") and not fitted.has("estimators_", "outputs_"):
            return cls.of_predictions(y, *fitted.whole.predict(on_host(X), return_std=True))
        y, model, column = _target(fitted.last, on_host(y), output)
        mean, std = model.predict(fitted.transformed(X), return_std=True)
        mean, std = (each if column is None else each[:, column] for each in (mean, std))
        std = np.sqrt(std**2 + _known_noise(display, model, noise_variance, len(mean)))
        if not (std > 0).all():
            raise ValueError(
                f"{display} needs predictions with noise; the target that the model was fitted to is constant."
            )
        forecast = cls.of_predictions(y, mean, std)
        scores = _scores(forecast, model, display) if model.noise_shape_ != 2 else forecast.scores
        return cls(forecast.y, forecast.mean, forecast.std, scores, forecast.name)


def _target(model: Any, y: Any, output: Any) -> tuple[Any, Any, int | None]:
    """The target of an output, the model that has it, and its number in that model."""
    own, column = model_of_output(model, output)
    if outputs_of(model) is not None and np.ndim(y) == 2:
        y = y.iloc[:, output] if hasattr(y, "iloc") else np.asarray(y)[:, output]
    return y, own, column


def _known_noise(display: str, model: Any, noise_variance: Any, n: int) -> Any:
    """The noise variance of each row that the standard deviations of the model do not contain."""
    known = outputs_of(model) is None and np.ndim(model.noise_variance_) == 1
    if not known and noise_variance is None:
        return 0.0
    values = as_numbers(noise_variance if known else np.nan)
    if values.shape != (n,) or not (values > 0).all():
        wanted = f"{n} positive numbers, one per row, as the model was fitted to known noise" if known else "None"
        got = "None" if noise_variance is None else f"shape {np.shape(noise_variance)}"
        raise ValueError(f"noise_variance of {display} must be {wanted}, got {got}.")
    return values


def _scores(forecast: Forecast, model: Any, display: str) -> np.ndarray:
    """Normal scores under generalized normal noise, averaged over the Gaussian posterior of f."""
    shape, variance = model.noise_shape_, model.noise_variance_
    if not np.isfinite(shape):
        raise ValueError(f"{display} needs a target with noise, got likelihood={model.likelihood!r}.")
    scale = np.sqrt(variance) / gennorm.std(shape)
    own = np.sqrt(np.maximum(forecast.std**2 - variance, 0.0))
    error, weights = forecast.y - forecast.mean, np.exp(-0.5 * NODES**2)
    tails = gennorm.sf(np.abs(error)[:, None] - own[:, None] * NODES, shape, scale=scale) @ (weights / weights.sum())
    return -np.sign(error) * ndtri(np.maximum(tails, LEAST_TAIL))
