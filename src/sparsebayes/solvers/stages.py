"""The stages of a fit as a checkpoint keeps them: models as (J, G_JJ, α, β), and where the monitor was.

A state is made anew from the same numbers by the same operations, so that it is the same to the last bit. With rows of
G that are fetched in batches the batches are kept too: G rounds differently in others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsebayes._array import NotPositiveDefinite, asfloat64, take, to_numpy
from sparsebayes.checkpoints import Prefix
from sparsebayes.checkpoints.journal import Frame, Journal
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.quadratic import DenseQuadratic, Restriction
from sparsebayes.core.solver import Solution
from sparsebayes.solvers.monitor import FitMonitor, Move


class Values:
    """Numbers, texts, arrays, and lists of them, as a checkpoint keeps them: as they are."""

    problem: Problem | None = None

    def pack(self, value: Any) -> Any:
        """The value as trees and arrays."""
        return [self.pack(each) for each in value] if isinstance(value, list | tuple) else value

    def unpack(self, tree: Any, known: dict[Any, Any]) -> Any:
        """The value.  known : objects made before, by their contents."""
        return [self.unpack(each, known) for each in tree] if isinstance(tree, list) else tree

    def context(self) -> Any:
        """What else is needed to make the same objects again."""
        return None

    def restore(self, context: Any) -> None:
        """Make use of it."""


VALUES = Values()


class Models(Values):
    """States of a problem, or of another with the same quadratic and functions, and solutions."""

    def __init__(self, problem: Problem) -> None:
        self.problem: Problem = problem

    def pack(self, value: Any) -> Any:
        """The value as trees and arrays."""
        if isinstance(value, Solution):
            return {"state": self.pack(value.state), "converged": value.converged}
        if isinstance(value, State):
            # where all of G is held, that of the active functions can be taken from it
            G = None if type(self.problem.quadratic) is DenseQuadratic else to_numpy(value.active.G)
            return {"J": np.asarray(value.active.J), "G": G, "alpha": to_numpy(value.alpha), "beta": value.beta}
        return super().pack(value)

    def unpack(self, tree: Any, known: dict[Any, Any]) -> Any:
        """The value; a state that was made before is the same object, which a solver may ask."""
        if not isinstance(tree, dict):
            return super().unpack(tree, known)
        if "state" in tree:
            return Solution(self.unpack(tree["state"], known), tree["converged"])
        J, G, alpha, beta = (tree[name] for name in ("J", "G", "alpha", "beta"))
        key = (id(self.problem), J.tobytes(), b"" if G is None else G.tobytes(), alpha.tobytes(), beta)
        if key not in known:
            quadratic, like = self.problem.quadratic, self.problem.quadratic.h
            active = quadratic.restrict(J) if G is None else Restriction(J, take(like, J), asfloat64(G, like=like))
            known[key] = self.problem.state(active, asfloat64(alpha, like=like), beta)
        return known[key]

    def context(self) -> Any:
        """The batches in which rows of G were fetched; None if all of G is held."""
        batches = getattr(_fetching(self.problem), "batches", None)
        return None if batches is None else Prefix(batches, len(batches), _packed)

    def restore(self, context: Any) -> None:
        """Fetch rows of G in these batches, each when one of its rows is needed."""
        if context is not None and context.length:
            sizes, members = context.items
            ends = np.cumsum(sizes)[: context.length]
            _fetching(self.problem).expect(np.split(members[: ends[-1]], ends[:-1]))


def _fetching(problem: Problem) -> Any:
    """The quadratic that fetches rows of G, which others may rescale."""
    quadratic: Any = problem.quadratic
    while hasattr(quadratic, "base"):
        quadratic = quadratic.base
    return quadratic


def _packed(batches: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays of numbers as two: how many there are of each, and all of them."""
    sizes = np.asarray([len(batch) for batch in batches], dtype=np.int64)
    return [sizes, np.concatenate([np.zeros(0, dtype=np.int64), *batches])]


def snapshot(monitor: FitMonitor) -> dict[str, Any]:
    """Where a monitor is: lists that only grow by their length, and the best state by whose problem it is of."""
    rng, best, where = vars(monitor).get("rng"), monitor.best, None
    for depth, problem in enumerate(monitor.problems):
        if best and problem is best[0]:
            where = depth
    return {
        "path": Prefix(monitor.path, len(monitor.path), np.asarray),
        "trace": Prefix(monitor.trace, len(monitor.trace), lambda trace: [list(vars(move).values()) for move in trace]),
        "modes": Prefix(monitor.modes, len(monitor.modes), _packed_modes),
        "remarks": list(monitor.remarks),
        "rng": None if rng is None else rng.bit_generator.state,
        "numbers": [monitor.factor, monitor.offset, monitor.level, monitor.saturated],
        "best": None if where is None else [where, best[1], best[2], to_numpy(best[3]), best[4]],
    }


def restore(monitor: FitMonitor, kept: dict[str, Any]) -> None:
    """Put a monitor where it was."""
    path, trace, modes = (kept[name] for name in ("path", "trace", "modes"))
    monitor.path = path.items[: path.length].tolist()
    monitor.trace = [Move(*move) for move in trace.items[: trace.length]]
    objectives, sizes, members = modes.items
    ends = np.cumsum(sizes)
    parts = [frozenset(part.tolist()) for part in np.split(members, ends)[: modes.length]]
    monitor.modes = list(zip(objectives[: modes.length].tolist(), parts, strict=True))
    monitor.remarks = list(kept["remarks"])
    if kept["rng"] is not None:
        monitor.rng.bit_generator.state = kept["rng"]
    monitor.factor, monitor.offset, monitor.level, monitor.saturated = kept["numbers"]
    monitor.best = ()
    if kept["best"] is not None:
        where, objective, J, alpha, beta = kept["best"]
        problem = monitor.problems[where]
        monitor.best = (problem, objective, J, asfloat64(alpha, like=problem.quadratic.h), beta)


def _packed_modes(modes: list[tuple[float, frozenset[int]]]) -> list[np.ndarray]:
    """Objectives and functions of models as three arrays."""
    members = [np.fromiter(functions, dtype=np.int64) for _, functions in modes]
    return [np.asarray([objective for objective, _ in modes], dtype=np.float64), *_packed(members)]


class Stage:
    """A stage of a fit: something that takes time, and that is not done again when the fit is resumed.

    finished, result : whether it is over, and what it has found then.
    began, values : whether it has been under way before, and what its last round had.
    """

    def __init__(self, monitor: Any = None, code: Values = VALUES, frame: Frame | None = None) -> None:
        self._monitor, self._code, self._frame = monitor, code, frame
        self.finished = self.began = False
        self.result: Any = None
        self.values: list[Any] = []
        if frame is not None and frame.state is not None:
            self.began, self.values = True, self._loaded(frame.state)

    def over(self, result: Any) -> Stage:
        """The stage, over with this result as it was kept."""
        self.finished, self.result = True, self._loaded(result)[0]
        return self

    def save(self, *values: Any) -> None:
        """Keep what the next round of a loop begins with."""
        if self._frame is not None:
            if not self._monitor.going:
                self._monitor.journal.freeze()
            self._monitor.journal.save(self._kept(values))

    def finish(self, result: Any) -> Any:
        """The result, which is kept."""
        if self._frame is not None:
            if not self._monitor.going:  # the result is that of a fit that was ended
                self._monitor.journal.freeze()
            self.finished, self.result = True, self._kept((result,))
        return result

    def _kept(self, values: tuple[Any, ...]) -> Any:
        """What is written if it is time to: nothing in it changes any more."""
        code, seen, context = self._code, snapshot(self._monitor), self._code.context()
        return lambda: {"values": code.pack(values), "monitor": seen, "context": context}

    def _loaded(self, kept: Any) -> list[Any]:
        """What was kept, with the monitor as it was then."""
        self._code.restore(kept["context"])
        restore(self._monitor, kept["monitor"])
        values: list[Any] = self._code.unpack(kept["values"], self._monitor.journal.known)
        return values


@contextmanager
def staged(monitor: Any, name: str, code: Values) -> Iterator[Stage]:
    """A stage of the fit of a monitor; without a checkpoint it is done, and nothing is kept."""
    journal: Journal | None = getattr(monitor, "journal", None)
    if journal is None:
        yield Stage()
        return
    frame, result = journal.enter(name)
    monitor.problems.append(code.problem)
    try:
        if frame is None:
            yield Stage(monitor, code).over(result)
            return
        stage = Stage(monitor, code, frame)
        yield stage
        journal.leave(stage.result)
    except BaseException as error:
        if frame is not None:
            (journal.give_up if isinstance(error, NotPositiveDefinite) else journal.break_off)()
        raise
    finally:
        monitor.problems.pop()


def once(monitor: Any, name: str, code: Values, compute: Any) -> Any:
    """What `compute()` returns, or what it returned before the fit was interrupted."""
    with staged(monitor, name, code) as stage:
        return stage.result if stage.finished else stage.finish(compute())
