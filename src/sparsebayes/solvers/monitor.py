"""The monitor of a fit: it prints progress, asks a callback whether to stop, and keeps a trace of the moves."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.checkpoints import Journal
from sparsebayes.core.posterior import State
from sparsebayes.core.solver import Monitor, Solution
from sparsebayes.core.units import Units

ROUNDING = 1e-6  # of the objective: by so much less a solution may end below a model on its way
MOMENT = 1e-9  # seconds, of a fit for which no time is left
SATURATED = "saturated"  # the name of the last move of a fit that ends because its model is not sparse
# a fit that has so many functions after some seconds, or takes so many seconds, says what could be done
PASS_SECONDS = 0.5  # between two reports of how far a pass is
MANY_FUNCTIONS, SOME_SECONDS, LONG = 1000, 2.0, 60.0


class SparsityWarning(UserWarning):
    """The model is not sparse: it has about as many functions as there are rows, or more than a thousand."""


class SlowFitWarning(UserWarning):
    """The fit has taken a minute and goes on."""


@dataclass(frozen=True)
class Progress:
    """What a callback is shown each iteration, in the units of the data.

    With a likelihood that is not Gaussian an iteration is a round of the solver, and a callback is also shown
    the models that the solver finds within it: then the objective is that of a quadratic approximation.

    Attributes
    ----------
    iteration : int
        Number of the iteration, from 1; of the one under way for models within it.
    objective : float
        Log evidence plus log priors of the model.
    n_active : int
        Functions in the model.
    noise_variance : float
        σ² of the model; NaN if there is none.
    stage : str
        What is going on: "fit"; "scales" while the scales of a kernel are learned, when the objective is the
        log marginal likelihood of the Gaussian process; or "pass" and its name during a pass over rows on Dask, of
        which the iteration is the number, and which has no objective (NaN) and no functions (0).
    done, total : int
        Of a pass: parts of the rows that are done, and how many there are; else 0.
    """

    iteration: int
    objective: float
    n_active: int
    noise_variance: float
    stage: str = "fit"
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        if self.total:
            return f"{self.stage}   {self.done} of {self.total} parts"
        return (
            f"{self.stage:7s} iteration {self.iteration:5d}   log evidence {self.objective:14.4f}   "
            f"active {self.n_active:5d}   noise variance {self.noise_variance:.4g}"
        )


@dataclass(frozen=True)
class Move:
    """One entry of a trace: what a solver did, to how many functions, and what that gained.

    Attributes
    ----------
    name : str
        What was done: "initialised", "added", "exchanged", "swapped", ...
    count : int
        How many functions it concerned.
    gain : float
        Nats by which the objective of the model rose since the entry before; 0 for the first entry.
    n_active : int
        Functions in the model afterwards.
    seconds : float
        Time since the entry before, or since the fit began.
    """

    name: str
    count: int
    gain: float
    n_active: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.name:24s} {self.count:6d}   gained {self.gain:12.4f} nats   "
            f"active {self.n_active:5d}   {self.seconds:8.3f} s"
        )


@dataclass
class FitMonitor(Monitor):
    """A monitor that also prints, calls back, and keeps a trace.

    seed : of the random numbers of solvers that draw candidates; None for one that NumPy's global generator gives.
    verbose : 1 prints the moves and every tenth iteration to standard error, 2 every iteration.
    callback : called with a `Progress` each iteration; a true return value stops the fit.
    max_time : seconds after which the fit ends with what it has.
    factor : turns the solver's noise variance into the user's.
    shift : nats that the objective of the user has and that of the units has not.
    stopped : whether the callback has stopped the fit.  trace : the moves so far.
    saturated : whether the fit ended because the model had almost as many functions as there are rows.
    remarks : what the user is to be warned of at the end, besides limits that were reached.
    modes : objective and functions of every model that a search ended in.
    best : problem, objective, J, α and β of the best `State` of the problem that is being solved.
    journal : what keeps the stages of the fit in a file, None if nothing does (see `solvers.stages`).
    problems : of the stages under way, from the outermost.  level : the objective after the last move.
    """

    seed: int | None = 0
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None
    max_time: float = math.inf
    factor: float = 1.0
    shift: float = 0.0
    stopped: bool = False
    saturated: bool = False
    remarks: list[str] = field(default_factory=list)
    modes: list[tuple[float, frozenset[int]]] = field(default_factory=list)
    best: tuple[Any, ...] = ()
    trace: list[Move] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    _clock: float = field(default_factory=time.perf_counter)
    journal: Journal | None = None
    problems: list[Any] = field(default_factory=list)
    level: float | None = None
    _said: bool = False
    _told: float = field(default_factory=time.perf_counter)
    _passes: int = 0

    def in_units(self, units: Units) -> Self:
        """Itself, reporting in the user's units."""
        self.factor = units.target_scale**2
        super().in_units(units)
        self.offset += self.shift
        return self

    @cached_property
    def rng(self) -> np.random.Generator:
        """The generator of the seed, made when it is first used: most fits draw nothing."""
        return np.random.default_rng(_global_seed() if self.seed is None else self.seed)

    @property
    def out_of_time(self) -> bool:
        """Whether `max_time` has passed."""
        return time.perf_counter() - self.began > self.max_time

    @property
    def time_left(self) -> float | None:
        """Seconds that are left, some even if none are; None for no limit."""
        left = self.max_time - (time.perf_counter() - self.began)
        return max(left, MOMENT) if math.isfinite(left) else None

    @property
    def going(self) -> bool:
        """Whether the fit may go on."""
        return not self.stopped and not self.out_of_time and super().going

    def record(self, state: Any) -> bool:
        """Note one iteration; False to stop."""
        super().record(state)
        self._keep_best(state)
        return self._show(state, len(self.path), self.verbose > 1 or len(self.path) % 10 == 1)

    def consult(self, state: Any) -> bool:
        """Show a model within the iteration under way, which is not noted; False to stop."""
        return self._show(state, len(self.path) + 1, self.verbose > 1)

    def _show(self, state: Any, iteration: int, printed: bool) -> bool:
        """Print a model and show it to the callback, unless that has stopped the fit; False to stop."""
        objective = self.outputs * (state.objective + self.offset)
        self._tell(Progress(iteration, objective, state.size, self.factor / state.beta), printed)
        self._warn_once(state.size)
        return self.going

    def search_step(self, iteration: int, log_evidence: float, functions: int, noise_variance: float) -> bool:
        """Show a step of the search for the scales of a kernel; False to stop."""
        progress = Progress(iteration, log_evidence, functions, noise_variance, "scales")
        self._tell(progress, self.verbose > 1 or iteration % 10 == 1)
        return self.going

    def pass_part(self, name: str, done: int, total: int) -> bool:
        """Show how far a pass over rows on Dask is, now and then and at its end; True to stop."""
        now = time.perf_counter()
        if done == total or now - self._told > PASS_SECONDS:
            self._told, ended = now, done == total
            self._passes += ended
            number = self._passes + (not ended)
            progress = Progress(number, math.nan, 0, math.nan, f"pass {name}", done, total)
            self._tell(progress, self.verbose > 1 or not ended)
        return self.stopped

    def show(self, progress: Progress) -> bool:
        """Show an iteration of a fit that is made elsewhere; True to stop."""
        self._tell(progress, self.verbose > 1 or progress.iteration % 10 == 1)
        return self.stopped

    def _tell(self, progress: Progress, printed: bool) -> None:
        """Print the progress and show it to the callback, unless that has stopped the fit."""
        if self._silent:
            return
        if self.verbose and printed:
            print(progress, file=sys.stderr)
        if self.callback is not None and not self.stopped and self.callback(progress):
            self.stopped = True

    @property
    def _silent(self) -> bool:
        """Whether a fit is resumed, and on a way that was shown before."""
        return self.journal is not None and self.journal.replaying

    def _keep_best(self, state: Any) -> None:
        """Remember where the objective of the problem was highest, without the arrays of the state."""
        if isinstance(state, State) and (
            not self.best or self.best[0] is not state.problem or state.objective > self.best[1]
        ):
            self.best = (state.problem, state.objective, state.J, state.alpha, state.beta)

    def best_of(self, solution: Solution) -> Solution:
        """The solution, or the best model on the way to it if that is higher by more than rounding.

        A model with functions that its prior would delete is no solution, however high it is.
        """
        state = solution.state
        if not self.best or self.best[0] is not getattr(state, "problem", None):
            return solution
        problem, objective, J, alpha, beta = self.best
        if objective <= state.objective + ROUNDING * (1 + abs(objective)):
            return solution
        best = problem.start(J, alpha, beta)
        return solution if len(best.useless) else Solution(best, False)

    def _warn_once(self, size: int) -> None:
        """Say, once, that a fit is heading for very many functions or takes long, and what could be done."""
        seconds = time.perf_counter() - self.began
        many = size > MANY_FUNCTIONS and seconds > SOME_SECONDS
        if self._said or not (many or seconds > LONG):
            return
        self._said = True
        warn(
            f"The model has {size} functions after {seconds:.0f} s, and the fit goes on; a wider kernel (a smaller "
            "gamma, or gamma='evidence'), prior='bic' or fewer columns make it sparser, max_time ends it.",
            SparsityWarning if many else SlowFitWarning,
        )

    def note(self, name: str, count: int, state: Any) -> None:
        """Add a move to the trace: its name, how many functions it concerned, and the model after it."""
        self.saturated = name == SATURATED
        now, level = time.perf_counter(), state.objective if self.level is None else self.level
        gain = self.outputs * (state.objective - level)
        self.trace.append(Move(name, int(count), gain, state.size, now - self._clock))
        self._clock, self.level = now, state.objective
        if self.verbose and not self._silent:
            print(self.trace[-1], file=sys.stderr)

    def trial(self) -> FitMonitor:
        """A monitor for one of several problems of which the best is kept: it has seen nothing, in the same time."""
        seen: dict[str, Any] = {"path": [], "trace": [], "remarks": [], "modes": [], "best": (), "level": None}
        return replace(self, **seen, saturated=False)

    def follow(self, trial: FitMonitor) -> None:
        """Take over what the monitor of the problem that was kept has seen."""
        for name in ("path", "trace", "remarks", "modes", "best", "level", "saturated"):
            setattr(self, name, getattr(trial, name))

    def inner(self, most: float = math.inf) -> InnerMonitor:
        """A monitor for a solver whose iterations are not the user's.

        most : a model of more functions ends its solver.
        """
        return InnerMonitor(self.max_iter, self.tol, verbose=self.verbose, outer=self, most=most)


@dataclass
class InnerMonitor(FitMonitor):
    """The monitor of a solver at work within an iteration of a fit.

    It keeps a path and a trace of its own, and asks the monitor of the fit whether to go on.

    outer : the monitor of the fit.  most : a model of more functions ends the solver.
    """

    outer: FitMonitor = field(default_factory=FitMonitor)
    most: float = math.inf

    @cached_property
    def rng(self) -> np.random.Generator:
        """The generator of the fit."""
        return self.outer.rng

    @property
    def going(self) -> bool:
        """Whether the solver may go on."""
        return super().going and self.outer.going

    def record(self, state: Any) -> bool:
        """Note one iteration of the solver; False to stop."""
        Monitor.record(self, state)
        return self.outer.consult(state) and self.going and state.size <= self.most


def _global_seed() -> int:
    """A seed from a copy of NumPy's global generator, which stays as it is."""
    copied = np.random.RandomState()
    copied.set_state(np.random.get_state())
    return int(copied.randint(2**31))
