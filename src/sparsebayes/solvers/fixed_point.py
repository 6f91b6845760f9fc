"""All precisions at once from the full basis: MacKay's and the EM updates [T01, appendix A].

    MacKay:  α = (γ + 2u)/(μ² + 2v/α)            EM:  α = (1 + 2u)/(μ² + Σ_mm + 2v/α)
    σ² from ‖t−Φμ‖² and Σγ (`GaussianNoise.reestimate`)

with (u, v) the slopes of the log prior; for Gamma(a, b) these are T01's (43) and (44). EM never lowers the
objective; MacKay's updates are much faster but may, so a step that would is shortened until it does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sparsebayes._array import (
    Array,
    NotPositiveDefinite,
    asfloat64,
    at_least,
    row_inner,
    row_squares,
    scaled_rows,
    to_numpy,
    total,
)
from sparsebayes.core.newton import polish
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.solver import Effort, Monitor, Solution, Solver
from sparsebayes.solvers.stages import Models, Stage, once, staged

UPDATES = ("mackay", "em")
START = 0.1  # α/β of every function at the start, on columns of unit norm
PRUNED = float(np.finfo(np.float64).eps)  # γ below which a function is deleted [T01, B.1]


@dataclass
class FixedPoint(Solver):
    """Re-estimate every α from the posterior over all functions still in the model; prune as they diverge.

    Parameters
    ----------
    update : {"mackay", "em"}
        Which of the two updates of [T01, appendix A].
    polish : bool
        Whether to finish with joint Newton steps, which also delete exactly what the updates would never finish
        pruning.
    """

    update: str = "mackay"
    polish: bool = True

    def check(self) -> None:
        """Raise ValueError for an unknown update."""
        if self.update not in UPDATES:
            raise ValueError(f"update of FixedPoint must be one of {UPDATES}, got {self.update!r}.")

    def solve(
        self, problem: Problem, monitor: Monitor, start: State | None = None, effort: Effort = Effort.FULL
    ) -> Solution:
        """Iterate to convergence, polish, and re-admit deleted functions that would gain."""
        self.check()
        beta = problem.noise.beta
        state = start
        if state is None:
            alpha = asfloat64(np.full(problem.size, START * beta), like=problem.quadratic.h)
            state = problem.start(range(problem.size), alpha, beta)
        first = state
        return once(monitor, "solve", Models(problem), lambda: self._solved(first, monitor))

    def _solved(self, state: State, monitor: Monitor) -> Solution:
        while True:
            size = state.size
            state, converged = self._updated(state, monitor)
            if self.polish:
                state = polish(state)
            monitor.note("pruned by updates", size - state.size, state)
            returning = _readmitted(state, monitor.tol) if converged else None
            if returning is None:
                return Solution(state, converged)
            state = returning

    def _updated(self, state: State, monitor: Monitor) -> list[Any]:
        """The state after updates; and whether these have converged, or the monitor ended them."""
        with staged(monitor, "update", Models(state.problem)) as stage:
            found: list[Any] = stage.result if stage.finished else stage.finish(self._iterate(stage, state, monitor))
            return found

    def _iterate(self, stage: Stage, state: State, monitor: Monitor) -> list[Any]:
        if stage.began:
            state = stage.values[0]
        while monitor.record(state):
            before = state
            if self.update == "em":
                state = _prune(state.moved(*em_step(state)))
            else:
                state = _prune(safeguarded(state, *mackay_step(state)))
            if self._settled(before, state, monitor.tol):
                return [state, True]
            stage.save(state)
        return [state, False]

    def _settled(self, before: State, after: State, tol: float) -> bool:
        """Whether the updates have converged; the last digits are left to the polish."""
        if not self.polish:
            return _change(before, after) < tol
        crawling = after.objective - before.objective < 100 * tol and after.size == before.size
        return crawling or _change(before, after) < max(tol, 1e-3)


def mackay_step(state: State, power: float = 1.0) -> tuple[Array, float]:
    """α = (γ+2u)/(μ²+2v/α), moved `power` times as far in log α; and the noise that goes with γ."""
    gamma = at_least(state.gamma, 1e-14)
    wanted = gamma
    shrink = state.of_functions(row_inner(scaled_rows(state.mean, state.column_alpha), state.mean))  # αμ²
    if not state.problem.prior.flat:
        up, down = state.problem.prior.slopes(state.alpha, state.beta, state.unit)
        wanted, shrink = wanted + 2 * up, shrink + 2 * down
    # a mean of exactly zero (and rounding) must not send α to infinity or to zero in one step
    ratio = wanted / (shrink + 1e-8 * wanted)
    alpha = state.alpha * (ratio if power == 1.0 else ratio**power)
    return alpha, _noise(state, state.residual, total(gamma))


def em_step(state: State) -> tuple[Array, float]:
    """One M-step: α maximises ½ log α − ½ α (μ²+Σ_mm) + log p(α), β the expected likelihood [T01, A.3]."""
    xp = state.problem.quadratic.xp
    prior, unit = state.problem.prior, state.unit
    power = state.of_functions(row_squares(state.mean) + state.variance)
    up, down = prior.slopes(state.alpha, state.beta, unit)
    alpha = (state.sizes + 2 * up) / (power + 2 * down / state.alpha)

    def expected(a: Array) -> Array:
        return 0.5 * (state.sizes * xp.log(a) - a * power) + prior.log_density(a, state.beta, unit)

    before = expected(state.alpha)
    for _ in range(40):  # the update is the M-step itself for uniform and Gamma; shorten it for other priors
        worse = expected(alpha) < before - 1e-12 * (1 + xp.abs(before))
        if not bool(xp.any(worse)):
            break
        alpha = xp.where(worse, xp.sqrt(alpha * state.alpha), alpha)
    spread = float(xp.sum(xp.clip(state.gamma, 0.0, None))) / state.beta
    return alpha, _noise(state, state.residual + spread, 0.0, alpha)


def _noise(state: State, residual: float, shrink: float, alpha: Array | None = None) -> float:
    """β by the noise equation; with ∂ log p(α|β)/∂ log β added for priors that depend on the noise."""
    problem, noise = state.problem, state.problem.noise
    if not noise.estimate:
        return state.beta
    n = problem.quadratic.n
    numerator, denominator = n - shrink + 2 * noise.c, residual + 2 * noise.d
    if numerator <= 0:
        return min(state.beta, noise.beta_max)
    plain = noise.reestimate(n, residual, shrink)
    if not problem.prior.depends_on_noise or denominator <= numerator / noise.beta_max:
        return plain
    precisions, middle = state.alpha if alpha is None else alpha, math.log(numerator / denominator)

    def equation(log_beta: float) -> float:
        """The noise equation [SE07, eq. 36], whose zero is bracketed around the closed form."""
        beta = math.exp(log_beta)
        by_prior = problem.prior.derivatives(precisions, beta, state.unit)[2]
        return 0.5 * (numerator - beta * denominator) + by_prior

    low, high = middle - 1.0, middle + 1.0
    while not equation(low) > 0 and low > middle - 60:
        low -= 1.0
    while equation(high) > 0 and high < middle + 60:
        high += 1.0
    if not equation(low) > 0 > equation(high):
        return plain
    return min(math.exp(brentq(equation, low, high, xtol=1e-12)), noise.beta_max)


def safeguarded(state: State, alpha: Array, beta: float) -> State:
    """The state at (α, β), or the first on the way back (in logarithms) where the objective is no lower."""
    xp = state.problem.quadratic.xp
    step, noise_step = xp.log(alpha / state.alpha), math.log(beta / state.beta)
    for halving in range(30):
        share = 0.5**halving
        try:
            following = state.moved(state.alpha * xp.exp(share * step), state.beta * math.exp(share * noise_step))
        except NotPositiveDefinite:
            continue
        if following.objective >= state.objective:
            return following
    return state


def _prune(state: State) -> State:
    """Delete functions the data do not determine at all: γ below machine precision [T01, B.1]."""
    keep = np.flatnonzero(to_numpy(state.gamma) > PRUNED)
    return state if len(keep) in (0, state.size) else state.keep(keep)


def _change(before: State, after: State) -> float:
    """Largest change of log α among the functions that matter, ∞ if one was pruned."""
    if after.size != before.size:
        return math.inf
    step = np.abs(np.log(to_numpy(after.alpha) / to_numpy(before.alpha)))
    # a function on its way out drifts for ever; it no longer counts once deleting it costs nothing
    matters = to_numpy(after.gamma) > 1e-3
    return float(step[matters].max(initial=0.0)) + abs(math.log(after.beta / before.beta))


def _readmitted(state: State, tol: float) -> State | None:
    """The state with the deleted function that gains most back in, or None: the closing check [T01, B.1]."""
    scores, best = state.scores, state.scores.best
    if not scores.best_gain > tol:
        return None
    following = state.extended([best], scores.alpha[best : best + 1])
    return following if following.objective > state.objective + tol / 2 else None
