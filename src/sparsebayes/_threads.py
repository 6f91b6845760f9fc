"""Few threads where work comes in many small products.

A solver makes thousands of products of matrices of a hundred rows or so, which more threads only slow down: they wait
for each other longer than they compute, and much longer if other work runs on the machine. Kernel tiles and scoring
passes of many rows are large products, and use all threads.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW_ROWS = 5000  # up to so many rows all products of a fit are small


def few_threads() -> AbstractContextManager[Any]:
    """A context in which BLAS has one thread."""
    return _controller().limit(limits=1, user_api="blas")


def threads_for(rows: int | None) -> AbstractContextManager[Any]:
    """A context for the fit of so many rows: one thread if they are few, as many as there are if not, or if unknown."""
    return few_threads() if rows is not None and rows <= FEW_ROWS else nullcontext()


@cache
def _controller() -> ThreadpoolController:
    """What sets the number of threads of BLAS; it takes some milliseconds to find out which libraries there are."""
    return ThreadpoolController()
