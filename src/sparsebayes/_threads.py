"""Few threads of BLAS where work comes in many small products.

A solver makes thousands of products of matrices of a hundred rows or so, which more threads only slow down: they wait
for each other longer than they compute, and much longer if other work runs on the machine. Passes over many rows are
large products, and use all threads. Kernel tiles and scoring passes come in blocks made for the cache, each of which
has one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Lock
from typing import Any, TypeVar, cast

from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")
Found = TypeVar("Found")
FEW_ROWS = 5000  # up to so many rows all products of a fit are small


# how many threads BLAS had before each of the `few_threads` around, the outermost first
_before: ContextVar[tuple[int, ...]] = ContextVar("before", default=())


class _OneThread:
    """One thread of BLAS for as long as any thread of the process asks for it.

    The number of threads of BLAS is that of the whole process: if each thread restored what it had found, the last of
    some fits at once would restore the limit of another.
    """

    def __init__(self) -> None:
        self.lock, self.holders, self.limit, self.before = Lock(), 0, cast(Any, None), 1

    def hold(self) -> int:
        """Ask for it; returns how many threads BLAS has without it."""
        with self.lock:
            if not self.holders:
                self.before = _threads_of_blas()
                with _anyone_may_set():
                    self.limit = _controller().limit(limits=1, user_api="blas")
            self.holders += 1
            return self.before

    def release(self) -> None:
        """Ask for it no longer; the last to do so gives BLAS back the threads that it had."""
        with self.lock:
            self.holders -= 1
            if not self.holders:
                with _anyone_may_set():
                    self.limit.restore_original_limits()


_one_thread = _OneThread()


@contextmanager
def few_threads() -> Iterator[None]:
    """A context in which BLAS has one thread."""
    before = _one_thread.hold()
    around = _before.set((*_before.get(), 1 if _before.get() else before))
    try:
        yield
    finally:
        _before.reset(around)
        _one_thread.release()


@contextmanager
def threads_of_rows() -> Iterator[None]:
    """A context, within `few_threads`, for a pass over the rows: BLAS has the threads from before.

    It has one thread still where `few_threads` is within another, or if other threads of the process ask for one.
    """
    if len(_before.get()) != 1:
        yield
        return
    _one_thread.release()
    around = _before.set(())
    try:
        yield
    finally:
        _before.reset(around)
        _one_thread.hold()


def in_parallel(
    work: Callable[[Piece], Found], pieces: Sequence[Piece], use: Callable[[Found], Any], parallel: bool = True
) -> None:
    """Give what `work` makes of each piece to `use`, in the order of the pieces, so that sums do not depend on threads.

    The pieces are worked on by as many threads of Python as BLAS has, from before the innermost `few_threads`; BLAS
    has one meanwhile. Small products gain more by this than by threads within them.

    parallel : whether there is anything to gain; there is not for arrays on a GPU.
    """
    workers = min(_before.get()[-1] if _before.get() else _threads_of_blas(), len(pieces)) if parallel else 1
    if workers <= 1:
        for piece in pieces:
            use(work(piece))
        return
    waiting: deque[Future[Found]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        with few_threads(), few_threads():  # the second leaves one thread to what `work` might give out in turn
            for piece in pieces:
                waiting.append(pool.submit(copy_context().run, work, piece))
                if len(waiting) > 2 * workers:  # so that few results wait in memory
                    use(waiting.popleft().result())
            while waiting:
                use(waiting.popleft().result())
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _anyone_may_set() -> Iterator[None]:
    """A context to set the number of threads of BLAS in: threadpoolctl heeds the first thread to do so and no other."""
    libraries = [each for each in _controller().lib_controllers if hasattr(each, "clear_controlling_thread")]
    try:
        for each in libraries:
            each.clear_controlling_thread(force=True)
        yield
    finally:
        for each in libraries:
            each.clear_controlling_thread(force=True)


def _threads_of_blas() -> int:
    """How many threads BLAS has now."""
    return max((each.num_threads for each in _controller().select(user_api="blas").lib_controllers), default=1)


def threads_for(rows: int | None) -> AbstractContextManager[Any]:
    """A context for the fit of so many rows: one thread if they are few, as many as there are if not, or if unknown."""
    return few_threads() if rows is not None and rows <= FEW_ROWS else nullcontext()


@cache
def _controller() -> ThreadpoolController:
    """What sets the number of threads of BLAS; it takes some milliseconds to find out which libraries there are."""
    return ThreadpoolController()
