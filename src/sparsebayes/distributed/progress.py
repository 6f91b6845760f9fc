"""How far a pass is: what follows it sees the parts that are done, in this process or on a cluster.

In threads of this process Dask says which tasks are done. On a cluster each task says so itself, by an event that the
scheduler passes on to the client; a task that is computed again, because its worker died, counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any
from uuid import uuid4

import dask
from dask.callbacks import Callback
from dask.delayed import Delayed

from sparsebayes.solvers.monitor import FitMonitor, Progress


@dataclass(frozen=True, eq=False)
class PassWatch:
    """What follows the passes of a fit.

    parts : called with the name of a pass, how many parts are done, and of how many.
    news : called with what a task says besides: the iterations of a fit that is made on a worker.
    topic : what the events of the tasks are called.

    Both return whether the fit is to stop. A pass is made to its end all the same: there is no model without it.
    """

    parts: Callable[[str, int, int], bool]
    news: Callable[[Any], bool]
    topic: str = field(default_factory=lambda: f"sparsebayes-{uuid4().hex}")

    @classmethod
    def of(cls, monitor: FitMonitor | None) -> PassWatch | None:
        """What shows passes to the callback of a monitor; None if nobody wants to know."""
        if monitor is None or (monitor.callback is None and not monitor.verbose):
            return None
        return cls(monitor.pass_part, lambda values: monitor.show(Progress(*values)))


def cluster() -> Any:
    """The client of the cluster that Dask computes on; None if it computes in this process."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "subscribe_topic") else None


def tell(topic: str, news: Any) -> None:
    """Say something to the client, from a task on a worker."""
    from distributed import get_worker

    get_worker().log_event(topic, news)


def computed(result: Delayed, name: str, total: int, watch: PassWatch | None) -> Any:
    """The value of a pass over `total` parts, followed by `watch`."""
    client = cluster()
    if watch is None:
        return result.compute()
    if client is not None:
        return _computed_on(client, result, name, total, watch)
    done = 0

    def after(key: Any, *about: Any) -> None:
        nonlocal done
        if isinstance(key, tuple) and len(key) == 2 and key[0] in wanted:
            done += 1
            watch.parts(name, done, total)

    wanted = {key[0] for key in dict(result.dask) if isinstance(key, tuple) and len(key) == 2}
    with Callback(posttask=after):
        return result.compute()


def _computed_on(client: Any, result: Delayed, name: str, total: int, watch: PassWatch) -> Any:
    """The value of a pass on a cluster: this thread waits, and hands on what the tasks say."""
    heard: SimpleQueue[Any] = SimpleQueue()
    client.subscribe_topic(watch.topic, lambda event: heard.put(event[1]))
    future = client.compute(result)
    future.add_done_callback(lambda future: heard.put(_END))
    done: set[int] = set()
    told = False
    try:
        while (news := heard.get()) is not _END:
            done |= {news} if isinstance(news, int) else set()
            stop = watch.parts(name, len(done), total) if isinstance(news, int) else watch.news(news)
            if stop and not told:
                told = True
                _stop_event(client, watch.topic)
        if len(done) < total and future.status == "finished":
            watch.parts(name, total, total)
        return future.result()
    finally:
        client.unsubscribe_topic(watch.topic)
        future.cancel()


def _stop_event(client: Any, topic: str) -> None:
    """Let a fit on a worker know that it is to stop."""
    from distributed import Event

    Event(topic, client=client).set()


_END = object()
