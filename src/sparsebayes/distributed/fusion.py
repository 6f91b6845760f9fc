"""One task for each part: what makes the rows of a part is computed where, and when, they are used.

The chunks of a Dask array are often the end of a chain of small tasks (read, convert, slice, add). If the chains of
different parts have nothing in common, each of them becomes part of the one task that uses its rows: the scheduler has
less to do, a chunk lives as long as that task and no longer, and X and y of a part are never on different workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dask import get
from dask.base import is_dask_collection
from dask.optimization import cull
from dask.utils import ensure_dict


class Recipe:
    """How the rows of a part are made.  It is no dataclass, into which Dask would look for tasks of its own.

    Parameters
    ----------
    graph : dict
        The tasks.
    keys, values : tuple
        The keys of what is wanted; None for what is given as one of the values.
    """

    def __init__(self, graph: dict[Any, Any], keys: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        self.graph, self.keys, self.values = graph, keys, values

    def __call__(self) -> tuple[Any, ...]:
        """The rows."""
        wanted = [key for key in self.keys if key is not None]
        made = iter(get(self.graph, wanted))
        return tuple(value if key is None else next(made) for key, value in zip(self.keys, self.values, strict=True))


def recipes(parts: Iterable[tuple[Any, ...]]) -> list[Recipe] | None:
    """How to make each part by itself; None if parts share tasks, or have been computed already.

    Parameters
    ----------
    parts : iterable of tuple
        What each part consists of: `dask.delayed.Delayed` objects, and values that are given as they are.
    """
    graphs: dict[int, tuple[Any, dict[Any, Any]]] = {}
    found, total = [], 0
    seen: set[Any] = set()
    for part in parts:
        keys = tuple(each.key if is_dask_collection(each) else None for each in part)
        values = tuple(None if is_dask_collection(each) else each for each in part)
        own: dict[Any, Any] = {}
        try:
            for each in filter(is_dask_collection, part):
                own |= cull(_low_level(each, graphs), [each.key])[0]
        except KeyError:  # the graph of a dataframe need not name what is in the memory of workers
            return None
        if any(_is_computed(task) for task in own.values()):
            return None
        total += len(own)
        seen.update(own)
        if len(seen) < total:
            return None
        found.append(Recipe(own, keys, values))
    return found


def _low_level(collection: Any, graphs: dict[int, tuple[Any, dict[Any, Any]]]) -> dict[Any, Any]:
    """The tasks of a collection; the parts of one array share their graph, which is looked at once.

    graphs : those that have been looked at, kept together with their tasks so that no other can have their identity.
    """
    graph = collection.__dask_graph__()
    if id(graph) not in graphs:
        graphs[id(graph)] = (graph, ensure_dict(graph))
    return graphs[id(graph)][1]


def _is_computed(task: Any) -> bool:
    """Whether a task stands for something that is in the memory of a worker."""
    return type(getattr(task, "value", task)).__name__ == "Future"
