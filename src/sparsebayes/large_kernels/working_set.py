"""The search by working sets: regression with more candidates than a solver could look at together.

The solver works on a few hundred candidates at a time, the working set. In between, candidates are scored in
blocks: the best additions and the best substitutes for each active function make the next working set. First
a sample of the candidates is scored, in the end all of them; a pass over all leaves a shortlist, and only if
nothing in it gains any more are all scored again. Scores may come from an approximation of the kernel; the
last working sets are of true columns, and so are the evidence and the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import asfloat64, is_numpy, take, together
from sparsebayes._threads import in_parallel
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import Quadratic
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver
from sparsebayes.core.units import Units
from sparsebayes.large_kernels.columns import TrueColumns
from sparsebayes.large_kernels.low_rank import LowRankStatistics
from sparsebayes.large_kernels.sampled_curvature import SampledCurvature
from sparsebayes.large_kernels.scoring import BlockScores, CandidateBatch, best_of, collected, score_block
from sparsebayes.large_kernels.settings import Pace, WorkingSetSettings
from sparsebayes.solvers.certificate import Certificate, certify
from sparsebayes.solvers.sized import Sized
from sparsebayes.solvers.stages import Values, once

Subsets = TrueColumns | LowRankStatistics | SampledCurvature
NONE = np.zeros(0, dtype=np.int64)


class Batches(Values):
    """Candidate batches, as a checkpoint keeps them."""

    def pack(self, value: Any) -> Any:
        """A batch by its fields."""
        return vars(value) if isinstance(value, CandidateBatch) else super().pack(value)

    def unpack(self, tree: Any, known: dict[Any, Any]) -> Any:
        """The batch."""
        return CandidateBatch(**tree) if isinstance(tree, dict) else super().unpack(tree, known)


BATCHES = Batches()


@dataclass(frozen=True)
class Model:
    """A state, and how the numbers of its problem relate to the user's."""

    state: State
    units: Units

    @property
    def functions(self) -> np.ndarray:
        """The active functions, by their numbers among all candidates."""
        return self.units.kept[self.state.J]

    @property
    def weights(self) -> np.ndarray:
        """The weights of the active functions, in units of the scaled target."""
        return self.state.mean / self.units.norms[self.state.J]

    def carried(self, problem: Problem, units: Units, positions: np.ndarray) -> State:
        """The same model in a problem that has its functions at these positions: the same α for the user."""
        unit = take(units.unit, positions)
        alpha = asfloat64(self.state.alpha * self.units.unit[self.state.J], like=unit) / unit
        return problem.start(positions, alpha, self.state.beta)


@dataclass(frozen=True)
class End:
    """Where a search ended.

    converged : whether the solver converged on the last working set.
    agreed : whether the statistics that candidates were scored with agree with those of true columns.
    """

    model: Model
    converged: bool
    certificate: Certificate
    agreed: bool


@dataclass(frozen=True)
class WorkingSetSearch:
    """The search through all candidates.

    scored : the statistics that candidates are scored with, and that working sets have until the end.
    columns : the statistics of true columns, for the end.
    sample : some of the candidates, which are scored while the model is still rough.
    """

    scored: LowRankStatistics | SampledCurvature
    columns: TrueColumns
    prior: Prior
    noise: GaussianNoise
    solver: Solver
    monitor: Monitor
    settings: WorkingSetSettings
    pace: Pace
    sample: np.ndarray

    @property
    def every(self) -> np.ndarray:
        """All candidates."""
        return np.arange(len(self.columns.candidates))

    @property
    def many(self) -> bool:
        """Whether scoring all candidates costs so much that samples and shortlists save time."""
        return len(self.every) > self.settings.shortlist_beyond * self.settings.sample

    @property
    def remembered(self) -> int:
        """Substitutes for each active function that a scoring pass returns."""
        return self.pace.remembered if self.many else self.pace.substitutes

    def initialise(self, functions: np.ndarray, effort: Effort) -> Model:
        """A first model chosen from these functions."""
        quadratic, units = self.scored.subset(np.sort(functions))
        state = self.solver.solve(self._problem(quadratic, units), self.monitor, effort=effort).state
        return self._noted(state, units)

    def exchange(self, model: Model) -> Model:
        """Rounds of exchanges with a sample of the candidates, while they gain enough."""
        for _ in range(self.settings.rounds):
            rival, gain = self._round(model, self.score(model, self.sample), Effort.ROUND)
            model = rival if gain > 0 else model
            if not gain > self.settings.exchange_gain or not self.monitor.going:
                break
        return model

    def sweep(self, model: Model, candidates: np.ndarray) -> Model:
        """One round with each part of these candidates."""
        for part in _blocks(candidates, self.settings.part):
            model = self._round(model, self.score(model, part), self.pace.effort)[0]
            if not self.monitor.going:
                break
        return model

    def settle(self, model: Model) -> tuple[Model, CandidateBatch]:
        """Rounds while they gain enough, first with a sample of the candidates; and the last batch."""
        for candidates in (self.sample, self.every) if self.many else (self.every,):
            for _ in range(self.settings.rounds):
                before, batch = model.state.objective, self.score(model, candidates)
                model = self.refine(model, batch)
                if not model.state.objective > before + self.settings.rough_gain or not self.monitor.going:
                    break
        return model, batch

    def refine(self, model: Model, batch: CandidateBatch) -> Model:
        """A round with a batch, and then with its shortlist while a round gains enough."""
        shortlist, enough = batch.shortlist, max(self.pace.round_gain, self.monitor.tol)
        for _ in range(self.settings.rounds):
            model, gain = self._round(model, batch, self.pace.effort)
            if not (self.many and gain > enough and self.monitor.going):
                break
            batch = self.score(model, shortlist)
        return model

    def finish(self, model: Model, batch: CandidateBatch) -> End:
        """The model on true columns, with what scoring passes over all candidates still add to it.

        batch : of the last scoring pass.
        """
        settings, left = self.settings, max(self.pace.addition_gain, self.monitor.tol)
        start = self._moved(model, self.columns, self._working_set(model, batch, 1))
        difference, unchanged, reached = abs(start.state.objective - model.state.objective), 0, -np.inf
        for remaining in reversed(range(self.pace.passes)):
            solution = self.solver.solve(start.state.problem, self.monitor, start.state)
            model = self._noted(solution.state, start.units)
            unchanged = 0 if model.state.objective > reached + settings.settled_gain else unchanged + 1
            reached = model.state.objective
            batch = self.score(model, self.every, skipped=start.units.kept)
            swap = 0.0 if model.state.size > settings.crowded else batch.swap
            settled = batch.gain <= left and swap <= max(left, settings.settled_gain)
            if settled or unchanged > settings.patience or not (remaining and self.monitor.going):
                break
            start, apart = self._recommended(model, batch)
            difference = min(difference, apart)
        certificate = certify(model.state).counting(batch.theta, batch.gain)
        agreed = difference <= settings.agreement and (settled or not self.monitor.going)
        return End(model, solution.converged, certificate, bool(agreed))

    def limited(self, end: End, sized: Sized) -> End:
        """The end of a search, or the best model within a limit on the number of functions.

        Functions are first deleted, exchanged and regrown within the last working set, then within those that
        scoring passes over all candidates recommend, on true columns, until no swap gains any more.
        """
        if end.model.state.size <= sized.most:
            return end
        solution = sized.limited(Solution(end.model.state, end.converged), self.monitor)
        model = self._noted(solution.state, end.model.units)
        batch = self.score(model, self.every)
        for _ in range(self.pace.passes):
            if not (batch.swap > self.settings.settled_gain and self.monitor.going):
                break
            start = self._moved(model, self.columns, self._working_set(model, batch, self.pace.substitutes))
            solution = sized.improved(start.state, self.monitor)
            gain = solution.state.objective - start.state.objective
            model = self._noted(solution.state, start.units)
            batch = self.score(model, self.every)
            if not gain > self.settings.settled_gain:  # approximate scores see a gain where there is none
                break
        certificate = certify(model.state).counting(batch.theta, batch.gain)
        return End(model, solution.converged, certificate, end.agreed)

    def score(self, model: Model, candidates: np.ndarray, skipped: np.ndarray = NONE) -> CandidateBatch:
        """A scoring pass over these candidates but those skipped."""
        return once(self.monitor, "score", BATCHES, lambda: self._scored(model, candidates, skipped))

    def _scored(self, model: Model, candidates: Any, skipped: np.ndarray) -> CandidateBatch:
        active, settings = model.functions, self.settings
        elements = together(settings.block_elements, self.scored.beside)
        blocks, scores = _blocks(candidates, elements // len(active)), list[BlockScores]()
        problem = self.scored.problems(active, model.weights, blocks, skipped)

        def scored(block: np.ndarray) -> BlockScores:
            quadratic, units = problem(block)
            state = model.carried(self._problem(quadratic, units), units, np.arange(len(active)))
            return score_block(state, units.kept, self.remembered)

        in_parallel(scored, blocks, scores.append, is_numpy(self.scored.beside))
        self.monitor.note("scored", len(candidates), model.state)
        return best_of(collected(scores), self.remembered, one_each=self.many)

    def _round(self, model: Model, batch: CandidateBatch, effort: Effort) -> tuple[Model, float]:
        """What the solver makes of a batch, and the nats that gains."""
        start = self._moved(model, self.scored, self._working_set(model, batch, self.pace.substitutes))
        state = self.solver.solve(start.state.problem, self.monitor, start.state, effort).state
        if self.pace.effort < Effort.FULL:  # the fewer functions, the less the next scoring pass costs
            state = maximise_jointly(state, self.settings.rough_gain, self.settings.steps_after_round)
        return self._noted(state, start.units), state.objective - start.state.objective

    def _recommended(self, model: Model, batch: CandidateBatch) -> tuple[Model, float]:
        """Where the next round on true columns starts, with the functions of the batch as candidates.

        It is the model itself or, if that has the higher objective, what `refine` makes of model and batch. The
        second value is the difference between the objective of the latter on true columns and under the
        statistics that candidates are scored with.
        """
        guess = self.refine(model, batch) if self.many else model
        functions = np.append(guess.functions, self._working_set(model, batch, 1))
        start = self._moved(model, self.columns, functions)
        positions = np.searchsorted(start.units.kept, guess.functions)
        rival = guess.carried(start.state.problem, start.units, positions)
        better = Model(rival, start.units) if rival.objective > start.state.objective else start
        return better, abs(rival.objective - guess.state.objective)

    def _working_set(self, model: Model, batch: CandidateBatch, number: int) -> np.ndarray:
        """The functions of the next working set: those of the model, and the best of a batch.

        number : substitutes for each active function; there are none if the solver would exchange none.
        """
        fewest, most = self.settings.additions
        additions = batch.additions[: min(max(batch.substitutes.shape[1] // 2, fewest), most)]
        crowded = model.state.size > self.settings.crowded and self.pace.effort < Effort.FULL
        substitutes = batch.substitutes[: 0 if crowded else number]
        return np.concatenate([model.functions, additions, substitutes.ravel()])

    def _moved(self, model: Model, statistics: Subsets, functions: np.ndarray) -> Model:
        """The same model in the problem of these functions."""
        quadratic, units = statistics.subset(np.unique(functions))
        positions = np.searchsorted(units.kept, model.functions)
        return Model(model.carried(self._problem(quadratic, units), units, positions), units)

    def _problem(self, quadratic: Quadratic, units: Units) -> Problem:
        """The problem of these statistics under the prior and the noise of the search."""
        return Problem(quadratic, self.prior, self.noise, self.prior.units(units.unit, units.kept))

    def _noted(self, state: State, units: Units) -> Model:
        """The model that came out of a working set."""
        self.monitor.note("working set", len(units.kept), state)
        return Model(state, units)


def _blocks(candidates: np.ndarray, size: int) -> list[np.ndarray]:
    """The candidates in blocks of at most `size`."""
    size = max(1, size)
    return [candidates[k : k + size] for k in range(0, len(candidates), size)]
