"""A fit of few rows by the method for rows in memory: on a cluster one worker makes it, and the client sees no row."""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import astuple, dataclass
from typing import Any

from sparsebayes._checks import warn
from sparsebayes.distributed.dask_rows import DaskRows
from sparsebayes.distributed.points import chained, gathered, put_together
from sparsebayes.distributed.progress import cluster, tell

PATIENCE = 0.2  # seconds between two questions of a worker whether the fit is to stop


@dataclass(eq=False)
class _Tells:
    """A callback on a worker, which tells the client of every iteration and asks now and then whether to stop."""

    topic: str
    asked: float = 0.0

    def __call__(self, progress: Any) -> bool:
        tell(self.topic, [each.item() if hasattr(each, "item") else each for each in astuple(progress)])
        if time.monotonic() - self.asked < PATIENCE:
            return False
        from distributed import Event

        self.asked = time.monotonic()
        return bool(Event(self.topic).is_set())


@dataclass(frozen=True, eq=False)
class _RemoteFit:
    """Fits an estimator where its rows have been brought together.

    model : the estimator, without data and callback.  topic : of what the client is told; None for nothing.
    """

    model: Any
    topic: str | None

    def __call__(self, parts: dict[int, tuple[Any, ...]]) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
        """The attributes of the fitted estimator, and the warnings of the fit."""
        model = copy.copy(self.model)
        before = set(vars(model))
        model.callback = None if self.topic is None else _Tells(self.topic)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            _fit(model, parts)
        fitted = {name: value for name, value in vars(model).items() if name not in before}
        return fitted, [(str(each.message), each.category) for each in said]


def _fit(model: Any, parts: dict[int, tuple[Any, ...]]) -> Any:
    X, y, weights, noise = put_together(parts)
    return model.fit(X, y, weights, **({} if noise is None else {"noise_variance": noise}))


def fit_together(model: Any, bare: Any, given: DaskRows) -> dict[str, Any]:
    """The attributes of an estimator that is fitted to the rows by its method for rows in memory.

    Parameters
    ----------
    model : estimator
        What is fitted if Dask computes in this process.
    bare : estimator
        The same without data and callback, which travels to a worker.
    given : DaskRows
        The rows as they came.

    Returns
    -------
    dict
        What is to be set; nothing if `model` has been fitted.
    """
    if cluster() is None:
        _fit(model, given.reduce("gather", gathered, chained))
        return {}
    topic = None if given.watch is None else given.watch.topic
    fitted, said = given.reduce("gather", gathered, chained, finish=_RemoteFit(bare, topic))
    for message, category in said:
        warn(message, category)
    return dict(fitted)
