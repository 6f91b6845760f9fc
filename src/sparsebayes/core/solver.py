"""The interface of a solver, and the monitor that every solver reports to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Self

import numpy as np

from sparsebayes._array import asfloat64
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.specification import Specification
from sparsebayes.core.units import Units


@dataclass
class Monitor:
    """What a solver reports to: it records the path of the objective and says when to stop.

    `solvers.monitor.FitMonitor` also prints, calls back and keeps a trace.

    max_iter, tol : iterations allowed; what a move must gain, in nats, for the solver to go on.
    offset, outputs : turn the solver's objective, which is per output, into the user's: outputs·(objective + offset).
    path : the objective at each iteration, in the user's units.
    """

    max_iter: int = 10000
    tol: float = 1e-6
    offset: float = 0.0
    outputs: int = 1
    path: list[float] = field(default_factory=list)

    def in_units(self, units: Units) -> Self:
        """Itself, reporting in the user's units."""
        self.offset = units.log_jacobian
        return self

    @property
    def going(self) -> bool:
        """Whether the fit may go on."""
        return len(self.path) < self.max_iter

    def record(self, state: Any) -> bool:
        """Note one iteration, of a `State` or what has its objective, size and beta; False to stop."""
        self.path.append(self.outputs * (state.objective + self.offset))
        return self.going

    def consult(self, state: Any) -> bool:
        """Show a model that is not an iteration of its own; False to stop."""
        return self.going

    def note(self, name: str, count: int, state: Any) -> None:
        """Note a move: its name, how many functions it concerned, and the model after it."""


class Effort(IntEnum):
    """How far a solver is to go.

    DRAFT : a first model of a problem that is only an approximation of the one that counts.
    ROUND : from nothing, a model of such a problem that is worth comparing; from a start, one round of
        improvements.
    FULL : a local maximum.
    """

    DRAFT = 0
    ROUND = 1
    FULL = 2


@dataclass(frozen=True)
class Solution:
    """Where a solver ended, and whether by its own criterion.

    state : a `State`, or what has its attributes.  converged : whether it is a solution, not only a draft.
    """

    state: Any
    converged: bool


@dataclass
class Solver(Specification, ABC):
    """Maximises a `Problem` over which functions are active, their α, and β; it never sees rows."""

    @abstractmethod
    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """Run until converged, stopped by the monitor, or out of iterations.

        start : a state of the problem to go on from, if one is known that is close to the solution.
        effort : less than FULL allows to stop early; a solver may ignore that and go to the end.
        """


def first_state(problem: Problem) -> State:
    """One function: the one with the largest projection on the target, at its best α [TF03, 4.1]."""
    beta = problem.noise.beta
    best = int(np.argmax(np.abs(problem.projections)))
    s, q = beta, beta * float(problem.projections[best])  # nothing else is in the model: C = I/β
    alpha = s * s / (q * q - s) if q * q > 2 * s else s
    return problem.start([best], asfloat64([alpha], like=problem.quadratic.h), beta)
