"""Few threads of BLAS where work comes in many small products.

A solver makes thousands of products of matrices of a hundred rows or so, which more threads only slow down: they wait
for each other longer than they compute, and much longer if other work runs on the machine. Passes over many rows,
kernel tiles and scoring passes are large products, and use all threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW_ROWS = 5000  # up to so many rows all products of a fit are small


_limits: ContextVar[tuple[Any, ...]] = ContextVar(
    "limits", default=()
)  # those of the `few_threads` around, outermost first


@contextmanager
def few_threads() -> Iterator[None]:
    """A context in which BLAS has one thread."""
    limit = _one_thread()
    around = _limits.set((*_limits.get(), limit))
    try:
        yield
    finally:
        _limits.reset(around)
        limit.restore_original_limits()


@contextmanager
def threads_of_rows() -> Iterator[None]:
    """A context, within `few_threads`, for a pass over the rows: BLAS has the threads from before the innermost one."""
    if not _limits.get():
        yield
        return
    *outer, limit = _limits.get()
    limit.restore_original_limits()
    around = _limits.set(tuple(outer))
    try:
        yield
    finally:
        _limits.reset(around)
        _one_thread()


def _one_thread() -> Any:
    """Give BLAS one thread; what is returned can restore the number of before."""
    return _controller().limit(limits=1, user_api="blas")


def threads_for(rows: int | None) -> AbstractContextManager[Any]:
    """A context for the fit of so many rows: one thread if they are few, as many as there are if not, or if unknown."""
    return few_threads() if rows is not None and rows <= FEW_ROWS else nullcontext()


@cache
def _controller() -> ThreadpoolController:
    """What sets the number of threads of BLAS; it takes some milliseconds to find out which libraries there are."""
    return ThreadpoolController()
