"""The loop for likelihoods that are not Gaussian: the posterior is approximated around its mode [T01, 3].

* **mode**: Newton's steps with halving for the weights at given α, on the active candidates only (`mode`);
* **settle**: at the mode the problem is a Gaussian one (β = 1, curvature B): joint Newton steps in log α, the
  mode again, until α no longer moves: N·S² per step, and no other candidate is looked at;
* **initialise**: the solver selects functions on the expansion around the intercepts alone, where every row
  has the same curvature, then again from an empty model on the expansion around the mode of those, while that
  is better;
* **round**: all candidates are scored at the mode, and the solver improves the model on the quadratic of the
  expansion, with as few scoring passes as it needs; then settle.

It ends when no addition gains: those that gain with B held fixed are tried, for B moves with f. The objective is
the Laplace approximation to the log evidence,

    log p(y|w) − ½ wᵀAw + ½ Σ log α + ½ log|Σ|   (+ log priors)

and a round that does not raise it is discarded. As published [T01, eq. 39; TF03, 2.2], α is where its own
derivative vanishes with B held fixed.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sparsebayes._array import NotPositiveDefinite, take, to_numpy
from sparsebayes._threads import few_threads
from sparsebayes.core.newton import polish
from sparsebayes.core.posterior import State
from sparsebayes.core.solver import Effort, Solver, first_state
from sparsebayes.laplace.linearised import Expansion
from sparsebayes.laplace.mode import Mode, Model, Modes
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.laplace.settings import LaplaceSettings
from sparsebayes.laplace.settling import Settling, highest_of
from sparsebayes.laplace.stages import KeptModes
from sparsebayes.solvers.active_set.exchange import independent
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.stages import Models, Stage, once, staged

LEAST_RISE = 1e-5  # nats: an addition that gains less counts as none


@dataclass
class Trials:
    """How many last additions may still be tried: modes found again, and settled."""

    refits: int
    settles: int

    @classmethod
    def of(cls, mode: Mode, n: int, settings: LaplaceSettings) -> Trials:
        """The more of them the less a step to a mode of so many functions costs."""
        settles = max(settings.trials, int(settings.trial_work / (n * len(mode.J) ** 2)))
        return cls(settings.refits * settles, settles)


@dataclass(frozen=True, eq=False)
class LaplaceSolution:
    """Where a loop ended: the mode, and the state among all candidates of its rows there.

    converged : whether the fit went to its end.
    gain_outside : the most that an addition gains, in nats: one that gains with B held fixed was tried with the mode
        found again, and gains nothing if the Laplace evidence did not rise then or once α had settled.
    others : the largest q² − s and gain of the candidates that are not among those of the rows.
    """

    fit: LaplaceFit
    mode: Mode
    among_all: State
    converged: bool
    gain_outside: float = 0.0
    others: tuple[float, float] = (-math.inf, 0.0)

    @property
    def model(self) -> Model:
        """The model in the units of the columns."""
        return Model.of(self.mode, self.fit.rows)


@dataclass(frozen=True, eq=False)
class LaplaceFit:
    """The loop over given rows: initialise, settle, and rounds with a solver.

    climbing : whether α may only move if the Laplace evidence rises. The α found with B held fixed nearly
        maximises that evidence if B changes little with f, as it does for labels, so that no check is needed.
    polished : whether α ends where the Laplace evidence itself is highest, the curvature moving with α.
    """

    modes: Modes
    solver: Solver
    monitor: FitMonitor
    climbing: bool = False
    polished: bool = False

    @property
    def rows(self) -> LaplaceRows:
        """The rows of the data."""
        return self.modes.rows

    def over(self, rows: LaplaceRows) -> LaplaceFit:
        """The same loop over other rows."""
        return replace(self, modes=replace(self.modes, rows=rows))

    def run(self, start: Model | None = None) -> LaplaceSolution:
        """Rounds until no addition gains, from a model if one is known."""
        with staged(self.monitor, "loop", self._kept) as stage:
            if stage.finished:
                mode, converged, outside = stage.result
                among_all = self.modes.state(mode.expansion, mode.J, mode.alpha)
                return LaplaceSolution(self, mode, among_all, converged, outside)
            solution = self._run(stage, start)
            stage.finish([solution.mode, solution.converged, solution.gain_outside])
            return solution

    @property
    def _kept(self) -> KeptModes:
        """How a checkpoint keeps modes."""
        return KeptModes(self.modes)

    def _run(self, stage: Stage, start: Model | None) -> LaplaceSolution:
        monitor = self.monitor
        if stage.began:
            mode = stage.values[0]
        else:
            mode = self._initialise() if start is None else self.settle(self.modes.of(start), monitor.tol)
            monitor.note("initialised" if start is None else "settled", mode.state.size, mode.state)
            stage.save(mode)
        while True:
            going = monitor.record(mode.state)
            state = self.modes.state(mode.expansion, mode.J, mode.alpha)
            following = self._round(mode, state) if going else None
            if following is None:
                return self._finished(mode, state) if going else LaplaceSolution(self, mode, state, False)
            monitor.note("round", len(np.unique(following.owner[~np.isin(following.J, mode.J)])), following.state)
            mode = following
            stage.save(mode)
            del state  # the rows of G that it holds need not outlive the round

    def _finished(self, mode: Mode, state: State) -> LaplaceSolution:
        """The end: α that found no rest, or all α if `polished`, go to the highest evidence; last additions."""
        highest: Mode | None = once(
            self.monitor,
            "polish",
            self._kept,
            lambda: highest_of(self.modes, mode) if mode.restless or self.polished else mode,
        )
        if highest is not None and highest is not mode:
            self.monitor.note("polished", highest.state.size, highest.state)
        trials = Trials.of(mode, self.rows.y.shape[0], self.modes.settings)
        while highest is not None:
            if highest is not mode:
                self.monitor.record(highest.state)
                mode = highest
                state = self.modes.state(mode.expansion, mode.J, mode.alpha)
            with staged(self.monitor, "last addition", self._kept) as stage:
                if not stage.finished:
                    found = self._last_addition(stage, mode, state, trials)
                    stage.finish([*found, trials.refits, trials.settles])
                else:
                    *found, trials.refits, trials.settles = stage.result
            highest, outside = found
            if highest is not None:
                self.monitor.note("added", 1, highest.state)
        return LaplaceSolution(self, mode, state, self.monitor.going, outside)

    def _last_addition(self, stage: Stage, mode: Mode, state: State, trials: Trials) -> list[Any]:
        """The model with one addition that raises the evidence; else None and what one would gain."""
        tol, gain, outside = self.monitor.tol, to_numpy(state.scores.gain), 0.0
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > max(tol, LEAST_RISE)]
        scarce, tried = len(order) > trials.settles, 0  # then α settles only where the evidence rises before
        if stage.began:
            scarce, tried, outside, trials.refits, trials.settles = stage.values
        for place, chosen in enumerate(order.tolist()[tried:], tried):
            stage.save(scarce, place, outside, trials.refits, trials.settles)
            if trials.refits == 0 or not self.monitor.going:
                return [None, max(outside, float(gain[chosen]))]
            trials.refits -= 1
            larger = self._with(mode, state, np.asarray([chosen]))
            if larger is None or (scarce and larger.objective <= mode.objective + tol):
                continue
            if trials.settles == 0:
                outside = max(outside, larger.objective - mode.objective)
                continue
            trials.settles -= 1
            settled = self._settled(larger, mode.objective + tol, tol)
            if settled is not None and not settled.restless:
                return [settled, 0.0]
        return [None, outside]

    def _initialise(self) -> Mode:
        """The first model: selected around the intercepts alone, then around the modes of earlier selections.

        The first expansion does not tell where the classes are well separated, so that the functions selected
        there may be those of a lower maximum, which rounds do not leave. A solver that makes no drafts
        selects once.
        """
        first, tol = self._at_intercepts(), self.monitor.tol
        draft, complete = self._chosen(first, Effort.DRAFT, -np.inf)
        drafts, settings = [draft], self.modes.settings
        while not complete and len(drafts) <= settings.fresh_starts and (last := drafts[-1]) is not None:
            if not self.monitor.going:
                break
            least = last.objective + settings.fresh_gain
            drafts.append(self._chosen(last.expansion, Effort.ROUND, least)[0])
        for mode in reversed(drafts):
            settled = mode and once(self.monitor, "settle", self._kept, partial(self._settled, mode, -np.inf, tol))
            if settled:
                return settled
        # no selection of the solver can be used: a single function
        return self.settle(self.modes.of_state(first_state(self.modes.among_all(first)), None), tol)

    def _at_intercepts(self) -> Expansion:
        """The expansion around the intercepts of the model without functions."""
        rows = self.rows
        return rows.expand(rows.predictor(rows.held([]), np.zeros(0), rows.start()))

    def _chosen(self, expansion: Expansion, effort: Effort, least: float) -> tuple[Mode | None, bool]:
        """The mode, α roughly settled, of the functions that the solver selects around an expansion.

        None unless its objective is above `least`; and whether the solver went to the end.
        """

        def chosen() -> list[Any]:
            with few_threads():
                solution = self.solver.solve(self.modes.among_all(expansion), self.monitor.inner(), effort=effort)
            return [self._rough(solution.state, None, least), solution.converged]

        mode, complete = once(self.monitor, "choose", self._kept, chosen)
        return mode, complete

    def _round(self, mode: Mode, state: State) -> Mode | None:
        """The model after one round of the solver, or with the best additions alone; None if neither gains."""
        settings, tol = self.modes.settings, self.monitor.tol
        growing = state.scores.best_gain > tol
        least = mode.objective + (tol if growing else settings.exchange_gain)
        most = max(settings.growth * state.size, settings.small)
        with few_threads():
            improved = once(
                self.monitor,
                "improve",
                Models(state.problem),
                lambda: self.solver.solve(state.problem, self.monitor.inner(most), state, Effort.ROUND).state,
            )
        if improved.size > most:
            improved = state
        if float(np.max(to_numpy(improved.reestimate_gain))) > tol:  # an α in the lower of its two modes
            improved = polish(improved)
        following = None if improved is state else self._better(improved, mode, least)
        return self._added(mode, state, least) if following is None and growing else following

    def _added(self, mode: Mode, state: State, least: float) -> Mode | None:
        """The model with the best additions that are nearly independent, else with one of them alone.

        B moves with f, so that an addition that gains with B held fixed may lower the Laplace evidence.
        """
        settings, scores = self.modes.settings, state.scores
        gain = to_numpy(scores.gain)
        order = np.argsort(-gain, kind="stable")[: 2 * settings.batch]
        order = order[gain[order] > settings.batch_share * scores.best_gain]
        batch = order[independent(state, order, settings.batch, settings.independence)]
        for chosen in [batch, *batch[:, None]] if len(batch) > 1 else [batch]:
            larger = self._with(mode, state, chosen)
            rough = larger and self._settled(larger, least, settings.rough)
            following = rough and self._settled(rough, least, self.monitor.tol)
            if following is not None:
                return following
        return None

    def _with(self, mode: Mode, state: State, chosen: np.ndarray) -> Mode | None:
        """The mode with these additions, α as they are scored; None if they cannot be told from the active ones."""
        with suppress(NotPositiveDefinite):
            larger = self.modes.of_state(state.extended(chosen, take(state.scores.alpha, chosen)), mode)
            return replace(larger, highest=mode.highest)
        return None

    def _better(self, state: State, before: Mode | None, least: float) -> Mode | None:
        """The settled mode at the α of a state among all candidates, if its objective is above `least`."""
        rough = self._rough(state, before, least)
        return rough and self._settled(rough, least, self.monitor.tol)

    def _rough(self, state: State, before: Mode | None, least: float) -> Mode | None:
        """The mode, α roughly settled, at the α of a state among all candidates, if it is above `least`."""
        with suppress(NotPositiveDefinite):  # functions that cannot be told apart where the curvature has vanished
            return self._settled(self.modes.of_state(state, before), least, self.modes.settings.rough)
        return None

    def _settled(self, mode: Mode, least: float, tol: float) -> Mode | None:
        """The mode, α settled, if it is one and its objective above `least`."""
        with suppress(NotPositiveDefinite):
            mode = self.settle(mode, tol, least)
            return mode if mode.reached and mode.objective > least else None
        return None

    def settle(self, mode: Mode, tol: float, least: float = -np.inf) -> Mode:
        """The mode where α and the mode agree, see `Settling.settle`."""
        return Settling(self.modes, self.monitor, self.climbing).settle(mode, tol, least)
