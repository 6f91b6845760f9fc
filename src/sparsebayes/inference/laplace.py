"""The loop for likelihoods that are not Gaussian: the posterior is approximated around its mode [T01, 3].

* **mode**: Newton's steps with halving for the weights at given α, on the active candidates only;
* **settle**: at the mode the problem is a Gaussian one (β = 1, curvature B): joint Newton steps in log α, the
  mode again, until α stands still: N·S² a step, and no other candidate is looked at;
* **opening**: the solver chooses first functions around the intercepts alone, where every row has the same
  curvature, and then afresh around the mode of those, which is nearer the truth, while that is better;
* **round**: all candidates are scored at the mode, and the solver goes on from there on the quadratic of the
  expansion, adding what it likes in as few passes as it needs; then settle.

It ends when no candidate is worth adding. The objective is the Laplace approximation to the log evidence,

    log p(y|w) − ½ wᵀAw + ½ Σ log α + ½ log|Σ|   (+ log priors)

and a round that does not raise it is taken back. As published [T01, eq. 39; TF03, 2.2], α is where its own
derivative vanishes with B held fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._array import Array, NotPositiveDefinite, asfloat64, namespace, take, to_numpy
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem, State
from sparsebayes.priors import Prior
from sparsebayes.rows import Expansion, LaplaceRows, Linearised
from sparsebayes.solvers import Monitor, Solver
from sparsebayes.solvers.base import first_state
from sparsebayes.solvers.newton import polish

NEWTON_STEPS = 100
HALVINGS = 40
MODE_TOLERANCE = 1e-18  # per row: nats the next Newton step to the mode may still promise
ROUNDING = 1e-12  # per row: nats that rounding may stand for
REACHED = 1e-5  # per row: nats that may be missing where Newton's method ends for that to be the mode
SETTLING = 60  # alternations of mode and α
CLIMBS = 4  # halvings of a step in α that lowers the evidence
NEARLY = 1e-2  # in log α: how far α may still be from standing still between rounds
AFRESH = 0.1  # nats: what functions chosen afresh must gain
REOPENED = 2  # times that functions are chosen afresh before the first round
EXCHANGED = 0.1  # nats: a round that adds nothing and gains less by exchanges is the last
UNIT_NOISE = Gaussian(1.0, estimate=False)


@dataclass(frozen=True)
class Mode:
    """The mode of the weights at precisions α, and the Gaussian around it.

    J : candidates, ascending.  alpha, w : (S,) on the scaled columns.  b : intercepts (K,).
    linear : the expansion at the mode, of these candidates.  state : posterior and evidence there.
    missing : nats another Newton step promises. The evidence is that of the quadratic, and means nothing
        where they are many.
    """

    J: np.ndarray
    alpha: Array
    w: Array
    b: Array
    linear: Linearised
    state: State
    missing: float = np.inf

    @property
    def objective(self) -> float:
        """Laplace evidence plus log priors."""
        return self.state.objective

    @property
    def reached(self) -> bool:
        """Whether it is the mode: weights of functions nearly alike may be too large for Newton's method."""
        return abs(self.missing) < REACHED * self.linear.n


@dataclass(frozen=True)
class LaplaceSolution:
    """Where the loop ended: the mode, and the state among all candidates there (for the certificate)."""

    mode: Mode
    among_all: State
    converged: bool


class LaplaceFit:
    """Mode, settle and rounds over given rows, prior and solver.

    target_scale : τ where y is a target divided by τ; priors whose parameters have units are told of it.
    climbing : whether α may only move where the Laplace evidence rises. α with B held fixed is close to where
        it is highest while B changes little with f, as that of labels does.
    """

    def __init__(
        self,
        rows: LaplaceRows,
        prior: Prior,
        solver: Solver,
        monitor: Monitor,
        target_scale: float = 1.0,
        climbing: bool = False,
    ) -> None:
        self.rows, self.prior, self.solver, self.monitor = rows, prior, solver, monitor
        self.target_scale, self.climbing = target_scale, climbing

    def run(self, start: Mode | None = None) -> LaplaceSolution:
        """Rounds until no candidate is worth adding, from a mode where one is known."""
        mode = self._begin() if start is None else self.settle(start, self.monitor.tol)
        while True:
            going = self.monitor.record(mode.state)
            following, state = self._look(mode, going)
            if following is None:
                return LaplaceSolution(mode, state, going)
            mode = following
            del state  # the columns of G it holds need not outlive the round

    def _begin(self) -> Mode:
        """What the solver makes of the expansion around the intercepts alone, then of those around its modes.

        The first expansion knows nothing of where the classes are well told apart, so that the functions it
        chooses may be those of a lower maximum, which rounds do not leave.
        """
        first = self._at_intercepts()
        opened = [self._opened(first, self.solver.begin, -np.inf)]
        most = 1 + REOPENED * self.solver.reopens
        while len(opened) < most and (last := opened[-1]) is not None:
            opened.append(self._opened(last.linear.expansion, self.solver.reopen, last.objective + AFRESH))
        for mode in reversed(opened):
            settled = mode and self._settled(mode, -np.inf, self.monitor.tol)
            if settled:
                return settled
        return self._single(first)

    def _at_intercepts(self) -> Expansion:
        """The expansion around the intercepts of the model without functions."""
        rows = self.rows
        return rows.expand(rows.predictor(rows.held([]), rows.y[0, :0], rows.start()))

    def _opened(
        self, expansion: Expansion, choose: Callable[[Problem, Monitor], State], worth: float
    ) -> Mode | None:
        """The mode, α nearly settled, of the functions the solver chooses, where it is above `worth`."""
        linear, problem = self._among_all(expansion)
        return self._nearly(choose(problem, self._inner_monitor()), linear, None, worth)

    def _look(self, mode: Mode, going: bool) -> tuple[Mode | None, State]:
        """The mode after another round, None where there is none; and the state among all candidates."""
        linear, problem = self._among_all(mode.linear.expansion)
        state = self._state(problem, linear, mode.J, mode.alpha)
        return (self._round(mode, linear, state) if going else None), state

    def among_all(self, expansion: Expansion, J: np.ndarray, alpha: Array) -> State:
        """The model (J, α) in the problem of all candidates around an expansion."""
        linear, problem = self._among_all(expansion)
        return self._state(problem, linear, J, alpha)

    def _single(self, expansion: Expansion) -> Mode:
        """The mode with one function only, where what the solver began with cannot be used."""
        linear, problem = self._among_all(expansion)
        return self.settle(self._mode_of(first_state(problem), linear, None), self.monitor.tol)

    def _round(self, mode: Mode, linear: Linearised, state: State) -> Mode | None:
        """What the solver makes of the expansion, or the best addition alone; None where nothing pays."""
        best = state.scores.best
        left = float(state.scores.gain[best]) > self.monitor.tol
        worth = mode.objective + (self.monitor.tol if left else EXCHANGED)
        improved = self.solver.solve(state.problem, self._inner_monitor(), state).state
        if float(np.max(to_numpy(improved.rise))) > self.monitor.tol:  # an α in the lower of its two modes
            improved = polish(improved)
        following = None if improved is state else self._better(improved, linear, mode, worth)
        if following is None and left:
            try:
                improved = state.extended([best], state.scores.alpha[best : best + 1])
            except NotPositiveDefinite:  # it cannot be told from the active ones
                return None
            following = self._better(improved, linear, mode, worth)
        return following

    def _better(self, state: State, linear: Linearised, before: Mode | None, worth: float) -> Mode | None:
        """The settled mode at the α of a state among all candidates, where its objective is above `worth`."""
        rough = self._nearly(state, linear, before, worth)
        return rough and self._settled(rough, worth, self.monitor.tol)

    def _nearly(self, state: State, linear: Linearised, before: Mode | None, worth: float) -> Mode | None:
        """The same, α nearly settled."""
        try:
            mode = self._mode_of(state, linear, before)
        except NotPositiveDefinite:  # functions that cannot be told apart where the curvature has vanished
            return None
        return self._settled(mode, worth, NEARLY)

    def _settled(self, mode: Mode, worth: float, tol: float) -> Mode | None:
        """The mode, α settled, where it is one and its objective above `worth`."""
        try:
            mode = self.settle(mode, tol)
        except NotPositiveDefinite:
            return None
        return mode if mode.reached and mode.objective > worth else None

    def settle(self, mode: Mode, tol: float) -> Mode:
        """Alternate between α at the mode's expansion and the mode at these α, until α stands still.

        The alternation shrinks the error by a factor of about five a time; where it swings instead, a secant
        along the last step shortens it.
        """
        last = np.zeros(0)
        for _ in range(SETTLING):
            if not mode.reached:
                break
            state = polish(mode.state)
            old = take(mode.alpha, state.J)
            alpha = state.alpha * take(mode.linear.scale, state.J) ** 2
            step = np.log(to_numpy(alpha / old))
            if np.abs(step).max() < tol and state.size == mode.state.size:
                break
            swing = float(step @ last) / float(last @ last) if len(step) == len(last) and last.any() else 0.0
            if swing < 0:
                alpha = old * (alpha / old) ** (1 / (1 - swing))
            last = step
            following = self.find_mode(mode.J[state.J], alpha, take(mode.w, state.J), mode.b)
            if self.climbing and not following.objective > mode.objective:
                following = self._climbed(mode, state.J, old, alpha)
                if following is mode:
                    break
            mode = following
        return mode

    def _climbed(self, mode: Mode, kept: np.ndarray, old: Array, alpha: Array) -> Mode:
        """The first mode that is higher on the way back from `alpha` to α = old, by halves; else `mode`."""
        for halving in range(1, CLIMBS):
            between = old * (alpha / old) ** 0.5**halving
            trial = self.find_mode(mode.J[kept], between, take(mode.w, kept), mode.b)
            if trial.reached and trial.objective > mode.objective:
                return trial
        return mode

    def find_mode(self, J: np.ndarray, alpha: Array, w: Array, b: Array) -> Mode:
        """Newton's method with step halving for w and b, from (w, b)."""
        rows, held = self.rows, self.rows.held(J)
        f = rows.predictor(held, w, b)
        last = np.inf
        for _ in range(NEWTON_STEPS):
            linear = rows.linearise(held, rows.expand(f))
            problem = self._problem(linear, J, dense=True)
            state = problem.start(range(len(J)), alpha / linear.scale**2, 1.0)
            mode = Mode(J, alpha, w, b, linear, state)
            goal = state.mean / linear.scale
            goal_b = linear.intercept(goal)
            goal_f = rows.predictor(held, goal, goal_b)
            promised = _promised(mode, goal, goal_f - f)
            # the last steps square the error: what promises this little, or no less than before, is rounding
            if promised < MODE_TOLERANCE * rows.n or (promised < ROUNDING * rows.n and promised > 0.5 * last):
                break
            last = promised
            share = self._halved(mode, goal, goal_f, promised)
            if share == 0.0:
                break
            w, b, f = w + share * (goal - w), b + share * (goal_b - b), f + share * (goal_f - f)
        return replace(mode, missing=promised)

    def _halved(self, mode: Mode, goal: Array, goal_f: Array, promised: float) -> float:
        """The largest share of Newton's step, by halves, that raises the log posterior; 0 where none does."""
        f = mode.linear.expansion.f
        here = mode.linear.expansion.value - _penalty(mode.alpha, mode.w)
        for halving in range(HALVINGS):
            share = 0.5**halving
            w = mode.w + share * (goal - mode.w)
            there = self.rows.value(f + share * (goal_f - f)) - _penalty(mode.alpha, w)
            if there >= here + 1e-4 * share * promised:
                return share
        return 0.0

    def _mode_of(self, state: State, linear: Linearised, before: Mode | None) -> Mode:
        """The mode at the α of a state among all candidates.

        Newton's method starts where the quadratic has its maximum or, where that is far out, from `before`.
        """
        order = np.argsort(state.J)
        J = state.J[order]
        scale = take(linear.scale, J)
        alpha, w = take(state.alpha, order) * scale**2, take(state.mean, order) / scale
        near_b = self.rows.start() if before is None else before.b
        near_w = 0 * w if before is None else _carried(before, J)
        starts = [(w, linear.intercept(w, state.J[order])), (near_w, near_b)]
        held = self.rows.held(J)

        def height(start: tuple[Array, Array]) -> float:
            return self.rows.value(self.rows.predictor(held, *start)) - _penalty(alpha, start[0])

        return self.find_mode(J, alpha, *max(starts, key=height))

    def _among_all(self, expansion: Expansion) -> tuple[Linearised, Problem]:
        linear = self.rows.linearise(self.rows.everything(), expansion)
        return linear, self._problem(linear, np.arange(self.rows.size), dense=False)

    def _problem(self, linear: Linearised, J: np.ndarray, dense: bool) -> Problem:
        """A Gaussian problem with β = 1; `unit` turns its α into the user's."""
        norms = take(self.rows.design.norms, self.rows.split(J)[0])
        unit = namespace(norms).clip(linear.scale * norms / self.target_scale, 1e-150, 1e150) ** 2
        return Problem(linear.quadratic(dense), self.prior, UNIT_NOISE, unit)

    def _state(self, problem: Problem, linear: Linearised, J: np.ndarray, alpha: Array) -> State:
        return problem.start(J, asfloat64(alpha / take(linear.scale, J) ** 2, like=problem.quadratic.h), 1.0)

    def _inner_monitor(self) -> Monitor:
        """Solvers count their own iterations; the user sees the rounds."""
        return replace(self.monitor, verbose=0, callback=None, path=[])


def _carried(before: Mode, J: np.ndarray) -> Array:
    """The weights of a mode for the candidates J, zero for those that are new."""
    weights = np.zeros(len(J))
    here = np.isin(J, before.J)
    weights[here] = to_numpy(before.w)[np.searchsorted(before.J, J[here])]
    return asfloat64(weights, like=before.w)


def _penalty(alpha: Array, w: Array) -> float:
    """½ wᵀAw."""
    return 0.5 * float((alpha * w) @ w)


def _promised(mode: Mode, goal: Array, change: Array) -> float:
    """What the quadratic says going to `goal` adds to the log posterior."""
    expansion = mode.linear.expansion
    slope = expansion.g - 0.5 * expansion.curved(change)
    gained = float(namespace(change).sum(slope * change))
    return gained - _penalty(mode.alpha, goal) + _penalty(mode.alpha, mode.w)
