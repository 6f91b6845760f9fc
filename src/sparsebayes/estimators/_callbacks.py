"""Support of `sklearn.callback`, which scikit-learn has from version 1.9 on: the tasks of a fit are its iterations.

`model.set_callbacks(ProgressBar()).fit(X, y)` follows a fit. How many iterations there will be is not known, so
that a progress bar moves to and fro until the end. A solver reports an iteration when it is done: its task
begins and ends at that moment. A callback whose `on_fit_task_end` returns true stops the fit, as the parameter
`callback` does. A model that can predict is there at the end of a fit only, not at each iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from sparsebayes.solvers.monitor import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """The method itself."""
        return method


Method = TypeVar("Method", bound=Callable[..., Any])


def reports_to_callbacks(fit: Method) -> Method:
    """A decorator of `fit` that tells scikit-learn's callbacks when it begins and ends."""
    parameters = signature(fit)

    @with_callbacks
    def reported(self: Any, *args: Any, **kwargs: Any) -> Any:
        data = parameters.bind(self, *args, **kwargs).arguments
        seen = {"X": data["X"], "y": data.get("y"), "metadata": None}
        if data.get("sample_weight") is not None:
            seen["metadata"] = {"sample_weight": data["sample_weight"]}
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, **seen)
        fit(self, *args, **kwargs)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes={}, **seen)
        return self

    @wraps(fit)
    def fit_and_report(self: Any, *args: Any, **kwargs: Any) -> Any:
        followed = hasattr(self, "_skl_callbacks") or hasattr(self, "_parent_callback_ctx")
        return (reported if followed else fit)(self, *args, **kwargs)

    return cast(Method, fit_and_report)


def iteration_callback(estimator: Any) -> Callable[[Progress], Any] | None:
    """The parameter `callback` of an estimator, and scikit-learn's callbacks with it if there are any."""
    own = estimator.callback
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is None or not hasattr(estimator, "_skl_callbacks"):
        return cast("Callable[[Progress], Any] | None", own)

    def report(progress: Progress) -> bool:
        task = context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator)
        return bool(own is not None and own(progress)) or bool(stop)

    return report
