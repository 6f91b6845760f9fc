"""α and the mode brought to agree: α at the expansion around the mode, the mode at these α, and again."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from sparsebayes._array import Array, take, to_numpy
from sparsebayes.core.newton import polish
from sparsebayes.laplace.mode import Mode, Modes
from sparsebayes.laplace.polish import maximise_evidence
from sparsebayes.laplace.settings import LaplaceSettings
from sparsebayes.laplace.sharing import of_candidates
from sparsebayes.solvers.monitor import FitMonitor


def highest_of(modes: Modes, mode: Mode) -> Mode:
    """The mode at the highest Laplace evidence, the curvature moving; as it is if that is not known to move."""
    with suppress(NotImplementedError):
        return maximise_evidence(modes, mode)
    return mode


@dataclass(frozen=True, eq=False)
class Settling:
    """The alternation of α and mode.

    climbing : whether α may only move if the Laplace evidence rises.
    """

    modes: Modes
    monitor: FitMonitor
    climbing: bool

    def settle(self, mode: Mode, tol: float, least: float = -np.inf) -> Mode:
        """Alternate between α at the mode's expansion and the mode at these α, until no log α moves by `tol`.

        The alternation divides the error by about five each time; where it does not, `Damping` shortens it.
        It is given up where it cannot come above `least`. Under some priors the best α with B held fixed jumps
        with f, so that no α is where it should be: then the best mode on the way, which is `restless`.
        """
        if mode.highest:
            return highest_of(self.modes, mode)
        settings = self.modes.settings
        damping, best, before = Damping(settings), mode, -np.inf
        for taken in range(0 if mode.restless else settings.alternations):
            if not mode.reached or not self.monitor.consult(mode.state):
                return mode
            best = mode if mode.objective > best.objective else best
            hope = settings.hope * abs(mode.objective - before)
            if taken >= settings.undamped and max(best.objective, mode.objective + hope) < least:
                return mode
            before = mode.objective
            state = polish(mode.state)
            kept, alpha, _ = of_candidates(state)
            ratio = alpha * take(self.modes.scale(mode.linear), kept) ** 2 / take(mode.alpha, kept)
            step = np.log(to_numpy(ratio))
            if np.abs(step).max() < tol and state.size == mode.state.size:
                return mode
            damping = damping.after(step)
            if damping.stalled >= settings.patience and damping.size > settings.rough:
                break
            following = self._moved(mode, kept, ratio**damping.factor)
            if following is mode:
                return mode
            mode = following
        return mode if damping.size <= settings.rough else replace(best, restless=True)

    def _moved(self, mode: Mode, kept: np.ndarray, ratio: Array) -> Mode:
        """The mode of the candidates at the positions `kept`, each α multiplied by its `ratio`.

        With `climbing` the step in log α is halved until the evidence rises; `mode` itself if it never does.
        """
        alpha, w = take(mode.alpha, kept), take(mode.w, kept)
        for halving in range(self.modes.settings.climbs if self.climbing else 1):
            trial = self.modes.find(mode.J[kept], alpha * ratio**0.5**halving, w, mode.b)
            if not self.climbing or (trial.objective > mode.objective and (trial.reached or not halving)):
                return trial
        return mode


@dataclass(frozen=True, eq=False)
class Damping:
    """What steps in log α are multiplied by where the alternation of α and mode converges slowly or not at all.

    factor : what the last step is multiplied by: less than 1 if it takes back some of the one before (a secant),
        after a few steps more than 1 if it is short and repeats it.
    share : what is left of steps that swing: less after those that are not shorter than the shortest so far (an
        alternation between two points has such steps for ever), more again after others.
    shortest, taken, last : the shortest step so far, how many there were, and the last one.
    mark, stalled : the last step that was half of the mark before it or less, and how many there were since.
    """

    settings: LaplaceSettings
    factor: float = 1.0
    share: float = 1.0
    shortest: float = math.inf
    taken: int = 0
    mark: float = math.inf
    stalled: int = 0
    last: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def size(self) -> float:
        """The largest change of a log α in the last step, before it was damped."""
        return float(np.abs(self.last).max(initial=0.0))

    def after(self, step: np.ndarray) -> Damping:
        """The damping of a further step; that of a first one if functions were deleted since the last."""
        size, settings, share = float(np.abs(step).max()), self.settings, self.share
        if len(step) != len(self.last) or not self.last.any():
            return Damping(settings, shortest=size, mark=size, last=step)
        repeats, patient = float(step @ self.last) / float(self.last @ self.last), self.taken < settings.undamped
        if not patient:
            swings = repeats < 0 and size >= settings.shorter * self.shortest
            share = max(0.5 * share, settings.least_share) if swings else min(1.0, settings.recovery * share)
        factor = share / (1 - min(repeats, 0.0))
        if repeats > 0 and not patient and size < settings.near:
            factor = min(self.factor / max(1 - repeats, 1e-3), settings.longest)
        mark, stalled = (size, 0) if size <= 0.5 * self.mark else (self.mark, self.stalled + 1)
        return Damping(settings, factor, share, min(size, self.shortest), self.taken + 1, mark, stalled, step)
