"""Few threads where work comes in many small products.

A solver on a working set makes thousands of products of matrices of a hundred rows or so, which more threads only
slow down: they wait for each other longer than they compute. Kernel tiles and scoring passes are large products, and
use all threads.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def few_threads() -> AbstractContextManager[Any]:
    """A context in which BLAS has one thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """What sets the number of threads of BLAS; it takes some milliseconds to find out which libraries there are."""
    return ThreadpoolController()
