"""The rows of Dask collections, part by part: every pass over them is a tree reduction with one small result.

A part is what lies between two row boundaries of X, with the targets and weights of these rows. A pass evaluates a
function of each part where the part is, and adds up the results in a tree whose shape depends on the number of parts
alone, so that neither the number of workers nor the order in which they finish changes a digit. Nothing stays on a
worker between two passes: a worker that dies takes nothing along that Dask would not compute again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import Delayed

from sparsebayes._threads import few_threads
from sparsebayes.distributed.fusion import Recipe, recipes
from sparsebayes.distributed.progress import PassWatch, cluster, computed, tell
from sparsebayes.distributed.settings import DISTRIBUTED
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.validation import as_vector

NAME = "sparsebayes"  # what the names of tasks begin with


class Part(NamedTuple):
    """Some rows as they came: X, y and sample_weight (None if there are none), the part's number and first row.

    start : the number of rows before them, −1 if that is not known.
    variances : the known noise variance of each row; None if it is not known.
    """

    X: Any
    y: Any
    weights: Any
    number: int
    start: int
    variances: Any = None

    def located(self, error: Exception) -> ValueError:
        """An error about these rows that says where they are."""
        where = f"in chunk {self.number}" + (f", which starts at row {self.start}" if self.start >= 0 else "")
        return ValueError(f"{str(error).rstrip('.')} ({where}).")


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows of Dask collections, a list of parts that are not computed.

    parts : what each `Part` is made of, lazily: Dask's objects, or a `Recipe`.  shape : of X; the rows may be NaN.
    prepare : turns a `Part` into the rows that functions of passes take; None leaves it as it is.
    watch : what follows the passes; None if nothing does.
    """

    parts: tuple[tuple[Any, ...] | Recipe, ...]
    shape: tuple[float, int]
    prepare: Callable[[Part], Any] | None = None
    watch: PassWatch | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        variances: Any = None,
        watch: PassWatch | None = None,
    ) -> DaskRows:
        """The rows of collections whose row boundaries agree, or can be made to.

        Parameters
        ----------
        X : dask array of shape (N, d) or dask dataframe
            Inputs. Columns in several chunks are put together.
        y, sample_weight, variances : dask array, dask series, array-like of shape (N,), or None
            Targets (or (N, T) of several outputs), weights and noise variances; in chunks of other rows they are
            rechunked to those of X.
        watch : PassWatch, optional
            What follows the passes.

        Returns
        -------
        DaskRows
            The parts, not computed.
        """
        blocks, sizes, width = _blocks_of(X)
        given = ((y, "y"), (sample_weight, "sample_weight"), (variances, "the noise variance of each row"))
        count = "pass X.to_dask_array(lengths=True)" if hasattr(X, "columns") else "call X.compute_chunk_sizes()"
        y, weights, noise = (_like(each, sizes, name, count) for each, name in given)
        starts = [-1 if math.isnan(each) else int(each) for each in np.cumsum([0.0, *sizes[:-1]]).tolist()]
        parts = list(zip(blocks, y, weights, range(len(blocks)), starts, noise, strict=True))
        alone = recipes(parts)
        return cls(tuple(parts if alone is None else alone), (float(sum(sizes)), width), watch=watch)

    def prepared(self, prepare: Callable[[Any], Any]) -> DaskRows:
        """The same rows, each part turned into something else before a pass sees it."""
        before = self.prepare
        return replace(self, prepare=prepare if before is None else _Chained(before, prepare))

    def reduce(
        self,
        name: str,
        of_part: Callable[..., Any],
        combine: Callable[[list[Any]], Any],
        *shared: Any,
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """One pass: `of_part(rows, *shared)` of every part, added up by `combine` in a tree.

        Parameters
        ----------
        name : str
            What the tasks are called on Dask's dashboard, after "sparsebayes-".
        of_part : callable
            (rows, *shared) -> a small result; None is left out.
        combine : callable
            A list of results -> one result; not called with fewer than two.
        *shared : object
            What all parts are given, sent to each worker once.
        finish : callable, optional
            What is made of the sum, by one more task where the sum is; it gets None if there is none.

        Returns
        -------
        object
            The sum, or what `finish` makes of it; None if there is none.
        """
        key = f"{NAME}-{name}"
        tag = uuid4().hex
        topic = None if self.watch is None or cluster() is None else self.watch.topic
        task = dask.delayed(_Task(of_part, self.prepare, topic), name=f"{key}-task-{tag}", traverse=False)
        given = dask.delayed(shared, name=f"{key}-shared-{tag}", traverse=False)
        level = [
            task(given, *(part if isinstance(part, tuple) else (part,)), dask_key_name=(f"{key}-{tag}", k))
            for k, part in enumerate(self.parts)
        ]
        add, depth, arity = _Sum(combine), 0, DISTRIBUTED.arity
        while len(level) > 1:
            depth += 1
            level = [
                dask.delayed(add)(level[k : k + arity], dask_key_name=(f"{key}-sum-{tag}", depth, k))
                for k in range(0, len(level), arity)
            ]
        if finish is not None:
            level = [dask.delayed(finish)(level[0] if level else None, dask_key_name=f"{key}-end-{tag}")]
        return _computed(level[0], name, len(self.parts), self.watch) if level else None


@dataclass(frozen=True)
class _Chained:
    """One function after another."""

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, rows: Any) -> Any:
        return self.second(self.first(rows))


@dataclass(frozen=True)
class _Task:
    """What a pass does with a part.  topic : of the event that says it is done; None for none."""

    of_part: Callable[..., Any]
    prepare: Callable[[Part], Any] | None
    topic: str | None = None

    def __call__(self, shared: tuple[Any, ...], *given: Any) -> Any:
        part = Part(*(given[0]() if len(given) == 1 else given))
        rows = part if self.prepare is None else self.prepare(part)
        found = None if rows is None else self.of_part(rows, *shared)
        if self.topic is not None:
            tell(self.topic, part.number)
        return found


@dataclass(frozen=True)
class _Sum:
    """The sum of the results that are not None; None if there are none."""

    combine: Callable[[list[Any]], Any]

    def __call__(self, results: Sequence[Any]) -> Any:
        found = [each for each in results if each is not None]
        return self.combine(found) if len(found) > 1 else (found[0] if found else None)


def _computed(result: Delayed, name: str, total: int, watch: PassWatch | None) -> Any:
    """The value of a pass over `total` parts, which is started again if Dask gives up because its workers died."""
    for remaining in reversed(range(DISTRIBUTED.attempts)):
        try:
            with _one_thread_per_task():
                return computed(result, name, total, watch)
        except Exception as error:
            if type(error).__name__ not in ("KilledWorker", "FutureCancelledError", "CancelledError") or not remaining:
                raise
    raise AssertionError("the last attempt returns or raises")


def _one_thread_per_task() -> Any:
    """BLAS with one thread while threads of this process compute: more of them would fight over the cores.

    Workers of a cluster have one thread each for BLAS, by Dask's own settings.
    """
    if dask.base.get_scheduler() is not None:
        return nullcontext()
    return few_threads()


def _blocks_of(X: Any) -> tuple[list[Any], list[float], int]:
    """The parts of X (N, d), lazily, how many rows each has (NaN if unknown), and d."""
    if hasattr(X, "columns"):
        blocks = list(X.to_delayed())
        return blocks, [math.nan] * len(blocks), len(X.columns)
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions (rows, features), got {X.ndim}: use X[:, None] if it is one feature."
        )
    if math.isnan(X.shape[1]):
        raise ValueError("X has an unknown number of columns: call X.compute_chunk_sizes() before the fit.")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return blocks_of_array(X), [float(size) for size in X.chunks[0]], int(X.shape[1])


def _like(y: Any, sizes: list[float], name: str, count: str) -> list[Any]:
    """The targets or weights of each part of X, whose parts have `sizes` rows; count : how these can be known."""
    if y is None:
        return [None] * len(sizes)
    known = not any(map(math.isnan, sizes))
    if not is_dask(y):
        return _sliced(y, sizes, name, count)
    if hasattr(y, "to_dask_array"):  # a series or a dataframe
        y = y.map_partitions(_values, meta=_values(y._meta))
    y = y.rechunk({1: -1}) if y.ndim == 2 and len(y.chunks[1]) > 1 else y
    if len(y.chunks[0]) == len(sizes) and not (known and _known(y)):
        return blocks_of_array(y)  # every part finds out whether the lengths agree
    if not known:
        raise ValueError(
            f"X has {len(sizes)} chunks of unknown sizes and {name} has {len(y.chunks[0])} chunks, so that rows cannot "
            f"be matched: {count}."
        )
    y = y if _known(y) else y.compute_chunk_sizes()
    _check_length(y.shape, sizes, name)
    y = y.rechunk({0: tuple(int(size) for size in sizes), **dict.fromkeys(range(1, y.ndim), -1)})
    return blocks_of_array(y)


def _values(part: Any) -> np.ndarray:
    """A part of a series or of a dataframe as an array, of the type that it has for rows in memory."""
    return as_vector(part) if part.ndim == 1 else np.asarray(part)


def starts_of(sizes: dict[int, int]) -> tuple[int, ...]:
    """How many rows come before each part, from the sizes of the parts that have rows, by number."""
    every = [sizes.get(number, 0) for number in range(max(sizes, default=-1) + 1)]
    return tuple(np.cumsum([0, *every])[:-1].tolist())


def blocks_of_array(X: Any) -> list[Any]:
    """The blocks of rows of an array, lazily.

    Its graph is taken as it is: an optimised one does not name what is in the memory of workers already, which could
    then be forgotten before it is used.
    """
    return list(X.to_delayed(optimize_graph=False).ravel())


def _known(y: Any) -> bool:
    """Whether the sizes of the chunks of an array are known."""
    return not any(map(math.isnan, y.chunks[0]))


def _check_length(shape: tuple[int, ...], sizes: list[float], name: str) -> None:
    """Raise ValueError unless there are as many values as rows."""
    if shape[0] != sum(sizes):
        raise ValueError(
            f"{name} must have one value per row of X: X has {int(sum(sizes))} rows, but {name} has shape {shape}."
        )


def _sliced(y: Any, sizes: list[float], name: str, count: str) -> list[Any]:
    """Targets or weights in memory, cut at the boundaries of the parts of X; the arguments are those of `_like`."""
    if np.ndim(y) == 0:
        return [y] * len(sizes)
    if any(map(math.isnan, sizes)):
        raise ValueError(
            f"{name} is in memory and X has chunks of unknown sizes, so that rows cannot be matched: {count}, or pass "
            f"{name} as a Dask collection with the same partitions."
        )
    values = np.asarray(y)
    _check_length(values.shape, sizes, name)
    ends = np.cumsum(sizes).astype(int)
    return [dask.delayed(values[end - int(size) : end], pure=True) for end, size in zip(ends, sizes, strict=True)]
