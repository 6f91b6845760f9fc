"""All precisions at once from the full basis: MacKay's and the EM updates [T01, appendix A].

    MacKay:  α = (γ + 2u)/(μ² + 2v/α)            EM:  α = (1 + 2u)/(μ² + Σ_mm + 2v/α)
    σ² from ‖t−Φμ‖² and Σγ (`Gaussian.reestimate`)

with (u, v) the slopes of the log prior; for Gamma(a, b) these are T01's (43) and (44). EM never lowers the
objective; MacKay's are much faster but may, so a step that would is shortened until it does not.
"""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._array import Array, NotPositiveDefinite, at_least, to_numpy, total
from sparsebayes.posterior import Problem, State
from sparsebayes.solvers.base import Monitor, Solution, Solver
from sparsebayes.solvers.newton import polish

UPDATES = ("mackay", "em")
START = 0.1  # α/β of every function at the start, on columns of unit norm
PRUNED = float(np.finfo(np.float64).eps)  # γ below which a function is deleted [T01, B.1]


class FixedPoint(Solver):
    """Re-estimate every α from the posterior over all functions still in the model; prune as they diverge.

    update : "mackay" or "em".
    polish : finish with joint Newton steps, which also delete exactly what the updates would take for ever to
        prune.
    """

    def __init__(self, update: str = "mackay", polish: bool = True) -> None:
        self.update = update
        self.polish = polish

    def check(self) -> None:
        """Of the name of the update."""
        if self.update not in UPDATES:
            raise ValueError(f"update of FixedPoint must be one of {UPDATES}, got {self.update!r}.")

    def solve(self, problem: Problem, monitor: Monitor, start: State | None = None) -> Solution:
        """Iterate to convergence, polish, and let no deleted function that wants to come back stay out."""
        self.check()
        quadratic, beta = problem.quadratic, problem.noise.beta
        state = start
        if state is None:
            alpha = quadratic.xp.full_like(quadratic.h, START * beta)
            state = problem.start(range(quadratic.size), alpha, beta)
        while True:
            state, converged = self._iterate(state, monitor)
            if self.polish:
                state = polish(state)
            returning = _readmitted(state, monitor.tol) if converged else None
            if returning is None:
                return Solution(state, converged)
            state = returning

    def _iterate(self, state: State, monitor: Monitor) -> tuple[State, bool]:
        going = monitor.record(state)
        while going:
            following = _prune(self._step(state))
            settled = self._settled(state, following, monitor.tol)
            state = following
            if settled:
                return state, True
            going = monitor.record(state)
        return state, False

    def _settled(self, before: State, after: State, tol: float) -> bool:
        """Whether the updates have done their work; the last digits are left to a polish."""
        if not self.polish:
            return _change(before, after) < tol
        crawling = after.objective - before.objective < 100 * tol and after.size == before.size
        return crawling or _change(before, after) < max(tol, 1e-3)

    def _step(self, state: State) -> State:
        if self.update == "em":
            alpha, beta = em_step(state)
            return state.problem.state(state.active, alpha, beta)
        alpha, beta = mackay_step(state)
        return safeguarded(state, alpha, beta)


def mackay_step(state: State, power: float = 1.0) -> tuple[Array, float]:
    """α = (γ+2u)/(μ²+2v/α), moved `power` times as far in log α; and the noise that goes with γ."""
    gamma = at_least(state.gamma, 1e-14)
    wanted, shrink = gamma, state.alpha * state.mean * state.mean
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
    power = state.mean * state.mean + state.variance
    up, down = prior.slopes(state.alpha, state.beta, unit)
    alpha = (1 + 2 * up) / (power + 2 * down / state.alpha)

    def expected(a: Array) -> Array:
        return 0.5 * (xp.log(a) - a * power) + prior.log_density(a, state.beta, unit)

    before = expected(state.alpha)
    for _ in range(40):  # the update is the M-step itself for uniform and Gamma; shorten it for other priors
        worse = expected(alpha) < before - 1e-12 * (1 + xp.abs(before))
        if not bool(xp.any(worse)):
            break
        alpha = xp.where(worse, xp.sqrt(alpha * state.alpha), alpha)
    spread = float(xp.sum(xp.clip(state.gamma, 0.0, None))) / state.beta
    return alpha, _noise(state, state.residual + spread, 0.0, alpha)


def _noise(state: State, residual: float, shrink: float, alpha: Array | None = None) -> float:
    problem = state.problem
    if not problem.noise.estimate:
        return state.beta
    slope = None
    if problem.prior.depends_on_noise:
        precision = state.alpha if alpha is None else alpha

        def slope(beta: float) -> float:
            return problem.prior.derivatives(precision, beta, state.unit)[2]

    return problem.noise.with_beta(state.beta).reestimate(problem.quadratic.n, residual, shrink, slope)


def safeguarded(state: State, alpha: Array, beta: float) -> State:
    """The state at (α, β), or the first on the way back (in logarithms) where the objective is no lower."""
    xp = state.problem.quadratic.xp
    step, noise_step = xp.log(alpha / state.alpha), math.log(beta / state.beta)
    for halving in range(30):
        share = 0.5**halving
        try:
            following = state.problem.state(
                state.active, state.alpha * xp.exp(share * step), state.beta * math.exp(share * noise_step)
            )
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
    """Largest change of log α among the functions that matter, ∞ where one was pruned."""
    if after.size != before.size:
        return math.inf
    step = np.abs(np.log(to_numpy(after.alpha) / to_numpy(before.alpha)))
    # a function on its way out drifts for ever; it no longer counts once deleting it would cost nothing
    matters = to_numpy(after.gamma) > 1e-3
    return float(step[matters].max(initial=0.0)) + abs(math.log(after.beta / before.beta))


def _readmitted(state: State, tol: float) -> State | None:
    """The state with the deleted function that gains most back in, or None: the closing check [T01, B.1]."""
    scores = state.scores
    best = scores.best
    if not float(scores.gain[best]) > tol:
        return None
    following = state.extended([best], scores.alpha[best : best + 1])
    return following if following.objective > state.objective + tol / 2 else None
