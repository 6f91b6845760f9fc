"""What a report is about: a fitted model, the rows that it is shown with, and which rows those are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import resample

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    WaveletDenoiser,
)
from sparsebayes.estimators._outputs import outputs_of
from sparsebayes.inspection._inputs import target_name
from sparsebayes.inspection._models import FittedModel
from sparsebayes.rows.sources import is_dask

CLASSIFIERS = (RelevanceVectorClassifier, SparseBayesClassifier)
REGRESSORS = (RelevanceVectorRegressor, SparseBayesRegressor)
DRAWN = 2000  # rows that pictures show at most


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model with rows.

    fitted : the model, taken apart.  X : the rows as they were given.
    y : their targets, an array or a pandas object; None for a denoiser.
    noise_variance : of each row, if the model was fitted to noise that was known.
    """

    fitted: FittedModel
    X: Any
    y: Any
    noise_variance: Any = None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, noise_variance: Any) -> Self:
        """The subject, checked; an error says what is wrong with the model or the rows."""
        fitted = FittedModel.of(model)
        if not isinstance(fitted.last, (*CLASSIFIERS, *REGRESSORS, WaveletDenoiser)):
            raise TypeError(
                "model must be a fitted regressor, classifier or WaveletDenoiser of sparsebayes, or a pipeline that "
                f"ends with one, got {type(fitted.last).__name__}."
            )
        X = _in_memory(X, "X")
        if isinstance(fitted.last, WaveletDenoiser):
            return cls(fitted, X, None)
        if len(X.shape) != 2 or not X.shape[0]:
            raise ValueError(f"X must be a table with at least one row, got shape {tuple(X.shape)}.")
        y = _targets(fitted.last, _in_memory(y, "y"), X.shape[0])
        fitted.whole.predict(X)  # which says what is wrong with X, if anything is
        return cls(fitted, X, y, _noise_variances(fitted.last, noise_variance, X.shape[0]))

    @property
    def model(self) -> Any:
        """The model, without the steps before it."""
        return self.fitted.last

    @property
    def is_classifier(self) -> bool:
        """Whether the targets are labels."""
        return isinstance(self.model, CLASSIFIERS)

    @property
    def is_denoiser(self) -> bool:
        """Whether there are no targets, only signals."""
        return self.y is None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def outputs(self) -> list[tuple[int | None, str]]:
        """Number and name of every output; the number is None of a model that has one."""
        count = None if self.is_classifier else outputs_of(self.model)
        if count is None:
            return [(None, target_name(self.y))]
        names = getattr(self.y, "columns", range(count))
        return [(k, name if isinstance(name, str) else f"output {name}") for k, name in enumerate(names)]

    def target(self, output: int | None) -> np.ndarray:
        """The targets of an output."""
        values = np.asarray(self.y)
        return values if output is None or values.ndim == 1 else values[:, output]

    def fewer(self, most: int = DRAWN) -> Subject:
        """The same with at most so many rows, drawn at random."""
        if self.count <= most:
            return self
        noise = [] if self.noise_variance is None else [np.asarray(self.noise_variance)]
        X, y, *noise = resample(self.X, self.y, *noise, replace=False, n_samples=most, random_state=0)
        return replace(self, X=X, y=y, noise_variance=noise[0] if noise else None)

    def numbers(self) -> np.ndarray | None:
        """The rows as the model takes them, (N, d) of float64; None if they are sparse."""
        rows = self.fitted.transformed(self.X)
        return None if scipy.sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)


def _in_memory(values: Any, name: str) -> Any:
    """Rows as NumPy, pandas, polars or SciPy have them; ValueError for those that are elsewhere."""
    if is_dask(values):
        raise ValueError(f"{name} must be in memory, got a Dask collection; take some of its rows, and compute() them.")
    if is_foreign(values):
        return to_numpy(values)
    return values if hasattr(values, "shape") else np.asarray(values)


def _noise_variances(model: Any, values: Any, n: int) -> np.ndarray | None:
    """The noise variance of each row, (n,), of a model that was fitted to such; else None."""
    if outputs_of(model) is not None or np.ndim(getattr(model, "noise_variance_", 0.0)) == 0:
        if values is not None:
            raise ValueError("noise_variance must be None for a model that was not fitted to the noise of each row.")
        return None
    if np.shape(values) != (n,):
        raise ValueError(
            f"noise_variance must be {n} numbers, one per row, as the model was fitted to known noise, got shape "
            f"{np.shape(values)}."
        )
    return np.asarray(values, dtype=np.float64)


def _targets(model: Any, y: Any, n: int) -> Any:
    """The targets; ValueError unless there is one per row, finite numbers or classes of the model."""
    count = None if isinstance(model, CLASSIFIERS) else outputs_of(model)
    if np.ndim(y) == 2 and y.shape[1] == 1 and count is None:
        y = y.iloc[:, 0] if hasattr(y, "iloc") else np.asarray(y)[:, 0]
    shape = (n,) if count is None else (n, count)
    if np.shape(y) != shape:
        raise ValueError(f"y must have shape {shape} to go with X and the model, got shape {np.shape(y)}.")
    values = np.asarray(y)
    if isinstance(model, CLASSIFIERS):
        unknown = [label for label in np.unique(values).tolist() if label not in model.classes_.tolist()]
        if unknown:
            raise ValueError(f"y must hold classes of the model, {model.classes_.tolist()}, got {unknown[0]!r}.")
        return y
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise ValueError("y must hold finite numbers, got a value that is none.")
    return y
