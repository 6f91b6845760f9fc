"""Regression with more candidates than a solver could look at together: working sets of them, all visited.

The solver works on a few hundred candidates at a time. In between candidates are visited, a block at a time:
what is worth adding, and the best substitutes of each active function, make the next working set. First a
sample of the candidates is visited, in the end all of them; a visit of all leaves a shortlist, and only when
that has nothing more to offer are all visited again. The kernel of the visits may be approximated by one of
low rank; the last working sets are of true columns, and so are the evidence and the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sparsebayes._array import asfloat64, to_numpy
from sparsebayes.inference.offers import CHEAP, SETTLED, Offer, best_of
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem, State
from sparsebayes.priors import Prior
from sparsebayes.quadratic import Quadratic
from sparsebayes.rows import Scaling
from sparsebayes.solvers import Monitor, Solution, Solver, certify
from sparsebayes.solvers.active_set import CROWDED
from sparsebayes.solvers.newton import maximise_jointly
from sparsebayes.solvers.visit import Seen, look

BLOCK_ELEMENTS = 1 << 19  # active functions times candidates looked at together
REPEATED = 8  # of each that are remembered at most, of one block
PART = 4096  # candidates in a visit while a model is swept together
SAMPLE = 2048  # candidates in a visit while the model is still rough
FEW = 8  # so many times a sample are as good as one
ROUNDS = 30
PAYS = 4.0  # nats: a round of exchanges that gains less is the last
PRUNING = 10  # Newton steps after a round that is not thorough
ROUGH = 1.0  # nats: what a round of swaps and additions has to gain for another one, before the last rows
PATIENCE = 2  # rounds in which visits may recommend what true columns make nothing of
AGREEMENT = 0.1  # nats: between the objective under the rows of the visits and the true ones
NONE = np.zeros(0, dtype=np.int64)
Which = slice | np.ndarray  # candidates: from, to and how many apart; or by their numbers


class TrueRows(Protocol):
    """Who has the statistics of few functions."""

    def subset(self, W: np.ndarray) -> tuple[Quadratic, Scaling]:
        """The problem of the functions W (ascending) alone."""


class Visits(Protocol):
    """Who has what scores need."""

    def visit(self, J: np.ndarray, others: Which, skipped: np.ndarray) -> tuple[Quadratic, Scaling]:
        """The problem of J and `others` with the products of J alone."""


class Rows(TrueRows, Protocol):
    """Who has the statistics of all candidates, from their true columns or approximated ones."""

    def seen_from(self, J: np.ndarray, weights: np.ndarray, candidates: Which) -> Visits:
        """Visits of candidates where the functions J have these weights (of the scaled target)."""


@dataclass(frozen=True)
class View:
    """A state, and how its problem's numbers relate to the user's."""

    state: State
    scaling: Scaling

    @property
    def functions(self) -> np.ndarray:
        """The active functions, by their numbers among all candidates."""
        return self.scaling.kept[self.state.J]

    @property
    def weights(self) -> np.ndarray:
        """Their weights, divided by the scale of the target."""
        return to_numpy(self.state.mean) / to_numpy(self.scaling.norms)[self.state.J]


@dataclass(frozen=True)
class Finished:
    """Where a search ended.  agreed : whether what the visits said is what true columns say."""

    solution: Solution
    view: View
    agreed: bool


class WorkingSets:
    """The search through M = `size` candidates."""

    pace = CHEAP

    def __init__(self, size: int, prior: Prior, noise: Gaussian, solver: Solver, monitor: Monitor) -> None:
        self.every, self.sample = slice(0, size, 1), slice(0, size, -(-size // SAMPLE))
        self.prior, self.noise, self.solver, self.monitor = prior, noise, solver, monitor

    @property
    def many(self) -> bool:
        """Whether a visit of all candidates costs so much that samples and shortlists save time."""
        return self.sample.step > FEW

    def begin(self, rows: TrueRows, first: np.ndarray) -> View:
        """A first model out of the functions `first`."""
        quadratic, scaling = rows.subset(np.sort(first))
        return View(self.solver.begin(self._problem(quadratic, scaling), self.monitor), scaling)

    def solve(self, rows: TrueRows, first: np.ndarray) -> View:
        """The best model out of the functions `first`."""
        quadratic, scaling = rows.subset(np.sort(first))
        return View(self.solver.solve(self._problem(quadratic, scaling), self.monitor).state, scaling)

    def exchange(self, rows: Rows, view: View) -> View:
        """Contests with the best substitutes in a sample of the candidates, while that pays."""
        for _ in range(ROUNDS):
            offer = self.visit(rows, view, self.sample)
            before = self.among(rows, view, offer.substitutes, offer.additions)
            state = self.solver.solve(before.state.problem, self.monitor, before.state).state
            if state.objective > before.state.objective:
                view = View(state, before.scaling)
            if not state.objective > before.state.objective + PAYS or not self.monitor.going:
                break
        return view

    def sweep(self, rows: Rows, view: View, candidates: np.ndarray) -> View:
        """Contests and additions out of these candidates, a part of them after the other."""
        for part in _blocks(candidates, PART):
            view = self._round(rows, view, self.visit(rows, view, part))[0]
            if not self.monitor.going:
                break
        return view

    def settle(self, rows: Rows, view: View) -> tuple[View, Offer]:
        """Swaps and additions while they pay, first from a sample of the candidates; and what is left."""
        for candidates in (self.sample, self.every) if self.many else (self.every,):
            for _ in range(ROUNDS):
                before, offer = view.state.objective, self.visit(rows, view, candidates)
                view = self.refine(rows, view, offer)
                if not view.state.objective > before + ROUGH or not self.monitor.going:
                    break
        return view, offer

    def refine(self, rows: Rows, view: View, offer: Offer) -> View:
        """Swaps and additions out of an offer, and then out of its shortlist while a round gains enough."""
        shortlist = offer.shortlist
        for _ in range(ROUNDS):
            view, gained = self._round(rows, view, offer)
            if not (self.many and gained > max(self.pace.enough, self.monitor.tol) and self.monitor.going):
                break
            offer = self.visit(rows, view, shortlist)
        return view

    def _round(self, rows: TrueRows, view: View, offer: Offer) -> tuple[View, float]:
        """What the solver makes of an offer, and the nats that gains."""
        before = self.among(rows, view, *self._wanted(view, offer))
        if self.pace.thorough:
            state = self.solver.finish(before.state, self.monitor).state
        else:
            state = self.solver.solve(before.state.problem, self.monitor, before.state).state
            # the fewer functions, the less the next visit costs
            state = maximise_jointly(state, ROUGH, PRUNING)
        return View(state, before.scaling), state.objective - before.state.objective

    def _wanted(self, view: View, offer: Offer) -> tuple[np.ndarray, ...]:
        """What of an offer belongs in a working set: no substitutes where solvers exchange none."""
        crowded = view.state.size > CROWDED and not self.pace.thorough
        return (offer.additions,) if crowded else (offer.substitutes, offer.additions)

    def finish(self, visited: Rows, exact: TrueRows, view: View, offer: Offer) -> Finished:
        """The same model on true columns, and what visits of all candidates still have to add to it.

        visited : the rows of the visits. What they recommend is looked at in true columns.
        offer : of the last visit.
        """
        moved = self.among(exact, view, *self._wanted(view, offer.first))
        apart, idle, standing = abs(moved.state.objective - view.state.objective), 0, -np.inf
        left = max(self.pace.left, self.monitor.tol)
        for more in reversed(range(self.pace.visits if self.many or not self.pace.thorough else ROUNDS)):
            solution = self.solver.finish(moved.state, self.monitor)
            view = View(solution.state, moved.scaling)
            idle = 0 if view.state.objective > standing + SETTLED else idle + 1
            standing = view.state.objective
            offer = self.visit(visited, view, skipped=moved.scaling.kept)
            swap = 0.0 if view.state.size > CROWDED else offer.swap
            settled = offer.gain <= left and swap <= max(left, SETTLED)
            if settled or idle > PATIENCE or not (more and self.monitor.going):
                break
            moved, gap = self._recommended(visited, exact, view, offer)
            apart = min(apart, gap)
        solution = replace(solution, certificate=certify(solution.state).counting(offer.theta, offer.gain))
        return Finished(solution, view, bool(apart <= AGREEMENT and (settled or not self.monitor.going)))

    def _recommended(self, visited: Rows, exact: TrueRows, view: View, offer: Offer) -> tuple[View, float]:
        """On true columns: what an offer becomes under the rows of the visits, or the view if that is better.

        And how far the objective there is from what it is under the rows of the visits.
        """
        guess = self.refine(visited, view, offer) if self.many else view
        here = self.among(exact, view, guess.functions, *self._wanted(view, offer.first))
        positions = np.searchsorted(here.scaling.kept, guess.functions)
        there = _carried(guess, here.state.problem, here.scaling, positions)
        gap = abs(there.objective - guess.state.objective)
        return (View(there, here.scaling) if there.objective > here.state.objective else here), gap

    def visit(
        self, rows: Rows, view: View, candidates: Which | None = None, skipped: np.ndarray = NONE
    ) -> Offer:
        """These candidates (None: all) but those skipped, a block at a time."""
        active = view.functions
        candidates = self.every if candidates is None else candidates
        blocks = _blocks(candidates, BLOCK_ELEMENTS // len(active))
        number = min(max(self.pace.remembered // len(blocks), 1), REPEATED)
        seen: list[tuple[Seen, np.ndarray]] = []
        visits = rows.seen_from(active, view.weights, candidates)
        for block in blocks:
            quadratic, scaling = visits.visit(active, block, skipped)
            problem = self._problem(quadratic, scaling)
            state = _carried(view, problem, scaling, np.arange(len(active)))
            seen.append((look(state.scores, number), scaling.kept))
        return best_of(seen, self.pace)

    def among(self, rows: TrueRows, view: View, *functions: np.ndarray) -> View:
        """The same model in the problem of its functions and these."""
        together = np.unique(np.concatenate([view.functions, *(each.ravel() for each in functions)]))
        quadratic, scaling = rows.subset(together)
        positions = np.searchsorted(scaling.kept, view.functions)
        return View(_carried(view, self._problem(quadratic, scaling), scaling, positions), scaling)

    def _problem(self, quadratic: Quadratic, scaling: Scaling) -> Problem:
        return Problem(quadratic, self.prior, self.noise, scaling.unit)


def _carried(view: View, problem: Problem, scaling: Scaling, positions: np.ndarray) -> State:
    """The model in a problem that has its functions at these positions: the same α in the user's units."""
    alpha = to_numpy(view.state.alpha) * to_numpy(view.scaling.unit)[view.state.J]
    alpha = alpha / to_numpy(scaling.unit)[positions]
    return problem.start(positions, asfloat64(alpha, like=problem.quadratic.h), view.state.beta)


def _blocks(candidates: Which, size: int) -> list[Which]:
    """The same in blocks of at most `size`."""
    size = max(1, size)
    if isinstance(candidates, np.ndarray):
        return [candidates[k : k + size] for k in range(0, len(candidates), size)]
    step = size * candidates.step
    starts = range(candidates.start, candidates.stop, step)
    return [slice(k, min(k + step, candidates.stop), candidates.step) for k in starts]
