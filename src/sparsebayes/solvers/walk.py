"""The path of a solver from model to model: what is recorded, and where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsebayes.core.solver import Monitor


class Stopped(Exception):
    """The monitor has ended the fit.  state : the best model there is."""

    def __init__(self, state: Any) -> None:
        super().__init__("the fit was stopped")
        self.state = state


class Walk:
    """Reports the models of a solver to its monitor.

    incumbent : the model to beat while others are being tried; it is what the monitor is told of then.
    """

    def __init__(self, monitor: Monitor) -> None:
        self.monitor, self.tol = monitor, monitor.tol
        self.rng = getattr(monitor, "rng", None) or np.random.default_rng(0)
        self.incumbent: Any = None

    @contextmanager
    def trial(self, incumbent: Any) -> Iterator[None]:
        """Within it states are only tried, and the model is `incumbent` (or that of an outer trial)."""
        outer = self.incumbent
        self.incumbent = incumbent if outer is None else outer
        try:
            yield
        finally:
            self.incumbent = outer

    def advance(self, state: Any) -> None:
        """Report one iteration; after the last, raises `Stopped` with the better of state and incumbent."""
        rival = self.incumbent
        if not self.monitor.record(state if rival is None else rival):
            raise Stopped(state if rival is None or state.objective > rival.objective else rival)

    def note(self, name: str, count: int, state: Any) -> None:
        """Report a move, unless it is only tried."""
        if self.incumbent is None:
            self.monitor.note(name, count, state)
