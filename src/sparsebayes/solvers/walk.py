"""The path of a solver from model to model: what is recorded, and where it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes.core.posterior import Problem
from sparsebayes.core.solver import Monitor
from sparsebayes.solvers.stages import Models, Stage, once, staged


class Stopped(Exception):
    """The monitor has ended the fit.  state : the best model there is."""

    def __init__(self, state: Any) -> None:
        super().__init__("the fit was stopped")
        self.state = state


class Walk:
    """Reports the models of a solver to its monitor.

    incumbent : the model to beat while others are being tried; it is what the monitor is told of then.
    counted : whether the iterations count towards the most that are allowed.
    """

    def __init__(self, monitor: Monitor) -> None:
        self.monitor, self.tol = monitor, monitor.tol
        self.incumbent: Any = None
        self.counted = True

    @cached_property
    def rng(self) -> np.random.Generator:
        """The generator of the monitor, or a fixed one if it has none."""
        return getattr(self.monitor, "rng", None) or np.random.default_rng(0)

    @contextmanager
    def trial(self, incumbent: Any, counted: bool = True) -> Iterator[None]:
        """Within it states are only tried, and the model is `incumbent` (or that of an outer trial).

        counted : whether its iterations count; those of a search that has a limit of its own need not.
        """
        outer, before = self.incumbent, self.counted
        self.incumbent, self.counted = incumbent if outer is None else outer, before and counted
        try:
            yield
        finally:
            self.incumbent, self.counted = outer, before

    def stage(self, name: str, problem: Problem) -> AbstractContextManager[Stage]:
        """A stage of the solver, whose values are states of a problem: see `solvers.stages`."""
        return staged(self.monitor, name, Models(problem))

    def once(self, name: str, problem: Problem, compute: Callable[[], Any]) -> Any:
        """What `compute()` returns, or what it returned before the fit was interrupted."""
        return once(self.monitor, name, Models(problem), compute)

    def advance(self, state: Any) -> None:
        """Report one iteration; after the last, raises `Stopped` with the better of state and incumbent."""
        rival, report = self.incumbent, self.monitor.record if self.counted else self.monitor.consult
        if not report(state if rival is None else rival):
            raise Stopped(state if rival is None or state.objective > rival.objective else rival)

    def note(self, name: str, count: int, state: Any) -> None:
        """Report a move, unless it is only tried."""
        if self.incumbent is None:
            self.monitor.note(name, count, state)

    def tried(self, state: Any) -> None:
        """Report a model that was solved from another start, whatever becomes of it."""
        if isinstance(modes := getattr(self.monitor, "modes", None), list):
            modes.append((state.objective, frozenset(state.J.tolist())))
