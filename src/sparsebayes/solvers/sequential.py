"""The fast sequential algorithm as published [TF03]: one function at a time, by the update formulae.

Each iteration picks one function and adds it, re-estimates its α, or deletes it; Σ, μ and the S and Q of all
M functions follow by rank-one updates [TF03, appendix A.2-A.4] and are recomputed from a Cholesky
factorisation when the noise changes, every `refresh` actions, and when rounding shows (an S_m ≤ 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import asfloat64, combined_rows, row_lengths, to_numpy
from sparsebayes._checks import require_whole
from sparsebayes.core.groups import GroupedState
from sparsebayes.core.newton import polish
from sparsebayes.core.posterior import SPANNED, Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver, first_state
from sparsebayes.solvers.active_set import ActiveSetSettings
from sparsebayes.solvers.annealing import annealed, better
from sparsebayes.solvers.fixed_point import mackay_step
from sparsebayes.solvers.walk import Stopped, Walk

LOOSE = 1e-2  # in place of tol while the noise is still being lowered
SELECTIONS = ("best", "random", "next")


@dataclass
class Sequential(Solver):
    """The fast sequential algorithm of [TF03], one function at a time.

    Parameters
    ----------
    selection : {"best", "random", "next"}
        Which function is acted on next: the one whose action gains most, one at random, or each in turn.
    noise_every : int
        Actions between two updates of the noise. 1 is as printed; each update costs a factorisation, and on
        ill-conditioned bases an early one can hold the noise at a value too high for anything to be added.
    refresh : int
        Actions between two exact recomputations.
    polish : bool
        Whether to finish with joint Newton steps in (log α, log σ²).
    annealing : int
        With k > 0 the model is also sought by noise annealing, from a high noise variance lowered in k steps,
        and the better of the two is kept; two to five times the cost.
    """

    selection: str = "best"
    noise_every: int = 20
    refresh: int = 50
    polish: bool = True
    annealing: int = 0

    def check(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection of Sequential must be one of {SELECTIONS}, got {self.selection!r}.")
        for name, least in (("noise_every", 1), ("refresh", 1), ("annealing", 0)):
            require_whole(getattr(self, name), f"{name} of Sequential", least)

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """Act until every |Δ log α| inside is below tol and nothing outside would gain [TF03, 4.4]."""
        self.check()
        walk = Walk(monitor)
        try:
            state = self._settled(first_state(problem) if start is None else start, walk)
            if self.annealing and start is None:
                state = self._annealed(state, walk)
            return Solution(state, True)
        except Stopped as stopped:
            state = stopped.state.exact() if isinstance(stopped.state, Table | GroupTable) else stopped.state
            return Solution(polish(state) if self.polish else state, False)

    def _annealed(self, state: State, walk: Walk) -> State:
        """The state, or what noise annealing finds if that is better."""
        settings = ActiveSetSettings()
        with walk.trial(state):
            start = annealed(state, self.annealing, lambda start: Solution(self._run(start, walk, LOOSE), True))
            rival = state if start is None else self._settled(start, walk)
        state = rival if better(rival, state, settings.swap_gain) else state
        walk.note("annealed", self.annealing, state)
        return state

    def _settled(self, state: State, walk: Walk) -> State:
        """Actions and polishes in turn, until neither changes anything."""
        while True:
            state = self._run(state, walk, walk.tol)
            if not self.polish:
                return state
            state = polish(state)
            walk.note("polished", state.size, state)
            table = table_of(state)
            target = table.target()
            if _crawling(table, target, table.gains(target), walk.tol):
                return state

    def _run(self, state: State, walk: Walk, tol: float) -> State:
        """Actions until converged."""
        table, pointer, actions = table_of(state), 0, 0
        while True:
            walk.advance(table)
            target = table.target()
            gains = table.gains(target)
            if _converged(table, target, gains, tol) or (self.polish and _crawling(table, target, gains, tol)):
                state = _update_noise(table.exact())
                moved = abs(math.log(state.beta / table.beta)) > (1e-3 if self.polish else tol)
                table = table_of(state)
                if not moved:
                    walk.note("acted", actions, state)
                    return state
                continue
            m, pointer = self._select(gains, pointer, walk)
            table.act(m, target[m])
            actions += 1
            if table.broken or actions % self.refresh == 0 or actions % self.noise_every == 0:
                state = table.exact()
                table = table_of(_update_noise(state) if actions % self.noise_every == 0 else state)

    def _select(self, gains: np.ndarray, pointer: int, walk: Walk) -> tuple[int, int]:
        """The function to act on next, and the one after which the next turn begins."""
        candidates = np.flatnonzero(gains > 0)
        if self.selection == "best" or not len(candidates):
            return int(np.argmax(gains)), pointer
        if self.selection == "random":
            return int(walk.rng.choice(candidates)), pointer
        later = candidates[candidates >= pointer]
        m = int(later[0] if len(later) else candidates[0])
        return m, m + 1


class GroupTable:
    """The posterior where every function is a group of columns, recomputed after each action.

    It has what `Table` has, without update formulae.
    """

    broken = False

    def __init__(self, state: State) -> None:
        self.state, self.problem, self.beta = state, state.problem, state.beta

    @property
    def objective(self) -> float:
        """The objective of the state."""
        return self.state.objective

    @property
    def J(self) -> list[int]:
        """The numbers of the active functions."""
        return self.state.J.tolist()

    @property
    def size(self) -> int:
        """How many functions are active."""
        return self.state.size

    @property
    def alpha(self) -> np.ndarray:
        """α of every function, ∞ of those that are not active."""
        alpha = np.full(self.problem.size, np.inf)
        alpha[self.state.J] = to_numpy(self.state.alpha)
        return alpha

    def exact(self) -> State:
        """The state."""
        return self.state

    def target(self) -> np.ndarray:
        """The best α of every function, ∞ for those better out and those in the span of the active ones."""
        target = to_numpy(self.state.scores.alpha).copy()
        target[self.state.J] = to_numpy(self.state.best_alpha)
        return target

    def gains(self, target: np.ndarray) -> np.ndarray:
        """What moving each α to its target, that of `target()`, adds to the objective."""
        gains = to_numpy(self.state.scores.gain).copy()
        gains[self.state.J] = to_numpy(self.state.reestimate_gain)
        if self.size == 1 and not np.isfinite(target[self.state.J[0]]):
            gains[self.state.J[0]] = -np.inf  # the last function stays: a model needs one
        return gains

    def act(self, m: int, alpha: float) -> None:
        """Add, re-estimate or delete function m so that its precision is `alpha`."""
        state, position = self.state, np.flatnonzero(self.state.J == m)
        if not len(position):
            self.state = state.extended([m], np.asarray([alpha]))
        elif math.isfinite(alpha):
            changed = to_numpy(state.alpha).copy()
            changed[position] = alpha
            self.state = state.moved(asfloat64(changed, like=state.alpha), state.beta)
        else:
            self.state = state.keep(np.delete(np.arange(state.size), position))


def table_of(state: State) -> Table | GroupTable:
    """The posterior in the form that actions are made on."""
    return GroupTable(state) if isinstance(state, GroupedState) else Table(state)


class Table:
    """Σ, μ of the active set and S, Q of all functions, kept by the update formulae at fixed β.

    It has what a monitor reads of a state: objective, size, beta.
    """

    def __init__(self, state: State) -> None:
        self.problem, self.beta = state.problem, state.beta
        quadratic = self.problem.quadratic
        self.J = state.J.tolist()
        self.alpha = np.full(quadratic.size, np.inf)
        self.alpha[self.J] = to_numpy(state.alpha)
        self.Sigma, self.mean = to_numpy(state.covariance), to_numpy(state.mean)
        rows = quadratic.rows(state.J)
        whitened = state.inverse_factor @ rows
        self.S = to_numpy(self.beta - self.beta**2 * quadratic.xp.sum(whitened * whitened, axis=0)).copy()
        self.Q = to_numpy(self.beta * (quadratic.h - combined_rows(state.mean, rows))).copy()
        self.unit = to_numpy(self.problem.unit)
        self.objective = state.objective
        self.broken = False

    @property
    def size(self) -> int:
        """How many functions are active."""
        return len(self.J)

    def exact(self) -> State:
        """The state recomputed from a Cholesky factorisation."""
        like = self.problem.quadratic.h
        return self.problem.start(self.J, asfloat64(self.alpha[self.J], like=like), self.beta)

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, q) of every function: those of the active ones from Σ, without cancellation."""
        s, q = self.S.copy(), row_lengths(self.Q).copy()
        variance = self.Sigma.diagonal()
        s[self.J] = 1 / variance - self.alpha[self.J]
        q[self.J] = row_lengths(self.mean) / variance
        return np.maximum(s, 1e-300), q

    def target(self) -> np.ndarray:
        """The best α of every function, ∞ for those better out and those in the span of the active ones."""
        s, q = self.factors()
        target = self.problem.prior.maximise(s, q, self.beta, self.unit)
        spanned = self.S < SPANNED * self.beta
        spanned[self.J] = False
        target[spanned] = np.inf
        return target

    def gains(self, target: np.ndarray) -> np.ndarray:
        """What moving each α to its target adds to the objective; exact for one move [TF03, A.2-A.4]."""
        s, q = self.factors()
        prior = self.problem.prior
        after = prior.gain(target, s, q, self.beta, self.unit)
        gains = after - prior.gain(self.alpha, s, q, self.beta, self.unit)
        if len(self.J) == 1 and not np.isfinite(target[self.J[0]]):
            gains[self.J[0]] = -np.inf  # the last function stays: a model needs one
        return gains

    def act(self, m: int, alpha: float) -> None:
        """Add, re-estimate or delete function m so that its precision is `alpha`."""
        if alpha == self.alpha[m]:
            return
        self.objective += float(self.gains(np.where(np.arange(len(self.S)) == m, alpha, self.alpha))[m])
        if m not in self.J:
            self._add(m, alpha)
        elif math.isfinite(alpha):
            self._change(self.J.index(m), 1 / (self.alpha[m] - alpha), alpha)
        else:
            self._delete(m)
        self.broken = bool((self.S <= 0).any())

    def _products(self, weights: np.ndarray) -> np.ndarray:
        """βΦᵀΦ_J weights: the products of a combination of active functions with all functions."""
        rows = to_numpy(self.problem.quadratic.rows(self.J))
        return self.beta * (weights @ rows)

    def _add(self, m: int, alpha: float) -> None:
        """[TF03, A.2], with the off-diagonal of Σ̃ carrying one β (erratum: docs/derivations.md)."""
        column = to_numpy(self.problem.quadratic.rows([m]))[0]
        v = self.Sigma @ column[self.J]  # ΣΦᵀφ_m
        variance = 1 / (alpha + self.S[m])
        mean = variance * self.Q[m]
        error = self.beta * column - self.beta * self._products(v)  # βφᵀe for every function
        self.Sigma = np.block(
            [
                [self.Sigma + self.beta**2 * variance * np.outer(v, v), -self.beta * variance * v[:, None]],
                [-self.beta * variance * v[None, :], np.full((1, 1), variance)],
            ]
        )
        self.mean = np.concatenate([self.mean - self.beta * np.multiply.outer(v, mean), np.asarray(mean)[None]])
        self.S -= variance * error**2
        self.Q -= np.multiply.outer(error, mean)
        self.alpha[m] = alpha
        self.J.append(m)

    def _change(self, j: int, inverse: float, alpha: float) -> None:
        """[TF03, A.3]: κ = 1/(Σ_jj + 1/(α̃−α)); `inverse` is −1/(α̃−α), 0 for a deletion [A.4]."""
        column, mean = self.Sigma[:, j].copy(), self.mean[j]
        kappa = 1 / (column[j] - inverse)
        products = self._products(column)
        self.Sigma = self.Sigma - kappa * np.outer(column, column)
        self.mean = self.mean - np.multiply.outer(column, kappa * mean)
        self.S += kappa * products**2
        self.Q += np.multiply.outer(products, kappa * mean)
        self.alpha[self.J[j]] = alpha

    def _delete(self, m: int) -> None:
        j = self.J.index(m)
        self._change(j, 0.0, np.inf)
        self.Sigma = np.delete(np.delete(self.Sigma, j, axis=0), j, axis=1)
        self.mean = np.delete(self.mean, j, axis=0)
        del self.J[j]


def _converged(table: Table | GroupTable, target: np.ndarray, gains: np.ndarray, tol: float) -> bool:
    """Whether every |Δ log α| inside is below tol or gains nothing, and no addition gains [TF03, 4.4]."""
    inside = target[table.J]
    if not np.isfinite(inside).all():
        return table.size == 1
    rounding = 1e-13 * (1 + abs(table.objective))
    outside = np.isfinite(target)
    outside[table.J] = False
    if gains[outside].max(initial=-np.inf) > max(tol**2, rounding):
        return False
    step = np.abs(np.log(inside / table.alpha[table.J]))
    return bool(((step < tol) | (gains[table.J] < rounding)).all())


def _crawling(table: Table | GroupTable, target: np.ndarray, gains: np.ndarray, tol: float) -> bool:
    """Whether only re-estimations of active functions remain, for almost no gain: a polish does them."""
    inside = np.zeros(len(target), dtype=bool)
    inside[table.J] = True
    stays = inside == np.isfinite(target)
    structural = gains[~stays].max(initial=-np.inf) > max(tol**2, 1e-13 * (1 + abs(table.objective)))
    return not structural and gains[inside].max() < 10 * tol


def _update_noise(state: State) -> State:
    """The noise update, halved in the logarithm until the objective does not fall."""
    if not state.problem.noise.estimate:
        return state
    beta = mackay_step(state)[1]
    for _ in range(20):
        following = state.moved(state.alpha, beta)
        if following.objective >= state.objective:
            return following
        beta = math.sqrt(beta * state.beta)
    return state
