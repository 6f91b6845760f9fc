"""What is picked on the page, checked, and the model it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from sparsebayes._checks import is_number, is_whole
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes.tables import TableEncoder

KERNELS = ("rbf", "laplacian", "matern", "rational-quadratic", "linear-spline", "cubic-spline", "none")
SCALED = ("rbf", "laplacian", "matern", "rational-quadratic")  # kernels whose widths can be learned
GAMMAS = ("evidence", "ard")
PRIORS = ("uniform", "aic", "bic", "ric")
TASKS = ("regression", "classification")
MOST_CLASSES = 10  # a column of numbers with more different values is no target of a classification


@dataclass(frozen=True)
class Choice:
    """What is picked on the page.

    target : the column to predict.  inputs : the columns to predict from.  task : "regression" or "classification".
    kernel : one of KERNELS; "none" for a linear model.  gamma : "evidence", "ard" or a number.
    prior : one of PRIORS.  max_vectors : the most functions of a regression, None for any number.
    """

    target: str
    inputs: tuple[str, ...]
    task: str = "regression"
    kernel: str = "rbf"
    gamma: Any = "ard"
    prior: str = "uniform"
    max_vectors: int | None = None

    @classmethod
    def of(cls, given: Any, frame: Any) -> Choice:
        """The choice that a page sends as JSON; ValueError in one sentence for anything else."""
        if not isinstance(given, dict) or not {"target", "inputs"} <= given.keys() <= set(cls.__dataclass_fields__):
            raise ValueError(f"a choice must have the keys {[*cls.__dataclass_fields__]}, got {given!r:.200}.")
        inputs = given["inputs"]
        if not isinstance(inputs, list) or not inputs or not all(isinstance(each, str) for each in inputs):
            raise ValueError("pick at least one column to predict from.")
        if not isinstance(given["target"], str):
            raise ValueError(f"target must be the name of a column, got {given['target']!r:.200}.")
        choice = cls(**{**given, "inputs": tuple(dict.fromkeys(inputs))})
        for name in (choice.target, *choice.inputs):
            if name not in frame.columns:
                raise ValueError(f"the table has no column {name!r}.")
        if choice.target in choice.inputs:
            raise ValueError(f"{choice.target!r} cannot be predicted from itself: untick it.")
        for name, known in (("task", TASKS), ("kernel", KERNELS), ("prior", PRIORS)):
            if getattr(choice, name) not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {getattr(choice, name)!r}.")
        _check_numbers(choice)
        return choice

    @property
    def classify(self) -> bool:
        """Whether the target is a class."""
        return self.task == "classification"

    def pipeline(self, **options: Any) -> Pipeline:
        """The model, not fitted; options : more parameters of the estimator."""
        encoder = TableEncoder().set_output(transform="pandas")
        return Pipeline([("table", encoder), ("model", self._estimator(options | {"prior": self.prior}))])

    def _estimator(self, options: dict[str, Any]) -> Any:
        if not self.classify:
            options["max_vectors"] = self.max_vectors
        if self.kernel == "none":
            return (SparseBayesClassifier if self.classify else SparseBayesRegressor)(**options)
        gamma = {"gamma": self.gamma} if self.kernel in SCALED else {}
        return (RelevanceVectorClassifier if self.classify else RelevanceVectorRegressor)(
            self.kernel, **gamma, **options
        )


def _check_numbers(choice: Choice) -> None:
    """ValueError for a width or a number of functions that makes no sense."""
    gamma, most = choice.gamma, choice.max_vectors
    if not ((is_number(gamma) and gamma > 0) or gamma in GAMMAS):
        raise ValueError(f"gamma must be a positive number or one of {list(GAMMAS)}, got {gamma!r:.200}.")
    if most is not None and not is_whole(most, 1):
        raise ValueError(f"max_vectors must be a whole number of at least 1, got {most!r:.200}.")


def described(frame: Any) -> list[dict[str, Any]]:
    """The columns of a table as the page lists them: name, kind, number of different values, missing ones."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    found = []
    for name in frame.columns:
        values = frame[name]
        number = is_numeric_dtype(values.dtype) and not is_bool_dtype(values.dtype)
        found.append(
            {
                "name": name,
                "kind": "number" if number else "text",
                "distinct": int(values.nunique()),
                "missing": int(values.isna().sum()),
                "task": "regression" if number and values.nunique() > 2 else "classification",
            }
        )
    return found
