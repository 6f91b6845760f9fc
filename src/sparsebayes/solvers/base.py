"""What every solver shares: the contract, the monitor that records and reports, and the single best start."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes._array import asfloat64, to_numpy
from sparsebayes.posterior import Problem, State


@dataclass(frozen=True)
class Progress:
    """What a callback is shown each iteration, in the user's units."""

    iteration: int
    objective: float
    n_active: int
    noise_variance: float


@dataclass
class Monitor:
    """Records the path of the objective, prints progress, asks the callback whether to stop.

    scale : (offset, factor) that turn the solver's objective and noise variance into the user's units.
    """

    max_iter: int
    tol: float
    rng: np.random.Generator
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None
    offset: float = 0.0
    factor: float = 1.0
    path: list[float] = field(default_factory=list)
    stopped: bool = False
    standing: float | None = None

    @contextmanager
    def trial(self, standing: float) -> Iterator[None]:
        """While it lasts states are only being tried; `standing` is the objective of the one that stands."""
        self.standing = standing
        try:
            yield
        finally:
            self.standing = None

    @property
    def going(self) -> bool:
        """Whether the fit may go on."""
        return not self.stopped and len(self.path) < self.max_iter

    def record(self, state: Any, standing: float | None = None) -> bool:
        """Note one iteration; True where the fit is to go on.

        standing : the objective of the model that stands while `state` is only being tried.
        """
        standing = standing if self.standing is None else self.standing
        self.path.append((state.objective if standing is None else standing) + self.offset)
        progress = Progress(len(self.path), self.path[-1], state.size, self.factor / state.beta)
        if self.verbose and (self.verbose > 1 or len(self.path) % 10 == 1):
            print(self._line(progress), file=sys.stderr)
        if self.callback is not None and self.callback(progress):
            self.stopped = True
        return self.going

    @staticmethod
    def _line(progress: Progress) -> str:
        return (
            f"iteration {progress.iteration:5d}   log evidence {progress.objective:14.4f}   "
            f"active {progress.n_active:5d}   noise variance {progress.noise_variance:.4g}"
        )


@dataclass(frozen=True)
class Solution:
    """Where a solver ended, and whether by its own criterion.

    state : a `State`, or what has its attributes.  certificate : where the solver knows it better than
    `certify`, which looks at a State from outside.
    """

    state: Any
    converged: bool
    certificate: Any = None


class Solver(BaseEstimator, ABC):
    """Maximises a `Problem` over which functions are in, their α, and β. Sees no rows.

    reopens : whether it chooses first functions afresh once a problem nearer the one that counts is known.
    """

    reopens = False

    def check(self) -> None:
        """Refuse arguments that make no sense, in one sentence; called before a fit begins."""

    @property
    def takes_working_sets(self) -> bool:
        """Whether it does on a few of the candidates at a time what it does on all of them."""
        return False

    def begin(self, problem: Problem, monitor: Monitor) -> State:
        """A first state that need not be a solution: the problem is only near the one that counts."""
        return self.solve(problem, monitor).state

    def reopen(self, problem: Problem, monitor: Monitor) -> State:
        """The functions chosen afresh."""
        return self.begin(problem, monitor)

    @abstractmethod
    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Run until converged, stopped by the monitor, or out of iterations.

        start : a state of the problem to go on from, where one is known that is close to the solution.
        """

    def finish(self, state: State, monitor: Monitor) -> Solution:
        """From a state that is close to the solution of its problem to the end."""
        return self.solve(state.problem, monitor, state)


def first_state(problem: Problem) -> State:
    """One function: the one with the largest projection on the target, at its best α [TF03, 4.1]."""
    quadratic, beta = problem.quadratic, problem.noise.beta
    best = int(np.argmax(np.abs(to_numpy(quadratic.h))))
    s, q = beta, beta * float(quadratic.h[best])  # nothing else is in the model: C = I/β
    alpha = s * s / (q * q - s) if q * q > 2 * s else s
    return problem.start([best], asfloat64([alpha], like=quadratic.h), beta)
