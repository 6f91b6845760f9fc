"""Fitted estimators as the displays need them: the last step of a pipeline, one of several outputs, names of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._checks import is_whole
from sparsebayes.estimators._fitted import model_on_host, on_host
from sparsebayes.estimators._outputs import outputs_of
from sparsebayes.tables import TableEncoder
from sparsebayes.tables.columns import NumberColumn

MOST_OUTPUTS = 5  # that a message lists


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The estimator that was given, the model that is its last step, and the steps before it.

    whole : the fitted estimator.  last : the model, on the host.
    before : the pipeline of the steps before it; None if it has none.
    """

    whole: Any
    last: Any
    before: Any

    @classmethod
    def of(cls, estimator: Any) -> FittedModel:
        """A fitted estimator taken apart; NotFittedError if it is not fitted.

        Of a search, such as `GridSearchCV`, it is the best estimator.
        """
        check_is_fitted(estimator)
        estimator = getattr(estimator, "best_estimator_", estimator)
        if not isinstance(estimator, Pipeline):
            model = model_on_host(estimator)
            return cls(model, model, None)
        return cls(estimator, model_on_host(estimator[-1]), estimator[:-1] if len(estimator) > 1 else None)

    def transformed(self, X: Any) -> Any:
        """The inputs as the model takes them, on the host."""
        return on_host(X if self.before is None else self.before.transform(X))

    def input_names(self) -> list[str]:
        """The names of the inputs of the model: of the columns that it was fitted to, else x0, x1, …"""
        names = getattr(self.last, "feature_names_in_", None)
        if names is None and self.before is not None:
            names = _names_after(self.before)
        count = self.last.n_features_in_
        return [f"x{k}" for k in range(count)] if names is None or len(names) != count else [str(n) for n in names]

    def date_columns(self) -> set[str]:
        """The columns of a table that its encoder takes for dates, which it makes days of."""
        first = None if self.before is None else self.before[0]
        columns = first.columns_ if isinstance(first, TableEncoder) else ()
        return {each.name for each in columns if isinstance(each, NumberColumn) and each.dates}

    def needs(self, display: str, words: str, met: bool) -> None:
        """ValueError that says what a display needs, unless that is met."""
        if not met:
            raise ValueError(f"{display} needs {words}, got {type(self.last).__name__}.")

    def predicts_std(self) -> bool:
        """Whether the estimator is a regressor with predict(X, return_std=True)."""
        return "return_std" in signature(getattr(self.last, "predict", lambda: None)).parameters

    def has(self, *attributes: str) -> bool:
        """Whether the model has all of these attributes."""
        return all(hasattr(self.last, each) for each in attributes)

    def require(self, display: str, words: str, *attributes: str) -> None:
        """ValueError that says what a display needs, unless the model has all of these attributes."""
        self.needs(display, words, self.has(*attributes))


def _names_after(steps: Any) -> Any:
    """What the steps before a model call the columns that they make; None if they do not say."""
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def chosen_output(count: int | None, output: Any) -> int | None:
    """The number of an output of a model of `count` outputs, None if it has a single one.

    ValueError if there are several and none of them was chosen.
    """
    if count is None:
        if output not in (None, 0):
            raise ValueError(f"output must be None for a model of a single output, got {output!r}.")
        return None
    if not is_whole(output, 0) or output >= count:
        choices = f"{', '.join(map(str, range(min(count, MOST_OUTPUTS) - 1)))}{' …' if count > MOST_OUTPUTS else ''}"
        raise ValueError(
            f"output must be a number from 0 to {count - 1}, one of the outputs of y, got {output!r}: pass "
            f"output={choices} or {count - 1}."
        )
    return int(output)


def model_of_output(model: Any, output: Any) -> tuple[Any, int | None]:
    """The fitted model that has this output, and the number of the output in it, None if it has no other."""
    chosen = chosen_output(outputs_of(model), output)
    if chosen is None or not hasattr(model, "estimators_"):
        return model, chosen
    place = next(k for k, members in enumerate(model.outputs_) if chosen in members)
    members = model.outputs_[place]
    return model.estimators_[place], None if len(members) == 1 else int(np.flatnonzero(members == chosen)[0])


def class_number(classes: np.ndarray, label: Any) -> int:
    """The number of a class: of two the second if no label is given; ValueError if there is no such class."""
    if label is None and len(classes) == 2:
        return 1
    found = np.flatnonzero(np.asarray(classes) == label)
    if label is None or len(found) != 1:
        raise ValueError(f"class_label must be one of the classes {np.asarray(classes).tolist()}, got {label!r}.")
    return int(found[0])
